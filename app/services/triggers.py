"""
What a write sets going: the jobs that are enqueued in the transaction of the entries they will work on.
"""

from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from typing import Protocol

from sqlalchemy import Connection

from app.config import ExtractionSettings
from app.domain.consolidation.work import EXTRACT, extract_job
from app.domain.records import Bank
from app.services.bank_settings import extracts
from app.storage import cursors, jobs
from app.storage.moments import to_micros


class Trigger(Protocol):
    """
    Decides which jobs the storing of entries calls for.
    """

    def entries_stored(
        self, connection: Connection, bank: Bank, threads: Collection[str], now: datetime
    ) -> Sequence[str]:
        """
        Enqueue what is due after entries of these threads were stored, in the caller's transaction; returns the jobs'
        ids.
        """
        ...


class Triggers:
    """
    All triggers together, and the waking of whoever works the jobs.
    """

    def __init__(self, triggers: Sequence[Trigger] = (), wake: Callable[[], None] = lambda: None) -> None:
        self._triggers = tuple(triggers)
        self.wake = wake

    def entries_stored(
        self, connection: Connection, bank: Bank, threads: Collection[str], now: datetime
    ) -> tuple[str, ...]:
        """
        Enqueue what is due, in the caller's transaction, and return the jobs' ids. The caller wakes the workers once it
        has committed.
        """
        found = [job for trigger in self._triggers for job in trigger.entries_stored(connection, bank, threads, now)]
        return tuple(dict.fromkeys(found))


class ExtractionTrigger:
    """
    Reads a thread once it has fallen quiet, or holds as many unread entries as one call takes; only where there is a
    model that reads (`available`).
    """

    def __init__(self, settings: ExtractionSettings, available: Callable[[], bool]) -> None:
        self._settings = settings
        self._available = available

    def entries_stored(
        self, connection: Connection, bank: Bank, threads: Collection[str], now: datetime
    ) -> Sequence[str]:
        """
        One job a thread, whose time moves on with each entry until the window is full.
        """
        if not self._available() or not extracts(bank.settings, self._settings.enabled):
            return ()
        window = self._settings.window
        found = []
        for thread in sorted(threads):
            full = cursors.pending(connection, bank.bank_id, EXTRACT, thread, window) >= window
            item = extract_job(bank.bank_id, thread, 0.0 if full else self._settings.quiet_s)
            found.append(jobs.postpone(connection, item, to_micros(now))[0])
        return found
