"""
The doctor: a real save, recall and erase round trip, and each dependency by name with its state.
"""

import secrets
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

import structlog

from app.errors import LaminaError
from app.providers.protocols import ProviderState
from app.services.banks import Banks
from app.services.drafting import NewMemory
from app.services.indexer import Indexer
from app.services.memories import Memories
from app.services.recall import Recall
from app.services.recall_model import Mode, RecallRequest
from app.storage import migrate
from app.storage.engine import Storage

log = structlog.get_logger(__name__)

State = Literal["ok", "degraded", "failed"]
# Saved in one wording and asked for in another, with a word that no other memory holds.
PROBE_TEXT = "The lighthouse keeper {word} paints wooden boats"
PROBE_QUESTION = "boat painting by {word}"


@dataclass(frozen=True, slots=True)
class Check:
    """
    One thing that was looked at; `ms` is how long it took, where that means something.
    """

    name: str
    state: State
    detail: str
    ms: float | None = None


@dataclass(frozen=True, slots=True)
class DoctorReport:
    """
    All checks; `ok` unless one failed. `degraded` lists what works with less than was configured.
    """

    ok: bool
    checks: tuple[Check, ...]
    degraded: tuple[str, ...]


class Doctor:
    """
    Examines a running service through its own use cases.
    """

    def __init__(
        self,
        storage: Storage,
        banks: Banks,
        memories: Memories,
        recall: Recall,
        indexer: Indexer,
        providers: Callable[[], list[ProviderState]],
    ) -> None:
        self._storage = storage
        self._banks = banks
        self._memories = memories
        self._recall = recall
        self._indexer = indexer
        self._providers = providers
        self._schema = migrate.newest_revision()

    async def check(self) -> DoctorReport:
        """
        Examine everything; writes to a bank of its own and erases it again.
        """
        checks = [await self._store(), self._vector_functions(), *self._provider_checks(), await self._indexing()]
        checks.append(await self._timed("round_trip", self._round_trip))
        degraded = tuple(f"{check.name}: {check.detail}" for check in checks if check.state == "degraded")
        return DoctorReport(all(check.state != "failed" for check in checks), tuple(checks), degraded)

    async def ready(self) -> tuple[bool, dict[str, str]]:
        """
        Whether requests can be served, and what is degraded by name.
        """
        store = await self._store()
        if store.state == "failed":
            return False, {"store": store.detail}
        checks = [self._vector_functions(), *self._provider_checks()]
        degraded = {check.name: check.detail for check in checks if check.state != "ok"}
        return True, {**self._storage.degraded, **degraded}

    async def _store(self) -> Check:
        async def look() -> tuple[State, str]:
            revision = await self._storage.read(migrate.current_revision)
            version = ".".join(map(str, self._storage.driver.version))
            if revision != migrate.newest_revision():
                return (
                    "failed",
                    f"schema revision {revision}, wanted {migrate.newest_revision()}: run lamina db upgrade",
                )
            if "write_ahead_log" in self._storage.degraded:
                return "degraded", self._storage.degraded["write_ahead_log"]
            return "ok", f"SQLite {version}, schema {revision}"

        return await self._timed("store", look)

    def _vector_functions(self) -> Check:
        reason = self._storage.degraded.get("vector_extension")
        if reason is not None:
            return Check("vector_extension", "degraded", f"{reason}; cosine is computed exactly in memory")
        return Check("vector_extension", "ok", "sqlite-vec")

    def _provider_checks(self) -> list[Check]:
        return [
            Check(provider.name, "ok" if provider.ok else "degraded", provider.detail) for provider in self._providers()
        ]

    async def _indexing(self) -> Check:
        state = await self._indexer.state()
        lag = "" if state.lag_ms is None else f", a write is found by meaning after {state.lag_ms:.0f} ms (median)"
        detail = f"{state.indexed} units given a vector since the start, {state.waiting} waiting{lag}"
        if state.problem is not None:
            return Check("indexer", "degraded", f"{state.problem}; {detail}")
        if not state.running:
            return Check("indexer", "degraded", f"not running; {detail}")
        return Check("indexer", "ok", detail)

    async def _round_trip(self) -> tuple[State, str]:
        bank = f"doctor-{secrets.token_hex(8)}"
        word = f"quill{secrets.token_hex(4)}"
        try:
            text = NewMemory(content=PROBE_TEXT.format(word=word))
            saved = await self._memories.save(bank, [text], lambda _: "")
            request = RecallRequest(PROBE_QUESTION.format(word=word), limit=1, mode=Mode.HYBRID, record_access=False)
            answer = await self._recall.recall(bank, request)
            found = [result.record.id for result in answer.results]
            if found != [saved[0].memory.record.id]:
                return "failed", "a memory that was just saved was not recalled"
        finally:
            erased = await self._banks.erase_if_there(bank)
        if not erased:
            return "failed", "the probe could not be erased"
        return "ok", f"saved, recalled ({answer.retrieval}) and erased"

    async def _timed(self, name: str, look: Callable[[], Awaitable[tuple[State, str]]]) -> Check:
        started = time.perf_counter()
        try:
            state, detail = await look()
        except LaminaError as error:
            state, detail = "failed", error.detail
        except Exception as error:
            log.exception("doctor_check_failed", check=name)
            state, detail = "failed", f"{type(error).__name__}; the log has the details"
        return Check(name, state, detail, round((time.perf_counter() - started) * 1000, 3))
