"""
Banks over HTTP.
"""

from urllib.parse import quote

import httpx
import pytest

from app.api.paths import routable_path, segment_text
from tests.api.serving import fields_of


async def test_a_bank_is_made_shown_and_listed(client: httpx.AsyncClient) -> None:
    made = await client.post("/v1/banks", json={"name": "Küche", "description": "recipes"})
    assert made.status_code == 201
    assert made.json()["name"] == "Küche"
    shown = await client.get(f"/v1/banks/{quote('Küche')}")
    assert shown.json() == made.json()
    listed = await client.get("/v1/banks")
    assert listed.json() == {"items": [made.json()], "total": 1, "next_offset": None}


async def test_a_bank_that_exists_is_409(client: httpx.AsyncClient) -> None:
    await client.post("/v1/banks", json={"name": "a"})
    assert (await client.post("/v1/banks", json={"name": "a"})).status_code == 409


async def test_a_bank_comes_into_being_with_its_first_write_and_is_404_before(client: httpx.AsyncClient) -> None:
    paths = ["", "/stats", "/tags", "/entries", "/memories"]
    for path in paths:
        assert (await client.get(f"/v1/banks/new{path}")).status_code == 404
    for path, body in {"/recall": {"query": "x"}, "/context": {"query": "x"}}.items():
        assert (await client.post(f"/v1/banks/new{path}", json=body)).status_code == 404
    assert (await client.post("/v1/banks/new/memories", json={"content": "Likes tea"})).status_code == 201
    for path in paths:
        assert (await client.get(f"/v1/banks/new{path}")).status_code == 200


async def test_a_bank_goes_to_the_trash_and_comes_back(client: httpx.AsyncClient) -> None:
    await client.post("/v1/banks/a/memories", json={"content": "Likes tea"})
    assert (await client.delete("/v1/banks/a")).status_code == 204
    assert (await client.get("/v1/banks/a")).status_code == 404
    assert (await client.get("/v1/banks/a/memories")).status_code == 404
    assert (await client.get("/v1/banks")).json()["total"] == 0
    assert (await client.post("/v1/banks/a/memories", json={"content": "Likes coffee"})).status_code == 409
    assert (await client.delete("/v1/banks/a")).status_code == 404
    assert (await client.post("/v1/banks/a/restore")).status_code == 200
    assert (await client.get("/v1/banks/a/memories")).json()["total"] == 1
    assert (await client.post("/v1/banks/a/restore")).status_code == 404


async def test_an_erased_bank_is_gone_and_its_name_free(client: httpx.AsyncClient) -> None:
    await client.post("/v1/banks/a/memories", json={"content": "Likes tea"})
    erased = await client.delete("/v1/banks/a", params={"erase": "true"})
    assert (erased.status_code, erased.json()) == (200, {"deleted": 1})
    assert (await client.post("/v1/banks/a/restore")).status_code == 404
    await client.post("/v1/banks/a/memories", json={"content": "Likes coffee"})
    assert (await client.get("/v1/banks/a/memories")).json()["total"] == 1


async def test_a_banks_description_and_settings_change(client: httpx.AsyncClient) -> None:
    words = {"clusters": {"sailing": ["jib", "keel"]}}
    await client.post("/v1/banks", json={"name": "a", "description": "one", "settings": words})
    changed = await client.patch("/v1/banks/a", json={"description": "two"})
    assert changed.json()["description"] == "two"
    assert changed.json()["settings"] == words
    cleared = await client.patch("/v1/banks/a", json={"description": None, "settings": {"clusters": None}})
    assert cleared.json()["description"] == ""
    assert cleared.json()["settings"] == {}


async def test_stats_count_what_is_there(client: httpx.AsyncClient) -> None:
    await client.post("/v1/banks/a/memories", json={"content": "Likes tea"})
    await client.post("/v1/banks/a/entries", json={"entries": [{"content": "näh"}]})
    stats = (await client.get("/v1/banks/a/stats")).json()
    assert stats["records"] == {"entry": 1, "episode": 0, "memory": 1, "document": 0}
    assert stats["total"] == 2
    assert stats["text_bytes"] == len(b"Likes tea") + len("näh".encode())
    assert stats["mean_record_bytes"] == stats["text_bytes"] / 2
    assert stats["pending_consolidation"] == 1
    assert stats["last_consolidation"] is None
    assert stats["oldest"] <= stats["newest"]


