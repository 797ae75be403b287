"""
The written form of redaction rules: a TOML table of shapes, each with its checks and with examples that prove it.

The files lie beside this module; opening them is left to whoever puts the service together.
"""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import regex

from app.domain.redaction.checks import CHECKS, entropy
from app.errors import ConfigError

Pattern = Any
"""A compiled pattern of the `regex` module, which states no types."""

MARKER: Final = regex.compile(r"\[REDACTED(?::[\w-]{1,64})?\]|\[EMAIL\]|\[SSN\]")
"""What stands where something was taken out."""

_NAME = regex.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_PART = regex.compile(r"@\{([a-z_]+)\}")
_KNOWN: Final = frozenset(
    [
        "name",
        "label",
        "marker",
        "pattern",
        "group",
        "starts",
        "keywords",
        "checks",
        "unless",
        "tail",
        "min_distinct",
        "min_entropy",
        "positives",
        "negatives",
    ]
)


@dataclass(frozen=True, slots=True)
class Rule:
    """
    One shape of what is taken out.

    `pattern` finds it and `group` is the part that goes. With `starts` (lower case), the pattern is tried only where
    one of them begins; with `keywords`, only in a text that has one of them; so most rules cost next to nothing. What
    was found stays when a check fails, when `unless` matches the whole of it, or when it has fewer distinct characters
    or bits a character than asked. `tail` is what goes with it behind it.
    """

    name: str
    label: str
    marker: str
    pattern: Pattern
    group: int | str = 0
    starts: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    checks: tuple[Callable[[str], bool], ...] = ()
    unless: Pattern | None = None
    tail: Pattern | None = None
    min_distinct: int = 0
    min_entropy: float = 0.0
    positives: tuple[str, ...] = ()
    negatives: tuple[str, ...] = ()

    def accepts(self, secret: str) -> bool:
        """
        Whether what the pattern found is what the rule means.
        """
        if not secret or MARKER.fullmatch(secret) or secret == self.marker:
            return False
        if self.unless is not None and self.unless.fullmatch(secret):
            return False
        if len(set(secret)) < self.min_distinct or (self.min_entropy and entropy(secret) < self.min_entropy):
            return False
        return all(check(secret) for check in self.checks)


def parse_rules(text: str, origin: str) -> tuple[Rule, ...]:
    """
    The rules of a TOML document: tables `[[rule]]`. `@{name}` stands for a piece of a pattern in `[parts]`, and in a
    list of texts for a list in `[words]`.

    Raises:
        ConfigError: naming `origin` and the rule, when it is not TOML or a rule cannot be used.
    """
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{origin}: not valid TOML: {error}") from error
    odd = set(table) - {"rule", "parts", "words"}
    if odd:
        raise ConfigError(f"{origin}: unknown key {min(odd)!r} (known: parts, rule, words)")
    parts = _parts(table.get("parts", {}), origin)
    words = _words(table.get("words", {}), origin)
    given = table.get("rule", [])
    if not isinstance(given, list):
        raise ConfigError(f"{origin}: rules are tables [[rule]]")
    rules = tuple(_rule(item, parts, words, origin, place) for place, item in enumerate(given))
    names = [rule.name for rule in rules]
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"{origin}: rule {name!r}: is there twice")
    return rules


def _parts(given: Any, origin: str) -> dict[str, str]:
    found: dict[str, str] = {}
    if not isinstance(given, dict):
        raise ConfigError(f"{origin}: parts: must map names to pieces of patterns")
    for name, piece in given.items():
        if not isinstance(piece, str):
            raise ConfigError(f"{origin}: parts.{name}: must be text")
        found[name] = _filled(piece, found, f"{origin}: parts.{name}")
    return found


def _filled(pattern: str, parts: Mapping[str, str], place: str) -> str:
    missing = [name for name in _PART.findall(pattern) if name not in parts]
    if missing:
        raise ConfigError(f"{place}: there is no part {missing[0]!r} before it")
    filled: str = _PART.sub(lambda found: parts[found[1]], pattern)
    return filled


