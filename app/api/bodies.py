"""
Reading JSON bodies: strictly, in one pass; and where that fails, once more, to name each field that is wrong.
"""

import types
from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, Any, Union, get_args, get_origin

import msgspec
from msgspec import UNSET, Struct, UnsetType

from app.errors import FieldFault, InvalidInput

WHOLE = "body"
"""How a fault of the whole body is named."""


def read_body(body: bytes, kind: Any) -> Any:
    """
    The value of type `kind` that a body holds.

    Raises:
        InvalidInput: naming every field that is unknown, missing or of the wrong type.
    """
    try:
        return _decoder(kind).decode(body)
    except (msgspec.DecodeError, RecursionError) as error:
        raise _explained(body, kind, error) from error


@lru_cache(maxsize=256)
def _decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind)


def _explained(body: bytes, kind: Any, error: Exception) -> InvalidInput:
    try:
        value = msgspec.json.decode(body)
    except msgspec.DecodeError as broken:
        return InvalidInput.of(WHOLE, f"is not valid JSON: {broken}")
    except RecursionError:
        return InvalidInput.of(WHOLE, "is nested too deeply")
    faults = tuple(_faults(value, kind, ""))
    if not faults:
        return InvalidInput.of(WHOLE, _plain(error))
    return InvalidInput("; ".join(f"{fault.field}: {fault.message}" for fault in faults), faults)


def _faults(value: Any, kind: Any, path: str) -> list[FieldFault]:
    bare = get_args(kind)[0] if get_origin(kind) is Annotated else kind
    if get_origin(bare) in (Union, types.UnionType):
        return _union_faults(value, kind, get_args(bare), path)
    if isinstance(bare, type) and issubclass(bare, Struct) and isinstance(value, dict):
        return _struct_faults(value, bare, path)
    if get_origin(bare) is list and isinstance(value, list):
        item = get_args(bare)[0]
        return [fault for place, each in enumerate(value) for fault in _faults(each, item, f"{path}[{place}]")]
    if get_origin(bare) is dict and isinstance(value, dict):
        item = get_args(bare)[1]
        return [fault for key, each in value.items() for fault in _faults(each, item, _below(path, key))]
    return _leaf_faults(value, kind, path)


def _union_faults(value: Any, kind: Any, members: tuple[Any, ...], path: str) -> list[FieldFault]:
    if value is None and types.NoneType in members:
        return []
    rooms = [member for member in members if _holds(member, value)]
    return _faults(value, rooms[0], path) if rooms else _leaf_faults(value, kind, path)


def _holds(member: Any, value: Any) -> bool:
    """Whether a member of a union has fields or items of its own that `value` may fill."""
    if isinstance(value, list):
        return get_origin(member) is list
    if isinstance(value, dict):
        return get_origin(member) is dict or (isinstance(member, type) and issubclass(member, Struct))
    return False


def _struct_faults(value: Mapping[str, Any], kind: type[Struct], path: str) -> list[FieldFault]:
    fields = {field.encode_name: field for field in msgspec.structs.fields(kind)}
    found = [
        FieldFault(_below(path, name), f"unknown field (known here: {', '.join(fields)})")
        for name in value
        if name not in fields
    ]
    for name, field in fields.items():
        if name in value:
            found += _faults(value[name], field.type, _below(path, name))
        elif field.required:
            found.append(FieldFault(_below(path, name), "is required"))
    return found


def _leaf_faults(value: Any, kind: Any, path: str) -> list[FieldFault]:
    try:
        msgspec.convert(value, _without_unset(kind))
    except msgspec.ValidationError as error:
        return [FieldFault(path or WHOLE, _plain(error))]
    return []


def _without_unset(kind: Any) -> Any:
    members = get_args(kind) if get_origin(kind) in (Union, types.UnionType) else ()
    kept = tuple(member for member in members if member is not UnsetType)
    return Union[kept] if kept and len(kept) < len(members) else kind  # noqa: UP007 - made of a tuple


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _plain(error: Exception) -> str:
    message = str(error).partition(" - at ")[0].replace("`", "")
    if "timezone component" in message:
        return "needs an offset from UTC, such as 2026-11-30T09:00:00+01:00"
    return message[:1].lower() + message[1:]


def given(values: Struct) -> dict[str, Any]:
    """
    The fields that a request gave, by name; those that it left out are not there.
    """
    fields = values.__struct_fields__
    return {name: value for name in fields if (value := getattr(values, name)) is not UNSET}
