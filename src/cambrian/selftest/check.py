"""One row of the self-test."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Check:
    """An expected and a measured value; ``ok`` is None if the check is impossible on this machine."""

    name: str
    expected: str
    measured: str
    ok: bool | None


def within(
    name: str, measured: float, expected: float, tolerance: float, unit: str, *, digits: int = 4
) -> Check:
    """A check that ``measured`` differs from ``expected`` by at most ``tolerance``, in ``unit``."""
    error = measured - expected
    return Check(
        name,
        f"{expected:g} {unit} ± {tolerance:g}",
        f"{measured:.{digits}f} {unit} ({error:+.2g})",
        abs(error) <= tolerance,
    )
