"""docs/reference/cli.md: every command with its arguments and options, generated from the commands."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any, get_args

import typer

_HEAD = """# Commands

`cambrian COMMAND --help` prints the same, with the forms of values (`--shard I/N`). The command is
`.venv/bin/cambrian` in a checkout.

`make reference` generates this page from `src/cambrian/cli/`.

Exit status: 0 for success; 1 if the command found a problem (a trial that could not run, a failed check);
2 for an error in its input (a file, an option, a missing tool); 130 after Ctrl-C, 143 after SIGTERM.
Results and paths go to standard output, progress and errors to standard error.
"""


def page() -> str:
    """The page as Markdown."""
    from cambrian.cli import app

    commands = list(_leaves(typer.main.get_command(app), "cambrian"))
    parts = [_HEAD, "\n| command | |\n|---|---|\n"]
    for path, command in commands:
        first = (inspect.cleandoc(command.help or "").splitlines() or [""])[0]
        parts.append(f"| [`{path}`](#{path.replace(' ', '-')}) | {first} |\n")
    parts += [_section(path, command) for path, command in commands]
    return "".join(parts)


def _leaves(command: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield every command that does something, as (full name, command)."""
    inside = getattr(command, "commands", None)
    if inside is None or (command.invoke_without_command and path != "cambrian"):
        yield path, command
    for name, subcommand in (inside or {}).items():
        yield from _leaves(subcommand, f"{path} {name}")


def _section(path: str, command: Any) -> str:
    rows = [_row(parameter) for parameter in command.params if parameter.name != "help"]
    usage = " ".join(
        [path, *(_usage(parameter) for parameter in command.params if not _is_option(parameter))]
    )
    options = any(map(_is_option, command.params))
    usage += " [OPTIONS]" if options else ""
    text = f"\n## {path}\n\n`{usage}`\n\n{inspect.cleandoc(command.help or '')}\n"
    if rows:
        text += "\n| argument or option | value | default | |\n|---|---|---|---|\n" + "".join(rows)
    return text


def _is_option(parameter: Any) -> bool:
    return bool(parameter.opts[0].startswith("-"))


def _usage(argument: Any) -> str:
    name = argument.name.upper() + ("…" if argument.nargs == -1 else "")
    return name if argument.required else f"[{name}]"


def _row(parameter: Any) -> str:
    names = [*parameter.opts, *parameter.secondary_opts] if _is_option(parameter) else [_usage(parameter)]
    shown_as = ", ".join(f"`{name}`" for name in names)
    value = "" if getattr(parameter, "is_flag", False) else _kind(parameter.type_descriptor.annotation)
    default = getattr(parameter.default, "value", parameter.default)
    shown = "" if default is None or default is False or parameter.required else f"`{default}`"
    if parameter.required:
        shown = "required"
    text = parameter.help or ""
    repeated = " May be repeated." if getattr(parameter, "multiple", False) and "repeat" not in text else ""
    return f"| {shown_as} | {value} | {shown} | {text.replace('|', chr(92) + '|')}{repeated} |\n"


def _kind(annotation: Any) -> str:
    """The kind of a value in one word, or the choices of an enumeration."""
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return ", ".join(f"`{choice.value}`" for choice in annotation)
    for kind, word in ((Path, "path"), (int, "integer"), (float, "number"), (str, "text")):
        if annotation is kind or kind in get_args(annotation):
            return word
    return ""
