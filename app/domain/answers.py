"""
Finds in a model's text the one object that was asked for, and says what had to be mended and what was lost.

A model may think aloud, talk around its answer, fence it, leave out the outer object, answer twice, or stop midway.
Nothing it said is dropped without being counted, and no text whatever makes this raise.
"""

import re
from dataclasses import dataclass
from typing import Any, Literal

from app.domain.lenient_json import DEPTH_MAX, decode
from app.domain.mending import Mending
from app.domain.text.legal import legal_text

MISSES_MAX = 32
"""Places at which a value is looked for in vain."""
VALUES_MAX = 200
"""Objects of one answer that are put together."""
WORK_MAX = 4
"""How often a text may be read over while looking; they bound the work on a text that is all brackets."""

_THOUGHT_OPENS = re.compile(r"\s*<(think|thinking|thought|reasoning)>", re.IGNORECASE)
_THOUGHT_CLOSES = re.compile(r"</(think|thinking|thought|reasoning)>", re.IGNORECASE)
_BEGINS = re.compile(
    r"\{(?=\s*(?:[\"'“‘}]|//|[^\W\d]\w*\s*:|$))|\[(?=\s*(?:[\[{\"'“‘\]]|//|$))",
)
_FENCE = re.compile(r"```[\w-]*")

Place = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class AnswerFault:
    """
    What is wrong at one place of an answer: the path there, such as `("memories", 2, "text")`, and the fault in words.
    """

    path: Place
    message: str


@dataclass(frozen=True, slots=True)
class Shape:
    """
    The outline of the object that is asked for: the names of its fields, which of them are lists, and, where it is
    nothing but one list of objects, the names of those objects' fields.
    """

    fields: tuple[str, ...]
    lists: tuple[str, ...] = ()
    element_fields: tuple[str, ...] = ()

    @property
    def only_lists(self) -> bool:
        """
        Whether every field is a list, so that two such objects can be put together.
        """
        return bool(self.lists) and set(self.lists) == set(self.fields)

    @property
    def sole_list(self) -> str | None:
        """
        The one list that the object consists of, which may then come without the object around it.
        """
        return self.lists[0] if self.only_lists and len(self.lists) == 1 else None


@dataclass(frozen=True, slots=True)
class Reading:
    """
    The object that was found, with every list that the shape names; what was mended; how many elements or fields were
    lost. Its values are not checked.
    """

    value: dict[str, Any]
    repairs: tuple[str, ...] = ()
    dropped: int = 0

    @property
    def whole(self) -> bool:
        """
        Whether all that the model said, and was still going to say, is there.
        """
        return self.dropped == 0 and not {"cut", "too_long"} & set(self.repairs)


@dataclass(frozen=True, slots=True)
class Unreadable:
    """
    There is no such object in the text.
    """

    reason: Literal["empty", "null", "only_thought", "no_json", "other_form", "too_deep"]
    detail: str


def read_answer(text: str, shape: Shape, limit: int) -> Reading | Unreadable:
    """
    The object of that shape in a model's text, of which at most `limit` characters are read. Never raises.
    """
    mending = Mending()
    if len(text) > limit:
        mending.note("too_long")
        text = text[:limit]
    bare = text.strip("\ufeff \t\r\n")
    if not bare:
        return Unreadable("empty", "the answer is empty")
    if bare in ("null", "None", '""'):
        return Unreadable("null", "the answer is null")
    found = _found_in(bare, shape, mending)
    if isinstance(found, Unreadable):
        return found
    value = _completed(_combined(found, shape, mending), shape, mending)
    legal = _legal(value, DEPTH_MAX, mending)
    if legal is None:
        return Unreadable("too_deep", f"the answer is nested more than {DEPTH_MAX} deep")
    return Reading(legal, mending.repairs, mending.dropped)


@dataclass(slots=True)
class _Scanned:
    """
    The fitting values of a text in order, whether there was a value at all, and what stands around the fitting ones.
    """

    values: list[Any]
    seen: bool
    around: str
    mending: Mending


def _found_in(text: str, shape: Shape, mending: Mending) -> list[Any] | Unreadable:
    """
    Every value in the text that may be the answer or a part of it, in order.
    """
    opened = _THOUGHT_OPENS.match(text) is not None
    scanned = _Scanned([], False, "", Mending())
    closings = list(_THOUGHT_CLOSES.finditer(text))
    if closings and not (text[0] in "{[" and _is_one_value(text)):
        scanned = _scan(text[closings[-1].end() :], shape)
        if scanned.values:
            mending.note("thought")
    if opened and not scanned.values:
        return Unreadable("only_thought", "the answer holds thoughts and no object after them")
    if not scanned.values:
        scanned = _scan(text, shape)
    if not scanned.values:
        if scanned.seen:
            return Unreadable("other_form", "the answer holds JSON of another form")
        return Unreadable("no_json", "the answer holds no JSON object")
    mending.take_over(scanned.mending)
    if _FENCE.search(scanned.around):
        mending.note("fence")
    if _FENCE.sub("", scanned.around).strip():
        mending.note("prose")
    return scanned.values


