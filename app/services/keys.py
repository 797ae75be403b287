"""
Who may do what: access keys, their roles, and the banks they may touch.
"""

import hashlib
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from app.clock import Clock
from app.config import AuthSettings
from app.errors import Conflict, Forbidden, InvalidInput, NotFound, Unauthorized
from app.storage import api_keys
from app.storage.api_keys import StoredKey
from app.storage.engine import Storage
from app.storage.moments import to_micros

KEY_PREFIX = "lam_"
# How long a key made or revoked by another process may go unnoticed.
REFRESH_S = 2.0


class Role(IntEnum):
    """
    What a key may do; each role includes the ones before it.
    """

    READ = 1
    WRITE = 2
    ADMIN = 3


@dataclass(frozen=True, slots=True)
class Caller:
    """
    Who asks: the key's name, its role, and the banks it may touch (names, or prefixes that end in `*`).
    """

    name: str
    role: Role
    banks: tuple[str, ...] = ("*",)

    def sees(self, bank: str) -> bool:
        """
        Whether the caller may know of this bank.
        """
        return any(
            bank.startswith(pattern[:-1]) if pattern.endswith("*") else bank == pattern for pattern in self.banks
        )

    def require(self, role: Role) -> None:
        """
        Let the caller pass if its role reaches this far.

        Raises:
            Forbidden: otherwise.
        """
        if self.role < role:
            raise Forbidden(f"this needs a key with role {role.name.lower()}, yours has {self.role.name.lower()}")

    def require_bank(self, bank: str) -> None:
        """
        Let the caller pass if it may touch the bank.

        Raises:
            NotFound: otherwise, exactly as if there were no such bank.
        """
        if not self.sees(bank):
            raise NotFound(f"there is no bank {bank!r}")


ANYONE = Caller("anonymous", Role.ADMIN)


class Keys:
    """
    Tells callers apart by their keys: those of the configuration and those in the store.
    """

    def __init__(self, storage: Storage, clock: Clock, settings: AuthSettings) -> None:
        self._storage = storage
        self._clock = clock
        self._configured = {
            digest_of(key.key.get_secret_value()): Caller(key.name, Role[key.role.upper()], key.banks)
            for key in settings.keys
        }
        self._known: dict[str, Caller] = dict(self._configured)
        self._guarded = bool(self._configured)
        self._fresh_until = 0.0

    async def caller(self, secret: str | None) -> Caller:
        """
        Who bears the secret; anyone, as long as no key was ever made.

        Raises:
            Unauthorized: when keys exist and the secret is none of theirs.
        """
        await self._refresh()
        if not self._guarded:
            return ANYONE
        if secret is None:
            raise Unauthorized("a key is needed: Authorization: Bearer KEY, or X-API-Key: KEY")
        found = self._known.get(digest_of(secret))
        if found is None:
            raise Unauthorized("this key is not known")
        return found

    async def any_exist(self) -> bool:
        """
        Whether any key is configured or was ever stored: withdrawing the last one does not open the service.
        """
        await self._refresh()
        return self._guarded

    async def add(self, name: str, role: str, banks: Sequence[str]) -> str:
        """
        Make a key and store its digest; returns the secret, which is shown only now.

        Raises:
            InvalidInput: when the name or the role cannot be taken.
            Conflict: when the name is taken.
        """
        if not name.strip():
            raise InvalidInput.of("name", "must not be empty")
        if role.upper() not in Role.__members__:
            raise InvalidInput.of("role", f"must be one of {', '.join(r.name.lower() for r in Role)}, got {role!r}")
        secret = KEY_PREFIX + secrets.token_urlsafe(32)
        key = StoredKey(name, digest_of(secret), role.lower(), tuple(banks) or ("*",), to_micros(self._clock.now()))
        try:
            await self._storage.write(lambda connection: api_keys.add(connection, key))
        except IntegrityError as error:
            raise Conflict(f"there is a key named {name!r} already") from error
        self._fresh_until = 0.0
        return secret

    async def every(self) -> list[StoredKey]:
        """
        The stored keys, without their secrets.
        """
        return await self._storage.read(api_keys.every)

    async def revoke(self, name: str) -> None:
        """
        Withdraw a stored key.

        Raises:
            NotFound: when there is no such key, or it was withdrawn before.
        """
        now = to_micros(self._clock.now())

        def work(connection: Connection) -> bool:
            return api_keys.revoke(connection, name, now)

        if not await self._storage.write(work):
            raise NotFound(f"there is no key {name!r}")
        self._fresh_until = 0.0

    async def _refresh(self) -> None:
        if time.monotonic() < self._fresh_until:
            return
        every = await self.every()
        stored = {
            key.digest: Caller(key.name, Role[key.role.upper()], key.banks) for key in every if key.revoked_at is None
        }
        self._guarded = bool(self._configured or every)
        self._known = {**stored, **self._configured}
        self._fresh_until = time.monotonic() + REFRESH_S


def digest_of(secret: str) -> str:
    """
    What is kept of a secret. A plain SHA-256 is enough for 256 random bits.
    """
    return hashlib.sha256(secret.encode()).hexdigest()
