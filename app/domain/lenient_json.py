"""
Reads JSON that is nearly right, as language models write it, and tells what had to be mended and what was lost.

Taken as meant: trailing, doubled and missing commas, line comments, single and typographic quotes, names without
quotes, Python's literals, bare line ends and quotes inside a string, escapes that are none, an end that is cut off.
"""

import re
from json import JSONDecoder
from typing import Any

from app.domain.mending import Mending

DEPTH_MAX = 64

_BLANK = re.compile(r"(?:\s+|//[^\n]*)*")
_SPACE = re.compile(r"\s*")
_NAME = re.compile(r"[^\W\d]\w*(?=\s*:)")
_SCALAR = re.compile(r"[-+]?[\w.]+(?:(?<=[eE])[-+]\d+)?")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?")
_PLAIN = re.compile(r"[^\\\"'”’]*")
_TO_DELIMITER = {"]": re.compile(r"[^,\]}{\[]*"), "}": re.compile(r"[^,\]}]*")}
_HEX4 = re.compile(r"[0-9a-fA-F]{4}")
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’"}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", '"': '"', "\\": "\\", "/": "/"}
_LITERALS = {"true": True, "false": False, "null": None}
_FOREIGN_LITERALS = {"True": True, "False": False, "None": None, "undefined": None}
REPLACEMENT = "\ufffd"


def decode(text: str, start: int) -> tuple[Any, int, Mending]:
    """
    The value that begins at `start`, where it ends, and what was mended; by the standard's rules if it keeps them.

    Raises:
        ValueError: there is no value, or it is nested more than `DEPTH_MAX` deep.
    """
    mending = Mending()
    strict = JSONDecoder(
        object_pairs_hook=mending.mapping,
        parse_float=mending.number,
        parse_int=mending.number,
        parse_constant=mending.number,
        strict=False,
    )
    try:
        value, stop = strict.raw_decode(text, start)
    except (ValueError, RecursionError):
        reader = _Reader(text, start)
        return reader.read(), reader.stop, reader.mending
    return value, stop, mending


class _CutError(Exception):
    """
    The text ends inside a value.
    """


class _BrokenError(Exception):
    """
    Here is no value.
    """


