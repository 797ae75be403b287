"""
Reads the settings, and says of each key that cannot be taken which it is, what it holds, and what it may hold.
"""

import json
import os
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_settings import SettingsError

from app.config.file import CONFIG_PATH_ENV
from app.config.settings import ENV_DELIMITER, ENV_PREFIX, Settings
from app.config.shape import annotation_at, is_compound, keeps_secrets, model_in
from app.errors import ConfigError, FieldFault

API_KEY_ENV = "LAMINA_API_KEY"
"""Read by the command line when it calls a service; no setting."""

SHOWN_CHARS = 200


def load_settings(**overrides: Any) -> Settings:
    """
    Read the settings; `overrides` are nested dicts by section and win over all else.

    Raises:
        ConfigError: naming each key that is unknown or whose value cannot be taken, the value, and what is allowed. A
            secret is never shown.
    """
    _refuse_unknown_environment()
    try:
        return Settings(**overrides)
    except ValidationError as error:
        faults = tuple(_fault(item) for item in error.errors(include_url=False))
        raise _refused(faults) from error
    except SettingsError as error:
        faults = tuple(FieldFault(name, "its value is not the JSON that this key takes") for name in _broken_json())
        if not faults:
            raise ConfigError(f"configuration cannot be used: {error}") from error
        raise _refused(faults) from error


def environment() -> Iterator[tuple[str, tuple[str, ...]]]:
    """
    The variables that set something: name and the path of the key.
    """
    for name in sorted(os.environ):
        upper = name.upper()
        if upper.startswith(ENV_PREFIX) and upper not in (CONFIG_PATH_ENV, API_KEY_ENV):
            yield name, tuple(upper.removeprefix(ENV_PREFIX).lower().split(ENV_DELIMITER))


def _refused(faults: Sequence[FieldFault]) -> ConfigError:
    lines = "; ".join(f"{fault.field}: {fault.message}" for fault in faults)
    return ConfigError(f"configuration cannot be used: {lines}", tuple(faults))


def _fault(item: Any) -> FieldFault:
    path = item["loc"]
    key = ".".join(str(part) for part in path) or "(whole)"
    if item["type"] == "extra_forbidden":
        return FieldFault(key, f"unknown key (known here: {', '.join(_known_in(path[:-1]))})")
    if item["type"] == "missing":
        return FieldFault(key, "is required")
    if item["type"] == "model_type":
        return FieldFault(key, f"must be a mapping (known keys: {', '.join(_known_in(path))})")
    allowed = item["msg"].removeprefix("Value error, ")
    return FieldFault(key, f"{_shown(path, item.get('input'))} cannot be taken: {allowed}")


def _shown(path: Sequence[str | int], value: Any) -> str:
    annotation = annotation_at(Settings, path)
    if annotation is None or keeps_secrets(annotation):
        return "***"
    if isinstance(value, (list, tuple)):
        return "this list"
    if isinstance(value, (dict, BaseModel)):
        return "this mapping"
    text = repr(value)
    return text if len(text) <= SHOWN_CHARS else f"{text[:SHOWN_CHARS]}…"


def _known_in(path: Sequence[str | int]) -> list[str]:
    model = model_in(annotation_at(Settings, path))
    return [] if model is None else sorted(model.model_fields)


def _refuse_unknown_environment() -> None:
    for name, path in environment():
        if path[0] not in Settings.model_fields:
            allowed = ", ".join(sorted(Settings.model_fields))
            raise ConfigError(f"{name}: unknown key, no section {path[0]!r} (sections: {allowed})")


def _broken_json() -> Iterator[str]:
    for name, path in environment():
        if is_compound(annotation_at(Settings, path)):
            try:
                json.loads(os.environ[name])
            except ValueError:
                yield name
