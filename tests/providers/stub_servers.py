"""
Servers on this machine that answer, or misbehave, as a test tells them to.
"""

import base64
import json
import socket
import struct
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

Body = dict[str, Any]


@dataclass
class Reply:
    """
    What a server sends back.
    """

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


class StubServer:
    """
    An HTTP server whose answers come from a function of (method, path, body).
    """

    def __init__(self, answer: Callable[[str, str, bytes], Reply]) -> None:
        outer = self
        self.seen: list[tuple[str, str]] = []

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def respond(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                outer.seen.append((self.command, self.path))
                reply = answer(self.command, self.path, body)
                self.send_response(reply.status)
                for name, value in {"Content-Length": str(len(reply.body)), **reply.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(reply.body)

            do_GET = do_POST = do_HEAD = respond  # noqa: N815 - the names that http.server calls

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class EmbeddingServer(StubServer):
    """
    Speaks as an OpenAI-compatible server: `replies` are used up first, then every text gets its vector.
    """

    def __init__(self, dimensions: int, *replies: Callable[[Body], Reply]) -> None:
        super().__init__(self._answer)
        self.dimensions = dimensions
        self.bodies: list[Body] = []
        self.always: Callable[[Body], Reply] | None = None
        self._replies = list(replies)

    def _answer(self, method: str, path: str, raw: bytes) -> Reply:
        body: Body = json.loads(raw)
        self.bodies.append(body)
        if self._replies:
            return self._replies.pop(0)(body)
        return self.good(body) if self.always is None else self.always(body)

    def good(self, body: Body) -> Reply:
        """
        An answer with one vector a text.
        """
        return vectors(body, [vector_of(text, self.dimensions) for text in body["input"]])


class SilentServer:
    """
    Accepts connections and never says a word.
    """

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()


def vector_of(text: str, dimensions: int) -> list[float]:
    """
    A vector, not of unit length, that depends on the text alone.
    """
    return [float(1 + (sum(text.encode("utf-8", "replace")) * (place + 3)) % 17) for place in range(dimensions)]


def vectors(body: Body, rows: Sequence[Sequence[float]], *, indexes: Sequence[int] | None = None) -> Reply:
    """
    An embeddings answer in the format that was asked for.
    """
    packed: list[Any] = [list(row) for row in rows]
    if body.get("encoding_format") == "base64":
        packed = [base64.b64encode(struct.pack(f"<{len(row)}f", *row)).decode() for row in rows]
    places = range(len(rows)) if indexes is None else indexes
    data = [{"object": "embedding", "index": i, "embedding": row} for i, row in zip(places, packed, strict=True)]
    answer = {"object": "list", "model": body["model"], "data": data, "usage": {"prompt_tokens": 1, "total_tokens": 1}}
    return Reply(200, json.dumps(answer).encode(), {"Content-Type": "application/json"})


def failure(status: int, **headers: str) -> Callable[[Body], Reply]:
    """
    An error answer.
    """
    body = json.dumps({"error": {"message": "no", "type": "stub", "code": None}}).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda _: Reply(status, body, {"Content-Type": "application/json", **named})