class _Reader:
    """
    Reads one value from `start` on; afterwards `stop` is where it ended. Work is bounded by the length of the text.
    """

    def __init__(self, text: str, start: int) -> None:
        self._text = text
        self.stop = start
        self.mending = Mending()
        self._cut = False

    def read(self) -> Any:
        try:
            return self._value(0)
        except (_CutError, _BrokenError) as error:
            raise ValueError("no value") from error

    def _value(self, depth: int) -> Any:
        if depth > DEPTH_MAX:
            raise ValueError("nested too deeply")
        sign = self._next_sign()
        if sign == "":
            raise _CutError
        if sign == "{":
            return self._object(depth)
        if sign == "[":
            return self._array(depth)
        return self._string(",]}") if sign in _QUOTES else self._scalar()

    def _object(self, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        self.stop += 1
        first = True
        while self._item_follows("}", first=first):
            start, before, first = self.stop, self.mending.dropped, False
            try:
                key = self._key()
                value = self._value(depth + 1)
            except _CutError:
                self._lose_end(before)
            except _BrokenError:
                self._lose_item("}", start, before)
            else:
                self.mending.put(found, key, value)
        return found

    def _array(self, depth: int) -> list[Any]:
        found: list[Any] = []
        self.stop += 1
        first = True
        while self._item_follows("]", first=first):
            start, before, first = self.stop, self.mending.dropped, False
            try:
                value = self._value(depth + 1)
            except _CutError:
                self._lose_end(before)
            except _BrokenError:
                self._lose_item("]", start, before)
            else:
                if self._cut:
                    # An element that is not whole may say something else than was meant.
                    self._lose_end(before)
                else:
                    found.append(value)
        return found

    def _item_follows(self, closing: str, *, first: bool) -> bool:
        """
        Go to the next item; False at the end of the container, which is passed.
        """
        if self._cut:
            return False
        commas = 0
        while (sign := self._next_sign()) == ",":
            commas += 1
            self.stop += 1
        if sign == "":
            self._cut = True
            self.mending.note("cut")
            return False
        if sign in "}]":
            if commas:
                self.mending.note("comma")
            if sign == closing:
                self.stop += 1
            else:
                self.mending.note("bracket")
            return False
        if commas != (0 if first else 1):
            self.mending.note("comma")
        return True

    def _key(self) -> str:
        if self._text[self.stop] in _QUOTES:
            key = self._string(":")
        elif name := _NAME.match(self._text, self.stop):
            self.mending.note("quotes")
            self.stop = name.end()
            key = name[0]
        else:
            raise _BrokenError
        sign = self._next_sign()
        if sign != ":":
            raise _CutError if sign == "" else _BrokenError
        self.stop += 1
        return key

    def _string(self, followers: str) -> str:
        opening = self._text[self.stop]
        closing = _QUOTES[opening]
        if opening != '"':
            self.mending.note("quotes")
        self.stop += 1
        parts: list[str] = []
        while True:
            plain = _PLAIN.match(self._text, self.stop)
            if plain is not None:
                parts.append(plain[0])
                self.stop = plain.end()
            sign = self._text[self.stop : self.stop + 1]
            if sign == "":
                raise _CutError
            if sign == "\\":
                parts.append(self._escape())
                continue
            self.stop += 1
            if sign == closing:
                if self._ends_here(followers):
                    return "".join(parts)
                self.mending.note("inner_quote")
            parts.append(sign)

    def _ends_here(self, followers: str) -> bool:
        """
        Whether a quote just passed ends its string: what may follow a string follows, or a new line where a comma is
        missing.
        """
        space = _SPACE.match(self._text, self.stop)
        end = self.stop if space is None else space.end()
        sign = self._text[end : end + 1]
        if sign == "" or sign in followers or self._text.startswith("//", end):
            return True
        return followers != ":" and "\n" in self._text[self.stop : end]

    def _escape(self) -> str:
        sign = self._text[self.stop + 1 : self.stop + 2]
        if sign == "":
            raise _CutError
        if sign == "u":
            return self._unicode_escape()
        if sign in _ESCAPES:
            self.stop += 2
            return _ESCAPES[sign]
        self.mending.note("escape")
        # The quote of a string in single quotes is meant; any other sign keeps its backslash.
        self.stop += 2 if sign == "'" else 1
        return sign if sign == "'" else "\\"

    def _unicode_escape(self) -> str:
        digits = _HEX4.match(self._text, self.stop + 2)
        if digits is None:
            if len(self._text) < self.stop + 6:
                raise _CutError
            self.mending.note("escape")
            self.stop += 2
            return REPLACEMENT
        code = int(digits[0], 16)
        self.stop += 6
        if 0xD800 <= code < 0xDC00 and self._text.startswith("\\u", self.stop):
            second = _HEX4.match(self._text, self.stop + 2)
            low = 0 if second is None else int(second[0], 16)
            if 0xDC00 <= low < 0xE000:
                self.stop += 6
                return chr(0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00))
        return chr(code)

    def _scalar(self) -> Any:
        match = _SCALAR.match(self._text, self.stop)
        if match is None:
            raise _BrokenError
        word = match[0]
        if match.end() == len(self._text):
            raise _CutError
        if word in _LITERALS:
            value: Any = _LITERALS[word]
        elif word in _FOREIGN_LITERALS:
            self.mending.note("literal")
            value = _FOREIGN_LITERALS[word]
        else:
            try:
                value = self.mending.number(word)
            except ValueError as error:
                raise _BrokenError from error
            if not _NUMBER.fullmatch(word):
                self.mending.note("number")
        self.stop = match.end()
        return value

    def _lose_end(self, before: int) -> None:
        self._cut = True
        self.stop = len(self._text)
        self.mending.note("cut")
        self.mending.dropped = before + 1

    def _lose_item(self, closing: str, start: int, before: int) -> None:
        self.mending.note("unreadable")
        self.mending.dropped = before + 1
        rest = _TO_DELIMITER[closing].match(self._text, self.stop)
        if rest is not None:
            self.stop = rest.end()
        self.stop = max(self.stop, start + 1)

    def _next_sign(self) -> str:
        blank = _BLANK.match(self._text, self.stop)
        if blank is not None:
            self.stop = blank.end()
        return self._text[self.stop : self.stop + 1]
