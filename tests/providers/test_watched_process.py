import os
import sys
import time
from pathlib import Path

import pytest

from app.providers.watched_process import SourceFailed, SourceSilent, run_watched

HANG = "import time; time.sleep(600)"


def ends(pid: str) -> bool:
    """
    Whether a process that was sent a signal is gone, or waits only to be counted, within a time that is ample.
    """
    for _ in range(200):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state in "ZX":
            return True
        time.sleep(0.05)
    return False


def run(code: str, directory: Path, silent_after_s: float = 30.0) -> list[int]:
    seen: list[int] = []
    command = [sys.executable, "-S", "-c", code]
    run_watched(command, arriving=directory, env=os.environ, silent_after_s=silent_after_s, on_bytes=seen.append)
    return seen


def test_the_program_runs_where_its_files_are_to_arrive(tmp_path: Path) -> None:
    run("open('fetched', 'w').write('x')", tmp_path)
    assert (tmp_path / "fetched").read_text() == "x"


def test_bytes_are_told_as_they_arrive(tmp_path: Path) -> None:
    code = "import time, sys\nopen('part', 'wb').write(b'x' * 10)\ntime.sleep(0.4)\nopen('part', 'ab').write(b'x')"
    assert 10 in run(code, tmp_path)


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks for the child in /proc")
def test_a_silent_program_is_killed_with_its_children(tmp_path: Path) -> None:
    child = f"import subprocess, sys; p = subprocess.Popen([sys.executable, '-S', '-c', {HANG!r}])\n"
    code = f"{child}open('pid.tmp', 'w').write(str(p.pid)); import os; os.rename('pid.tmp', 'pid')\n{HANG}"
    with pytest.raises(SourceSilent, match="silent for 2 s"):
        run(code, tmp_path, silent_after_s=2.0)
    assert ends((tmp_path / "pid").read_text())


def test_complaints_are_no_progress(tmp_path: Path) -> None:
    code = "import sys, time\nwhile True:\n    print('WARNING: retrying', file=sys.stderr, flush=True); time.sleep(0.1)"
    with pytest.raises(SourceSilent):
        run(code, tmp_path, silent_after_s=1.0)


def test_a_failing_program_is_told_by_its_error_line(tmp_path: Path) -> None:
    code = "import sys; print('ERROR: no such package\\nWARNING: bye', file=sys.stderr); sys.exit(3)"
    with pytest.raises(SourceFailed, match="ERROR: no such package"):
        run(code, tmp_path)


def test_a_program_that_fails_without_a_word_is_told_by_its_status(tmp_path: Path) -> None:
    with pytest.raises(SourceFailed, match="status 3"):
        run("import sys; sys.exit(3)", tmp_path)


def test_a_program_that_is_not_there_is_a_failure(tmp_path: Path) -> None:
    with pytest.raises(SourceFailed, match="cannot be started"):
        run_watched([str(tmp_path / "absent")], arriving=tmp_path, env={}, silent_after_s=1.0, on_bytes=lambda _: None)
