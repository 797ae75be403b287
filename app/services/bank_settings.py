"""
What a bank may set for itself, checked before it is stored.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any

from app.config import RuleSettings
from app.domain.scopes import ScopeMode
from app.domain.signals.cluster import Clusters
from app.services.faults import LABEL_MAX, Faults

RULE_KEYS = ("learning", "trusted_contacts", "trusted_roles", "trusted_sources")
_LISTS = RULE_KEYS[1:]
KNOWN = ("clusters", "extraction", "rules", "scope")
CLUSTERS_MAX = 40
WORDS_MAX = 1000


def check_settings(settings: Mapping[str, Any]) -> None:
    """
    Let settings pass that a bank may have. `clusters` maps a topic cluster's name to words that are added to it,
    `extraction` turns the drawing of memories from messages on or off, `rules` overrides who may teach rules, `scope`
    which messages a conversation sees.

    Raises:
        InvalidInput: naming every bad key.
    """
    faults = Faults("settings.")
    for key, value in settings.items():
        if key not in KNOWN:
            faults.add(key, f"unknown setting (known: {', '.join(KNOWN)})")
        elif value is not None:
            _CHECKS[key](value, faults)
    faults.raise_if_any()


def extracts(settings: Mapping[str, Any], default: bool) -> bool:
    """
    Whether memories are drawn from a bank's messages.
    """
    own = settings.get("extraction")
    return default if own is None else bool(own)


def rules_of(settings: Mapping[str, Any], default: RuleSettings) -> RuleSettings:
    """
    Who may teach a bank rules: the configuration with what the bank says otherwise.
    """
    own = {key: value for key, value in (settings.get("rules") or {}).items() if value is not None}
    return default.model_copy(update={key: tuple(value) if key in _LISTS else value for key, value in own.items()})


def scope_mode(settings: Mapping[str, Any], default: str) -> ScopeMode:
    """
    How far a conversation in a bank sees.
    """
    return ScopeMode(settings.get("scope") or default)


def own_clusters(settings: Mapping[str, Any], words: Iterable[str]) -> frozenset[str]:
    """
    The clusters that a text's words touch by the bank's own lists.
    """
    added = settings.get("clusters")
    if not added:
        return frozenset()
    return _clusters(tuple((name, tuple(entries)) for name, entries in sorted(added.items()))).of(words)


@lru_cache(maxsize=256)
def _clusters(words: tuple[tuple[str, tuple[str, ...]], ...]) -> Clusters:
    return Clusters(dict(words))


def _check_clusters(value: object, faults: Faults) -> None:
    if not isinstance(value, Mapping):
        faults.add("clusters", "must map a cluster's name to a list of words")
        return
    if len(value) > CLUSTERS_MAX:
        faults.add("clusters", f"at most {CLUSTERS_MAX} clusters, got {len(value)}")
    for name, words in value.items():
        place = f"clusters.{name}"
        if not isinstance(words, (list, tuple)) or not all(isinstance(word, str) for word in words):
            faults.add(place, "must be a list of words")
        elif len(words) > WORDS_MAX:
            faults.add(place, f"at most {WORDS_MAX} words, got {len(words)}")
        elif not name.strip() or len(name) > LABEL_MAX:
            faults.add(place, f"a name has 1 to {LABEL_MAX} characters")


def _check_extraction(value: object, faults: Faults) -> None:
    if not isinstance(value, bool):
        faults.add("extraction", "must be true or false")


def _check_rules(value: object, faults: Faults) -> None:
    if not isinstance(value, Mapping):
        faults.add("rules", f"must be a mapping (known keys: {', '.join(RULE_KEYS)})")
        return
    for key, item in value.items():
        place = f"rules.{key}"
        if key not in RULE_KEYS:
            faults.add(place, f"unknown key (known: {', '.join(RULE_KEYS)})")
        elif item is None:
            continue
        elif key == "learning":
            if not isinstance(item, bool):
                faults.add(place, "must be true or false")
        elif not isinstance(item, (list, tuple)) or not all(isinstance(name, str) and name.strip() for name in item):
            faults.add(place, "must be a list of names")
        elif len(item) > WORDS_MAX:
            faults.add(place, f"at most {WORDS_MAX} names, got {len(item)}")


def _check_scope(value: object, faults: Faults) -> None:
    if value not in set(ScopeMode):
        faults.add("scope", f"must be one of {', '.join(ScopeMode)}")


_CHECKS: Mapping[str, Callable[[object, Faults], None]] = {
    "clusters": _check_clusters,
    "extraction": _check_extraction,
    "rules": _check_rules,
    "scope": _check_scope,
}
