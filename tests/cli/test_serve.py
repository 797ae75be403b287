"""
serve: a real process, from its first line to its clean end.
"""

import json
import shlex
import signal
import socket
import subprocess
from pathlib import Path

import httpx
import pytest

from app.cli.serve import address_of, curl_lines, is_loopback
from tests.cli.conftest import PROGRAM, Lamina
from tests.cli.serving import server


def _as_request(line: str) -> httpx.Request:
    """
    What curl would send.
    """
    program, *words = shlex.split(line)
    assert program == "curl"
    headers: dict[str, str] = {}
    url, body = "", ""
    rest = iter(words)
    for word in rest:
        if word == "-H":
            name, _, value = next(rest).partition(": ")
            headers[name] = value
        elif word == "-d":
            body = next(rest)
        elif not word.startswith("-"):
            url = word
    return httpx.Request("POST", url, headers=headers, content=body)


def test_the_three_lines_store_recall_and_give_a_context(data: Path) -> None:
    with server(data) as running, httpx.Client() as client:
        stored, recalled, context = (client.send(_as_request(line)) for line in running.curl)
        ready = client.get(f"{running.url}/health/ready")
    assert (stored.status_code, recalled.status_code, context.status_code) == (201, 200, 200)
    assert recalled.json()["results"][0]["id"] == stored.json()["id"]
    assert stored.json()["content"] in context.json()["text"]
    assert ready.status_code == 200


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_cleanly_and_logs_one_json_line_a_request(data: Path, how: signal.Signals) -> None:
    with server(data) as running:
        httpx.get(f"{running.url}/health/live")
        httpx.get(f"{running.url}/nowhere")
        code, err = running.end(how)
    assert code == 0
    *lines, last = err.strip().splitlines()
    assert last == "ended"
    logged = [json.loads(line) for line in lines]
    assert [(line["event"], line["status"]) for line in logged] == [("request", 200), ("request", 404)]


def test_a_person_is_told_where_it_listens(data: Path) -> None:
    process = subprocess.Popen(
        [PROGRAM, "serve", "--port", "0", "--data", str(data)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        first, *curl = [process.stderr.readline().strip() for _ in range(4)]
    finally:
        process.terminate()
        out, _ = process.communicate(timeout=60)
    assert "http://127.0.0.1:" in first
    assert str(data) in first
    assert [line.split()[0] for line in curl] == ["curl"] * 3
    assert out == ""


def test_the_whole_state_lies_in_the_data_directory(lamina: Lamina, data: Path, tmp_path: Path) -> None:
    with server(data) as running:
        lamina("remember", "Ana lives in Porto", "--url", running.url)
        assert running.end()[0] == 0
    data.rename(tmp_path / "moved")
    with server(tmp_path / "moved") as running:
        recalled = lamina("recall", "Porto", "--url", running.url, "--json").document
    assert [result["text"] for result in recalled["results"]] == ["Ana lives in Porto"]


def test_the_command_line_works_on_the_directory_of_a_running_server(lamina: Lamina, data: Path) -> None:
    with server(data) as running:
        lamina("remember", "Ana lives in Porto", "--url", running.url)
        assert lamina("recall", "Porto", "--url", running.url, "--json").document["results"]
        lamina("remember", "Ben lives in Braga", "--data", data)
        seen = lamina("recall", "Braga", "--url", running.url, "--json").document["results"]
        assert [result["text"] for result in seen] == ["Ben lives in Braga"]
        assert lamina("db", "check", "--data", data).code == 0


def test_without_a_key_only_this_machine_is_served(lamina: Lamina, program: Lamina, data: Path) -> None:
    refused = program("serve", "--host", "0.0.0.0", "--port", "0", "--data", data)
    assert refused.code == 1
    assert "server.host" in refused.err
    assert "lamina keys add" in refused.err

    secret = lamina("keys", "add", "bot", "--data", data).out.strip()
    with server(data, "--host", "0.0.0.0") as running:
        assert running.url.startswith("http://127.0.0.1:")
        assert "$LAMINA_API_KEY" in running.curl[0]
        assert lamina("remember", "Ana lives in Porto", "--url", running.url).code == 1
        assert lamina("remember", "Ana lives in Porto", "--url", running.url, "--api-key", secret).code == 0


def test_a_port_that_is_taken_is_named(program: Lamina, data: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        ended = program("serve", "--port", port, "--data", data)
    assert ended.code == 1
    assert f"server.port: {port}" in ended.err
    assert "--port" in ended.err


def test_a_host_that_is_no_address_is_named(program: Lamina, data: Path) -> None:
    ended = program("serve", "--host", "no such host", "--data", data)
    assert ended.code == 1
    assert "server.host" in ended.err


def test_a_broken_configuration_stops_the_start(program: Lamina, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAMINA_RECALL__FUSED__GATE", "2")
    ended = program("serve", "--port", "0", "--data", data)
    assert ended.code == 1
    assert "recall.fused.gate: '2' cannot be taken" in ended.err
    assert "less than or equal to 1" in ended.err


def test_i11_an_unwritable_data_directory_stops_the_start(program: Lamina, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    ended = program("serve", "--port", "0", "--data", tmp_path / "file" / "data")
    assert ended.code == 1
    assert "data directory" in ended.err
    assert "cannot be written" in ended.err


@pytest.mark.parametrize(
    ("address", "is_local"),
    [("127.0.0.1", True), ("127.8.8.8", True), ("::1", True), ("0.0.0.0", False), ("::", False), ("10.0.0.1", False)],
)
def test_what_counts_as_this_machine(address: str, is_local: bool) -> None:
    assert is_loopback(address) is is_local


def test_the_address_shown_is_one_that_can_be_called() -> None:
    with socket.socket() as listener:
        listener.bind(("0.0.0.0", 0))
        assert address_of(listener) == f"http://127.0.0.1:{listener.getsockname()[1]}"


def test_the_lines_carry_a_key_only_where_one_is_needed() -> None:
    assert all("Authorization" in line for line in curl_lines("http://h:1", needs_key=True))
    assert not any("Authorization" in line for line in curl_lines("http://h:1", needs_key=False))
