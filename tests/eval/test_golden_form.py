"""The golden set in eval/golden keeps its form: unique ids, references that resolve, counts, dates, fair traps."""

from __future__ import annotations

import json
import re
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

Row = dict[str, Any]

GOLDEN = Path(__file__).resolve().parents[2] / "eval" / "golden"
BANK, OTHER = "golden", "golden-other"
CLOCK = datetime.fromisoformat("2026-06-30T12:00:00+00:00")
LANGS = ("en", "pt", "zh", "de")
MEMORY_CATEGORIES = {"preference", "fact", "behavior", "context", "general"}
QUERY_CATEGORIES = {
    "lexical",
    "paraphrase",
    "identity",
    "temporal-update",
    "dated-event",
    "durable-old",
    "cluster-only",
    "cjk",
    "negation",
    "scope-leak",
    "no-answer",
}
UNANSWERED = {"scope-leak", "no-answer"}
MEMORY_FIELDS: dict[str, type | tuple[type, ...]] = {
    "id": str,
    "bank": str,
    "text": str,
    "lang": str,
    "category": str,
    "tags": list,
    "entities": list,
    "confidence": float,
    "pinned": bool,
    "created_at": str,
    "superseded_by": (str, type(None)),
    "dup_of": (str, type(None)),
}
QUERY_FIELDS: dict[str, type | tuple[type, ...]] = {
    "id": str,
    "bank": str,
    "query": str,
    "lang": str,
    "category": str,
    "asked_at": str,
    "relevant": list,
    "traps": list,
}
CJK = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
FUNCTION_WORDS = """
    a about am are as at be became by did do does for from have how i in is it many may me much my of on or should
    spend the to up was we what when where which who with
"""


