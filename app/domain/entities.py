"""
Finds entity handles (names of people, places, things) in a text without a language model.

A handle is folded text of one to four words. What is found is evidence for ranking, not knowledge: it is meant to be
cheap and seldom wrong rather than complete.
"""

import re
import unicodedata
from collections.abc import Container, Iterator

from app.domain.text.tokenize import fold

HANDLES_MAX = 8
"""Most handles of one text."""
HANDLE_WORDS_MAX = 4
HANDLE_CHARS_MAX = 64

USER_HANDLE = "user"
"""Stands for the person whose memory it is; a question in the first person names it."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_FIRST_PERSON = _words(
    """
    i me my mine myself eu mim meu minha meus minhas comigo ich mich mir mein meine meinen meinem meiner yo mí mi mis
    je moi mon ma mes
    """
)
_FIRST_PERSON_CJK = re.compile("[我私僕俺]")

# Words that begin sentences far more often than they are names.
_OPENERS = _words(
    """
    a an the this that these those there here i you he she it we they my your his her its our their me us who whom
    whose what which when where why how if as at by for from in into on of to with and or but so because while after
    before since until am is are was were be do does did have has had can could will would shall should may might must
    not no yes yeah yep ok okay oh wow hey hi hello thanks thank please sorry well now then today tomorrow yesterday
    maybe perhaps also just even still let every all some any many most both each another one two dear good great nice
    cool sure right
    """
)
_CALENDAR = _words(
    """
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
    september october november december
    """
)
_PARTICLES = _words("de da do dos das del della di du van von der den la le el al bin ibn of")
_ABBREVIATIONS = _words("mr mrs ms dr prof st sr sra")

_WORD = re.compile(r"[^\W\d_][\w]*(?:['’\-][^\W\d_]\w*)*")
_MARKED = re.compile(
    r"(?<![\w.@/])@(?P<name>\w(?:[\w.\-]*\w)?)"
    r"|(?<![\w&/])\#(?P<tag>\w*[^\W\d_]\w*)"
    r"|[\"“«„](?P<quote>[^\"“”«»„\n]{2,40})[\"”»“]"
    r"|[「『《](?P<cjk>[^「」『』《》\n]{1,20})[」』》]"
)
_CJK_RUN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]{2,}")
_SENTENCE_ENDS = frozenset(".!?…:;\n。！？")
_BEFORE_SENTENCE = frozenset(" \t\r\"'“”‘’«»()[]*>•-")


def normalise_handle(text: str) -> str:
    """
    The form in which handles are stored and compared: folded, edges without marks, no possessive s, single spaces.

    Empty when the text holds no letter or digit. At most `HANDLE_CHARS_MAX` characters.
    """
    folded = " ".join(fold(text).split())
    return _trim_end(_trim_start(folded))[:HANDLE_CHARS_MAX].rstrip()


def handles(text: str) -> tuple[str, ...]:
    """
    The handles that a text names, in order of appearance, at most `HANDLES_MAX`.
    """
    return tuple(names(text))


def names(text: str) -> dict[str, str]:
    """
    The names in a text by their handles, as the text writes them first, in order of appearance, at most `HANDLES_MAX`.

    Those are @names, #tags, quoted names, and runs of capitalised words. A single capitalised word that begins a
    sentence counts only when the text has it inside a sentence too, or when its form shows it for a name (GitHub,
    NASA).
    """
    found: list[tuple[int, str]] = [(match.start(), _marked(match)) for match in _MARKED.finditer(text)]
    found += _capitalised(text)
    written: dict[str, str] = {}
    for _, name in sorted(found):
        written.setdefault(normalise_handle(name), name.removesuffix("'s").removesuffix("’s"))
    written.pop("", None)
    return dict(list(written.items())[:HANDLES_MAX])


def as_written(text: str, handle: str) -> str:
    """
    The name of a handle as a text writes it: as it names it, else as it first has the words; the handle itself where
    the text has neither.
    """
    name = names(text).get(handle)
    if name is None:
        words = r"\s+".join(re.escape(word) for word in handle.split())
        match = re.search(rf"(?<!\w){words}(?!\w)", text, re.IGNORECASE)
        name = handle if match is None else " ".join(match.group().split())
    return name


def query_handles(text: str, known: Container[str]) -> tuple[str, ...]:
    """
    The handles of `known` that a query names, in order of appearance, in whatever case it writes them.

    The first person names `user`.
    """
    found = _known_names(text, known)
    if USER_HANDLE in known and speaks_of_self(text):
        found[USER_HANDLE] = None
    return tuple(found)


def mentioned_handles(text: str, known: Container[str]) -> tuple[str, ...]:
    """
    The handles of `known` that a statement names, in order of appearance, in whatever case it writes them.

    `user` is left out: as a word among others it is seldom the person whose memory it is.
    """
    found = _known_names(text, known)
    found.pop(USER_HANDLE, None)
    return tuple(found)


def opens_sentences(word: str) -> bool:
    """
    Whether a capitalised word begins sentences far more often than it is a name.
    """
    return _base(word) in _OPENERS


def speaks_of_self(text: str) -> bool:
    """
    Whether a text is in the first person singular.
    """
    words = (_base(word) for word in _WORD.findall(text))
    return any(word in _FIRST_PERSON for word in words) or _FIRST_PERSON_CJK.search(text) is not None


def _known_names(text: str, known: Container[str]) -> dict[str, None]:
    folded = fold(text)
    found: dict[str, None] = {}
    tokens = folded.split()
    begins = [_trim_start(token) for token in tokens]
    ends = [_trim_end(token) for token in tokens]
    for start in range(len(tokens)):
        for end in range(min(len(tokens), start + HANDLE_WORDS_MAX), start, -1):
            if end == start + 1:
                handle = _trim_end(begins[start])
            else:
                handle = " ".join((begins[start], *tokens[start + 1 : end - 1], ends[end - 1]))
            if handle and handle in known:
                found[handle] = None
    for run in _CJK_RUN.findall(folded):
        found.update((part, None) for part in _substrings(run) if part in known)
    return found


def _trim_start(folded: str) -> str:
    start = 0
    while start < len(folded) and not _is_letter(folded[start]):
        start += 1
    return folded[start:]


def _trim_end(folded: str) -> str:
    return _trim_marks(_trim_marks(folded).removesuffix("'s"))


def _trim_marks(folded: str) -> str:
    end = len(folded)
    while end and not _is_letter(folded[end - 1]):
        end -= 1
    return folded[:end]


def _is_letter(character: str) -> bool:
    return character.isalnum() or unicodedata.category(character).startswith("M")


def _marked(match: re.Match[str]) -> str:
    quote = match["quote"]
    if quote is None:
        return match["name"] or match["tag"] or match["cjk"]
    is_name = quote[0].isupper() and len(quote.split()) <= HANDLE_WORDS_MAX and quote[-1] not in ".!?,"
    return quote if is_name else ""


def _capitalised(text: str) -> Iterator[tuple[int, str]]:
    words = list(_WORD.finditer(text))
    shouting = sum(word.group().isupper() for word in words) * 2 > len(words) > 3
    inside: set[str] = set()
    alone: list[tuple[int, str]] = []
    for run in _runs(text, words, shouting):
        names = [word.group() for word in run]
        begins = opens = _begins_sentence(text, run[0].start())
        while opens and names and _base(names[0]) in _OPENERS:
            run, names, begins = run[1:], names[1:], False
        if not names or len(names) > HANDLE_WORDS_MAX:
            continue
        if len(names) == 1 and _base(names[0]) in _CALENDAR:
            continue
        if begins and len(names) == 1 and not _looks_named(names[0], shouting):
            alone.append((run[0].start(), names[0]))
            continue
        inside.add(_base(names[0]))
        yield run[0].start(), " ".join(names)
    for position, name in alone:
        if _base(name) in inside or (_base(name) == USER_HANDLE and text[position + len(name) :][:1] != ":"):
            yield position, name


def _runs(text: str, words: list[re.Match[str]], shouting: bool) -> Iterator[list[re.Match[str]]]:
    run: list[re.Match[str]] = []
    pending: list[re.Match[str]] = []
    for word in words:
        last = pending[-1] if pending else run[-1] if run else None
        joined = last is not None and _joins(text[last.end() : word.start()], last.group())
        if run and not joined:
            yield run
            run, pending = [], []
        if _is_capitalised(word.group(), shouting):
            run += [*pending, word]
            pending = []
        elif run and word.group() in _PARTICLES:
            pending.append(word)
        elif run:
            yield run
            run, pending = [], []
    if run:
        yield run


def _begins_sentence(text: str, position: int) -> bool:
    while position and text[position - 1] in _BEFORE_SENTENCE:
        position -= 1
    return position == 0 or text[position - 1] in _SENTENCE_ENDS


def _joins(gap: str, before: str) -> bool:
    return gap == " " or (gap == ". " and before.lower() in _ABBREVIATIONS)


def _is_capitalised(word: str, shouting: bool) -> bool:
    if shouting and word.isupper():
        return False
    return _base(word) != "i" and (word[0].isupper() or _looks_named(word, shouting))


def _looks_named(word: str, shouting: bool) -> bool:
    stem = word.replace("’", "'").removesuffix("'s")
    has_inner_capital = any(letter.isupper() for part in stem.split("-") for letter in part[1:])
    return has_inner_capital and not (shouting and word.isupper())


def _base(word: str) -> str:
    return word.replace("’", "'").split("'")[0].lower()


def _substrings(run: str) -> Iterator[str]:
    for start in range(len(run)):
        for end in range(min(len(run), start + 6), start + 1, -1):
            yield run[start:end]
