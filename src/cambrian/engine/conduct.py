"""From a study's name to its results, with what a person wants to read on the way."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from cambrian.engine import campaign, pool
from cambrian.engine.campaign import Summary
from cambrian.stacks import catalogue, receivers
from cambrian.study import builtin, cost, load
from cambrian.study.expand import expand
from cambrian.study.model import Clock, Group, Study

#: invalid trials that a run names one by one
_SHOWN = 10


@dataclass(frozen=True)
class Order:
    """What to run: a study by name or file, and how much of it. ``jobs`` 0: one a core."""

    study: str
    profile: str | None = None
    seed: int = 1
    clock: Clock = "virtual"
    only: str | None = None
    jobs: int = 0
    cpu_limit_s: float | None = None

    @property
    def at_a_time(self) -> int:
        """Trials that run side by side; on a real clock they would disturb each other."""
        return self.jobs or (1 if self.clock == "real" else len(pool.cores()))

    @property
    def command(self) -> str:
        """The command line that asks for the same."""
        words = ["cambrian", "run", self.study, *(["--profile", self.profile] if self.profile else [])]
        words += ["--seed", str(self.seed), "--clock", self.clock]
        return " ".join([*words, *(["--only", f"'{self.only}'"] if self.only else [])])


def expanded(order: Order) -> tuple[Study, list[Group]]:
    """The study, and its groups with their trials.

    Raises:
        StudyError: the file is wrong.
    """
    path = builtin.find_study(order.study)
    catalogue.look_in(path.absolute().parent / "stacks")
    study = load.load_study(path, catalogue.ccas(), catalogue.reference_of, receivers.problem)
    groups = expand(
        study,
        profile=order.profile,
        seed_base=order.seed,
        reference_of=catalogue.reference_of,
        clock=order.clock,
        only=order.only,
    )
    return study, list(groups)


def announce(order: Order, study: Study, groups: list[Group], console: Console) -> None:
    """Say what will run and what it costs."""
    console.print(f"{study.name}: {study.title}", markup=False)
    console.print(str(cost.estimate(groups, jobs=order.at_a_time)), markup=False)


def conduct(order: Order, folder: Path | None, console: Console) -> tuple[Path, Summary]:
    """Run what ``folder`` (default: ``results/STUDY``) does not hold yet, and say how it went.

    Raises:
        StudyError: the file is wrong.
        What :func:`cambrian.engine.campaign.run` raises.
    """
    study, groups = expanded(order)
    announce(order, study, groups, console)
    began = time.monotonic()
    folder = folder or Path("results") / study.name
    summary = campaign.run(
        study,
        groups,
        folder.absolute(),
        jobs=order.at_a_time,
        cpu_limit_s=order.cpu_limit_s,
        command=order.command,
        console=console,
    )
    tell(summary, time.monotonic() - began, folder, console)
    return folder, summary


def tell(summary: Summary, took_s: float, folder: Path, console: Console) -> None:
    """Say how a run went whose results are in ``folder``."""
    invalid = summary.invalid
    lines = [f"invalid: {label}: {'; '.join(reasons)}" for label, reasons in invalid[:_SHOWN]]
    if len(invalid) > _SHOWN:
        lines.append(f"… and {len(invalid) - _SHOWN} more invalid trials; the reports list them all")
    lines += summary.stopped
    lines += [f"failed: {text}" for text in summary.errors]
    lines.append(
        f"{summary.ran} trials run in {cost.rough_time(took_s)}, {summary.kept} kept, "
        f"{len(invalid)} invalid; results in {folder}"
    )
    for line in lines:
        console.print(line, markup=False, soft_wrap=True)
