"""
Settings of session scopes: which messages a conversation sees.
"""

from typing import Literal

from app.config.section import Section


class ScopeSettings(Section):
    """Which messages, and episodes made of them, the context of a conversation may hold."""

    mode: Literal["main", "per-peer", "per-channel-peer"] = "per-channel-peer"
    """`per-channel-peer`: those of the same contact; `per-peer`: those of all linked addresses; `main`: all."""
    required: bool = False
    """Whether a context must name its conversation; else one that names none is of the whole bank."""
