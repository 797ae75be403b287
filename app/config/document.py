"""
Writes the configuration down from its models: the commented `config.yaml`, and the table of the README.
"""

import json
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import yaml
from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from app.config.settings import ENV_DELIMITER, ENV_PREFIX, Settings
from app.config.shape import item_of, model_in, without_none
from app.errors import ConfigError

TABLE_BEGIN = "<!-- config:begin -->"
TABLE_END = "<!-- config:end -->"
WIDTH = 118

_HEADER = f"""\
Every setting with its default, made from the models in app/config by `lamina config docs --write`.
The variable {ENV_PREFIX}SECTION{ENV_DELIMITER}KEY overrides a key; it gives a list or a mapping as JSON. An unknown \
key, a wrong type or a value out of range stops the start. Zero means zero, never the default; null means unset."""
_PLAIN_TYPES = {
    bool: "true or false",
    str: "text",
    SecretStr: "text",
    int: "a whole number",
    float: "a number",
    Path: "a path",
}


def config_yaml() -> str:
    """
    The text of `config.yaml`.
    """
    lines = [line for paragraph in _HEADER.splitlines() for line in _comment(paragraph, 0)]
    for name, section, default in _sections():
        lines += ["", *_comment(_about(section), 0), f"{name}:", *_yaml_fields(section, default, 2)]
    return "\n".join(lines) + "\n"


def config_table() -> str:
    """
    The table of the README: key, default, what is allowed, meaning.
    """
    lines = ["| Key | Default | Allowed | Meaning |", "|---|---|---|---|"]
    for name, section, default in _sections():
        for key, field, value in _keys(name, section, default):
            cells = (f"`{key}`", _cell_value(value), allowed(field), _meaning(field))
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)


def with_table(readme: str) -> str:
    """
    The README with the present table between its markers.

    Raises:
        ConfigError: when the markers are not there, once each and in order.
    """
    before, begin, rest = readme.partition(TABLE_BEGIN)
    _, end, after = rest.partition(TABLE_END)
    if not begin or not end or TABLE_BEGIN in after or TABLE_END in after:
        raise ConfigError(f"the README needs the lines {TABLE_BEGIN} and {TABLE_END}, once each, around its table")
    return f"{before}{TABLE_BEGIN}\n{config_table()}\n{TABLE_END}{after}"


def allowed(field: FieldInfo) -> str:
    """
    What a field takes, in words: its choices, its range, or its type.
    """
    bare = without_none(field.annotation)
    words = _type_in_words(bare, field.metadata)
    return words if bare is field.annotation else f"{words}, or null"


def _type_in_words(bare: Any, metadata: list[Any]) -> str:
    if get_origin(bare) is Literal:
        return ", ".join(f"`{choice}`" for choice in get_args(bare))
    if get_origin(bare) is dict:
        return "a mapping"
    if get_origin(bare) is tuple:
        item = item_of(bare)
        return f"a list of {_type_in_words(item, [])}" if model_in(item) is None else "a list"
    return _range(metadata) or _PLAIN_TYPES.get(bare, "")


def _range(metadata: list[Any]) -> str:
    bounds = {
        name: value
        for item in metadata
        for name in ("ge", "gt", "le", "min_length", "max_length")
        if (value := getattr(item, name, None)) is not None
    }
    if "max_length" in bounds:
        return f"{bounds.get('min_length', 0)} to {bounds['max_length']} characters"
    words = []
    if "gt" in bounds:
        words.append(f"above {_number(bounds['gt'])}")
    if "ge" in bounds:
        words.append(_number(bounds["ge"]) if "le" in bounds else f"at least {_number(bounds['ge'])}")
    if "le" in bounds:
        words.append(_number(bounds["le"]) if words else f"at most {_number(bounds['le'])}")
    return " to ".join(words)


def _number(value: float) -> str:
    return f"{value:g}" if isinstance(value, float) and value < 1e6 else f"{value:.0f}"


def _sections() -> Iterator[tuple[str, type[BaseModel], BaseModel]]:
    for name, field in Settings.model_fields.items():
        default = field.get_default(call_default_factory=True)
        yield name, type(default), default


def _keys(prefix: str, model: type[BaseModel], default: BaseModel) -> Iterator[tuple[str, FieldInfo, Any]]:
    for name, field in model.model_fields.items():
        value = getattr(default, name)
        if isinstance(value, BaseModel):
            yield from _keys(f"{prefix}.{name}", type(value), value)
        else:
            yield f"{prefix}.{name}", field, _plain(value)


def _yaml_fields(model: type[BaseModel], default: BaseModel, indent: int) -> Iterator[str]:
    for name, field in model.model_fields.items():
        value = getattr(default, name)
        if isinstance(value, BaseModel):
            yield ""
            yield from _comment(_about(type(value)), indent)
            yield f"{' ' * indent}{name}:"
            yield from _yaml_fields(type(value), value, indent + 2)
            continue
        plain = _plain(value)
        yield from _comment(f"{_meaning(field)} [{_noted(field, plain)}]", indent)
        yield from _explained_items(model_in(field.annotation), indent)
        yield from textwrap.indent(_dumped(name, plain), " " * indent).splitlines()


def _dumped(name: str, value: Any) -> str:
    # Lists and mappings of plain values are written on one line, all else in blocks.
    flow = None if isinstance(value, (dict, list)) else False
    return yaml.safe_dump({name: value}, sort_keys=False, default_flow_style=flow, allow_unicode=True, width=WIDTH)


def _explained_items(model: type[BaseModel] | None, indent: int) -> Iterator[str]:
    """Comments on the keys of what a list or a mapping holds."""
    if model is None:
        return
    yield from _comment(f"Each holds: {_about(model)}", indent)
    for name, field in model.model_fields.items():
        yield from _comment(f"- {name}: {_meaning(field)} [{_noted(field, _plain(field.default))}]", indent, hanging=2)
        inner = model_in(field.annotation)
        if inner is not None:
            yield from _explained_items(inner, indent)


def _noted(field: FieldInfo, default: Any) -> str:
    if field.is_required():
        note = "required"
    else:
        note = "default below" if isinstance(default, dict) and default else f"default {_inline(default)}"
    return f"{allowed(field)}; {note}".replace("`", "")


def _plain(value: Any) -> Any:
    """The value as YAML and JSON have it; of a model, only what differs from its own defaults is worth reading."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_defaults=True)
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, Path) else value


def _inline(value: Any) -> str:
    return value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)


def _cell_value(value: Any) -> str:
    return "see `config.yaml`" if isinstance(value, dict) and value else f"`{_inline(value)}`"


def _meaning(field: FieldInfo) -> str:
    return " ".join((field.description or "").split())


def _about(model: type[BaseModel]) -> str:
    return " ".join((model.__doc__ or "").split())


def _comment(text: str, indent: int, hanging: int = 0) -> list[str]:
    lead = f"{' ' * indent}# "
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=lead,
        subsequent_indent=lead + " " * hanging,
        break_long_words=False,
        break_on_hyphens=False,
    )
