"""
The commands against a running service: the same answers as on its directory, and its faults as their own.
"""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from tests.cli.conftest import Lamina
from tests.cli.serving import Server, server

KEY = "key-for-tests-0123456789"
AUTH = f'[{{"name": "bot", "key": "{KEY}", "role": "write", "banks": ["main", "a b/c?"]}}]'


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with server(tmp_path_factory.mktemp("served") / "data", LAMINA_AUTH__KEYS=AUTH) as started:
        yield started


@pytest.fixture
def url(running: Server, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("LAMINA_API_KEY", KEY)
    return running.url


def test_a_service_answers_as_its_directory_does(lamina: Lamina, url: str, data: Path) -> None:
    there, here = ("--url", url), ("--data", data)
    for where in (there, here):
        first = lamina("remember", "Ana publishes articles on Tuesdays", "--tag", "blog", *where, "--json")
        again = lamina("remember", "Ana publishes articles on Tuesdays", *where, "--json")
        assert (first.document["reinforced"], again.document["reinforced"]) == (False, True)
        entry = lamina("remember", "hello there", "--entry", "--role", "user", *where, "--json")
        assert entry.document["results"][0]["status"] == "created"

    recalled = [lamina("recall", "articles", "--explain", *where, "--json").document for where in (there, here)]
    assert [[hit["text"] for hit in one["results"]] for one in recalled] == [["Ana publishes articles on Tuesdays"]] * 2
    assert recalled[0].keys() == recalled[1].keys()
    assert recalled[0]["results"][0].keys() == recalled[1]["results"][0].keys()

    contexts = [lamina("context", "articles", "--chars", "900", *where, "--json").document for where in (there, here)]
    assert contexts[0].keys() == contexts[1].keys()
    assert contexts[0]["budget"] == {"chars": 900}

    assert lamina("doctor", *there, "--json").document["ok"] is True


def test_a_bank_of_any_name_is_reached(lamina: Lamina, url: str) -> None:
    assert lamina("remember", "Ana lives in Porto", "--bank", "main", "--url", url).code == 0
    refused = lamina("remember", "Ana lives in Porto", "--bank", "a b/c?", "--url", url, "--json")
    assert [error["field"] for error in refused.document["errors"]] == ["bank"]


def test_faults_of_the_service_are_passed_on(lamina: Lamina, url: str) -> None:
    unknown = lamina("recall", "x", "--bank", "nobody", "--url", url, "--json")
    assert (unknown.code, unknown.err) == (4, "")
    assert (unknown.document["status"], unknown.document["type"]) == (404, "/problems/not-found")

    bad = lamina("recall", "x", "--limit", "-1", "--url", url)
    assert bad.code == 1
    assert "limit" in bad.err


def test_a_wrong_key_is_a_fault(lamina: Lamina, running: Server) -> None:
    ended = lamina("recall", "x", "--url", running.url, "--key", "wrong", "--json")
    assert (ended.code, ended.document["status"]) == (1, 401)


def test_no_service_at_the_address_is_a_fault(lamina: Lamina) -> None:
    ended = lamina("recall", "x", "--url", "http://127.0.0.1:9")
    assert ended.code == 1
    assert "http://127.0.0.1:9" in ended.err
    assert "does not answer" in ended.err


def test_an_address_of_another_kind_is_a_fault(lamina: Lamina) -> None:
    ended = lamina("recall", "x", "--url", "localhost:8420")
    assert ended.code == 1
    assert "--url" in ended.err


@pytest.mark.parametrize(
    ("status", "body"), [(200, b"<html>hello</html>"), (200, b'{"ok": 1}'), (502, b"bad gateway"), (500, b"[]")]
)
def test_something_else_at_the_address_is_a_fault(lamina: Lamina, status: int, body: bytes) -> None:
    class Other(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    other = HTTPServer(("127.0.0.1", 0), Other)
    thread = threading.Thread(target=other.serve_forever)
    thread.start()
    try:
        ended = lamina("recall", "x", "--url", f"http://127.0.0.1:{other.server_port}")
    finally:
        other.shutdown()
        thread.join()
        other.server_close()
    assert ended.code == 1
    assert str(other.server_port) in ended.err
