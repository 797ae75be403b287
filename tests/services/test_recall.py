"""
Recall: what is found, in which order, under which filters, and what the answer says of itself.
"""

from datetime import timedelta

import pytest

from app.bootstrap import Container
from app.clock import FrozenClock
from app.errors import InvalidInput, NotFound
from app.services.drafting import NewMemory
from app.services.recall_model import RecallRequest
from tests.services.asking import BANK, ask, save, say, texts
from tests.services.conftest import NOW, Launch
from tests.stand_ins import WordEmbedder

pytestmark = pytest.mark.parametrize("resident", [0, 64], ids=["sql", "resident"])


async def started(launch: Launch, resident: int, embedder: WordEmbedder | None = None, **more: object) -> Container:
    return await launch(embedder, resident={"max_mb": resident}, **more)


async def test_t049_neighbours_in_other_banks_do_not_starve_mine(launch: Launch, resident: int) -> None:
    service = await started(launch, resident, WordEmbedder())
    theirs = [NewMemory(content=f"falcon falcon falcon number {number}") for number in range(200)]
    await service.memories.save("theirs", theirs, lambda _: "")
    for number in range(5):
        await save(service, f"the falcon of house {number} sleeps", bank="mine")
    await service.indexer.drained()
    for mode in ("semantic", "hybrid", "lexical"):
        assert len((await ask(service, "falcon", bank="mine", limit=5, mode=mode)).results) == 5


async def test_d10_a_filter_holds_before_the_limit(launch: Launch, resident: int) -> None:
    service = await started(launch, resident)
    for number in range(60):
        await save(service, f"publish publish publish articles {number}")
    await save(service, "publish on Tuesdays and think about articles now and then", tags=["blog"])
    found = await texts(service, "publish articles", limit=5, tags=("blog",))
    assert found == ["publish on Tuesdays and think about articles now and then"]


async def test_t062_a_tag_is_one_tag_whatever_signs_it_has(launch: Launch, resident: int) -> None:
    service = await started(launch, resident)
    await save(service, "paint the fence", tags=["red, green | blue"])
    await save(service, "paint the barn", tags=["red"])
    assert await texts(service, "paint", tags=("red, green | blue",)) == ["paint the fence"]
    assert await service.banks.tags(BANK) == [("red", 1), ("red, green | blue", 1)]


async def test_d16_a_question_about_oneself_reaches_what_is_said_of_the_user(launch: Launch, resident: int) -> None:
    service = await started(launch, resident)
    await save(service, "User is a nurse in Pune")
    await save(service, "The office closes at six")
    answer = await ask(service, "what do you know about me", explain=True)
    assert [result.text for result in answer.results] == ["User is a nurse in Pune"]
    assert (answer.results[0].explain or {})["entity"] == 1.0


async def test_d17_a_pin_does_not_lift_a_weak_meaning_over_a_strong_one(launch: Launch, resident: int) -> None:
    service = await started(launch, resident, WordEmbedder(floor=0.1))
    await save(service, "weekly report template colours of letters", pinned=True)
    await save(service, "deploy window opens weekly")
    await service.indexer.drained()
    found = await texts(service, "weekly deploy window")
    assert found[0] == "deploy window opens weekly"


async def test_d25_an_answer_belongs_to_its_own_bank_query_and_limit(launch: Launch, resident: int) -> None:
    service = await started(launch, resident)
    for number in range(20):
        await save(service, f"harbour note {number}", bank="a")
    await save(service, "harbour secret of b", bank="b")
    assert len(await texts(service, "harbour", bank="a", limit=5)) == 5
    assert len(await texts(service, "harbour", bank="a", limit=20)) == 20
    assert await texts(service, "harbour", bank="b", limit=20) == ["harbour secret of b"]


async def test_d38_words_are_enough_without_a_model(launch: Launch, resident: int) -> None:
    service = await started(launch, resident)
    await save(service, "staging uses port 8080")
    answer = await ask(service, "port")
    assert [result.text for result in answer.results] == ["staging uses port 8080"]
    assert answer.retrieval == "lexical"
    assert answer.degraded


async def test_d52_a_strong_meaning_is_not_cut_off_by_weak_words(launch: Launch, resident: int) -> None:
    service = await started(launch, resident, WordEmbedder(synonyms={"automobile": "car", "vehicle": "car"}))
    for number in range(5):
        await save(service, f"the question of colour came up in meeting {number} among many other unrelated points")
    await save(service, "automobile is crimson")
    await service.indexer.drained()
    assert "automobile is crimson" in await texts(service, "vehicle colour is", limit=5)


