"""Pairs of state machines that are compared: a contestant's and its reference's."""

from __future__ import annotations

from cambrian.metrics.states.difference import Arm, Difference, difference
from cambrian.metrics.states.machine import combined
from cambrian.report import blocks
from cambrian.report.collect import Cell, Collected


def arm(cell: Cell, flow: int = 0) -> Arm:
    """Seed → the flow's machine over its trials, for the seeds whose trials all have one."""
    found = {}
    for seed, trials in blocks.whole(cell).items():
        known = [one for trial in trials if trial.machines and (one := trial.machines[flow]) is not None]
        if len(known) == len(trials):
            found[seed] = combined(known)
    return found


def reference_of(cell: Cell, collected: Collected) -> Cell | None:
    """The group whose flow 0 is the reference for ``cell``'s: kernel TCP on the same network and page.

    Design ``versus-reference``: the reference against itself. Design ``solo``: kernel TCP alone with the CCA
    that the contestant is judged against. None if the study has no such group.
    """
    if cell.design == "versus-reference":
        return None if cell.is_noise_floor else collected.noise_floor(cell)
    if cell.design != "solo":
        return None
    name = collected.kernel(cell.subject)
    here = (other for other in collected.on(cell.network) if other.page == cell.page)
    return next((other for other in here if other.subject == name and other.key != cell.key), None)


def compare(cell: Cell, collected: Collected) -> Difference | None:
    """``cell``'s flow 0 compared with its reference's; None without a reference or a machine."""
    reference = reference_of(cell, collected)
    return difference(arm(cell), arm(reference)) if reference else None
