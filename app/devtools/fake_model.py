"""
A language model's server for tests and demos: it speaks OpenAI's and Anthropic's APIs, and always says the same.

It answers the prompts of this project with objects made of the data in them, by a small grammar. A script makes it
slow, refuse, or answer badly. Beside the APIs: `GET /calls` tells which calls were made, `POST /script` replaces the
script, `POST /reset` forgets the calls, and the header `X-Fake-Step` scripts a single call.
"""

import json
import sys
import threading
from dataclasses import asdict, dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from pydantic import ValidationError

from app.devtools.fake_answers import answer, records_in, task_of
from app.devtools.fake_script import BROKEN, Lack, Script, Step
from app.devtools.fake_wire import APIS, Asked, Body, anthropic_error, embeddings, openai_error

STEP_HEADER = "X-Fake-Step"
_FORMS: dict[str, dict[str, Lack]] = {
    "/v1/messages": {"json_schema": "output_config"},
    "/v1/responses": {"json_schema": "schema", "json_object": "json"},
    "/v1/chat/completions": {"json_schema": "schema", "json_object": "json"},
}
_FORM_FIELD = {"/v1/messages": "output_config.format", "/v1/responses": "text.format"}


@dataclass(frozen=True, slots=True)
class Call:
    """
    One call: where it went, for which task, with which model, how many turns it had, and the status it was answered
    with (0 for a dropped connection).
    """

    path: str
    task: str | None
    model: str
    turns: int
    status: int


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    body: Body | str
    headers: tuple[tuple[str, str], ...] = ()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        # A client that went away while its answer slept is a part of the play.
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class FakeModelServer:
    """
    The server, from `__enter__` to `__exit__` or from `start` to `stop`; port 0 takes any that is free.
    """

    def __init__(self, script: Script | None = None, host: str = "127.0.0.1", port: int = 0) -> None:
        self.script = script or Script()
        self.calls: list[Call] = []
        self._taken: dict[int, int] = {}
        self._lock = threading.Lock()
        self._ending = threading.Event()
        self._server = _Server((host, port), _handler_of(self))
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def url(self) -> str:
        """
        The server's address, without a path.
        """
        host, port = self._server.server_address[:2]
        return f"http://{host if isinstance(host, str) else host.decode()}:{port}"

    def start(self) -> None:
        """
        Answer from now on, in threads of its own.
        """
        self._thread.start()

    def stop(self) -> None:
        """
        Answer no more; calls that sleep are ended.
        """
        self._ending.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def play(self, *steps: Step, lacks: tuple[Lack, ...] = ()) -> None:
        """
        Go by these steps from now on.
        """
        with self._lock:
            self.script = Script(lacks=lacks, steps=steps)
            self._taken.clear()

    def reset(self) -> None:
        """
        Forget the calls.
        """
        with self._lock:
            self.calls.clear()

    def report(self) -> Body:
        """
        The calls in all, by task, and one by one.
        """
        with self._lock:
            calls = list(self.calls)
        by_task: dict[str, int] = {}
        for call in calls:
            by_task[call.task or "other"] = by_task.get(call.task or "other", 0) + 1
        return {"total": len(calls), "by_task": by_task, "calls": [asdict(call) for call in calls]}

    def answer_to(self, path: str, body: Body, scripted: Step | None) -> _Answer | None:
        """
        The answer to a call of one of the APIs; None to drop the connection.
        """
        worded = anthropic_error if path == "/v1/messages" else openai_error
        if path == "/v1/responses" and "responses" in self.script.lacks:
            self._note(Call(path, None, str(body.get("model")), 0, 404))
            return _Answer(404, "404 page not found")
        try:
            asked = APIS[path].read(body)
        except (KeyError, TypeError, AttributeError) as error:
            self._note(Call(path, None, str(body.get("model")), 0, 400))
            return _Answer(400, worded(400, f"the request lacks {error}"))
        task = task_of(asked.system)
        lack = _FORMS[path].get(asked.form or "")
        if lack is not None and lack in self.script.lacks:
            self._note(Call(path, task, asked.model, asked.turns, 400))
            field = _FORM_FIELD.get(path, "response_format")
            return _Answer(400, worded(400, f"Invalid parameter: '{field}' of type '{asked.form}' is not supported."))
        step = scripted or self._step_for(task, asked.prompt)
        self._ending.wait(step.sleep_s)
        made = self._made(path, task, asked, step)
        self._note(Call(path, task, asked.model, asked.turns, 0 if made is None else made.status))
        return made

    def _made(self, path: str, task: str | None, asked: Asked, step: Step) -> _Answer | None:
        if step.drop or self._ending.is_set():
            return None
        if step.status is not None:
            worded = anthropic_error if path == "/v1/messages" else openai_error
            wait = () if step.retry_after is None else (("Retry-After", step.retry_after),)
            return _Answer(step.status, worded(step.status, "as the script has it", step.code), wait)
        if step.raw is not None:
            return _Answer(200, step.raw)
        text = step.text
        if text is None:
            right = answer(task, records_in(asked.prompt))
            text = json.dumps(right, ensure_ascii=False) if step.broken is None else BROKEN[step.broken](right)
        return _Answer(200, APIS[path].write(asked, text, step.finish, len(self.calls) + 1))

    def _step_for(self, task: str | None, prompt: str) -> Step:
        with self._lock:
            for place, step in enumerate(self.script.steps):
                if step.task not in (None, task) or (step.contains is not None and step.contains not in prompt):
                    continue
                taken = self._taken.get(place, 0)
                if step.times is not None and taken >= step.skip + step.times:
                    continue
                self._taken[place] = taken + 1
                if taken >= step.skip:
                    return step
        return Step()

    def _note(self, call: Call) -> None:
        with self._lock:
            self.calls.append(call)


def _handler_of(fake: FakeModelServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            if self.path == "/calls":
                self._send(_Answer(200, fake.report()))
            elif self.path == "/v1/models":
                self._send(_Answer(200, {"object": "list", "data": [{"id": "fake", "object": "model"}]}))
            else:
                self._send(_Answer(404, openai_error(404, "no such path")))

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            try:
                found = self._posted(raw)
            except (ValueError, ValidationError) as error:
                found = _Answer(400, openai_error(400, f"the body cannot be read: {type(error).__name__}"))
            if found is None:
                self.close_connection = True
            else:
                self._send(found)

        def _posted(self, raw: bytes) -> _Answer | None:
            if self.path == "/script":
                script = Script.model_validate_json(raw)
                fake.play(*script.steps, lacks=script.lacks)
                return _Answer(200, {"steps": len(script.steps)})
            if self.path == "/reset":
                fake.reset()
                return _Answer(200, {})
            body: Any = json.loads(raw)
            if self.path == "/v1/embeddings":
                return _Answer(200, embeddings(body))
            if self.path not in APIS:
                return _Answer(404, openai_error(404, "no such path"))
            own = self.headers.get(STEP_HEADER)
            return fake.answer_to(self.path, body, None if own is None else Step.model_validate_json(own))

        def _send(self, found: _Answer) -> None:
            plain = isinstance(found.body, str)
            content = (found.body if isinstance(found.body, str) else json.dumps(found.body)).encode()
            self.send_response(found.status)
            self.send_header("Content-Type", "text/plain" if plain and not _is_json(found.body) else "application/json")
            self.send_header("Content-Length", str(len(content)))
            for name, value in found.headers:
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            return

    return Handler


def _is_json(body: object) -> bool:
    return isinstance(body, str) and body[:1] in ("{", "[")
