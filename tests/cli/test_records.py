"""
remember, recall, context and doctor on a data directory.
"""

from pathlib import Path

import pytest

from tests.cli.conftest import Lamina


def test_what_is_remembered_is_recalled_and_put_into_a_context(program: Lamina, data: Path) -> None:
    saved = program(
        "remember",
        "Ana publishes articles on Tuesdays",
        "--category",
        "preference",
        "--tag",
        "blog",
        "--data",
        data,
        "--json",
    )
    assert (saved.code, saved.err) == (0, "")

    recalled = program("recall", "when does Ana publish?", "--data", data, "--json")
    context = program("context", "when does Ana publish?", "--tokens", "200", "--data", data, "--json")

    (result,) = recalled.document["results"]
    assert result["id"] == saved.document["id"]
    assert result["tags"] == ["blog"]
    assert "Tuesdays" in context.document["text"]
    assert context.document["tokens"] <= 200
    assert context.document["budget"] == {"tokens": 200}


def test_a_person_gets_tables_and_the_context_alone_on_standard_output(lamina: Lamina, data: Path) -> None:
    saved = lamina("remember", "Ana publishes articles on Tuesdays", "--data", data)
    assert "remembered mem-" in saved.out

    recalled = lamina("recall", "when does Ana publish?", "--explain", "--data", data)
    assert "█" in recalled.out
    assert "memory" in recalled.out
    assert "bm25" in recalled.out
    assert "lexical, 1 results" in recalled.err

    context = lamina("context", "when does Ana publish?", "--data", data)
    document = lamina("context", "when does Ana publish?", "--data", data, "--json").document
    assert context.out == document["text"] + "\n"
    assert "memories" in context.err
    assert "profile chat" in context.err


def test_known_content_is_reinforced(lamina: Lamina, data: Path) -> None:
    first = lamina("remember", "Ana lives in Porto", "--data", data, "--json").document
    again = lamina("remember", "ana  lives in porto", "--data", data, "--json").document
    assert (first["reinforced"], again["reinforced"]) == (False, True)
    assert again["id"] == first["id"]
    assert again["observations"] == 2
    assert "reinforced" in lamina("remember", "Ana lives in Porto", "--data", data).out


def test_every_field_of_a_memory_is_stored(lamina: Lamina, data: Path) -> None:
    args = (
        "--category",
        "fact",
        "--tag",
        "a",
        "--tag",
        "b",
        "--pinned",
        "--key",
        "home",
        "--summary",
        "lives in Porto",
    )
    more = ("--confidence", "0", "--entity", "Ana", "--occurred-at", "2024-02-01T10:00:00+01:00", "--session", "s1")
    saved = lamina(
        "remember",
        "Ana lives in Porto",
        *args,
        *more,
        "--bank",
        "Équipe/..".replace("/", "-"),
        "--data",
        data,
        "--json",
    )
    found = saved.document
    assert found["bank"] == "Équipe-.."
    assert (found["category"], found["tags"], found["pinned"], found["key"]) == ("fact", ["a", "b"], True, "home")
    assert (found["summary"], found["confidence"], found["session_id"]) == ("lives in Porto", 0.0, "s1")
    assert found["occurred_at"] == "2024-02-01T10:00:00+01:00"


def test_free_text_is_kept_as_it_was_given(lamina: Lamina, data: Path) -> None:
    found = lamina("remember", "-", "--raw", "--data", data, "--json", stdin="Ana lives\nin Porto\n").document
    assert found["raw_input"] == "Ana lives\nin Porto"
    assert found["structured"] is False


def test_a_key_that_is_taken_is_a_fault(lamina: Lamina, data: Path) -> None:
    assert lamina("remember", "Ana lives in Porto", "--key", "home", "--data", data).code == 0
    ended = lamina("remember", "Ana lives in Braga", "--key", "home", "--data", data, "--json")
    assert ended.code == 1
    assert ended.document["type"] == "/problems/conflict"


def test_an_entry_is_stored_with_its_speaker_and_known_again(lamina: Lamina, data: Path) -> None:
    args = ("remember", "see you at the lighthouse", "--entry", "--role", "user", "--name", "Ana", "--session", "s1")
    first = lamina(*args, "--at", "2024-02-01T10:00:00+01:00", "--message-id", "m1", "--data", data, "--json").document
    again = lamina(*args, "--at", "2024-02-01T10:00:00+01:00", "--message-id", "m1", "--data", data)
    assert first["results"][0]["status"] == "created"
    assert "known already" in again.out

    recalled = lamina("recall", "lighthouse", "--session", "s1", "--tier", "entry", "--data", data, "--json").document
    assert [result["id"] for result in recalled["results"]] == [first["results"][0]["id"]]
    elsewhere = lamina("recall", "lighthouse", "--session", "s2", "--data", data, "--json").document
    assert (elsewhere["results"], elsewhere["empty_reason"]) == ([], "filtered_out")


