"""
What is logged of a request, and what never is.
"""

import io
import json
import logging
from pathlib import Path
from typing import Any

import structlog

from app.config import LogSettings
from app.telemetry import logging as telemetry
from tests.api.serving import KEYS, serving
from tests.api.test_problems import Broken

WORD = "zanzibarquince"


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


async def test_each_request_is_one_line_with_its_id_route_status_and_time(stream: io.StringIO, tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        answers = [
            await served.client.get("/v1/banks/some-bank/memories", headers={"X-Request-Id": "first"}),
            await served.client.get("/nowhere"),
            await served.client.put("/v1/banks"),
            await served.client.get("/health/live"),
        ]
    found = [line for line in lines(stream) if line["event"] == "request"]
    assert [line["request_id"] for line in found] == [answer.headers["x-request-id"] for answer in answers]
    assert [line["status"] for line in found] == [404, 404, 405, 200]
    assert [line["route"] for line in found] == ["/v1/banks/{bank}/memories", None, None, "/health/live"]
    assert [line["method"] for line in found] == ["GET", "GET", "PUT", "GET"]
    assert all(line["ms"] >= 0 and line["level"] == "info" and line["time"] for line in found)


async def test_no_line_holds_a_body_a_query_or_a_key(stream: io.StringIO, tmp_path: Path) -> None:
    key = str(KEYS[0]["key"])
    async with serving(tmp_path, auth={"keys": KEYS}) as served, served.as_key(key) as client:
        await client.post("/v1/banks/alpha/memories", json={"content": f"The codeword is {WORD}"})
        await client.post("/v1/banks/alpha/entries", json={"entries": [{"content": WORD, "step": WORD}]})
        await client.post("/v1/banks/alpha/recall", json={"query": WORD})
        await client.get("/v1/banks/alpha/memories", params={"q": WORD})
        await client.get("/api/profiles/alpha/memories/search", params={"q": WORD})
        await client.post("/v1/banks/alpha/memories", content=f'{{"content": "{WORD}'.encode())
        await client.get("/v1/banks", headers={"Authorization": f"Bearer {WORD}"})
    text = stream.getvalue()
    assert len([line for line in lines(stream) if line["event"] == "request"]) == 7
    assert WORD not in text
    assert key not in text


async def test_a_fault_is_logged_under_its_request_with_its_frames_and_without_its_text(
    stream: io.StringIO, tmp_path: Path
) -> None:
    async with serving(tmp_path, parts={"banks": Broken}) as served:
        answer = await served.client.get("/v1/banks/a")
    (line,) = [line for line in lines(stream) if line["event"] == "request_failed"]
    assert line["request_id"] == answer.headers["x-request-id"]
    assert line["level"] == "error"
    assert line["exception"]["type"] == "builtins.ValueError"
    assert any("test_problems.py" in frame for frame in line["exception"]["frames"])
    assert "quince" not in stream.getvalue()


def test_lines_of_libraries_are_json_too_and_hide_what_an_exception_says(stream: io.StringIO) -> None:
    logger = logging.getLogger("some.library")
    try:
        try:
            raise KeyError(WORD)
        except KeyError as error:
            raise ValueError(WORD) from error
    except ValueError:
        logger.exception("it went wrong")
    logger.info("not shown")
    (line,) = lines(stream)
    assert (line["event"], line["logger"], line["level"]) == ("it went wrong", "some.library", "error")
    assert (line["exception"]["type"], line["exception"]["cause"]) == ("builtins.ValueError", "builtins.KeyError")
    assert WORD not in stream.getvalue()


def test_a_person_can_read_the_lines_instead() -> None:
    out = io.StringIO()
    telemetry.configure(LogSettings(format="console", level="warning"), out)
    structlog.get_logger().info("hidden")
    structlog.get_logger().warning("shown", number=3)
    assert "shown" in out.getvalue()
    assert "number=3" in out.getvalue()
    assert "hidden" not in out.getvalue()
