"""
Where each effective setting came from: an argument, the environment, the file, or its default.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic_settings import EnvSettingsSource

from app.config.file import config_path, read_config_file
from app.config.settings import ENV_DELIMITER, ENV_PREFIX, Settings

Source = Literal["argument", "environment", "file", "default"]
Path = tuple[str | int, ...]

_CREDENTIALS = re.compile(r"://[^/@\s]+@")
"""A name and a password inside an address."""


@dataclass(frozen=True, slots=True)
class Origin:
    """
    One effective setting. `value` is plain data, a secret stars; `where` names the variable or the file it came from.
    """

    key: str
    value: Any
    source: Source
    where: str = ""


@dataclass(frozen=True, slots=True)
class _Layer:
    """What one source gives below some key."""

    source: Source
    content: Any


def origins(settings: Settings, overrides: Mapping[str, Any] | None = None) -> list[Origin]:
    """
    Every setting with its source, in the order of the models; `overrides` are those that `load_settings` was given.

    Mappings are shown key by key, as they are merged so; a list comes from one source as a whole.

    Raises:
        ConfigError: when the file cannot be read any more.
    """
    file = config_path()
    layers = [
        _Layer("argument", overrides or {}),
        _Layer("environment", EnvSettingsSource(Settings)()),
        _Layer("file", {} if file is None else read_config_file(file)),
    ]
    variables = {name.upper() for name in os.environ}
    found = []
    for path, value, source in _leaves((), settings.model_dump(mode="json"), layers):
        where = ""
        if source == "environment":
            where = _variable(path, variables)
        elif source == "file":
            where = str(file)
        found.append(Origin(_dotted(path), value, source, where))
    return found


def _leaves(path: Path, value: Any, layers: Sequence[_Layer]) -> Iterator[tuple[Path, Any, Source]]:
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from _leaves((*path, key), item, _below_key(layers, key))
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        for place, item in enumerate(value):
            yield from _leaves((*path, place), item, _below_place(layers[:1], place))
    else:
        shown = _CREDENTIALS.sub("://***@", value) if isinstance(value, str) else value
        yield path, shown, layers[0].source if layers else "default"


def _below_key(layers: Sequence[_Layer], key: str) -> list[_Layer]:
    return [
        _Layer(layer.source, layer.content[key])
        for layer in layers
        if isinstance(layer.content, Mapping) and key in layer.content
    ]


def _below_place(layers: Sequence[_Layer], place: int) -> list[_Layer]:
    return [
        _Layer(layer.source, layer.content[place])
        for layer in layers
        if isinstance(layer.content, (list, tuple)) and place < len(layer.content)
    ]


def _variable(path: Path, variables: set[str]) -> str:
    """The variable that gave the value: the one of the key itself, or of the nearest mapping around it."""
    names = [ENV_PREFIX + ENV_DELIMITER.join(map(str, path[:length])).upper() for length in range(len(path), 0, -1)]
    return next((name for name in names if name in variables), "")


def _dotted(path: Path) -> str:
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text
