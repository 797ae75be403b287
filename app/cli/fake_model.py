"""
`lamina fake-model`: runs the language model server for tests and demos until it is told to end.
"""

from pathlib import Path
from typing import Annotated

import typer

from app.cli.faults import CommandFault
from app.cli.options import AsJson
from app.cli.output import emit, note


def fake_model(
    port: Annotated[int, typer.Option(min=0, max=65535, help="TCP port; 0 lets the system choose.")] = 8430,
    script: Annotated[
        Path | None,
        typer.Option(envvar="FAKE_MODEL_SCRIPT", metavar="FILE", help="What it is to do badly, as JSON."),
    ] = None,
    sleep: Annotated[float, typer.Option(min=0.0, max=3600.0, help="Seconds that every answer takes.")] = 0.0,
    as_json: AsJson = False,
) -> None:
    """
    Run a scripted, deterministic language model server for tests and demos; no model is in it.
    """
    import signal
    import threading

    from pydantic import ValidationError

    from app.devtools.fake_model import FakeModelServer
    from app.devtools.fake_script import Script, Step

    try:
        played = Script() if script is None else Script.model_validate_json(script.read_bytes())
    except (OSError, ValidationError) as error:
        raise CommandFault.of("--script", f"{script} cannot be used: {error}") from error
    if sleep:
        played = Script(lacks=played.lacks, steps=(*played.steps, Step(sleep_s=sleep)))
    try:
        server = FakeModelServer(played, port=port)
    except OSError as error:
        raise CommandFault.of("--port", f"{port} cannot be had: {error.strerror or error}") from error
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    with server:
        _announce(server.url, as_json=as_json)
        ended.wait()


def _announce(url: str, *, as_json: bool) -> None:
    settings = {"LAMINA_LLM__PROVIDER": "openai", "LAMINA_LLM__BASE_URL": f"{url}/v1"}
    if as_json:
        emit({"url": url, "openai_base_url": f"{url}/v1", "anthropic_base_url": url, "settings": settings})
        return
    note(f"The fake model listens on {url}; Ctrl-C ends it. To have it asked, start the service with", "bold green")
    note(" ".join(f"{name}={value}" for name, value in settings.items()) + " lamina serve", "")
