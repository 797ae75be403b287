"""
Reads the prompt files: what a prompt is called, which version it is, what it answers in, and its two texts.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Generic, TypeVar

from pydantic import BaseModel

from app.prompts.outputs import FORMS

_HEAD = re.compile(r"---\n(.*?)\n---\n(.*)", re.DOTALL)
_SLOT = re.compile(r"\{\{(\w+)\}\}")
_USER_PART = "\n<!-- user -->\n"
_FILES = "app.prompts"

FormT = TypeVar("FormT", bound=BaseModel)


@dataclass(frozen=True)
class Prompt(Generic[FormT]):
    """
    A prompt ready to be asked: the task, the version of the file it was made from, the texts, and the answer's form.
    """

    task: str
    version: int
    system: str
    user: str
    form: type[FormT]


@dataclass(frozen=True, slots=True)
class PromptFile:
    """
    One prompt file; both its texts may have slots such as `{{language}}`.
    """

    name: str
    version: int
    form: type[BaseModel]
    system: str
    user: str

    def filled(self, form: type[FormT], values: Mapping[str, str]) -> Prompt[FormT]:
        """
        The prompt with its slots filled. What fills a slot is not looked at for slots again.

        Raises:
            ValueError: a slot has no value, or a value no slot, or the file names another form.
        """
        if form is not self.form:
            raise ValueError(f"prompt {self.name} answers in {self.form.__name__}, not {form.__name__}")
        slots = set(_SLOT.findall(self.system + self.user))
        if slots != set(values):
            raise ValueError(f"prompt {self.name}: slots {sorted(slots)}, values {sorted(values)}")
        return Prompt(self.name, self.version, _fill(self.system, values), _fill(self.user, values), form)


def load_prompts() -> dict[str, PromptFile]:
    """
    The prompts that come with the project, by name.

    Raises:
        ValueError: a file is not of the form it must have.
    """
    found = [
        parse_prompt(item.read_text(encoding="utf-8"), item.name)
        for item in sorted(files(_FILES).iterdir(), key=lambda item: item.name)
        if item.name.endswith(".md")
    ]
    return {prompt.name: prompt for prompt in found}


def parse_prompt(text: str, file_name: str) -> PromptFile:
    """
    A prompt file: `name`, `version` and `output` between two lines `---`, then the system's text, a line
    `<!-- user -->`, and the user's text.

    Raises:
        ValueError: naming the file and what is wrong with it.
    """
    parts = _HEAD.fullmatch(text)
    if parts is None:
        raise ValueError(f"{file_name}: does not begin with a head between two lines ---")
    head = dict(_pair(line, file_name) for line in parts[1].splitlines())
    system, marker, user = parts[2].partition(_USER_PART)
    if not marker or not user.strip():
        raise ValueError(f"{file_name}: has no text after a line {_USER_PART.strip()}")
    if head.keys() != {"name", "version", "output"}:
        raise ValueError(f"{file_name}: the head gives {sorted(head)}, not name, output and version")
    if f"{head['name']}.md" != file_name or head["output"] not in FORMS or not head["version"].isdecimal():
        raise ValueError(f"{file_name}: the head's name, output or version cannot be: {head}")
    return PromptFile(head["name"], int(head["version"]), FORMS[head["output"]], system.strip(), user.strip())


def _pair(line: str, file_name: str) -> tuple[str, str]:
    name, colon, value = line.partition(":")
    if not colon:
        raise ValueError(f"{file_name}: {line!r} in the head is not of the form name: value")
    return name.strip(), value.strip()


def _fill(text: str, values: Mapping[str, str]) -> str:
    return _SLOT.sub(lambda slot: values[slot[1]], text)
