import hashlib
import importlib
import inspect
import re
from pathlib import Path

import pytest
from pydantic import ValidationError

from app.config import EmbeddingSettings
from app.errors import ConfigError, InvalidInput
from app.providers.model_manifest import ModelEntry, ModelFile, load_manifest


def test_the_default_model_and_both_vocabularies_are_pulled_by_default() -> None:
    assert load_manifest().default_names() == (EmbeddingSettings().model, "o200k_base", "cl100k_base")


def test_every_entry_has_a_source_and_embedding_models_a_profile() -> None:
    for entry in load_manifest().models.values():
        assert all(file.index or file.hub for file in entry.file)
        assert (entry.embedding is not None) == (entry.kind == "embedding")


@pytest.mark.parametrize("name", ["o200k_base", "cl100k_base"])
def test_vocabularies_are_pinned_and_named_as_tiktoken_demands(name: str) -> None:
    source = inspect.getsource(getattr(importlib.import_module("tiktoken_ext.openai_public"), name))
    url = re.search(r'"(https://[^"]+)"', source)
    pin = re.search(r'expected_hash="([0-9a-f]{64})"', source)
    assert url is not None
    assert pin is not None
    (file,) = load_manifest().entry(name).file
    assert file.sha256 == pin[1]
    assert file.name == hashlib.sha1(url[1].encode()).hexdigest()


def test_vocabularies_share_the_one_directory_that_tiktoken_reads() -> None:
    manifest = load_manifest()
    assert {manifest.entry(name).folder for name in ("o200k_base", "cl100k_base")} == {"tiktoken"}


def test_an_unknown_name_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(InvalidInput, match=r"unknown model 'nope' .*bge-small-en-v1\.5-int8"):
        load_manifest().entry("nope")


def test_the_configured_default_is_an_embedding_model() -> None:
    assert load_manifest().entry(EmbeddingSettings().model).kind == "embedding"


@pytest.mark.parametrize("name", ["../evil", "/etc/passwd", "a/b", "..", ".hidden", ""])
def test_a_file_name_cannot_leave_its_directory(name: str) -> None:
    with pytest.raises(ValidationError):
        ModelFile(name=name, sha256="0" * 64, size=1)


@pytest.mark.parametrize("name", ["../evil", "/tmp", ".."])
def test_a_directory_cannot_leave_the_cache(name: str) -> None:
    file = ModelFile(name="a", sha256="0" * 64, size=1)
    with pytest.raises(ValidationError):
        ModelEntry(name="m", kind="vocabulary", licence="MIT", directory=name, file=(file,))


def test_the_file_hash_changes_with_any_pin() -> None:
    def digest(*pins: str) -> str:
        files = tuple(ModelFile(name=f"f{i}", sha256=pin * 64, size=1) for i, pin in enumerate(pins))
        return ModelEntry(name="m", kind="embedding", licence="MIT", file=files).file_hash()

    assert len({digest("0", "1"), digest("1", "0"), digest("0", "0"), digest("0")}) == 4


@pytest.mark.parametrize("text", ["not toml [", "", "[[model]]\nname = 'x'\n"])
def test_a_broken_manifest_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "broken.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=r"broken\.toml"):
        load_manifest(path)
