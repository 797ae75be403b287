"""
Short ways to speak to the HTTP interface.
"""

from typing import Any

import httpx


async def save(client: httpx.AsyncClient, bank: str, content: str, **fields: Any) -> dict[str, Any]:
    """
    Save one memory that is new to the bank.
    """
    answer = await client.post(f"/v1/banks/{bank}/memories", json={"content": content, **fields})
    assert answer.status_code == 201, answer.text
    saved: dict[str, Any] = answer.json()
    return saved


async def say(client: httpx.AsyncClient, bank: str, *contents: str, **fields: Any) -> list[dict[str, Any]]:
    """
    Post entries that share their other fields.
    """
    entries = [{"content": content, **fields} for content in contents]
    answer = await client.post(f"/v1/banks/{bank}/entries", json={"entries": entries})
    assert answer.status_code == 201, answer.text
    results: list[dict[str, Any]] = answer.json()["results"]
    return results


async def recall(client: httpx.AsyncClient, bank: str, query: str, **fields: Any) -> dict[str, Any]:
    """
    Recall.
    """
    answer = await client.post(f"/v1/banks/{bank}/recall", json={"query": query, **fields})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def recalled(client: httpx.AsyncClient, bank: str, query: str, **fields: Any) -> list[str]:
    """
    The texts that a recall finds, without counting the access unless told to.
    """
    found = await recall(client, bank, query, **{"record_access": False, **fields})
    return [item["text"] for item in found["results"]]


async def context(client: httpx.AsyncClient, bank: str, query: str, **fields: Any) -> dict[str, Any]:
    """
    Assemble a context.
    """
    answer = await client.post(f"/v1/banks/{bank}/context", json={"query": query, **fields})
    assert answer.status_code == 200, answer.text
    assembled: dict[str, Any] = answer.json()
    return assembled


async def listed(client: httpx.AsyncClient, bank: str, **params: Any) -> list[dict[str, Any]]:
    """
    The memories of a bank, newest first.
    """
    answer = await client.get(f"/v1/banks/{bank}/memories", params=params)
    assert answer.status_code == 200, answer.text
    items: list[dict[str, Any]] = answer.json()["items"]
    return items
