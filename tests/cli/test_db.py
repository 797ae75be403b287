"""
db: schema, state and integrity of the database.
"""

from pathlib import Path

import pytest

from app.storage.driver import choose_driver
from app.storage.engine import PAGE_SIZE
from app.storage.migrate import newest_revision
from tests.cli.conftest import Lamina


def test_upgrade_makes_a_database_and_is_done_once(lamina: Lamina, data: Path) -> None:
    first = lamina("db", "upgrade", "--data", data, "--json").document
    assert (first["before"], first["after"]) == (None, newest_revision())
    again = lamina("db", "upgrade", "--data", data, "--json").document
    assert again["before"] == again["after"] == newest_revision()
    assert "already" in lamina("db", "upgrade", "--data", data).out


def test_status_tells_where_and_at_which_schema(lamina: Lamina, data: Path) -> None:
    lamina("db", "upgrade", "--data", data)
    found = lamina("db", "status", "--data", data, "--json").document
    assert found["database"] == str(data / "lamina.db")
    assert found["current"] is True
    assert found["bytes"] > 0
    assert str(newest_revision()) in lamina("db", "status", "--data", data).out


@pytest.mark.parametrize("command", ["status", "check"])
def test_there_is_nothing_to_look_at_without_a_database(lamina: Lamina, data: Path, command: str) -> None:
    assert lamina("db", command, "--data", data).code == 4
    assert not data.exists()


def test_a_whole_database_passes_the_check(lamina: Lamina, data: Path) -> None:
    lamina("remember", "Ana lives in Porto", "--data", data)
    ended = lamina("db", "check", "--data", data, "--json")
    assert (ended.code, ended.document["ok"], ended.document["damage"]) == (0, True, [])
    assert "is whole" in lamina("db", "check", "--data", data).out


def test_damage_is_found_and_told(lamina: Lamina, data: Path) -> None:
    lamina("remember", "Ana lives in Porto", "--data", data)
    file = data / "lamina.db"
    connection = choose_driver().module.connect(str(file))
    ((page,),) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'record'")
    connection.close()
    content = bytearray(file.read_bytes())
    content[(page - 1) * PAGE_SIZE : page * PAGE_SIZE] = b"\xff" * PAGE_SIZE
    file.write_bytes(bytes(content))
    ended = lamina("db", "check", "--data", data, "--json")
    assert (ended.code, ended.document["ok"]) == (1, False)
    assert ended.document["damage"]
    shown = lamina("db", "check", "--data", data)
    assert shown.code == 1
    assert "backup" in shown.out


def test_a_reference_to_nothing_is_damage(lamina: Lamina, data: Path) -> None:
    lamina("remember", "Ana lives in Porto", "--data", data)
    connection = choose_driver().module.connect(str(data / "lamina.db"), isolation_level=None)
    connection.execute("PRAGMA foreign_keys = OFF")
    connection.execute("DELETE FROM bank")
    connection.close()
    ended = lamina("db", "check", "--data", data, "--json")
    assert ended.code == 1
    assert any("table record: row" in line for line in ended.document["damage"])


def test_t067_a_backup_is_a_database_of_its_own(lamina: Lamina, data: Path, tmp_path: Path) -> None:
    lamina("remember", "Ana lives in Porto", "--data", data)
    kept = tmp_path / "kept" / "lamina.db"
    assert lamina("db", "backup", kept, "--data", data, "--json").document["bytes"] > 0
    assert lamina("db", "backup", kept, "--data", data).code == 1
    found = lamina("recall", "where does Ana live", "--data", kept.parent, "--json").document
    assert found["results"][0]["text"] == "Ana lives in Porto"


def test_compacting_gives_space_back(lamina: Lamina, data: Path) -> None:
    lamina("remember", "Ana lives in Porto", "--data", data)
    ended = lamina("db", "compact", "--data", data, "--json").document
    assert 0 < ended["bytes_after"] <= ended["bytes_before"]