def _words(given: Any, origin: str) -> dict[str, tuple[str, ...]]:
    if not isinstance(given, dict):
        raise ConfigError(f"{origin}: words: must map names to lists of texts")
    return {name: _texts(given, name, f"{origin}: words") for name in given}


def _rule(given: Any, parts: Mapping[str, str], words: Mapping[str, Sequence[str]], origin: str, place: int) -> Rule:
    if not isinstance(given, dict):
        raise ConfigError(f"{origin}: rules are tables [[rule]]")
    name = given.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ConfigError(f"{origin}: rule {place + 1}: name: lower-case letters, digits, _ and -, at most 64")
    at = f"{origin}: rule {name!r}"
    odd = set(given) - _KNOWN
    if odd:
        raise ConfigError(f"{at}: unknown key {min(odd)!r} (known: {', '.join(sorted(_KNOWN))})")
    label = _text(given, "label", at, name)
    if not _NAME.fullmatch(label):
        raise ConfigError(f"{at}: label: lower-case letters, digits, _ and -, at most 64")
    pattern = _compiled(given, "pattern", parts, at)
    if pattern is None:
        raise ConfigError(f"{at}: pattern: is required")
    checks = _texts(given, "checks", at)
    unknown = [check for check in checks if check not in CHECKS]
    if unknown:
        raise ConfigError(f"{at}: checks: {unknown[0]!r} is not known (known: {', '.join(CHECKS)})")
    return Rule(
        name=name,
        label=label,
        marker=_text(given, "marker", at, f"[REDACTED:{label}]"),
        pattern=pattern,
        group=_group(given, pattern, at),
        starts=_lowered(given, "starts", words, at),
        keywords=_lowered(given, "keywords", words, at),
        checks=tuple(CHECKS[check] for check in checks),
        unless=_compiled(given, "unless", parts, at),
        tail=_compiled(given, "tail", parts, at),
        min_distinct=int(_number(given, "min_distinct", at)),
        min_entropy=_number(given, "min_entropy", at),
        positives=_texts(given, "positives", at),
        negatives=_texts(given, "negatives", at),
    )


def _compiled(given: Mapping[str, Any], key: str, parts: Mapping[str, str], at: str) -> Pattern | None:
    if key not in given:
        return None
    pattern = _filled(_text(given, key, at, ""), parts, f"{at}: {key}")
    try:
        return regex.compile(pattern)
    except regex.error as error:
        raise ConfigError(f"{at}: {key}: is no pattern: {error}") from error


def _group(given: Mapping[str, Any], pattern: Pattern, at: str) -> int | str:
    group: int | str = given.get("group", "secret" if "secret" in pattern.groupindex else 0)
    known = group in pattern.groupindex if isinstance(group, str) else 0 <= group <= pattern.groups
    if not known:
        raise ConfigError(f"{at}: group: the pattern has no group {group!r}")
    return group


def _text(given: Mapping[str, Any], key: str, at: str, default: str) -> str:
    value = given.get(key, default)
    if not isinstance(value, str) or not value:
        raise ConfigError(f"{at}: {key}: must be text")
    return value


def _texts(given: Mapping[str, Any], key: str, at: str) -> tuple[str, ...]:
    value = given.get(key, [])
    if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
        raise ConfigError(f"{at}: {key}: must be a list of texts")
    return tuple(value)


def _lowered(given: Mapping[str, Any], key: str, words: Mapping[str, Sequence[str]], at: str) -> tuple[str, ...]:
    found: list[str] = []
    for item in _texts(given, key, at):
        named = _PART.fullmatch(item)
        if named is None:
            found.append(item.lower())
        elif named[1] in words:
            found += [word.lower() for word in words[named[1]]]
        else:
            raise ConfigError(f"{at}: {key}: there are no words {named[1]!r}")
    return tuple(found)


def _number(given: Mapping[str, Any], key: str, at: str) -> float:
    value = given.get(key, 0)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value < 0:
        raise ConfigError(f"{at}: {key}: must be a number from 0")
    return float(value)
