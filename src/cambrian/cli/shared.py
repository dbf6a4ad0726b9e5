"""Code that several commands share: consoles, errors, options."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer
from rich.console import Console

if TYPE_CHECKING:
    from cambrian.stacks.catalogue import Stack

out = Console()
err = Console(stderr=True, highlight=False)

JobsOption = Annotated[
    int, typer.Option("--jobs", "-j", min=0, help="Trials that run in parallel; 0: one per core.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
MarkdownOption = Annotated[bool, typer.Option("--markdown", help="Print a Markdown table.")]
StackNames = Annotated[list[str] | None, typer.Argument(help="Names of stacks; default: all.")]


class Profile(StrEnum):
    """How much of a study to run."""

    quick = "quick"
    full = "full"


class Clock(StrEnum):
    """The clock that a trial runs by."""

    virtual = "virtual"
    real = "real"


def fail(message: str, status: int = 2) -> NoReturn:
    """Print an error without a traceback, and exit."""
    err.print(f"cambrian: {message}", markup=False, soft_wrap=True)
    raise typer.Exit(status)


def at_a_time(jobs: int) -> int:
    """The number of parallel trials that ``--jobs`` asks for."""
    from cambrian.run import pool

    return jobs or len(pool.cores())


def stacks_named(names: list[str] | None) -> list[Stack]:
    """The stacks with these names, in that order; all usable stacks if ``names`` is empty."""
    from cambrian.stacks import catalogue
    from cambrian.study import hints

    known = catalogue.load()
    if not names:
        for broken in known.broken.values():
            text = f"cambrian: {broken.name} is left out: {broken.error}\n  remedy: {broken.remedy}"
            err.print(text, markup=False, soft_wrap=True)
    for name in names or ():
        if name in known.broken:
            fail(known.broken[name].error)
        if name not in known:
            fail(f"no stack {name}; {hints.for_name(name, known, 'stacks are')}")
    return [known[name] for name in names or known]
