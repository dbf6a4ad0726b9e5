"""How fast is Cambrian? One command measures it, and compares it with another kernel or another checkout.

    .venv/bin/python -m benchmarks.speed [--only PART]… [--quick] [STACK[:CCA]…]

Prints a table for each part:

{parts}

A name of several parts: {groups}.
Contestants replace the parts' own: every stack in counts; kernel TCP, quinn, quic-go and Google QUICHE with
CUBIC in duels.

Counts are the same on every machine. Measure times on an idle machine: a full run takes about 20 minutes, a
quick one 5. docs/reference/speed.json has the figures that the repository keeps, and docs/reference/speed.md
shows them.

Compare, for instance, with the commit before:

    git worktree add /tmp/before HEAD~1 && (cd /tmp/before && scripts/setup dev)
    .venv/bin/python -m benchmarks.speed --only duel-20 --against-checkout /tmp/before quinn

Each run of a trial is followed by the same run on the other side, on the same core, and the sides take turns
in going first. The table has both medians, the ratio, and whether the packets are the same.

Exit status: 0 if all was measured; 1 if --check found a count that has risen by more than 5 %, or a stack
without kept counts, or if two runs of the same trial on the same side differed; 2 if something could not be
measured.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import textwrap
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

# this process starts programs that read it
os.environ.setdefault("POLARS_MAX_THREADS", "1")

from rich import box
from rich.console import Console
from rich.table import Table as Shown

from benchmarks.speed import cores, counts, kept, page, tables, trials
from benchmarks.speed.jobs import Asked, Found, Part, enter, turns
from benchmarks.speed.parts import GROUPS, PARTS, chosen
from benchmarks.speed.sides import Side, SideError
from cambrian import progress
from cambrian.stacks import catalogue

MEASURED, DIFFERS, FAILED = 0, 1, 2
#: characters of a table's line in a file
_WIDTH = 120


def main() -> None:
    """Measure, print, and compare or keep."""
    parser = _parser()
    options = parser.parse_args()
    try:
        parts = chosen(options.only)
        asked = Asked(_contestants(options.contestants), options.quick, options.repeats, options.profile)
    except ValueError as error:
        parser.error(str(error))
    against = options.against or options.against_checkout
    if against and (options.check or options.update):
        parser.error("--check and --update are about this checkout alone: leave out the comparison")
    if options.update and options.quick and set(parts) != {"counts"}:
        parser.error("a quick run is shorter than what is kept: leave out --quick, or add --only counts")
    if options.check and "counts" not in parts:
        parser.error("--check compares counts: add --only counts")
    console = Console(stderr=True)
    where = kept.here()
    _warn(parts, where["load"], console)
    found: dict[str, Found] = {}
    try:
        wrong = _measured(parts, asked, options, found, console)
    except SideError as error:
        _show(found, parts)
        console.print(f"cambrian: {error}", markup=False, highlight=False, soft_wrap=True)
        sys.exit(FAILED)
    _show(found, parts)
    if options.json:
        figures = {name: kept.merged({}, one, where) for name, one in found.items()}
        options.json.write_text(json.dumps(figures, indent=1) + "\n")
    mine_alone = next(iter(found.values()))
    wrong += cores.differing(mine_alone)
    if options.check:
        wrong += counts.risen(mine_alone["counts"], kept.rows(kept.load(), "counts"))
    for sentence in wrong:
        console.print(sentence, markup=False, highlight=False, soft_wrap=True)
    if options.update and not wrong:
        kept.write(kept.FILE, kept.merged(kept.load(), mine_alone, where))
        page.main()
    sys.exit(DIFFERS if wrong else MEASURED)


def _parser() -> argparse.ArgumentParser:
    about = (__doc__ or "").format(
        parts="\n".join(
            textwrap.fill(part.about, 110, initial_indent=f"    {name:9} ", subsequent_indent=" " * 14)
            for name, part in PARTS.items()
        ),
        groups="; ".join(f"{name} ({', '.join(members)})" for name, members in GROUPS.items()),
    )
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.speed",
        description=about,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("contestants", nargs="*", metavar="STACK[:CCA]", help="default: each part's own")
    parser.add_argument(
        "--only", action="append", default=[], metavar="PART", help="measure this part; may be repeated"
    )
    parser.add_argument("--quick", action="store_true", help="shorter trials, fewer of them")
    parser.add_argument("--repeats", type=_positive, help="of all that is time; default: each part's own")
    parser.add_argument(
        "--core", type=int, default=max(os.sched_getaffinity(0)), help="of all trials; default: the last"
    )
    other = parser.add_mutually_exclusive_group()
    other.add_argument(
        "--against", type=Path, metavar="KERNEL", help="compare with another kernel's binary (kernel/*/linux)"
    )
    other.add_argument(
        "--against-checkout", type=Path, metavar="DIR", help="compare with another checkout, by its .venv"
    )
    parser.add_argument("--check", action="store_true", help="fail if a count has risen by more than 5 %%")
    parser.add_argument("--update", action="store_true", help="keep the figures, and make the page of them")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures to a file")
    parser.add_argument("--profile", action="store_true", help="print where the time of all metrics goes")
    return parser


def _positive(text: str) -> int:
    if (number := int(text)) < 1:
        raise ValueError(text)
    return number


def _contestants(names: Sequence[str]) -> tuple[str, ...]:
    """The names as STACK:CCA.

    Raises:
        ValueError: there is no such stack or controller.
    """
    known = catalogue.ccas()
    for stack, _, cca in (trials.named(name).partition(":") for name in names):
        if cca not in known[stack]:
            raise ValueError(f"{stack} has no controller {cca}; it has {', '.join(known[stack])}")
    return tuple(trials.named(name) for name in names)


def _warn(parts: dict[str, Part], load: float, console: Console) -> None:
    if load > kept.BUSY and not all(part.exact for part in parts.values()):
        console.print(f"The machine is busy (load {load:g}): times are no figures of record.")
    if {"page", "memory"} & set(parts) and not trials.has_browser():
        console.print("No page is loaded: no browser is installed.")


def _measured(
    parts: dict[str, Part],
    asked: Asked,
    options: argparse.Namespace,
    found: dict[str, Found],
    console: Console,
) -> list[str]:
    """Do all jobs, and enter what they find in ``found``; a sentence for each run that differed."""
    wrong = []
    with ExitStack() as stack:
        sides = _sides(options)
        for side in sides:
            stack.callback(side.close)
        found |= {side.name: {} for side in sides}
        order = list(turns(parts, asked, sides))
        needed = frozenset[str]().union(*(turn.job.stacks for turn in order))
        for side in sides:
            side.prepare(needed)
        expected_s = sum(turn.job.expected_s for turn in order)
        done_s = 0.0
        with progress.step("speed", total=expected_s, console=console) as step:
            for turn in order:
                if console.is_terminal:
                    step.say(f"{turn.part}, {turn.job.row}")
                wrong += enter(found[turn.side.name], turn, turn.job.work(turn.side))
                done_s += turn.job.expected_s
                step.reach(done_s)
    return wrong


def _sides(options: argparse.Namespace) -> list[Side]:
    core = options.core
    if options.against:
        return [Side("this kernel", core), Side("the other kernel", core, kernel=options.against)]
    if options.against_checkout:
        # first of all: it may have no Python
        other = Side.of_checkout("the other checkout", core, options.against_checkout)
        return [Side("this checkout", core), other]
    return [Side("this checkout", core)]


def _show(found: dict[str, Found], parts: dict[str, Part]) -> None:
    """Print the table of each part that has figures."""
    # a file has no width
    console = Console() if sys.stdout.isatty() else Console(width=_WIDTH)
    for name, part in parts.items():
        if not found or not all(one.get(name) for one in found.values()):
            continue
        made = (
            tables.compared(name, found)
            if len(found) > 1
            else tables.table(name, next(iter(found.values()))[name])
        )
        console.print(f"{name}: {part.about}", markup=False, highlight=False)
        shown = Shown(box=box.SIMPLE_HEAD)
        for number, heading in enumerate(made.headings):
            shown.add_column(heading, justify="right" if number else "left")
        for line in made.rows:
            shown.add_row(*line)
        console.print(shown)


if __name__ == "__main__":
    main()
