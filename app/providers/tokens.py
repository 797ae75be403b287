"""
Counts tokens with tiktoken's vocabularies, offline; with a conservative estimate where a vocabulary is missing.
"""

import math
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

import structlog
import tiktoken
from tiktoken.model import encoding_name_for_model

from app.config import TokenSettings
from app.errors import LaminaError
from app.providers.model_files import ModelFiles
from app.providers.protocols import ProviderState, TokenCounter
from app.providers.token_estimate import estimate_tokens

log = structlog.get_logger(__name__)

ESTIMATE = "estimate"
CACHE_DIR_ENV = "TIKTOKEN_CACHE_DIR"

SAME_RANKS = {"o200k_harmony": "o200k_base"}
"""Encodings that differ from another in special tokens only, which are never counted as such here."""

PIECE_CHARS = 100_000
"""tiktoken's regular expression overflows its stack on a row of a million blanks; pieces of this length never do."""

_loading = threading.Lock()


class _Counter:
    """
    A counting function with a name, which remembers the counts of texts that come again.
    """

    def __init__(self, name: str, count: Callable[[str], int], settings: TokenSettings) -> None:
        self.name = name
        self._count = count
        self._remembered = lru_cache(settings.cache_entries)(count)
        self._longest = settings.cache_text_chars

    def count(self, text: str) -> int:
        return self._remembered(text) if len(text) <= self._longest else self._count(text)


class Tokenizers:
    """
    The token counter of each model.
    """

    def __init__(self, models: ModelFiles, settings: TokenSettings) -> None:
        self._models = models
        self._settings = settings
        self._estimate = _Counter(ESTIMATE, estimate_tokens, settings)
        self._counters: dict[str, TokenCounter] = {}

    def for_model(self, model: str | None) -> TokenCounter:
        """
        The counter for a model name, with or without a provider before it (`openai/gpt-4o`).

        OpenAI's models are counted with their own vocabulary; a name that is not known, and None, with
        `tokens.default_encoding`. Claude's vocabulary is not published: its texts count as o200k_base tokens times
        `tokens.claude_factor`, and one more for each character that is not ASCII. A vocabulary that is not there (or
        not the pinned one) is replaced by the estimate until it is; no network is ever touched.
        """
        bare = (model or "").lower().rsplit("/", 1)[-1]
        if "claude" in bare:
            return self._claude()
        try:
            encoding = encoding_name_for_model(bare)
        except KeyError:
            encoding = self._settings.default_encoding
        return self._vocabulary(SAME_RANKS.get(encoding, encoding))

    def state(self) -> ProviderState:
        """
        Whether the default vocabulary is there.
        """
        name = self.for_model(None).name
        missing = f"vocabulary_missing: {self._settings.default_encoding}, counts are an upper bound"
        return ProviderState("tokens", name != ESTIMATE, missing if name == ESTIMATE else name)

    def _claude(self) -> TokenCounter:
        factor = self._settings.claude_factor
        base = self._vocabulary("o200k_base")
        if base.name == ESTIMATE:
            return base
        name = f"{base.name}*{factor:g}"
        if name not in self._counters:

            def count(text: str) -> int:
                foreign = sum(not char.isascii() for char in text)
                return math.ceil(base.count(text) * factor) + foreign

            self._counters[name] = _Counter(name, count, self._settings)
        return self._counters[name]

    def _vocabulary(self, name: str) -> TokenCounter:
        known = self._counters.get(name)
        if known is not None:
            return known
        encoding = self._load(name)
        if encoding is None:
            return self._estimate

        def count(text: str) -> int:
            pieces = (text[start : start + PIECE_CHARS] for start in range(0, len(text), PIECE_CHARS))
            return sum(len(encoding.encode_ordinary(piece)) for piece in pieces)

        return self._counters.setdefault(name, _Counter(name, count, self._settings))

    def _load(self, name: str) -> tiktoken.Encoding | None:
        if name not in self._models.manifest.models:
            return None
        with _loading:
            try:
                self._models.require(name)
                with _cache_directory(self._models.locate(name)):
                    return tiktoken.get_encoding(name)
            except LaminaError as error:
                log.debug("vocabulary_not_loaded", encoding=name, detail=error.detail)
            except (OSError, ValueError) as error:
                log.warning("vocabulary_not_loaded", encoding=name, detail=str(error))
        return None


@contextmanager
def _cache_directory(directory: Path) -> Iterator[None]:
    # tiktoken reads a vocabulary from this directory and fetches it when it is not there; it is only asked to load one
    # that was found there and checked a moment before.
    before = os.environ.get(CACHE_DIR_ENV)
    os.environ[CACHE_DIR_ENV] = str(directory)
    try:
        yield
    finally:
        if before is None:
            del os.environ[CACHE_DIR_ENV]
        else:
            os.environ[CACHE_DIR_ENV] = before
