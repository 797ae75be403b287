"""
The conversations of the demo: two people, each on a channel of their own, each on three days.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from importlib.resources import files

USER, ASSISTANT = "U: ", "A: "


@dataclass(frozen=True, slots=True)
class Person:
    """
    Who speaks with the bot, where, and when the first message was sent.
    """

    name: str
    source: str
    source_id: str
    first_at: datetime


PEOPLE = (
    Person("Ana", "telegram", "1001", datetime(2026, 6, 1, 9, 0, tzinfo=timezone(timedelta(hours=1)))),
    Person("Ben", "discord", "2002", datetime(2026, 6, 1, 7, 30, tzinfo=timezone(timedelta(hours=3)))),
)
NEXT_DAY = timedelta(hours=23)
BETWEEN = timedelta(seconds=40)


def messages(person: Person) -> list[dict[str, str]]:
    """
    What a person and the bot said to each other, in order, as entries to post.

    Raises:
        ValueError: when a line of the talk is of neither.
    """
    lines = files("demo.talks").joinpath(f"{person.name.lower()}.txt").read_text(encoding="utf-8").splitlines()
    said_at = person.first_at
    found: list[dict[str, str]] = []
    for line in lines:
        if not line:
            said_at += NEXT_DAY
            continue
        if not line.startswith((USER, ASSISTANT)):
            raise ValueError(f"{person.name}: {line!r} is said by nobody")
        entry = {
            "content": line[len(USER) :],
            "role": "user" if line.startswith(USER) else "assistant",
            "timestamp": said_at.isoformat(),
            "source": person.source,
            "source_id": person.source_id,
            "message_id": f"{person.name.lower()}-{len(found) + 1}",
        }
        if entry["role"] == "user":
            entry["name"] = person.name
        found.append(entry)
        said_at += BETWEEN
    return found
