"""
Reading a set: what its rows mean, by which clock its questions are asked, and what is said of a line that is wrong.
"""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from app.errors import InvalidInput
from eval.datasets import UNDATED, Row, load
from tests.eval.conftest import WriteSet

A = {"id": "a", "text": "first"}


def row(**fields: Any) -> Row:
    return Row(**{"id": "a", "bank": "home", "text": "first", **fields})


def test_a_set_is_read_in_the_order_of_its_files(write_set: WriteSet) -> None:
    memories = [A, {"id": "b", "text": "second", "bank": "away"}, {"id": "c", "text": "third"}]
    dataset = load(write_set(memories, [{"query": "what?", "relevant": ["c", "a"]}]))
    assert [(bank.name, [item.id for item in bank.rows]) for bank in dataset.banks] == [
        ("home", ["a", "c"]),
        ("away", ["b"]),
    ]
    assert dataset.name == "small"
    assert dataset.size == 3
    assert dataset.qrels == {"q0": {"a": 1, "c": 1}}


def test_a_question_without_an_answer_has_no_relevance_judgements(write_set: WriteSet) -> None:
    assert load(write_set([A], [{"query": "what?"}])).qrels == {}


def test_fields_that_are_not_known_are_let_be(write_set: WriteSet) -> None:
    memories = [{**A, "source_file": "x", "meta": {"session": "s1", "label": 3}}]
    dataset = load(write_set(memories, [{"query": "what?", "meta": {"answer": 2022}, "note": None}]))
    assert dataset.banks[0].rows[0].session == "s1"


@pytest.mark.parametrize(
    ("fields", "session"),
    [
        ({"meta": {"session": "session_1"}}, "session_1"),
        ({"meta": {"session": 7}}, "7"),
        ({"id": "talk/S1.0"}, "talk/S1"),
        ({"id": "a.b.12"}, "a.b"),
        ({"id": "talk/S1"}, None),
        ({"id": "v1.x"}, None),
        ({"id": ".5"}, None),
    ],
)
def test_where_a_session_is_named(write_set: WriteSet, fields: dict[str, Any], session: str | None) -> None:
    assert load(write_set([{**A, **fields}], [{"query": "what?"}])).banks[0].rows[0].session == session


def test_what_was_said_is_an_entry_and_what_is_stated_is_a_memory() -> None:
    assert row().is_memory
    assert row(category="fact", role="user").is_memory
    assert row(role="user", superseded_by="b").is_memory
    assert not row(role="user").is_memory
    assert not row(id="talk.1").is_memory


FIRST, LAST = "2025-03-01T10:00:00+02:00", "2025-03-05T00:00:00Z"
DATED = [{**A, "created_at": FIRST}, {"id": "b", "text": "second", "created_at": LAST}, {"id": "c", "text": "third"}]


@pytest.mark.parametrize(
    ("query", "as_of"),
    [
        ({"asked_at": "2025-04-01T00:00:00Z", "meta": {"bank_last_at": LAST}}, datetime(2025, 4, 1, tzinfo=UTC)),
        ({"asked_at": None, "meta": {"bank_last_at": "2025-03-07T00:00:00Z"}}, datetime(2025, 3, 7, tzinfo=UTC)),
        ({}, datetime(2025, 3, 5, tzinfo=UTC)),
    ],
)
def test_the_clock_of_a_question(write_set: WriteSet, query: dict[str, Any], as_of: datetime) -> None:
    dataset = load(write_set(DATED, [{"query": "what?", **query}]))
    assert dataset.queries[0].as_of == as_of
    assert dataset.clock == max(as_of, datetime(2025, 3, 5, tzinfo=UTC))


def test_a_bank_without_dates_takes_the_latest_of_the_set(write_set: WriteSet) -> None:
    memories = [*DATED, {"id": "d", "text": "fourth", "bank": "away"}]
    assert load(write_set(memories, [{"query": "what?", "bank": "away"}])).queries[0].as_of == datetime(
        2025, 3, 5, tzinfo=UTC
    )
    assert load(write_set([A], [{"query": "what?"}])).clock == UNDATED


def test_a_directory_or_file_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="nowhere is not a directory"):
        load(tmp_path / "nowhere")
    with pytest.raises(InvalidInput, match=r"memories\.jsonl cannot be read: No such file"):
        load(tmp_path)
    (tmp_path / "memories.jsonl").write_text(json.dumps({**A, "bank": "home"}), encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"queries\.jsonl cannot be read: No such file"):
        load(tmp_path)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", r"memories\.jsonl:3: .*truncated"),
        ('{"id": "b", "bank": "home"}', r"memories\.jsonl:3: .*missing required field `text`"),
        ('{"id": "b", "bank": "home", "text": 5}', r"memories\.jsonl:3: .*`\$\.text`"),
        ('{"id": "b", "bank": "home", "text": ""}', r"memories\.jsonl:3: .*`\$\.text`"),
        (
            '{"id": "b", "bank": "home", "text": "x", "created_at": "2025-01-01T00:00:00"}',
            r"memories\.jsonl:3: .*timez",
        ),
        ('{"id": "b", "bank": "home", "text": "x", "created_at": "soon"}', r"memories\.jsonl:3: .*created_at"),
        ('{"id": "a", "bank": "home", "text": "x"}', r"memories\.jsonl:3: id 'a' stands on an earlier line"),
        ('{"id": "b", "bank": "home", "text": "x", "dup_of": "z"}', r"memories\.jsonl:3: dup_of 'z'"),
        ('{"id": "b", "bank": "home", "text": "x", "superseded_by": "b"}', r"memories\.jsonl:3: superseded_by 'b'"),
    ],
)
def test_a_bad_memory_is_named_with_its_line(write_set: WriteSet, line: str, message: str) -> None:
    directory = write_set([A], [{"query": "what?"}])
    file = directory / "memories.jsonl"
    file.write_text(file.read_text(encoding="utf-8") + f"\n{line}\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match=message) as caught:
        load(directory)
    assert caught.value.fields[0].field == "memories.jsonl:3"


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"bank": "away"}, r"queries\.jsonl:2: bank 'away' has no memories"),
        ({"relevant": ["z"]}, r"queries\.jsonl:2: relevant: 'z' is no memory of bank 'home'"),
        ({"meta": {"newest": ["z"]}}, r"queries\.jsonl:2: meta\.newest: 'z'"),
        ({"traps": ["z"]}, r"queries\.jsonl:2: traps: 'z' is no memory of the set"),
        ({"id": "q0"}, r"queries\.jsonl:2: id 'q0' stands on an earlier line"),
        ({"query": None}, r"queries\.jsonl:2: .*`\$\.query`"),
    ],
)
def test_a_bad_question_is_named_with_its_line(write_set: WriteSet, query: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        load(write_set([A], [{"query": "what?"}, {"query": "what else?", **query}]))


def test_an_empty_file_is_refused(write_set: WriteSet) -> None:
    with pytest.raises(InvalidInput, match=r"memories\.jsonl: holds no memories"):
        load(write_set([], [{"query": "what?"}]))
    with pytest.raises(InvalidInput, match=r"queries\.jsonl: holds no queries"):
        load(write_set([A], []))


def test_bytes_that_are_no_text_are_named_with_their_line(write_set: WriteSet) -> None:
    directory = write_set([A], [{"query": "what?"}])
    (directory / "queries.jsonl").write_bytes(b'{"id": "q", "bank": "home", "relevant": [], "query": "\xff"}\n')
    with pytest.raises(InvalidInput, match=r"queries\.jsonl:1"):
        load(directory)
