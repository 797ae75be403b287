import asyncio
import sys
from pathlib import Path

import pytest

from app.config import EmbeddingSettings
from app.providers.factory import build_embedder
from app.providers.local import LocalEmbedder
from app.providers.model_files import ModelFiles
from app.providers.model_manifest import EmbeddingProfile, Manifest
from app.providers.openai import OpenAIEmbedder
from app.providers.protocols import ProviderState
from tests.providers.conftest import DEFAULT_MODEL, MakeManifest, write_model

PROFILE = EmbeddingProfile(dimensions=384, pooling="mean", query_prefix="", floor=0.4, max_tokens=512)


def embedding_manifest(manifest: Manifest) -> Manifest:
    return Manifest({"toy": manifest.entry("toy").model_copy(update={"kind": "embedding", "embedding": PROFILE})})


def refused(settings: EmbeddingSettings, models: ModelFiles) -> str:
    state = build_embedder(settings, models)
    assert isinstance(state, ProviderState)
    assert not state.ok
    assert state.name == settings.provider
    return state.detail


@pytest.fixture
def empty(tmp_path: Path, make_manifest: MakeManifest) -> ModelFiles:
    contents = {"model.onnx": b"not a model", "tokenizer.json": b"not a tokenizer"}
    return ModelFiles(embedding_manifest(make_manifest(contents)), tmp_path)


def test_o06_without_a_provider_recall_is_lexical_by_choice(empty: ModelFiles) -> None:
    state = build_embedder(EmbeddingSettings(provider="none"), empty)
    assert isinstance(state, ProviderState)
    assert (state.name, state.ok) == ("none", True)


def test_the_local_embedder_is_built_from_checked_files(models: ModelFiles) -> None:
    embedder = build_embedder(EmbeddingSettings(sessions=1), models)
    assert isinstance(embedder, LocalEmbedder)
    assert embedder.space.name == DEFAULT_MODEL
    asyncio.run(embedder.close())


def test_a_missing_file_is_named(empty: ModelFiles) -> None:
    assert refused(EmbeddingSettings(model="toy"), empty) == "embedder_model_missing: toy/model.onnx"


def test_an_altered_file_is_named(empty: ModelFiles) -> None:
    write_model(empty.locate("toy"), {"model.onnx": b"not a model", "tokenizer.json": b"altered"})
    assert refused(EmbeddingSettings(model="toy"), empty) == "embedder_model_altered: toy/tokenizer.json"


def test_files_that_are_no_model_are_named(empty: ModelFiles) -> None:
    write_model(empty.locate("toy"), {"model.onnx": b"not a model", "tokenizer.json": b"not a tokenizer"})
    assert refused(EmbeddingSettings(model="toy"), empty).startswith("embedder_model_broken: toy: ")


def test_t046_a_model_of_other_dimensions_than_stated_is_named(models: ModelFiles) -> None:
    entry = models.manifest.entry(DEFAULT_MODEL)
    stated = entry.model_copy(update={"embedding": PROFILE.model_copy(update={"dimensions": 1024})})
    files = ModelFiles(Manifest({DEFAULT_MODEL: stated}), models.directory)
    assert refused(EmbeddingSettings(sessions=1), files).startswith("embedder_wrong_dimensions: ")


def test_an_unknown_model_is_named(empty: ModelFiles) -> None:
    assert refused(EmbeddingSettings(model="nope"), empty).startswith(
        "embedder_model_unknown: models: unknown model 'nope'"
    )


def test_a_model_that_is_no_embedder_is_named(tmp_path: Path, make_manifest: MakeManifest) -> None:
    contents = {"model.onnx": b"x", "tokenizer.json": b"y"}
    files = ModelFiles(make_manifest(contents), tmp_path)
    write_model(files.locate("toy"), contents)
    assert refused(EmbeddingSettings(model="toy"), files) == "embedder_model_unknown: toy is not an embedding model"


def test_d26_a_placeholder_key_turns_the_provider_off(empty: ModelFiles) -> None:
    settings = EmbeddingSettings.model_validate(
        {"provider": "openai", "model": "text-embedding-3-small", "api_key": "your_openai_key_here"}
    )
    assert refused(settings, empty) == "embedder_key_placeholder: embedding.api_key is not a real key"


def test_a_server_of_ones_own_needs_no_key(empty: ModelFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    settings = EmbeddingSettings(provider="openai", model="m", dimensions=8, base_url="http://127.0.0.1:9/v1")
    embedder = build_embedder(settings, empty)
    assert isinstance(embedder, OpenAIEmbedder)
    asyncio.run(embedder.close())


@pytest.mark.parametrize("address", ["http://[bad", "localhost:11434/v1", "ftp://host", "http://", "nonsense"])
def test_an_address_that_is_none_turns_the_provider_off(empty: ModelFiles, address: str) -> None:
    settings = EmbeddingSettings(provider="openai", model="m", dimensions=8, base_url=address)
    assert refused(settings, empty).startswith(f"embedder_address_invalid: {address!r}")


def test_whatever_goes_wrong_in_building_does_not_stop_the_start(
    empty: ModelFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_model(empty.locate("toy"), {"model.onnx": b"not a model", "tokenizer.json": b"not a tokenizer"})
    monkeypatch.setitem(sys.modules, "app.providers.local", None)
    assert refused(EmbeddingSettings(model="toy"), empty).startswith("embedder_broken: ModuleNotFoundError")
