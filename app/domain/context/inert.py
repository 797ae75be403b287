"""
Makes recalled text harmless inside a prompt: one visible line that cannot pass for the prompt's own structure.

The words stay as they are and readable. What is changed are signs that a model, or the tokenizer before it, takes for
the end of a block or for another speaker's turn.
"""

import re

from app.domain.text.shorten import MARKER, shorten

SPEAKER_MAX = 64
"""Characters of a speaker's name that are shown."""

_ORDINARY = re.compile(r"[A-Za-z0-9 .,;:!?'\"()/&%+$@-]*")
_BROKEN = re.compile("[\ud800-\udfff\ufffe\uffff]")
# Format characters that hide text or turn its direction, tag characters and stacked variation selectors, which can
# carry a message that no reader sees. Joiners stay between letters of the scripts, and the emoji, that need them.
_HIDDEN = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e00ff\U000e01f0-\U000e0fff]"
)
_STACKED = re.compile("([\ufe00-\ufe0f\U000e0100-\U000e01ef])[\ufe00-\ufe0f\U000e0100-\U000e01ef]+")
_LOOSE_JOINER = re.compile(r"(?<![^\x00-\x7f\s])[\u200c\u200d]+|[\u200c\u200d]+(?![^\x00-\x7f\s])")

_RULE = re.compile("[-\u2010-\u2015\u2212\u2500\u2501]{3,}")
_FENCE = re.compile("`{3,}|~{3,}")
_HEADING = re.compile(r"(?<!\S)#{2,}(?=\s|$)")
# `<|im_start|>`, `<｜User｜>`, `<<SYS>>`, `<start_of_turn>`, `</s>` and the tags that mark blocks and roles in prompts.
_TAG = re.compile(
    r"<(?=[|\uff5c]|/?SYS>|\s*/?\s*(?:memory|context|system|user|assistant|developer|human|tool|instructions?"
    r"|start_of_turn|end_of_turn|s)\b)",
    re.IGNORECASE,
)
_TURN = re.compile(r"\[(/?INST)\]", re.IGNORECASE)
_BRACKETS = str.maketrans("[]", "()")


def inert(text: str) -> str:
    """
    The text as one line without control characters, hidden characters and anything that opens or closes a block.

    Never raises; applying it again changes nothing.
    """
    if _ORDINARY.fullmatch(text) and "--" not in text:
        return " ".join(text.split())
    plain = _HIDDEN.sub("", _BROKEN.sub("\ufffd", text))
    plain = _LOOSE_JOINER.sub("", _STACKED.sub(r"\1", plain))
    plain = " ".join(plain.split())
    plain = _FENCE.sub(lambda run: run[0][0], _RULE.sub("\u2014", plain))
    plain = _TURN.sub(r"(\1)", _TAG.sub("\u2039", plain))
    return _HEADING.sub("#", plain)


def inert_within(text: str, limit: int) -> tuple[str, bool]:
    """
    The inert text in at most `limit` characters, cut after a word with a visible marker, and whether anything was cut.

    Only as much of a long text is read as is needed.
    """
    scanned = 2 * limit + 1
    plain = inert(text[:scanned])
    while len(plain) <= limit and scanned < len(text):
        scanned *= 4
        plain = inert(text[:scanned])
    return shorten(plain, limit, MARKER)


def speaker_label(speaker: str) -> str:
    """
    A speaker's name fit for the label before a line: inert, short, and without brackets that could close the label.
    """
    return shorten(inert(speaker).translate(_BRACKETS), SPEAKER_MAX, MARKER)[0]
