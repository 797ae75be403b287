"""
Faults in the words of the request: the services' field names turned back into those that the caller wrote.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from app.errors import FieldFault, LaminaError


@contextmanager
def renamed(name_of: Callable[[str], str]) -> Iterator[None]:
    """
    Raise faults that come from inside with each field renamed by `name_of`.
    """
    try:
        yield
    except LaminaError as error:
        if not error.fields:
            raise
        fields = tuple(FieldFault(name_of(fault.field), fault.message) for fault in error.fields)
        detail = "; ".join(f"{fault.field}: {fault.message}" for fault in fields)
        raise type(error)(detail, fields) from error
