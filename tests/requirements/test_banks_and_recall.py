"""
What the iii memory worker promises of banks, memories and recall: I-03 to I-05, I-08, I-13, I-14, I-17, I-31 to I-35
and I-38.
"""

import math
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from sqlalchemy import Connection, select

from app.clock import FrozenClock
from app.config import load_settings
from app.services.context_model import ContextRequest
from app.storage.tables import outbox
from tests.api.serving import fields_of, serving
from tests.cli.conftest import Lamina
from tests.requirements.speaking import context, listed, recall, recalled, save
from tests.services.asking import BANK, ask, texts
from tests.services.asking import save as save_in
from tests.services.conftest import Launch
from tests.stand_ins import WordEmbedder

NOW = datetime(2026, 6, 30, 12, 0, tzinfo=UTC)


def test_i03_the_bank_main_comes_into_being_with_its_first_use(lamina: Lamina) -> None:
    assert lamina("remember", "Ana lives beside the lighthouse", "--json").document["bank"] == "main"
    (result,) = lamina("recall", "lighthouse", "--json").document["results"]
    assert result["text"] == "Ana lives beside the lighthouse"


async def test_i04_without_any_model_every_function_still_serves(client: httpx.AsyncClient) -> None:
    raw = (await client.post("/v1/banks/a/memories", json={"raw_input": "the heron nests by the mill"})).json()
    assert raw["structured"] is False
    assert (await recall(client, "a", "heron"))["retrieval"] == "lexical"
    assert "heron nests" in (await context(client, "a", "heron"))["text"]
    changed = await client.patch(f"/v1/banks/a/memories/{raw['id']}", json={"pinned": True})
    assert changed.json()["pinned"] is True
    rule = await client.put("/v1/banks/a/rules/style", json={"content": "Be brief"})
    assert rule.status_code == 201
    assert (await client.post("/v1/doctor")).json()["ok"] is True
    assert (await client.delete(f"/v1/banks/a/memories/{raw['id']}")).status_code == 204


async def test_i05_a_pinned_and_tagged_memory_is_recalled_by_a_paraphrase(launch: Launch) -> None:
    service = await launch(WordEmbedder(synonyms={"automobile": "car", "garage": "workshop"}))
    saved = await save_in(service, "car stands at workshop", pinned=True, tags=["vehicles"])
    await save_in(service, "bread is in the oven")
    await service.indexer.drained()
    assert (saved.record.pinned, saved.record.tags) == (True, ("vehicles",))
    assert await texts(service, "automobile garage") == ["car stands at workshop"]
    assert await texts(service, "automobile garage", mode="lexical") == []
    await service.documents.put(BANK, "rules/style.md", "# Style\n\n- Never start replies with *Sure*\n")
    (rule,) = await service.documents.rules(BANK)
    assert rule.content == "# Style\n\n- Never start replies with *Sure*\n"


@pytest.mark.parametrize(("half_life", "expected"), [(None, 0.5), (30.0, 0.25)])
async def test_i08_recency_halves_in_sixty_days_unless_configured(
    launch: Launch, half_life: float | None, expected: float
) -> None:
    assert load_settings().recall.half_life_days == 60.0
    recall_settings = {"fused": {"recency_floor": 0.0}}
    clock = FrozenClock(NOW - timedelta(days=60))
    service = await launch(
        clock=clock, recall=recall_settings if half_life is None else {**recall_settings, "half_life_days": half_life}
    )
    await save_in(service, "the heron nests by the mill", category="behavior")
    clock.moment = NOW
    (result,) = (await ask(service, "heron", explain=True)).results
    assert (result.explain or {})["recency"] == pytest.approx(expected, abs=1e-6)


async def test_i10_what_fails_to_be_written_is_not_recalled_either(client: httpx.AsyncClient) -> None:
    await save(client, "a", "The heron has the key", key="heron")
    assert await recalled(client, "a", "heron") == ["The heron has the key"]
    several = [{"content": "Another heron came"}, {"content": "A third heron wants the key", "key": "heron"}]
    assert (await client.post("/v1/banks/a/memories", json={"memories": several})).status_code == 409
    assert await recalled(client, "a", "heron") == ["The heron has the key"]
    assert len(await listed(client, "a")) == 1


async def test_i13_of_two_equal_statements_the_pinned_one_leads(client: httpx.AsyncClient) -> None:
    await save(client, "a", "The heron nests by the mill", pinned=True)
    await save(client, "a", "The heron nests by the lake")
    await save(client, "a", "The heron nests by the pond")
    found = await recalled(client, "a", "where does the heron nest?")
    assert (found[0], len(found)) == ("The heron nests by the mill", 3)


