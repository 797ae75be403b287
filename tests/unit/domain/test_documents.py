"""
Long-term documents without a store: legal paths, sections, passages, and what an append makes of a text.
"""

from datetime import UTC, date, datetime, time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.documents.appending import DailyCategory, addition_to, daily_addition_to, time_of, unknown_part
from app.domain.documents.changes import Addition, appending, removing, writing
from app.domain.documents.model import Change, Document, Step
from app.domain.documents.passages import passages_of, titles_text
from app.domain.documents.paths import WELL_KNOWN, check_path, daily_path, day_of, is_rule, rule_name, rule_path
from app.domain.documents.sections import TITLE_MAX, lines_of, sections_of
from app.errors import Conflict, InvalidInput

NOW = datetime(2026, 11, 30, 9, 15, tzinfo=UTC)
DAY = date(2026, 11, 30)

MARKS = ["# A", "## B", "### C c", "#", "####### no", "A\n===", "B\n---", "---", "```", "~~~", "> # quoted", "- # item",
         "    # code", "<div>", "key: value", "", "  ", "\t", "text", "多い", "👩‍👩‍👧 a", "x" * 300, "| a | b |",
         "[a]: b", "\ufeff# bom", "\r", "\x0b", "\u2028", "\x00"]  # fmt: skip
MARKDOWN = st.one_of(
    st.text(max_size=300),
    st.lists(st.one_of(st.sampled_from(MARKS), st.text(max_size=20)), max_size=30).map("\n".join),
    st.lists(st.sampled_from(MARKS), max_size=30).map("\r\n".join),
)


def document(content: str, path: str = "USER.md", revision: int = 1) -> Document:
    return Document(path, revision, content, NOW, NOW)


def headings(text: str) -> list[tuple[str, ...]]:
    return [section.heading for section in sections_of(lines_of(text))]


class TestPaths:
    @pytest.mark.parametrize(
        "path",
        [
            *WELL_KNOWN,
            "rules/style.md",
            "daily/2028-02-29.md",
            "topics/Über uns/猫.md",
            "a b.md",
            "x.y.md",
            "é" * 197 + ".md",
        ],
    )
    def test_b17_legal_paths_stay_as_they_are(self, path: str) -> None:
        assert check_path(path) == path

    @pytest.mark.parametrize(
        "path",
        [
            "", "/USER.md", "USER", "USER.txt", "USER.MD", "a/../b.md", "../b.md", "./b.md", "a//b.md", "a/b.md/",
            ".md", "a/.md", ".hidden/a.md", " /a.md", "x" * 198 + ".md",
            "a\\b.md", "a\nb.md", "a\x00.md", "a\x7f.md", "a\u2028b.md", "\ud800.md", "\ufdd0.md", "\uffff.md",
            "rules/a/b.md", "rules.d/../rules/a.md", "daily/notes.md", "daily/2026-02-30.md", "daily/2026-1-1.md",
            "daily/２０２６-01-01.md", "daily/a/2026-01-01.md",
        ],
    )  # fmt: skip
    def test_other_paths_are_refused_by_name(self, path: str) -> None:
        with pytest.raises(InvalidInput) as refused:
            check_path(path)
        assert [fault.field for fault in refused.value.fields] == ["path"]

    def test_one_name_is_one_document_however_it_was_typed(self) -> None:
        assert check_path("cafe\u0301.md") == check_path("caf\u00e9.md")

    @given(st.text(max_size=40))
    def test_a_path_is_taken_or_refused_and_what_is_taken_is_taken_again(self, path: str) -> None:
        for candidate in (path, f"{path}.md", f"rules/{path}.md", f"daily/{path}.md"):
            try:
                taken = check_path(candidate)
            except InvalidInput:
                continue
            assert check_path(taken) == taken

    def test_b27_a_day_has_one_log(self) -> None:
        assert daily_path(DAY) == "daily/2026-11-30.md"
        assert day_of(daily_path(DAY)) == DAY
        assert day_of("USER.md") is None
        assert day_of("other/2026-11-30.md") is None

    def test_i37_a_rule_is_named_with_or_without_its_suffix(self) -> None:
        assert rule_path("style") == rule_path("style.md") == "rules/style.md"
        assert rule_name("rules/style.md") == "style"
        assert is_rule("rules/style.md")
        assert not is_rule("USER.md")
        with pytest.raises(InvalidInput):
            rule_path("a/b")


