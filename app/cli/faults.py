"""
How a command fails: what is said, where, and with which exit code.

0 is success, 1 a fault, 2 a wrong use of the command line (said by Typer itself), 4 something that is not there.
"""

import sys
from collections.abc import Sequence
from typing import Any, ClassVar

import typer
from typer.core import TyperGroup

from app.errors import FieldFault, LaminaError

FAULT = 1
NOT_FOUND = 4
JSON_WANTED = "lamina.json"
"""Where the context of a command remembers that it was given `--json`."""


class CommandFault(LaminaError):
    """
    Something outside the service keeps a command from doing its work: a port, a file, a service that does not answer.
    """

    slug: ClassVar[str] = "command"
    title: ClassVar[str] = "Command failed"

    @classmethod
    def of(cls, field: str, message: str) -> "CommandFault":
        """
        A fault of one argument or setting.
        """
        return cls(f"{field}: {message}", (FieldFault(field, message),))


class AnsweredFault(LaminaError):
    """
    A problem that a service answered with; it says itself what kind it is.
    """

    def __init__(self, status: int, kind: str, title: str, detail: str, fields: Sequence[FieldFault]) -> None:
        super().__init__(detail, tuple(fields))
        self.answered_status = status
        self.kind = kind
        self.answered_title = title


class ReportingGroup(TyperGroup):
    """
    The group of all commands: turns a fault into a message, or a problem document, and an exit code.
    """

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except Exception as error:
            fault = _as_fault(error)
            if fault is None:
                raise
            report(fault, as_json=bool(ctx.meta.get(JSON_WANTED)))
            raise typer.Exit(exit_code(fault)) from error


def report(fault: LaminaError, *, as_json: bool) -> None:
    """
    Say what went wrong: a line on standard error, or a problem document on standard output.
    """
    if not as_json:
        typer.secho(f"lamina: {fault.detail}", fg=typer.colors.RED, err=True)
        return
    import msgspec

    typer.echo(msgspec.json.encode(problem(fault)))


def problem(fault: LaminaError) -> dict[str, Any]:
    """
    The problem document of a fault, as the HTTP API gives it.
    """
    if isinstance(fault, AnsweredFault):
        kind, title = fault.kind, fault.answered_title
    else:
        kind, title = f"/problems/{fault.slug}", fault.title
    return {
        "type": kind,
        "title": title,
        "status": status_of(fault),
        "detail": fault.detail,
        "errors": [{"field": item.field, "message": item.message} for item in fault.fields],
    }


def status_of(fault: LaminaError) -> int:
    """
    The HTTP status that stands for the fault.
    """
    return fault.answered_status if isinstance(fault, AnsweredFault) else fault.status


def exit_code(fault: LaminaError) -> int:
    """
    The exit code of a command that ended with the fault.
    """
    return NOT_FOUND if status_of(fault) == 404 else FAULT


def _as_fault(error: Exception) -> LaminaError | None:
    if isinstance(error, LaminaError):
        return error
    # Looked up, not imported: a command that never opened the store cannot have this error.
    database = sys.modules.get("sqlalchemy.exc")
    if database is not None and type(error) in (database.OperationalError, database.DatabaseError):
        orig = error.orig  # type: ignore[attr-defined]
        return CommandFault(f"storage.data_dir: the database cannot be used: {orig}; `lamina db check` says more")
    return None
