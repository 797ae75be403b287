"""
The configuration: its sources and their order, what it refuses and how it says so, and that no secret is ever shown.
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from app.config import API_KEY_ENV, Settings, load_settings
from app.config.origins import origins
from app.config.shape import annotation_at
from app.errors import ConfigError

SECRET = "sk-not-to-be-seen"


@pytest.fixture(autouse=True)
def _nothing_configured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in list(os.environ):
        if name.upper().startswith("LAMINA_"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


def _file(text: str) -> None:
    Path("config.yaml").write_text(text, encoding="utf-8")


def _refusal(**overrides: Any) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        load_settings(**overrides)
    return caught.value


def test_no_file_and_no_variable_give_the_defaults() -> None:
    assert load_settings() == Settings()
    assert load_settings().server.port == 8420


def test_an_argument_beats_the_environment_which_beats_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    _file("server: {host: file, port: 1, batch_max: 11}")
    monkeypatch.setenv("LAMINA_SERVER__HOST", "environment")
    monkeypatch.setenv("LAMINA_SERVER__PORT", "2")

    server = load_settings(server={"port": 3}).server

    assert (server.host, server.port, server.batch_max) == ("environment", 3, 11)


def test_d23_zero_means_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    _file("recall: {limit: 0, fused: {gate: 0}}\nshort_term: {dedupe_window_s: 0}")
    monkeypatch.setenv("LAMINA_RESIDENT__MAX_MB", "0")
    monkeypatch.setenv("LAMINA_CORE__CACHE_S", "0")

    settings = load_settings(server={"port": 0, "shutdown_grace_s": 0})

    assert settings.recall.limit == 0
    assert settings.recall.fused.gate == 0.0
    assert settings.short_term.dedupe_window_s == 0
    assert settings.resident.max_mb == 0
    assert settings.core.cache_s == 0.0
    assert (settings.server.port, settings.server.shutdown_grace_s) == (0, 0.0)


@pytest.mark.parametrize("text", ["", "# only a comment\n", "server:\n"])
def test_a_file_or_a_section_with_nothing_in_it_changes_nothing(text: str) -> None:
    _file(text)
    assert load_settings() == Settings()


@pytest.mark.parametrize(
    ("text", "key", "value", "allowed"),
    [
        ("server: {port: 70000}", "server.port", "70000", "less than or equal to 65535"),
        ("server: {port: eighty}", "server.port", "'eighty'", "valid integer"),
        ("server: {port: yes}", "server.port", "True", "a number"),
        ("server: {port: null}", "server.port", "None", "valid integer"),
        ("recall: {fused: {gate: 1.5}}", "recall.fused.gate", "1.5", "less than or equal to 1"),
        ("recall: {fused: {gate: .nan}}", "recall.fused.gate", "nan", "less than or equal to 1"),
        ("log: {level: loud}", "log.level", "'loud'", "'debug', 'info', 'warning' or 'error'"),
        ("embedding: {provider: magic}", "embedding.provider", "'magic'", "'local', 'openai' or 'none'"),
        (
            "context: {profiles: {chat: {budget_tokens: 9, sections: [{source: core}, {source: recent, limit: 900}]}}}",
            "context.profiles.chat.sections.1.limit",
            "900",
            "less than or equal to 500",
        ),
        (
            "context: {profiles: {chat: {budget_tokens: 9, sections: [{source: core, floor: .9, ceiling: .1}]}}}",
            "context.profiles.chat.sections.0",
            "this mapping",
            "floor 0.9 is above ceiling 0.1",
        ),
        ("models: {sources: [folder, moon]}", "models.sources.1", "'moon'", "'folder', 'hub' or 'index'"),
    ],
)
def test_a_value_that_cannot_be_taken_is_named_with_its_key_and_what_is_allowed(
    text: str, key: str, value: str, allowed: str
) -> None:
    _file(text)

    refused = _refusal()

    assert [fault.field for fault in refused.fields] == [key]
    assert f"{key}: {value} cannot be taken" in refused.detail
    assert allowed in refused.detail


@pytest.mark.parametrize(
    ("text", "key", "known"),
    [
        ("sever: {port: 1}", "sever", "server"),
        ("server: {prot: 1}", "server.prot", "port"),
        ("recall: {fused: {gait: 1}}", "recall.fused.gait", "gate"),
        ("auth: {keys: [{name: a, key: b, rule: read}]}", "auth.keys.0.rule", "role"),
        (
            "context: {profiles: {chat: {budget_tokens: 9, sections: [{source: core, florr: 1}]}}}",
            "context.profiles.chat.sections.0.florr",
            "floor",
        ),
    ],
)
def test_an_unknown_key_is_named_with_those_that_are_known_beside_it(text: str, key: str, known: str) -> None:
    _file(text)

    (fault,) = _refusal().fields

    assert fault.field == key
    assert known in fault.message.partition("known here: ")[2].rstrip(")").split(", ")


def test_every_bad_key_is_named_at_once() -> None:
    _file("server: {port: -1, prot: 1}\nlog: {level: loud}")
    assert {fault.field for fault in _refusal().fields} == {"server.port", "server.prot", "log.level"}


def test_a_required_key_that_is_missing_is_named() -> None:
    _file("context: {profiles: {mine: {budget_tokens: 9}}}")
    assert "context.profiles.mine.sections: is required" in _refusal().detail


def test_a_section_that_is_no_mapping_is_refused_with_the_keys_it_takes() -> None:
    _file("server: 8420")
    (fault,) = _refusal().fields
    assert fault.field == "server"
    assert "port" in fault.message


@pytest.mark.parametrize(
    ("name", "value", "named"),
    [
        ("LAMINA_SERVER__PROT", "1", "server.prot"),
        ("LAMINA_SEVER__PORT", "1", "LAMINA_SEVER__PORT"),
        ("LAMINA_SERVER_PORT", "1", "LAMINA_SERVER_PORT"),
        ("lamina_sever__port", "1", "lamina_sever__port"),
        ("LAMINA_SERVER__PORT", "", "server.port"),
        ("LAMINA_RECALL__LIMIT", "ten", "recall.limit"),
    ],
)
def test_a_variable_that_sets_nothing_known_is_named(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, named: str
) -> None:
    monkeypatch.setenv(name, value)
    assert named in _refusal().detail


@pytest.mark.parametrize("name", ["LAMINA_AUTH__KEYS", "LAMINA_AUTH", "LAMINA_MODELS__SOURCES"])
def test_a_variable_that_is_not_the_json_it_should_be_is_named(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, f"[{SECRET}")

    refused = _refusal()

    assert [fault.field for fault in refused.fields] == [name]
    assert "JSON" in refused.detail
    assert SECRET not in refused.detail


def test_a_variable_gives_lists_and_mappings_as_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAMINA_MODELS__SOURCES", '["hub"]')
    monkeypatch.setenv("LAMINA_CLUSTERS__EXTRA", '{"boats": ["keel", "mast"]}')
    monkeypatch.setenv("LAMINA_RECALL", '{"limit": 3}')

    settings = load_settings()

    assert settings.models.sources == ("hub",)
    assert settings.clusters.extra == {"boats": ("keel", "mast")}
    assert settings.recall.limit == 3


def test_the_variable_of_the_command_line_client_is_no_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(API_KEY_ENV, SECRET)
    assert load_settings() == Settings()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("- server\n- recall\n", "must be a mapping"),
        ("just words", "must be a mapping"),
        ("17: {port: 1}", "17"),
        ("server: {port: 1}\nserver: {host: here}", "'server' is given twice"),
        ("server:\n  port: 1\n  port: 2", "line 3"),
        ("server: {port: 1", "not valid YAML"),
        ("server:\n\tport: 1", "line 2"),
        ("? [a, b]\n: 1", "not valid YAML"),
    ],
)
def test_a_file_that_is_no_mapping_of_sections_is_refused(content: str, said: str) -> None:
    _file(content)
    assert said in _refusal().detail


def test_a_file_that_is_not_utf8_is_refused() -> None:
    Path("config.yaml").write_bytes(b"server: {host: \xff\xfe}")
    assert "not UTF-8" in _refusal().detail


def test_lamina_config_names_the_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _file("server: {port: 1}")
    (tmp_path / "other.yaml").write_text("server: {port: 2}", encoding="utf-8")
    monkeypatch.setenv("LAMINA_CONFIG", str(tmp_path / "other.yaml"))
    assert load_settings().server.port == 2


@pytest.mark.parametrize("name", ["nowhere.yaml", "."])
def test_lamina_config_that_names_no_file_is_refused(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("LAMINA_CONFIG", name)
    detail = _refusal().detail
    assert "LAMINA_CONFIG" in detail
    assert name in detail


@pytest.mark.parametrize(
    "text",
    [
        f"auth: {{keys: [{SECRET}]}}",
        f"auth: {{keys: [{{key: {SECRET}}}]}}",
        f"auth: {{keys: [{{name: a, role: boss, key: {SECRET}}}]}}",
        f"auth: {{keys: [{{name: a, key: [{SECRET}]}}]}}",
        f"auth: {{keys: {SECRET}}}",
        f"auth: {SECRET}",
        f"embedding: {{api_key: [{SECRET}]}}",
        f"embedding: [{SECRET}]",
        f"embedding: {{api_kee: {SECRET}}}",
        f"embedding: {{api_key: {SECRET}: x}}",
    ],
)
def test_a_refusal_never_shows_a_secret(text: str) -> None:
    _file(text)
    refused = _refusal()
    assert SECRET not in str(refused)
    assert not any(SECRET in fault.message for fault in refused.fields)


def test_the_source_of_each_value_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    _file("server: {host: localhost, port: 1}\nclusters: {extra: {boats: [keel]}}\nlog: {level: info}")
    monkeypatch.setenv("LAMINA_SERVER__PORT", "2")
    monkeypatch.setenv("LAMINA_RECALL", '{"fused": {"gate": 0}}')
    overrides = {"server": {"batch_max": 3}}

    found = {item.key: item for item in origins(load_settings(**overrides), overrides)}

    def source(key: str) -> tuple[Any, str, str]:
        return found[key].value, found[key].source, found[key].where

    assert source("server.batch_max") == (3, "argument", "")
    assert source("server.port") == (2, "environment", "LAMINA_SERVER__PORT")
    assert source("recall.fused.gate") == (0.0, "environment", "LAMINA_RECALL")
    assert source("server.host") == ("localhost", "file", "config.yaml")
    assert source("clusters.extra.boats") == (["keel"], "file", "config.yaml")
    assert source("recall.limit") == (10, "default", "")
    # A value that equals its default still came from where it was given.
    assert source("log.level") == ("info", "file", "config.yaml")


def test_of_a_list_only_the_winning_source_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    _file("auth: {keys: [{name: a, key: one, role: read}, {name: b, key: two}]}")
    monkeypatch.setenv("LAMINA_AUTH__KEYS", json.dumps([{"name": "c", "key": SECRET}]))

    found = {item.key: item for item in origins(load_settings()) if item.key.startswith("auth.")}

    assert found["auth.keys[0].name"].value == "c"
    assert found["auth.keys[0].name"].source == "environment"
    assert found["auth.keys[0].role"].source == "default"
    assert "auth.keys[1].name" not in found
    assert SECRET not in repr(found)


def test_every_setting_has_an_origin() -> None:
    def leaves(value: Any) -> int:
        if isinstance(value, dict) and value:
            return sum(leaves(item) for item in value.values())
        if isinstance(value, list) and any(isinstance(item, dict) for item in value):
            return sum(leaves(item) for item in value)
        return 1

    settings = load_settings()
    found = origins(settings)
    assert len({item.key for item in found}) == len(found) == leaves(settings.model_dump(mode="json"))
    assert {item.source for item in found} == {"default"}


@given(port=st.integers(-10_000, 80_000))
def test_a_port_is_taken_exactly_when_it_lies_in_its_range(port: int) -> None:
    if 0 <= port <= 65_535:
        assert load_settings(server={"port": port}).server.port == port
    else:
        with pytest.raises(ConfigError, match=r"server\.port"):
            load_settings(server={"port": port})


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
    )
)
def test_any_yaml_is_either_taken_or_refused_by_name(content: Any) -> None:
    Path("config.yaml").write_text(yaml.safe_dump({"server": content}), encoding="utf-8")
    refused = None
    try:
        load_settings()
    except ConfigError as error:
        refused = error
    assert refused is None or "server" in refused.detail


def test_the_type_of_a_key_is_found_through_lists_and_mappings() -> None:
    assert annotation_at(Settings, ("server", "port")) is int
    assert annotation_at(Settings, ("context", "profiles", "any", "sections", 3, "floor")) is not None
    assert annotation_at(Settings, ("context", "profiles", "any", "sections", 3, "flour")) is None
    assert annotation_at(Settings, ("server", "port", "deeper")) is None
