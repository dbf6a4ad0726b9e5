"""Does `cambrian hunt` find planted faults without a hint, and leave clean controllers alone?

    .venv/bin/python benchmarks/hunt.py [--out DIR] [--faults 3] [--clean N] [--budget 600] [--seed 1]
        [--jobs N]

Faults: presets of the lab stack with a fault that no parameter describes, drawn at random by the seed; those
that the standards allow are left out, because no property forbids them. Each is hunted with all properties
until one is broken, or until the budget (seconds) is spent. The study that the hunt prints then runs in
another folder with one seed: its packets must be those of the hunt.

Clean: kernel TCP and controllers without a fault, hunted for the whole budget. No property may be broken.

A row for each: contestant, found or not, seconds, situations tried, number of unusual keys of the network,
whether the study repeats, the broken property and where. Results stay in DIR (default:
results/hunt-benchmark), so a run that was interrupted goes on. The exit status is 1 if a clean controller is
accused, a study does not repeat, or a fault is missed.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

os.environ.setdefault("POLARS_MAX_THREADS", "1")

from cambrian.hunt import output
from cambrian.hunt.properties import all_properties
from cambrian.hunt.search import Counterexample, Hunt
from cambrian.hunt.trials import Runner
from cambrian.proof import faults
from cambrian.run import pool
from cambrian.store.results import Results

#: without quic-go's Reno, whose window falls to 0.7 and not to a half
CLEAN = (
    "tcp/cubic", "tcp/reno", "tcp/bbr", "quinn-lab/cubic", "quinn-lab/reno", "quinn-lab/cubic-rfc9438",
    "quinn-lab/reno-rfc9002", "quinn-lab/bbr", "quinn/cubic", "quinn/reno", "quic-go/cubic", "noq/reno",
)  # fmt: skip


def hunted(runner: Runner, budget_s: float, seed: int) -> tuple[list[Counterexample], Hunt]:
    """The first property that is broken, if any is within the budget; and the hunt."""

    def tell(line: str) -> None:
        print(f"  {runner.contestant}: {line}", file=sys.stderr, flush=True)

    hunt = Hunt(runner, list(all_properties().values()), budget_s, seed, tell)
    return list(itertools.islice(hunt.run(), 1)), hunt


def repeats(study: Path, hunted_in: Path, again_in: Path, jobs: int) -> bool:
    """Run the study with one seed elsewhere: has each trial the hunt's packets?"""
    words = ["run", str(study), "--profile", "quick", "--out", str(again_in), "--jobs", str(jobs)]
    subprocess.run([sys.executable, "-m", "cambrian", *words], check=True, stdout=subprocess.DEVNULL)
    again, before = Results(again_in), Results(hunted_in)
    names = [trial for group in again.study()["groups"] for trial in group["trials"]]
    hashes = [[store.trial(name).manifest["packets_sha256"] for name in names] for store in (before, again)]
    return bool(names) and hashes[0] == hashes[1]


def row(kind: str, contestant: str, given: argparse.Namespace) -> bool:
    """Hunt one contestant and print the result; was it as it should be?"""
    folder = given.out.absolute()
    began = time.monotonic()
    with Runner(contestant, folder, given.jobs) as runner:
        found, hunt = hunted(runner, given.budget, given.seed)
        took_s = time.monotonic() - began
        head = f"{kind:6} {contestant:42} {'found' if found else 'nothing':8} {took_s:5.0f} {hunt.tried:5}"
        if not found:
            print(head, flush=True)
            return kind == "clean"
        (one,) = found
        study = output.written(one, runner, folder)
    same = repeats(study, folder, study.with_suffix(""), given.jobs)
    words = f"{one.broken.name}; {one.situation}; {one.evidence.shows[0]}"
    print(
        f"{head} {len(one.situation.unusual):5} {'repeats' if same else 'DIFFERS':8} {words}",
        flush=True,
    )
    return kind == "fault" and same


def main(arguments: Sequence[str] | None = None) -> int:
    """Run both halves; returns the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=Path("results/hunt-benchmark"))
    parser.add_argument("--faults", type=int, default=3, help="how many faults are drawn")
    parser.add_argument("--clean", type=int, default=len(CLEAN), help="how many clean controllers at most")
    parser.add_argument("--budget", type=float, default=600.0, help="seconds for each hunt")
    parser.add_argument("--seed", type=int, default=1, help="draws the faults")
    parser.add_argument("--jobs", type=int, default=len(pool.cores()))
    given = parser.parse_args(arguments)
    presets = [one.preset for one in faults.key().misbehaviour if not one.choice]
    random.Random(given.seed).shuffle(presets)  # noqa: S311
    print(f"{'':6} {'contestant':42} {'':8} {'s':>5} {'tried':>5} {'keys':>5}")
    asked = [("fault", f"{faults.LAB}/{preset}") for preset in presets[: given.faults]]
    asked += [("clean", contestant) for contestant in CLEAN[: given.clean]]
    right = [row(kind, contestant, given) for kind, contestant in asked]
    return 0 if all(right) else 1


if __name__ == "__main__":
    sys.exit(main())
