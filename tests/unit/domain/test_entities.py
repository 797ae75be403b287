"""
Handles are found in what people write.
"""

import pytest
from hypothesis import given

from app.domain.entities import (
    HANDLE_CHARS_MAX,
    HANDLES_MAX,
    as_written,
    handles,
    mentioned_handles,
    names,
    normalise_handle,
    query_handles,
    speaks_of_self,
)
from tests.unit.domain.words import any_text


class Everything:
    """
    Knows every handle.
    """

    def __contains__(self, handle: object) -> bool:
        return True


@given(any_text)
def test_any_text_gives_few_normalised_handles(text: str) -> None:
    found = handles(text)
    assert len(found) == len(set(found)) <= HANDLES_MAX
    assert all(0 < len(handle) <= HANDLE_CHARS_MAX for handle in found)
    assert all(normalise_handle(handle) == handle for handle in found)
    assert handles(text) == found


@given(any_text)
def test_any_query_names_nothing_that_is_not_known(text: str) -> None:
    assert query_handles(text, frozenset()) == ()
    assert "" not in query_handles(text, Everything())


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("I went to Lisbon with Ana Maria da Silva.", ("lisbon", "ana maria da silva")),
        ("Coffee is good. We like Mike's coffee.", ("mike",)),
        ("Grafana is up. I like Grafana.", ("grafana",)),
        ("Yesterday Tom called. Maybe Tom will come.", ("tom",)),
        ("NASA launched it", ("nasa",)),
        ("GitHub is down, says iPhone", ("github", "iphone")),
        ("ask @bob_b or @ann.lee. about #blog-posts", ("bob_b", "ann.lee", "blog")),
        ('She read "The Dispossessed" twice', ("the dispossessed",)),
        ("he said “well, no” and left", ()),
        ("我喜欢「千と千尋」和《三体》", ("千と千尋", "三体")),
        ("Dr. Smith met Mr. Jones", ("dr smith", "mr jones")),
        ("write to a.b@example.com", ()),
        ("see you on Monday in March", ()),
        ("THIS IS ALL VERY LOUD", ()),
        ("I think I am I", ()),
        ("Well-Being matters", ()),
        ("", ()),
    ],
)
def test_handles_of_common_forms(text: str, found: tuple[str, ...]) -> None:
    assert handles(text) == found


def test_d16_a_statement_about_the_user_bears_the_handle_user() -> None:
    assert handles("User is a nurse in Pune") == ("user", "pune")
    assert handles("User: how do I deploy?") == ()


@pytest.mark.parametrize(
    "query",
    [
        "Who am I?",
        "what do you know about me",
        "I'm back",
        "o que sabe sobre mim",
        "was weißt du über mich",
        "我叫什么名字",
    ],
)
def test_d16_the_first_person_names_the_user(query: str) -> None:
    assert speaks_of_self(query)
    assert query_handles(query, {"user"}) == ("user",)
    assert query_handles(query, {"ana"}) == ()


@pytest.mark.parametrize("query", ["who is Ana?", "mine-craft in the iris", "him"])
def test_other_persons_are_not_the_user(query: str) -> None:
    assert not speaks_of_self(query)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("what does caroline's dog like", ("caroline",)),
        ("Ana Maria?", ("ana maria", "ana")),
        ('is "next.js" slow', ("next.js",)),
        ("我看过三体吗", ("三体", "user")),
        ("hanabi", ()),
    ],
)
def test_query_handles_are_found_in_any_case(query: str, found: tuple[str, ...]) -> None:
    known = {"caroline", "ana maria", "ana", "next.js", "三体", "user"}
    assert query_handles(query, known) == found


@pytest.mark.parametrize(
    ("text", "handle"),
    [
        ("@Bob", "bob"),
        ("#Tag!", "tag"),
        (" Ana   Maria's ", "ana maria"),
        ("“DUNE”", "dune"),
        ("Ｎ Ａ", "n a"),
        ("!?", ""),
    ],
)
def test_normal_form_of_a_handle(text: str, handle: str) -> None:
    assert normalise_handle(text) == handle


def test_long_text_of_marks_is_read_in_one_pass() -> None:
    assert handles("A" + " -" * 50_000 + "\nB") == ()
    assert normalise_handle(" -" * 50_000) == ""


def test_t025_a_name_is_kept_as_it_is_written() -> None:
    assert names("We met DGIA's people and Ana Maria in Lisbon.") == {
        "dgia": "DGIA",
        "ana maria": "Ana Maria",
        "lisbon": "Lisbon",
    }
    assert as_written("Bob bakes bread", "bob") == "Bob"
    assert as_written("the Big\n Apple, the big apple", "big apple") == "Big Apple"
    assert as_written("nothing of it", "bob") == "bob"


def test_a_statement_mentions_known_names_in_any_case() -> None:
    known = {"dgia", "ana maria", "user"}
    assert mentioned_handles("met ANA MARIA of dgia; I am a user", known) == ("ana maria", "dgia")
