"""
The configuration file: which one is read, and its content as a mapping.
"""

import os
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml

from app.errors import ConfigError

CONFIG_PATH_ENV = "LAMINA_CONFIG"
DEFAULT_CONFIG_FILE = "config.yaml"


class _Loader(yaml.SafeLoader):
    """
    A safe loader that refuses a key given twice, of which YAML would quietly keep the last.
    """

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        found: set[Any] = set()
        for key_node, _ in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                continue
            if key_node.value in found and key_node.value != "<<":
                problem = f"key {key_node.value!r} is given twice"
                raise yaml.constructor.ConstructorError(None, None, problem, key_node.start_mark)
            found.add(key_node.value)
        return super().construct_mapping(node, deep=deep)


def config_path() -> Path | None:
    """
    The file that settings are read from: the one LAMINA_CONFIG names, else `config.yaml` here, else none.
    """
    named = os.environ.get(CONFIG_PATH_ENV)
    if named:
        return Path(named)
    here = Path(DEFAULT_CONFIG_FILE)
    return here if here.is_file() else None


def read_config_file(path: Path) -> dict[str, Any]:
    """
    The sections that the file gives. A section with nothing in it is left out, as if all its keys were.

    Raises:
        ConfigError: when it cannot be read, is not YAML, or is not a mapping of sections. Never quotes the file's text,
            which may hold a secret.
    """
    if not path.is_file():
        raise ConfigError(f"{CONFIG_PATH_ENV} names {path}, which is not a file")
    try:
        with path.open(encoding="utf-8") as stream:
            content = yaml.load(stream, _Loader)  # noqa: S506 - a safe loader
    except yaml.YAMLError as error:
        raise ConfigError(f"{path} is not valid YAML: {_described(error)}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8 text: {error.reason} at byte {error.start}") from error
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}") from error
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise ConfigError(f"{path} must be a mapping of sections to their keys, not a {type(content).__name__}")
    odd = [key for key in content if not isinstance(key, str)]
    if odd:
        raise ConfigError(f"{path} has the section {odd[0]!r}, which is not text")
    return {key: value for key, value in content.items() if value is not None}


def _described(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or type(error).__name__
    return problem if mark is None else f"line {mark.line + 1}, column {mark.column + 1}: {problem}"
