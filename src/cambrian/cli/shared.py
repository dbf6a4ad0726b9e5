"""What the commands have in common: where they print, how they fail, options of several."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer
from rich.console import Console

if TYPE_CHECKING:
    from cambrian.stacks.catalogue import Stack

out = Console()
err = Console(stderr=True, highlight=False)

JobsOption = Annotated[int, typer.Option("--jobs", "-j", min=0, help="Trials at a time; 0 is one a core.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for programs instead of a table.")]
MarkdownOption = Annotated[bool, typer.Option("--markdown", help="Print a Markdown table.")]
StackNames = Annotated[list[str] | None, typer.Argument(help="Stacks; default: all.")]


class Profile(StrEnum):
    """How much of a study to run."""

    quick = "quick"
    full = "full"


class Clock(StrEnum):
    """Whose seconds count."""

    virtual = "virtual"
    real = "real"


def fail(message: str, status: int = 2) -> NoReturn:
    """One clear error, no traceback."""
    err.print(f"cambrian: {message}", markup=False, soft_wrap=True)
    raise typer.Exit(status)


def at_a_time(jobs: int) -> int:
    """How many trials ``--jobs`` asks for."""
    from cambrian.run import pool

    return jobs or len(pool.cores())


def stacks_named(names: list[str] | None) -> list[Stack]:
    """The stacks of these names, in that order; all for none."""
    from cambrian.stacks import catalogue
    from cambrian.study import hints

    known = catalogue.load()
    for name in names or ():
        if name not in known:
            fail(f"no stack {name}; {hints.for_name(name, known, 'stacks are')}")
    return [known[name] for name in names or known]
