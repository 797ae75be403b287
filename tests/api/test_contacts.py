"""
Contacts over HTTP, and what a conversation's scope lets into its context.
"""

from typing import Any
from urllib.parse import quote

import httpx
import pytest

from tests.api.serving import fields_of, serving

BANK = "/v1/banks/a"
IDS = [
    "2f1c9a0e-7f4b-4a53-9f0e-2b7d6f3f1c11",
    "a-b",
    "main",
    "user:42@telegram",
    "日本",
    "x" * 200,
    "two words",
    "a/b%c",
]


def path_of(jid: str) -> str:
    return f"{BANK}/contacts/{quote(jid, safe='')}"


async def say(client: httpx.AsyncClient, content: str, source: str, source_id: str, **fields: Any) -> str:
    entry = {"content": content, "source": source, "source_id": source_id, **fields}
    answer = await client.post(f"{BANK}/entries", json={"entries": [entry]})
    assert answer.status_code == 201, answer.text
    entry_id: str = answer.json()["results"][0]["id"]
    return entry_id


async def context(client: httpx.AsyncClient, query: str = "the plan", **fields: Any) -> dict[str, Any]:
    answer = await client.post(f"{BANK}/context", json={"query": query, "budget": {"tokens": 2000}, **fields})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def test_b45_a_contact_comes_with_its_first_message_and_is_kept_up_to_date(client: httpx.AsyncClient) -> None:
    first = {"name": "Ana", "message_type": "text", "timestamp": "2026-11-30T09:00:00+01:00"}
    await say(client, "hello", "telegram", "123", **first)
    await say(client, "hi Ana", "telegram", "123", role="assistant", timestamp="2026-11-30T10:00:00+01:00")
    await say(client, "older", "telegram", "123", message_type="voice", timestamp="2026-11-29T09:00:00+01:00")
    contact = (await client.get(f"{BANK}/contacts/telegram:123")).json()
    created, updated = contact.pop("created_at"), contact.pop("last_updated")
    assert created <= updated
    assert contact == {
        "jid": "telegram:123",
        "display_name": "Ana",
        "identity": {"primary": "telegram:123", "aliases": []},
        "platform": "telegram",
        "platform_ids": {"telegram": ["123"]},
        "last_seen_at": "2026-11-30T09:00:00+01:00",
        "last_message_type": "text",
        "metadata": {},
    }
    await say(client, "newer", "telegram", "123", message_type="voice", name="Ann", timestamp="2026-12-01T00:00:00Z")
    contact = (await client.get(f"{BANK}/contacts/telegram:123")).json()
    assert (contact["last_message_type"], contact["display_name"]) == ("voice", "Ana")
    assert (await client.get(f"{BANK}/contacts/telegram:124")).status_code == 404


async def test_d31_what_is_written_of_a_contact_is_read_there(client: httpx.AsyncClient) -> None:
    profile = {"display_name": "Ana", "metadata": {"notes": ["likes tea"]}}
    assert (await client.put(f"{BANK}/contacts/whatsapp:+1555", json=profile)).status_code == 201
    await say(client, "hello", "whatsapp", "+1555", name="anna")
    contact = (await client.get(path_of("whatsapp:+1555"))).json()
    assert (contact["display_name"], contact["metadata"]) == ("Ana", {"notes": ["likes tea"]})
    assert contact["last_seen_at"] is not None
    again = await client.put(path_of("whatsapp:+1555"), json={"display_name": None})
    assert (again.status_code, again.json()["display_name"], again.json()["metadata"]) == (
        200, None, {"notes": ["likes tea"]},
    )  # fmt: skip


@pytest.mark.parametrize("contact_id", ["@ann:matrix.org", *IDS])
async def test_d35_t058_an_id_is_kept_whatever_signs_it_holds(client: httpx.AsyncClient, contact_id: str) -> None:
    await say(client, f"the plan of {len(contact_id)}", "matrix", contact_id)
    await say(client, "the plan of somebody else", "matrix", f"{contact_id}x")
    contact = (await client.get(path_of(f"matrix:{contact_id}"))).json()
    assert (contact["platform"], contact["platform_ids"]) == ("matrix", {"matrix": [contact_id]})
    assert contact["jid"] == f"matrix:{contact_id}"
    (entry,) = (await client.get(f"{BANK}/entries", params={"source_id": contact_id})).json()["items"]
    assert entry["source_id"] == contact_id
    shown = await context(client, source="matrix", source_id=contact_id)
    assert shown["scope"] == f"scope:channel-peer:matrix:{contact_id}"
    assert f"the plan of {len(contact_id)}" in shown["text"]
    assert "somebody else" not in shown["text"]


