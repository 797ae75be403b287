"""
What background work is due in the banks of a store, by its interval or because something waits that no job stands for.
"""

from collections.abc import Callable, Sequence
from datetime import datetime

from sqlalchemy import Connection

from app.config import ExtractionSettings, HygieneSettings
from app.domain.consolidation.work import EXTRACT, extract_job, hygiene_job
from app.domain.jobs import NewJob, is_due
from app.services.bank_settings import extracts
from app.services.hygiene import schedule_name
from app.storage import banks as bank_rows
from app.storage import cursors, jobs
from app.storage import memories as memory_rows
from app.storage.moments import to_micros

HOUR_S = 3600.0
MICROS = 1_000_000


class HygieneDue:
    """
    Banks with memories whose hygiene was last done an interval ago, or never.
    """

    def __init__(self, settings: HygieneSettings) -> None:
        self._interval_s = settings.interval_hours * HOUR_S

    def __call__(self, connection: Connection, now: datetime) -> Sequence[NewJob]:
        """
        A job for each such bank; none where the interval is 0.
        """
        if not self._interval_s:
            return ()
        found = []
        now_s = to_micros(now) / MICROS
        for bank in bank_rows.every(connection):
            last = jobs.last_done(connection, schedule_name(bank.bank_id))
            due = is_due(None if last is None else last / MICROS, now_s, self._interval_s)
            if due and memory_rows.any_live(connection, bank.bank_id):
                found.append(hygiene_job(bank.bank_id))
        return found


class UnreadDue:
    """
    Threads with entries that were not read, such as those from before there was a model; only where there is one
    (`available`).
    """

    def __init__(self, settings: ExtractionSettings, available: Callable[[], bool]) -> None:
        self._settings = settings
        self._available = available

    def __call__(self, connection: Connection, now: datetime) -> Sequence[NewJob]:
        """
        A job for each such thread.
        """
        if not self._available():
            return ()
        return [
            extract_job(bank.bank_id, thread, self._settings.quiet_s)
            for bank in bank_rows.every(connection)
            if extracts(bank.settings, self._settings.enabled)
            for thread in cursors.behind(connection, bank.bank_id, EXTRACT)
        ]
