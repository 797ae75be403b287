"""
What the service counts about itself, in a registry of its own, so that several services fit in one process.
"""

import re
from collections.abc import Iterable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

CONTENT_TYPE = CONTENT_TYPE_LATEST
UNROUTED = "(none)"
"""Route label of a request that no route took, so that made-up paths make no new series."""
UNNAMED = "other"
"""Reason label of a degradation that begins with no slug."""

_SLUG = re.compile(r"([a-z_]+):")
_BUCKETS_S = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)


class Metrics:
    """
    The service's counters. Routes are labelled by template, never by path, so that no bank's name becomes a label.
    """

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "lamina_requests", "Requests answered", ("method", "route", "status"), registry=self._registry
        )
        self._seconds = Histogram(
            "lamina_request_duration_seconds",
            "Time from a request's arrival to the end of its answer",
            ("method", "route"),
            buckets=_BUCKETS_S,
            registry=self._registry,
        )
        self._running = Gauge("lamina_requests_in_progress", "Requests being answered", registry=self._registry)
        self._recalls = Counter(
            "lamina_recalls", "Recalls, by the retrieval that really ran", ("retrieval",), registry=self._registry
        )
        self._degraded = Counter(
            "lamina_degraded_recalls", "Recalls that had to do without something", ("reason",), registry=self._registry
        )
        self._waiting = Gauge("lamina_indexer_waiting", "Indexed units without a vector", registry=self._registry)
        ProcessCollector(registry=self._registry)

    def started(self) -> None:
        """
        A request came in.
        """
        self._running.inc()

    def answered(self, method: str, route: str | None, status: int, seconds: float) -> None:
        """
        A request's answer ended.
        """
        label = route or UNROUTED
        self._running.dec()
        self._requests.labels(method, label, status).inc()
        self._seconds.labels(method, label).observe(seconds)

    def recalled(self, retrieval: str, degraded: Iterable[str]) -> None:
        """
        A recall was answered; of each reason only the slug before its colon becomes a label.
        """
        self._recalls.labels(retrieval).inc()
        for reason in degraded:
            slug = _SLUG.match(reason)
            self._degraded.labels(slug.group(1) if slug else UNNAMED).inc()

    def indexer(self, waiting: int) -> None:
        """
        How many units the indexer has before it.
        """
        self._waiting.set(waiting)

    def render(self) -> bytes:
        """
        Everything, in the text format of Prometheus.
        """
        return generate_latest(self._registry)