async def test_d35_a_colon_in_the_platform_is_no_other_contact(client: httpx.AsyncClient) -> None:
    await say(client, "one", "a:b", "c")
    await say(client, "other", "a", "b:c")
    listed = (await client.get(f"{BANK}/contacts")).json()
    assert {item["jid"] for item in listed["items"]} == {"a%3Ab:c", "a:b:c"}
    assert (await client.get(path_of("a%3Ab:c"))).json()["platform"] == "a:b"
    only = (await client.get(f"{BANK}/contacts", params={"platform": "a"})).json()
    assert [item["jid"] for item in only["items"]] == ["a:b:c"]


@pytest.mark.parametrize(
    ("jid", "body", "fields"),
    [
        ("telegram", {}, ["jid"]),
        (":5", {}, ["jid"]),
        ("telegram:" + "x" * 600, {}, ["jid"]),
        ("telegram:5", {"display_name": 5, "colour": "red"}, ["colour", "display_name"]),
        ("telegram:5", {"display_name": " ", "last_message_type": "x" * 65}, ["display_name", "last_message_type"]),
        ("telegram:5", {"last_seen_at": "yesterday"}, ["last_seen_at"]),
    ],
)
async def test_a_bad_contact_is_refused_by_name(
    client: httpx.AsyncClient, jid: str, body: dict[str, Any], fields: list[str]
) -> None:
    answer = await client.put(path_of(jid), json=body)
    assert answer.status_code == 400, answer.text
    assert sorted(fields_of(answer)) == fields
    assert (await client.get(f"{BANK}/contacts")).status_code == 404


async def test_b41_linked_addresses_are_one_person(client: httpx.AsyncClient) -> None:
    await say(client, "hello", "telegram", "123", timestamp="2026-11-30T09:00:00Z")
    await say(client, "hello again", "whatsapp", "+1", timestamp="2026-11-29T09:00:00Z")
    linked = (await client.post(f"{BANK}/contacts/telegram:123/links", json={"alias": "whatsapp:+1"})).json()
    assert linked["identity"] == {
        "primary": "telegram:123",
        "aliases": [{"platform": "whatsapp", "id": "+1", "seen_at": "2026-11-29T09:00:00Z"}],
    }
    assert linked["platform_ids"] == {"telegram": ["123"], "whatsapp": ["+1"]}
    other = (await client.get(path_of("whatsapp:+1"))).json()
    assert (other["identity"]["primary"], other["identity"]["aliases"][0]["id"]) == ("telegram:123", "123")
    await client.post(f"{BANK}/contacts/telegram:123/links", json={"alias": "signal:new"})
    assert (await client.get(path_of("signal:new"))).json()["last_seen_at"] is None
    left = (await client.delete(f"{path_of('telegram:123')}/links/{quote('whatsapp:+1', safe='')}")).json()
    assert [item["platform"] for item in left["identity"]["aliases"]] == ["signal"]
    gone = await client.delete(f"{path_of('telegram:123')}/links/signal:new")
    assert gone.json()["identity"] == {"primary": "telegram:123", "aliases": []}
    assert (await client.delete(f"{path_of('telegram:123')}/links/signal:new")).status_code == 404


async def test_b41_addresses_go_under_a_persons_name(client: httpx.AsyncClient) -> None:
    for source, source_id in (("telegram", "123"), ("whatsapp", "+1"), ("signal", "9")):
        await say(client, "hello", source, source_id)
    for jid in ("telegram:123", "whatsapp:+1"):
        named = await client.post(f"{path_of(jid)}/links", json={"alias": "user-alice"})
        assert named.json()["identity"]["primary"] == "user-alice"
    await client.post(f"{path_of('signal:9')}/links", json={"alias": "user-bob"})
    clash = await client.post(f"{path_of('signal:9')}/links", json={"alias": "telegram:123"})
    assert clash.status_code == 409
    apart = await client.delete(f"{path_of('whatsapp:+1')}/links/user-alice")
    assert apart.json()["identity"] == {"primary": "whatsapp:+1", "aliases": []}
    for alias in ("telegram:123", "", ":x"):
        answer = await client.post(f"{path_of('telegram:123')}/links", json={"alias": alias})
        assert (answer.status_code, fields_of(answer)) == (400, ["alias"])
    assert (await client.post(f"{path_of('telegram:0')}/links", json={"alias": "x"})).status_code == 404


