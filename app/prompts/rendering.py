"""
Makes prompts of what a job has in hand: messages, memories, episodes and notebooks, each told apart and dated.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from app.domain.text.shorten import shorten
from app.prompts.fence import as_data, fenced
from app.prompts.loader import FormT, Prompt, PromptFile
from app.prompts.outputs import EpisodeAnswer, ExtractAnswer, JudgeAnswer, ReflectAnswer, StructureAnswer

_THEIR_OWN = (
    "Write in the language that the users themselves write in, also where the assistant answers in another one."
)
_ONE = "Write in {language}, whatever language the texts are in."
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_VERBATIM = " Names, titles, quotations and technical terms stay as they are."


@dataclass(frozen=True, slots=True)
class PromptMessage:
    """
    One message. `at` is aware, with the speaker's own offset; `speaker` a name that a reader knows them by.
    """

    at: datetime
    role: str
    text: str
    speaker: str | None = None


@dataclass(frozen=True, slots=True)
class OfferedGroup:
    """
    Texts of the same words in another order, under the number by which the judge may name them.
    """

    index: int
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OfferedMemory:
    """
    A memory that the judge may name by its id. With `times_observed` it is a candidate for a rule, else one of several
    that may contradict each other.
    """

    id: str
    text: str
    said: date
    times_observed: int | None = None


@dataclass(frozen=True, slots=True)
class PromptEpisode:
    """
    The record of a conversation, with the aware moments of its first and last message.
    """

    begin: datetime
    end: datetime
    text: str


class Prompts:
    """
    Every prompt, with the language that the configuration asks for. `language` unset means the users' own.

    Messages are numbered from 1 in the order given; that number is how an answer cites them.
    """

    def __init__(self, prompt_files: Mapping[str, PromptFile], language: str | None, message_max: int) -> None:
        self._files = prompt_files
        self._language = language
        self._message_max = message_max

    def structure(
        self, raw_input: str, at: datetime, speaker: str | None = None, language: str | None = None
    ) -> Prompt[StructureAnswer]:
        """
        Ask for the structure of one text, which is shown whole.
        """
        record = {**_moment(at), **_named(speaker), "text": as_data(raw_input)}
        return self._filled("structure", StructureAnswer, [record], language)

    def extract(
        self, messages: Sequence[PromptMessage], max_memories: int, max_rules: int, language: str | None = None
    ) -> Prompt[ExtractAnswer]:
        """
        Ask what the messages leave behind.
        """
        numbers = {"max_memories": str(max_memories), "max_rules": str(max_rules)}
        return self._filled("extract", ExtractAnswer, self._numbered(messages), language, numbers)

    def episode(self, messages: Sequence[PromptMessage], language: str | None = None) -> Prompt[EpisodeAnswer]:
        """
        Ask for the record of a conversation.
        """
        return self._filled("episode", EpisodeAnswer, self._numbered(messages), language)

    def judge(
        self, groups: Sequence[OfferedGroup], memories: Sequence[OfferedMemory], language: str | None = None
    ) -> Prompt[JudgeAnswer]:
        """
        Ask what is to become of the groups and memories.
        """
        records: list[dict[str, Any]] = [
            {"offered": "group", "index": group.index, "texts": [as_data(text) for text in group.texts]}
            for group in groups
        ]
        for memory in memories:
            text = as_data(memory.text)
            if memory.times_observed is None:
                records.append({"offered": "memory", "id": memory.id, "text": text, "said": memory.said.isoformat()})
            else:
                seen = memory.times_observed
                records.append({"offered": "candidate", "id": memory.id, "text": text, "times_observed": seen})
        return self._filled("judge", JudgeAnswer, records, language)

    def reflect(
        self, episodes: Sequence[PromptEpisode], notebooks: Mapping[str, str], language: str | None = None
    ) -> Prompt[ReflectAnswer]:
        """
        Ask for a look back on the episodes; `notebooks` are the ends of documents by path.
        """
        records: list[dict[str, Any]] = [
            {
                "data": "episode",
                "n": number,
                "from": episode.begin.isoformat(timespec="seconds"),
                "to": episode.end.isoformat(timespec="seconds"),
                "text": as_data(episode.text),
            }
            for number, episode in enumerate(episodes, start=1)
        ]
        records += [{"data": "notebook", "path": path, "text": as_data(text)} for path, text in notebooks.items()]
        return self._filled("reflect", ReflectAnswer, records, language)

    def _numbered(self, messages: Sequence[PromptMessage]) -> Iterable[dict[str, Any]]:
        for number, message in enumerate(messages, start=1):
            text, cut = shorten(as_data(message.text), self._message_max)
            record = {
                "n": number,
                **_moment(message.at),
                "role": message.role,
                **_named(message.speaker),
                "text": text,
            }
            yield {**record, "cut": True} if cut else record

    def _filled(
        self,
        name: str,
        form: type[FormT],
        records: Iterable[Mapping[str, Any]],
        language: str | None,
        values: Mapping[str, str] | None = None,
    ) -> Prompt[FormT]:
        wanted = language or self._language
        sentence = (_THEIR_OWN if wanted is None else _ONE.format(language=wanted)) + _VERBATIM
        return self._files[name].filled(form, {"language": sentence, "data": fenced(records).text, **(values or {})})


def _moment(at: datetime) -> dict[str, str]:
    if at.tzinfo is None:
        raise ValueError("a moment in a prompt needs its offset")
    return {"at": at.isoformat(timespec="seconds"), "day": _WEEKDAYS[at.weekday()]}


def _named(speaker: str | None) -> dict[str, str]:
    return {} if speaker is None else {"speaker": as_data(speaker)}
