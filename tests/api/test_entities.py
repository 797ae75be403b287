"""
Entities over HTTP.
"""

from typing import Any

import httpx
import pytest

from tests.api.serving import fields_of

BANK = "/v1/banks/a"


async def save(client: httpx.AsyncClient, content: str, **fields: Any) -> str:
    answer = await client.post(f"{BANK}/memories", json={"content": content, **fields})
    assert answer.status_code in {200, 201}, answer.text
    memory_id: str = answer.json()["id"]
    return memory_id


async def say(client: httpx.AsyncClient, content: str, **fields: Any) -> str:
    answer = await client.post(f"{BANK}/entries", json={"entries": [{"content": content, **fields}]})
    assert answer.status_code == 201, answer.text
    entry_id: str = answer.json()["results"][0]["id"]
    return entry_id


async def found(client: httpx.AsyncClient, q: str) -> dict[str, Any]:
    """
    The one entity that a search finds, whole.
    """
    (item,) = (await client.get(f"{BANK}/entities", params={"q": q})).json()["items"]
    whole: dict[str, Any] = (await client.get(f"{BANK}/entities/{item['id']}")).json()
    return whole


async def names(client: httpx.AsyncClient, **params: str) -> list[str]:
    items = (await client.get(f"{BANK}/entities", params=params)).json()["items"]
    return [item["name"] for item in items]


async def test_t025_one_name_in_four_sessions_is_one_entity(client: httpx.AsyncClient) -> None:
    said = [
        await say(client, "The DGIA called again", session_id="s1"),
        await say(client, "Who works for DGIA?", session_id="s2"),
        await save(client, "A letter from the DGIA came", session_id="s3"),
        await say(client, "something about dgia, I forgot", session_id="s4"),
    ]
    entity = await found(client, "dgia")
    assert entity["name"] == "DGIA"
    assert entity["id"].startswith("obj-")
    assert len(entity["id"]) == 20
    assert entity["mentions"] == 4
    assert {record["id"] for record in entity["records"]} == set(said)
    assert (await client.get(f"{BANK}/entities/{entity['id']}", params={"limit": 1})).json()["mentions"] == 4


async def test_t04_a_memory_states_relations_with_itself_as_their_source(client: httpx.AsyncClient) -> None:
    memory_id = await save(client, "Ana works at Acme.", occurred_at="2026-05-01T00:00:00Z")
    ana = await found(client, "ana")
    acme = await found(client, "acme")
    assert (ana["name"], ana["type"], acme["name"], acme["type"]) == ("Ana", "person", "Acme", "organisation")
    (relation,) = ana["relations"]
    assert relation == {
        "subject": {"id": ana["id"], "name": "Ana"},
        "predicate": "WORKS_AT",
        "object": {"id": acme["id"], "name": "Acme"},
        "sources": [memory_id],
        "valid_from": "2026-05-01T00:00:00Z",
        "valid_to": None,
    }
    assert acme["relations"] == ana["relations"]
    assert await names(client, type="person") == ["Ana"]


@pytest.mark.parametrize("way", ["delete", "purge", "supersede", "amend"])
async def test_t073_what_only_one_record_states_goes_with_it(client: httpx.AsyncClient, way: str) -> None:
    first = await save(client, "Ana works at Acme.")
    second = await save(client, "Ana lives in Lisbon.")
    other = await save(client, "Ana lives in Lisbon. She likes it there.")
    ana = await found(client, "ana")
    stated = {"nickname": {"value": "Annie", "source": first}, "city": {"value": "Lisbon", "source": second}}
    await client.patch(f"{BANK}/entities/{ana['id']}", json={"attributes": stated})
    for memory_id in (first, second):
        path = f"{BANK}/memories/{memory_id}"
        match way:
            case "supersede":
                await client.post(f"{path}/supersede", json={"by": other})
            case "amend":
                answer = await client.patch(path, json={"content": f"Ana was mentioned in {memory_id}"})
                assert answer.status_code == 200
            case _:
                await client.delete(path, params={"purge": "true"} if way == "purge" else {})
    ana = await found(client, "ana")
    assert ana["attributes"] == []
    assert [(item["predicate"], item["sources"]) for item in ana["relations"]] == [("LIVES_IN", [other])]
    if way != "amend":
        assert await names(client, q="acme") == []


async def test_t04_an_entity_that_nothing_names_any_more_goes(client: httpx.AsyncClient) -> None:
    memory_id = await save(client, "We met Zanzibarquince in Lisbon")
    await say(client, "Then Zorro met Lisbon folks", action_id="act")
    assert await names(client) == ["Lisbon", "Zanzibarquince", "Zorro"]
    await client.delete(f"{BANK}/memories/{memory_id}", params={"purge": "true"})
    assert "Zanzibarquince" not in await names(client)
    await client.delete(f"{BANK}/entries", params={"action_id": "act"})
    assert await names(client) == []


