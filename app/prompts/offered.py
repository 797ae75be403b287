"""
Checks that an answer cites only what the prompt offered: message numbers, group numbers, ids of memories.
"""

from collections.abc import Callable, Collection, Iterator

from app.domain.answers import AnswerFault
from app.prompts.outputs import ExtractAnswer, JudgeAnswer


def only_messages(count: int) -> Callable[[ExtractAnswer], Iterator[AnswerFault]]:
    """
    A check that every source is the number of one of `count` messages, from 1 on.
    """

    def check(answer: ExtractAnswer) -> Iterator[AnswerFault]:
        for place, item in enumerate(answer.memories):
            strange = [number for number in item.sources if not 1 <= number <= count]
            if strange:
                yield AnswerFault(("memories", place, "sources"), f"there is no message {strange[0]}")

    return check


def only_offered(
    groups: Collection[int], candidates: Collection[str], memories: Collection[str]
) -> Callable[[JudgeAnswer], Iterator[AnswerFault]]:
    """
    A check that the judge names only groups, candidates and memories that were offered, and no memory against itself.
    """

    def check(answer: JudgeAnswer) -> Iterator[AnswerFault]:
        for place, index in enumerate(answer.merge_groups):
            if index not in groups:
                yield AnswerFault(("merge_groups", place), f"no group {index} was offered")
        for place, promotion in enumerate(answer.promotions):
            if promotion.id not in candidates:
                yield AnswerFault(("promotions", place, "id"), "no candidate of that id was offered")
        for place, pair in enumerate(answer.contradictions):
            if pair.older not in memories or pair.newer not in memories:
                yield AnswerFault(("contradictions", place), "no memory of that id was offered")
            elif pair.older == pair.newer:
                yield AnswerFault(("contradictions", place), "a memory does not contradict itself")

    return check
