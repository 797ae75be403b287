"""
Tells whether two statements are the same one written differently, and what forbids to think so.

Two texts say the same when they consist of the same words in the same order. Signs between words are ignored, except
those that carry a meaning of their own: a minus before a number, a decimal point, a currency, the plus signs of C++.
"""

import re

import regex

from app.domain.identity import fingerprint
from app.domain.text.tokenize import fold

# Han and kana are written without spaces; a space among or beside them is typography. Korean spaces its words.
_UNSPACED = (
    r"\u3005-\u3007\u3041-\u309a\u309d-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
)
_WORDS = regex.compile(r"[\p{L}\p{N}\p{M}]++")
_LOOSE_SPACE = re.compile(rf"(?<=[{_UNSPACED}]) | (?=[{_UNSPACED}])")
_MEANING = regex.compile(
    r"(?<![\p{L}\p{N}])[-\u2212+](?=\p{N})"  # a sign of a number
    r"|(?<=\p{N})[.,:/\-\u2013\u2212\u00d7](?=\p{N})"  # inside a number, a time, a date, a range
    r"|(?<=[\p{L}\p{N}])[+#]++|[#@](?=[\p{L}\p{N}])"  # C++, C#, #7, @ana
    r"|(?<![\p{L}\p{N}])\.(?=\p{L})"  # .net
    r"|[\p{Sc}\p{Sm}%\u2030\u00b0&]"  # money, comparisons, shares, degrees
    r"|\p{Extended_Pictographic}"
    r"|\?\s*$"
)
_PLAIN_SIGNS = {"\u2212": "-", "\u2013": "-"}


def duplicate_key(text: str) -> str:
    """
    The words of a text in their order, folded, with single spaces; none beside characters of scripts without spaces.
    Empty for a text without a word.
    """
    return _LOOSE_SPACE.sub("", " ".join(_WORDS.findall(fold(text))))


def meaning_signs(text: str) -> tuple[str, ...]:
    """
    The signs of a text that its words lack and that decide what it says, in order.
    """
    return tuple(_PLAIN_SIGNS.get(sign, sign).strip() for sign in _MEANING.findall(fold(text)))


def same_statement(text: str) -> tuple[str, tuple[str, ...]]:
    """
    A value that two texts share exactly if one may stand for the other.
    """
    return duplicate_key(text), meaning_signs(text)


def statement_fingerprint(text: str) -> str:
    """
    A fingerprint that texts share which may stand for each other.
    """
    key, signs = same_statement(text)
    return fingerprint(" ".join((key, *signs)) if signs else key)


_NEGATIONS = frozenset(
    """
    no not never none nobody nothing neither nor without cannot dont doesnt didnt isnt arent wasnt werent wont cant
    shouldnt stop stopped quit avoid avoids hate hates dislike dislikes nicht kein keine keinen nie niemals ohne
    não nunca jamais sem nem no ni sin ne pas jamais sans non mai senza always immer sempre siempre toujours
    """.split()  # noqa: SIM905 - read as a list of words
)
_NEGATING_SIGNS = re.compile("[不没沒别別未勿非无無]|ない|ません|ずに|않|안 |못")
_NUMBER = regex.compile(r"\p{N}++(?:[.,:/\-]\p{N}++)*+")
_SUFFIX = re.compile(r"\b(?:jr|sr|junior|senior|i{1,3}|iv|v|vi{1,3}|ix|x)\b\.?")


def guarded_parts(text: str) -> tuple[object, ...]:
    """
    What two texts must have in common before a judge may make one of them: negations, numbers, suffixes of names, and
    the signs that carry a meaning.
    """
    folded = fold(text)
    words = folded.replace("'", "").split()
    bare = [word.strip('.,;:!?"()[]') for word in words]
    return (
        tuple(sorted(word for word in bare if word in _NEGATIONS)),
        len(_NEGATING_SIGNS.findall(folded)),
        tuple(sorted(_NUMBER.findall(folded))),
        tuple(sorted(_SUFFIX.findall(folded))),
        tuple(sorted(meaning_signs(text))),
    )
