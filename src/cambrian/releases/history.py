"""Measure every release of a stack, and say what changed from one to the next."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl
from rich.console import Console

from cambrian.gate.differences import Compared
from cambrian.gate.quantities import MARGINS
from cambrian.gate.snapshot import Snapshot
from cambrian.measure import quantities
from cambrian.metrics.parameters.definitions import PARAMETERS
from cambrian.probes.table import probes
from cambrian.releases import ready, verdicts
from cambrian.releases.trials import Bench, invalid
from cambrian.stacks import registry, releases
from cambrian.stacks.catalogue import Stack

#: quantities of the table and the chart
SHOWN = ("throughput_mbps", "delay_p95_ms", "queue_loss_percent")
#: columns of ``history.csv``
_COLUMNS = {
    "release": pl.String(),
    "date": pl.String(),
    "network": pl.String(),
    "figure": pl.String(),
    "kind": pl.String(),
    "unit": pl.String(),
    "value": pl.Float64(),
    "low": pl.Float64(),
    "high": pl.Float64(),
    "label": pl.String(),
    "status": pl.String(),
}


@dataclass(frozen=True)
class Entry:
    """One release: its figures, or ``why`` it has none; ``change`` from the one ``before`` with figures."""

    release: str
    date: str
    why: str | None = None
    measured: Snapshot | None = None
    change: Compared | None = None
    before: str = ""

    @property
    def same_packets(self) -> bool:
        """Does it send the packets of the release before?"""
        one = self.change
        return one is not None and bool(one.same) and not (one.changed or one.lost or one.unknown)

    @property
    def changes(self) -> str:
        """The figures that differ from those of the release before, in words; empty if none does."""
        return verdicts.names(self.change.different) if self.change is not None else ""

    @property
    def short(self) -> str:
        """What differs from the release before, in few words; empty for the first."""
        if self.why is not None:
            return "no figures"
        if self.change is None:
            return ""
        if self.same_packets:
            return f"the packets of {self.before}"
        count = len(self.change.different)
        return f"{count} figure{'s' if count > 1 else ''} different" if count else "no figure different"


@dataclass(frozen=True)
class History:
    """All releases, oldest first."""

    stack: str
    cca: str
    entries: tuple[Entry, ...]


def run(bench: Bench, stack: Stack, wanted: Sequence[str], console: Console) -> History:
    """Build and measure the releases ``wanted``, oldest first; one that does not build has the reason.

    Raises:
        MissingTool: no compiler.
        Errors of :meth:`Bench.measure`.
    """
    dates = {one.version: one.date for one in registry.listed(stack)}
    why: dict[str, str | None] = {}
    for number, release in enumerate(wanted, 1):
        console.print(
            f"release {number} of {len(wanted)}: {releases.joined(stack.name, release)}",
            markup=False,
            highlight=False,
        )
        why[release] = ready.why_not(releases.joined(stack.name, release), bench.cca)
    built = [release for release in wanted if why[release] is None]
    measured = bench.measure(built, console) if built else {}
    entries: list[Entry] = []
    last: Entry | None = None
    for release in wanted:
        one = measured.get(release)
        entry = Entry(release, dates[release], why[release] or (invalid(one) if one else None), one)
        if entry.why is None and one is not None:
            if last is not None and last.measured is not None:
                change = verdicts.compared(last.measured, one)
                entry = Entry(release, dates[release], None, one, change, last.release)
            last = entry
        entries.append(entry)
    return History(stack.name, bench.cca, tuple(entries))


def frame(history: History) -> pl.DataFrame:
    """Every figure of every release, one row each; a release without figures has one row with its reason."""
    rows: list[dict[str, object]] = []
    for entry in history.entries:
        head = {"release": entry.release, "date": entry.date}
        if entry.measured is None or entry.why:
            rows.append(head | {"kind": "none", "status": entry.why})
            continue
        for network, place in entry.measured.places.items():
            here = head | {"network": network}
            for name, by_seed in place.values.items():
                unit = quantities.ALL[name].unit
                rows += [
                    here | {"figure": name, "kind": "seed", "unit": unit, "value": value, "label": seed}
                    for seed, value in by_seed.items()
                ]
            for name, parameter in place.parameters.items():
                figures = parameter.model_dump(include={"value", "low", "high", "label", "status"})
                unit = PARAMETERS[name].unit
                rows.append(here | {"figure": name, "kind": "parameter", "unit": unit} | figures)
            for name, probe in place.probes.items():
                bounds: dict[str, object] = {
                    "value": probe.effect,
                    "low": probe.low,
                    "high": probe.high,
                    "status": probe.state,
                }
                rows.append(here | {"figure": name, "kind": "probe", "unit": ""} | bounds)
    return pl.DataFrame(rows, schema=_COLUMNS)


def means(history: History, names: Sequence[str]) -> Mapping[tuple[str, str], Mapping[str, float]]:
    """(network, quantity) → release → mean over the seeds, of the quantities ``names`` that were measured."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    for entry in history.entries:
        if entry.measured is None or entry.why:
            continue
        for network, place in entry.measured.places.items():
            for name in (name for name in names if name in place.values):
                values = list(place.values[name].values())
                found.setdefault((network, name), {})[entry.release] = math.fsum(values) / len(values)
    return found


def known_figures() -> list[str]:
    """The names of everything that can be followed: quantities, parameters and probes."""
    return [*MARGINS, *PARAMETERS, *(probe.name for probe in probes())]
