import base64
import os
import socket
import string
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.config import TokenSettings
from app.providers.model_files import ModelFiles
from app.providers.model_manifest import load_manifest
from app.providers.token_estimate import estimate_tokens
from app.providers.tokens import Tokenizers

COMMON = "abcdefghilmnoprstuw"
HOSTILE = [
    "：" * 2000,
    "😀" * 2000,
    "👨‍👩‍👧‍👦" * 500,
    "┌──┐│└┘" * 300,
    "─" * 2000,
    "我昨天去了北京的故宫" * 100,
    "".join(chr(0x4E00 + 37 * n % 20_000) for n in range(1000)),
    "qzxjvk" * 300,
    "QZXJVKbq" * 300,
    "yfyf" * 300,
    "a" * 3000,
    " " * 3000,
    "\n \t" * 500,
    "\x00\x01\x7f" * 300,
    "{}[]();:<>/\\|" * 200,
    "0123456789" * 200,
    "2023-05-08T13:56:00Z" * 50,
    "e\u0301" * 1000,
    "\ud800" * 500,
    "<|endoftext|>" * 200,
    "don't I'll we're 'sorry' " * 50,
    "camelCaseAndSnake_case andSCREAMING" * 50,
    "The quick brown fox jumps over the lazy dog. " * 40,
]


@pytest.fixture(scope="module")
def tokenizers(models: ModelFiles) -> Tokenizers:
    return Tokenizers(models, TokenSettings())


@pytest.fixture
def without(tmp_path: Path) -> Tokenizers:
    """
    Tokenizers with no vocabulary.
    """
    return Tokenizers(ModelFiles(load_manifest(), tmp_path), TokenSettings())


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("gpt-4o", "o200k_base"),
        ("gpt-4.1-mini", "o200k_base"),
        ("o3", "o200k_base"),
        ("gpt-oss-20b", "o200k_base"),
        ("openai/GPT-4o-mini", "o200k_base"),
        ("gpt-4", "cl100k_base"),
        ("gpt-3.5-turbo-0125", "cl100k_base"),
        ("text-embedding-3-small", "cl100k_base"),
        ("llama-3.3-70b", "o200k_base"),
        ("", "o200k_base"),
        (None, "o200k_base"),
        ("claude-sonnet-4-5", "o200k_base*1.6"),
        ("bedrock/anthropic.claude-3-haiku", "o200k_base*1.6"),
        ("davinci", "estimate"),
    ],
)
def test_a_model_is_counted_with_its_vocabulary_and_the_count_says_which(
    tokenizers: Tokenizers, model: str | None, name: str
) -> None:
    assert tokenizers.for_model(model).name == name


def test_the_default_vocabulary_is_a_setting(models: ModelFiles) -> None:
    chosen = Tokenizers(models, TokenSettings(default_encoding="cl100k_base"))
    assert chosen.for_model("unheard-of").name == "cl100k_base"
    assert chosen.state().detail == "cl100k_base"


def test_known_counts(tokenizers: Tokenizers) -> None:
    assert tokenizers.for_model("gpt-4o").count("") == 0
    assert tokenizers.for_model("gpt-4o").count("hello world") == 2
    assert tokenizers.for_model("gpt-4").count("tiktoken is great!") == 6
    assert tokenizers.for_model("claude-3-opus").count("hello world") == 4
    assert tokenizers.for_model("claude-3-opus").count("你好") == 2 + 2


def test_t041_special_tokens_and_lone_surrogates_are_counted_as_text(
    tokenizers: Tokenizers, without: Tokenizers
) -> None:
    for model in ("gpt-4o", "gpt-4", "claude-3-opus"):
        for counter in (tokenizers.for_model(model), without.for_model(model)):
            assert counter.count("<|endoftext|>") > 1
            assert counter.count("a\ud83db") > 1


@pytest.mark.parametrize("blank", [" ", "\n", "\t", "a", "^"])
def test_a_very_long_row_of_one_sign_is_counted(tokenizers: Tokenizers, blank: str) -> None:
    assert 0 < tokenizers.for_model("gpt-4o").count(blank * 1_000_000) < 1_000_000


