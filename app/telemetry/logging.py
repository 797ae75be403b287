"""
Log lines: one JSON object a line on standard error, or coloured text for a person; never a body, a query or a key.
"""

import logging
import sys
import traceback
from collections.abc import Sequence
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, TextIO

import msgspec
import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from app.config import LogSettings

FRAMES_MAX = 30
"""Innermost frames of a traceback that a line carries."""

ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None]


def configure(settings: LogSettings, stream: TextIO | None = None) -> None:
    """
    Set up log lines for the whole process, those of libraries included. `stream` is standard error unless given.
    """
    out = sys.stderr if stream is None else stream
    level = logging.getLevelNamesMapping()[settings.level.upper()]
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        _timestamp,
        describe_exception,
    ]
    renderer: Processor
    renderer = _json if settings.format == "json" else structlog.dev.ConsoleRenderer(colors=out.isatty())
    structlog.configure(
        processors=[*shared, renderer],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.WriteLoggerFactory(out),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(out)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.add_logger_name, *shared],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(max(level, logging.WARNING))


def describe_exception(_logger: WrappedLogger, _name: str, event: EventDict) -> EventDict:
    """
    Replace an exception by its type, its causes' types and its frames.

    Its message stays out: it may quote what a user wrote. Only what the database itself says is kept.
    """
    given = event.pop("exc_info", None)
    info = sys.exc_info() if given is True else given
    if isinstance(info, BaseException):
        info = (type(info), info, info.__traceback__)
    if isinstance(info, tuple) and info[0] is not None:
        event["exception"] = _described(info)
    return event


def _described(info: ExcInfo) -> dict[str, Any]:
    kind, error, trace = info
    described: dict[str, Any] = {"type": f"{kind.__module__}.{kind.__qualname__}", "frames": _frames(trace)}
    driver_error = getattr(error, "orig", None)
    if isinstance(driver_error, BaseException):
        described["reason"] = str(driver_error)
    cause = error.__cause__ or error.__context__
    if cause is not None:
        described["cause"] = f"{type(cause).__module__}.{type(cause).__qualname__}"
    return described


def _frames(trace: TracebackType | None) -> Sequence[str]:
    frames = traceback.extract_tb(trace)[-FRAMES_MAX:]
    return [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]


def _timestamp(_logger: WrappedLogger, _name: str, event: EventDict) -> EventDict:
    event["time"] = datetime.now(UTC).isoformat(timespec="milliseconds")
    return event


def _json(_logger: WrappedLogger, _name: str, event: EventDict) -> str:
    return msgspec.json.encode(event, enc_hook=str).decode()