async def test_i14_tags_filter_and_do_not_rank(client: httpx.AsyncClient) -> None:
    tagged = await save(client, "a", "The heron nests by the mill", tags=["birds"])
    plain = await save(client, "a", "The heron nests by the lake")
    found = (await recall(client, "a", "heron", record_access=False))["results"]
    scores = {item["id"]: item["score"] for item in found}
    assert scores[tagged["id"]] == scores[plain["id"]]
    assert await recalled(client, "a", "birds") == []
    assert await recalled(client, "a", "heron", filters={"tags": ["birds"]}) == ["The heron nests by the mill"]
    assert [item["id"] for item in await listed(client, "a", tag="birds")] == [tagged["id"]]
    await client.patch(f"/v1/banks/a/memories/{plain['id']}", json={"tags": ["birds", "lake"]})
    assert {item["id"] for item in await listed(client, "a", tag="birds")} == {tagged["id"], plain["id"]}
    again = await client.post(
        "/v1/banks/a/memories", json={"content": "The heron nests by the lake", "tags": ["winter"]}
    )
    assert again.json()["tags"] == ["birds", "lake", "winter"]


async def test_i17_recall_weighs_words_entities_corroboration_age_and_meaning(launch: Launch) -> None:
    clock = FrozenClock(NOW)
    service = await launch(WordEmbedder(floor=0.1), clock=clock)
    first = await save_in(service, "Miso sleeps on the windowsill", entities=["Miso"])
    await save_in(service, "the windowsill needs paint")
    await service.indexer.drained()
    clock.moment += timedelta(days=30)

    async def reasons() -> dict[str, float]:
        answer = await ask(service, "where does Miso sleep", explain=True, scorer="iii")
        assert answer.results[0].record.id == first.record.id
        return {name: value for name, value in (answer.results[0].explain or {}).items() if value is not None}

    before = await reasons()
    assert before["bm25"] > 0.0
    assert before["entity"] == 1.0
    assert before["cosine"] > 0.1
    assert before["recency"] == pytest.approx(0.5**0.5, abs=1e-6)
    plain = (await ask(service, "Miso sleep", explain=True, scorer="iii")).results[0].explain or {}
    assert before["bm25"] == plain["bm25"]
    clock.moment += timedelta(days=1)
    await save_in(service, "miso sleeps on the windowsill")
    after = await reasons()
    assert after["recency"] == 1.0
    gained = after["fused"] - (before["bm25"] + 0.6 * before["entity"]) - before["semantic"]
    assert gained == pytest.approx(0.3 * math.log(2), abs=1e-4)


async def test_i31_a_bank_is_made_listed_and_moved_to_the_trash(client: httpx.AsyncClient) -> None:
    made = await client.post("/v1/banks", json={"name": "birds", "description": "seen at the lake"})
    assert made.status_code == 201
    await save(client, "birds", "A heron at the lake")
    assert [item["name"] for item in (await client.get("/v1/banks")).json()["items"]] == ["birds"]
    assert (await client.delete("/v1/banks/birds")).status_code == 204
    assert (await client.get("/v1/banks")).json()["items"] == []
    assert (await client.post("/v1/banks/birds/recall", json={"query": "heron"})).status_code == 404
    assert (await client.post("/v1/banks/birds/restore")).status_code == 200
    assert await recalled(client, "birds", "heron") == ["A heron at the lake"]


async def test_i32_a_known_text_is_reinforced_and_a_deleted_one_comes_back(client: httpx.AsyncClient) -> None:
    first = await save(client, "a", "User prefers  short   names", tags=["style"])
    again = await client.post(
        "/v1/banks/a/memories", json={"content": "user PREFERS short names", "tags": ["names"], "pinned": True}
    )
    assert (again.status_code, again.json()["reinforced"], again.json()["id"]) == (200, True, first["id"])
    assert (again.json()["observations"], again.json()["revision"]) == (2, 2)
    assert (again.json()["tags"], again.json()["pinned"]) == (["style", "names"], True)
    third = await client.post("/v1/banks/a/memories", json={"content": "User prefers short names", "pinned": False})
    assert third.json()["pinned"] is True
    assert (await client.delete(f"/v1/banks/a/memories/{first['id']}")).status_code == 204
    back = await save(client, "a", "User prefers short names")
    assert (back["id"], back["revision"], back["is_active"]) == (first["id"], 5, True)


