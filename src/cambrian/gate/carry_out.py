"""Run a gate: first a few seeds of the contestant alone; all of them only if a packet differs.

If the first seeds send the packets of the baseline, the stack is unchanged, and nothing is measured. Nor is
anything if the study is not that of the baseline either. Else the other seeds and kernel TCP run too, and
everything is compared.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field
from rich.console import Console

from cambrian.gate import baseline, differences, snapshot
from cambrian.gate.differences import Compared
from cambrian.gate.snapshot import INVALID, Snapshot
from cambrian.run import study as studies
from cambrian.run import trust
from cambrian.run.study import RunOptions, Summary
from cambrian.stacks import checks
from cambrian.store.results import Results
from cambrian.study import cost
from cambrian.study.errors import StudyError
from cambrian.study.model import Frozen, Group
from cambrian.study.reference import REFERENCE_STACK
from cambrian.study.toml_file import TomlFile
from cambrian.suites.model import ContestantName, folder_of
from cambrian.suites.plan import Part, Planned, plan
from cambrian.trial import wall

_DOCS = "docs/how-to/gate-a-ci.md"
#: the gate's own studies, in this package
STUDIES = ("alone", "duel")
Outcome = Literal["unchanged", "equivalent", "better", "different", "not judged"]


class GateFile(Frozen):
    """``GATE.toml``: the contestant, and what is compared.

    ``baseline``: its file, beside this one; by default ``GATE.baseline.toml``. ``studies``: the gate's own
    (``alone``, ``duel``) and TOML files beside this one, with ``$STACK`` and ``$CCA`` for the contestant.
    ``seeds`` of its own studies run if a packet differs; the ``first_seeds`` of each study run before.
    """

    contestant: ContestantName
    baseline: str | None = None
    studies: Annotated[tuple[str, ...], Field(min_length=1)] = STUDIES
    seeds: Annotated[int, Field(ge=3, le=100)] = 5
    first_seeds: Annotated[int, Field(ge=1, le=100)] = 2


@dataclass(frozen=True)
class Gate:
    """A gate file, read; ``path`` is the file."""

    path: Path
    file: GateFile

    @property
    def baseline(self) -> Path:
        """The baseline's file."""
        named = self.file.baseline
        return self.path.parent / named if named else self.path.with_suffix(".baseline.toml")

    @property
    def contestant(self) -> str:
        """``stack/cca``."""
        return self.file.contestant


@dataclass(frozen=True)
class Result:
    """A gate's result; ``compared`` is None without a baseline. ``all_seeds``: all seeds ran."""

    gate: Gate
    outcome: Outcome
    compared: Compared | None
    all_seeds: bool
    errors: tuple[str, ...] = ()

    @property
    def status(self) -> int:
        """The exit status: 0 unchanged, equivalent or better; 1 different; 2 not judged."""
        return {"different": 1, "not judged": 2}.get(self.outcome, 0)


def read(path: Path) -> Gate:
    """The gate in ``path``; the stacks in the folder ``stacks/`` beside it can be used from now on.

    Raises:
        StudyError: it cannot be read, or names what does not exist; with line, key and remedy.
    """
    file = TomlFile(path, _DOCS, called="the gate", if_unread="check the path")
    found = file.build(GateFile, (), file.raw)
    if found.first_seeds > found.seeds:
        problem = f"more than seeds ({found.seeds})"
        raise file.error(("first_seeds",), problem, "give a smaller number")
    for number, name in enumerate(found.studies):
        if name not in STUDIES and not (path.parent / name).is_file():
            problem = f"there is no {name} beside the gate"
            remedy = f"give a file beside it, or one of its own studies: {', '.join(STUDIES)}"
            raise file.error(("studies", number), problem, remedy)
        if " " in Path(name).stem:
            # in the names of figures the contestant follows the first blank
            problem = "a study's file name cannot have a blank"
            raise file.error(("studies", number), problem, "give the file another name")
        if Path(name).stem in [Path(other).stem for other in found.studies[:number]]:
            # its results would take the place of the other's
            problem = f"a second study called {Path(name).stem}"
            raise file.error(("studies", number), problem, "name each study once; give a file another name")
    gate = Gate(path, found)
    beside = [path, *(path.parent / name for name in found.studies if name not in STUDIES)]
    if gate.baseline.resolve() in [one.resolve() for one in beside]:
        # --update would replace it
        problem = f"{gate.baseline} is the gate itself or one of its studies"
        raise file.error(("baseline",), problem, "give the baseline a file of its own")
    studies.look_in([path.absolute().parent / "stacks"])
    stack = found.contestant.partition("/")[0]
    if stack == REFERENCE_STACK:
        remedy = "give a contestant of another stack"
        raise file.error(("contestant",), f"{stack} is the reference of every comparison", remedy)
    try:
        checks.check_named(found.contestant)
    except StudyError as error:
        raise file.error(("contestant",), error.problem, error.remedy) from error
    return gate


