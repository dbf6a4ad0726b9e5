"""Every `cambrian …` of the documentation is accepted by the command line; none is run."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.exceptions import Exit, TyperException

from cambrian.cli import app
from cambrian.report import tables
from cambrian.stacks import catalogue
from cambrian.study import builtin
from cambrian.suites import find
from tests.unit.docs.pages import PAGES, ROOT, blocks, commands, words

COMMANDS = [command for page in PAGES for command in commands(page)]
#: words that stand for a reader's own
_OWN = ("STUDY", "SUITE", "PART", "NAME", "DIR", "FILE", "STACK", "RESULTS")


@cache
def _own_names() -> set[str]:
    """The names of what the pages' TOML blocks describe."""
    return {
        tomllib.loads(block.text).get("name", "")
        for page in PAGES
        for block in blocks(page)
        if block.language == "toml"
    }


@cache
def _studies() -> set[str]:
    suites = [found.suite for found in find.suites()]
    parts = {f"{suite.name}/{part}" for suite in suites for part in suite.parts}
    return (
        {study.name for study in builtin.builtin_studies()}
        | {one.name for one in suites}
        | parts
        | _own_names()
        | {"all"}
    )


@cache
def _stacks() -> set[str]:
    return set(catalogue.load()) | _own_names()


@cache
def _command() -> Any:
    """The command line; to make it takes 50 ms."""
    return typer.main.get_command(app)


def _parse(command: Any, arguments: list[str]) -> Any:
    """The context of the innermost command; nothing is called."""
    name = "cambrian"
    while arguments and (inside := getattr(command, "commands", None)) and not arguments[0].startswith("-"):
        name, *arguments = arguments
        assert name in inside, f"no command {name}"
        command = inside[name]
    return command.make_context(name, arguments)


def _is_there(file: str) -> bool:
    """A file of this repository exists; any other one is a reader's own."""
    return Path(file).parts[0] != "studies" or Path(file).stem in _OWN or (ROOT / file).is_file()


def test_a_study_that_was_removed_is_not_there() -> None:
    assert _is_there("mine.toml") and _is_there("studies/hunted/NAME.toml")
    assert _is_there("studies/hunted/quinn-bbr-no-flood.toml")
    assert not _is_there("studies/hunted/noq-bbr3-no-flood.toml")


def _is_known(context: Any) -> None:
    """Names that the parser takes for any text."""
    given = context.params
    match context.info_name:
        case "run":
            study = given["study"]
            assert (
                study in _studies()
                or (study.endswith(".toml") and _is_there(study))
                or study in _OWN
                or ("/" in study and study.isupper())
            )
        case "build" | "test" | "interop" if "names" in given:
            assert set(given["names"] or ()) <= _stacks()
        case "table":
            assert given["name"] in {None, "NAME", *tables.kinds()}
        case "claims":
            assert given["paper"] in {None, *(found.suite.paper for found in find.suites())}


@pytest.mark.parametrize(
    ("place", "command", "whole"), COMMANDS, ids=[f"{place}: {line}" for place, line, _ in COMMANDS]
)
def test_a_command_is_accepted(place: str, command: str, whole: bool) -> None:
    try:
        context = _parse(_command(), words(command))
    except Exit:
        return  # --version, --help
    except TyperException as error:
        # a sentence names a command without its arguments
        if whole or type(error).__name__ not in {"MissingParameter", "NoArgsIsHelpError"}:
            pytest.fail(f"{place}: {command}: {error}")
        return
    _is_known(context)


@pytest.mark.parametrize(
    "command",
    [
        "cambrian rnu wpi",
        "cambrian run",
        "cambrian run wpi --profile quickly",
        "cambrian run wpi --profil quick",
        "cambrian run wip",
        "cambrian table results/x harms",
        "cambrian stacks build quin",
    ],
)
def test_what_is_wrong_is_found(command: str) -> None:
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        test_a_command_is_accepted("here", command, whole=True)
