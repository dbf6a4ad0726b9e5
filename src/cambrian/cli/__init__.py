"""The command line: one thin front over the rooms, a module for each kind of command."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from cambrian import __version__
from cambrian.cli import proving, reading, running, supplies
from cambrian.cli.shared import err

app = typer.Typer(
    name="cambrian",
    help="A laboratory for congestion control: real QUIC stacks and kernel TCP over netem, in virtual time.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

# in the order in which --help shows them
for module in (running, reading, supplies, proving):
    app.add_typer(module.commands)


def _version(wanted: bool) -> None:
    if wanted:
        print(__version__)
        raise typer.Exit


@app.callback()
def front(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print it and end.")
    ] = False,
) -> None:
    """A laboratory for congestion control: real QUIC stacks and kernel TCP over netem, in virtual time."""
    del version


def main() -> None:
    """Entry point: expected failures become one line and an exit status."""
    from cambrian.command import CommandFailed, MissingTool
    from cambrian.debian.private_apt import AptError
    from cambrian.kernel.model import KernelError
    from cambrian.stacks.adding import AddError
    from cambrian.stacks.manifest import ManifestError
    from cambrian.stacks.receivers import NoReceiver
    from cambrian.study.errors import StudyError
    from cambrian.trial.boot import GuestError
    from cambrian.trial.plan import PlanError

    try:
        app()
    except KeyboardInterrupt:
        err.print("cambrian: interrupted; what was finished is kept", markup=False)
        sys.exit(130)
    except (
        StudyError,
        ManifestError,
        PlanError,
        GuestError,
        KernelError,
        MissingTool,
        CommandFailed,
        AptError,
        NoReceiver,
        AddError,
        FileNotFoundError,
    ) as error:
        err.print(f"cambrian: {error}", markup=False, soft_wrap=True)
        sys.exit(2)
