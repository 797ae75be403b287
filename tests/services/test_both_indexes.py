"""
The index in memory and the one in SQL give the same answers, whatever was written and whatever is asked.
"""

import random
from datetime import timedelta
from typing import Any

import pytest

from app.bootstrap import Container
from app.clock import FrozenClock
from app.domain.contacts import Address
from app.errors import Conflict, NotFound
from app.services.drafting import NewMemory
from app.services.recall_model import RecallAnswer
from app.services.remember import NewEntry
from app.storage.sql_index import SqlIndex
from tests.services.asking import BANK, ask
from tests.services.conftest import NOW, Launch
from tests.stand_ins import GatedEmbedder

WORDS = [
    "heron",
    "kite",
    "anchor",
    "lantern",
    "ferry",
    "harbour",
    "peanut",
    "doctor",
    "python",
    "trip",
    "movie",
    "email",
    "price",
    "Ana",
    "Ben",
    "猫",
    "好き",
    "2024",
    "März",
]


@pytest.mark.parametrize("seed", range(8))
async def test_the_same_answers_after_any_history(launch: Launch, seed: int) -> None:
    rng = random.Random(seed)
    clock = FrozenClock(NOW)
    # Its gate is open only while the indexer is waited for, so that no vector lands between two answers.
    embedder = GatedEmbedder()
    service = await launch(embedder, clock=clock)
    plain = SqlIndex(in_sql=service.storage.has_vector_functions)
    resident = service.recall.index
    ids: list[str] = []
    for _ in range(12):
        await _change(service, rng, ids)
        clock.moment += timedelta(hours=rng.randrange(1, 400))
        if rng.random() < 0.7:
            embedder.gate.set()
            await service.indexer.drained()
            embedder.gate.clear()
        for _ in range(4):
            query, request = _question(rng, clock)
            answers = []
            for index in (resident, plain):
                service.recall.index = index
                answers.append(_plain(await ask(service, query, **request)))
            assert answers[0] == answers[1]


async def _change(service: Container, rng: random.Random, ids: list[str]) -> None:
    kind = rng.choice(
        ["save", "save", "say", "say", "amend", "delete", "purge", "supersede", "access", "merge", "unmerge", "forget"]
    )
    if kind == "say" or len(ids) < 3:
        entries = [
            NewEntry(
                _sentence(rng) * rng.choice([1, 1, 1, 40]),
                name=rng.choice(["Ana", "Ben", None]),
                session_id=rng.choice(["s1", "s2"]),
                source=rng.choice(["telegram", None]),
                source_id=rng.choice(["1", "2"]),
                timestamp=NOW - timedelta(minutes=rng.randrange(5000)),
            )
            for _ in range(rng.randrange(1, 6))
        ]
        await service.remember.entries(BANK, entries)
    if kind == "save" or len(ids) < 3:
        made = [
            NewMemory(
                content=_sentence(rng),
                tags=rng.sample(["a", "b"], rng.randrange(3)),
                entities=rng.sample(["heron", "kite", "ana", "ben", "猫"], rng.randrange(4)),
                pinned=rng.random() < 0.1,
                confidence=rng.choice([0.3, 0.8, 1.0]),
                expires_at=rng.choice([None, None, NOW + timedelta(hours=rng.randrange(2000))]),
            )
            for _ in range(rng.randrange(1, 5))
        ]
        saved = await service.memories.save(BANK, made, lambda _: "")
        ids += [item.memory.record.id for item in saved if item.memory.record.id not in ids]
        return
    if kind in {"merge", "unmerge", "forget"}:
        await _change_names(service, rng, kind)
        return
    chosen = rng.sample(ids, 2)
    if kind == "amend":
        change: dict[str, Any] = rng.choice(
            [{"content": _sentence(rng)}, {"pinned": True}, {"entities": ["heron", "ferry"]}]
        )
        await _tolerant(service.memories.amend(BANK, chosen[0], change))
    elif kind in {"delete", "purge"}:
        await service.memories.delete(BANK, [chosen[0]], purge=kind == "purge")
    elif kind == "supersede":
        await _tolerant(service.memories.supersede(BANK, *chosen))
    elif kind == "access":
        service.access_log.note(BANK, chosen)
        await service.access_log.flush()


async def _change_names(service: Container, rng: random.Random, kind: str) -> None:
    known, _ = await service.entities.page(BANK, None, None, 500, 0)
    if len(known) < 2:
        return
    one, other = rng.sample(known, 2)
    joined = [item for item in known if item.aliases]
    if kind == "merge":
        await service.entities.merge(BANK, one.id, other.id, 0)
    elif kind == "unmerge" and joined:
        await service.entities.unmerge(BANK, joined[0].id, joined[0].aliases[0], 0)
    elif kind == "forget":
        await service.entities.delete(BANK, one.id)


async def _tolerant(change: Any) -> None:
    try:
        await change
    except (Conflict, NotFound):
        return


def _question(rng: random.Random, clock: FrozenClock) -> tuple[str, dict[str, Any]]:
    request: dict[str, Any] = {"limit": rng.choice([3, 10, 50]), "explain": True}
    request["mode"] = rng.choice(["hybrid", "hybrid", "lexical", "semantic"])
    request["scorer"] = rng.choice([None, None, "orca", "iii", "orcbot"])
    if rng.random() < 0.3:
        request["tags"] = ("a",)
    if rng.random() < 0.2:
        request["tiers"] = ("memory",)
    if rng.random() < 0.3:
        request["contacts"] = frozenset({Address("telegram", "1"), Address("telegram", "9")})
    if rng.random() < 0.2:
        request["created_after"] = NOW - timedelta(minutes=2000)
    if rng.random() < 0.3:
        request["as_of"] = clock.moment - timedelta(hours=rng.randrange(1000))
    if rng.random() < 0.2:
        request["include_superseded"] = True
    return _sentence(rng), request


def _sentence(rng: random.Random) -> str:
    return " ".join(rng.choice(WORDS) for _ in range(rng.randrange(2, 9))) + ". "


def _plain(answer: RecallAnswer) -> list[Any]:
    return [
        (result.record, result.text, result.score, result.passage, dict(result.explain or {}))
        for result in answer.results
    ]
