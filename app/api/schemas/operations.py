"""
Health and the doctor's report.
"""

from typing import Literal

from msgspec import Struct

from app.services.doctor import DoctorReport


class Alive(Struct, frozen=True):
    """
    The process answers.
    """

    status: Literal["alive"]


class Readiness(Struct, frozen=True):
    """
    Whether requests can be served; `degraded` names what is missing, and why.
    """

    ready: bool
    degraded: dict[str, str]


class CheckOut(Struct, frozen=True):
    """
    One thing that was looked at; `ms` is how long it took, where that means something.
    """

    name: str
    state: Literal["ok", "degraded", "failed"]
    detail: str
    ms: float | None


class DoctorOut(Struct, frozen=True):
    """
    All checks; `ok` unless one failed.
    """

    ok: bool
    checks: list[CheckOut]
    degraded: tuple[str, ...]


def doctor_out(report: DoctorReport) -> DoctorOut:
    """
    The doctor's report as it is shown.
    """
    checks = [CheckOut(check.name, check.state, check.detail, check.ms) for check in report.checks]
    return DoctorOut(report.ok, checks, report.degraded)
