"""
What a bank may set for itself, checked before it is stored.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from app.domain.signals.cluster import Clusters
from app.services.faults import LABEL_MAX, Faults

KNOWN = ("clusters",)
CLUSTERS_MAX = 40
WORDS_MAX = 1000


def check_settings(settings: Mapping[str, Any]) -> None:
    """
    Let settings pass that a bank may have. `clusters` maps a topic cluster's name to words that are added to it.

    Raises:
        InvalidInput: naming every bad key.
    """
    faults = Faults("settings.")
    for key, value in settings.items():
        if key not in KNOWN:
            faults.add(key, f"unknown setting (known: {', '.join(KNOWN)})")
        elif value is not None:
            _check_clusters(value, faults)
    faults.raise_if_any()


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
