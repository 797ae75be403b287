"""
Entries: kept whole, told apart from their repeats, listed by time, and gone when their action ends.
"""

from datetime import timedelta

import pytest

from app.clock import FrozenClock
from app.errors import Conflict, InvalidInput, TooLarge
from app.services.remember import EntryQuery, NewEntry
from tests.services.asking import BANK, ask, say, texts
from tests.services.conftest import NOW, Launch

CHAT = {"source": "telegram", "source_id": "42"}


async def test_b39_a_known_message_id_is_a_repeat_for_ever(launch: Launch) -> None:
    clock = FrozenClock(NOW)
    service = await launch(clock=clock)
    first = (await say(service, "ok", message_id="1", **CHAT))[0]
    clock.moment += timedelta(days=400)
    again = (await say(service, "ok", message_id="1", **CHAT))[0]
    assert (first.status, again.status, again.duplicate_of) == ("created", "duplicate", first.id)
    elsewhere = (await say(service, "ok", message_id="1", source="telegram", source_id="43"))[0]
    assert elsewhere.status == "created"


async def test_d20_ids_decide_where_either_side_has_one(launch: Launch) -> None:
    clock = FrozenClock(NOW)
    service = await launch(clock=clock)
    with_ids = [(await say(service, "ok", message_id=name, **CHAT))[0].status for name in ("1", "2")]
    assert with_ids == ["created", "created"]
    without = [(await say(service, "ok", **CHAT))[0].status for _ in range(2)]
    assert without == ["created", "duplicate"]
    clock.moment += timedelta(minutes=6)
    assert (await say(service, "ok", message_id="1", **CHAT))[0].status == "duplicate"
    assert (await say(service, "ok", **CHAT))[0].status == "created"


async def test_d20_repeats_inside_one_request_are_found_too(launch: Launch) -> None:
    service = await launch()
    results = await say(service, "hello", "hello", **CHAT)
    assert [item.status for item in results] == ["created", "duplicate"]
    assert results[1].duplicate_of == results[0].id


async def test_the_same_words_of_another_speaker_are_no_repeat(launch: Launch) -> None:
    service = await launch()
    stored = await service.remember.entries(
        BANK, [NewEntry("yes", name=name, source="telegram", source_id="42") for name in ("Ana", "Ben")]
    )
    assert [item.status for item in stored.results] == ["created", "created"]


async def test_d22_recent_means_by_time_and_not_by_arrival(launch: Launch) -> None:
    service = await launch()
    given = [NewEntry(f"t{minute}", timestamp=NOW + timedelta(minutes=minute)) for minute in (3, 1, 2)]
    await service.remember.entries(BANK, given)
    page, total = await service.remember.page(BANK, EntryQuery(), 2, 0)
    assert [entry.record.text for entry in page] == ["t3", "t2"]
    assert total == 3


async def test_t013_a_session_is_found_by_its_name_alone(launch: Launch) -> None:
    service = await launch()
    await say(service, "the gate code is 7712", session_id="s1", **CHAT)
    page, total = await service.remember.page(BANK, EntryQuery(session_id="s1"), 10, 0)
    assert (total, page[0].record.source_id) == (1, "42")
    assert len((await ask(service, "gate code", session_id="s1")).results) == 1


async def test_b08_ending_an_action_removes_its_entries_from_every_index(launch: Launch) -> None:
    service = await launch()
    await say(service, "searched for zeppelin fares", action_id="task-1", step=1)
    await say(service, "zeppelins are fun", action_id="task-2", step=1)
    assert await service.remember.delete_action(BANK, "task-1") == 1
    assert await service.remember.delete_action(BANK, "task-1") == 0
    assert await texts(service, "zeppelin fares") == ["zeppelins are fun"]
    stats = await service.banks.stats(BANK)
    assert (stats.records["entry"], stats.tokens) == (1, 3)


async def test_t002_the_last_page_of_a_long_entry_is_found(launch: Launch) -> None:
    service = await launch()
    filler = "The committee spoke about the budget of the harbour at length. " * 900
    content = f"Minutes. {filler} The chair's parrot is called Quillfeather."
    await say(service, content)
    answer = await ask(service, "what is the parrot called", mode="lexical")
    assert "Quillfeather" in answer.results[0].text
    assert len(answer.results[0].text) <= 1500
    assert answer.results[0].record.text == content
    start, stop = answer.results[0].passage or (0, 0)
    assert content[start:stop] == answer.results[0].text


async def test_content_beyond_the_limit_is_refused_whole(launch: Launch) -> None:
    service = await launch()
    with pytest.raises(TooLarge) as caught:
        await service.remember.entries(BANK, [NewEntry("fine"), NewEntry("ß" * 131_073)])
    assert caught.value.fields[0].field == "entries[1].content"


@pytest.mark.parametrize("content", ["", "   ", "\n"])
async def test_t055_an_entry_without_content_is_refused_by_name(launch: Launch, content: str) -> None:
    service = await launch()
    with pytest.raises(InvalidInput) as caught:
        await say(service, content)
    assert caught.value.fields[0].field == "entries[0].content"


async def test_t041_text_that_utf8_cannot_hold_is_kept_as_far_as_it_can(launch: Launch) -> None:
    service = await launch()
    await say(service, "before \ud83c after\x00end <|endoftext|>")
    page, _ = await service.remember.page(BANK, EntryQuery(), 1, 0)
    assert page[0].record.text == "before \ufffd after\ufffdend <|endoftext|>"
    assert len(await texts(service, "\ud83c <|endoftext|>")) == 1


async def test_an_imported_id_is_kept_and_a_second_import_adds_nothing(launch: Launch) -> None:
    service = await launch()
    first = await say(service, "kept as it was", id="conv-1/D1:1")
    again = await say(service, "kept as it was", id="conv-1/D1:1")
    assert (first[0].id, again[0].status) == ("conv-1/D1:1", "duplicate")
    with pytest.raises(Conflict):
        await say(service, "another text", id="conv-1/D1:1")


async def test_a_naive_time_is_refused(launch: Launch) -> None:
    service = await launch()
    with pytest.raises(InvalidInput, match="offset"):
        await say(service, "when", timestamp=NOW.replace(tzinfo=None))
