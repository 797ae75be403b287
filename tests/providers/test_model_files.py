import json
import os
from pathlib import Path

import pytest

from app.config import ModelsSettings
from app.providers.model_files import ModelFileFault, ModelFiles, models_directory
from tests.providers.conftest import MakeManifest, write_model

CONTENTS = {"model.onnx": b"weights" * 100, "tokenizer.json": b"{}"}


@pytest.fixture
def toy(tmp_path: Path, make_manifest: MakeManifest) -> ModelFiles:
    files = ModelFiles(make_manifest(CONTENTS), tmp_path)
    write_model(files.locate("toy"), CONTENTS)
    return files


def statuses(files: ModelFiles) -> dict[str, str]:
    return {check.label: check.status for check in files.check("toy")}


def test_right_files_are_given_by_name(toy: ModelFiles, tmp_path: Path) -> None:
    assert toy.require("toy") == {name: tmp_path / "toy" / name for name in CONTENTS}


def test_a_missing_file_is_refused_by_name(toy: ModelFiles) -> None:
    (toy.locate("toy") / "tokenizer.json").unlink()
    assert statuses(toy) == {"toy/model.onnx": "ok", "toy/tokenizer.json": "missing"}
    with pytest.raises(ModelFileFault, match=r"toy/tokenizer\.json") as raised:
        toy.require("toy")
    assert (raised.value.file, raised.value.fault) == ("toy/tokenizer.json", "missing")


@pytest.mark.parametrize("altered", [b"weights" * 99 + b"weightz", b"weights" * 99, b"", b"weights" * 101])
def test_an_altered_file_is_refused_by_name(toy: ModelFiles, altered: bytes) -> None:
    write_model(toy.locate("toy"), {"model.onnx": altered})
    with pytest.raises(ModelFileFault, match=r"altered: toy/model\.onnx"):
        toy.require("toy")


def test_a_file_altered_after_it_was_seen_right_is_refused(toy: ModelFiles) -> None:
    toy.require("toy")
    path = toy.locate("toy") / "model.onnx"
    before = path.stat()
    write_model(toy.locate("toy"), {"model.onnx": b"weights" * 99 + b"weightz"})
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    with pytest.raises(ModelFileFault, match="altered"):
        toy.require("toy")


def test_a_hash_is_remembered_by_size_and_time_and_verify_does_not_trust_it(toy: ModelFiles) -> None:
    toy.require("toy")
    path = toy.locate("toy") / "model.onnx"
    before = path.stat()
    write_model(toy.locate("toy"), {"model.onnx": b"weights" * 99 + b"weightz"})
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert statuses(toy)["toy/model.onnx"] == "ok"
    assert {check.label: check.status for check in toy.verify("toy")}["toy/model.onnx"] == "altered"
    assert statuses(toy)["toy/model.onnx"] == "altered"


@pytest.mark.parametrize("content", [b"", b"[", b"[]", b'{"model.onnx": 3}', b"\xff"])
def test_a_damaged_memory_of_hashes_is_not_believed(toy: ModelFiles, content: bytes) -> None:
    toy.require("toy")
    (toy.locate("toy") / ".verified.json").write_bytes(content)
    assert set(statuses(toy).values()) == {"ok"}
    kept = json.loads((toy.locate("toy") / ".verified.json").read_text())
    assert set(kept) == set(CONTENTS)


def test_an_unreadable_file_is_refused_and_not_raised(toy: ModelFiles) -> None:
    path = toy.locate("toy") / "tokenizer.json"
    path.unlink()
    path.symlink_to(path)
    with pytest.raises(ModelFileFault, match=r"toy/tokenizer\.json"):
        toy.require("toy")


def test_the_configured_directory_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/elsewhere")
    assert models_directory(ModelsSettings(dir=tmp_path)) == tmp_path


@pytest.mark.parametrize(
    ("cache_home", "expected"),
    [
        ("/caches", "/caches/lamina/models"),
        ("", "/home/u/.cache/lamina/models"),
        ("rel", "/home/u/.cache/lamina/models"),
    ],
)
def test_the_default_directory_is_the_users_cache(
    monkeypatch: pytest.MonkeyPatch, cache_home: str, expected: str
) -> None:
    monkeypatch.setenv("HOME", "/home/u")
    monkeypatch.setenv("XDG_CACHE_HOME", cache_home)
    assert models_directory(ModelsSettings()) == Path(expected)
