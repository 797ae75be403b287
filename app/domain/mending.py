"""
Keeps the account of what reading an answer had to mend, and of what it could not keep.
"""

from collections.abc import Iterable
from math import isfinite
from typing import Any

DIGITS_MAX = 400


class Mending:
    """
    What reading had to mend, each kind once and in order, and how many elements and fields could not be kept.
    """

    def __init__(self) -> None:
        self._kinds: dict[str, None] = {}
        self.dropped = 0

    @property
    def repairs(self) -> tuple[str, ...]:
        """
        The kinds.
        """
        return tuple(self._kinds)

    def note(self, kind: str) -> None:
        """
        Say that something of this kind was mended.
        """
        self._kinds[kind] = None

    def take_over(self, other: "Mending") -> None:
        """
        Add what another reading mended and lost.
        """
        self._kinds |= dict.fromkeys(other.repairs)
        self.dropped += other.dropped

    def mapping(self, pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
        """
        A mapping of the pairs; a name that is there twice keeps the lists of both, or else its last value.
        """
        found: dict[str, Any] = {}
        for name, value in pairs:
            self.put(found, name, value)
        return found

    def put(self, found: dict[str, Any], name: str, value: Any) -> None:
        """
        Set one name of a mapping, as `mapping` does.
        """
        if name in found and found[name] != value:
            self.note("repeated_name")
            if isinstance(found[name], list) and isinstance(value, list):
                value = found[name] + value
            else:
                self.dropped += 1
        found[name] = value

    def number(self, text: str) -> float | int | None:
        """
        The number, None for one that no float can hold.

        Raises:
            ValueError: the text is no number, or has more digits than make sense.
        """
        if len(text) > DIGITS_MAX:
            raise ValueError("too many digits")
        if text.lstrip("+-").isdecimal():
            return int(text)
        number = float(text)
        if isfinite(number):
            return number
        self.note("not_finite")
        return None
