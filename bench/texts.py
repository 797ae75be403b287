"""
Synthetic records and vectors that look like a bank in use: words by Zipf's law, vectors in loose groups.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

VOCABULARY = 20_000
WORDS_MEAN = 25
DIMENSIONS = 384
GROUPS = 200


@dataclass(frozen=True, slots=True)
class Synthetic:
    """
    Texts and the unit vector of each.
    """

    texts: list[str]
    vectors: npt.NDArray[np.float32]


def records(number: int, seed: int) -> Synthetic:
    """
    `number` texts of about 25 words and their 384-dimension vectors, the same for the same seed.
    """
    rng = np.random.default_rng(seed)
    lengths = np.clip(rng.poisson(WORDS_MEAN, number), 4, 80)
    words = _zipf(rng, int(lengths.sum()))
    texts, start = [], 0
    for length in lengths:
        texts.append(" ".join(f"w{word}" for word in words[start : start + length]))
        start += length
    return Synthetic(texts, vectors(rng, number))


def vectors(rng: np.random.Generator, number: int) -> npt.NDArray[np.float32]:
    """
    Unit vectors around the centres of some groups.
    """
    centres = rng.normal(size=(GROUPS, DIMENSIONS))
    found = centres[rng.integers(0, GROUPS, number)] + rng.normal(size=(number, DIMENSIONS))
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    return found.astype(np.float32)


def questions(source: Synthetic, number: int, seed: int) -> Iterator[tuple[str, npt.NDArray[np.float32]]]:
    """
    Questions of six words of some record, with a vector near that record's.
    """
    rng = np.random.default_rng(seed)
    for place in rng.integers(0, len(source.texts), number):
        words = source.texts[place].split()
        chosen = rng.choice(words, min(6, len(words)), replace=False)
        vector = source.vectors[place] + 0.02 * rng.normal(size=DIMENSIONS)
        yield " ".join(chosen), (vector / np.linalg.norm(vector)).astype(np.float32)


def answers(source: Synthetic, number: int, seed: int) -> npt.NDArray[np.int64]:
    """
    The places of the records that `questions` of the same arguments were made of.
    """
    return np.random.default_rng(seed).integers(0, len(source.texts), number)


def _zipf(rng: np.random.Generator, number: int) -> npt.NDArray[np.int64]:
    weights = 1.0 / np.arange(1, VOCABULARY + 1)
    return rng.choice(VOCABULARY, size=number, p=weights / weights.sum())