async def test_d53_an_old_exact_answer_comes_before_fresh_chatter(launch: Launch, resident: int) -> None:
    clock = FrozenClock(NOW - timedelta(days=400))
    service = await started(launch, resident, clock=clock)
    await save(service, "the router password hint is grandmother's street")
    clock.moment = NOW
    for number in range(5):
        await save(service, f"somebody mentioned a password again today {number}")
    assert (await texts(service, "router password hint"))[0].startswith("the router password hint")


@pytest.mark.parametrize(
    "bank",
    ["7b0e4c1e-4d6a-4a52-9c58-0d0a4a1b7a01", "a-b", "main", "user:42@telegram", "日本", "x" * 200, "with spaces"],
)
async def test_t058_any_legal_name_is_a_bank(launch: Launch, resident: int, bank: str) -> None:
    service = await started(launch, resident)
    await say(service, "the ferry leaves at noon", bank=bank, session_id=bank)
    assert await texts(service, "ferry", bank=bank, session_id=bank) == ["the ferry leaves at noon"]


@pytest.mark.parametrize(
    ("stored", "query"),
    [
        (r"the fault is in C:\repo\src\main.py", r"C:\repo\src\main.py"),
        ("see some/path for it", "some/path"),
        ("grafana dashboards are slow", "grafana dashboards zzzqqq"),
        ('she said "NEAR" AND left', '"NEAR" AND (OR NOT *'),
        ("今日は成語しりとりをした", "しりとり"),
        ("今天玩成语接龙游戏", "成语接龙"),
        ("오늘 끝말잇기 게임을 했다", "끝말잇기"),
        ("她怀孕了", "怀孕"),
        ("家里有一只猫", "猫"),
        ("party time 🎉 tonight", "🎉"),
    ],
    ids=[
        "t059-backslash",
        "t059-slash",
        "t061",
        "operators",
        "t038-ja",
        "t038-zh",
        "t038-ko",
        "t038-2",
        "t038-1",
        "emoji",
    ],
)
async def test_t059_t061_t038_any_text_is_a_query(launch: Launch, resident: int, stored: str, query: str) -> None:
    service = await started(launch, resident)
    await save(service, stored)
    await save(service, "an unrelated remark on gardening")
    assert await texts(service, query) == [stored]


async def test_any_odd_query_is_answered(launch: Launch, resident: int) -> None:
    service = await started(launch, resident, WordEmbedder())
    await save(service, "the mill grinds rye")
    for query in ("?!*", "\x00", "\ud83c", "🎉", "a" * 20_000, "mill " * 4000, "(", "'; DROP TABLE record; --"):
        await ask(service, query)
    assert (await texts(service, "mill " * 4000))[0] == "the mill grinds rye"


async def test_an_empty_query_lists_the_newest(launch: Launch, resident: int) -> None:
    clock = FrozenClock(NOW)
    service = await started(launch, resident, clock=clock)
    for text in ("first text", "second text", "third text"):
        await save(service, text)
        clock.moment += timedelta(minutes=1)
    assert await texts(service, "", limit=2) == ["third text", "second text"]


async def test_the_same_question_twice_has_the_same_answer(launch: Launch, resident: int) -> None:
    service = await started(launch, resident, WordEmbedder())
    for number in range(30):
        await save(service, f"item {number % 3} about lanterns")
    await service.indexer.drained()
    first, second = [(await ask(service, "lanterns", limit=30, explain=True)).results for _ in range(2)]
    assert first == second


async def test_an_empty_answer_says_why(launch: Launch, resident: int) -> None:
    service = await started(launch, resident)
    await service.banks.create("empty")
    assert (await ask(service, "anything", bank="empty")).empty_reason == "bank_empty"
    await save(service, "the boat is blue")
    assert (await ask(service, "quantum chromodynamics")).empty_reason == "nothing_relevant"
    assert (await ask(service, "boat", tags=("none",))).empty_reason == "filtered_out"
    with pytest.raises(NotFound):
        await ask(service, "boat", bank="never")


async def test_filters_narrow_by_every_field(launch: Launch, resident: int) -> None:
    service = await started(launch, resident)
    early = NOW - timedelta(days=10)
    await say(service, "lantern by Ana", source="telegram", source_id="1", session_id="s1", timestamp=early)
    await say(service, "lantern by Ben", source="slack", source_id="2", session_id="s2", timestamp=NOW)
    await save(service, "lantern as a preference", category="preference", metadata={"floor": 3, "lit": True, "of": "x"})
    every = await texts(service, "lantern")
    assert len(every) == 3
    assert await texts(service, "lantern", session_id="s1") == ["lantern by Ana"]
    assert await texts(service, "lantern", source="slack") == ["lantern by Ben"]
    assert await texts(service, "lantern", tiers=("memory",)) == ["lantern as a preference"]
    assert await texts(service, "lantern", category="preference") == ["lantern as a preference"]
    assert await texts(service, "lantern", created_before=NOW - timedelta(days=1)) == ["lantern by Ana"]
    assert len(await texts(service, "lantern", created_after=NOW - timedelta(days=1))) == 2
    for metadata in ({"floor": 3}, {"lit": True}, {"of": "x"}, {"floor": 3, "of": "x"}):
        assert await texts(service, "lantern", metadata=metadata) == ["lantern as a preference"]
    assert await texts(service, "lantern", metadata={"floor": 4}) == []
    found = (await ask(service, "lantern")).results
    rest = await texts(service, "lantern", exclude_ids=(found[0].record.id,))
    assert rest == [result.text for result in found[1:]]


