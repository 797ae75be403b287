"""
The fake model's understanding: a small grammar that finds the same statements and rules in the same sentences.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
NAMES_MAX = 7

_SENTENCE = re.compile(r"[^.!?。！？\n]+(?:\.(?=\w)[^.!?。！？\n]*)*[.!?。！？]*")
_CLAUSE = re.compile(r",? (?:and|but) (?=I\b|my\b)|; ")
_RULE = re.compile(r"^(?:please,? |from now on,? )*((?:always|never|stop|do not ever|don't ever)\b.+)", re.IGNORECASE)
_FROM_NOW_ON = re.compile(r"^(?:please,? )?from now on,? (.+)", re.IGNORECASE)
_I_AM = re.compile(
    r"\bI(?:'m| am) (?!(?:going|not sure|sorry|here|back|fine|ok|okay|tired|done|afraid|glad|happy to|just)\b)(.+)"
)
_PRESENT = "like|love|hate|prefer|dislike|enjoy|need|want|live|work|use|have|own|play|speak|drink|eat|study|teach|avoid"
_PAST = (
    "moved|adopted|bought|started|finished|booked|signed|got|grew|studied|met|sold|broke|lost|married|quit|joined|was"
)
_I_DO = re.compile(rf"\bI (?:(?:really|also|now|usually|still) )?(?:({_PRESENT})|({_PAST}))\b(.*)")
_MY = re.compile(r"\b[Mm]y ([\w' -]{2,40}?) (is|are|was|were|has|lives|works|likes|loves|hates|starts|runs) (.+)")
_THING = re.compile(r"^(?:The|Our) [\w' -]{2,40}? (?:is|are|runs|lives|uses|starts) .+")
_CALL_ME = re.compile(r"\bcall me ([\w' -]+)", re.IGNORECASE)
_ELSEWHERE = re.compile(
    r"^(?:ich (?:bin|heiße|mag|wohne)|meine? |eu (?:sou|gosto|moro)|minha? |meu |me llamo|soy |me gusta"
    r"|je (?:suis|m'appelle)|j'aime|我是|我喜欢|我叫|我住|私は|僕は|저는|나는)",
    re.IGNORECASE,
)
_PENDING = re.compile(
    r"\b(?:need to|have to|must|to-?do|remind|follow up|pending|unresolved|I'll|we'll|let's|waiting for)\b",
    re.IGNORECASE,
)
_PREFERENCE = re.compile(
    r"\b(?:likes?|loves?|hates?|prefers?|dislikes?|enjoys?|avoids?|wants?|mag|gosto|gusta|aime)\b|喜欢"
)
_HABIT = re.compile(r"\b(?:usually|every (?:day|week|morning|evening|month)|plays?|drinks?|eats?)\b")
_NAME = re.compile(r"(?<![.!?] )(?<!^)\b[A-Z][\w'-]+")
_AGO = re.compile(r"\b(\d{1,3}) days? ago\b", re.IGNORECASE)
_WEEKDAY = re.compile(rf"\b(?:(last|next|on) )?({'|'.join(WEEKDAYS)})\b", re.IGNORECASE)
_NEAR = {"today": 0, "tonight": 0, "this morning": 0, "yesterday": -1, "tomorrow": 1}
_NEAR_WORD = re.compile(rf"\b({'|'.join(_NEAR)})\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Statement:
    """
    What one sentence says: its wording without "I" and "today", and the date it speaks of.
    """

    text: str
    kind: str
    category: str
    occurred: str | None
    entities: tuple[str, ...]


def sentences(text: str) -> list[str]:
    """
    The sentences of a text, trimmed.
    """
    return [found for part in _SENTENCE.findall(text) if (found := part.strip())]


def statements(text: str, speaker: str | None, at: datetime) -> Iterator[Statement]:
    """
    The statements and rules of what a user said at that moment; questions hold none.
    """
    who = speaker or "The user"
    for sentence in sentences(text):
        if sentence.endswith(("?", "？")):
            continue
        body = sentence.rstrip(".!。！ ")
        rule = _RULE.match(body) or _FROM_NOW_ON.match(body)
        if rule:
            yield Statement(f"{_capital(rule[1])}.", "rule", "preference", None, ())
            continue
        for clause in _CLAUSE.split(body):
            dated, day = dated_text(clause, at.date())
            told = _told(dated, who)
            if told is None:
                continue
            if day is not None and day.isoformat() not in told:
                told = f"{told} on {day.isoformat()}"
            yield Statement(
                f"{told}.",
                "memory",
                category_of(told),
                None if day is None else day.isoformat(),
                tuple(dict.fromkeys([*([speaker.lower()] if speaker else []), *names(told)])),
            )


def pending(text: str, at: datetime) -> list[str]:
    """
    The sentences that leave something to be done, dated.
    """
    return [dated_text(sentence, at.date())[0] for sentence in sentences(text) if _PENDING.search(sentence)]


def names(text: str) -> list[str]:
    """
    Capitalised words inside sentences, in lower case.
    """
    return [name.lower().removesuffix("'s") for name in _NAME.findall(text)][:NAMES_MAX]


def category_of(text: str) -> str:
    """
    The category of a statement, by its words.
    """
    if _PREFERENCE.search(text):
        return "preference"
    return "behavior" if _HABIT.search(text) else "fact"


def dated_text(text: str, day: date) -> tuple[str, date | None]:
    """
    The text with the date in place of "today" and the like, counted from `day`; and that date, if there was one.
    """
    found: list[date] = []

    def put(moment: date) -> str:
        found.append(moment)
        return f"on {moment.isoformat()}"

    text = _NEAR_WORD.sub(lambda word: put(day + timedelta(days=_NEAR[word[1].lower()])), text)
    text = _AGO.sub(lambda word: put(day - timedelta(days=int(word[1]))), text)
    text = _WEEKDAY.sub(lambda word: put(_weekday(day, word[2].lower(), back=(word[1] or "").lower() == "last")), text)
    return text, found[0] if found else None


def _weekday(day: date, name: str, *, back: bool) -> date:
    ahead = (WEEKDAYS.index(name) - day.weekday()) % 7 or 7
    return day + timedelta(days=ahead - 7 if back and ahead != 7 else -7 if back else ahead)


def _told(body: str, who: str) -> str | None:
    if _ELSEWHERE.match(body):
        return f"{who}: {body}"
    if found := _CALL_ME.search(body):
        return f"{who} wants to be called {found[1]}"
    if found := _I_AM.search(body):
        return f"{who} is {_third(found[1])}"
    if found := _MY.search(body):
        return f"{who}'s {found[1]} {found[2]} {_third(found[3])}"
    if found := _I_DO.search(body):
        verb = found[2] or ("has" if found[1] == "have" else _with_s(found[1]))
        return f"{who} {verb}{_third(found[3])}"
    return body if _THING.match(body) else None


def _with_s(verb: str) -> str:
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}es" if verb.endswith(("ch", "sh", "s")) else f"{verb}s"


def _third(text: str) -> str:
    return re.sub(r"\bmy\b", "their", re.sub(r"\bme\b", "them", text)).rstrip()


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
