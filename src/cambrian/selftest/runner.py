"""Runs the self-test's parts and prints their results."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from fnmatch import fnmatch

from rich.console import Console
from rich.table import Table

from cambrian import progress
from cambrian.selftest import clocks, controllers, determinism, link, pages, shipped, symmetry, theory
from cambrian.selftest.bench import CONTESTANTS, Bench, BenchError, bench
from cambrian.selftest.check import Check

Part = Callable[[Bench], Iterator[Check]]
_USUAL = frozenset(CONTESTANTS)
#: name → part, approximate duration on two cores in seconds, and its stacks
PARTS: dict[str, tuple[Part, int, frozenset[str]]] = {
    "link": (link.checks, 15, _USUAL),
    "controllers": (controllers.checks, 30, _USUAL),
    "determinism": (determinism.checks, 120, _USUAL),
    "shipped": (shipped.checks, 30, shipped.STACKS),
    "symmetry": (symmetry.checks, 30, _USUAL),
    "theory": (theory.checks, 30, _USUAL),
    "clocks": (clocks.checks, 20, frozenset({"tcp"})),
    "pages": (pages.checks, 240, frozenset(pages.SERVERS.values())),
}


def _collect(names: list[str], jobs: int, cpu_limit_s: float | None) -> list[Check]:
    found: list[Check] = []
    total = sum(PARTS[name][1] for name in names)
    stacks = frozenset[str]().union(*(PARTS[name][2] for name in names))
    if "shipped" in names:
        stacks |= shipped.built()
    with (
        bench(jobs, stacks, cpu_limit_s) as workbench,
        progress.step("self-test", total=float(total)) as step,
    ):
        done = 0.0
        for name in names:
            step.say(name)
            part, seconds, _ = PARTS[name]
            try:
                found += part(workbench)
            except BenchError as error:
                found.append(Check(f"{name}: trials", "valid trials", str(error), ok=False))
            done += seconds
            step.reach(done)
    return found


def update_hashes(jobs: int) -> bool:
    """Make the shipped packets again on this machine; returns whether all their trials were valid."""
    with bench(jobs, shipped.stacks()) as workbench:
        try:
            folder = shipped.update(workbench)
        except BenchError as error:
            Console(stderr=True, emoji=False).print(str(error), markup=False)
            return False
    Console(stderr=True, emoji=False).print(f"wrote {folder}", markup=False, soft_wrap=True)
    return True


def run(*, as_json: bool, only: str | None, jobs: int, cpu_limit_s: float | None = None) -> bool:
    """Run the parts whose name matches ``only`` (shell style; None: all) and print the rows.

    ``cpu_limit_s``: CPU seconds per trial (default: :func:`cambrian.trial.limits.limits_of`).
    Returns whether no check failed; a check that is impossible on this machine counts as no failure.
    """
    names = [name for name in PARTS if only is None or fnmatch(name, only)]
    began = time.monotonic()
    found = _collect(names, jobs, cpu_limit_s)
    passed = all(check.ok is not False for check in found)
    if as_json:
        print(
            json.dumps(
                {
                    "ok": passed,
                    "seconds": round(time.monotonic() - began),
                    "checks": [asdict(check) for check in found],
                },
                indent=1,
            )
        )
        return passed
    table = Table("check", "expected", "measured", "")
    words = {True: "ok", False: "FAILED", None: "not checked"}
    for check in found:
        table.add_row(check.name, check.expected, check.measured, words[check.ok])
    out = Console(markup=False, emoji=False)
    out.print(table)
    failures = sum(check.ok is False for check in found)
    unchecked = sum(check.ok is None for check in found)
    if failures:
        out.print(f"{failures} of {len(found)} checks failed.")
    elif unchecked:
        out.print(f"{unchecked} of {len(found)} checks cannot be made here; the others passed.")
    elif len(names) == len(PARTS):
        out.print("All checks passed: this installation can be trusted.")
    else:
        out.print(f"All checks of {', '.join(names)} passed; run all with `cambrian selftest`.")
    return passed
