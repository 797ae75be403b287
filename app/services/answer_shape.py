"""
Reads the outline of an answer off its form, for the search in a model's text.
"""

from functools import cache
from typing import Any, get_args, get_origin

from pydantic import BaseModel

from app.domain.answers import Shape


@cache
def shape_of(form: type[BaseModel]) -> Shape:
    """
    The form's fields, which of them are lists, and the fields of the elements where a single list is all there is.
    """
    lists = {
        name: field.annotation for name, field in form.model_fields.items() if get_origin(field.annotation) is list
    }
    fields = tuple(form.model_fields)
    elements = _fields_of_item(next(iter(lists.values()))) if len(lists) == len(fields) == 1 else ()
    return Shape(fields, tuple(lists), elements)


def _fields_of_item(annotation: Any) -> tuple[str, ...]:
    (item,) = get_args(annotation)
    return tuple(item.model_fields) if isinstance(item, type) and issubclass(item, BaseModel) else ()
