"""The command line: parses options and calls the other packages. One module for each kind of command."""

from __future__ import annotations

import sys
import traceback
from functools import cache
from typing import Annotated

import typer
from typer.core import TyperGroup

from cambrian import __version__, parallel
from cambrian.cli import exporting, gating, hunting, opening, proving, reading, releasing, running, supplies
from cambrian.cli.shared import err, explained

#: what pathlib says where HOME is not set and the user is not in /etc/passwd, as in some containers
_NO_HOME = "Could not determine home directory."

app = typer.Typer(
    name="cambrian",
    help="A laboratory for congestion control: real QUIC stacks and kernel TCP over netem, in virtual time.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

# --help shows the commands in this order
for module in (running, reading, opening, exporting, gating, releasing, hunting, supplies, proving):
    app.add_typer(module.commands)


def _version(wanted: bool) -> None:
    if wanted:
        print(__version__)
        raise typer.Exit


@app.callback()
def front(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """A laboratory for congestion control: real QUIC stacks and kernel TCP over netem, in virtual time."""
    del version


def _expected() -> tuple[type[Exception], ...]:
    """Errors whose text is all that a user needs; their modules take longer to import than ``--help``."""
    from cambrian.command import CommandFailed, Killed, MissingTool
    from cambrian.debian.private_apt import AptError
    from cambrian.export.errors import ExportError
    from cambrian.kernel.model import KernelError
    from cambrian.run.pool import EngineError
    from cambrian.run.trust import Untrusted
    from cambrian.stacks.adding import AddError
    from cambrian.stacks.manifest import ManifestError
    from cambrian.stacks.receivers import NoReceiver
    from cambrian.store.merge import Mismatch
    from cambrian.store.reading import Damaged
    from cambrian.store.results import InUse
    from cambrian.study.errors import StudyError
    from cambrian.trial.boot import Disturbed, GuestError
    from cambrian.trial.plan import PlanError

    return (
        StudyError,
        EngineError,
        ManifestError,
        PlanError,
        Disturbed,
        GuestError,
        KernelError,
        MissingTool,
        CommandFailed,
        ExportError,
        Killed,
        AptError,
        NoReceiver,
        AddError,
        Damaged,
        InUse,
        Mismatch,
        Untrusted,
    )


@cache
def command() -> TyperGroup:
    """The whole command line, built once in a process: building it takes longer than many of its commands."""
    built = typer.main.get_command(app)
    assert isinstance(built, TyperGroup)
    return built


def main() -> None:
    """Run the command; turns expected errors into one line on standard error and exit status 2."""
    try:
        with parallel.kept_workers():
            command()()
    except Exception as error:
        try:
            _tell(error)
        except Exception:
            # a fault of ours; status 1, Python's own, is a verdict of several commands
            traceback.print_exc()
        sys.exit(2)


def _tell(error: Exception) -> None:
    """Print an error, or raise it if it is a fault of ours."""
    if isinstance(error, OSError):
        text = explained(error)
    elif isinstance(error, _expected()):
        text = str(error)
    elif str(error) == _NO_HOME:
        text = "HOME is not set, and this user has no home folder; remedy: export HOME=/a/folder/of/yours"
    else:
        raise error
    err.print(f"cambrian: {text}", markup=False)
