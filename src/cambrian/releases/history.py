"""Measure every release of a stack, and say what changed from one to the next."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import polars as pl
import pydantic
from rich.console import Console

from cambrian.gate.differences import Compared, from_effect
from cambrian.gate.quantities import MARGINS
from cambrian.gate.snapshot import Place, Probe, Snapshot
from cambrian.measure import quantities
from cambrian.metrics.parameters.definitions import PARAMETERS
from cambrian.probes.table import probes
from cambrian.releases import ready, verdicts
from cambrian.releases.trials import Bench, invalid
from cambrian.stacks import registry, releases
from cambrian.stacks.catalogue import Stack
from cambrian.study.errors import StudyError
from cambrian.study.model import Frozen

#: the file that keeps a history in its results directory
FILE = "history.json"
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


class Measured(Frozen):
    """One release: its figures, or ``why`` it has none."""

    release: str
    date: str
    why: str | None = None
    measured: Snapshot | None = None


@dataclass(frozen=True)
class Entry:
    """A release in a history; ``change`` from the release ``before``, the last one with figures."""

    of: Measured
    change: Compared | None = None
    before: str = ""

    @property
    def same_packets(self) -> bool:
        """Does it send the packets of the release before?"""
        return self.change is not None and verdicts.same_packets(self.change)

    @property
    def changes(self) -> str:
        """The figures that differ from those of the release before, in words; empty if none does."""
        return verdicts.names(self.change.different) if self.change is not None else ""

    @property
    def sign(self) -> str:
        """One sign for the change, as in a comparison's matrix; empty for the first release."""
        if self.of.why is not None:
            return "–"
        if self.change is None:
            return ""
        if self.same_packets:
            return "="
        if self.change.different:
            return "≠"
        return "?" if self.change.doubtful else "≈"

    @property
    def short(self) -> str:
        """What differs from the release before, in few words; empty for the first."""
        named = (self.change.different or self.change.doubtful) if self.change is not None else []
        count = f"{len(named)} figure{'' if len(named) == 1 else 's'}"
        words = {
            "–": "no figures",
            "=": f"the packets of {self.before}",
            "≈": "no figure different",
            "?": f"{count} may be different, without proof",
            "≠": f"{count} different",
        }
        return f"{self.sign} {words[self.sign]}" if self.sign else ""


class History(Frozen):
    """All releases, oldest first; ``quantities`` are those of the table and the chart.

    ``command`` makes it again.
    """

    stack: str
    cca: str
    command: str
    quantities: tuple[str, ...]
    releases: tuple[Measured, ...]

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        """Each release with its change from the one before that has figures.

        The tests are corrected for all releases together, without those that send the packets of the one
        before: these cannot differ.
        """
        known = dict(self.measured)
        before = {new: old for (old, _), (new, _) in pairwise(self.measured)}
        count = sum(not verdicts.send_the_same(known[old], known[new]) for new, old in before.items())
        return tuple(
            Entry(one, verdicts.compared(known[old], known[one.release], max(count, 1)), old)
            if (old := before.get(one.release)) is not None
            else Entry(one)
            for one in self.releases
        )

    @property
    def measured(self) -> list[tuple[str, Snapshot]]:
        """The releases that have figures."""
        return [
            (one.release, one.measured) for one in self.releases if one.measured is not None and not one.why
        ]


def run(
    bench: Bench,
    stack: Stack,
    wanted: Sequence[str],
    quantities: Sequence[str],
    console: Console,
) -> History:
    """Build and measure the releases ``wanted``, oldest first; one that does not build has the reason.

    ``quantities``: those of the table and the chart.

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
    found = []
    for release in wanted:
        one = measured.get(release)
        reason = why[release] or (invalid(one) if one else None)
        found.append(Measured(release=release, date=dates[release], why=reason, measured=one))
    return History(
        stack=stack.name,
        cca=bench.cca,
        command=bench.options.started_by,
        quantities=tuple(quantities),
        releases=tuple(found),
    )


def read(folder: Path) -> History:
    """The history that a results directory keeps, without figures that this version does not have.

    Raises:
        StudyError: its file was damaged, or another version of Cambrian wrote it.
    """
    path = folder / FILE
    try:
        return _of_this_version(History.model_validate_json(path.read_bytes()))
    except pydantic.ValidationError as error:
        problem = f"not a history that this version can read: {error.errors()[0]['msg']}"
        raise StudyError(file=str(path), problem=problem, remedy="make it again: cambrian history") from error


def _of_this_version(one: History) -> History:
    known: dict[str, Collection[str]] = {
        "values": quantities.ALL,
        "parameters": PARAMETERS,
        "probes": {probe.name for probe in probes()},
    }

    def place(old: Place) -> Place:
        kinds = {
            kind: {name: row for name, row in getattr(old, kind).items() if name in names}
            for kind, names in known.items()
        }
        return old.model_copy(update=kinds)

    def release(old: Measured) -> Measured:
        if old.measured is None:
            return old
        places = {name: place(here) for name, here in old.measured.places.items()}
        return old.model_copy(update={"measured": old.measured.model_copy(update={"places": places})})

    return one.model_copy(
        update={
            "quantities": tuple(name for name in one.quantities if name in quantities.ALL),
            "releases": tuple(map(release, one.releases)),
        }
    )


def frame(history: History) -> pl.DataFrame:
    """Every figure of every release, one row each; a release without figures has one row with its reason."""
    rows: list[dict[str, object]] = []
    for entry in history.releases:
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
                rows.append(here | {"figure": name, "kind": "probe"} | _of_probe(name, probe))
    return pl.DataFrame(rows, schema=_COLUMNS)


def _of_probe(name: str, one: Probe) -> dict[str, object]:
    """A probe's figure in its unit; its interval is known only where it has a bound."""
    defined = next(probe for probe in probes() if probe.name == name)
    value = one.mine if one.mine is not None else from_effect(defined, one)
    ends = {
        key: None if end is None or defined.bound is None else end + defined.bound
        for key, end in (("low", one.low), ("high", one.high))
    }
    return {"unit": defined.unit, "value": value, **ends, "status": one.state}


def means(history: History) -> Mapping[tuple[str, str], Mapping[str, float]]:
    """(network, quantity) → release → mean over the seeds, of the history's quantities that were measured."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    for release, measured in history.measured:
        for network, place in measured.places.items():
            for name in (name for name in history.quantities if name in place.values):
                values = list(place.values[name].values())
                found.setdefault((network, name), {})[release] = math.fsum(values) / len(values)
    return found


def known_figures() -> list[str]:
    """The names of everything that can be followed: quantities, parameters and probes."""
    return [*MARGINS, *PARAMETERS, *(probe.name for probe in probes())]
