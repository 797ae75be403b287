"""
Asks a language model in a form and returns only what has that form: mended, asked for once more, or failed by name.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Generic

import structlog
from pydantic import ValidationError

from app.domain.answers import AnswerFault, Unreadable, read_answer
from app.domain.text.shorten import shorten
from app.prompts.loader import FormT, Prompt
from app.providers.language_model import FinishReason, ModelError, ModelReply, ModelRequest, Turn
from app.providers.llm_factory import LanguageModels
from app.services.answer_shape import shape_of

log = structlog.get_logger(__name__)

SHOWN_BACK_CHARS = 4000
"""Characters of an unusable answer that the model is shown again."""
FAULTS_TOLD = 5
CALLS_MAX = 2

_AGAIN = (
    "Your answer cannot be used as it is. {faults}\nGive the whole answer again, as one JSON object of the form that "
    "was asked for, with nothing before or after it."
)
_CUT = "It was cut off before its end: be briefer this time, and leave out what matters least."

Check = Callable[[FormT], Iterable[AnswerFault]]
"""Looks at an answer that has its form for what the form cannot say, such as ids that were never offered."""


@dataclass(frozen=True)
class Answered(Generic[FormT]):
    """
    An answer that has its form and passed its check, and what it took to get there.

    `repairs` names what had to be mended in the model's text; `dropped` counts the elements that were lost on the way
    or refused, and is more than 0 only when the model, asked again, did not do better. `prompt` is name and version.
    """

    value: FormT
    repairs: tuple[str, ...]
    dropped: int
    calls: int
    input_tokens: int
    output_tokens: int
    model: str
    prompt: str

    def report(self) -> dict[str, Any]:
        """
        The cost and the losses, as plain values for a job's report.
        """
        return {
            "model": self.model,
            "prompt": self.prompt,
            "calls": self.calls,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "repairs": list(self.repairs),
            "dropped": self.dropped,
        }


@dataclass(frozen=True)
class _Attempt(Generic[FormT]):
    """
    What one answer was worth: its value if it has one, what to tell the model, what was lost, how many different
    elements are there, and whether it ended before its end.
    """

    value: FormT | None
    complaints: tuple[str, ...]
    repairs: tuple[str, ...] = ()
    dropped: int = 0
    kept: int = 0
    cut: bool = False


class AskingModel:
    """
    Asks the model of a task on behalf of a bank. `answer_max` is how many characters of an answer are read.
    """

    def __init__(self, models: LanguageModels, answer_max: int) -> None:
        self._models = models
        self._answer_max = answer_max

    def available(self, task: str) -> bool:
        """
        Whether the task has a model, be it up or down at present.
        """
        return self._models.available(task)

    async def ask(
        self,
        bank_id: int,
        prompt: Prompt[FormT],
        check: Check[FormT] | None = None,
        *,
        deadline_s: float | None = None,
        max_output_tokens: int | None = None,
    ) -> Answered[FormT]:
        """
        Ask, and ask once more where the answer has faults or lost anything, with the faults told.

        `deadline_s` bounds both calls together; unset, each has the configured seconds.

        Raises:
            ModelError: `model_answer_unusable` when no answer has the form, `model_refused` when the model declines, or
                whatever kept the model from answering.
        """
        model = self._models.for_task(prompt.task)
        loop = asyncio.get_running_loop()
        end = None if deadline_s is None else loop.time() + deadline_s
        turns: tuple[Turn, ...] = (Turn("user", prompt.user),)
        replies: list[ModelReply] = []
        best: _Attempt[FormT] | None = None
        while True:
            left = None if end is None else max(0.0, end - loop.time())
            request = ModelRequest(prompt.task, prompt.system, turns, prompt.form, max_output_tokens, left)
            reply = await model.complete(bank_id, request)
            if reply.finish_reason is FinishReason.REFUSED:
                raise ModelError("model_refused", f"{model.name} declined {prompt.task}", retryable=False)
            replies.append(reply)
            attempt = self._tried(reply, prompt, check)
            best = attempt if best is None else _better(best, attempt)
            if not attempt.complaints or len(replies) == CALLS_MAX:
                break
            turns = (*turns, Turn("assistant", _shown(reply.text)), Turn("user", _again(attempt)))
        return _answered(best, replies, prompt)

    def _tried(self, reply: ModelReply, prompt: Prompt[FormT], check: Check[FormT] | None) -> _Attempt[FormT]:
        shape = shape_of(prompt.form)
        cut = reply.finish_reason is FinishReason.LENGTH
        reading = read_answer(reply.text, shape, self._answer_max)
        if isinstance(reading, Unreadable):
            return _Attempt(None, (f"{reading.detail}.", *((_CUT,) if cut else ())))
        raw, removed, faults = reading.value, 0, list[AnswerFault]()
        while True:
            value, found = _checked(raw, prompt.form, check)
            faults += found
            places = set(_elements(found, shape.lists))
            if not found or len(places) == 0 or any(fault.path[:2] not in places for fault in found):
                break
            raw, removed = _without(raw, places), removed + len(places)
        complaints = [_in_words(fault) for fault in faults[:FAULTS_TOLD]]
        cut = cut or "cut" in reading.repairs
        if cut or not reading.whole:
            complaints.append(_CUT if cut else "A part of it could not be read.")
        kept = sum(len({repr(item) for item in raw[name]}) for name in shape.lists if isinstance(raw[name], list))
        return _Attempt(value, tuple(complaints), reading.repairs, reading.dropped + removed, kept, cut)


def _checked(
    raw: dict[str, Any], form: type[FormT], check: Check[FormT] | None
) -> tuple[FormT | None, list[AnswerFault]]:
    """
    The answer if it has no fault, else the faults.
    """
    try:
        value = form.model_validate(raw)
    except ValidationError as error:
        told = error.errors(include_url=False, include_input=False, include_context=False)
        return None, [AnswerFault(item["loc"], item["msg"]) for item in told]
    faults = [] if check is None else list(check(value))
    return (None if faults else value), faults


def _elements(faults: Iterable[AnswerFault], lists: Collection[str]) -> Iterator[tuple[str | int, ...]]:
    """
    The elements of lists that are at fault, without which the rest of the answer may stand.
    """
    for fault in faults:
        if len(fault.path) > 1 and fault.path[0] in lists and isinstance(fault.path[1], int):
            yield fault.path[:2]


def _without(raw: dict[str, Any], places: Collection[tuple[str | int, ...]]) -> dict[str, Any]:
    return {
        name: [item for place, item in enumerate(items) if (name, place) not in places]
        if isinstance(items, list)
        else items
        for name, items in raw.items()
    }


def _better(first: _Attempt[FormT], second: _Attempt[FormT]) -> _Attempt[FormT]:
    """
    The second, unless it has no value, or holds less than the first, which was only in part at fault.
    """
    if second.value is None:
        return first
    keeps_more = first.value is not None and not first.cut and first.kept > second.kept
    return first if keeps_more else second


def _answered(best: _Attempt[FormT], replies: list[ModelReply], prompt: Prompt[FormT]) -> Answered[FormT]:
    name = f"{prompt.task}@{prompt.version}"
    if best.value is None:
        detail = f"{name}: {' '.join(best.complaints)}"
        raise ModelError("model_answer_unusable", detail, retryable=True)
    answered = Answered(
        best.value,
        best.repairs,
        best.dropped,
        len(replies),
        sum(reply.input_tokens for reply in replies),
        sum(reply.output_tokens for reply in replies),
        replies[-1].model,
        name,
    )
    if answered.dropped or answered.repairs:
        log.warning("model_answer_mended", prompt=name, repairs=answered.repairs, dropped=answered.dropped)
    return answered


def _shown(text: str) -> str:
    return shorten(text.strip(), SHOWN_BACK_CHARS)[0] or "(nothing)"


def _again(attempt: _Attempt[FormT]) -> str:
    return _AGAIN.format(faults=" ".join(attempt.complaints))


def _in_words(fault: AnswerFault) -> str:
    path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in fault.path).lstrip(".")
    return f"{path}: {fault.message}."
