"""
The services that the HTTP layer calls, as one object; whatever builds them hands them to `create_app`.
"""

from typing import Protocol

from app.clock import Clock
from app.config import Settings
from app.services.banks import Banks
from app.services.contacts import Contacts
from app.services.context import ContextService
from app.services.doctor import Doctor
from app.services.documents import Documents
from app.services.entities import Entities
from app.services.idempotency import Idempotency
from app.services.indexer import Indexer
from app.services.jobs import Jobs
from app.services.keys import Keys
from app.services.learned_rules import LearnedRules
from app.services.memories import Memories
from app.services.overview import Overview
from app.services.recall import Recall
from app.services.remember import Remember


class Services(Protocol):
    """
    A service put together: its use cases, and how to start and stop it.
    """

    @property
    def settings(self) -> Settings: ...
    @property
    def clock(self) -> Clock: ...
    @property
    def keys(self) -> Keys: ...
    @property
    def banks(self) -> Banks: ...
    @property
    def remember(self) -> Remember: ...
    @property
    def memories(self) -> Memories: ...
    @property
    def documents(self) -> Documents: ...
    @property
    def jobs(self) -> Jobs: ...
    @property
    def rules(self) -> LearnedRules: ...
    @property
    def overview(self) -> Overview: ...
    @property
    def contacts(self) -> Contacts: ...
    @property
    def entities(self) -> Entities: ...
    @property
    def recall(self) -> Recall: ...
    @property
    def context(self) -> ContextService: ...
    @property
    def doctor(self) -> Doctor: ...
    @property
    def indexer(self) -> Indexer: ...
    @property
    def idempotency(self) -> Idempotency: ...

    async def start(self, *, working: bool) -> None:
        """
        Begin the background work; jobs are worked only if `working`.
        """
        ...

    async def stop(self) -> None:
        """
        End the background work and close everything.
        """
        ...
