"""
models: what there is, what is missing, and that a fetch from a folder works without a network.
"""

from pathlib import Path

import pytest

from app.providers.model_manifest import load_manifest
from tests.cli.conftest import Lamina

NAME = "cl100k_base"


@pytest.fixture(autouse=True)
def _from_a_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    monkeypatch.setenv("LAMINA_MODELS__DIR", str(tmp_path / "models"))
    monkeypatch.setenv("LAMINA_MODELS__FOLDER", str(tmp_path / "folder"))
    monkeypatch.setenv("LAMINA_MODELS__SOURCES", '["folder"]')


def test_every_model_of_the_manifest_is_listed_with_its_state(lamina: Lamina) -> None:
    found = lamina("models", "list", "--json").document["items"]
    assert {item["name"] for item in found} == set(load_manifest().models)
    assert {item["status"] for item in found} == {"missing"}
    wanted = {item["name"] for item in found if item["wanted"]}
    assert wanted == set(load_manifest().default_names())
    assert NAME in lamina("models", "list").out


def test_an_optional_embedder_is_wanted_when_the_configuration_names_it(
    lamina: Lamina, monkeypatch: pytest.MonkeyPatch
) -> None:
    optional = next(
        name for name, entry in load_manifest().models.items() if entry.optional and entry.kind == "embedding"
    )
    monkeypatch.setenv("LAMINA_EMBEDDING__PROVIDER", "local")
    monkeypatch.setenv("LAMINA_EMBEDDING__MODEL", optional)
    found = {item["name"]: item["wanted"] for item in lamina("models", "list", "--json").document["items"]}
    assert found[optional] is True


@pytest.mark.parametrize("quiet", [(), ("--quiet",)])
def test_what_no_source_has_is_named_and_ends_with_1(lamina: Lamina, quiet: tuple[str, ...]) -> None:
    ended = lamina("models", "pull", NAME, *quiet)
    file = load_manifest().entry(NAME).file[0]
    assert ended.code == 1
    assert f"{load_manifest().entry(NAME).folder}/{file.name}" in ended.err
    assert "folder" in ended.err


def test_a_pull_with_json_is_one_document_also_when_it_fails(lamina: Lamina) -> None:
    ended = lamina("models", "pull", NAME, "--json")
    assert ended.code == 1
    assert [file["status"] for file in ended.document["files"]] == ["failed"]


def test_an_unknown_model_is_named(lamina: Lamina) -> None:
    ended = lamina("models", "pull", "gpt-9")
    assert ended.code == 1
    assert "gpt-9" in ended.err


def test_an_altered_file_is_found(lamina: Lamina, tmp_path: Path) -> None:
    entry = load_manifest().entry(NAME)
    place = tmp_path / "models" / entry.folder
    place.mkdir(parents=True)
    (place / entry.file[0].name).write_bytes(b"x" * entry.file[0].size)
    ended = lamina("models", "verify", NAME, "--json")
    assert ended.code == 1
    assert [item["status"] for item in ended.document["items"]] == ["altered"]
    assert lamina("models", "verify", NAME).code == 1
