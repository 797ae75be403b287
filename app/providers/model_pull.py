"""
Brings model files into the cache: from the first source that delivers a file, and only if it is the pinned one.
"""

import hashlib
import os
import tempfile
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Literal

from app.config import ModelsSettings
from app.providers.model_files import FILE_MODE, FileCheck, ModelFiles
from app.providers.model_manifest import ModelEntry, ModelFile
from app.providers.model_sources import Source, open_sources, readable
from app.providers.watched_process import SourceFailed, SourceSilent

CHUNK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class PullProgress:
    """
    A step of a pull: `done` of `total` bytes of what is being fetched from `source`, for the file `label`.
    """

    label: str
    source: str
    stage: Literal["fetching", "ready", "failed"]
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class FileReport:
    """
    How one file fared: `source` served it (empty when it was there, or none did); `errors` are (source, message).
    """

    label: str
    status: Literal["present", "pulled", "failed"]
    source: str
    errors: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class PullReport:
    """
    How a pull went, file by file.
    """

    directory: Path
    files: tuple[FileReport, ...]

    @property
    def complete(self) -> bool:
        """
        Whether every file is there now.
        """
        return all(file.status != "failed" for file in self.files)


Progress = Callable[[PullProgress], None]


def pull(
    names: Sequence[str],
    settings: ModelsSettings,
    progress: Progress | None = None,
    files: ModelFiles | None = None,
) -> PullReport:
    """
    Bring the files of the named models into the cache, each from the first source that delivers it.

    A file that is there and right is left alone. Any number of processes may pull at once: each writes a file of its
    own beside the target, and only what has the pinned hash is moved into place, in one step. Blocks; no network is
    touched when nothing is missing.

    Raises:
        InvalidInput: a name that the manifest does not have.
        ConfigError: there is no directory to pull into.
    """
    store = ModelFiles.configured(settings) if files is None else files
    wanted = [(store.manifest.entry(name), check) for name in names for check in store.check(name)]
    reports: list[FileReport] = []
    silent: set[str] = set()
    with tempfile.TemporaryDirectory(prefix="lamina-pull-") as scratch:
        sources = open_sources(settings, Path(scratch))
        for entry, check in wanted:
            if check.status == "ok":
                reports.append(FileReport(check.label, "present", "", ()))
                continue
            file = next(item for item in entry.file if item.name == check.path.name)
            reports.append(_pull_file(entry, file, check, sources, silent, progress))
    return PullReport(store.directory, tuple(reports))


def _pull_file(
    entry: ModelEntry,
    file: ModelFile,
    check: FileCheck,
    sources: Sequence[Source],
    silent: set[str],
    progress: Progress | None,
) -> FileReport:
    def tell(source: str, stage: Literal["fetching", "ready", "failed"], done: int, total: int) -> None:
        if progress is not None:
            progress(PullProgress(check.label, source, stage, min(done, total), total))

    errors: list[tuple[str, str]] = []
    for source in sources:
        if source.name in silent:
            errors.append((source.name, "left out: it was silent before"))
            continue
        try:
            with closing(source.stream(entry, file, partial(tell, source.name, "fetching"))) as streams:
                for stream in streams:
                    if _place(stream, file, check.path):
                        tell(source.name, "ready", file.size, file.size)
                        return FileReport(check.label, "pulled", source.name, tuple(errors))
                    errors.append((source.name, f"{check.label} there is not the pinned file"))
        except SourceSilent as error:
            silent.add(source.name)
            errors.append((source.name, error.detail))
        except SourceFailed as error:
            errors.append((source.name, error.detail))
        except OSError as error:
            errors.append(("cache", f"{check.path.parent} cannot be written: {error}"))
            break
    tell("", "failed", 0, file.size)
    return FileReport(check.label, "failed", "", tuple(errors))


def _place(stream: IO[bytes], file: ModelFile, target: Path) -> bool:
    """
    Copy a stream beside the target and move it there if it is the pinned file; whether it was.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{file.name}.", suffix=".part", dir=target.parent)
    arriving = Path(name)
    try:
        digest = hashlib.sha256()
        size = 0
        with os.fdopen(handle, "wb") as out:
            while size <= file.size:  # a stream longer than the pin is wrong already, and may have no end
                with readable(file.name):
                    chunk = stream.read(CHUNK_BYTES)
                if not chunk:
                    break
                size += len(chunk)
                digest.update(chunk)
                out.write(chunk)
            out.flush()
            os.fsync(out.fileno())
        if size != file.size or digest.hexdigest() != file.sha256:
            return False
        arriving.chmod(FILE_MODE)
        arriving.replace(target)
        return True
    finally:
        arriving.unlink(missing_ok=True)
