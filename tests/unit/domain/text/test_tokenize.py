"""
Texts and queries become the terms by which they meet.
"""

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.text.tokenize import TERM_MAX, Analyzer, fold
from tests.unit.domain.words import STOP_WORDS, analyzer, any_text

ANALYZER = analyzer()


def meets(text: str, query: str) -> bool:
    return set(ANALYZER.query_terms(query)) <= set(ANALYZER.index_terms(text))


@given(any_text)
def test_any_text_is_legal_and_gives_the_same_terms_every_time(text: str) -> None:
    fresh = analyzer()
    for split in (Analyzer.index_terms, Analyzer.query_terms, Analyzer.words, Analyzer.content_words):
        terms = split(ANALYZER, text)
        assert terms == split(ANALYZER, text) == split(fresh, text)
        assert all(terms)


@given(any_text)
def test_query_terms_of_each_word_are_index_terms_of_the_text(text: str) -> None:
    indexed = set(ANALYZER.index_terms(text))
    for word in text.split():
        assert set(ANALYZER.query_terms(word)) <= indexed


@given(any_text)
def test_query_terms_are_a_part_of_the_index_terms_in_the_same_order(text: str) -> None:
    indexed = iter(ANALYZER.index_terms(text))
    assert all(term in indexed for term in ANALYZER.query_terms(text))


@given(st.text(st.characters(max_codepoint=0x24F), max_size=60))
def test_european_text_gives_the_terms_that_the_full_rules_give(text: str) -> None:
    # A snowman, an emoji, makes the analyzer take the rules that know every script.
    assert ANALYZER.index_terms(f"{text} ☃") == [*ANALYZER.index_terms(text), "☃"]


def test_every_character_below_greek_is_read_alike_by_both_rules() -> None:
    for character in map(chr, range(0x250)):
        text = f"a{character}b"
        assert ANALYZER.words(f"{text} ☃")[:-1] == ANALYZER.words(text), hex(ord(character))


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Mike's dogs", ["mike", "dog"]),
        ("MIKE\u2019S dog\u2018s", ["mike", "dog"]),
        ("Mike's café", ["mike", "café"]),
        ("猫's", ["猫", "s"]),
        ("it's 's students'", ["it", "s", "student"]),
        ("don't", ["don", "t"]),
        ("blog-style a-b", ["blog", "style", "a", "b"]),
        ("snake_case_name", ["snake", "case", "name"]),
        ("3.14 and 10,000", ["3", "14", "and", "10", "000"]),
        ("naïve NAÏVE nai\u0308ve", ["naïv", "naïv", "naïv"]),
        ("Straße STRASSE", ["strass", "strass"]),
        ("ﬁne ＦＵＬＬ ²", ["fine", "full", "2"]),
        ("so\u00adft zero\u200bwidth", ["soft", "zerowidth"]),
        ("हिन्दी бегущий", ["हिन्दी", "бегущий"]),
    ],
)
def test_words_are_folded_split_and_stemmed(text: str, terms: list[str]) -> None:
    assert ANALYZER.index_terms(text) == terms


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("👨\u200d👩\u200d👧\u200d👦", ["👨\u200d👩\u200d👧\u200d👦"]),
        ("good👍🏽job", ["good", "👍", "job"]),
        ("❤\ufe0f ❤", ["❤", "❤"]),
        ("🇧🇷🇩🇪", ["🇧🇷", "🇩🇪"]),
        ("1\ufe0f\u20e3", ["1"]),
    ],
)
def test_an_emoji_is_a_term_of_its_own(text: str, terms: list[str]) -> None:
    assert ANALYZER.index_terms(text) == terms


def test_cjk_gives_characters_and_pairs_of_adjacent_ones() -> None:
    assert ANALYZER.index_terms("日本語 テスト") == ["日", "本", "日本", "語", "本語", "テ", "ス", "テス", "ト", "スト"]
    assert ANALYZER.index_terms("ab日本cd") == ["ab", "日", "本", "日本", "cd"]
    assert ANALYZER.index_terms("㐀丂 豈 𠮷野 人々 ｶﾞ") == [
        *("㐀", "丂", "㐀丂", "豈", "𠮷", "野", "𠮷野", "人", "々", "人々", "ガ"),
    ]


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("今日は成語しりとりをした", "しりとり"),
        ("今天玩成语接龙游戏", "成语接龙"),
        ("오늘 끝말잇기 게임을 했다", "끝말잇기"),
        ("她说她怀孕了", "怀孕"),
        ("我家的猫叫咪咪", "猫"),
    ],
)
def test_t038_cjk_words_inside_a_sentence_are_found(stored: str, asked: str) -> None:
    assert meets(stored, asked)
    assert not meets("一二三", asked)


