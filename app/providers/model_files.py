"""
The cache of model files: where they lie, and whether they are what the manifest pins.
"""

import hashlib
import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import structlog

from app.config import ModelsSettings
from app.errors import ConfigError, Unavailable
from app.providers.model_manifest import Manifest, ModelFile, load_manifest

log = structlog.get_logger(__name__)

SEEN_NAME = ".verified.json"
FILE_MODE = 0o644
"""Readable by whoever shares the cache; temporary files are made private."""

FileStatus = Literal["ok", "missing", "altered"]


class ModelFileFault(Unavailable):
    """
    A file of a model is not there, or is not the one that is pinned; `file` names it as `directory/file`.
    """

    def __init__(self, file: str, fault: FileStatus) -> None:
        super().__init__(f"model file {fault}: {file} (`lamina models pull` fetches it)")
        self.file = file
        self.fault = fault


@dataclass(frozen=True, slots=True)
class FileCheck:
    """
    What one file of the cache was found to be.
    """

    label: str
    path: Path
    status: FileStatus


def models_directory(settings: ModelsSettings) -> Path:
    """
    The directory that caches model files: `models.dir`, else `lamina/models` in the user's cache directory, so that
    every checkout on a machine shares them.

    Raises:
        ConfigError: `models.dir` is unset and the user has no home directory.
    """
    if settings.dir is not None:
        return settings.dir
    named = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(named):  # the XDG rules have a relative path ignored
        return Path(named) / "lamina" / "models"
    try:
        return Path.home() / ".cache" / "lamina" / "models"
    except RuntimeError as error:
        raise ConfigError(f"models.dir: unset, and there is no home directory: {error}") from error


class ModelFiles:
    """
    The files of the manifest's models in one directory.
    """

    def __init__(self, manifest: Manifest, directory: Path) -> None:
        self.manifest = manifest
        self.directory = directory

    @classmethod
    def configured(cls, settings: ModelsSettings) -> "ModelFiles":
        """
        The shipped manifest over the configured directory.
        """
        return cls(load_manifest(), models_directory(settings))

    def locate(self, name: str) -> Path:
        """
        Directory in which the model's files lie, or would.
        """
        return self.directory / self.manifest.entry(name).folder

    def check(self, name: str) -> tuple[FileCheck, ...]:
        """
        Compare a model's files with their pins.

        A file is hashed once; while its size and modification time stay as they were, its hash is remembered.
        """
        return self._compare(name, remembered=True)

    def verify(self, name: str) -> tuple[FileCheck, ...]:
        """
        Compare a model's files with their pins, hashing every byte anew.
        """
        return self._compare(name, remembered=False)

    def require(self, name: str) -> dict[str, Path]:
        """
        The paths of a model's files by name, every one of them checked.

        Raises:
            ModelFileFault: one is missing or altered.
        """
        paths: dict[str, Path] = {}
        for found in self.check(name):
            if found.status != "ok":
                raise ModelFileFault(found.label, found.status)
            paths[found.path.name] = found.path
        return paths

    def _compare(self, name: str, *, remembered: bool) -> tuple[FileCheck, ...]:
        entry = self.manifest.entry(name)
        folder = self.locate(name)
        seen = _read_seen(folder) if remembered else {}
        known = dict(seen)
        checks = []
        for file in entry.file:
            path = folder / file.name
            checks.append(FileCheck(entry.label(file), path, _status(path, file, known)))
        if known != seen:
            _write_seen(folder, {**_read_seen(folder), **known})
        return tuple(checks)


def _status(path: Path, file: ModelFile, seen: dict[str, list[object]]) -> FileStatus:
    """
    Status of one file; a hash that had to be computed is added to `seen` as [size, mtime_ns, sha256].
    """
    try:
        found = path.stat()
        if found.st_size != file.size:
            return "altered"
        stamp = [found.st_size, found.st_mtime_ns]
        remembered = seen.get(file.name)
        if remembered is None or remembered[:2] != stamp:
            with path.open("rb") as stream:
                remembered = [*stamp, hashlib.file_digest(stream, "sha256").hexdigest()]
            seen[file.name] = remembered
        return "ok" if remembered[2:] == [file.sha256] else "altered"
    except FileNotFoundError:
        return "missing"
    except OSError as error:
        log.warning("model_file_unreadable", file=str(path), error=str(error))
        return "altered"


def _read_seen(folder: Path) -> dict[str, list[object]]:
    try:
        raw = json.loads((folder / SEEN_NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}  # nothing remembered: the files are hashed again
    return {k: v for k, v in raw.items() if isinstance(v, list)} if isinstance(raw, dict) else {}


def _write_seen(folder: Path, seen: dict[str, list[object]]) -> None:
    try:
        handle, name = tempfile.mkstemp(prefix=SEEN_NAME, suffix=".part", dir=folder)
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            json.dump(seen, out, sort_keys=True)
        Path(name).chmod(FILE_MODE)
        Path(name).replace(folder / SEEN_NAME)
    except OSError as error:
        log.debug("verified_hashes_not_kept", folder=str(folder), error=str(error))
