"""
Short-term entries over HTTP.
"""

import httpx
import pytest

from tests.api.serving import Served, fields_of, serving

FULL = {
    "content": "User: how do I deploy?",
    "role": "user",
    "name": "Ana",
    "timestamp": "2026-11-30T09:00:00+01:00",
    "source": "telegram",
    "source_id": "123456789",
    "session_id": "s1",
    "message_id": "m-17",
    "message_type": "text",
    "action_id": "task-42",
    "step": 3,
    "skill": "web_search",
    "tags": ["ops"],
    "metadata": {"k": "v"},
}


async def test_an_entry_is_kept_with_every_field(client: httpx.AsyncClient) -> None:
    posted = await client.post("/v1/banks/a/entries", json={"entries": [FULL]})
    assert posted.status_code == 201
    (result,) = posted.json()["results"]
    assert result == {"id": result["id"], "status": "created", "duplicate_of": None}
    assert result["id"].startswith("ent-")
    assert posted.json()["jobs"] == []
    (kept,) = (await client.get("/v1/banks/a/entries")).json()["items"]
    expected = {**FULL, "id": result["id"], "bank": "a", "consolidated_into": None}
    assert kept == expected


async def test_messages_is_another_name_for_entries(client: httpx.AsyncClient) -> None:
    posted = await client.post("/v1/banks/a/entries", json={"messages": [{"role": "assistant", "content": "Hello"}]})
    assert posted.status_code == 201
    (kept,) = (await client.get("/v1/banks/a/entries")).json()["items"]
    assert (kept["role"], kept["content"]) == ("assistant", "Hello")
    bad = await client.post("/v1/banks/a/entries", json={"messages": [{"content": "ok"}, {"content": " "}]})
    assert fields_of(bad) == ["messages[1].content"]
    both = await client.post("/v1/banks/a/entries", json={"messages": [FULL], "entries": [FULL]})
    assert (both.status_code, fields_of(both)) == (400, ["messages"])
    neither = await client.post("/v1/banks/a/entries", json={})
    assert (neither.status_code, fields_of(neither)) == (400, ["entries"])


@pytest.mark.parametrize(("first", "second"), [(17, "17"), ("17", 17), (17, 17.0), (10**20, str(10**20))])
async def test_b39_ids_as_numbers_and_as_strings_are_the_same(
    client: httpx.AsyncClient, first: object, second: object
) -> None:
    ids = []
    for message_id in (first, second):
        entry = {
            "content": f"said {message_id}",
            "message_id": message_id,
            "source": "telegram",
            "source_id": message_id,
        }
        ids.append((await client.post("/v1/banks/a/entries", json={"entries": [entry]})).json()["results"][0])
    assert ids[1] == {"id": ids[0]["id"], "status": "duplicate", "duplicate_of": ids[0]["id"]}
    (kept,) = (await client.get("/v1/banks/a/entries")).json()["items"]
    assert kept["message_id"] == kept["source_id"] == str(second)[: len(kept["message_id"])]


async def test_d20_ids_decide_where_one_side_has_one(client: httpx.AsyncClient) -> None:
    def said(message_id: int | None, minute: int) -> dict[str, object]:
        entry = {"content": "ok", "session_id": "s", "timestamp": f"2026-11-30T09:{minute:02}:00Z"}
        return {"entries": [entry if message_id is None else {**entry, "message_id": message_id}]}

    for body, status in [
        (said(1, 0), "created"),
        (said(2, 1), "created"),
        (said(None, 2), "created"),
        (said(None, 3), "duplicate"),
        (said(1, 9), "duplicate"),
        (said(None, 10), "created"),
    ]:
        answer = await client.post("/v1/banks/a/entries", json=body)
        assert answer.json()["results"][0]["status"] == status
    assert (await client.get("/v1/banks/a/entries")).json()["total"] == 4


async def test_entries_are_listed_newest_first_and_filtered(client: httpx.AsyncClient) -> None:
    entries = [
        {"content": f"line {n}", "timestamp": f"2026-11-30T09:0{n}:00Z", "session_id": n % 2, "role": role}
        for n, role in enumerate(["user", "assistant", "user", "assistant"])
    ]
    await client.post("/v1/banks/a/entries", json={"entries": [entries[2], entries[0], entries[3], entries[1]]})

    async def contents(**params: object) -> list[str]:
        page = (await client.get("/v1/banks/a/entries", params={k: str(v) for k, v in params.items()})).json()
        return [item["content"] for item in page["items"]]

    assert await contents() == ["line 3", "line 2", "line 1", "line 0"]
    assert await contents(limit=2, offset=1) == ["line 2", "line 1"]
    assert await contents(session_id=1) == ["line 3", "line 1"]
    assert await contents(role="user") == ["line 2", "line 0"]
    assert await contents(source="telegram") == []


async def test_b33_an_actions_entries_are_removed_and_no_longer_found(client: httpx.AsyncClient) -> None:
    entries = [{"content": "fetched the quince list", "action_id": 42}, {"content": "the quince list is long"}]
    await client.post("/v1/banks/a/entries", json={"entries": entries})
    gone = await client.delete("/v1/banks/a/entries", params={"action_id": "42"})
    assert (gone.status_code, gone.json()) == (200, {"deleted": 1})
    assert (await client.get("/v1/banks/a/entries")).json()["total"] == 1
    found = await client.post("/v1/banks/a/recall", json={"query": "quince list"})
    assert [item["text"] for item in found.json()["results"]] == ["the quince list is long"]
    assert (await client.delete("/v1/banks/a/entries", params={"action_id": "42"})).json() == {"deleted": 0}
    missing = await client.delete("/v1/banks/a/entries")
    assert (missing.status_code, fields_of(missing)) == (400, ["action_id"])
    assert (await client.get("/v1/banks/a/entries")).json()["total"] == 1