def run(gate: Gate, folder: Path, options: RunOptions, console: Console, *, update: bool) -> Result:
    """Run the gate's trials that ``folder`` lacks, and compare; with ``update`` also write the baseline.

    Raises:
        StudyError: the baseline or a study has an error.
        cambrian.run.trust.Untrusted: the stack needs trust.
        Errors of :func:`alone` and :func:`cambrian.run.study.run_groups`.
    """
    parts = planned(gate, options)
    if not options.trust:
        needed = sorted(set().union(*(studies.needed_stacks(part.groups) for part in parts)))
        trust.check(needed, gate.path.absolute().parent / "stacks", wall.find())
    before = _baseline(gate, console, update=update)
    if before is None and not update:
        problem = "there is no baseline"
        command = f"cambrian gate {shlex.quote(str(gate.path))} --update"
        remedy = f"make it with the version to compare with: {command}"
        raise StudyError(file=str(gate.baseline), problem=problem, remedy=remedy)
    with alone(parts, folder):
        return _judged(gate, parts, before, folder, options, console, update=update)


def _judged(
    gate: Gate,
    parts: Sequence[Planned],
    before: Snapshot | None,
    folder: Path,
    options: RunOptions,
    console: Console,
    *,
    update: bool,
) -> Result:
    """Run the trials, and compare them with ``before``, None without a baseline; inside :func:`alone`."""
    if before is not None and not update:
        errors = run_parts(gate, [_first(part, gate) for part in parts], folder, options, console)
        places = folders(parts, folder)
        results = dict(snapshot.trials(places, gate.contestant))
        ran = {name: snapshot.packets_of(one) if one is not None else "" for name, one in results.items()}
        compared = differences.packets(before, ran)
        differs = errors or compared.changed or compared.lost or compared.unknown
        # a study or a network that the gate no longer has is no evidence
        if compared.same and not differs and _groups(before.packets) <= _groups(ran):
            return Result(gate, "unchanged", compared, all_seeds=False)
        asked = snapshot.asked(places, ((name, one) for name, one in results.items() if one is not None))
        compared = replace(compared, conditions=differences.other_conditions(before, *asked))
        if compared.conditions and outcome_of(compared) == "not judged":
            # no other seed would change that
            return Result(gate, "not judged", compared, all_seeds=False, errors=errors)
        console.print("the first seeds are not those of the baseline, so all seeds run", highlight=False)
    errors = run_parts(gate, parts, folder, options, console)
    after = snapshot.take(folders(parts, folder), gate.contestant)
    compared_all = differences.snapshots(before, after) if before is not None else None
    outcome = outcome_of(compared_all)
    if errors and outcome != "different":
        # what could not run takes nothing away from a proof
        outcome = "not judged"
    if update:
        _write(gate, after, errors)
    return Result(gate, outcome, compared_all, all_seeds=True, errors=errors)


def _baseline(gate: Gate, console: Console, *, update: bool) -> Snapshot | None:
    """The baseline to compare with, None without one; an unusable one is an error, unless it is replaced."""
    if not gate.baseline.exists():
        return None
    try:
        found = baseline.read(gate.baseline)
        if found.contestant != gate.contestant:
            raise StudyError(
                file=str(gate.baseline),
                key="contestant",
                problem=f"it is the baseline of {found.contestant}, and the gate is of {gate.contestant}",
                remedy="give the gate a baseline of its own, or make this one anew with --update",
            )
    except StudyError as error:
        if not update:
            raise
        console.print(f"the old baseline is replaced without a comparison: {error}", markup=False)
        return None
    return found