def _is_one_value(text: str) -> bool:
    """
    Whether the text is one whole value, so that what looks like the end of a thought is a part of it.
    """
    try:
        return decode(text, 0)[1] == len(text)
    except ValueError:
        return False


def _scan(text: str, shape: Shape) -> _Scanned:
    found = _Scanned([], False, "", Mending())
    place, kept_until, misses, work = 0, 0, 0, 0
    while (begin := _BEGINS.search(text, place)) and misses < MISSES_MAX and work <= WORK_MAX * len(text):
        if len(found.values) == VALUES_MAX:
            found.mending.note("cut")
            found.mending.dropped += 1
            break
        place = begin.start() + 1
        misses += 1
        try:
            value, stop, mended = decode(text, begin.start())
        except ValueError:
            continue
        found.seen = True
        work += stop - begin.start()
        if not _fits(value, shape):
            continue
        misses -= 1
        found.values.append(value)
        found.mending.take_over(mended)
        found.around += text[kept_until : begin.start()]
        place = kept_until = stop
    found.around += text[kept_until:]
    return found


def _fits(value: Any, shape: Shape) -> bool:
    if isinstance(value, dict):
        return not {*shape.fields, *shape.element_fields}.isdisjoint(value)
    if isinstance(value, list):
        if shape.sole_list is not None:
            return not value or any(_is_element(item, shape) for item in value)
        return len(value) == 1 and _fits(value[0], shape)
    return False


def _is_element(item: Any, shape: Shape) -> bool:
    return isinstance(item, dict) and not set(shape.element_fields).isdisjoint(item)


def _combined(values: list[Any], shape: Shape, mending: Mending) -> dict[str, Any]:
    """
    One object of the found values.
    """
    if shape.sole_list is None:
        values = [value[0] if isinstance(value, list) else value for value in values]
    roots = [value for value in values if isinstance(value, dict) and not set(shape.fields).isdisjoint(value)]
    loose = [value for value in values if not any(value is root for root in roots)]
    elements: list[Any] = []
    for value in loose:
        elements += value if isinstance(value, list) else [value]
    if not roots:
        mending.note("bare_list")
        return {shape.lists[0]: elements}
    if elements:
        mending.note("prose")
        mending.dropped += len(elements)
    if len(roots) == 1:
        return roots[0]
    mending.note("several_objects")
    if shape.only_lists:
        return _joined(roots, shape)
    fullest = max(roots, key=lambda root: (len(set(shape.fields) & set(root)), roots.index(root)))
    mending.dropped += sum(root != fullest for root in roots)
    return fullest


def _joined(roots: list[dict[str, Any]], shape: Shape) -> dict[str, Any]:
    """
    The lists of all objects put together, each element once.
    """
    joined: dict[str, Any] = {}
    for root in roots:
        for name, items in root.items():
            if name not in shape.lists:
                joined[name] = items
                continue
            known = joined.setdefault(name, [])
            known += [item for item in (items if isinstance(items, list) else [items]) if item not in known]
    return joined


def _completed(value: dict[str, Any], shape: Shape, mending: Mending) -> dict[str, Any]:
    """
    The object with every list of the shape, and with nothing that the shape does not name.
    """
    found = {}
    for name, item in value.items():
        if name in shape.fields:
            found[name] = item
        elif isinstance(item, (list, dict)) and item:
            mending.note("unknown_field")
            mending.dropped += len(item) if isinstance(item, list) else 1
    for name in shape.lists:
        item = found.get(name)
        if item is None:
            mending.note("null_list" if name in found else "missing_list")
            found[name] = []
        elif isinstance(item, dict):
            mending.note("single_element")
            found[name] = [item]
    return found


def _legal(value: Any, depth: int, mending: Mending) -> Any:
    """
    The value with storable text only; None where it is nested too deeply.
    """
    if isinstance(value, str):
        legal = legal_text(value)
        if legal != value:
            mending.note("escape")
        return legal
    if not isinstance(value, (dict, list)):
        return value
    if depth == 0:
        return None
    inner = value.values() if isinstance(value, dict) else value
    items = [_legal(item, depth - 1, mending) for item in inner]
    if any(item is not None and new is None for item, new in zip(inner, items, strict=True)):
        return None
    if isinstance(value, list):
        return items
    return dict(zip((legal_text(name) for name in value), items, strict=True))
