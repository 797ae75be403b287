"""
What every embedder does to a text before the model sees it, and to a vector before anybody else does.
"""

import unicodedata
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from app.domain.text.legal import legal_text
from app.providers.protocols import Vector

_LEAST_LENGTH = 1e-12


def prepare(text: str, max_chars: int) -> str | None:
    """
    The text as the model gets it: legal Unicode, trimmed, at most `max_chars` characters.

    None when it holds no letter, digit or symbol: blanks and punctuation alone mean nothing to a model, and servers
    refuse empty input.
    """
    ready = legal_text(text).strip()[:max_chars]
    return ready if any(unicodedata.category(char)[0] in "LNS" for char in ready if char != "\ufffd") else None


def unit_vector(values: npt.ArrayLike, dimensions: int) -> Vector | None:
    """
    The vector as float32 of unit length, read-only; None if it is of another length or cannot have a direction
    (a NaN or an infinity in it, or all zero).
    """
    wide = np.asarray(values, dtype=np.float64)
    if wide.shape != (dimensions,) or not np.isfinite(wide).all():
        return None
    length = float(np.linalg.norm(wide))
    if not np.isfinite(length) or length < _LEAST_LENGTH:
        return None
    vector: Vector = (wide / length).astype(np.float32)
    vector.setflags(write=False)
    return vector


def split_ready(texts: Sequence[str], max_chars: int) -> tuple[list[int], list[str]]:
    """
    Of `texts`, the positions that have something to embed, and the prepared text at each of them.
    """
    positions: list[int] = []
    ready: list[str] = []
    for position, text in enumerate(texts):
        prepared = prepare(text, max_chars)
        if prepared is not None:
            positions.append(position)
            ready.append(prepared)
    return positions, ready
