"""
The topic signal: everyday clusters (food, health, ...) that bridge words which do not match.
"""

from collections.abc import Collection, Iterable, Mapping

from app.domain.text.tokenize import split_words


class Clusters:
    """
    Says which topic clusters a text touches.

    `words` maps a cluster's name to its words. A word counts whole, with or without a plural ending, never as part of
    another (art is not in party); an entry of several words counts where they follow one another.
    """

    def __init__(self, words: Mapping[str, Collection[str]]) -> None:
        self._names: dict[tuple[str, ...], frozenset[str]] = {}
        for name, entries in words.items():
            for entry in entries:
                self._add(name, _sequence(entry))
        self._longest = max(map(len, self._names), default=0)

    def of(self, words: Iterable[str]) -> frozenset[str]:
        """
        The names of the clusters that a text touches, given its folded words in the order of the text.
        """
        sequence = list(words)
        found: set[str] = set()
        for start, word in enumerate(sequence):
            for form in _singulars(word):
                found |= self._names.get((form,), frozenset())
            for size in range(2, min(self._longest, len(sequence) - start) + 1):
                *head, last = sequence[start : start + size]
                for form in _singulars(last):
                    found |= self._names.get((*head, form), frozenset())
        return frozenset(found)

    def _add(self, name: str, entry: tuple[str, ...]) -> None:
        if not entry:
            return
        *head, last = entry
        for form in _singulars(last)[:2]:
            key = (*head, form)
            self._names[key] = self._names.get(key, frozenset()) | {name}


def overlap(query: Collection[str], record: Collection[str]) -> float:
    """
    The share of the query's clusters that the record touches too, in [0, 1]; 0 for a query that touches none.
    """
    return len(set(query) & set(record)) / len(set(query)) if query else 0.0


def _sequence(entry: str) -> tuple[str, ...]:
    words = tuple(split_words(entry))
    # Characters of a script without spaces come each with its pair; inside a text another pair parts the first two.
    return words[1:] if words[2:3] == ("".join(words[:2]),) else words


def _singulars(word: str) -> tuple[str, ...]:
    if not word.endswith("s") or word.endswith("ss") or len(word) < 4:
        return (word,)
    if word.endswith("ies"):
        return (word, word[:-1], word[:-3] + "y")
    if word.endswith("es"):
        return (word, word[:-1], word[:-2])
    return (word, word[:-1])
