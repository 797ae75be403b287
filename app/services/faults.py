"""
Collecting what is wrong with a request, so that one answer names every bad field.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from app.domain.text.legal import legal_text
from app.errors import FieldFault, InvalidInput, TooLarge

LABEL_MAX = 200
LABELS_MAX = 64
NAME_MAX = 512


class Faults:
    """
    Gathers faults field by field; `prefix` is put before each field's name (`entries[2].`).
    """

    def __init__(self, prefix: str = "") -> None:
        self.prefix = prefix
        self.found: list[FieldFault] = []
        self.too_large: list[FieldFault] = []

    def add(self, field: str, message: str) -> None:
        """
        Note a fault.
        """
        self.found.append(FieldFault(self.prefix + field, message))

    def add_size(self, field: str, message: str) -> None:
        """
        Note a field that is beyond a stated size.
        """
        self.too_large.append(FieldFault(self.prefix + field, message))

    def merge(self, other: "Faults") -> None:
        """
        Take over the faults of a part.
        """
        self.found += other.found
        self.too_large += other.too_large

    def raise_if_any(self) -> None:
        """
        Raise one fault that names every bad field.

        Raises:
            TooLarge: when a field is beyond its size.
            InvalidInput: when a field is wrong in another way.
        """
        if self.too_large:
            raise TooLarge(_sentence(self.too_large), (*self.too_large, *self.found))
        if self.found:
            raise InvalidInput(_sentence(self.found), tuple(self.found))

    def name(self, field: str, value: str | None, limit: int = NAME_MAX) -> str | None:
        """
        An optional short text such as a session id: made storable, and not longer than `limit` characters.
        """
        if value is None:
            return None
        if not value.strip():
            self.add(field, "must not be empty")
        if len(value) > limit:
            self.add(field, f"at most {limit} characters, got {len(value)}")
        return legal_text(value)

    def labels(self, field: str, values: Iterable[str]) -> tuple[str, ...]:
        """
        Tags or handles: trimmed, without repeats, each not empty; commas and any other signs are part of a label.
        """
        found: dict[str, None] = {}
        for place, value in enumerate(values):
            label = legal_text(value).strip()
            if not label:
                self.add(f"{field}[{place}]", "must not be empty")
            elif len(label) > LABEL_MAX:
                self.add(f"{field}[{place}]", f"at most {LABEL_MAX} characters, got {len(label)}")
            else:
                found[label] = None
        if len(found) > LABELS_MAX:
            self.add(field, f"at most {LABELS_MAX}, got {len(found)}")
        return tuple(found)

    def moment(self, field: str, value: datetime | None) -> datetime | None:
        """
        An optional time, which must say its zone and lie within the calendar in UTC.
        """
        if value is None:
            return None
        if value.tzinfo is None:
            self.add(field, "needs an offset from UTC, such as 2026-11-30T09:00:00+01:00")
            return None
        try:
            value.astimezone(UTC)
        except OverflowError:
            self.add(field, "lies outside the years 1 to 9999 in UTC")
            return None
        return value

    def share(self, field: str, value: float | None) -> float | None:
        """
        An optional number in [0, 1].
        """
        if value is not None and not 0.0 <= value <= 1.0:
            self.add(field, f"must lie in [0, 1], got {value}")
        return value

    def mapping(self, field: str, value: Mapping[str, Any]) -> dict[str, Any]:
        """
        Free metadata: made storable throughout.
        """
        return {legal_text(key): _storable(item) for key, item in value.items()}


def _storable(value: Any) -> Any:
    if isinstance(value, str):
        return legal_text(value)
    if isinstance(value, list):
        return [_storable(item) for item in value]
    if isinstance(value, dict):
        return {legal_text(str(key)): _storable(item) for key, item in value.items()}
    return value


def _sentence(faults: list[FieldFault]) -> str:
    return "; ".join(f"{fault.field}: {fault.message}" for fault in faults)