async def test_every_bad_field_of_every_entry_is_named_and_nothing_is_stored(client: httpx.AsyncClient) -> None:
    entries = [
        {"content": "fine"},
        {"content": 7, "step": "three", "timestamp": "2026-11-30T09:00:00"},
        {"role": "user", "metadata": [], "message_id": True, "colour": "red"},
    ]
    answer = await client.post("/v1/banks/a/entries", json={"entries": entries, "bank": "b"})
    assert answer.status_code == 400
    assert sorted(fields_of(answer)) == [
        "bank",
        "entries[1].content",
        "entries[1].step",
        "entries[1].timestamp",
        "entries[2].colour",
        "entries[2].content",
        "entries[2].message_id",
        "entries[2].metadata",
    ]
    assert (await client.get("/v1/banks/a")).status_code == 404


async def test_a_whole_page_is_kept_and_one_too_large_is_413(client: httpx.AsyncClient) -> None:
    page = "Nothing of note happened that day. " * 5_000 + "The last page names the quince orchard."
    assert (await client.post("/v1/banks/a/entries", json={"entries": [{"content": page}]})).status_code == 201
    (kept,) = (await client.get("/v1/banks/a/entries")).json()["items"]
    assert kept["content"] == page
    found = (await client.post("/v1/banks/a/recall", json={"query": "quince orchard"})).json()["results"][0]
    start, stop = found["passage"]
    assert page[start:stop] == found["text"]
    assert "quince orchard" in found["text"]
    huge = await client.post("/v1/banks/a/entries", json={"entries": [{"content": "é" * 140_000}]})
    assert (huge.status_code, fields_of(huge)) == (413, ["entries[0].content"])


async def test_t013_a_session_written_with_its_source_is_found_by_its_session_alone(client: httpx.AsyncClient) -> None:
    entry = {"content": "remember the quince", "source": "telegram", "source_id": 42, "session_id": "s1"}
    await client.post("/v1/banks/a/entries", json={"entries": [entry]})
    listed = await client.get("/v1/banks/a/entries", params={"session_id": "s1"})
    assert listed.json()["total"] == 1
    recalled = await client.post("/v1/banks/a/recall", json={"query": "quince", "filters": {"session_id": "s1"}})
    assert len(recalled.json()["results"]) == 1


TEXTS = ["👨‍👩‍👧‍👦" * 120, "<|endoftext|> and then quince", "a\u0000b quince", "C:\\repo\\src\\main.py", "\ufffe\uffff"]


@pytest.mark.parametrize("text", TEXTS)
async def test_t040_t041_any_text_goes_in_and_comes_out(client: httpx.AsyncClient, text: str) -> None:
    posted = await client.post("/v1/banks/a/entries", json={"entries": [{"content": text}]})
    assert posted.status_code == 201
    (kept,) = (await client.get("/v1/banks/a/entries")).json()["items"]
    assert kept["content"] == text.replace("\u0000", "\ufffd")
    asked = await client.post("/v1/banks/a/recall", json={"query": text})
    assert asked.status_code == 200


@pytest.mark.parametrize("escape", [rb"\ud83c", rb"\udc00", rb"\ud83c\u0041"])
@pytest.mark.parametrize(
    "template", [b'{"entries":[{"content":"x%b"}]}', b'{"entries":[{"content":"x","metadata":{"%b":1}}]}']
)
async def test_t040_a_lone_surrogate_is_400(client: httpx.AsyncClient, escape: bytes, template: bytes) -> None:
    answer = await client.post("/v1/banks/a/entries", content=template % escape)
    assert (answer.status_code, fields_of(answer)) == (400, ["body"])
    asked = await client.post("/v1/banks/a/recall", content=b'{"query":"x%b"}' % escape)
    assert asked.status_code == 400


async def test_a_batch_has_a_largest_size(tmp_path: object) -> None:
    async with serving(tmp_path, server={"batch_max": 3}) as served:  # type: ignore[arg-type]
        answer = await served.client.post(
            "/v1/banks/a/entries", json={"entries": [{"content": str(n)} for n in range(4)]}
        )
        assert (answer.status_code, fields_of(answer)) == (400, ["entries"])


async def test_a_number_too_large_for_the_store_is_named(client: httpx.AsyncClient) -> None:
    answer = await client.post("/v1/banks/a/entries", json={"entries": [{"content": "x", "step": 2**70}]})
    assert (answer.status_code, fields_of(answer)) == (400, ["entries[0].step"])


async def test_big_numbers_in_metadata_come_back_as_they_were(served: Served) -> None:
    metadata = {"big": 2**70, "small": 0.1, "deep": {"list": [1, None, True, "x"]}}
    await served.client.post("/v1/banks/a/entries", json={"entries": [{"content": "x", "metadata": metadata}]})
    (kept,) = (await served.client.get("/v1/banks/a/entries")).json()["items"]
    assert kept["metadata"] == metadata
