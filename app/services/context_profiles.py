"""
Makes the assembler's profiles from the settings.
"""

from app.config import ProfileSettings, SectionSettings, Settings
from app.domain.context.profile import Budget, Profile, SectionOrder, SectionSource, SectionSpec, Unit
from app.domain.records import Tier

_TIERS = {SectionSource.MEMORIES: (Tier.MEMORY,), SectionSource.EPISODES: (Tier.EPISODE,)}
_STABLE = frozenset({SectionSource.CORE})


def context_profiles(settings: Settings) -> dict[str, Profile]:
    """
    All profiles by name, with the defaults that other settings decide filled in.
    """
    return {
        name: _profile(name, profile, settings.short_term.content_max)
        for name, profile in settings.context.profiles.items()
    }


def _profile(name: str, profile: ProfileSettings, item_max: int) -> Profile:
    if profile.budget_tokens is not None:
        budget = Budget(profile.budget_tokens, Unit.TOKENS)
    else:
        budget = Budget(profile.budget_chars or 0, Unit.CHARS)
    return Profile(
        name=name,
        layout=profile.layout,
        sections=tuple(_section(section, item_max) for section in profile.sections),
        budget=budget,
        scorer=profile.scorer,
    )


def _section(section: SectionSettings, item_max: int) -> SectionSpec:
    source = SectionSource(section.source)
    return SectionSpec(
        name=section.name or section.source,
        source=source,
        title=section.title,
        floor=section.floor,
        ceiling=section.ceiling,
        limit=section.limit,
        min_score=section.min_score,
        drop=section.drop,
        order=SectionOrder(section.order),
        item_max=item_max if section.item_max is None else section.item_max,
        tiers=frozenset(map(Tier, section.tiers)) or frozenset(_TIERS.get(source, ())),
        stable=source in _STABLE,
    )