@pytest.mark.parametrize(
    "args",
    [
        ("remember", "text", "--role", "user"),
        ("remember", "text", "--entry", "--pinned"),
        ("remember", "text", "--entry", "--confidence", "0"),
        ("remember", "text", "--occurred-at", "soon"),
        ("recall", "text", "--as-of", "yesterday"),
        ("context", "text", "--tokens", "10", "--chars", "10"),
    ],
)
def test_options_that_do_not_fit_are_a_wrong_use(lamina: Lamina, data: Path, args: tuple[str, ...]) -> None:
    ended = lamina(*args, "--data", data)
    assert ended.code == 2
    assert args[-1] in ended.err or args[-2] in ended.err
    assert not data.exists()


@pytest.mark.parametrize("command", ["recall", "context"])
def test_reading_makes_no_database(lamina: Lamina, data: Path, command: str) -> None:
    ended = lamina(command, "anything", "--data", data)
    assert ended.code == 4
    assert str(data) in ended.err
    assert not data.exists()


def test_an_unknown_bank_ends_with_4(lamina: Lamina, data: Path) -> None:
    lamina("remember", "Ana lives in Porto", "--data", data)
    ended = lamina("recall", "Ana", "--bank", "nobody", "--data", data, "--json")
    assert (ended.code, ended.err) == (4, "")
    assert ended.document["status"] == 404


@pytest.mark.parametrize(
    ("args", "field"),
    [
        (("recall", "x", "--limit", "-1"), "limit"),
        (("recall", "x", "--scorer", "best"), "scorer"),
        (("recall", "x", "--category", "odd"), "filters.category"),
        (("context", "x", "--profile", "nobody"), "profile"),
        (("remember", "Ana lives here", "--confidence", "2"), "confidence"),
    ],
)
def test_a_bad_value_is_a_fault_that_names_the_field(
    lamina: Lamina, data: Path, args: tuple[str, ...], field: str
) -> None:
    lamina("remember", "Ana lives in Porto", "--data", data)
    ended = lamina(*args, "--data", data)
    assert (ended.code, ended.out) == (1, "")
    assert field in ended.err


def test_a_limit_of_zero_asks_for_nothing(lamina: Lamina, data: Path) -> None:
    lamina("remember", "Ana lives in Porto", "--data", data)
    assert lamina("recall", "Ana", "--limit", "0", "--data", data, "--json").document["results"] == []


def test_stored_text_cannot_rule_the_terminal_or_the_markup(lamina: Lamina, data: Path) -> None:
    lamina("remember", "Ana \x1b[2J says [red]hello[/red] [/]", "--data", data)
    shown = lamina("recall", "Ana", "--data", data).out
    assert "\x1b[2J" not in shown
    assert "[red]hello[/red]" in shown


def test_recall_does_not_count_as_use_where_it_is_not_to(lamina: Lamina, data: Path) -> None:
    lamina("remember", "Ana lives in Porto", "--data", data)
    lamina("recall", "Ana", "--no-access", "--data", data)
    before = lamina("remember", "Ana lives in Porto", "--data", data, "--json").document["access_count"]
    lamina("recall", "Ana", "--data", data)
    after = lamina("remember", "Ana lives in Porto", "--data", data, "--json").document["access_count"]
    assert (before, after) == (0, 1)


def test_the_doctor_names_each_part(lamina: Lamina, data: Path) -> None:
    report = lamina("doctor", "--data", data, "--json")
    assert report.code == 0
    states = {check["name"]: check["state"] for check in report.document["checks"]}
    assert states["store"] == states["round_trip"] == "ok"
    assert "round_trip" in lamina("doctor", "--data", data).out


def test_the_doctor_ends_with_1_when_a_part_failed(lamina: Lamina, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from app.services import doctor

    monkeypatch.setattr(doctor, "PROBE_QUESTION", "something else altogether")
    ended = lamina("doctor", "--data", data)
    assert ended.code == 1
    assert "failed" in ended.out
