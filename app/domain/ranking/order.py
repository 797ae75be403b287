"""
Puts scored candidates into one order that is the same every time.
"""

import numpy as np

from app.domain.ranking.candidates import Candidates, Ints
from app.domain.ranking.scored import Scored

_DECIMALS = 9  # beyond them the sum's order of operations speaks, not the records


def ranking(scored: Scored, candidates: Candidates) -> Ints:
    """
    The rows that the scorer kept, best first: by score, then pinned, then newest update, then id.
    """
    rows = np.flatnonzero(scored.keep)
    value = np.round(scored.order_by[rows], _DECIMALS)
    pinned, age = candidates.pinned[rows], candidates.updated_age_days[rows]
    order = np.lexsort((age, ~pinned, -value))
    rows, value, pinned, age = rows[order], value[order], pinned[order], age[order]
    equal = (value[1:] == value[:-1]) & (pinned[1:] == pinned[:-1]) & (age[1:] == age[:-1])
    if equal.any():
        # Ids decide only among rows equal in all else: comparing strings for every row would cost more than scoring.
        group = np.concatenate(([0], np.cumsum(~equal)))
        by_id = sorted(zip(group, (candidates.ids[row] for row in rows), rows, strict=True))
        rows = np.array([row for _, _, row in by_id])
    return rows.astype(np.int64)
