"""What has run of a suite: its parts, their trials, the kernel, one hash of all packets."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from cambrian.report.layout import NOTHING
from cambrian.stacks import catalogue
from cambrian.store import commands, reading
from cambrian.store.results import Results, TrialResult
from cambrian.store.shapes import SuiteRecord
from cambrian.study import builtin
from cambrian.study.errors import StudyError
from cambrian.study.toml_file import TomlFile
from cambrian.suites import model
from cambrian.suites.model import RECORD, Suite, folder_of


@dataclass(frozen=True)
class Part:
    """A part that has results. ``place`` is below the suite's folder: ``grid``, ``quinn-cubic/droptail``."""

    place: str
    folder: Path
    title: str
    valid: int
    invalid: int
    missing: int
    packet_hashes: tuple[str, ...]
    kernels: tuple[str, ...]
    command: str
    #: group, seed and reason of each invalid trial
    reasons: tuple[str, ...] = ()

    @property
    def trials(self) -> int:
        """Number of trials that ran."""
        return self.valid + self.invalid


@dataclass(frozen=True)
class Ran:
    """A suite's results. ``file`` is its suite.toml, ``record`` its suite.json."""

    folder: Path
    suite: Suite
    file: TomlFile
    record: Mapping[str, Any]
    parts: tuple[Part, ...]

    @property
    def absent(self) -> list[str]:
        """The parts that have no results."""
        here = {part.folder.name for part in self.parts}
        return [name for name in self.suite.parts if name not in here]

    @property
    def commands(self) -> tuple[str, ...]:
        """What makes these results again: the suite's command, or its parts' own if they ran by others."""
        whole = str(self.record["command"])
        of_whole = {part.place for part in self.parts} <= set(self.record.get("parts", ()))
        if of_whole and all(_options(part.command) == _options(whole) for part in self.parts):
            return (whole,)
        return tuple(dict.fromkeys(part.command for part in self.parts)) or (whole,)

    @property
    def sha256(self) -> str:
        """SHA-256 of the sorted packet hashes of all trials, one per line; a dash without trials.

        The same hash means the same packets.
        """
        lines = sorted(name for part in self.parts for name in part.packet_hashes)
        if not lines:
            return NOTHING
        return hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()

    @property
    def kernels(self) -> tuple[str, ...]:
        """Versions of the guests' kernels."""
        return tuple(sorted({kernel for part in self.parts for kernel in part.kernels}))

    @cached_property
    def contestants(self) -> tuple[tuple[str, str], ...]:
        """(stack, CCA) of the contestants that the suite ran for, or else of its default ones."""
        known = {
            folder_of(f"{stack}/{cca}"): (stack, cca)
            for stack, ccas in catalogue.ccas().items()
            for cca in ccas
        }
        ran = dict.fromkeys(part.place.partition("/")[0] for part in self.parts if "/" in part.place)
        asked = [folder_of(name) for name in self.suite.contestants]
        return tuple(known[name] for name in (ran or asked) if name in known)

    @property
    def prefixes(self) -> dict[str, dict[str, str]]:
        """Folder of each contestant's parts → its placeholders."""
        name = self.suite.name
        if not self.suite.contestants:
            return {name: {}}
        return {
            f"{name}/{folder_of(f'{stack}/{cca}')}": {
                "$STACK": stack,
                "$CCA": cca,
                "$CONTESTANT": folder_of(f"{stack}/{cca}"),
            }
            for stack, cca in self.contestants
        }


def _options(command: str) -> list[str]:
    """The options of a ``cambrian run`` without its contestants: each part's command names its own."""
    words = commands.words(command)[3:]
    return [
        word
        for before, word in zip(["", *words], words, strict=False)
        if "--contestant" not in (before, word)
    ]


def is_suite(folder: Path) -> bool:
    """Does ``folder`` have a suite's results?"""
    return (folder / RECORD).is_file()


def read(folder: Path) -> Ran:
    """The results of a suite in ``folder``, which must have the suite's name.

    Raises:
        Damaged: a file cannot be used.
        StudyError: suite.json names an unknown suite, or the folder has another name.
    """
    record = reading.json_file(folder / RECORD, SuiteRecord, folder)
    name = str(record["suite"])
    if folder.name != name:
        raise StudyError(
            file=str(folder),
            problem=f"has results of the suite {name}",
            remedy=f"rename the folder to {name}, the name of its suite",
        )
    suite, file = model.read(builtin.folder() / name / model.FILE)
    parts = tuple(_part(folder, path.parent) for path in _studies(folder, suite))
    return Ran(folder, suite, file, record, parts)


def _studies(folder: Path, suite: Suite) -> list[Path]:
    """The parts' study.json, in the suite's order, contestant by contestant."""
    order = {name: number for number, name in enumerate(suite.parts)}
    depth = "*/*/study.json" if suite.contestants else "*/study.json"
    found = [path for path in folder.glob(depth) if path.parent.name in order]
    return sorted(found, key=lambda path: (path.parent.parent.name, order[path.parent.name]))


def _part(folder: Path, part: Path) -> Part:
    results = Results(part)
    study = results.study()
    asked = dict.fromkeys(name for group in study["groups"] for name in group["trials"])
    there = [results.checked(name) for name in asked if results.has(name)]
    groups = {name: str(group["key"]) for group in study["groups"] for name in group["trials"]}
    invalid = [one for one in there if not one.verdict["valid"]]
    return Part(
        place=part.relative_to(folder).as_posix(),
        folder=part,
        title=str(study["study"]["title"]),
        valid=len(there) - len(invalid),
        invalid=len(invalid),
        missing=len(asked) - len(there),
        packet_hashes=tuple(str(one.manifest["packets_sha256"]) for one in there),
        kernels=tuple({f"Linux {one.manifest['kernel']['version']}" for one in there}),
        command=str(study["command"]),
        reasons=tuple(_why(one, groups[one.id]) for one in invalid),
    )


def _why(result: TrialResult, group: str) -> str:
    return f"{group} seed {result.manifest['trial']['seed']}: {'; '.join(result.verdict['reasons'])}"
