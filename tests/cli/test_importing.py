"""
import: conversations from files, each line under its own id.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Ended, Lamina


def _line(number: int, **fields: Any) -> str:
    line = {
        "id": f"conv/{number}",
        "bank": "conv",
        "text": f"turn {number} tells of item{number}",
        "created_at": "2023-05-08T13:56:00Z",
        "role": "Ana",
        "tags": ["session_1"],
        "meta": {"session": "session_1"},
    }
    return json.dumps({**line, **fields})


def _write(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _ids(ended: Ended) -> set[str]:
    return {result["id"] for result in ended.document["results"]}


def test_lines_become_entries_under_their_own_ids(lamina: Lamina, data: Path, tmp_path: Path) -> None:
    file = _write(tmp_path / "a.jsonl", _line(1), _line(2, bank="other"), _line(3))
    ended = lamina("import", file, "--data", data, "--json")
    assert ended.code == 0
    assert ended.document == {"created": {"conv": 2, "other": 1}, "duplicates": 0, "bad": [], "waiting_for_vectors": 0}

    recalled = lamina("recall", "item3", "--bank", "conv", "--data", data, "--json").document["results"][0]
    assert recalled["id"] == "conv/3"
    assert recalled["tier"] == "entry"
    assert recalled["created_at"] == "2023-05-08T13:56:00Z"
    assert (recalled["tags"], recalled["session_id"]) == (["session_1"], "session_1")
    assert recalled["metadata"] == {"session": "session_1"}


def test_an_import_that_was_cut_off_is_run_again(lamina: Lamina, data: Path, tmp_path: Path) -> None:
    lines = [_line(number) for number in range(10)]
    lamina("import", _write(tmp_path / "half.jsonl", *lines[:4]), "--data", data)
    again = lamina("import", _write(tmp_path / "all.jsonl", *lines), "--data", data, "--json").document
    assert (again["created"], again["duplicates"]) == ({"conv": 6}, 4)
    listed = lamina("recall", "", "--bank", "conv", "--limit", "50", "--data", data, "--json")
    assert _ids(listed) == {f"conv/{number}" for number in range(10)}


def test_a_line_that_repeats_anothers_words_keeps_its_own_id(lamina: Lamina, data: Path, tmp_path: Path) -> None:
    file = _write(tmp_path / "a.jsonl", _line(1, text="thank you"), _line(2, text="thank you"))
    assert lamina("import", file, "--data", data, "--json").document["created"] == {"conv": 2}
    listed = lamina("recall", "", "--bank", "conv", "--data", data, "--json")
    assert _ids(listed) == {"conv/1", "conv/2"}


def test_a_bad_line_is_named_by_its_number_and_costs_only_itself(
    lamina: Lamina, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAMINA_SERVER__BATCH_MAX", "3")
    file = _write(
        tmp_path / "a.jsonl",
        _line(1),
        "{not json",
        "",
        _line(4, text="   "),
        _line(5, created_at="2023-05-08T13:56:00"),
        '{"id": "x"}',
        _line(1, text="the same id for another text"),
        _line(8, tags=["ok", ""]),
        _line(9),
    )
    ended = lamina("import", file, "--data", data, "--json")
    assert ended.code == 1
    assert ended.document["created"] == {"conv": 2}
    bad = {item["line"]: item["message"] for item in ended.document["bad"]}
    assert sorted(bad) == [2, 4, 5, 6, 7, 8]
    assert "JSON" in bad[2]
    assert "content" in bad[4]
    assert "created_at" in bad[5]
    assert "offset" in bad[5]
    assert "text" in bad[6]
    assert "conv/1" in bad[7]
    assert "tags[1]" in bad[8]

    shown = lamina("import", file, "--data", data)
    assert shown.code == 1
    assert f"{file}:7: " in shown.err
    assert "2 known already, 6 bad" in shown.out


def test_one_bank_takes_all_where_it_is_named(lamina: Lamina, data: Path, tmp_path: Path) -> None:
    file = _write(tmp_path / "a.jsonl", _line(1), json.dumps({"id": "2", "text": "no bank of its own"}))
    assert lamina("import", file, "--data", data, "--json").document["created"] == {"conv": 1, "main": 1}
    moved = lamina("import", file, "--bank", "mine", "--data", data, "--json").document
    assert moved["created"] == {"mine": 2}


def test_of_a_directory_with_questions_only_what_was_said_is_taken(lamina: Lamina, data: Path, tmp_path: Path) -> None:
    folder = tmp_path / "set"
    folder.mkdir()
    _write(folder / "memories.jsonl", _line(1))
    _write(folder / "queries.jsonl", '{"id": "q", "query": "who?"}')
    assert lamina("import", folder, "--data", data, "--json").document["created"] == {"conv": 1}

    (folder / "memories.jsonl").rename(folder / "b.jsonl")
    (folder / "queries.jsonl").unlink()
    _write(folder / "a.jsonl", _line(2))
    again = lamina("import", folder, "--data", data, "--json").document
    assert (again["created"], again["duplicates"]) == ({"conv": 1}, 1)


def test_nothing_to_import_is_a_fault(lamina: Lamina, data: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for path in (tmp_path / "nowhere", tmp_path / "empty"):
        ended = lamina("import", path, "--data", data)
        assert ended.code == 1
        assert str(path) in ended.err
    assert not data.exists()


def test_progress_goes_to_standard_error_alone(program: Lamina, data: Path, tmp_path: Path) -> None:
    ended = program("import", _write(tmp_path / "a.jsonl", _line(1)), "--data", data, "--json")
    assert ended.document["created"] == {"conv": 1}
    assert "storing" in ended.err
    assert "100%" in ended.err


def test_vectors_that_are_not_waited_for_are_counted(
    lamina: Lamina, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAMINA_EMBEDDING__PROVIDER", "local")
    ended = lamina("import", _write(tmp_path / "a.jsonl", _line(1), _line(2)), "--no-wait", "--data", data, "--json")
    assert ended.code == 0
    assert ended.document["waiting_for_vectors"] == 2
    assert "2 texts still wait" in ended.err
