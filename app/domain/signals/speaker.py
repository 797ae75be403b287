"""
The speaker signal: the question asks after one of those who speak in the bank.
"""

from collections.abc import Collection

from app.domain.text.tokenize import split_words

_ROLES = frozenset({"user", "assistant", "system", "tool", "human", "bot", "ai"})


def named_speakers(query_words: Collection[str], speakers: Collection[str]) -> frozenset[str]:
    """
    Those of `speakers` that a query names by all the words of their name.

    A role such as `user` is no name. A question that names every speaker tells none of them apart, so the answer is
    empty.
    """
    asked = set(query_words)
    people = {speaker: split_words(speaker) for speaker in speakers if speaker.casefold() not in _ROLES}
    named = frozenset(speaker for speaker, words in people.items() if words and asked.issuperset(words))
    return frozenset() if len(named) == len(set(speakers)) else named
