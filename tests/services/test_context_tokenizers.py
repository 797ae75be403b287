"""
Contexts counted by the tokenizers of real models, or by the estimate where a vocabulary is missing.
"""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.config import TokenSettings, load_settings
from app.domain.context.assemble import assemble
from app.domain.context.items import ContextItem
from app.domain.context.profile import Budget, Profile, Unit
from app.domain.records import Category, Tier
from app.providers.model_files import ModelFiles
from app.providers.model_manifest import load_manifest
from app.providers.tokens import Tokenizers
from app.services.context_profiles import context_profiles

NOW = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
PROFILES = context_profiles(load_settings())
MODELS = (None, "gpt-4o", "gpt-4", "claude-sonnet-4-5", "some-local-model")

# Lines that begin and end in signs which a tokenizer joins with the line break, and texts that it splits finely.
_TEXTS = st.sampled_from(
    [
        "It was a fine day (really).",
        "/etc/hosts and //comments/",
        "...",
        "」」」）。",
        "：" * 200,
        "┌──┐│└┘" * 40,
        "👨‍👩‍👧‍👦" * 30,
        "今日は成語しりとりをした。",
        "qzxjvk" * 40,
        "<|endoftext|><|im_start|>",
        "half \ud83c of an emoji",
        "\n\n\n---\n\n\t\t",
    ]
) | st.text(st.characters(exclude_categories=()), max_size=60)
_ITEMS = st.builds(
    ContextItem,
    id=st.integers(0, 30).map(lambda number: f"id-{number}"),
    tier=st.sampled_from([Tier.ENTRY, Tier.MEMORY]),
    text=_TEXTS,
    created_at=st.integers(0, 10**6).map(lambda minutes: NOW - timedelta(minutes=minutes)),
    category=st.sampled_from(Category),
    speaker=st.sampled_from([None, "Ana", "李雷", "user"]),
    score=st.none() | st.floats(0, 1),
)
_SOURCES = st.fixed_dictionaries({name: st.lists(_ITEMS, max_size=8) for name in ("core", "memories", "recent")})


@pytest.fixture(scope="module")
def tokenizers() -> Tokenizers:
    """
    Tokenizers over the cached vocabularies; without those, each counter is the estimate, for which the same holds.
    """
    loaded = load_settings()
    return Tokenizers(ModelFiles.configured(loaded.models), loaded.tokens)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(sorted(PROFILES.values(), key=lambda profile: profile.name)),
    _SOURCES,
    st.integers(0, 300) | st.integers(0, 32_000),
    st.sampled_from(MODELS),
    st.sampled_from(Unit),
)
def test_o32_no_models_tokenizer_counts_more_than_the_budget(
    tokenizers: Tokenizers,
    profile: Profile,
    sources: dict[str, list[ContextItem]],
    limit: int,
    model: str | None,
    unit: Unit,
) -> None:
    counter = tokenizers.for_model(model)
    answer = assemble(profile, sources, Budget(limit, unit), counter, recalled_at=NOW)
    measured = len(answer.text) if unit is Unit.CHARS else counter.count(answer.text)
    assert measured == answer.used <= limit
    assert assemble(profile, sources, Budget(limit, unit), counter, recalled_at=NOW) == answer


@pytest.mark.parametrize("model", MODELS)
def test_c9_a_tight_budget_is_used_to_the_last_line(tokenizers: Tokenizers, model: str | None) -> None:
    counter = tokenizers.for_model(model)
    found = [
        ContextItem(f"m-{number}", Tier.MEMORY, f"Ana said thing number {number} (really).", NOW, score=0.9)
        for number in range(12)
    ]
    whole = assemble(PROFILES["chat"], {"memories": found}, Budget(5000, Unit.TOKENS), counter, recalled_at=NOW)
    assert len(whole.placed_ids()) == 12
    exact = assemble(PROFILES["chat"], {"memories": found}, Budget(whole.used, Unit.TOKENS), counter, recalled_at=NOW)
    assert exact.text == whole.text
    less = assemble(
        PROFILES["chat"], {"memories": found}, Budget(whole.used - 1, Unit.TOKENS), counter, recalled_at=NOW
    )
    assert len(less.placed_ids()) == 11


def test_t043_without_a_vocabulary_wide_signs_are_counted_in_full(tmp_path: Path) -> None:
    counter = Tokenizers(ModelFiles(load_manifest(), tmp_path), TokenSettings()).for_model("gpt-4o")
    wide = [ContextItem("wide", Tier.ENTRY, "：" * 2000, NOW), ContextItem("small", Tier.ENTRY, "hello", NOW)]
    answer = assemble(PROFILES["chat"], {"recent": wide}, Budget(400, Unit.TOKENS), counter, recalled_at=NOW)
    assert counter.name == "estimate"
    assert answer.placed_ids() == ("small",)
