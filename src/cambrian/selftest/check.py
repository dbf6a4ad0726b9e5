"""One row of the self-test."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Check:
    """What was expected and what was measured; ``ok`` is None for what could not be checked here."""

    name: str
    expected: str
    measured: str
    ok: bool | None


def within(
    name: str, measured: float, expected: float, tolerance: float, unit: str, *, digits: int = 4
) -> Check:
    """``measured`` may differ from ``expected`` by ``tolerance`` at the most, in ``unit``."""
    error = measured - expected
    return Check(
        name,
        f"{expected:g} {unit} ± {tolerance:g}",
        f"{measured:.{digits}f} {unit} ({error:+.2g})",
        abs(error) <= tolerance,
    )