async def test_floors_hold(launch: Launch, resident: int) -> None:
    service = await started(launch, resident, WordEmbedder())
    await save(service, "red kite over the moor")
    await save(service, "kite festival in the long dry summer of many years ago")
    await service.indexer.drained()
    scores = [result.score for result in (await ask(service, "red kite")).results]
    assert len(scores) == 2
    assert len((await ask(service, "red kite", min_score=scores[0])).results) == 1
    assert await texts(service, "red kite", threshold=0.5) == ["red kite over the moor"]
    assert await texts(service, "red kite over the moor", threshold=0.99, mode="semantic") == ["red kite over the moor"]


async def test_expired_records_are_gone_at_their_hour(launch: Launch, resident: int) -> None:
    clock = FrozenClock(NOW)
    service = await started(launch, resident, clock=clock)
    await save(service, "the parking permit is valid", expires_at=NOW + timedelta(hours=1))
    assert len(await texts(service, "parking permit")) == 1
    clock.moment += timedelta(hours=2)
    assert await texts(service, "parking permit") == []
    assert len(await texts(service, "parking permit", as_of=NOW)) == 1


async def test_a_superseded_record_is_seen_by_an_earlier_clock(launch: Launch, resident: int) -> None:
    clock = FrozenClock(NOW)
    service = await started(launch, resident, clock=clock)
    old = await save(service, "User lives in Porto")
    clock.moment += timedelta(days=30)
    new = await save(service, "User moved to Lisbon and lives there")
    await service.memories.supersede(BANK, old.record.id, new.record.id)
    assert await texts(service, "Porto") == []
    assert await texts(service, "Porto", as_of=NOW + timedelta(days=1)) == ["User lives in Porto"]


async def test_o41_recall_counts_the_accesses_of_what_it_returns(launch: Launch, resident: int) -> None:
    service = await started(launch, resident)
    memory = await save(service, "User collects stamps")
    await ask(service, "stamps", record_access=True)
    await service.access_log.flush()
    await ask(service, "stamps", record_access=False)
    await service.access_log.flush()
    seen = await service.memories.get(BANK, memory.record.id)
    assert (seen.record.access_count, seen.record.last_accessed_at) == (1, NOW)


async def test_the_question_before_leads_to_its_answer(launch: Launch, resident: int) -> None:
    service = await started(launch, resident)
    await say(service, "Which instrument did you play at the wedding?", name="Ben", session_id="s")
    await say(service, "The hurdy-gurdy, all night!", name="Ana", session_id="s")
    await say(service, "Nothing to do with any of that", name="Ben", session_id="other")
    found = await texts(service, "which instrument was played at the wedding")
    assert "The hurdy-gurdy, all night!" in found


async def test_clusters_of_a_bank_are_its_own(launch: Launch, resident: int) -> None:
    service = await started(launch, resident)
    await save(service, "peanut allergy since childhood")
    assert await texts(service, "diet") == ["peanut allergy since childhood"]
    await save(service, "the kiln is hot", bank="pottery")
    assert await texts(service, "glaze", bank="pottery") == []
    await service.banks.amend("pottery", settings={"clusters": {"craft": ["kiln", "glaze"]}})
    assert await texts(service, "glaze", bank="pottery") == ["the kiln is hot"]
    await save(service, "new kiln bought", bank="pottery")
    assert len(await texts(service, "glaze", bank="pottery")) == 2


async def test_bad_fields_are_named(launch: Launch, resident: int) -> None:
    service = await started(launch, resident)
    await save(service, "something")
    request = RecallRequest("x", limit=501, threshold=2.0, scorer="best", as_of=NOW.replace(tzinfo=None))
    with pytest.raises(InvalidInput) as caught:
        await service.recall.recall(BANK, request)
    assert {fault.field for fault in caught.value.fields} == {"limit", "threshold", "scorer", "as_of"}


async def test_a_question_about_a_time_finds_what_was_said_then(launch: Launch, resident: int) -> None:
    service = await started(launch, resident)
    await say(service, "We finally hung the big mirror", timestamp=NOW - timedelta(days=1))
    await say(service, "The plumber never came", timestamp=NOW - timedelta(days=9))
    assert await texts(service, "what happened yesterday") == ["We finally hung the big mirror"]
