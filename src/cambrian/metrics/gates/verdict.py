"""A gate's answer, and the verdict over all of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Gate:
    """One check. ``ok`` is None where it cannot tell; ``text`` is one sentence for a reader."""

    name: str
    ok: bool | None
    measured: float | str | None
    expected: float | str | None
    text: str


@dataclass(frozen=True)
class Verdict:
    """``reasons`` make a trial invalid; ``notes`` are what a reader should know besides."""

    valid: bool
    reasons: list[str]
    notes: list[str]


def skipped(name: str, why: str) -> Gate:
    """A gate that does not apply, and says so."""
    return Gate(name, None, None, None, f"{name}: not checked, {why}")


def verdict(gates: Iterable[Gate]) -> Verdict:
    """Invalid when any gate failed; a gate that could not tell leaves a note."""
    every = list(gates)
    reasons = [gate.text for gate in every if gate.ok is False]
    notes = [gate.text for gate in every if gate.ok is None]
    return Verdict(valid=not reasons, reasons=reasons, notes=notes)
