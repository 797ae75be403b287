"""
eval: handed over to the evaluation with its arguments, its faults and its exit codes.
"""

from pathlib import Path

import pytest
import typer

from eval import cli as eval_cli
from tests.cli.conftest import Lamina


def test_its_help_is_that_of_the_evaluation(lamina: Lamina) -> None:
    ended = lamina("eval", "run", "--help")
    assert ended.code == 0
    assert "lamina eval run" in ended.out
    assert "memories.jsonl" in ended.out


def test_its_faults_come_out_as_those_of_any_command(lamina: Lamina, tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere"
    said = lamina("eval", "run", "--data", nowhere)
    assert (said.code, said.out) == (1, "")
    assert str(nowhere) in said.err
    assert lamina("eval", "run", "--data", nowhere, "--json").document["errors"][0]["field"] == "data"


def test_a_wrong_use_of_it_ends_with_2(lamina: Lamina) -> None:
    assert lamina("eval", "run", "--no-such-option").code == 2
    assert lamina("eval", "no-such-command").code == 2


def test_libraries_that_are_not_installed_are_named(
    lamina: Lamina, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(eval_cli, "LIBRARIES", ("no_such_library",))
    ended = lamina("eval", "run", "--data", tmp_path)
    assert ended.code == 1
    assert "no_such_library" in ended.err
    assert "lamina[eval]" in ended.err


def test_an_exit_code_of_it_is_that_of_the_program(lamina: Lamina, monkeypatch: pytest.MonkeyPatch) -> None:
    other = typer.Typer()

    @other.command()
    def shut() -> None:
        raise typer.Exit(1)

    monkeypatch.setattr(eval_cli, "eval_app", other)
    assert lamina("eval").code == 1
