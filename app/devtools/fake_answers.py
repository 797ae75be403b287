"""
The fake model's answers: for each task, an object of the right form made of nothing but the data in the prompt.
"""

import json
import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

from app.devtools.fake_statements import category_of, dated_text, names, pending, sentences, statements
from app.domain.text.shorten import summarise

Records = list[dict[str, Any]]
Answer = dict[str, Any]

SUMMARY_SENTENCES = 8
TEXT_MAX = 200

_DATA = re.compile(r"<<<DATA (\w+)\n(.*?)\nDATA \1>>>", re.DOTALL)
_TASK = re.compile(r"^# Task: (\w+)", re.MULTILINE)
_HAPPY = re.compile(r"\b(?:thanks?|great|love|nice|perfect)\b|!", re.IGNORECASE)
_CROSS = re.compile(r"\b(?:hate|broken|annoy\w*|angry|again)\b", re.IGNORECASE)
_IS = re.compile(r"^(.+?) (?:is|are|lives in|works at|works as|runs on|moved to) (.+?)\.?$")
_PROFILE = re.compile(r"^[A-Z][\w']* (?:is|likes|loves|hates|prefers|lives|works|has|wants|enjoys)\b")
_RULE_LIKE = re.compile(r"^(?:always|never|stop|don't|do not)\b", re.IGNORECASE)


def task_of(system: str) -> str | None:
    """
    The task that the instructions name.
    """
    found = _TASK.search(system)
    return None if found is None else found[1]


def records_in(prompt: str) -> Records:
    """
    The data between the fences of a prompt.
    """
    found = _DATA.search(prompt)
    return [] if found is None else [json.loads(line) for line in found[2].splitlines() if line]


def answer(task: str | None, records: Records) -> Answer:
    """
    The answer of a task to its data; an empty object for a task that is not known, or where there is no data.
    """
    known = _BY_TASK.get(task or "")
    return {} if known is None or not records else known(records)


def _structure(records: Records) -> Answer:
    record = records[0]
    text = " ".join(record["text"].split())
    found = list(statements(text, record.get("speaker"), _at(record)))
    content = " ".join(item.text for item in found) or dated_text(text, _at(record).date())[0]
    return {
        "content": content[:2000],
        "summary": summarise(content),
        "category": found[0].category if found else category_of(content),
        "confidence": 1 if found else 0.8,
        "tags": [],
        "entities": names(content),
    }


def _extract(records: Records) -> Answer:
    memories = []
    for record in records:
        if record["role"] != "user":
            continue
        memories += [
            {
                "kind": item.kind,
                "text": item.text[:TEXT_MAX],
                "category": item.category,
                "confidence": "extracted",
                "entities": list(item.entities),
                "tags": [],
                "occurred": item.occurred,
                "sources": [record["n"]],
            }
            for item in statements(record["text"], record.get("speaker"), _at(record))
        ]
    return {"memories": memories}


def _episode(records: Records) -> Answer:
    said = [record for record in records if record["role"] in ("user", "assistant")]
    people = list(dict.fromkeys(record.get("speaker") or record["role"] for record in said))
    first, last = _at(records[0]), _at(records[-1])
    found = [
        item
        for record in said
        if record["role"] == "user"
        for item in statements(record["text"], record.get("speaker"), _at(record))
    ]
    gist = [
        f"{record.get('speaker') or 'The user'} said: {sentences(record['text'])[0]}"
        for record in said
        if record["role"] == "user" and sentences(record["text"])
    ]
    span = first.date().isoformat() if first.date() == last.date() else f"{first.date()} to {last.date()}"
    texts = " ".join(record["text"] for record in said)
    return {
        "summary": f"{', '.join(people)} talked on {span}. " + " ".join(gist[:SUMMARY_SENTENCES]),
        "facts": _lines([item.text for item in found if item.kind == "memory"]),
        "pending": _lines([line for record in said for line in pending(record["text"], _at(record))]),
        "tone": "annoyed" if _CROSS.search(texts) else "friendly" if _HAPPY.search(texts) else "neutral",
        "preferences": _lines([item.text for item in found if item.category == "preference"]),
        "confidence": 0.8,
    }


def _judge(records: Records) -> Answer:
    promotions = [
        {"id": record["id"], "rule": record["text"], "reason": f"observed {record['times_observed']} times"}
        for record in records
        if record["offered"] == "candidate" and _RULE_LIKE.match(record["text"])
    ]
    contradictions = []
    newest: dict[str, dict[str, Any]] = {}
    memories = sorted((record for record in records if record["offered"] == "memory"), key=lambda item: item["said"])
    for record in memories:
        stated = _IS.match(record["text"])
        if stated is None:
            continue
        before = newest.get(stated[1].lower())
        if before is not None and before["text"] != record["text"]:
            contradictions.append({"older": before["id"], "newer": record["id"], "reason": f"{stated[1]} changed"})
        newest[stated[1].lower()] = record
    return {"merge_groups": [], "promotions": promotions, "contradictions": contradictions}


def _reflect(records: Records) -> Answer:
    episodes = [record for record in records if record["data"] == "episode"]
    known = " ".join(record["text"] for record in records if record["data"] == "notebook")
    lines = [line for episode in episodes for line in sentences(episode["text"]) if _PROFILE.match(line)]
    fresh = _lines([line for line in lines if line not in known])
    days = sorted({episode["from"][:10] for episode in episodes})
    return {
        "journal": f"{len(episodes)} conversations, the last on {days[-1]}." if days else "",
        "learning": [
            {
                "topic": "Conversations",
                "facts": fresh[:3],
                "resources": [],
                "when_to_use": "When these people write again.",
            }
        ]
        if fresh
        else [],
        "profile": fresh,
    }


def _lines(texts: list[str]) -> list[str]:
    return [text[:500] for text in dict.fromkeys(texts)][:20]


def _at(record: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(record["at"])


_BY_TASK: dict[str, Callable[[Records], Answer]] = {
    "structure": _structure,
    "extract": _extract,
    "episode": _episode,
    "judge": _judge,
    "reflect": _reflect,
}
