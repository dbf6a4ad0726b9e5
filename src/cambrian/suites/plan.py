"""Expand a suite into its parts, each an ordinary study with its groups of trials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from cambrian.run.study import RunOptions
from cambrian.stacks import catalogue, checks, offers
from cambrian.study import toml_text
from cambrian.study.errors import StudyError
from cambrian.study.expand import expand, select
from cambrian.study.load import parse_study
from cambrian.study.model import Group, Study
from cambrian.suites.find import SuiteFolder
from cambrian.suites.model import REFERENCE, folder_of


@dataclass(frozen=True)
class Part:
    """One study of a suite, for one contestant if the suite is run for several."""

    suite: str
    name: str
    path: Path
    contestant: str | None = None

    @property
    def place(self) -> str:
        """Its results folder: ``wpi/grid``, ``rfc9743/quinn-cubic/droptail``."""
        middle = [folder_of(self.contestant)] if self.contestant else []
        return "/".join([self.suite, *middle, self.name])


@dataclass(frozen=True)
class Planned:
    """A part, and its study and groups to run."""

    part: Part
    study: Study
    groups: list[Group]
    options: RunOptions


def parts_of(found: SuiteFolder, only_part: str | None, contestants: Sequence[str]) -> list[Part]:
    """The parts of a suite, contestant by contestant.

    Raises:
        StudyError: the suite takes no contestants, or a contestant is unknown.
    """
    suite = found.suite
    if contestants and not suite.contestants:
        problem = f"{suite.name} takes no contestants"
        remedy = "remove --contestant, or select groups with --only"
        raise StudyError(file=suite.name, key="--contestant", problem=problem, remedy=remedy)
    for name in contestants:
        checks.check_named(name)
    names = [only_part] if only_part else suite.parts
    everyone: Sequence[str | None] = contestants or suite.contestants or (None,)
    return [
        Part(suite.name, name, found.folder / f"{name}.toml", contestant)
        for contestant in everyone
        for name in names
    ]


def plan(part: Part, options: RunOptions) -> Planned:
    """The part's study, and its groups selected by ``options``; no groups if ``only`` matches none.

    Raises:
        StudyError: the file has a fault.
    """
    study = options.with_seeds(study_of(part))
    contestants = (part.contestant,) if part.contestant else ()
    options = replace(options, study=f"{part.suite}/{part.name}", contestants=contestants)
    groups = expand(
        study,
        profile=options.profile,
        seed_base=options.seed,
        reference_of=catalogue.reference_of,
        clock=options.clock,
    )
    return Planned(part, study, _kept(groups, options), options)


def study_of(part: Part) -> Study:
    """The part's study, with the part's contestant in the place of its placeholders.

    Raises:
        StudyError: the file has a fault.
    """
    return parse_study(
        _filled(part),
        str(part.path),
        part.path.parent,
        offers.stacks(),
        catalogue.reference_of,
        checks,
    )


def _kept(groups: list[Group], options: RunOptions) -> list[Group]:
    if options.only is None:
        return groups
    try:
        return select(groups, options.only)
    except StudyError:
        return []


def _filled(part: Part) -> str:
    """The part's text with the placeholders replaced by its contestant."""
    text = toml_text.read(part.path, "the suite's part", "restore the file")
    if part.contestant is None:
        return text
    stack, cca = part.contestant.split("/")
    values = {"$STACK": stack, "$CCA": cca}
    if REFERENCE in text:
        values[REFERENCE] = _reference(part, stack, cca)
    for placeholder, value in values.items():
        text = text.replace(placeholder, value)
    return text


def _reference(part: Part, stack: str, cca: str) -> str:
    reference = catalogue.reference_of(stack, cca)
    if reference is None:
        problem = f"{stack} {cca} has no reference: kernel TCP has no such algorithm"
        raise StudyError(file=str(part.path), problem=problem, remedy="give a contestant with a reference")
    return reference
