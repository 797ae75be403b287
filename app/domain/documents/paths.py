"""
Names of long-term documents: which paths are legal, and what their place says of them.
"""

import re
import unicodedata
from datetime import date
from typing import Final

from app.errors import InvalidInput

PATH_MAX: Final = 200
SUFFIX: Final = ".md"

JOURNAL: Final = "JOURNAL.md"
LEARNING: Final = "LEARNING.md"
USER: Final = "USER.md"
WORLD: Final = "WORLD.md"
MEMORY: Final = "MEMORY.md"
WELL_KNOWN: Final = (JOURNAL, LEARNING, USER, WORLD, MEMORY)
"""Reflection on oneself, topics learned, the user, the surroundings, and general facts."""

RULES: Final = "rules/"
"""Where documents lie that enter a prompt whole, and are therefore not recalled."""

DAILY: Final = "daily/"
"""Where the logs lie that are kept day by day and only ever grow."""

_DAY = re.compile(r"(\d{4}-\d{2}-\d{2})\.md", re.ASCII)
_FIELD = "path"


def check_path(path: str) -> str:
    """
    The path in Unicode's composed form (NFC), so that one name is one document however it was typed.

    A legal path is relative, has at most 200 characters and ends in `.md`; its names are separated by `/`, do not begin
    with a dot and hold no control character or backslash. Under `rules/` lies one level of names, under `daily/` a day
    each, as `daily/2026-11-30.md`.

    Raises:
        InvalidInput: saying what is wrong with it.
    """
    path = unicodedata.normalize("NFC", path)
    if len(path) > PATH_MAX:
        raise InvalidInput.of(_FIELD, f"at most {PATH_MAX} characters, got {len(path)}")
    if any(_is_forbidden(sign) for sign in path):
        raise InvalidInput.of(_FIELD, "holds no control character and no backslash")
    names = path.split("/")
    if not all(name.strip() for name in names):
        raise InvalidInput.of(_FIELD, "is relative, and no name in it is empty")
    if any(name.startswith(".") for name in names):
        raise InvalidInput.of(_FIELD, "no name in it begins with a dot")
    if not path.endswith(SUFFIX):
        raise InvalidInput.of(_FIELD, f"ends in {SUFFIX}")
    if path.startswith(RULES) and len(names) != 2:
        raise InvalidInput.of(_FIELD, f"a rule lies directly in {RULES}")
    if path.startswith(DAILY) and day_of(path) is None:
        raise InvalidInput.of(_FIELD, f"a daily log is named by its day, as {DAILY}2026-11-30{SUFFIX}")
    return path


def is_rule(path: str) -> bool:
    """
    Whether a legal path is that of a rule.
    """
    return path.startswith(RULES)


def rule_path(name: str) -> str:
    """
    The path of the rule of that name, which may be given with or without its suffix.

    Raises:
        InvalidInput: when the name makes no legal path.
    """
    return check_path(f"{RULES}{name.removesuffix(SUFFIX)}{SUFFIX}")


def rule_name(path: str) -> str:
    """
    The name of the rule that lies at a path.
    """
    return path.removeprefix(RULES).removesuffix(SUFFIX)


def daily_path(day: date) -> str:
    """
    The path of a day's log.
    """
    return f"{DAILY}{day.isoformat()}{SUFFIX}"


def day_of(path: str) -> date | None:
    """
    The day whose log lies at a path; None for any other document.
    """
    found = _DAY.fullmatch(path.removeprefix(DAILY)) if path.startswith(DAILY) else None
    if found is None:
        return None
    try:
        return date.fromisoformat(found[1])
    except ValueError:
        return None


def _is_forbidden(sign: str) -> bool:
    # Beside controls and surrogates: the separators that break a line, and noncharacters, which no text may hold.
    is_noncharacter = ord(sign) & 0xFFFE == 0xFFFE or 0xFDD0 <= ord(sign) <= 0xFDEF
    return sign == "\\" or is_noncharacter or unicodedata.category(sign) in {"Cc", "Cs", "Zl", "Zp"}