async def test_i33_a_memory_is_read_listed_changed_pinned_and_deleted(client: httpx.AsyncClient) -> None:
    saved = await save(client, "a", "The port is 3000")
    path = f"/v1/banks/a/memories/{saved['id']}"
    assert (await client.get(path)).json()["content"] == "The port is 3000"
    assert [item["id"] for item in await listed(client, "a")] == [saved["id"]]
    changed = (await client.patch(path, json={"content": "The port is 4000"})).json()
    assert (changed["id"], changed["content"], changed["revision"]) == (saved["id"], "The port is 4000", 2)
    pinned = (await client.patch(path, json={"pinned": True})).json()
    assert (pinned["pinned"], pinned["revision"]) == (True, 3)
    assert (await client.delete(path)).status_code == 204
    assert (await client.get(path)).status_code == 404
    history = (await client.get(f"{path}/history")).json()["items"]
    assert [(item["revision"], item["change"]) for item in history] == [
        (1, "created"),
        (2, "updated"),
        (3, "updated"),
        (4, "deleted"),
    ]


async def test_i34_a_recall_scores_as_a_context_does_and_gives_single_arms(launch: Launch) -> None:
    service = await launch(WordEmbedder(floor=0.1, synonyms={"boat": "ferry"}))
    for text in ("ferry leaves at noon", "boat is red", "noon is hot here today", "the garden needs rain"):
        await save_in(service, text, tags=["all"])
    await service.indexer.drained()
    hybrid = await ask(service, "ferry noon", explain=True)
    section = await service.context.assemble(BANK, ContextRequest("ferry noon", sections=("memories",), preview=True))
    assert section.sections[0].items
    assert [(item.id, item.score) for item in section.sections[0].items] == [
        (result.record.id, result.score) for result in hybrid.results
    ]
    for mode, signal in (("lexical", "bm25"), ("semantic", "cosine")):
        answer = await ask(service, "ferry noon", mode=mode, explain=True)
        values = [(result.explain or {})[signal] or 0.0 for result in answer.results]
        assert answer.retrieval == mode
        assert len(values) >= 2
        assert values == sorted(values, reverse=True)
        assert all(value > 0.0 for value in values)
    assert "boat is red" not in await texts(service, "ferry", mode="lexical")
    assert "boat is red" in await texts(service, "ferry", mode="semantic")
    assert await texts(service, "ferry", tags=("none",)) == []


async def test_i35_tags_are_counted_over_live_memories(client: httpx.AsyncClient) -> None:
    await save(client, "a", "A heron at the lake", tags=["birds", "lake"])
    gone = await save(client, "a", "A kite over the moor", tags=["birds", "moor"])
    old = await save(client, "a", "The lake is frozen", tags=["lake", "winter"])
    new = await save(client, "a", "The lake has thawed", tags=["lake"])
    await client.delete(f"/v1/banks/a/memories/{gone['id']}")
    await client.post(f"/v1/banks/a/memories/{old['id']}/supersede", json={"by": new["id"]})
    tags = (await client.get("/v1/banks/a/tags")).json()
    assert tags == [{"tag": "lake", "count": 2}, {"tag": "birds", "count": 1}]


@pytest.mark.parametrize("pinned", [False, True])
async def test_i38_a_superseded_memory_points_to_its_successor_and_says_why(tmp_path: Path, *, pinned: bool) -> None:
    async with serving(tmp_path) as served:
        client = served.client
        old = await save(client, "a", "Lives in Porto")
        await client.post("/v1/banks/a/memories", json={"content": "lives in porto"})
        new = await save(client, "a", "Lives in Lisbon", pinned=pinned)
        body = {"by": new["id"], "reinforce": True, "reason": "moved in spring"}
        retired = (await client.post(f"/v1/banks/a/memories/{old['id']}/supersede", json=body)).json()
        assert (retired["superseded_by"], retired["is_active"]) == (new["id"], False)
        survivor = (await client.get(f"/v1/banks/a/memories/{new['id']}")).json()
        assert survivor["observations"] == (1 if pinned else 3)
        history = (await client.get(f"/v1/banks/a/memories/{old['id']}/history")).json()["items"]
        assert (history[-1]["change"], history[-1]["reason"]) == ("superseded", "moved in spring")

        def told(connection: Connection) -> list[tuple[str, str | None]]:
            rows = connection.execute(
                select(outbox.c.event_type, outbox.c.reason).where(outbox.c.record_id == old["id"])
            )
            return [(row.event_type, row.reason) for row in rows]

        assert ("superseded", "moved in spring") in await served.services.storage.read(told)
        other = await save(client, "a", "Lives in Braga")
        for loser, winner, status in (
            (new["id"], new["id"], 400),
            (new["id"], "mem-0000000000000000", 404),
            (other["id"], old["id"], 409),
            (old["id"], other["id"], 409),
            *([(new["id"], other["id"], 409)] if pinned else []),
        ):
            answer = await client.post(f"/v1/banks/a/memories/{loser}/supersede", json={"by": winner})
            assert answer.status_code == status
            if status == 400:
                assert fields_of(answer) == ["by"]
