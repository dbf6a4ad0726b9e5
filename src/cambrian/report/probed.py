"""Each contestant's probes: its readings beside those of kernel TCP alone on the same network."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cambrian.judging.sides import Side
from cambrian.probes import judge, table
from cambrian.probes.effects import State
from cambrian.probes.figures import Figure, Unseen
from cambrian.probes.judge import Finding
from cambrian.report.collect import Cell, Collected

#: the stack whose controllers are the reference
_KERNEL = "tcp"
_STATES: tuple[State, ...] = ("different", "inconclusive", "equivalent")


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


@dataclass(frozen=True)
class Behaviour:
    """What all probes say of one contestant together: the side *behaviour* of its verdict.

    ``different``, ``inconclusive``, ``equivalent``: the probes in each state; those that compare nothing are
    in none of them.
    """

    different: tuple[Finding, ...]
    inconclusive: tuple[Finding, ...]
    equivalent: tuple[Finding, ...]

    @property
    def side(self) -> Side:
        """*different* if any probe is, else *inconclusive* if any is; with what those probes saw."""
        if self.different:
            return Side("different", tuple(one.text for one in self.different))
        if self.inconclusive:
            return Side("inconclusive", tuple(one.text for one in self.inconclusive))
        return Side("equivalent") if self.equivalent else Side()

    @property
    def counts(self) -> str:
        """How many probes are in each state, in words."""
        counts = {
            "different": self.different,
            "equivalent": self.equivalent,
            "inconclusive": self.inconclusive,
        }
        said = [f"{len(found)} {state}" for state, found in counts.items() if found]
        return ", ".join(said) if said else "nothing that could be compared"


def behaviour(collected: Collected) -> dict[str, Behaviour]:
    """Contestant → what its probes say; without those that no probe was asked of."""
    found: dict[str, list[Finding]] = {}
    for one in findings(collected):
        found.setdefault(one.contestant, []).append(one.finding)
    return {
        name: Behaviour(*(tuple(one for one in here if one.state == state) for state in _STATES))
        for name, here in found.items()
    }
