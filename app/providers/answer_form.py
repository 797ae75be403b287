"""
The form of an answer as the model servers want it: a strict JSON schema with a name, or the same in words.
"""

import json
import re
from functools import cache
from typing import Any

from pydantic import BaseModel

_NOT_FOR_STRICT = frozenset({"title", "default", "minLength", "maxLength", "examples"})
"""Keywords that strict schemas lack; what they demand is checked when the answer is there."""


def form_name(form: type[BaseModel]) -> str:
    """
    The form's name in the signs that a schema's name may have: `ExtractAnswer` is `extract_answer`.
    """
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", form.__name__).lower()[:64]


@cache
def strict_schema(form: type[BaseModel]) -> dict[str, Any]:
    """
    The form's JSON schema with every property required and no other allowed, as strict schemas have it.
    """
    strict = _strict(form.model_json_schema(by_alias=True))
    assert isinstance(strict, dict)  # noqa: S101 - a schema is a mapping, and stays one
    return strict


@cache
def in_words(form: type[BaseModel]) -> str:
    """
    What a model is told of the form when the server cannot hold it to a schema.
    """
    schema = json.dumps(strict_schema(form), ensure_ascii=False, separators=(",", ":"))
    return (
        "Answer with exactly one JSON object and nothing else: no words before or after it, no code fence. "
        f"The object must satisfy this JSON schema:\n{schema}"
    )


def _strict(node: Any) -> Any:
    if isinstance(node, list):
        return [_strict(item) for item in node]
    if not isinstance(node, dict):
        return node
    found: dict[str, Any] = {}
    for key, value in node.items():
        if key in ("properties", "$defs"):
            # Here keys are names that somebody chose, such as a property called "title".
            found[key] = {name: _strict(inner) for name, inner in value.items()}
        elif key not in _NOT_FOR_STRICT:
            found[key] = _strict(value)
    if found.get("type") == "object":
        found["additionalProperties"] = False
        found["required"] = list(found.get("properties", {}))
    # A reference must stand alone.
    return {"$ref": found["$ref"]} if "$ref" in found else found