async def conversations(client: httpx.AsyncClient) -> dict[str, str]:
    """
    What three contacts said, of whom the first two are one person; each text with its marker.
    """
    said = {"telegram:1": "apricots", "whatsapp:1": "bananas", "telegram:2": "cherries"}
    for jid, fruit in said.items():
        source, source_id = jid.split(":")
        await say(client, f"the plan is about {fruit}", source, source_id, session_id=f"s-{fruit}")
    await client.post(f"{BANK}/contacts/telegram:1/links", json={"alias": "whatsapp:1"})
    await client.post(f"{BANK}/memories", json={"content": "The plan was made by the whole team"})
    return said


@pytest.mark.parametrize(
    ("mode", "scope", "seen"),
    [
        ("per-channel-peer", "scope:channel-peer:telegram:1", {"apricots"}),
        ("per-peer", "scope:peer:telegram:1", {"apricots", "bananas"}),
        ("main", "scope:main", {"apricots", "bananas", "cherries"}),
    ],
)
async def test_b40_b41_b42_a_context_holds_what_its_scope_lets_through(
    client: httpx.AsyncClient, mode: str, scope: str, seen: set[str]
) -> None:
    said = await conversations(client)
    if mode != "per-channel-peer":
        assert (await client.patch(BANK, json={"settings": {"scope": mode}})).status_code == 200
    shown = await context(client, source="telegram", source_id="1")
    assert shown["scope"] == scope
    assert {fruit for fruit in said.values() if fruit in shown["text"]} == seen
    assert "whole team" in shown["text"]
    recent = await context(client, source="telegram", source_id="1", sections=["recent"])
    assert {fruit for fruit in said.values() if fruit in recent["text"]} == seen


async def test_b41_a_linked_persons_scope_is_the_same_from_either_address(client: httpx.AsyncClient) -> None:
    await conversations(client)
    await client.patch(BANK, json={"settings": {"scope": "per-peer"}})
    one = await context(client, source="telegram", source_id="1")
    other = await context(client, source="whatsapp", source_id="1")
    alone = await context(client, source="telegram", source_id="2")
    assert one["scope"] == other["scope"] == "scope:peer:telegram:1"
    assert alone["scope"] == "scope:peer:telegram:2"
    assert "apricots" not in alone["text"]


async def test_d25_t077_two_people_asking_at_once_never_see_each_other(client: httpx.AsyncClient) -> None:
    await conversations(client)
    for _ in range(2):
        one = await context(client, source="telegram", source_id="1")
        other = await context(client, source="telegram", source_id="2")
        assert "cherries" not in one["text"]
        assert "apricots" not in other["text"]
        assert "apricots" in one["text"]
        assert "cherries" in other["text"]


@pytest.mark.parametrize(
    ("fields", "missing"), [({"source": "telegram"}, "source_id"), ({"source_id": "1", "session_id": "s"}, "source")]
)
async def test_t013_t074_half_a_scope_is_an_error_and_never_everything(
    client: httpx.AsyncClient, fields: dict[str, str], missing: str
) -> None:
    await conversations(client)
    answer = await client.post(f"{BANK}/context", json={"query": "the plan", **fields})
    assert (answer.status_code, fields_of(answer)) == (400, [missing])
    assert "cherries" not in answer.text


async def test_t013_a_session_is_read_without_its_contact(client: httpx.AsyncClient) -> None:
    await conversations(client)
    shown = await context(client, session_id="s-bananas", sections=["recent"])
    assert "bananas" in shown["text"]
    assert "apricots" not in shown["text"]


async def test_t074_a_context_must_name_its_conversation_where_that_is_wanted(tmp_path: Any) -> None:
    async with serving(tmp_path, scopes={"required": True}) as served:
        await conversations(served.client)
        answer = await served.client.post(f"{BANK}/context", json={"query": "the plan"})
        assert (answer.status_code, fields_of(answer)) == (400, ["source"])


async def test_b42_a_bad_scope_setting_is_refused_by_name(client: httpx.AsyncClient) -> None:
    answer = await client.post("/v1/banks", json={"name": "b", "settings": {"scope": "everyone"}})
    assert (answer.status_code, fields_of(answer)) == (400, ["settings.scope"])
