"""
The README's example is true: its commands run, and what they print is what it shows.
"""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from app.config import load_settings
from app.providers.model_files import ModelFiles
from tests.e2e.server import ServerProcess

README = Path(__file__).parents[2] / "README.md"
FENCE = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)
# What differs from run to run: ids, and the day on which the example is tried.
VARYING = [(re.compile(r"ent-[0-9a-f]{16}"), "ent-ID"), (re.compile(r"Recalled on \w{3} [\d-]{10}"), "Recalled on DAY")]


def steps() -> list[tuple[str, str]]:
    """
    The example's commands, each with the output that the README shows for it.
    """
    example = README.read_text(encoding="utf-8").split("## One example")[1].split("## Where to go from here")[0]
    blocks = FENCE.findall(example)
    assert [kind for kind, _ in blocks] == ["sh", "json", "sh", "text", "sh", "text"]
    return [(blocks[place][1], blocks[place + 1][1]) for place in range(0, len(blocks), 2)]


def plain(text: str) -> str:
    for pattern, name in VARYING:
        text = pattern.sub(name, text)
    return text.strip()


@pytest.mark.skipif(shutil.which("curl") is None, reason="the README's example needs curl")
def test_the_readme_shows_what_happens(tmp_path: Path) -> None:
    models = ModelFiles.configured(load_settings().models)
    model = load_settings().embedding.model
    if any(check.status != "ok" for check in models.check(model)):
        pytest.skip(f"{model} is not at hand: lamina models pull")
    with ServerProcess(tmp_path / "data", LAMINA_EMBEDDING__PROVIDER="local") as server:
        for command, shown in steps():
            ran = subprocess.run(
                ["bash", "-c", command.replace("http://127.0.0.1:8420", server.address)],
                capture_output=True,
                text=True,
                check=True,
            )
            assert plain(ran.stdout) == plain(shown)
