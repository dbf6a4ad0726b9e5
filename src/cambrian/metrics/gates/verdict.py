"""A gate's answer, and the verdict over all of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Gate:
    """One check. ``ok`` is None if it is inconclusive; ``text`` is one sentence for a reader."""

    name: str
    ok: bool | None
    measured: float | str | None
    expected: float | str | None
    text: str


@dataclass(frozen=True)
class Verdict:
    """``reasons`` make a trial invalid; ``notes`` are for the reader of a valid one."""

    valid: bool
    reasons: list[str]
    notes: list[str]


def skipped(name: str, why: str) -> Gate:
    """A gate that does not apply, with the reason in its text."""
    return Gate(name, None, None, None, f"{name}: not checked, {why}")


def verdict(gates: Iterable[Gate]) -> Verdict:
    """Invalid if any gate failed; an inconclusive gate gives a note."""
    every = list(gates)
    reasons = [gate.text for gate in every if gate.ok is False]
    notes = [gate.text for gate in every if gate.ok is None]
    return Verdict(valid=not reasons, reasons=reasons, notes=notes)
