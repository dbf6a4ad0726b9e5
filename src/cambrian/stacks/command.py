"""Fills a manifest's command templates for one flow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cambrian.stacks import named_files
from cambrian.stacks.built import Built
from cambrian.stacks.manifest import Role
from cambrian.stacks.template import fill


@dataclass(frozen=True)
class Filled:
    """One side's command line, its own environment words and its files (name → text)."""

    argv: list[str]
    environment: dict[str, str]
    files: dict[str, str]


def mentions(built: Built, how: Role, word: str) -> bool:
    """Does any template of one side use ``{word}``?"""
    texts = [*how.command, *how.environment.values()]
    texts += [named_files.template(built.stack, file.template) for file in how.files]
    return any(f"{{{word}}}" in text for text in texts)


def role(built: Built, how: Role, words: Mapping[str, str], options: Mapping[str, object]) -> Filled:
    """One side of a flow, in the guest's terms.

    ``options`` go at the end as ``--set KEY=VALUE``, sorted, because a trial's identity knows no order; a
    boolean is ``true`` or ``false``, an integer has no decimals (TOML's 1e2 is a float, and a program that
    wants an integer refuses 100.0).
    """
    argv = [fill(part, words) for part in how.command]
    known = built.stack.manifest.options or {}
    for name, value in sorted(options.items()):
        is_integer = name in known and known[name].type == "integer"
        text = int(value) if is_integer and isinstance(value, float) else value
        argv += ["--set", f"{name}={str(text).lower() if isinstance(text, bool) else text}"]
    files = {file.to: fill(named_files.template(built.stack, file.template), words) for file in how.files}
    environment = {name: fill(value, words) for name, value in how.environment.items()}
    return Filled(argv, environment, files)
