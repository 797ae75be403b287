"""
What a way of writing a context out has to say: its wrapper, its headings and its lines.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from app.domain.context.items import ContextItem
from app.domain.context.profile import SectionSpec


class Layout(Protocol):
    """
    One way of writing a context out. Every string it gives is a whole number of lines, without the last line break.
    """

    def opening(self) -> str:
        """
        What stands before the first section; always the same.
        """
        ...

    def closing(self, recalled_at: datetime) -> str:
        """
        What stands after the last section.
        """
        ...

    def heading(self, section: SectionSpec) -> str:
        """
        The line before a section's records, or nothing.
        """
        ...

    def line(self, item: ContextItem, text: str) -> str:
        """
        The line of one record, of which `text` is the part that may be shown, already inert.
        """
        ...


@dataclass(frozen=True, slots=True)
class Block:
    """
    A section with the lines that it shows.
    """

    section: SectionSpec
    lines: Sequence[str]


def lead(layout: Layout, section: SectionSpec, *, first: bool) -> str:
    """
    All that a section puts before its first line: an empty line unless it is the first section, and its heading.
    """
    heading = layout.heading(section)
    return ("" if first else "\n") + (f"{heading}\n" if heading else "")


def render(layout: Layout, blocks: Sequence[Block], recalled_at: datetime) -> tuple[str, str]:
    """
    The whole text and its stable beginning: the opening with the stable sections that directly follow it.

    Sections without lines are left out; with none left, both are empty.
    """
    shown = [block for block in blocks if block.lines]
    if not shown:
        return "", ""
    parts = [f"{layout.opening()}\n"]
    prefix_parts = 1
    for place, block in enumerate(shown):
        parts.append(lead(layout, block.section, first=place == 0) + "\n".join(block.lines) + "\n")
        if block.section.stable and prefix_parts == place + 1:
            prefix_parts += 1
    parts.append(layout.closing(recalled_at))
    return "".join(parts), "".join(parts[:prefix_parts])