async def test_banks_are_listed_page_by_page(client: httpx.AsyncClient) -> None:
    for name in "abcde":
        await client.post("/v1/banks", json={"name": name})
    seen: list[str] = []
    offset: int | None = 0
    while offset is not None:
        page = (await client.get("/v1/banks", params={"limit": 2, "offset": offset})).json()
        seen += [bank["name"] for bank in page["items"]]
        offset = page["next_offset"]
        assert page["total"] == 5
    assert seen == ["a", "b", "c", "d", "e"]


@pytest.mark.parametrize(
    "name",
    [
        "3f2b8c1e-6a0d-4a53-9d7a-0b9f6c2e1d4b",
        "a-b",
        "main",
        "user:42@telegram",
        "日本",
        "x" * 200,
        "two words, one bank",
        "100%",
        "a?b#c&d=e",
        "👩‍👩‍👧",
        "..a",
    ],
)
async def test_t058_scope_ids_of_any_form_are_banks(client: httpx.AsyncClient, name: str) -> None:
    path = f"/v1/banks/{quote(name, safe='')}"
    posted = await client.post(
        f"{path}/entries", json={"entries": [{"content": f"the codeword of {name} is quince", "session_id": name}]}
    )
    assert posted.status_code == 201
    assert (await client.get(path)).json()["name"] == name
    listed = await client.get(f"{path}/entries", params={"session_id": name})
    assert listed.json()["total"] == 1
    found = await client.post(f"{path}/recall", json={"query": "quince", "filters": {"session_id": name}})
    assert [item["id"] for item in found.json()["results"]] == [posted.json()["results"][0]["id"]]
    assert found.json()["results"][0]["session_id"] == name


@pytest.mark.parametrize("name", ["a/b", "a\\b", "a\nb", "a\x00b", "x" * 201, " ", "/", "a/memories"])
async def test_a_name_that_cannot_be_taken_is_400_in_a_path_and_in_a_body(client: httpx.AsyncClient, name: str) -> None:
    in_path = await client.get(f"/v1/banks/{quote(name, safe='')}")
    assert (in_path.status_code, fields_of(in_path)) == (400, ["bank"])
    written = await client.post(f"/v1/banks/{quote(name, safe='')}/memories", json={"content": "Likes tea"})
    assert written.status_code == 400
    in_body = await client.post("/v1/banks", json={"name": name})
    assert in_body.status_code == 400
    assert (await client.get("/v1/banks")).json()["total"] == 0


async def test_an_encoded_slash_never_reaches_another_bank(client: httpx.AsyncClient) -> None:
    await client.post("/v1/banks/a/memories", json={"content": "Likes tea"})
    assert (await client.get("/v1/banks/a%2Fmemories")).status_code == 400
    assert (await client.get("/v1/banks//memories")).status_code == 400
    await client.post("/v1/banks/memories/memories", json={"content": "Likes coffee"})
    assert (await client.delete("/v1/banks//memories")).status_code == 400
    assert (await client.get("/v1/banks/memories")).status_code == 200


def test_a_path_is_decoded_segment_by_segment() -> None:
    assert routable_path(b"/v1/banks/%E6%97%A5/memories") == "/v1/banks/日/memories"
    assert routable_path(b"/") == "/"
    assert routable_path(b"/v1/banks/") == "/v1/banks"
    assert routable_path(b"/v1/banks?x=/y") == "/v1/banks"
    odd = routable_path(b"/v1/banks/a%2Fb/x")
    assert odd.count("/") == 4
    assert segment_text(odd.split("/")[3]) == "a/b"
    assert segment_text(routable_path(b"/v1//x").split("/")[2]) == ""
