"""
Relations are found where a sentence states them beyond doubt, and nowhere else.
"""

import pytest
from hypothesis import given

from app.domain.relations import RELATIONS_MAX, stated_relations
from tests.unit.domain.words import any_text


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Ana works at Acme.", [("Ana", "WORKS_AT", "Acme")]),
        ("Ana Maria da Silva works for Acme Corp as a designer.", [("Ana Maria da Silva", "WORKS_AT", "Acme Corp")]),
        ("User lives in New York", [("User", "LIVES_IN", "New York")]),
        ("Ben now lives in the Hague. Ana works at Acme!", [("Ben", "LIVES_IN", "Hague"), ("Ana", "WORKS_AT", "Acme")]),
        ("Ana is married to Ben.", [("Ana", "MARRIED_TO", "Ben")]),
        ("Ana is employed by Acme's lab.", [("Ana", "WORKS_AT", "Acme")]),
    ],
)
def test_t04_what_is_stated_is_found(text: str, found: list[tuple[str, str, str]]) -> None:
    assert [(item.subject, item.predicate.name, item.object) for item in stated_relations(text)] == found


@pytest.mark.parametrize(
    "text",
    [
        "Ana no longer works at Acme.",
        "Ana does not work at Acme.",
        "Ana works at Acme?",
        "If Ana works at Acme, call her.",
        "Ben said Ana works at Acme.",
        "Ana worked at Acme.",
        "Ana works at home.",
        "Ana works at Acme until May.",
        "Ana works at Acme, or maybe at Initech.",
        "She works at Acme.",
        "She lives with Ben in Lisbon.",
        "Ana lives in Ana",
        "",
    ],
)
def test_t04_what_is_in_doubt_is_passed_over(text: str) -> None:
    assert stated_relations(text) == ()


@given(any_text)
def test_any_text_states_few_relations(text: str) -> None:
    assert len(stated_relations(text)) <= RELATIONS_MAX
