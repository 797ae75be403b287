"""
Reads the manifest: which files a model consists of, what each must hash to, and where it can be had.
"""

import hashlib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from app.errors import ConfigError, InvalidInput

MANIFEST_PATH = Path(__file__).with_name("models.toml")

Kind = Literal["embedding", "late-interaction", "reranker", "vocabulary"]
Pooling = Literal["mean", "cls"]

_PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class IndexOrigin(_Entry):
    """
    A file inside a wheel of the package index.
    """

    requirement: str = Field(pattern=r"^[A-Za-z0-9._-]+==[A-Za-z0-9.]+$")
    """Package and exact version."""
    member: str
    """Path inside the wheel."""
    download_size: int = Field(gt=0)
    """Size of the wheel in bytes, for the progress bar only."""
    gzip: bool = False
    """Whether the member is the gzipped file."""


class HubOrigin(_Entry):
    """
    A file of a repository on the Hugging Face hub.
    """

    repo: str = Field(pattern=r"^[A-Za-z0-9._-]+/[A-Za-z0-9._-]+$")
    """Owner and repository."""
    revision: str = Field(pattern=r"^[0-9a-f]{40}$")
    """Commit."""
    path: str
    """Path in the repository."""


class ModelFile(_Entry):
    """
    One file, pinned.
    """

    name: str
    """Name in the model's directory."""
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    """Hash that its bytes must have."""
    size: int = Field(gt=0)
    """Size in bytes."""
    alias: str | None = None
    """A name for people, under which a local folder may hold it as well."""
    index: tuple[IndexOrigin, ...] = ()
    """Wheels that carry it, in the order in which they are tried."""
    hub: tuple[HubOrigin, ...] = ()
    """Hub repositories that hold it, in the order in which they are tried."""

    @field_validator("name")
    @classmethod
    def _stays_in_its_directory(cls, name: str) -> str:
        return _plain(name)


class EmbeddingProfile(_Entry):
    """
    How an embedding model is used.
    """

    dimensions: int = Field(gt=0)
    """Length of its vectors."""
    pooling: Pooling
    """How token states become one vector."""
    query_prefix: str
    """Text put before a query."""
    floor: float = Field(ge=-1.0, le=1.0)
    """Cosine below which two texts count as unrelated."""
    max_tokens: int = Field(gt=2)
    """Tokens that it reads of a text, with the two that frame it."""
    latin_only: bool = False
    """Whether its vectors mean nothing for text in other scripts, all of which it takes for much alike."""


class ModelEntry(_Entry):
    """
    One model or vocabulary of the manifest.
    """

    name: str
    """Name by which configuration and commands call it."""
    kind: Kind
    """What it is for."""
    licence: str
    """SPDX name of its licence."""
    optional: bool = False
    """Whether a plain pull leaves it out."""
    directory: str = ""
    """Directory below the cache; its own name unless given."""
    embedding: EmbeddingProfile | None = None
    """For the kind `embedding`: how it is used."""
    file: tuple[ModelFile, ...] = Field(min_length=1)
    """Its files."""

    @field_validator("name", "directory")
    @classmethod
    def _stays_in_the_cache(cls, name: str) -> str:
        return _plain(name) if name else name

    @property
    def folder(self) -> str:
        """
        Directory below the cache that holds its files.
        """
        return self.directory or self.name

    def label(self, file: ModelFile) -> str:
        """
        How a message names a file: `directory/file`, with the name for people behind it if it has one.
        """
        return f"{self.folder}/{file.name}" + (f" ({file.alias})" if file.alias else "")

    def file_hash(self) -> str:
        """
        SHA-256 over the pinned hashes of all its files: changes when any of them does.
        """
        pins = "\n".join(f"{file.name} {file.sha256}" for file in self.file)
        return hashlib.sha256(pins.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Manifest:
    """
    Every model that is known, by name.
    """

    models: Mapping[str, ModelEntry]

    def entry(self, name: str) -> ModelEntry:
        """
        The entry of that name.

        Raises:
            InvalidInput: there is none; the message lists those there are.
        """
        found = self.models.get(name)
        if found is None:
            raise InvalidInput.of("models", f"unknown model {name!r} (known: {', '.join(sorted(self.models))})")
        return found

    def default_names(self) -> tuple[str, ...]:
        """
        What a plain pull fetches: all that is not optional, in the manifest's order.
        """
        return tuple(name for name, entry in self.models.items() if not entry.optional)


def load_manifest(path: Path = MANIFEST_PATH) -> Manifest:
    """
    Read a manifest.

    Raises:
        ConfigError: it cannot be read, or an entry is not of the right form; names the file and the entry.
    """
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
        entries = [ModelEntry.model_validate(item) for item in raw["model"]]
    except (OSError, KeyError, tomllib.TOMLDecodeError, ValidationError) as error:
        raise ConfigError(f"model manifest {path} cannot be used: {error}") from error
    return Manifest(MappingProxyType({entry.name: entry for entry in entries}))


def _plain(name: str) -> str:
    if _PLAIN_NAME.fullmatch(name) is None:
        raise ValueError(f"{name!r} is not a plain file name")
    return name
