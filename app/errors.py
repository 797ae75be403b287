"""
Every fault the service reports on purpose, as one tree; each class knows its problem type, title and HTTP status.

LaminaError
├── InvalidInput (400)         a field is wrong; `fields` names each one
├── Unauthorized (401)         no key, or an unknown one
├── Forbidden (403)            the key's role does not reach this far
├── NotFound (404)             no such bank, record or revision (or not for this key)
├── Conflict (409)             the state forbids it: key taken, pinned, already retired
├── PreconditionFailed (412)   what the caller has seen is not what is there now
├── TooLarge (413)             beyond a stated size
├── Unavailable (503)          a part that this request needs is not there; says which and how to bring it
├── ConfigError                the configuration cannot be used; stops the start
└── StorageError               the store cannot be opened; stops the start
"""

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class FieldFault:
    """
    One bad field: its path in the request (`entries[2].content`) and what is wrong with it.
    """

    field: str
    message: str


class LaminaError(Exception):
    """
    Base of all faults that the service raises on purpose.
    """

    status: ClassVar[int] = 500
    slug: ClassVar[str] = "internal"
    title: ClassVar[str] = "Internal error"

    def __init__(self, detail: str, fields: tuple[FieldFault, ...] = ()) -> None:
        super().__init__(detail)
        self.detail = detail
        self.fields = fields


class InvalidInput(LaminaError):
    """
    The request is understood but a field's value cannot be taken.
    """

    status = 400
    slug = "invalid-input"
    title = "Invalid input"

    @classmethod
    def of(cls, field: str, message: str) -> "InvalidInput":
        """
        The common case of a single bad field.
        """
        return cls(f"{field}: {message}", (FieldFault(field, message),))


class Unauthorized(LaminaError):
    """
    The request carries no key, or one that is not known.
    """

    status = 401
    slug = "unauthorized"
    title = "Unauthorized"


class Forbidden(LaminaError):
    """
    The key is known but its role does not allow this.
    """

    status = 403
    slug = "forbidden"
    title = "Forbidden"


class NotFound(LaminaError):
    """
    There is no such thing, or the caller may not know that there is.
    """

    status = 404
    slug = "not-found"
    title = "Not found"


class Conflict(LaminaError):
    """
    The request contradicts the present state.
    """

    status = 409
    slug = "conflict"
    title = "Conflict"


class PreconditionFailed(LaminaError):
    """
    The request holds only for a state that is no longer, or not yet, the present one.
    """

    status = 412
    slug = "precondition-failed"
    title = "Precondition failed"


class TooLarge(LaminaError):
    """
    A body or a field is larger than is taken.
    """

    status = 413
    slug = "too-large"
    title = "Too large"


class Unavailable(LaminaError):
    """
    A part that the request cannot do without is missing.
    """

    status = 503
    slug = "unavailable"
    title = "Unavailable"


class ConfigError(LaminaError):
    """
    The configuration names an unknown key, a wrong type or a value out of range.
    """

    slug = "configuration"
    title = "Configuration error"


class StorageError(LaminaError):
    """
    The store cannot be opened, or is not of a version that can be used.
    """

    slug = "storage"
    title = "Storage error"
