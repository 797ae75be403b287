"""
Names things: random ids for records, and digests that tell whether two texts are the same.
"""

import hashlib
import secrets
from typing import Final

ID_HEX_DIGITS: Final = 16
"""Random hex digits of an id: 64 bits, at which a million ids collide with a chance below one in ten million."""

_FNV_OFFSET: Final = 0xCBF29CE484222325
_FNV_PRIME: Final = 0x100000001B3
_FNV_MASK: Final = 0xFFFFFFFFFFFFFFFF
_HASH_BYTES: Final = 16


def new_id(prefix: str) -> str:
    """
    A fresh id: `prefix`, a hyphen and 16 random hex digits.
    """
    return f"{prefix}-{secrets.token_hex(ID_HEX_DIGITS // 2)}"


def normalise(text: str) -> str:
    """
    The form in which two texts count as the same: trimmed, runs of white space collapsed, lower-cased.
    """
    return " ".join(text.split()).lower()


def fingerprint(text: str) -> str:
    """
    `fp` and 16 hex digits: 64-bit FNV-1a over the normalised text in UTF-8.

    The algorithm is spelt out here because stored fingerprints must mean the same for ever.
    """
    value = _FNV_OFFSET
    for byte in _utf8(normalise(text)):
        value = ((value ^ byte) * _FNV_PRIME) & _FNV_MASK
    return f"fp{value:016x}"


def text_hash(text: str) -> bytes:
    """
    16 bytes that stand for exactly this text, not for its normalised form.
    """
    return hashlib.blake2b(_utf8(text), digest_size=_HASH_BYTES).digest()


def digest(data: bytes) -> str:
    """
    32 hex digits that stand for exactly these bytes.
    """
    return hashlib.blake2b(data, digest_size=_HASH_BYTES).hexdigest()


def _utf8(text: str) -> bytes:
    # A lone surrogate has no UTF-8 form, yet it is legal in a Python string and must still have a stable digest.
    return text.encode("utf-8", "surrogatepass")
