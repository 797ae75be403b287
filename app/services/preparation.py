"""
What is worked out of a text before it is stored: its indexed units, topic clusters and entity handles.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection

from app.config import ShortTermSettings
from app.domain.entities import HANDLES_MAX, handles, normalise_handle
from app.domain.records import Record, Tier
from app.domain.relations import stated_relations
from app.domain.signals.cluster import Clusters
from app.domain.text.tokenize import Analyzer
from app.domain.units import Unit, build_units
from app.services.bank_settings import own_clusters
from app.storage.handles import mentioned_in


@dataclass(frozen=True, slots=True)
class Prepared:
    """
    The indexed units and the topic clusters of one record.
    """

    units: tuple[Unit, ...]
    clusters: frozenset[str]


class Preparation:
    """
    Reads texts with one analyzer and one set of clusters, so that what is stored and what is asked meet.
    """

    def __init__(self, analyzer: Analyzer, clusters: Clusters, settings: ShortTermSettings) -> None:
        self.analyzer = analyzer
        self.passage_chars = settings.passage_chars
        self._clusters = clusters
        self._settings = settings

    def of(self, item: Record, settings: Mapping[str, Any]) -> Prepared:
        """
        What is indexed of a record in a bank with these settings.
        """
        return Prepared(self.units(item), self.clusters_of(item.text, settings))

    def clusters_of(self, text: str, settings: Mapping[str, Any]) -> frozenset[str]:
        """
        The topic clusters that a text touches in a bank with these settings.
        """
        words = self.analyzer.words(text)
        return self._clusters.of(words) | own_clusters(settings, words)

    def units(self, item: Record) -> tuple[Unit, ...]:
        """
        The indexed units of a record, the same every time for the same record.
        """
        return build_units(
            item.text,
            item.speaker,
            item.entities,
            self.analyzer,
            passage_chars=self._settings.passage_chars,
            passage_overlap=self._settings.passage_overlap,
        )

    def entities(self, text: str, given: Sequence[str]) -> tuple[str, ...]:
        """
        The entity handles of a text: those that the caller gave, else those found in it.
        """
        return tuple(given) if given else handles(text)

    def with_known_names(self, connection: Connection, bank_id: int, items: Sequence[Record]) -> list[Record]:
        """
        New records, named by what was found in their texts, with the names that the bank knows from memories and
        persons besides, where the texts mention them in whatever case. A memory also bears the names of those of whom
        it states something.
        """
        named = []
        for item, mentioned in zip(
            items, mentioned_in(connection, bank_id, [item.text for item in items]), strict=True
        ):
            stated = stated_relations(item.text) if item.tier is Tier.MEMORY else ()
            subjects = (normalise_handle(each.subject) for each in stated)
            every = tuple(dict.fromkeys((*item.entities, *subjects, *mentioned)))[:HANDLES_MAX]
            named.append(item if every == item.entities else replace(item, entities=every))
        return named
