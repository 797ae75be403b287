"""
The shipped word lists, read as a service reads them, and texts of any kind.
"""

from pathlib import Path

from hypothesis import strategies as st

import app.domain.text
from app.domain.signals.cluster import Clusters
from app.domain.text.lexicon import parse_clusters, parse_stop_words
from app.domain.text.tokenize import Analyzer

FOLDER = Path(app.domain.text.__file__).parent

STOP_WORDS = {
    language: parse_stop_words((FOLDER / "stopwords" / f"{language}.txt").read_text("utf-8"))
    for language in ("en", "pt")
}
CLUSTER_WORDS = parse_clusters((FOLDER / "clusters.toml").read_text("utf-8"))


def analyzer() -> Analyzer:
    """
    An analyzer with the shipped stop words.
    """
    return Analyzer(STOP_WORDS)


def clusters() -> Clusters:
    """
    The shipped clusters.
    """
    return Clusters(CLUSTER_WORDS)


_PIECES = st.sampled_from(
    [
        "Mike's",
        "Mike\u2019s ",
        "don't",
        "👨\u200d👩\u200d👧\u200d👦",
        "👍🏽",
        "🇧🇷",
        "e\u0301",
        "\ud83c",
        "\udfff",
        "\x00",
        "\r\n",
        "\u0600 ",
        " \u0301",
        "今日は",
        "성어",
        "接龙",
        "क्षि",
        "\u00a8",
        "ﬁ",
        "İ",
        "ß",
        ". ",
        "! ",
        "\n\n",
        "。",
        " ",
    ]
)
_CHARACTERS = st.characters(exclude_categories=())

any_text = st.lists(st.one_of(_PIECES, st.text(_CHARACTERS, max_size=12), st.text(max_size=8)), max_size=30).map(
    "".join
)
"""Any string at all: every script, joined emoji, stacked marks, control characters, lone surrogates."""
