"""
First answers kept: a request that is sent again under the same key is answered as it was, and is not done again.
"""

import asyncio
import hashlib
import time
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import Connection

from app.clock import Clock
from app.config import ServerSettings
from app.errors import Conflict
from app.storage import idempotency
from app.storage.engine import Storage
from app.storage.idempotency import Answer
from app.storage.moments import to_micros

# A claim without an answer that is older than this was left by a process that died over it.
ABANDONED_S = 60.0
# How long a second request waits for the first one's answer, and how often it looks.
PATIENCE_S = 2.0
LOOK_EVERY_S = 0.05
# How often answers that are past their time are cleared away.
CLEAR_EVERY_S = 3600.0


@dataclass(frozen=True, slots=True)
class Claim:
    """
    The right to do a request. `seed` is the same for every attempt at it, and so are the ids that are drawn from it: an
    attempt that follows on a crash between the write and the answer stores nothing twice.
    """

    owner: str
    key: str
    seed: str


class Idempotency:
    """
    Keeps the first answer under each key of each owner for `server.idempotency_hours`; zero hours keep none.

    A claim whose request failed, or whose process died, is handed on: at once in the first case, after a minute in the
    second.
    """

    def __init__(self, storage: Storage, clock: Clock, settings: ServerSettings) -> None:
        self._storage = storage
        self._clock = clock
        self._keep = timedelta(hours=settings.idempotency_hours)
        # Who is at work on a claim here: a request that was cut off is no longer, whatever became of it.
        self._at_work: dict[tuple[str, str], asyncio.Task[object] | None] = {}
        self._clear_at = 0.0

    @property
    def enabled(self) -> bool:
        """
        Whether answers are kept at all.
        """
        return bool(self._keep)

    async def begin(self, owner: str, bank: str | None, key: str, digest: str) -> Answer | Claim:
        """
        The kept answer to that key, or the claim to make it. `bank` is the one whose texts the answer may hold.

        Raises:
            Conflict: when the key was used for another request, or the first one is still being done.
        """
        await self._clear()
        give_up_at = time.monotonic() + PATIENCE_S
        while True:
            found = await self._claim(owner, bank, key, digest)
            if found is not None:
                return found
            if time.monotonic() >= give_up_at:
                raise Conflict("the first request under this Idempotency-Key is still in progress; try again later")
            await asyncio.sleep(LOOK_EVERY_S)

    async def finish(self, claim: Claim, status: int, body: bytes, content_type: str) -> None:
        """
        Keep the answer of a claim.
        """
        await self._storage.write(
            lambda connection: idempotency.finish(connection, claim.owner, claim.key, status, body, content_type)
        )
        self._at_work.pop((claim.owner, claim.key), None)

    async def fail(self, claim: Claim, status: int) -> None:
        """
        Hand a claim on whose request came to nothing: the next attempt takes it over.
        """
        await self._storage.write(
            lambda connection: idempotency.finish(connection, claim.owner, claim.key, status, None, None)
        )
        self._at_work.pop((claim.owner, claim.key), None)

    def abandon(self, claim: Claim) -> None:
        """
        Leave a claim whose request was cut off, with its work perhaps done: it is handed on after a minute.
        """
        self._at_work.pop((claim.owner, claim.key), None)

    async def _claim(self, owner: str, bank: str | None, key: str, digest: str) -> Answer | Claim | None:
        """The kept answer, a claim, or None while another request holds the claim."""
        now = to_micros(self._clock.now())
        kept_from = now - self._keep // timedelta(microseconds=1)
        abandoned = now - int(ABANDONED_S * 1_000_000)
        me = asyncio.current_task()

        def work(connection: Connection) -> Answer | Claim | None:
            worker = self._at_work.get((owner, key))
            busy = worker is not None and not worker.done()
            known = idempotency.find(connection, owner, key)
            if known is not None and known.created_at < kept_from and not busy:
                idempotency.release(connection, owner, key)
                known = None
            if known is None:
                idempotency.begin(connection, owner, bank, key, digest, now)
                self._at_work[owner, key] = me
                return Claim(owner, key, _seed(owner, key, digest, now))
            if known.digest != digest:
                raise Conflict("this Idempotency-Key was used for another request")
            if known.body is not None:
                return known
            if known.status is None and (busy or known.created_at > abandoned):
                return None
            idempotency.reopen(connection, owner, key)
            self._at_work[owner, key] = me
            return Claim(owner, key, _seed(owner, key, digest, known.created_at))

        return await self._storage.write(work)

    async def _clear(self) -> None:
        if time.monotonic() < self._clear_at:
            return
        self._clear_at = time.monotonic() + CLEAR_EVERY_S
        before = to_micros(self._clock.now() - self._keep)
        await self._storage.write(lambda connection: idempotency.forget(connection, before))


def _seed(owner: str, key: str, digest: str, claimed_at: int) -> str:
    return hashlib.sha256(f"{owner}\n{key}\n{digest}\n{claimed_at}".encode()).hexdigest()
