"""
Ids do not meet by chance, and digests mean the same for ever.
"""

import math
import re

import pytest
from hypothesis import given

from app.domain.identity import ID_HEX_DIGITS, digest, fingerprint, new_id, normalise, text_hash
from tests.unit.domain.words import any_text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("User prefers  short   names", "fp37dab55090b26303"),
        ("User publishes on Tuesday mornings", "fp8d62cb897980c27a"),
        ("日本語 テスト", "fpfdbc07a5df706835"),
    ],
)
def test_b5_fingerprints(text: str, expected: str) -> None:
    assert fingerprint(text) == expected
    assert fingerprint(f"\n {text.upper()}\t") == expected


def test_o08_an_id_is_its_prefix_and_sixteen_hex_digits() -> None:
    assert re.fullmatch("mem-[0-9a-f]{16}", new_id("mem"))
    assert len({new_id("mem") for _ in range(1000)}) == 1000


def collision_chance(ids: int, hex_digits: int) -> float:
    return -math.expm1(-ids * (ids - 1) / 2 / 16**hex_digits)


def test_b5_eight_digits_would_collide_and_sixteen_do_not() -> None:
    assert collision_chance(10_000, 8) == pytest.approx(0.0116, abs=1e-4)
    assert collision_chance(77_163, 8) == pytest.approx(0.5, abs=1e-4)
    assert collision_chance(1_000_000, ID_HEX_DIGITS) < 1e-7


@given(any_text)
def test_any_text_has_stable_digests(text: str) -> None:
    assert fingerprint(text) == fingerprint(text)
    assert len(text_hash(text)) == 16
    assert text_hash(text) != text_hash(text + " ")
    assert fingerprint(text) == fingerprint(f" {text}\n")


def test_normal_form_collapses_white_space_and_case() -> None:
    assert normalise("  A\tB \n c ") == "a b c"


def test_digests_tell_bytes_apart() -> None:
    assert digest(b"a") != digest(b"b")
    assert re.fullmatch("[0-9a-f]{32}", digest(b""))