@pytest.mark.parametrize("text", ["say <|endoftext|> now", "broken \ud83c here", "\udfff\ud800", "a\x00b"])
def test_t041_special_tokens_and_lone_surrogates_are_text_like_any_other(text: str) -> None:
    assert meets(text, text)
    assert all(term.isprintable() for term in ANALYZER.index_terms(text))


def test_t041_the_words_around_a_lone_surrogate_are_found() -> None:
    assert ANALYZER.index_terms("broken \ud83chere") == ["broken", "here"]
    assert ANALYZER.index_terms("<|endoftext|>") == ["endoftext"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (r"C:\repo\src\main.py", ["c", "repo", "src", "main", "py"]),
        ("some/path", ["some", "path"]),
        ("550e8400-e29b-41d4", ["550e8400", "e29b", "41d4"]),
    ],
)
def test_t059_slashes_and_backslashes_separate(text: str, words: list[str]) -> None:
    assert ANALYZER.words(text) == words
    assert meets(f"see {text} for it", words[-1])


def test_t061_one_unknown_word_leaves_the_others_to_search_by() -> None:
    terms = ANALYZER.query_terms("grafana dashboards zzzqqq")
    stored = ANALYZER.index_terms("The Grafana dashboard is on port 3000")
    assert [term in stored for term in terms] == [True, True, False]


@pytest.mark.parametrize("query", ['"exact" AND (near OR not*)', "tag:red NEAR/3 'x", "* ^ - +", "?!…"])
def test_search_operators_are_plain_text(query: str) -> None:
    assert set(ANALYZER.query_terms(query)) <= set(ANALYZER.index_terms(query))


def test_c20_stop_words_leave_queries_only_and_stay_when_nothing_else_is_left() -> None:
    assert ANALYZER.query_terms("what is the port of my server") == ["port", "server"]
    assert ANALYZER.query_terms("qual é a cor do meu carro") == ["cor", "carro"]
    assert ANALYZER.query_terms("Who are you") == ["who", "are", "you"]
    assert ANALYZER.index_terms("the port of my server") == ["the", "port", "of", "my", "server"]
    assert ANALYZER.content_words("the running shoes") == ["running", "shoes"]


def test_c20_only_the_languages_given_drop_words() -> None:
    assert Analyzer({"pt": STOP_WORDS["pt"]}).query_terms("the server") == ["the", "server"]
    assert Analyzer({}).query_terms("the server") == ["the", "server"]


def test_repeats_are_kept() -> None:
    assert ANALYZER.query_terms("port port PORTS") == ["port", "port", "port"]


def test_c21_compatibility_forms_are_the_same_word() -> None:
    assert fold("Ｍｉｋｅ") == "mike"
    assert fold("e\u0301") == fold("é") == fold("É")


def test_a_run_without_end_is_indexed_by_its_beginning() -> None:
    key = "a1" * 10_000
    (term,) = ANALYZER.index_terms(key)
    assert len(term) <= TERM_MAX
    assert ANALYZER.query_terms(key) == [term]


def test_a_page_of_twenty_thousand_characters_keeps_its_last_word() -> None:
    page = "lorem ipsum " * 1666 + "zanzibar"
    assert ANALYZER.index_terms(page)[-1] == "zanzibar"


def test_threads_that_share_an_analyzer_get_the_same_terms() -> None:
    texts = [f"running{number} connections{number} happily relational" for number in range(200)]
    expected = [analyzer().index_terms(text) for text in texts]
    shared = analyzer()
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda _: [shared.index_terms(text) for text in texts], range(8)))
    finally:
        sys.setswitchinterval(interval)
    assert all(answer == expected for answer in answers)
