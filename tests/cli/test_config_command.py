"""
config: the effective values with their sources, and the documents that are made from the models.
"""

from pathlib import Path

import pytest
import yaml

from app.config import Settings
from app.config.document import TABLE_BEGIN, TABLE_END, config_table, config_yaml
from tests.cli.conftest import Lamina

ROOT = Path(__file__).parents[2]
SECRET = "sk-not-to-be-seen"


def test_config_yaml_and_the_readme_are_as_the_models_say(lamina: Lamina) -> None:
    ended = lamina("config", "docs", "--check", "--root", ROOT)
    assert ended.code == 0, f"`make docs` writes them anew: {ended.err}"


def test_config_yaml_holds_exactly_the_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LAMINA_EMBEDDING__PROVIDER")
    content = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    assert Settings.model_validate(content) == Settings()
    assert list(content) == list(Settings.model_fields)
    for name, section in content.items():
        assert list(section) == list(type(getattr(Settings(), name)).model_fields)


def test_every_setting_has_a_meaning_and_what_it_takes() -> None:
    rows = [line.split(" | ") for line in config_table().splitlines()[2:]]
    assert len(rows) > 80
    assert [row for row in rows if len(row) != 4 or not all(cell.strip("| ") for cell in row)] == []


def test_no_line_of_config_yaml_is_too_long_to_read() -> None:
    assert [line for line in config_yaml().splitlines() if len(line) > 120] == []


def test_docs_prints_writes_and_checks(lamina: Lamina, tmp_path: Path) -> None:
    assert lamina("config", "docs").out == config_yaml()
    readme = tmp_path / "README.md"
    readme.write_text(f"before\n{TABLE_BEGIN}\nworn out\n{TABLE_END}\nafter\n")

    differing = lamina("config", "docs", "--check", "--root", tmp_path)
    assert differing.code == 1
    assert "config.yaml, README.md" in differing.err

    assert lamina("config", "docs", "--write", "--root", tmp_path).code == 0
    assert lamina("config", "docs", "--check", "--root", tmp_path).code == 0
    text = readme.read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "worn out" not in text
    assert lamina("config", "docs", "--write", "--root", tmp_path, "--json").document["written"] == []


@pytest.mark.parametrize(
    "text", ["nothing", TABLE_BEGIN, f"{TABLE_END}\n{TABLE_BEGIN}", f"{TABLE_BEGIN}{TABLE_END}" * 2]
)
def test_a_readme_without_a_place_for_the_table_is_refused(lamina: Lamina, tmp_path: Path, text: str) -> None:
    (tmp_path / "README.md").write_text(text)
    ended = lamina("config", "docs", "--write", "--root", tmp_path)
    assert ended.code == 1
    assert TABLE_BEGIN in ended.err
    assert (tmp_path / "README.md").read_text() == text
    assert not (tmp_path / "config.yaml").exists()


def test_show_tells_value_and_source(lamina: Lamina, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "config.yaml").write_text("server: {host: localhost}")
    monkeypatch.setenv("LAMINA_SERVER__PORT", "0")
    found = lamina("config", "show", "--data", "elsewhere", "--json").document
    assert found["server.port"] == {"value": 0, "source": "environment", "where": "LAMINA_SERVER__PORT"}
    assert found["server.host"] == {"value": "localhost", "source": "file", "where": "config.yaml"}
    assert found["storage.data_dir"] == {"value": "elsewhere", "source": "argument", "where": ""}
    assert found["recall.limit"] == {"value": 10, "source": "default", "where": ""}

    shown = lamina("config", "show", "server")
    assert "LAMINA_SERVER__PORT" in shown.out
    assert "recall.limit" not in shown.out


def test_show_never_prints_a_secret(lamina: Lamina, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAMINA_EMBEDDING__API_KEY", SECRET)
    monkeypatch.setenv("LAMINA_EMBEDDING__BASE_URL", f"https://ana:{SECRET}@models.example/v1")
    (tmp_path / "config.yaml").write_text(f"auth: {{keys: [{{name: ops, key: {SECRET}}}]}}")
    ended = lamina("config", "show", "--json")
    assert ended.document["embedding.api_key"]["source"] == "environment"
    assert ended.document["auth.keys[0].name"]["value"] == "ops"
    assert ended.document["embedding.base_url"]["value"] == "https://***@models.example/v1"
    assert SECRET not in ended.out + ended.err + lamina("config", "show").out


def test_show_of_a_section_that_there_is_not_is_a_fault(lamina: Lamina) -> None:
    assert lamina("config", "show", "serve").code == 1
