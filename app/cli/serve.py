"""
`lamina serve`: runs the service on one data directory until it is told to end.
"""

import asyncio
import ipaddress
import os
import signal
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.cli.faults import CommandFault
from app.cli.options import API_KEY_ENV, AsJson, Data
from app.cli.output import emit, note

if TYPE_CHECKING:
    from app.bootstrap import Container
    from app.config import Settings

ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def serve(
    data: Data = None,
    port: Annotated[int | None, typer.Option(help="TCP port; 0 lets the system choose.")] = None,
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    as_json: AsJson = False,
) -> None:
    """
    Run the service; its whole state lies in the data directory.
    """
    from app.bootstrap import build
    from app.config import load_settings
    from app.telemetry import logging

    settings = load_settings(**_overrides(data, port, host))
    logging.configure(settings.log)
    with _bound(settings.server.host, settings.server.port) as listener:
        asyncio.run(_serve(build(settings), listener, as_json=as_json))
    note("ended")


def _overrides(data: Path | None, port: int | None, host: str | None) -> dict[str, Any]:
    server = {name: value for name, value in (("port", port), ("host", host)) if value is not None}
    overrides: dict[str, Any] = {"server": server} if server else {}
    if data is not None:
        overrides["storage"] = {"data_dir": data}
    return overrides


async def _serve(container: "Container", listener: socket.socket, *, as_json: bool) -> None:
    import uvicorn

    from app.api.app import create_app

    settings = container.settings
    has_keys = await container.keys.any_exist()
    if not has_keys and not is_loopback(listener.getsockname()[0]):
        await container.stop()
        raise CommandFault.of(
            "server.host",
            f"{settings.server.host} can be reached from other machines, and there is no access key yet; make one with "
            f"`lamina keys add NAME --data {settings.storage.data_dir}`, or listen on 127.0.0.1",
        )

    class Announcing(uvicorn.Server):
        """Says where it listens once it does."""

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            announce(settings, address_of(listener), needs_key=has_keys, as_json=as_json)

    config = uvicorn.Config(
        create_app(container),
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="on",
        ws="none",
        # The type says int, but what it is given to takes any number of seconds.
        timeout_graceful_shutdown=settings.server.shutdown_grace_s,  # type: ignore[arg-type]
    )
    # When it has ended, uvicorn raises once more the signal that ended it; nothing is left to be ended by then.
    for number in ENDING_SIGNALS:
        signal.signal(number, lambda *_: None)
    await Announcing(config).serve(sockets=[listener])


def _bound(host: str, port: int) -> socket.socket:
    """
    A socket at the address, which does not listen yet.

    Raises:
        CommandFault: when the address cannot be had.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except socket.gaierror as error:
        raise CommandFault.of("server.host", f"{host!r} is no address of this machine: {error.strerror}") from error
    listener = socket.socket(family, kind, protocol)
    try:
        if os.name == "posix":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
    except OSError as error:
        listener.close()
        raise CommandFault.of(
            "server.port",
            f"{port} on {host} cannot be had: {error.strerror or error}; choose another with --port, 0 for any that is "
            "free",
        ) from error
    return listener


def is_loopback(address: str) -> bool:
    """
    Whether only this machine can reach the address.
    """
    return ipaddress.ip_address(address.partition("%")[0]).is_loopback


def address_of(listener: socket.socket) -> str:
    """
    The URL under which the service is reached from this machine.
    """
    host, port = listener.getsockname()[:2]
    if ipaddress.ip_address(host.partition("%")[0]).is_unspecified:
        host = "::1" if ":" in host else "127.0.0.1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def curl_lines(url: str, *, needs_key: bool) -> list[str]:
    """
    Three commands that store a memory, recall it, and get a context.
    """
    key = f' -H "Authorization: Bearer ${API_KEY_ENV}"' if needs_key else ""
    start = f"curl -s -H 'Content-Type: application/json'{key} {url}/v1/banks/main"
    return [
        f"""{start}/memories -d '{{"content": "Ana publishes her articles on Tuesday mornings"}}'""",
        f"""{start}/recall -d '{{"query": "when does Ana publish?"}}'""",
        f"""{start}/context -d '{{"query": "when does Ana publish?", "budget": {{"tokens": 200}}}}'""",
    ]


def announce(settings: "Settings", url: str, *, needs_key: bool, as_json: bool) -> None:
    """
    Say where the service is and how to try it.
    """
    lines = curl_lines(url, needs_key=needs_key)
    if as_json:
        emit({"url": url, "data_dir": settings.storage.data_dir, "pid": os.getpid(), "curl": lines})
        return
    note(f"Lamina listens on {url}, its data in {settings.storage.data_dir}; Ctrl-C ends it. Try:", "bold green")
    for line in lines:
        note(line, "")
