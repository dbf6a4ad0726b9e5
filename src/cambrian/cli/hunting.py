"""The command that searches networks for one on which a contestant breaks a property."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from cambrian.cli.shared import JobsOption, TrustOption, at_a_time, err, fail, out

if TYPE_CHECKING:
    from cambrian.hunt.search import Hunt

commands = typer.Typer()
_BUDGET = re.compile(r"(\d+(?:\.\d+)?)\s*(s|min|h)")
_SECONDS = {"s": 1, "min": 60, "h": 3600}


@commands.command()
def hunt(
    contestant: Annotated[
        str | None, typer.Argument(help="STACK/CCA; its stack may be in stacks/ here.")
    ] = None,
    properties: Annotated[
        list[str] | None,
        typer.Option("--property", help="Only this property; may be repeated. Default: all (see --list)."),
    ] = None,
    budget: Annotated[str, typer.Option(help="How long to search: 90s, 10min or 2h.")] = "10min",
    seed: Annotated[int, typer.Option(help="Decides which networks are tried.")] = 1,
    folder: Annotated[
        Path,
        typer.Option("--out", "-o", help="Results directory; hunts share kernel TCP's trials there."),
    ] = Path("results/hunt"),
    jobs: JobsOption = 0,
    trust: TrustOption = False,
    listing: Annotated[bool, typer.Option("--list", help="List the properties, and exit.")] = False,
) -> None:
    """Search for a network on which a contestant breaks a property, and make that network simple.

    A property counts as broken only if all seven seeds break it, and kernel TCP with the same algorithm
    keeps it on the same network, with a reserve. Each one that is found is written as a study that repeats
    it. All trials are kept, so the same command goes on quickly. Exit status 0: nothing found; 1: something
    is broken; 2: an error.
    """
    from cambrian.hunt import output
    from cambrian.hunt.properties import all_properties
    from cambrian.hunt.search import Hunt
    from cambrian.hunt.trials import Runner
    from cambrian.run import trust as trusting
    from cambrian.run.study import look_in
    from cambrian.stacks import checks
    from cambrian.study import hints
    from cambrian.trial import wall

    known = all_properties()
    if listing:
        for one in known.values():
            out.print(Text.assemble((one.name, "bold"), f": {one.says}"))
        return
    if contestant is None or not all(contestant.partition("/")):
        fail("name a contestant as STACK/CCA, such as: cambrian hunt quinn/bbr")
    for name in properties or ():
        if name not in known:
            fail(f"no property {name}; {hints.for_name(name, known, 'the properties are')}")
    seconds = _budget_s(budget)
    own = Path.cwd() / "stacks"
    look_in([own])
    if not trust:
        checks.check_named(contestant, "hunt")
        trusting.check(trusting.with_receiver(contestant.partition("/")[0]), own, wall.find())
    count = 0
    with Runner(contestant, folder.absolute(), at_a_time(jobs)) as runner:
        wanted = [known[name] for name in dict.fromkeys(properties or known)]
        search = Hunt(runner, wanted, seconds, seed, lambda line: err.print(line, markup=False))
        for found in search.run():
            count += 1
            path = output.written(found, runner, folder)
            for line in output.sentences(found, runner):
                out.print(line, markup=False, highlight=False)
            out.print(
                f"Repeat it: {output.again(path, runner, trust=trust)}",
                markup=False,
                highlight=False,
            )
    _end(search, count, contestant)
    if count:
        raise typer.Exit(1)


def _budget_s(budget: str) -> float:
    """Seconds of ``10min``; ends the command for anything else."""
    matched = _BUDGET.fullmatch(budget)
    seconds = float(matched[1]) * _SECONDS[matched[2]] if matched else 0
    if seconds == 0:
        fail(f"--budget {budget}: give a number above 0 with s, min or h, such as 10min")
    return seconds


def _end(search: Hunt, broken: int, contestant: str) -> None:
    """Say how much was tried; ends the command if nothing could be judged."""
    for reason in search.invalid:
        err.print(f"invalid trials, not counted: {reason}", markup=False)
    if not search.tried:
        fail(f"nothing was tried: no property is asked of {contestant}, or the budget was too short")
    out.print(f"{search.tried} situations tried; {broken} properties broken", highlight=False)
    if not search.judged:
        fail("no trial shows any of these properties")