class TestSections:
    @given(MARKDOWN)
    @settings(deadline=None)
    def test_sections_cover_every_line_once(self, text: str) -> None:
        lines = lines_of(text)
        covered: list[int] = []
        for section in sections_of(lines):
            assert section.first_line <= section.body_line <= section.last_line + 1
            covered += range(section.first_line, section.last_line + 1)
        assert covered == list(range(1, len(lines) + 1))

    def test_lines_are_those_of_markdown(self) -> None:
        assert lines_of("a\nb\r\nc\rd\x0be\u2028f\n") == ["a", "b", "c", "d\x0be\u2028f"]
        assert lines_of("") == []
        assert lines_of("\n") == [""]

    def test_a_section_has_the_titles_above_it(self) -> None:
        text = "before\n# A\n## B\nb\n### C\n## D\n# E\nSet\nin two\n---\nbody"
        assert headings(text) == [
            (), ("A",), ("A", "B"), ("A", "B", "C"), ("A", "D"), ("E",), ("E", "Set in two")
        ]  # fmt: skip

    def test_what_only_looks_like_a_heading_is_none(self) -> None:
        fences = "# A\n```\n# fenced\n```\n~~~md\n## fenced too\n~~~\n"
        text = f"{fences}    # code\n> # quoted\n\n- # in a list\n\n#tag\n####### seven"
        assert headings(text) == [("A",)]

    def test_a_fence_that_is_never_closed_reaches_to_the_end(self) -> None:
        assert headings("# A\n```\n# not\n# ever") == [("A",)]

    def test_a_front_matter_block_is_one_section(self) -> None:
        lines = lines_of("---\ntitle: x\n# comment\nlist:\n  - a\n---\n# A\ntext")
        front, body = sections_of(lines)
        assert (front.is_front_matter, front.first_line, front.last_line) == (True, 1, 6)
        assert (body.heading, body.first_line, body.is_front_matter) == (("A",), 7, False)

    @pytest.mark.parametrize("text", ["---\n# A\n---\ntext", "---\ntitle: x\n# A", "---", "a\n---\nb: c\n---"])
    def test_rules_are_no_front_matter(self, text: str) -> None:
        assert not any(section.is_front_matter for section in sections_of(lines_of(text)))

    def test_a_byte_order_mark_hides_nothing(self) -> None:
        assert headings("\ufeff# A\ntext") == [("A",)]
        assert sections_of(lines_of("\ufeff---\na: b\n---\n"))[0].is_front_matter

    def test_a_heading_too_long_for_a_title_is_text(self) -> None:
        long = "word " * TITLE_MAX
        passages = list(passages_of(f"# A\n## {long}\n### B\ntext", 1200, 100))
        assert {passage.heading for passage in passages} == {("A",), ("A", "B")}
        assert any("word word" in passage.text for passage in passages)


class TestPassages:
    @given(MARKDOWN, st.integers(3, 400), st.integers(0, 100))
    @settings(deadline=None)
    def test_every_line_that_says_something_is_in_a_passage(self, text: str, size: int, overlap: int) -> None:
        lines = lines_of(text)
        sections = sections_of(lines)
        told: set[int] = set()
        for passage in passages_of(text, size, overlap):
            assert 1 <= passage.first_line <= passage.last_line <= len(lines)
            assert passage.text.strip()
            told.update(range(passage.first_line, passage.last_line + 1))
        for section in sections:
            for number in range(section.body_line, section.last_line + 1):
                assert number in told or not lines[number - 1].strip()
        for section in sections:
            assert not section.heading or any(
                passage.heading[: len(section.heading)] == section.heading
                for passage in passages_of(text, size, overlap)
            )

    @given(MARKDOWN.filter(lambda text: not text.startswith("---")), st.integers(40, 400))
    @settings(deadline=None)
    def test_passages_have_their_size(self, text: str, size: int) -> None:
        assert all(len(passage.text) <= size for passage in passages_of(text, size, 10) if "\u200d" not in passage.text)

    def test_a_passage_begins_with_its_titles(self) -> None:
        text = "# Ana\n\n## Food\n\nLikes oat milk\n\n### Not\nNuts\n"
        found = [(p.text, p.first_line, p.last_line) for p in passages_of(text, 1200, 150)]
        assert found == [("Ana > Food\nLikes oat milk", 5, 5), ("Ana > Food > Not\nNuts", 8, 8)]

    def test_a_heading_with_nothing_under_it_is_found_too(self) -> None:
        assert [p.text for p in passages_of("# A\n## B\n## C\n", 1200, 150)] == ["A > B", "A > C"]

    def test_a_long_section_is_several_passages_that_each_name_their_titles(self) -> None:
        body = "\n".join(f"Line {number} says something of its own." for number in range(200))
        passages = list(passages_of(f"# Log\n{body}\n", 400, 50))
        assert len(passages) > 15
        assert all(p.text.startswith("Log\n") and len(p.text) <= 400 for p in passages)
        assert (passages[0].first_line, passages[-1].last_line) == (2, 201)
        assert all(f"Line {p.last_line - 2} " in p.text for p in passages)

    def test_front_matter_is_one_passage_however_long(self) -> None:
        front = "---\n" + "".join(f"key{number}: value\n" for number in range(100)) + "---"
        first = next(iter(passages_of(f"{front}\n# A\ntext", 200, 0)))
        assert (first.text, first.heading, first.last_line) == (front, (), 102)

    def test_the_outermost_titles_are_left_out_first(self) -> None:
        assert titles_text(("aaaa", "bbbb", "cccc"), 11) == "bbbb > cccc"
        assert titles_text(("aaaa", "one two three"), 8) == "one two…"
        assert titles_text((), 8) == ""


