"""
Tells a key that somebody was meant to replace from one that may work.
"""

import re

_WORDS = re.compile(
    r"(^|[^a-z0-9])(your|insert|replace|change|enter|paste|example|sample|dummy|fake|placeholder|todo)([^a-z0-9]|$)"
    r"|change[-_]?me|(api|openai|my)[-_]?key|(key|token)[-_]?here|^(secret|password|test|key|token)$"
)
_ROWS = re.compile(
    r"x{6,}|\.{3,}|…|\*{3,}|<[^>]*>|\$\{?[a-z_]+\}?|^(sk[-_])?(proj[-_])?([x*._0-]{2,}|1234\d*)$|^sk[-_]?$"
)

SHORTEST_OPENAI_KEY = 20
_NAMES_FOR_NOTHING = frozenset({"none", "null", "nil", "undefined", "empty", "ollama", "lm-studio", "no-key"})


def is_placeholder(key: str, *, own_server: bool) -> bool:
    """
    Whether the key cannot be meant: a word from a template ("your_openai_key_here", "changeme"), a row of one sign
    ("xxxx", "sk-..."), or, at OpenAI itself, anything shorter than a key of theirs or with a character they never use.

    A server of one's own (`own_server`) often takes any key, so that "ollama" or "none" are fine there.
    """
    bare = key.strip().lower()
    if not bare or not bare.isascii() or any(char.isspace() for char in bare):
        return True
    if _WORDS.search(bare) or _ROWS.search(bare):
        return True
    if own_server:
        return False
    return bare in _NAMES_FOR_NOTHING or len(bare) < SHORTEST_OPENAI_KEY
