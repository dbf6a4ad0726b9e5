"""Does `cambrian gate` catch faults, and let harmless changes pass?

    .venv/bin/python benchmarks/gate.py [--out DIR] [--faults N] [--placebos N] [--seed 1] [--jobs N]

Faults: presets of the lab stack with a planted fault, in a seeded order, against the baseline of the preset
without it. Each should be *different*. A fault that changes no packet is *unchanged*, as it must be.

Placebos: clean controllers of several stacks against their own baseline, with paths that are 0.02 % longer.
Every packet moves, and no behaviour changes: each should be *equivalent*.

A row for each: contestant, outcome, and what differs. Results stay in DIR (default: results/gate-benchmark),
so a run that was interrupted goes on. The exit status is 1 if a placebo is different, or fewer than 90 % of
the faults are.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

os.environ.setdefault("POLARS_MAX_THREADS", "1")

from rich.console import Console

from cambrian.gate import carry_out, differences, snapshot
from cambrian.gate.carry_out import Gate, GateFile
from cambrian.gate.differences import Compared
from cambrian.gate.snapshot import Snapshot
from cambrian.proof import faults
from cambrian.run.study import RunOptions
from cambrian.suites.plan import Planned

ENOUGH = 0.9
#: the placebos' contestants; the lab stack's presets are clean controllers
PLACEBOS = (
    "quinn/cubic", "quinn/reno", "quinn/bbr", "quic-go/cubic", "quic-go/reno", "quinn-lab/cubic-rfc9438",
    "quinn-lab/reno-rfc9002", "quinn-lab/bbr", "google-quiche/cubic", "google-quiche/bbr",
)  # fmt: skip
#: how much longer the paths of placebos are
LONGER = 1.0002


class Bench:
    """Runs gates into one folder, where kernel TCP's trials are shared."""

    def __init__(self, folder: Path, jobs: int) -> None:
        self._folder = folder
        self._options = RunOptions("gate", jobs=jobs)
        self._console = Console(stderr=True, quiet=True)
        self._known: dict[tuple[str, bool], Snapshot] = {}

    def taken(self, contestant: str, *, longer: bool = False) -> Snapshot:
        """The snapshot of a contestant, run if needed."""
        if (contestant, longer) not in self._known:
            gate = Gate(Path("gate.toml"), GateFile(contestant=contestant))
            parts = carry_out.planned(gate, self._options)
            if longer:
                parts = [_longer(part) for part in parts]
            folder = self._folder / ("longer" if longer else "plain")
            with carry_out.alone(parts, folder):
                if errors := carry_out.run_parts(gate, parts, folder, self._options, self._console):
                    sys.exit(f"{contestant}: {errors[0]}")
                found = snapshot.take(carry_out.folders(parts, folder), contestant)
            self._known[contestant, longer] = found
        return self._known[contestant, longer]


def _longer(part: Planned) -> Planned:
    """The part on paths that are a little longer, under the same names."""
    groups = []
    for group in part.groups:
        trials = [
            trial.model_copy(
                update={"network": trial.network.model_copy(update={"rtt_ms": trial.network.rtt_ms * LONGER})}
            )
            for trial in group.trials
        ]
        groups.append(group.model_copy(update={"trials": tuple(trials)}))
    return replace(part, groups=groups)


def planted() -> list[tuple[str, str]]:
    """(Preset, preset without the fault), each once."""
    key = faults.key()
    pairs = [(one.preset, one.clean) for one in key.fault] + [
        (one.preset, one.clean) for one in key.misbehaviour
    ]
    return list(dict.fromkeys(pairs))


def row(kind: str, contestant: str, compared: Compared) -> str:
    """Print one result; returns its outcome."""
    outcome = carry_out.outcome_of(compared)
    of = compared.different or compared.doubtful
    what = "; ".join(f"{one.name} {one.before} → {one.after} ({one.place})" for one in of[:3])
    counts = f"{len(compared.different)}/{len(compared.doubtful)}/{len(compared.figures)}"
    print(f"{kind:8} {contestant:40} {outcome:11} {counts:10} {what}", flush=True)
    return outcome


def main(arguments: Sequence[str] | None = None) -> int:
    """Run both halves; returns the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=Path("results/gate-benchmark"))
    parser.add_argument("--faults", type=int, default=1000, help="how many faults at most")
    parser.add_argument("--placebos", type=int, default=len(PLACEBOS), help="how many placebos at most")
    parser.add_argument("--seed", type=int, default=1, help="decides the order of the faults")
    parser.add_argument("--jobs", type=int, default=0)
    given = parser.parse_args(arguments)
    bench = Bench(given.out, given.jobs)
    print(f"{'':8} {'contestant':40} {'outcome':11} {'different/look so/figures'}")
    placebos = Counter(
        row("placebo", name, differences.snapshots(bench.taken(name), bench.taken(name, longer=True)))
        for name in PLACEBOS[: given.placebos]
    )
    pairs = planted()
    random.Random(given.seed).shuffle(pairs)  # noqa: S311
    caught = Counter(
        row(
            "fault",
            name,
            differences.snapshots(
                snapshot.renamed(bench.taken(f"{faults.LAB}/{clean}"), name), bench.taken(name)
            ),
        )
        for name, clean in ((f"{faults.LAB}/{preset}", clean) for preset, clean in pairs[: given.faults])
    )
    print(f"placebos: {dict(placebos)}; faults: {dict(caught)}")
    exercised = caught.total() - caught["unchanged"]
    return 1 if placebos["different"] or caught["different"] < ENOUGH * exercised else 0


if __name__ == "__main__":
    sys.exit(main())
