"""
keys: made, listed and revoked on a data directory.
"""

from pathlib import Path

import pytest

from tests.cli.conftest import Lamina


def test_a_key_is_shown_once_and_listed_without_its_secret(lamina: Lamina, data: Path) -> None:
    made = lamina("keys", "add", "bot", "--role", "read", "--bank", "ana", "--bank", "team-*", "--data", data, "--json")
    secret = made.document["key"]
    assert len(secret) > 40

    listed = lamina("keys", "list", "--data", data, "--json")
    (key,) = listed.document["items"]
    assert (key["name"], key["role"], key["banks"]) == ("bot", "read", ["ana", "team-*"])
    assert key["revoked_at"] is None
    assert secret not in listed.out
    assert secret not in lamina("keys", "list", "--data", data).out


def test_a_person_gets_the_secret_alone_on_standard_output(lamina: Lamina, data: Path) -> None:
    made = lamina("keys", "add", "bot", "--data", data)
    assert len(made.out.split()) == 1
    assert "not shown again" in made.err


def test_a_key_of_the_configuration_is_listed_too(lamina: Lamina, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lamina("db", "upgrade", "--data", data)
    monkeypatch.setenv("LAMINA_AUTH__KEYS", '[{"name": "ops", "key": "sk-not-to-be-seen", "role": "admin"}]')
    listed = lamina("keys", "list", "--data", data, "--json")
    assert [key["name"] for key in listed.document["items"]] == ["ops"]
    assert "sk-not-to-be-seen" not in listed.out + lamina("keys", "list", "--data", data).out


def test_a_revoked_key_stays_listed_as_such(lamina: Lamina, data: Path) -> None:
    lamina("keys", "add", "bot", "--data", data)
    assert lamina("keys", "revoke", "bot", "--data", data).code == 0
    (key,) = lamina("keys", "list", "--data", data, "--json").document["items"]
    assert key["revoked_at"] is not None
    assert lamina("keys", "revoke", "bot", "--data", data).code == 4


def test_a_name_that_is_taken_is_a_fault(lamina: Lamina, data: Path) -> None:
    lamina("keys", "add", "bot", "--data", data)
    ended = lamina("keys", "add", "bot", "--data", data, "--json")
    assert (ended.code, ended.document["type"]) == (1, "/problems/conflict")


def test_an_unknown_role_is_a_wrong_use(lamina: Lamina, data: Path) -> None:
    assert lamina("keys", "add", "bot", "--role", "king", "--data", data).code == 2
