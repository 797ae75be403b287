"""
Settings of records and recall: what is taken in, how it is ranked, and what is kept in memory for it.
"""

from typing import Literal

from pydantic import Field

from app.config.section import Section, Share, Weight


class ShortTermSettings(Section):
    """Short-term entries."""

    content_max: int = Field(1500, ge=20, le=100_000)
    """Characters of one entry that may enter a prompt; the stored text stays whole."""
    max_content_bytes: int = Field(256 * 1024, ge=1024, le=16 * 1024 * 1024)
    """Largest entry, in bytes of UTF-8; beyond it the answer is 413."""
    dedupe_window_s: int = Field(300, ge=0, le=86_400)
    """Seconds within which the same content of the same contact is one entry, where neither has a message id."""
    neighbour_gap_s: int = Field(3600, ge=0, le=30 * 86_400)
    """Seconds within which the entry before counts as the turn that an entry answers."""
    passage_chars: int = Field(1200, ge=200, le=8000)
    """Length of the passages in which long text is indexed, in characters."""
    passage_overlap: int = Field(150, ge=0, le=2000)
    """Characters that neighbouring passages share."""


class MemorySettings(Section):
    """Durable memories."""

    raw_input_max_bytes: int = Field(4096, ge=16, le=1024 * 1024)
    """Largest raw input, in bytes of UTF-8; beyond it the answer is 413."""
    content_min: int = Field(3, ge=1, le=100)
    """Fewest characters of a memory's content."""
    content_max: int = Field(2000, ge=10, le=100_000)
    """Most characters of a memory's content."""
    summary_max: int = Field(49, ge=10, le=500)
    """Most characters of a summary."""
    structure_wait_s: float = Field(5.0, ge=0.0, le=60.0)
    """Seconds that a save with `wait` waits for a language model to structure it."""


class FusedSettings(Section):
    """The default scorer. Relevance lies in [0, 1]; a bonus or a reach is on its scale."""

    fusion: Literal["weighted", "rrf"] = "weighted"
    """`weighted` joins the arms by how good each hit is, `rrf` by its rank."""
    rank_constant: float = Field(60.0, gt=0.0, le=10_000.0)
    """Constant k of reciprocal rank fusion."""
    keyword_weight: Weight = 0.60
    """Weight of the keyword signal."""
    semantic_weight: Weight = 0.40
    """Weight of the cosine signal."""
    neighbour_share: Share = 0.60
    """Share of the previous turn's excess in relevance that passes on to its answer."""
    agreement_bonus: Share = 0.0
    """Added for each further arm that found the record."""
    cluster_reach: Share = 0.10
    """Relevance to which sharing all of the question's topics lifts a record."""
    entity_reach: Share = 0.06
    """Relevance to which each entity handle shared with the question lifts a record."""
    entity_reach_max: int = Field(2, ge=0, le=10)
    """Most entity handles that count."""
    time_bonus: Share = 0.15
    """Added to a record that lies in the time the question speaks of."""
    gate: Share = 0.04
    """Relevance below which a record is left out."""
    speaker_bonus: Share = 0.12
    """Added to what the person said whom the question asks about."""
    pinned_bonus: Share = 0.10
    """Share of its own relevance that a pinned record gains."""
    corroboration_bonus: Share = 0.05
    """Share of its own relevance that a record gains by being stated often."""
    usage_bonus: Share = 0.05
    """Share of its own relevance that a record gains by being recalled often."""
    recency_floor: Share = 0.98
    """Least that age can leave of a score."""
    diversity: Share = 1.0
    """Weight of the score against likeness to what is chosen already; 1 leaves the order to the score."""
    near_identical: float = Field(0.95, ge=-1.0, le=1.0)
    """Cosine above which two records stand in each other's way."""


class RecallSettings(Section):
    """Recall."""

    limit: int = Field(10, ge=0, le=500)
    """Results when the request names no limit."""
    scorer: Literal["fused", "orca", "orcbot", "iii", "lexical", "semantic"] = "fused"
    """Scorer of the hybrid mode."""
    candidates_per_arm: int = Field(50, ge=1, le=5000)
    """Candidates that each arm brings."""
    query_terms_max: int = Field(64, ge=1, le=4096)
    """Distinct words of a query that are searched; of a longer text, the rarest."""
    half_life_days: float = Field(60.0, gt=0.0, le=36_500.0)
    """Days in which a record's recency halves, before its category's factor."""
    maturity_accesses: int = Field(50, ge=1, le=1_000_000)
    """Accesses of a bank at which usage counts in full."""
    access_flush_s: float = Field(1.0, ge=0.0, le=600.0)
    """Seconds for which access counts are gathered before they are written."""
    fused: FusedSettings = FusedSettings()


class ResidentSettings(Section):
    """The in-memory index of the banks in use."""

    max_mb: int = Field(512, ge=0, le=1_000_000)
    """Memory it may take, in MiB; beyond it the least recently used bank goes. 0 turns it off."""


class ClusterSettings(Section):
    """Topic clusters."""

    extra: dict[str, tuple[str, ...]] = Field({})
    """Words added to a cluster, or a new cluster: name to words."""


class CoreSettings(Section):
    """The core tier: what always applies."""

    min_confidence: Share = 0.8
    """Least confidence of a core memory."""
    limit: int = Field(50, ge=0, le=500)
    """Most core memories."""
    cache_s: float = Field(300.0, ge=0.0, le=86_400.0)
    """Seconds for which a bank's core tier is kept while the bank does not change."""
    refresh_s: float = Field(2.0, ge=0.0, le=3600.0)
    """Seconds after which a bank's revision is looked up again for the caches."""
    cache_banks: int = Field(1024, ge=0, le=1_000_000)
    """Banks whose core tier is kept; beyond it the least recently used goes. 0 keeps none."""
