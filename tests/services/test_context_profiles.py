"""
Profiles are made from the settings, and contradictions in them stop the start.
"""

from typing import Any

import pytest

from app.config import ContextSettings, ProfileSettings, SectionSettings, load_settings
from app.domain.records import Tier
from app.errors import ConfigError
from app.services.context_profiles import context_profiles


@pytest.mark.parametrize(
    ("section", "told"),
    [
        ({"source": "core", "floor": 0.5, "ceiling": 0.4}, "above ceiling"),
        ({"source": "recent", "tiers": ("memory",)}, "tiers are for sections that recall"),
    ],
)
def test_a_section_that_contradicts_itself_is_refused(section: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        load_settings(context={"default_profile": "p", "profiles": {"p": {"budget_tokens": 1, "sections": [section]}}})


@pytest.mark.parametrize(
    ("sections", "told"),
    [
        ([{"source": "core"}, {"source": "core"}], "names of their own"),
        ([{"source": "core", "floor": 0.6}, {"source": "recent", "floor": 0.6}], "add up to 1.2"),
    ],
)
def test_sections_that_contradict_each_other_are_refused(sections: list[dict[str, Any]], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        load_settings(context={"default_profile": "p", "profiles": {"p": {"budget_tokens": 1, "sections": sections}}})


def test_a_default_profile_that_is_not_there_is_refused() -> None:
    with pytest.raises(ConfigError, match="'nope' is not among the profiles"):
        load_settings(context={"default_profile": "nope"})


def test_a_section_may_bear_a_name_of_its_own() -> None:
    mine = ProfileSettings(
        budget_chars=500,
        sections=(
            SectionSettings(source="memories", name="facts", item_max=100),
            SectionSettings(source="memories", name="log", tiers=("entry", "document")),
        ),
    )
    settings = load_settings(
        context=ContextSettings(default_profile="mine", profiles={"mine": mine}), short_term={"content_max": 700}
    )
    facts, log = context_profiles(settings)["mine"].sections
    assert (facts.name, facts.item_max, facts.tiers) == ("facts", 100, frozenset({Tier.MEMORY}))
    assert (log.name, log.item_max, log.tiers) == ("log", 700, frozenset({Tier.ENTRY, Tier.DOCUMENT}))
