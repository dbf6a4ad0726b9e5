"""Code that several commands share: consoles, errors, options."""

from __future__ import annotations

import errno
import os
import pwd
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TypeVar

import typer
from rich.console import Console

if TYPE_CHECKING:
    from cambrian.stacks.catalogue import Stack

Command = TypeVar("Command", bound=Callable[..., Any])

_FULL = "make room there, then give the same command again; what is finished is kept"
_NO_WRITING = "use another folder (--out), or make this one writable"
_NOT_WRITABLE = (errno.EROFS, errno.EACCES, errno.EPERM)
_REMEDIES = {
    errno.ENOSPC: _FULL,
    errno.EDQUOT: _FULL,
    errno.EROFS: _NO_WRITING,
    errno.EACCES: _NO_WRITING,
    errno.EPERM: _NO_WRITING,
    errno.ENOTDIR: "use another folder (--out)",
    errno.EEXIST: "use another folder (--out)",
    errno.EISDIR: "move that folder away",
    errno.EIO: "check the disk; copy what is readable to another",
}

# names of networks and labels of contestants may have brackets or colons: no tags, and no names of emoji
# such a name can be long: a line goes on as far as it must, also to a pipe; tables keep the width
out = Console(markup=False, emoji=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True)

JobsOption = Annotated[
    int, typer.Option("--jobs", "-j", min=0, help="Trials that run in parallel; 0: one per core.")
]
CpuLimitOption = Annotated[
    float | None,
    typer.Option(
        "--cpu-limit",
        min=1,
        help="CPU seconds that one trial may use. Default: a limit that grows with the trial's clock.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
MarkdownOption = Annotated[bool, typer.Option("--markdown", help="Print a Markdown table.")]
TrustOption = Annotated[
    bool,
    typer.Option("--trust", help="Build and run a stack in the folder stacks/ here, or beside the study."),
]
StackNames = Annotated[list[str] | None, typer.Argument(help="Names of stacks; default: all.")]


class Profile(StrEnum):
    """How much of a study to run."""

    quick = "quick"
    full = "full"


class Clock(StrEnum):
    """The clock that a trial runs by."""

    virtual = "virtual"
    real = "real"
    host = "host"


def fail(message: str, status: int = 2) -> NoReturn:
    """Print an error without a traceback, and exit."""
    err.print(f"cambrian: {message}", markup=False)
    raise typer.Exit(status)


def one_format(**asked: bool) -> None:
    """Refuse two output formats in one command; ``asked`` has the name of each option, without its dashes."""
    given = [f"--{name}" for name, wanted in asked.items() if wanted]
    if len(given) > 1:
        fail(f"{' and '.join(given)} are two formats of one output; remedy: give one of them")


def in_words(error: Exception) -> str:
    """An error in one line; of what is no expected error, its kind too."""
    if isinstance(error, OSError):
        return explained(error)
    kind = type(error).__name__
    return f"{kind}: {error}" if type(error).__module__ == "builtins" else str(error) or kind


def explained(error: OSError) -> str:
    """An operating system's error in one line: the path, what is wrong, the remedy."""
    if error.errno is None:
        # our own errors are whole sentences
        return str(error)
    text = f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror)
    if (
        error.errno in (*_NOT_WRITABLE, errno.ENOTDIR, errno.EEXIST)
        and error.filename
        and (of_cache := _in_cache(error))
    ):
        return f"{text}; {of_cache}"
    remedy = _REMEDIES.get(error.errno)
    return f"{text}; remedy: {remedy}" if remedy else text


def _in_cache(error: OSError) -> str:
    """Whose a file of the cache is that cannot be written, and the remedy; empty for another file."""
    from cambrian import paths

    try:
        cache, path = paths.cache(), Path(os.fsdecode(error.filename))
    except RuntimeError:
        # without a home folder there is no cache
        return ""
    if not path.is_relative_to(cache):
        return ""
    there = next(place for place in (path, *path.parents) if os.path.lexists(place))
    if error.errno not in _NOT_WRITABLE and there.is_dir():
        # the path is no file's: another reason
        return ""
    if error.errno not in _NOT_WRITABLE:
        return (
            f"this is in the cache, and {there} is a file; remedy: export CAMBRIAN_CACHE=/a/folder/of/yours"
        )
    owner = there.lstat().st_uid
    remedy = "export CAMBRIAN_CACHE=/a/folder/of/yours"
    if owner == os.geteuid():
        return f"this is in the cache; remedy: make it writable, or {remedy}"
    name = next((one.pw_name for one in pwd.getpwall() if one.pw_uid == owner), f"number {owner}")
    with suppress(RuntimeError):
        # as after sudo cambrian; a user may have no home
        if cache.is_relative_to(Path.home()):
            remedy += f", or sudo chown -R {os.geteuid()} {shlex.quote(str(cache))}"
    return f"this is in the cache, and of user {name}; remedy: {remedy}"


@contextmanager
def writing_to(folder: Path) -> Iterator[None]:
    """Add the folder to errors of the block that do not say which file they are about."""
    try:
        yield
    except OSError as error:
        # our own errors are whole sentences, without a number
        if error.errno is not None and error.filename is None:
            error.filename = str(folder)
        raise


def check_folder(folder: Path) -> None:
    """End with an error if a folder of results does not exist."""
    if not folder.exists():
        fail(f"{folder}: no such folder; remedy: give a results directory of `cambrian run`")


def reads_results(argument: str) -> Callable[[Command], Command]:
    """A command whose option or argument of this name is a folder of results.

    If it fails unexpectedly and the results are damaged, the damage is the error to report. An error of a
    file that a person wrote is expected: reading all results to look for damage would delay it by minutes.
    """

    def decorate(command: Command) -> Command:
        @wraps(command)
        def careful(*positional: Any, **given: Any) -> Any:
            from cambrian.store import check
            from cambrian.store.reading import Damaged
            from cambrian.study.errors import StudyError

            folder = given.get(argument)
            if isinstance(folder, Path):
                check_folder(folder)
            try:
                return command(*positional, **given)
            except (typer.Exit, Damaged, OSError, StudyError):
                raise
            except Exception as error:
                check.blame(given[argument], error)
                raise

        return careful  # type: ignore[return-value]  # functools.wraps loses the exact type

    return decorate


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
            err.print(text, markup=False)
    for name in names or ():
        if name in known.broken:
            fail(known.broken[name].error)
        if name not in known:
            fail(f"no stack {name}; {hints.for_name(name, known, 'stacks are')}")
    return [known[name] for name in names or known]
