"""Run suites: print their cost, run part after part, keep existing results."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console

import cambrian
from cambrian.run import study as studies
from cambrian.run.study import RunOptions, Summary
from cambrian.stacks import offers
from cambrian.store import reading
from cambrian.store.results import write_json
from cambrian.store.shapes import SuiteRecord
from cambrian.study import cost
from cambrian.study.errors import StudyError
from cambrian.suites.find import SuiteFolder
from cambrian.suites.model import RECORD
from cambrian.suites.plan import Planned, parts_of, plan


def planned(found: Sequence[SuiteFolder], only_part: str | None, options: RunOptions) -> list[Planned]:
    """All parts with groups to run.

    Raises:
        StudyError: a part's file has a fault, or ``--only`` matches no group of any part.
    """
    studies.look_in(options.stacks_here)
    contestants = offers.contestants(options.contestants)
    everything = [
        plan(part, options)
        for one in found
        for part in parts_of(one, only_part, contestants if one.suite.contestants or len(found) == 1 else ())
    ]
    kept = [one for one in everything if one.groups]
    if not kept:
        problem = f"matches no group of {len(everything)} parts"
        raise StudyError(file="--only", key=options.only or "", problem=problem, remedy="see --dry-run")
    return kept


def announce(
    found: Sequence[SuiteFolder],
    parts: Sequence[Planned],
    options: RunOptions,
    root: Path,
    console: Console,
) -> None:
    """Print each part that will run, its cost, and what the user should know; ``root`` is for the results."""
    for one in found:
        console.print(f"{one.suite.name}: {one.suite.title}", markup=False)
        for part in (part for part in parts if part.part.suite == one.suite.name):
            price = cost.estimate(part.groups, jobs=options.at_a_time)
            console.print(f"  {part.part.place}: {price}", markup=False)
    everything = [group for part in parts for group in part.groups]
    if len(parts) > 1:
        console.print(f"in total {cost.estimate(everything, jobs=options.at_a_time)}", markup=False)
    studies.tell_first(options, everything, root, console)


def run(
    found: Sequence[SuiteFolder],
    parts: Sequence[Planned],
    options: RunOptions,
    root: Path,
    console: Console,
) -> Summary:
    """Run the trials that ``root``/SUITE/PART lacks, and print a summary.

    Raises:
        The errors of :func:`cambrian.run.study.run_groups`.
    """
    parts = [replace(part, groups=options.mine(part.groups)) for part in parts]
    announce(found, parts, options, root, console)
    began = time.monotonic()
    studies.check_trust(options, [group for part in parts for group in part.groups], options.stacks_here)
    for one in found:
        _record(one, [part for part in parts if part.part.suite == one.suite.name], options, root)
    whole = Summary()
    for number, part in enumerate(parts, 1):
        place = part.part.place
        console.print(f"part {number} of {len(parts)}: {place}: {part.study.title}", markup=False)
        summary = studies.run_groups(
            part.study, part.groups, (root / place).absolute(), part.options, console
        )
        whole.add(place, summary)
    studies.tell(whole, time.monotonic() - began, root, console)
    return whole


def _record(found: SuiteFolder, parts: Sequence[Planned], options: RunOptions, root: Path) -> None:
    """Write ``suite.json``. A record is replaced by a run with all its parts, or with the suite's own."""
    folder = root / found.suite.name
    folder.mkdir(parents=True, exist_ok=True)
    places = [part.part.place.partition("/")[2] for part in parts]
    own = {part.place.partition("/")[2] for part in parts_of(found, None, ())}
    if not any(wanted <= set(places) for wanted in (_recorded(folder), own)):
        return
    write_json(
        folder / RECORD,
        {
            "cambrian": cambrian.__version__,
            "suite": found.suite.name,
            "parts": places,
            "profile": options.profile,
            "command": options.command,
        },
    )


def _recorded(folder: Path) -> set[str]:
    """The parts in the folder's record; none if there is no record, or a damaged one."""
    if not (folder / RECORD).exists():
        return set()
    try:
        return set(reading.json_file(folder / RECORD, SuiteRecord, folder).get("parts", ()))
    except reading.Damaged:
        return set()
