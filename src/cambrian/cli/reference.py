"""docs/reference/cli.md: every command with its arguments and options, from the command line itself."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any, get_args

import typer

_HEAD = """# Commands

`cambrian COMMAND --help` prints the same. The command is `.venv/bin/cambrian` in a checkout.

`make reference` generates this page from `src/cambrian/cli/`.

Exit status: 0 if the command did what was asked; 1 if it found something wrong (a trial that could not run,
a check that failed); 2 for a fault in its input (a file, an option, a missing tool); 130 if interrupted.
Results and paths go to standard output, progress and errors to standard error.
"""


def page() -> str:
    """The page as Markdown."""
    from cambrian.cli import app

    found = list(_leaves(typer.main.get_command(app), "cambrian"))
    parts = [_HEAD, "\n| command | |\n|---|---|\n"]
    for path, command in found:
        first = (inspect.cleandoc(command.help or "").splitlines() or [""])[0]
        parts.append(f"| [`{path}`](#{path.replace(' ', '-')}) | {first} |\n")
    parts += [_section(path, command) for path, command in found]
    return "".join(parts)


def _leaves(command: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Every command that does something, with its full name."""
    inside = getattr(command, "commands", None)
    if inside is None or (command.invoke_without_command and path != "cambrian"):
        yield path, command
    for name, one in (inside or {}).items():
        yield from _leaves(one, f"{path} {name}")


def _section(path: str, command: Any) -> str:
    rows = [_row(one) for one in command.params if one.name != "help"]
    usage = " ".join([path, *(_usage(one) for one in command.params if not _is_option(one))])
    options = any(map(_is_option, command.params))
    usage += " [OPTIONS]" if options else ""
    text = f"\n## {path}\n\n`{usage}`\n\n{inspect.cleandoc(command.help or '')}\n"
    if rows:
        text += "\n| argument or option | value | default | |\n|---|---|---|---|\n" + "".join(rows)
    return text


def _is_option(one: Any) -> bool:
    return bool(one.opts[0].startswith("-"))


def _usage(argument: Any) -> str:
    name = argument.name.upper() + ("…" if argument.nargs == -1 else "")
    return name if argument.required else f"[{name}]"


def _row(one: Any) -> str:
    is_option = _is_option(one)
    names = [*one.opts, *one.secondary_opts] if is_option else [_usage(one)]
    shown_as = ", ".join(f"`{name}`" for name in names)
    value = "" if getattr(one, "is_flag", False) else _kind(one.type_descriptor.annotation)
    default = getattr(one.default, "value", one.default)
    shown = "" if default is None or default is False or one.required else f"`{default}`"
    if one.required:
        shown = "must be given"
    repeated = (
        " May be repeated." if getattr(one, "multiple", False) and "repeat" not in (one.help or "") else ""
    )
    return f"| {shown_as} | {value} | {shown} | {(one.help or '').replace('|', chr(92) + '|')}{repeated} |\n"


def _kind(annotation: Any) -> str:
    """What a value is, in a word; the choices of an enumeration."""
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return ", ".join(f"`{one.value}`" for one in annotation)
    for kind, word in ((Path, "path"), (int, "integer"), (float, "number"), (str, "text")):
        if annotation is kind or kind in get_args(annotation):
            return word
    return ""
