"""
Turns text of any script into the terms by which records are indexed and searched.

A term is a run of letters, digits and combining marks after NFKC and case folding; Latin-script words are stemmed.
Scripts written without spaces between words (kana, ideographs, Hangul) give one term for each character and one for
each pair of neighbours, so that a word of one or two characters is found. An emoji is a term of its own. All else
separates.
"""

import re
import threading
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import chain, pairwise

import regex
import Stemmer

TERM_MAX = 64
"""Characters of a term that count; of a longer run (a key, base64) the beginning stands for the whole."""

CACHE_MAX = 200_000
"""Distinct words whose terms are remembered; at the limit the memory starts afresh."""

_CJK = (
    r"\u3005-\u3007\u3041-\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    r"\uac00-\ud7af\uf900-\ufaff\U00020000-\U000323af"
)
_WORD = rf"[[\p{{Alphabetic}}\p{{N}}\p{{M}}]--[{_CJK}]]"
_PICTURE = r"\p{Extended_Pictographic}"
_EMOJI = rf"{_PICTURE}(?:\u200d{_PICTURE})*+|[\U0001f1e6-\U0001f1ff]{{2}}"
_TERMS = regex.compile(rf"({_WORD}++)(?:'s(?!{_WORD}))?|([{_CJK}]++)|({_EMOJI})", regex.VERSION1)

# Most text is European: there the standard library's engine gives the same terms in a quarter of the time. The signs
# that are left out of the range are pictures to the full pattern.
_BEYOND_EUROPEAN = re.compile(r"[^\x00-\xa8\xaa-\xad\xaf-\u024f\u2010-\u2027\u20ac]")
_EUROPEAN_TERMS = re.compile(r"([^\W_]+)(?:'s(?![^\W_]))?")
_ASCII_TERMS = re.compile(r"([a-z0-9]+)(?:'s(?![a-z0-9]))?")

_LATIN = regex.compile(r"[\p{Latin}\p{N}\p{M}]*\p{Latin}[\p{Latin}\p{N}\p{M}]*")

# Variation selectors, skin tones and key caps vary how a sign looks, soft hyphens and zero-width spaces where a line
# may break: none of them is something that a reader would search for.
_IGNORED = re.compile(r"[\u00ad\u200b\u2060\u20e3\ufe00-\ufe0f\ufeff\U0001f3fb-\U0001f3ff\U000e0100-\U000e01ef]+")


class Analyzer:
    """
    Splits texts and queries into terms.

    `stop_words` maps a language's name to its function words, in any case; they are dropped from queries only, where a
    word of any of the languages counts. `stemmer` names a Snowball algorithm for Latin-script words. Safe to share
    between threads, and never raises on any text.
    """

    def __init__(self, stop_words: Mapping[str, Collection[str]], stemmer: str = "english") -> None:
        self._stop_words = frozenset(fold(word) for word in chain.from_iterable(stop_words.values()))
        self._terms = _TermCache(Stemmer.Stemmer(stemmer, 0).stemWord)

    def index_terms(self, text: str) -> list[str]:
        """
        Every term of a stored text, in order, repeats kept.
        """
        return list(map(self._terms.__getitem__, split_words(text)))

    def query_terms(self, text: str) -> list[str]:
        """
        The terms of a query without function words, in order, repeats kept; where nothing else is left, all of them.
        """
        return self._to_terms(self.content_words(text))

    def words(self, text: str) -> list[str]:
        """
        The folded words of a text before stemming, in order, repeats kept.
        """
        return split_words(text)

    def content_words(self, text: str) -> list[str]:
        """
        The folded words of a text without function words; where nothing else is left, all of them.
        """
        words = split_words(text)
        stop_words = self._stop_words
        return [word for word in words if word not in stop_words] or words

    def _to_terms(self, words: Iterable[str]) -> list[str]:
        return list(map(self._terms.__getitem__, words))


class _TermCache(dict[str, str]):
    """
    Word to term. A miss takes a lock, since a stemmer's buffers may not be used by two threads at once.
    """

    def __init__(self, stem: Callable[[str], str]) -> None:
        super().__init__()
        self._stem = stem
        self._lock = threading.Lock()

    def __missing__(self, word: str) -> str:
        term = word[:TERM_MAX]
        if _LATIN.fullmatch(term):
            with self._lock:
                term = self._stem(term)
        if len(word) <= TERM_MAX:
            if len(self) >= CACHE_MAX:
                self.clear()
            self[word] = term
        return term


def fold(text: str) -> str:
    """
    NFKC and case folding, without the characters that carry no meaning of their own and with plain apostrophes.
    """
    if text.isascii():
        return text.lower()
    plain = _IGNORED.sub("", text).replace("\u2019", "'").replace("\u2018", "'").replace("\u02bc", "'")
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", plain).casefold())


def split_words(text: str) -> list[str]:
    """
    The folded words of a text before stemming, in order, repeats kept.
    """
    folded = fold(text)
    if folded.isascii():
        return _ASCII_TERMS.findall(folded)
    if not _BEYOND_EUROPEAN.search(folded):
        return _EUROPEAN_TERMS.findall(folded)
    words: list[str] = []
    for word, characters, emoji in _TERMS.findall(folded):
        if word:
            words.append(word)
        elif characters:
            words.extend(_characters_and_pairs(characters))
        else:
            words.append(emoji)
    return words


def _characters_and_pairs(run: str) -> list[str]:
    parts = [run[0]]
    for first, second in pairwise(run):
        parts.append(second)
        parts.append(first + second)
    return parts
