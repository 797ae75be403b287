"""
The fake model's script: which call is to be slow, fail, or be answered badly, and in which of the known ways.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

REPETITION = "ha" * 524_288
"""1 MiB of the same syllable."""
INVENTED_ID = "mem-00000000000000ff"
INVENTED_NUMBER = 9999

Lack = Literal["responses", "schema", "json", "output_config"]


class Step(BaseModel):
    """
    What is to happen to some calls: those of `task` (any, if unset) whose text holds `contains`, after the first `skip`
    of them, `times` times (for ever, if unset). The first step that fits a call is taken.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    task: str | None = None
    contains: str | None = None
    skip: int = Field(0, ge=0)
    times: int | None = Field(None, ge=0)
    sleep_s: float = Field(0.0, ge=0.0, le=3600.0)
    """Seconds before the answer."""
    status: int | None = Field(None, ge=400, le=599)
    """Answer with this error."""
    retry_after: str | None = None
    """The error's Retry-After, word for word."""
    code: str | None = None
    """The error's code."""
    drop: bool = False
    """Close the connection without an answer."""
    text: str | None = None
    """Answer exactly this."""
    raw: str | None = None
    """Answer with this body instead of an answer of the API."""
    broken: str | None = None
    """Answer rightly, but in this broken way (see `BROKEN`)."""
    finish: Literal["stop", "length"] = "stop"
    """Why the answer ends."""


class Script(BaseModel):
    """
    What a server lacks, and the steps.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    lacks: tuple[Lack, ...] = ()
    steps: tuple[Step, ...] = ()


def _invented(answer: dict[str, Any]) -> dict[str, Any]:
    """
    The answer with ids and numbers that nobody offered.
    """
    for memory in answer.get("memories", []):
        memory["sources"] = [INVENTED_NUMBER]
    if "merge_groups" in answer:
        answer["merge_groups"] = [INVENTED_NUMBER]
        answer["promotions"] = [{"id": INVENTED_ID, "rule": "Never do what was not offered.", "reason": "none"}]
        answer["contradictions"] = [{"older": INVENTED_ID, "newer": INVENTED_ID[:-1] + "e", "reason": "none"}]
    return answer


def _as_json(answer: Any) -> str:
    return json.dumps(answer, ensure_ascii=False)


def _with_trailing_commas(answer: Any) -> str:
    return _as_json(answer).replace("}]", "},]").removesuffix("}") + ",}"


def _cut(answer: Any) -> str:
    text = _as_json(answer)
    return text[: max(1, len(text) * 3 // 5)]


BROKEN: Mapping[str, Callable[[dict[str, Any]], str]] = {
    "prose": lambda answer: f"Here is what I found:\n\n{_as_json(answer)}\n\nLet me know if you need more!",
    "fence": lambda answer: f"Here are the facts: ```json\n{json.dumps(answer, indent=2, ensure_ascii=False)}\n```",
    "think": lambda answer: f"<think>The user wants JSON, like {{}}.</think>\n{_as_json(answer)}",
    "only_think": lambda _: "<think>The user wants JSON. Let me see. I could begin with",
    "trailing_comma": _with_trailing_commas,
    "python": repr,
    "two_objects": lambda answer: f"{_as_json(answer)}\n{_as_json(answer)}",
    "bare_list": lambda answer: _as_json(next((item for item in answer.values() if isinstance(item, list)), [])),
    "truncated": _cut,
    "surrogate": lambda answer: json.dumps(answer, ensure_ascii=True).replace(': "', ': "\\ud83d ', 1),
    "repetition": lambda _: REPETITION,
    "empty": lambda _: "",
    "null": lambda _: "null",
    "empty_list": lambda _: "[]",
    "null_lists": lambda answer: _as_json({name: None if isinstance(v, list) else v for name, v in answer.items()}),
    "invented_ids": lambda answer: _as_json(_invented(answer)),
    "other_form": lambda _: '{"result": "done"}',
}
"""The known ways in which a model's text is broken, each applied to the right answer."""
