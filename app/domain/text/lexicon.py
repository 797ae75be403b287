"""
Reads the written form of the word lists (stop words, topic clusters) that come with the project.

The files lie beside this module; opening them is left to whoever puts the service together.
"""

import tomllib

from app.errors import ConfigError


def parse_stop_words(text: str) -> frozenset[str]:
    """
    The words of a list: separated by white space, `#` begins a comment that ends with the line.
    """
    return frozenset(word for line in text.splitlines() for word in line.partition("#")[0].split())


def parse_clusters(text: str) -> dict[str, tuple[str, ...]]:
    """
    The clusters of a TOML document: each key a cluster's name, each value the list of its words.

    Raises:
        ConfigError: the text is not TOML, or a value is not a list of words.
    """
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"clusters: not valid TOML: {error}") from error
    return {name: _words(name, value) for name, value in table.items()}


def _words(name: str, value: object) -> tuple[str, ...]:
    words = tuple(word for word in value if isinstance(word, str)) if isinstance(value, list) else ()
    if not isinstance(value, list) or len(words) != len(value):
        raise ConfigError(f"clusters.{name}: {value!r} cannot be taken: a list of words is needed")
    return words
