"""
Every promise has a test that bears its id, or a line that says which step owes it; never both.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COUNTS = {"O": 57, "B": 50, "I": 51, "T": 39}
STEPS = {
    "the life of a memory",
    "the prompt assembler",
    "recall quality",
    "speed",
    "operations",
    "does not apply",
}
ROW = re.compile(r"^\| ([OBIT]-\d{2}) \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)


def promises() -> list[str]:
    """
    The ids of all promises: a letter and a number.
    """
    return [f"{letter}-{number:02d}" for letter, count in COUNTS.items() for number in range(1, count + 1)]


def owed() -> dict[str, str]:
    """
    The lines of docs/coverage.md: which step owes each promise.
    """
    rows = ROW.findall((ROOT / "docs" / "coverage.md").read_text(encoding="utf-8"))
    found = {row[0]: row[2].strip() for row in rows}
    assert len(found) == len(rows), "an id stands in two lines"
    return found


def borne() -> set[str]:
    """
    The ids that stand in the name of a test.
    """
    text = "\n".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "tests").rglob("*.py")))
    names = "\n".join(re.findall(r"def (test_\w+)", text))
    return {f"{kind.upper()}-{number}" for kind, number in re.findall(r"_([obit])(\d{2})(?=_|$)", names, re.MULTILINE)}


def test_there_are_197_promises() -> None:
    assert len(promises()) == 197


@pytest.mark.parametrize("promise", promises())
def test_a_promise_is_tested_or_owed(promise: str) -> None:
    assert (promise in borne()) != (promise in owed())


def test_a_line_names_a_promise_and_a_step() -> None:
    assert set(owed()) <= set(promises())
    assert set(owed().values()) <= STEPS
