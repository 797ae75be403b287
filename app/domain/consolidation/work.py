"""
The jobs of consolidation: which work they name, so that the same work waits once however often it is asked for.
"""

from typing import Final

from app.domain.jobs import NewJob

STRUCTURE: Final = "structure"
EXTRACT: Final = "extract"
HYGIENE: Final = "hygiene"

PATIENT: Final = 10_000
"""Attempts of work that waits for a model to come back, however long that takes."""


def structure_job(bank_id: int, memory_id: str) -> NewJob:
    """
    Give a memory the structure of its free text. Somebody may be waiting, so it goes first.
    """
    key = f"{STRUCTURE}:{bank_id}:{memory_id}"
    return NewJob(STRUCTURE, bank_id, {"memory_id": memory_id}, key, priority=-1, max_attempts=PATIENT)


def extract_job(bank_id: int, thread: str, delay_s: float = 0.0) -> NewJob:
    """
    Draw memories from what a thread holds beyond its position.
    """
    key = f"{EXTRACT}:{bank_id}:{thread}"
    return NewJob(EXTRACT, bank_id, {"thread": thread}, key, delay_s=delay_s, max_attempts=PATIENT)


def hygiene_job(bank_id: int, *, dry_run: bool = False) -> NewJob:
    """
    Tidy the memories of a bank; a dry run only reports what would be done, and stands in no real run's way.
    """
    key = f"{HYGIENE}:{bank_id}" + (":dry" if dry_run else "")
    return NewJob(HYGIENE, bank_id, {"dry_run": dry_run}, key)
