"""
The block that the Orca memory bank puts before a prompt.
"""

from datetime import datetime

from app.domain.context.items import ContextItem
from app.domain.context.profile import SectionSpec


class OrcaLayout:
    """
    A title line, headed lists of `* [category] text`, and a closing rule; nothing is dated.
    """

    def opening(self) -> str:
        return "--- CONTEXT FROM MEMORY ---"

    def closing(self, recalled_at: datetime) -> str:
        return "---"

    def heading(self, section: SectionSpec) -> str:
        return section.title

    def line(self, item: ContextItem, text: str) -> str:
        return f"* [{item.category.value}] {text}"
