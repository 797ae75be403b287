"""
Tells what is worth a model's reading from what a chat carries beside it, before any model sees it.

Noise is what states nothing: machine output, boot prompts, signs of progress, courtesies, repeats, and text that was
recalled from memory and only comes back.
"""

import json
import re
from enum import StrEnum
from typing import Final

import regex

from app.domain.text.tokenize import fold, split_words


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ASSISTANT: Final = "assistant"
MACHINE_ROLES: Final = frozenset({"tool", "function", "system", "developer"})
"""Roles behind which no person and no bot speaks."""

_LETTERS_MIN = 0.55
_DUMP_CHARS = 200
_COURTESY_WORDS = 8
_BOOT_CHARS = 60

_NOTE = re.compile(r"\s*\[\s*(?:system|tool|observation|pipeline|debug|status|progress)\b", re.IGNORECASE)
_BOOT = re.compile(
    r"\s*(?:#+\s*)?(?:"
    r"you are (?:an?|the|[\w-]+,? an?)\b.{0,160}\b(?:assistant|agent|bot|chatbot|model|ai|companion)\b"
    r"|you are \w+[,.].{0,200}\b(?:your (?:task|role|job|goal)|instructions?|assistant|must|respond|answer)\b"
    r"|(?:system|system prompt|system message|instructions?|persona)\s*[:>\n]"
    r"|(?:act|behave) as an?\b.{0,160}\b(?:assistant|agent|bot|model|ai)\b)",
    re.DOTALL | re.IGNORECASE,
)
_BUSY = (
    r"(?:working|processing|searching|loading|thinking|running|fetching|analy[sz]ing|generating|downloading|uploading"
    r"|indexing|executing|retrying|waiting|checking|looking|preparing|compiling|reading|writing)"
)
_MARKS = r"\s*(?:\.{2,}|…|[⏳⌛🔄🔍])[\s.…⏳⌛🔄🔍]*"
_PROGRESS = re.compile(
    rf"[\s⏳⌛🔄🔍]*(?:(?:i'?m|i am|we are|we're)\s+)?(?:still |now |currently )*{_BUSY}"
    rf"(?: (?:on|at) (?:it|this|that))?(?:{_MARKS}|, please wait\W*)",
    re.IGNORECASE,
)
_MACHINE_PROGRESS = re.compile(
    rf"[\s⏳⌛🔄🔍✅✔]*(?:(?:i'?m|i am|we are|we're)\s+)?(?:still |now |currently )*{_BUSY}\b"
    r"[^.!?\n]{0,60}[.…!⏳]*\s*"
    r"|\W*(?:step|stage|task) ?\d+ ?(?:/|of) ?\d+\b[^\n]{0,40}"
    r"|\W*(?:progress\W*)?(?:\d{1,3} ?%|\d+ ?/ ?\d+)\W*(?:done|complete|completed|finished)\W*"
    r"|\W*(?:one moment|just a (?:moment|second|sec)|hold on|please wait|almost (?:there|done))\W*",
    re.IGNORECASE,
)
_COURTESIES = _words(
    """
    ok okay k kk alright right sure fine cool great nice good perfect awesome excellent wonderful lovely super brilliant
    thanks thank you u thx ty tysm cheers very so much many a lot again for that the your help all welcome are re np
    got it gotcha understood noted will do sounds hi hey hello yo hiya there morning afternoon
    evening night bye goodbye see ya later soon lol haha hehe hm hmm mhm uh um ah oh wow yay and
    obrigado obrigada valeu beleza oi olá ola tchau muito gracias vale hola adiós adios muchas
    danke schön schon gut alles klar hallo tschüss tschuss bitte merci beaucoup bonjour salut d'accord grazie ciao prego
    """
)
_COURTESIES_ALONE = _words(
    """
    谢谢 谢谢你 多谢 好的 好 嗯 嗯嗯 收到 明白 你好 再见 ありがとう ありがとうございます 了解 了解です こんにちは
    おはよう 감사합니다 고마워 안녕하세요
    """
)
_NO_TROUBLE = re.compile(r"\bno (?:worries|problem|prob)\b")
_READABLE = regex.compile(r"[\p{L}\p{M}\s]++")


class Noise(StrEnum):
    """
    Why a message states nothing.
    """

    BLANK = "blank"  #: no letter, digit or sign with a meaning
    MACHINE = "machine"  #: spoken by a tool or the system, or a dump of what one gave out
    BOOT = "boot"  #: instructions to the bot itself
    PROGRESS = "progress"  #: says that something goes on
    COURTESY = "courtesy"  #: a greeting, thanks, an assent without content
    REPEAT = "repeat"  #: said before in the same words
    ECHO = "echo"  #: what was recalled from memory


def noise_in(role: str, text: str) -> Noise | None:
    """
    The noise that a text is by itself, whatever stands around it.
    """
    lowered = role.casefold()
    if lowered in MACHINE_ROLES or _NOTE.match(text) or _is_dump(text):
        return Noise.MACHINE
    if not split_words(text):
        return Noise.BLANK
    if len(text) >= _BOOT_CHARS and _BOOT.match(text):
        return Noise.BOOT
    plain = fold(text).strip()
    if _PROGRESS.fullmatch(plain) or (lowered == ASSISTANT and _MACHINE_PROGRESS.fullmatch(plain)):
        return Noise.PROGRESS
    if _is_courtesy(plain):
        return Noise.COURTESY
    return None


def is_person(role: str) -> bool:
    """
    Whether a person speaks in this role; one that no dialogue knows is the speaker's own name.
    """
    lowered = role.casefold()
    return lowered != ASSISTANT and lowered not in MACHINE_ROLES


def _is_dump(text: str) -> bool:
    bare = text.strip()
    if _is_json(bare):
        return True
    if len(bare) < _DUMP_CHARS:
        return False
    return sum(len(run) for run in _READABLE.findall(bare)) < _LETTERS_MIN * len(bare)


def _is_json(bare: str) -> bool:
    if bare[:1] not in ("{", "["):
        return False
    try:
        return isinstance(json.loads(bare), (dict, list))
    except (ValueError, RecursionError):
        return False


def _is_courtesy(plain: str) -> bool:
    if "".join(sign for sign in plain if sign.isalpha()) in _COURTESIES_ALONE:
        return True
    spelt = [word for word in split_words(_NO_TROUBLE.sub("ok", plain)) if word[0].isalnum()]
    return len(spelt) <= _COURTESY_WORDS and all(word in _COURTESIES for word in spelt)