def read(name: str) -> list[Row]:
    text = (GOLDEN / name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


MEMORIES = read("memories.jsonl")
QUERIES = read("queries.jsonl")
BY_ID: dict[str, Row] = {row["id"]: row for row in MEMORIES}
MINE = [row for row in MEMORIES if row["bank"] == BANK]


def moment(value: str) -> datetime:
    """An RFC 3339 time with an offset; a naive one is refused."""
    parsed = datetime.fromisoformat(value.replace("Z", "+00:00"))
    assert parsed.tzinfo is not None, f"{value} has no offset"
    return parsed


def live(row: Row) -> bool:
    return row["superseded_by"] is None


def words(text: str) -> set[str]:
    """Content words in lower case with a light plural stem, enough to see an overlap."""
    ignored = set(FUNCTION_WORDS.split())
    found = {word for word in re.findall(r"\w+", text.lower()) if word not in ignored}
    return {word[:-1] if len(word) > 3 and word.endswith("s") else word for word in found}


def of_category(category: str) -> list[Row]:
    return [query for query in QUERIES if query["category"] == category]


def test_files_end_with_a_newline_and_hold_no_blank_line() -> None:
    for name in ("memories.jsonl", "queries.jsonl"):
        text = (GOLDEN / name).read_text(encoding="utf-8")
        assert text.endswith("\n")
        assert "\n\n" not in text


def test_ids_are_unique() -> None:
    for rows in (MEMORIES, QUERIES):
        counts = Counter(row["id"] for row in rows)
        assert [name for name, count in counts.items() if count > 1] == []


def test_texts_and_queries_are_unique() -> None:
    assert len({(row["bank"], row["text"]) for row in MEMORIES}) == len(MEMORIES)
    assert len({row["query"] for row in QUERIES}) == len(QUERIES)


def test_memory_form() -> None:
    for row in MEMORIES:
        assert set(row) - {"role"} == set(MEMORY_FIELDS)
        for field, kind in MEMORY_FIELDS.items():
            assert isinstance(row[field], kind), (row["id"], field)
        assert re.fullmatch(r"[go]-\d{3}", row["id"])
        assert row["id"].startswith("g-") == (row["bank"] == BANK)
        assert row["bank"] in {BANK, OTHER}
        assert row["lang"] in LANGS
        assert row["category"] in MEMORY_CATEGORIES
        assert row.get("role", "user") in {"user", "assistant", "system"}
        assert 3 <= len(row["text"]) <= 200
        assert row["text"] == row["text"].strip()
        assert 0.5 <= row["confidence"] <= 1.0
        assert len(row["tags"]) <= 3
        assert len(row["entities"]) <= 8
        for label in row["tags"] + row["entities"]:
            assert label
            assert label == label.strip().lower()
        assert (row["lang"] == "zh") == bool(CJK.search(row["text"]))


def test_query_form() -> None:
    for query in QUERIES:
        assert set(query) == set(QUERY_FIELDS)
        for field, kind in QUERY_FIELDS.items():
            assert isinstance(query[field], kind), (query["id"], field)
        assert re.fullmatch(r"q-\d{3}", query["id"])
        assert query["bank"] == BANK
        assert query["lang"] in LANGS
        assert query["category"] in QUERY_CATEGORIES
        assert query["query"].strip()
        assert moment(query["asked_at"]) == CLOCK


def test_relevant_is_live_and_in_the_bank_of_the_query() -> None:
    for query in QUERIES:
        assert len(set(query["relevant"])) == len(query["relevant"])
        for name in query["relevant"]:
            assert name in BY_ID, name
            assert BY_ID[name]["bank"] == query["bank"]
            assert live(BY_ID[name]), f"{name} is superseded"
        assert (query["relevant"] == []) == (query["category"] in UNANSWERED)


def test_traps_resolve_and_are_not_relevant() -> None:
    for query in QUERIES:
        assert len(set(query["traps"])) == len(query["traps"])
        assert set(query["traps"]) <= set(BY_ID)
        assert not set(query["traps"]) & set(query["relevant"])
        foreign = {name for name in query["traps"] if BY_ID[name]["bank"] != query["bank"]}
        assert bool(foreign) == (query["category"] == "scope-leak")


def test_a_dup_pair_is_relevant_as_a_whole() -> None:
    for query in QUERIES:
        relevant = set(query["relevant"])
        for row in MINE:
            if row["dup_of"] is not None:
                assert (row["id"] in relevant) == (row["dup_of"] in relevant)


def test_dates_parse_and_lie_before_the_clock() -> None:
    moments = [moment(row["created_at"]) for row in MEMORIES]
    assert max(moments) < CLOCK
    assert {stamp.year for stamp in moments} >= {2023, 2024, 2025, 2026}
    mine = [(row["created_at"], row["id"]) for row in MINE]
    assert [name for _, name in sorted(mine, key=lambda pair: moment(pair[0]))] == [name for _, name in mine]


def test_superseded_pairs() -> None:
    losers = [row for row in MINE if row["superseded_by"] is not None]
    assert len(losers) >= 6
    for row in losers:
        winner = BY_ID[row["superseded_by"]]
        assert winner["id"] != row["id"]
        assert live(winner)
        assert (winner["bank"], winner["lang"]) == (row["bank"], row["lang"])
        assert moment(winner["created_at"]) > moment(row["created_at"])
        assert row["dup_of"] is None
        assert not row["pinned"]


def test_each_superseded_memory_is_the_trap_of_an_update_query() -> None:
    trapped = {name for query in of_category("temporal-update") for name in query["traps"]}
    assert {row["id"] for row in MINE if not live(row)} <= trapped
    for query in of_category("temporal-update"):
        assert query["traps"]
        for name in query["traps"]:
            assert BY_ID[name]["superseded_by"] in query["relevant"]


def test_dup_pairs_are_live_and_asked_for() -> None:
    pairs = [row for row in MEMORIES if row["dup_of"] is not None]
    assert len(pairs) >= 5
    wanted = {name for query in QUERIES for name in query["relevant"]}
    for row in pairs:
        original = BY_ID[row["dup_of"]]
        assert live(row)
        assert live(original)
        assert original["dup_of"] is None
        assert (original["bank"], original["lang"]) == (row["bank"], row["lang"])
        assert row["id"] in wanted


def test_memory_counts() -> None:
    counts = Counter(row["lang"] for row in MINE)
    assert len(MINE) >= 110
    assert counts["en"] >= 50
    assert all(counts[lang] >= 20 for lang in ("pt", "zh", "de"))
    assert len([row for row in MEMORIES if row["bank"] == OTHER]) >= 12
    assert {row["category"] for row in MEMORIES} == MEMORY_CATEGORIES
    assert any(row["pinned"] for row in MINE)


def test_query_counts() -> None:
    counts = Counter(query["lang"] for query in QUERIES)
    assert len(QUERIES) >= 110
    assert counts["en"] >= 50
    assert all(counts[lang] >= 20 for lang in LANGS)
    answerable = Counter(query["lang"] for query in QUERIES if query["relevant"])
    assert all(answerable[lang] >= 20 for lang in LANGS)
    assert {query["category"] for query in QUERIES} == QUERY_CATEGORIES
    for category in ("identity", "temporal-update", "dated-event", "durable-old", "negation", *UNANSWERED):
        assert {query["lang"] for query in of_category(category)} == set(LANGS), category


def test_durable_old_targets_are_older_than_400_days_and_still_hold() -> None:
    targets = {name for query in of_category("durable-old") for name in query["relevant"]}
    assert len(targets) >= 5
    for name in targets:
        assert CLOCK - moment(BY_ID[name]["created_at"]) >= timedelta(days=400)


def test_identity_targets_say_who_the_user_is() -> None:
    marked = {row["id"] for row in MINE if live(row) and "user" in row["entities"]}
    for query in of_category("identity"):
        relevant = set(query["relevant"])
        assert relevant & marked
        if len(relevant) > 6:
            assert relevant >= marked


def test_cluster_only_queries_share_no_word_with_their_targets() -> None:
    for query in of_category("cluster-only"):
        for name in query["relevant"]:
            assert not words(query["query"]) & words(BY_ID[name]["text"]), (query["id"], name)


def test_cjk_queries_ask_for_short_words() -> None:
    runs = [re.findall(CJK.pattern + "+", query["query"]) for query in of_category("cjk")]
    lengths = Counter(len(run) for found in runs for run in found)
    assert lengths[1] >= 3
    assert lengths[2] >= 3


def test_negation_pairs_trap_each_other() -> None:
    for query in of_category("negation"):
        assert len(query["relevant"]) == 1
        assert query["traps"]
