"""
Finds what a key of the configuration may hold, by walking the models along its path.
"""

import types
from collections.abc import Sequence
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, SecretStr


def model_in(annotation: Any) -> type[BaseModel] | None:
    """
    The model that a field of this type holds, directly or as the items of a list or the values of a mapping.
    """
    bare = without_none(annotation)
    if isinstance(bare, type) and issubclass(bare, BaseModel):
        return bare
    item = item_of(bare)
    return None if item is None else model_in(item)


def annotation_at(root: type[BaseModel], path: Sequence[str | int]) -> Any | None:
    """
    The type of the value at `path`; None where the models have no such place.
    """
    annotation: Any = root
    for part in path:
        bare = without_none(annotation)
        if isinstance(bare, type) and issubclass(bare, BaseModel):
            field = bare.model_fields.get(str(part))
            annotation = None if field is None else field.annotation
        else:
            annotation = item_of(bare)
        if annotation is None:
            return None
    return annotation


def keeps_secrets(annotation: Any) -> bool:
    """
    Whether a value of this type is a secret, or may hold one.
    """
    if without_none(annotation) is SecretStr:
        return True
    model = model_in(annotation)
    return model is not None and any(keeps_secrets(field.annotation) for field in model.model_fields.values())


def is_compound(annotation: Any) -> bool:
    """
    Whether the environment gives a value of this type as JSON.
    """
    bare = without_none(annotation)
    return item_of(bare) is not None or (isinstance(bare, type) and issubclass(bare, BaseModel))


def without_none(annotation: Any) -> Any:
    """
    The type without the possibility of None, and without what Annotated adds.
    """
    if get_origin(annotation) is Annotated:
        return without_none(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        rest = [member for member in get_args(annotation) if member is not types.NoneType]
        return without_none(rest[0]) if len(rest) == 1 else annotation
    return annotation


def item_of(annotation: Any) -> Any | None:
    """
    What a list of this type holds, or a mapping under its keys; None for any other type.
    """
    if get_origin(annotation) is dict:
        return get_args(annotation)[1]
    if get_origin(annotation) is tuple:
        return get_args(annotation)[0]
    return None