class TestAppending:
    @given(MARKDOWN, MARKDOWN.filter(lambda text: text.strip("\r\n").strip()), st.none() | st.just("Topic"))
    @settings(deadline=None)
    def test_t004_an_append_leaves_all_that_was_there(self, content: str, text: str, heading: str | None) -> None:
        added = addition_to(content, text, heading)
        assert text.strip("\r\n") in added
        assert added.endswith("\n")
        assert not content or content.endswith("\n\n") or added.startswith("\n")

    def test_a_heading_is_one_of_level_two_unless_it_says_otherwise(self) -> None:
        assert addition_to("", "x", "Topic") == "## Topic\n\nx\n"
        assert addition_to("a", "x", "### Topic\nmore") == "\n\n### Topic more\n\nx\n"
        assert addition_to("a\n", "x\n\n", None) == "\nx\n"

    @pytest.mark.parametrize(("text", "heading"), [("", None), (" \n", "A"), ("x", ""), ("x", "##"), ("x", "h" * 201)])
    def test_an_append_without_text_or_title_is_refused(self, text: str, heading: str | None) -> None:
        with pytest.raises(InvalidInput):
            addition_to("a", text, heading)

    def test_b27_a_daily_log_has_its_day_as_title_and_sections_by_time(self) -> None:
        first = daily_addition_to("", "Looked it up", "research", DAY, time(9, 5))
        assert first == "# 2026-11-30\n\n## 09:05 - Research\n\nLooked it up\n"
        second = daily_addition_to(first, "Started", None, DAY, time(18, 30))
        assert second == "\n## 18:30 - System\n\nStarted\n"
        assert headings(first + second) == [
            ("2026-11-30",), ("2026-11-30", "09:05 - Research"), ("2026-11-30", "18:30 - System")
        ]  # fmt: skip

    @pytest.mark.parametrize("category", DailyCategory)
    def test_b28_the_four_categories_are_known_in_any_case(self, category: DailyCategory) -> None:
        assert f"## 07:00 - {category}\n" in daily_addition_to("x", "y", category.upper(), DAY, time(7))

    def test_a_daily_heading_that_names_its_time_keeps_it(self) -> None:
        assert "## 23:59 - Walk\n" in daily_addition_to("x", "y", "## 23:59 - Walk", DAY, time(7))
        assert time_of(("2026-11-30", "23:59 - Walk")) == time(23, 59)
        assert time_of(("2026-11-30", "24:00 - Walk")) is None

    def test_t022_what_is_there_already_is_not_added_again(self) -> None:
        old = "# Ana\n\n## Food\n\nLikes oat milk\n\n## Work\n\nNurse\n"
        assert unknown_part(old, f"{old}\n## Pets\n\nMiso, a cat\n").strip() == "## Pets\n\nMiso, a cat"
        assert unknown_part(old, "## Food\n\nLikes oat milk\nHates nuts\n").strip() == "## Food\n\nHates nuts"
        assert unknown_part(old, "## Food\n\nLikes oat milkshakes\n").strip() == "## Food\n\nLikes oat milkshakes"
        assert unknown_part(old, old).strip() == ""
        assert unknown_part(old, "plain words") == "plain words"

    @given(MARKDOWN)
    @settings(deadline=None)
    def test_t022_a_text_under_headings_adds_nothing_to_itself(self, text: str) -> None:
        titled = f"# Title\n{text}"
        left = unknown_part(titled, titled)
        assert all(not heading for heading in headings(left))


class TestChanges:
    def test_what_is_written_is_a_step_unless_it_is_there(self) -> None:
        assert writing("USER.md", None, "x", "why") == Step(Change.CREATED, "x", "x", "why")
        assert writing("USER.md", document("x"), "y", None) == Step(Change.REPLACED, "y", "y")
        same = document("x")
        assert writing("USER.md", same, "x", None) is same
        assert removing("why") == Step(Change.DELETED, "", "", "why")

    def test_b27_a_daily_log_only_grows(self) -> None:
        path = daily_path(DAY)
        assert writing(path, document("a\n", path), "a\nb\n", None) == Step(Change.APPENDED, "a\nb\n", "b\n")
        with pytest.raises(Conflict):
            writing(path, document("a\n", path), "b\n", None)

    def test_an_append_makes_a_document_or_grows_one(self) -> None:
        more = Addition("USER.md", "x", NOW, request_key="k")
        assert appending(None, more) == Step(Change.CREATED, "x\n", "x\n", None, "k")
        assert appending(document("a\n"), more) == Step(Change.APPENDED, "a\n\nx\n", "\nx\n", None, "k")

    def test_t022_only_new_leaves_a_document_as_it_is_where_nothing_is_new(self) -> None:
        there = document("## A\n\na\n")
        assert appending(there, Addition("USER.md", "## A\n\na\n", NOW, only_new=True)) is there
        assert appending(there, Addition("USER.md", "## A\n\na\n", NOW)) == Step(
            Change.APPENDED, "## A\n\na\n\n## A\n\na\n", "\n## A\n\na\n"
        )
