"""
Settings of consolidation: what is extracted from conversations, who may teach rules, and how memories are kept tidy.
"""

from pydantic import Field

from app.config.section import Section, Share


class NoiseSettings(Section):
    """What no model is shown."""

    copies: int = Field(5, ge=2, le=1000)
    """Copies of one long text in a bank that show it to be a template, such as a boot prompt."""
    copied_chars: int = Field(40, ge=1, le=10_000)
    """Characters from which a text is long in that sense; one that is said again is then read once."""
    echo_share: Share = 0.6
    """Share of a sentence's content words in recalled memories from which the sentence says nothing new."""


class ExtractionSettings(Section):
    """Memories and rules that are drawn from messages by a language model; without one, nothing is."""

    enabled: bool = True
    """Whether it is done, unless a bank's own setting `extraction` says otherwise."""
    quiet_s: float = Field(60.0, ge=0.0, le=86_400.0)
    """Seconds without a new entry after which a thread is read; one with `window` entries is read at once."""
    window: int = Field(24, ge=1, le=200)
    """Messages that one call reads, noise not counted; a longer backlog takes several calls."""
    context_messages: int = Field(4, ge=0, le=50)
    """Messages read before that are shown ahead of them, so that "yes" has its question."""
    transcript_min: int = Field(20, ge=0, le=10_000)
    """Bytes of UTF-8 that a transcript, with the role before each message, must have for a call to be made."""
    memories_max: int = Field(8, ge=0, le=50)
    """Most memories of one call."""
    rules_max: int = Field(3, ge=0, le=50)
    """Most rules of one call."""
    text_max: int = Field(500, ge=10, le=2000)
    """Most characters of an extracted memory or rule."""
    labels_max: int = Field(8, ge=0, le=50)
    """Most tags, and most entity handles, of one memory."""
    stated_confidence: Share = 0.8
    """Confidence of what somebody said."""
    inferred_confidence: Share = 0.5
    """Confidence of what was concluded from it, or is only in the bot's own words."""
    noise: NoiseSettings = NoiseSettings()


class RuleSettings(Section):
    """Rules learned from conversations; a bank's own setting `rules` overrides these keys."""

    learning: bool = True
    """Whether standing instructions become rules or proposals at all."""
    trusted_roles: tuple[str, ...] = ("user",)
    """Roles whose instructions may become rules at once; of all others they become proposals."""
    trusted_sources: tuple[str, ...] = ()
    """Channels, such as `telegram`, on which everybody in these roles is trusted."""
    trusted_contacts: tuple[str, ...] = ()
    """Contacts, as `telegram:123456789`, that are trusted. With neither given, a person alone with the bot is."""
    learned_max_chars: int = Field(2000, ge=0, le=100_000)
    """Characters that `rules/learned.md` may grow to; what does not fit waits as a proposal."""


class HygieneSettings(Section):
    """Keeping memories tidy: what says the same is merged, and a judge may look at the rest."""

    interval_hours: float = Field(24.0, ge=0.0, le=24.0 * 365)
    """Hours between two passes over a bank; 0 runs none by itself."""
    supersedes_max: int = Field(200, ge=0, le=100_000)
    """Most memories that one pass retires; the rest waits for the next."""
    judge: bool = False
    """Whether a language model is asked about what the deterministic pass leaves: one call a bank and pass at most."""
    judge_memories_max: int = Field(40, ge=0, le=500)
    """Most memories that one call shows as possibly contradicting each other."""
    judge_groups_max: int = Field(20, ge=0, le=500)
    """Most groups of the same words in another order that one call shows, and most candidates for a rule."""
    related_share: Share = 0.3
    """Weight of the words two memories share, of the lighter one's, from which they may contradict each other."""
    promote_corroboration: int = Field(4, ge=0, le=1000)
    """Confirmations beyond the first statement from which a memory may become a rule; 0 turns that off."""