async def test_t04_two_names_that_a_person_joins_are_asked_for_as_one(client: httpx.AsyncClient) -> None:
    await save(client, "Dinner with Robert on the roof", entities=["robert"])
    await save(client, "Bob bakes bread", entities=["bob"])
    bob, robert = await found(client, "bob"), await found(client, "robert")

    async def entity_hits(query: str) -> dict[str, float]:
        body = {"query": query, "explain": True, "record_access": False}
        results = (await client.post(f"{BANK}/recall", json=body)).json()["results"]
        return {item["text"]: item["explain"]["entity"] for item in results if item["explain"]["entity"]}

    assert set(await entity_hits("what about bob")) == {"Bob bakes bread"}
    merged = (await client.post(f"{BANK}/entities/{bob['id']}/merge", json={"into": robert["id"]})).json()
    assert (merged["id"], merged["name"], merged["aliases"], merged["mentions"]) == (robert["id"], "Robert", ["Bob"], 2)
    assert (await client.get(f"{BANK}/entities/{bob['id']}")).status_code == 404
    both = await entity_hits("what about bob")
    assert set(both) == {"Bob bakes bread", "Dinner with Robert on the roof"}
    assert len(set(both.values())) == 1
    assert await entity_hits("what about robert") == both

    apart = (await client.post(f"{BANK}/entities/{robert['id']}/unmerge", json={"alias": "BOB"})).json()
    assert (apart["name"], apart["aliases"], apart["mentions"]) == ("Bob", [], 1)
    assert set(await entity_hits("what about bob")) == {"Bob bakes bread"}


async def test_t04_what_was_stated_under_a_name_goes_with_it_and_comes_back(client: httpx.AsyncClient) -> None:
    await save(client, "Robert lives in Porto.")
    await save(client, "Bob works at Acme.")
    bob, robert = await found(client, "bob"), await found(client, "robert")
    await client.patch(f"{BANK}/entities/{bob['id']}", json={"attributes": {"shoe size": "44"}})
    merged = (await client.post(f"{BANK}/entities/{bob['id']}/merge", json={"into": robert["id"]})).json()
    assert {item["predicate"] for item in merged["relations"]} == {"LIVES_IN", "WORKS_AT"}
    assert {item["subject"]["id"] for item in merged["relations"]} == {robert["id"]}
    assert [item["value"] for item in merged["attributes"]] == ["44"]
    apart = (await client.post(f"{BANK}/entities/{robert['id']}/unmerge", json={"alias": "bob"})).json()
    assert [item["predicate"] for item in apart["relations"]] == ["WORKS_AT"]
    assert [item["value"] for item in apart["attributes"]] == ["44"]
    left = await found(client, "robert")
    assert [item["predicate"] for item in left["relations"]] == ["LIVES_IN"]


async def test_t04_a_person_corrects_an_entity(client: httpx.AsyncClient) -> None:
    memory_id = await save(client, "Ana works at Acme.")
    ana = await found(client, "ana")
    path = f"{BANK}/entities/{ana['id']}"
    changes = {
        "name": "Ana Silva",
        "type": "person",
        "aliases": ["Annie"],
        "attributes": {"birthday": {"value": "2 May", "valid_from": "1990-05-02T00:00:00Z"}, "eyes": "green"},
        "relations": [{"predicate": "INTERESTED_IN", "object": "sailing"}],
    }
    changed = (await client.patch(path, json=changes)).json()
    assert (changed["name"], changed["aliases"], changed["mentions"]) == ("Ana Silva", ["Ana", "Annie"], 1)
    assert {item["name"]: item["value"] for item in changed["attributes"]} == {"birthday": "2 May", "eyes": "green"}
    (relation,) = changed["relations"]
    assert (relation["predicate"], relation["object"], relation["sources"]) == (
        "INTERESTED_IN",
        {"id": None, "name": "sailing"},
        [],
    )
    changed = (await client.patch(path, json={"attributes": {"eyes": None}})).json()
    assert [item["name"] for item in changed["attributes"]] == ["birthday"]

    # What a person struck out does not come back because the memory is confirmed.
    assert (await client.post(f"{BANK}/memories", json={"content": "Ana works at Acme."})).json()["id"] == memory_id
    assert [item["predicate"] for item in (await found(client, "annie"))["relations"]] == ["INTERESTED_IN"]
    entry = await say(client, "annie called")
    assert entry in {record["id"] for record in (await found(client, "annie"))["records"]}


async def test_an_alias_that_is_taken_away_names_somebody_else(client: httpx.AsyncClient) -> None:
    await save(client, "Bob bakes bread", entities=["bob"])
    bob = await found(client, "bob")
    path = f"{BANK}/entities/{bob['id']}"
    await client.patch(path, json={"name": "Robert", "aliases": ["Rob"]})
    assert (await found(client, "robert"))["aliases"] == ["Bob", "Rob"]
    await client.patch(path, json={"aliases": []})
    assert await names(client) == ["Bob", "Robert"]
    assert (await found(client, "bob"))["mentions"] == 1


