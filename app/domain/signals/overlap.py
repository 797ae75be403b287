"""
The plain word overlap that needs no statistics: which share of a query's words a record holds.
"""

from collections.abc import Collection


def overlap(query: Collection[str], record: Collection[str]) -> float:
    """
    |Q ∩ M| / |Q| over distinct words, function words left out beforehand, in [0, 1]; 0 for an empty query.
    """
    asked = set(query)
    return len(asked & set(record)) / len(asked) if asked else 0.0
