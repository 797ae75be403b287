"""
How a request changes a document: from what is there to the next content, or to nothing where all is there already.
"""

from dataclasses import dataclass
from datetime import datetime

from app.domain.documents.appending import addition_to, daily_addition_to, unknown_part
from app.domain.documents.model import Change, Document, Step
from app.domain.documents.paths import day_of
from app.errors import Conflict


@dataclass(frozen=True, slots=True)
class Addition:
    """
    Text to be put at the end of the document at `path`, under `heading` if there is one.

    In a daily log the text gets a section headed by the time of `at` and a category, for which `heading` stands. With
    `only_new`, sections of the text that the document has already are left out. `request_key` names the request, if it
    may be sent again and must not be done again.
    """

    path: str
    text: str
    at: datetime
    heading: str | None = None
    only_new: bool = False
    reason: str | None = None
    request_key: str | None = None


def writing(path: str, present: Document | None, text: str, reason: str | None) -> Step | Document:
    """
    The step to a document whose whole content is `text`; the present one where it is so already.

    Raises:
        Conflict: when a daily log would lose what it has.
    """
    if present is None:
        return Step(Change.CREATED, text, text, reason)
    if present.content == text:
        return present
    if day_of(path) is None:
        return Step(Change.REPLACED, text, text, reason)
    if not text.startswith(present.content):
        raise Conflict(f"{path} only grows: what is written must begin with what is there")
    return Step(Change.APPENDED, text, text[len(present.content) :], reason)


def appending(present: Document | None, addition: Addition) -> Step | Document:
    """
    The step to a document with the addition at its end; the present one where nothing of that is new.

    Raises:
        InvalidInput: when there is no text to add, or its heading cannot be taken.
    """
    before = "" if present is None else present.content
    text = addition.text
    if addition.only_new and present is not None:
        text = unknown_part(before, text)
        if addition.text.strip() and not text.strip():
            return present
    day = day_of(addition.path)
    if day is None:
        added = addition_to(before, text, addition.heading)
    else:
        added = daily_addition_to(before, text, addition.heading, day, addition.at.time())
    if present is None:
        return Step(Change.CREATED, added, added, addition.reason, addition.request_key)
    return Step(Change.APPENDED, before + added, added, addition.reason, addition.request_key)


def removing(reason: str | None) -> Step:
    """
    The step to a document that is no more.
    """
    return Step(Change.DELETED, "", "", reason)