@given(st.text(alphabet=st.characters(), max_size=200))
@settings(max_examples=50)
def test_t041_any_text_is_counted(tokenizers: Tokenizers, text: str) -> None:
    for model in ("gpt-4o", "gpt-4", "claude-3-opus"):
        counter = tokenizers.for_model(model)
        assert counter.count(text) == counter.count(text)
        assert (counter.count(text) == 0) == (text == "")


def test_remembered_counts_are_those_of_the_vocabulary(models: ModelFiles) -> None:
    remembering = Tokenizers(models, TokenSettings(cache_entries=2)).for_model(None)
    forgetful = Tokenizers(models, TokenSettings(cache_entries=0, cache_text_chars=0)).for_model(None)
    texts = ["one", "two words", "three words here", "one"] * 3
    assert [remembering.count(text) for text in texts] == [forgetful.count(text) for text in texts]


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-4"])
@pytest.mark.parametrize("text", HOSTILE)
def test_t043_the_estimate_is_never_below_the_real_count(
    tokenizers: Tokenizers, without: Tokenizers, model: str, text: str
) -> None:
    estimate = without.for_model(model)
    assert estimate.name == "estimate"
    assert estimate.count(text) >= tokenizers.for_model(model).count(text)


@given(
    st.one_of(
        st.text(alphabet=st.characters(), max_size=120),
        st.text(alphabet=COMMON + " ", max_size=120),
        st.text(alphabet=string.ascii_letters + " '\n", max_size=120),
        st.text(alphabet=string.printable, max_size=120),
    )
)
@settings(max_examples=300)
def test_t043_the_estimate_bounds_any_text(tokenizers: Tokenizers, text: str) -> None:
    for model in ("gpt-4o", "gpt-4"):
        assert estimate_tokens(text) >= tokenizers.for_model(model).count(text)


@pytest.mark.parametrize("name", ["o200k_base", "cl100k_base"])
def test_t043_what_the_estimate_rests_on_holds(models: ModelFiles, name: str) -> None:
    path = next(iter(models.require(name).values()))
    tokens = {line.split()[0] for line in path.read_bytes().splitlines()}
    pairs = [a + b for a in COMMON for b in COMMON] + [" " + letter for letter in COMMON]
    assert [pair for pair in pairs if base64.b64encode(pair.encode()) not in tokens] == []


def test_the_estimate_of_plain_english_is_of_the_right_order(tokenizers: Tokenizers) -> None:
    text = HOSTILE[-1]
    assert estimate_tokens(text) <= 4 * tokenizers.for_model(None).count(text)
    assert estimate_tokens("") == 0


@pytest.mark.parametrize("content", [None, b"", b"altered"])
def test_a_missing_or_altered_vocabulary_never_sends_anyone_to_the_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes | None
) -> None:
    files = ModelFiles(load_manifest(), tmp_path)
    if content is not None:
        files.locate("o200k_base").mkdir()
        (file,) = files.manifest.entry("o200k_base").file
        (files.locate("o200k_base") / file.name).write_bytes(content)
    asked: list[object] = []
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **_: asked.append(args))
    tokenizers = Tokenizers(files, TokenSettings())
    for model in (None, "gpt-4o", "claude-3-opus"):
        assert tokenizers.for_model(model).name == "estimate"
    assert not tokenizers.state().ok
    assert tokenizers.state().detail.startswith("vocabulary_missing: o200k_base")
    assert asked == []


def test_a_vocabulary_that_arrives_later_is_used_from_then_on(models: ModelFiles, tmp_path: Path) -> None:
    tokenizers = Tokenizers(ModelFiles(models.manifest, tmp_path), TokenSettings())
    assert tokenizers.for_model(None).name == "estimate"
    (tmp_path / "tiktoken").symlink_to(models.locate("o200k_base"))
    assert tokenizers.for_model(None).name == "o200k_base"


def test_the_environment_is_as_before(models: ModelFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "mine")
    assert Tokenizers(models, TokenSettings()).for_model("gpt-4").name == "cl100k_base"
    assert os.environ["TIKTOKEN_CACHE_DIR"] == "mine"
