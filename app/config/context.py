"""
Settings of the prompt assembler: profiles, and the sections of which each is made.
"""

from typing import Literal

from pydantic import Field, model_validator

from app.config.section import Section, Share


class SectionSettings(Section):
    """One section of a context profile. Shares are of the whole budget."""

    source: Literal["core", "memories", "episodes", "recent"]
    """What fills it."""
    name: str = Field("", max_length=100)
    """What it is called in requests and answers; unset means its source."""
    title: str = ""
    """Heading line."""
    floor: Share = 0.0
    """Share kept for this section when others want it."""
    ceiling: Share = 1.0
    """Share that it may take at most."""
    limit: int = Field(8, ge=0, le=500)
    """Most records."""
    min_score: Share = 0.0
    """Least recall score of its records."""
    drop: int = Field(1, ge=1, le=100)
    """Trim order: the section with 1 is trimmed first."""
    tiers: tuple[Literal["entry", "episode", "memory", "document"], ...] = ()
    """Tiers that a recalled section draws from; unset means `memory` for memories and `episode` for episodes."""
    order: Literal["ranked", "chronological"] = "ranked"
    """Order in which its records are written: as their source ranks them, or oldest first."""
    item_max: int | None = Field(None, ge=20, le=100_000)
    """Characters of one record; unset takes `short_term.content_max`."""

    @model_validator(mode="after")
    def _floor_below_ceiling(self) -> "SectionSettings":
        if self.floor > self.ceiling:
            raise ValueError(f"floor {self.floor} is above ceiling {self.ceiling}")
        return self

    @model_validator(mode="after")
    def _tiers_are_recalled(self) -> "SectionSettings":
        if self.tiers and self.source not in ("memories", "episodes"):
            raise ValueError(f"tiers are for sections that recall, not for {self.source}")
        return self


class ProfileSettings(Section):
    """One context profile."""

    layout: Literal["plain", "orca"] = "plain"
    """How it is written out."""
    budget_tokens: int | None = Field(None, ge=0, le=1_000_000)
    """Budget in tokens when the request gives none."""
    budget_chars: int | None = Field(None, ge=0, le=4_000_000)
    """Budget in characters when the request gives none."""
    scorer: Literal["fused", "orca", "orcbot", "iii", "lexical", "semantic"] | None = None
    """Scorer of its recall; unset takes the recall's own."""
    sections: tuple[SectionSettings, ...]
    """Its sections, in the order in which they are written."""

    @model_validator(mode="after")
    def _one_budget(self) -> "ProfileSettings":
        if (self.budget_tokens is None) == (self.budget_chars is None):
            raise ValueError("exactly one of budget_tokens and budget_chars is given")
        return self

    @model_validator(mode="after")
    def _sections_agree(self) -> "ProfileSettings":
        names = [section.name or section.source for section in self.sections]
        if len(names) != len(set(names)):
            raise ValueError(f"sections need names of their own, got {', '.join(names)}")
        floors = sum(section.floor for section in self.sections)
        if floors > 1.0 + 1e-9:
            raise ValueError(f"the sections' floors add up to {floors:g} of the budget, at most 1 is possible")
        return self


_PROFILES = {
    "chat": ProfileSettings(
        budget_tokens=1500,
        sections=(
            SectionSettings(source="core", title="Always true of the user", floor=0.15, ceiling=0.4, limit=20, drop=4),
            SectionSettings(
                source="memories",
                title="Relevant memories",
                tiers=("memory", "entry", "document"),
                floor=0.3,
                limit=12,
                drop=3,
            ),
            SectionSettings(source="episodes", title="Earlier conversations", ceiling=0.3, limit=5, drop=1),
            SectionSettings(
                source="recent",
                title="Recent messages",
                order="chronological",
                floor=0.1,
                ceiling=0.5,
                limit=20,
                drop=2,
            ),
        ),
    ),
    "orca": ProfileSettings(
        layout="orca",
        budget_chars=2000,
        scorer="orca",
        sections=(
            SectionSettings(source="core", title="Core knowledge (always apply):", limit=50, drop=2),
            SectionSettings(source="memories", title="Relevant to this task:", limit=8, min_score=0.05, drop=1),
        ),
    ),
}


class ContextSettings(Section):
    """The prompt assembler."""

    default_profile: str = "chat"
    """Profile of a request that names none."""
    profiles: dict[str, ProfileSettings] = Field(_PROFILES)
    """Named profiles."""

    @model_validator(mode="after")
    def _default_is_known(self) -> "ContextSettings":
        if self.default_profile not in self.profiles:
            known = ", ".join(sorted(self.profiles))
            raise ValueError(f"default_profile {self.default_profile!r} is not among the profiles ({known})")
        return self
