"""
What a language model has cost a bank in a day, and how much it may.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ModelUsage:
    """
    Calls made, tokens read and tokens written, in one day.
    """

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    @property
    def tokens(self) -> int:
        """
        Tokens in both directions.
        """
        return self.input_tokens + self.output_tokens


@dataclass(frozen=True, slots=True)
class DailyBudget:
    """
    The most that one bank may use in a day; None sets no bound, 0 allows nothing.
    """

    calls: int | None = None
    tokens: int | None = None

    def spent(self, usage: ModelUsage) -> str | None:
        """
        In words, which bound leaves no room for one more call; None while there is room.
        """
        if self.calls is not None and usage.calls >= self.calls:
            return f"{usage.calls} of {self.calls} calls"
        if self.tokens is not None and usage.tokens >= self.tokens:
            return f"{usage.tokens} of {self.tokens} tokens"
        return None