async def test_a_name_of_another_entity_is_refused_and_nothing_changes(client: httpx.AsyncClient) -> None:
    await save(client, "Ana works at Acme.")
    ana, acme = await found(client, "ana"), await found(client, "acme")
    path = f"{BANK}/entities/{ana['id']}"
    for changes in ({"name": "ACME"}, {"type": "person", "aliases": ["x", "Acme"]}):
        assert (await client.patch(path, json=changes)).status_code == 409
    assert await found(client, "ana") == ana
    assert await found(client, "acme") == acme


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"name": " "}, ["name"]),
        ({"name": "!!"}, ["name"]),
        ({"name": "x" * 201}, ["name"]),
        ({"type": "robot"}, ["type"]),
        ({"aliases": ["ok", ""]}, ["aliases[1]"]),
        ({"relations": [{"predicate": "works at", "object": "Acme"}]}, ["relations[0].predicate"]),
        ({"relations": [{"predicate": "KNOWS", "object": "Ana"}]}, ["relations[0].object"]),
        ({"relations": [{"predicate": "KNOWS", "object": "Ben", "source": "mem-0"}]}, ["relations[0].source"]),
        ({"attributes": {"eyes": {"value": "green", "source": "mem-0"}}}, ["attributes.eyes.source"]),
        ({"attributes": {"eyes": 5}}, ["attributes.eyes"]),
        ({"colour": "red"}, ["colour"]),
        (
            {
                "attributes": {
                    "eyes": {"value": "x", "valid_from": "2026-01-02T00:00:00Z", "valid_to": "2026-01-01T00:00:00Z"}
                }
            },
            ["attributes.eyes.valid_to"],
        ),
    ],
)
async def test_a_bad_change_is_refused_by_name(
    client: httpx.AsyncClient, changes: dict[str, Any], fields: list[str]
) -> None:
    await save(client, "Ana works at Acme.")
    ana = await found(client, "ana")
    answer = await client.patch(f"{BANK}/entities/{ana['id']}", json=changes)
    assert answer.status_code == 400, answer.text
    assert fields_of(answer) == fields
    assert await found(client, "ana") == ana


async def test_a_join_that_cannot_be_is_refused_by_name(client: httpx.AsyncClient) -> None:
    await save(client, "Ana works at Acme.")
    ana = await found(client, "ana")
    path = f"{BANK}/entities/{ana['id']}"
    itself = await client.post(f"{path}/merge", json={"into": ana["id"]})
    assert (itself.status_code, fields_of(itself)) == (400, ["into"])
    assert (await client.post(f"{path}/merge", json={"into": "obj-0"})).status_code == 404
    for alias in ("acme", "ana"):
        answer = await client.post(f"{path}/unmerge", json={"alias": alias})
        assert (answer.status_code, fields_of(answer)) == (400, ["alias"])
    answer = await client.get(f"{BANK}/entities", params={"type": "robot"})
    assert (answer.status_code, fields_of(answer)) == (400, ["type"])


async def test_an_entity_is_forgotten_and_its_records_stay(client: httpx.AsyncClient) -> None:
    memory_id = await save(client, "Ana works at Acme.")
    ana = await found(client, "ana")
    assert (await client.delete(f"{BANK}/entities/{ana['id']}")).status_code == 204
    assert (await client.delete(f"{BANK}/entities/{ana['id']}")).status_code == 404
    assert (await found(client, "acme"))["relations"] == []
    assert (await client.get(f"{BANK}/memories/{memory_id}")).json()["entities"] == ["acme", "ana"]


async def test_t34_t21_the_figures_of_a_bank_count_entities_contacts_and_sizes(client: httpx.AsyncClient) -> None:
    await save(client, "Ana works at Acme.")
    await say(client, "hello", source="telegram", source_id="42")
    stats = (await client.get(f"{BANK}/stats")).json()
    assert (stats["entities"], stats["contacts"], stats["vectors"]) == (2, 1, 0)
    assert stats["mean_record_bytes"] == (len("Ana works at Acme.") + len("hello")) / 2


async def test_entities_are_listed_page_by_page_exact_names_first(client: httpx.AsyncClient) -> None:
    await save(client, "notes", entities=["ana", "ana maria", "dana", "zoe"])
    assert await names(client, q="ANA") == ["ana", "ana maria", "dana"]
    page = (await client.get(f"{BANK}/entities", params={"limit": 3})).json()
    assert (page["total"], page["next_offset"], len(page["items"])) == (4, 3, 3)
    assert await names(client, q="%") == []