def _write(gate: Gate, after: Snapshot, errors: Sequence[str]) -> None:
    bad = [f"{name}: {text}" for name, text in after.packets.items() if text.startswith(INVALID)]
    if errors or bad:
        faults = [*errors, *bad]
        problem = f"not written: {len(faults)} trials did not run or are invalid: {faults[0]}"
        remedy = "mend the stack, or the gate's studies"
        raise StudyError(file=str(gate.baseline), problem=problem, remedy=remedy)
    baseline.write(gate.baseline, after, f"cambrian gate {gate.path.name} --update")


def outcome_of(compared: Compared | None) -> Outcome:
    """The outcome of a comparison of all seeds; without a baseline there is nothing to change."""
    if compared is None:
        return "equivalent"
    if not (compared.changed or compared.lost or compared.unknown):
        return "unchanged"
    if compared.conditions:
        # the gate's study was changed, and the stack need not have been
        return "not judged"
    if any(not one.better for one in compared.different):
        return "different"
    if compared.lost or compared.doubtful or compared.gaps or not compared.figures:
        return "not judged"
    return "better" if compared.different else "equivalent"


def planned(gate: Gate, options: RunOptions) -> list[Planned]:
    """The gate's own studies, with its number of seeds, and those beside it as they are.

    Raises:
        StudyError: a study has an error.
    """
    parts = []
    faults: list[StudyError] = []
    for name in gate.file.studies:
        own = name in STUDIES
        path = Path(__file__).with_name(f"{name}.toml") if own else gate.path.parent / name
        mine = replace(options, seeds=gate.file.seeds) if own else options
        try:
            part = plan(Part("gate", path.stem, path, gate.contestant), mine)
        except StudyError as error:
            if own:
                # the user can change the gate's file alone
                error.remedy += f'; or leave "{name}" out of studies in {gate.path}'
            faults += [error, *error.others]
            continue
        if not any(gate.contestant in contestants(group) for group in part.groups):
            problem = f"no trial of it has {gate.contestant}"
            remedy = 'give a contestant stack = "$STACK" and cca = "$CCA"'
            raise StudyError(file=str(path), problem=problem, remedy=remedy)
        parts.append(part)
    if faults:
        faults[0].others = tuple(faults[1:])
        raise faults[0]
    return parts


def _first(part: Planned, gate: Gate) -> Planned:
    """The first seeds of the contestant's own groups, without a stopping rule, which may need more."""
    first = gate.file.first_seeds
    own = [
        group.model_copy(update={"trials": group.trials[: first * group.orders], "stopping": None})
        for group in part.groups
        if gate.contestant in contestants(group)
    ]
    return replace(part, groups=own)


def contestants(group: Group) -> set[str]:
    """``stack/cca`` of the group's flows."""
    return {f"{flow.contestant.stack}/{flow.contestant.cca}" for flow in group.trials[0].flows}


def folders(parts: Sequence[Planned], folder: Path) -> dict[str, Path]:
    """Name → results folder of each part."""
    return {part.part.name: folder / part.part.name for part in parts if part.groups}


@contextmanager
def alone(parts: Sequence[Planned], folder: Path) -> Iterator[None]:
    """No other run has the parts' folders in this block: what ran is what is measured.

    Raises:
        InUse: another run uses one of them.
        OSError: a folder cannot be written to.
    """
    with ExitStack() as held:
        for place in folders(parts, folder).values():
            held.enter_context(Results(place.absolute()).alone())
        yield


def run_parts(
    gate: Gate, parts: Sequence[Planned], folder: Path, options: RunOptions, console: Console
) -> tuple[str, ...]:
    """Run the parts' trials that ``folder`` lacks; returns a line for each that could not run.

    Only inside :func:`alone`.

    Raises:
        Errors of :func:`cambrian.run.study.run_groups`.
    """
    groups = [group for part in parts for group in part.groups]
    console.print(f"gate {gate.path}: {cost.estimate(groups, jobs=options.at_a_time)}", markup=False)
    whole = Summary()
    for part in parts:
        if part.groups:
            place = folder / part.part.name
            summary = studies.run_groups(
                part.study, part.groups, place.absolute(), options, console, held=True
            )
            whole.add(part.part.name, summary)
    return tuple(whole.errors)


def _groups(trials: Iterable[str]) -> set[str]:
    """The groups of trials with these names."""
    return {snapshot.group_of(name) for name in trials}


def default_folder(gate: Gate) -> Path:
    """``results/gate/STACK-CCA``."""
    return Path("results") / "gate" / folder_of(gate.contestant)
