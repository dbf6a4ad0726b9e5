"""Each contestant's probes: its readings beside those of kernel TCP alone on the same network."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cambrian.probes import judge, table
from cambrian.probes.figures import Figure, Unseen
from cambrian.probes.judge import Finding
from cambrian.report.collect import Cell, Collected

#: the stack whose controllers are the reference
_KERNEL = "tcp"


@dataclass(frozen=True)
class Probed:
    """One contestant's finding."""

    contestant: str
    finding: Finding


def findings(collected: Collected) -> list[Probed]:
    """Every probe of every contestant that is alone on a network that shows it, in the study's order."""
    return [one for cell in collected.cells for one in _of(cell, collected)]


def _of(cell: Cell, collected: Collected) -> Iterator[Probed]:
    family = collected.families.get(cell.subject)
    if len(cell.names) != 1 or family is None or not cell.trials:
        return
    kernel = _kernel(cell, collected, family.reference)
    if kernel is cell:
        return
    cca = cell.trials[0].trial.flows[0].contestant.cca
    for probe in table.probes():
        if mine := _readings(cell, probe.name):
            its = _readings(kernel, probe.name) if kernel is not None else None
            found = judge.judge(probe, cell.network, family.reference, cca, mine, its)
            yield Probed(cell.subject, found)


def _kernel(cell: Cell, collected: Collected, family: str) -> Cell | None:
    """Kernel TCP alone on the cell's network, as it is: no options, TLS or slow receiver."""
    for other in collected.on(cell.network):
        if len(other.names) != 1 or not other.trials:
            continue
        flow = other.trials[0].trial.flows[0]
        one = flow.contestant
        plain = not (one.options or one.tls or one.receiver_cpu)
        if (one.stack, one.cca) == (_KERNEL, family) and plain and one.receiver == "own":
            return other
    return None


def _readings(cell: Cell, probe: str) -> dict[int, Figure | Unseen]:
    """Seed → what its trial shows of one probe."""
    return {one.trial.seed: one.probes[probe] for one in cell.trials if probe in one.probes}
