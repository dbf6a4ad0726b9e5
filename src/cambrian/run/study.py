"""Runs a study: expand it, run missing trials, write ``study.json``, print a summary."""

from __future__ import annotations

import math
import re
import shlex
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from rich.console import Console

import cambrian
from cambrian import interrupts, parallel
from cambrian.judging import families
from cambrian.run import pool, preflight, prepare, trust
from cambrian.run.local import Cores
from cambrian.run.pool import Engine
from cambrian.run.scheduler import Scheduler, counted_trials
from cambrian.stacks import catalogue, checks, offers
from cambrian.store import check, commands
from cambrian.store.reading import Damaged, Unread
from cambrian.store.results import Results
from cambrian.study import builtin, cost, load, replace, tracefile
from cambrian.study.errors import StudyError
from cambrian.study.expand import expand
from cambrian.study.model import Clock, Contestant, Group, Study
from cambrian.trial import carry_out, plan, wall
from cambrian.trial.environment import Environment

#: most invalid trials that a summary names
_SHOWN = 10
#: the reason of a trial whose guest was ended because it had used its CPU time
_USED_UP = re.compile(r"the guest has used (\d+) s of CPU time.*\(allowed: (?:(\d+) s\))?")
#: most patterns of ``--only`` that a message shows
_PATTERNS_SHOWN = 3


@dataclass
class Summary:
    """The result of a run; ``stopped`` has a line for each group with a stopping rule."""

    ran: int = 0
    kept: int = 0
    invalid: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    stopped: list[str] = field(default_factory=list)

    def add(self, place: str, other: Summary) -> None:
        """Add another run, whose results are in ``place``."""
        self.ran += other.ran
        self.kept += other.kept
        self.invalid += [(f"{place}: {label}", reasons) for label, reasons in other.invalid]
        self.errors += [f"{place}: {text}" for text in other.errors]
        self.stopped += [f"{place}: {text}" for text in other.stopped]


@dataclass(frozen=True)
class RunOptions:
    """What to run: a study by name or file, and a selection of it. ``jobs`` 0: one per core.

    ``trust``: build and run the study's own stacks without asking. ``shard`` (i, n): only the i-th of n parts
    of the groups, counted from 1. ``cluster``: where trials run; None means this machine. ``contestants``:
    ``stack/cca`` of those that take the place of the study's. ``seeds``: their number in place of the
    study's, which then has no stopping rule. ``started_by``: the command, if it is not `cambrian run`.
    """

    study: str
    profile: str | None = None
    seed: int = 1
    clock: Clock = "virtual"
    only: str | None = None
    jobs: int = 0
    cpu_limit_s: float | None = None
    trust: bool = False
    shard: tuple[int, int] | None = None
    cluster: Engine | None = None
    contestants: tuple[str, ...] = ()
    seeds: int | None = None
    started_by: str = ""

    def with_seeds(self, study: Study) -> Study:
        """The study with the number of seeds that the user gave, if any."""
        return study.model_copy(update={"seeds": self.seeds, "stopping": None}) if self.seeds else study

    def mine(self, groups: Sequence[Group]) -> list[Group]:
        """The groups of this shard: every n-th."""
        if self.shard is None:
            return list(groups)
        number, shards = self.shard
        return list(groups[number - 1 :: shards])

    @property
    def own_stacks(self) -> list[Path]:
        """The folders of the study's own stacks: beside it, and here if the user names contestants."""
        return [builtin.find_study(self.study).absolute().parent / "stacks", *self.stacks_here]

    @property
    def stacks_here(self) -> list[Path]:
        """The folder of the stacks of the contestants that the user names, if any."""
        return [Path.cwd() / "stacks"] if self.contestants else []

    @property
    def at_a_time(self) -> int:
        """Number of parallel trials; default 1 on a real clock, where trials would disturb each other."""
        return self.jobs or (1 if self.clock != "virtual" else len(pool.cores()))

    @property
    def engine(self) -> Engine:
        """Where trials run."""
        return self.cluster or Cores(self.at_a_time)

    @property
    def command(self) -> str:
        """The equivalent command line."""
        if self.started_by:
            return self.started_by
        words = ["cambrian", "run", self.study]
        for name in self.contestants:
            words += ["--contestant", name]
        words += ["--profile", self.profile] if self.profile else []
        words += ["--seed", str(self.seed), "--clock", self.clock]
        words += ["--trust"] if self.trust else []
        return shlex.join([*words, *(["--only", self.only] if self.only else [])])


def expanded(options: RunOptions) -> tuple[Study, list[Group]]:
    """The study, and its groups with their trials.

    Raises:
        StudyError: the file has an error.
    """
    path = builtin.find_study(options.study)
    look_in(options.own_stacks)
    study = load.load_study(path, offers.stacks(), catalogue.reference_of, checks)
    contestants = offers.contestants(options.contestants)
    for name in contestants:
        checks.check_named(name)
    if contestants:
        study = replace.with_contestants(study, contestants, catalogue.reference_of, checks)
    study = options.with_seeds(study)
    groups = expand(
        study,
        profile=options.profile,
        seed_base=options.seed,
        reference_of=catalogue.reference_of,
        clock=options.clock,
        only=options.only,
    )
    return study, list(groups)


def look_in(folders: Sequence[Path]) -> None:
    """Find the stacks in these folders too, those that exist.

    Raises:
        StudyError: ``CAMBRIAN_STACKS``, in which processes get them, cannot have the folder.
    """
    for folder in folders:
        if ":" in str(folder) and next(chain(folder.glob("*.toml"), folder.glob("*/*.toml")), None):
            problem = "stacks in a folder with a colon in its path are not found"
            raise StudyError(file=str(folder), problem=problem, remedy="rename the folder")
        catalogue.look_in(folder)


def check_trust(options: RunOptions, groups: Sequence[Group], folders: Sequence[Path]) -> None:
    """Refuse stacks of these folders that the groups need and that need the user's trust.

    Raises:
        Untrusted: there is one.
    """
    if not options.trust:
        for folder in folders:
            trust.check(sorted(needed_stacks(groups)), folder, _wall(options.clock))


def announce(options: RunOptions, study: Study, groups: list[Group], folder: Path, console: Console) -> None:
    """Print what will run with results in ``folder``, what it costs, and what the user should know."""
    console.print(f"{study.name}: {study.title}", markup=False)
    console.print(str(cost.estimate(groups, jobs=options.at_a_time)), markup=False)
    tell_first(options, groups, folder, console)


def tell_first(options: RunOptions, groups: Sequence[Group], folder: Path, console: Console) -> None:
    """Print what the user should know before the groups run with results in ``folder``."""
    virtual = options.clock != "host"
    guess = preflight.guessed_time(groups, options.at_a_time)
    notes = preflight.notes(groups, folder.absolute(), needed_stacks(groups), kernel=virtual)
    for line in ([guess] if guess else []) + notes:
        console.print(f"  {line}", markup=False, highlight=False)


def tell_kept(options: RunOptions, places: Sequence[tuple[Sequence[Group], Path]], console: Console) -> None:
    """Print, for a dry run, how many trials have results already and what the others cost; builds nothing.

    ``places``: groups, and the folder of their results. Nothing is printed if no trial has results, or if
    something must be built first: only what is built gives a trial its identity.
    """
    needed = {name for groups, _ in places for name in needed_stacks(groups)}
    results = [(groups, Results(folder.absolute())) for groups, folder in places]
    if not any(found.trials_folder.is_dir() for _, found in results):
        return
    if not preflight.all_built(needed, kernel=options.clock != "host"):
        return
    made = prepare.ensure(needed, options.clock)
    left = []
    kept = undecided = 0
    for groups, found in results:
        names = {id(trial): carry_out.trial_id(trial, made) for group in groups for trial in group.trials}
        scheduler = Scheduler(groups, names, found, _again(groups, names, found, options, console))
        undecided += scheduler.undecided()
        for progress in scheduler.groups:
            # a stopping rule may have stopped the group before its last seed
            possible = progress.possible()
            group = progress.group
            missing = [
                trial for trial in group.trials[: len(possible)] if not scheduler.has(names[id(trial)])
            ]
            kept += len(possible) - len(missing)
            left.append(group.model_copy(update={"trials": tuple(missing), "stopping": None}))
    if kept:
        others = cost.estimate(left, jobs=options.at_a_time)
        rest = f"left: {'at most ' if undecided else ''}{others}" if others.trials else "none is left to run"
        console.print(f"{counted_trials(kept)} with results already; {rest}", highlight=False)


def run(options: RunOptions, folder: Path | None, console: Console) -> tuple[Path, Summary]:
    """Run the trials that ``folder`` (default: ``results/STUDY``) lacks, and print a summary.

    Raises:
        StudyError: the file has an error.
        Errors of :func:`run_groups`.
    """
    study, groups = expanded(options)
    groups = options.mine(groups)
    folder = folder or Path("results") / study.name
    announce(options, study, groups, folder, console)
    began = time.monotonic()
    check_trust(options, groups, options.own_stacks)
    summary = run_groups(study, groups, folder.absolute(), options, console)
    tell(summary, time.monotonic() - began, folder, console)
    return folder, summary


def _wall(clock: Clock) -> wall.Wall:
    """The wall that trust depends on."""
    if clock == "host":
        return wall.Wall(None, "--clock host runs it on this machine's own kernel, as the agent's own user")
    return wall.find()


def needed_stacks(groups: Sequence[Group]) -> set[str]:
    """The names of all stacks in the groups' trials."""
    return {name for group in groups for trial in group.trials for name in plan.stack_names(trial)}


def _contestants(scheduler: Scheduler) -> list[Contestant]:
    """All contestants of the run, each once."""
    trials = (trial for progress in scheduler.groups for trial in progress.group.trials)
    return list({flow.contestant.name: flow.contestant for trial in trials for flow in trial.flows}.values())


def _record(
    results: Results, study: Study, scheduler: Scheduler, made: Environment, options: RunOptions
) -> None:
    """Write ``study.json``: the study, each group's trials, and the state of its stopping rule."""
    shard = dict(zip(("shard", "shards"), options.shard, strict=True)) if options.shard else {}
    results.write_study(
        {
            "cambrian": cambrian.__version__,
            "command": options.command,
            **shard,
            "study": study.model_dump(mode="json"),
            "kernel": {"version": made.kernel.version, "sha256": made.kernel.sha256},
            "families": families.record(_contestants(scheduler)),
            # a report cannot rely on the trace's file
            "trace_mean_mbps": {
                network.name: tracefile.mean_rate_mbps(network)
                for network in study.networks
                if network.trace_file is not None
            },
            "groups": [
                {
                    "key": progress.group.key,
                    "design": progress.group.design,
                    "network": progress.group.network,
                    "subject": progress.group.subject,
                    "reference": progress.group.reference,
                    "page": progress.group.page,
                    "orders": progress.group.orders,
                    "placebo": progress.group.placebo,
                    "trials": list(progress.counted()),
                    "stopping": progress.record(),
                }
                for progress in scheduler.groups
            ],
        }
    )


def run_groups(
    study: Study,
    groups: Sequence[Group],
    out: Path,
    options: RunOptions,
    console: Console,
    *,
    held: bool = False,
) -> Summary:
    """Run every trial of ``groups`` that ``out`` lacks, with progress; ``options`` only decides how to run.

    ``held``: the caller is inside :meth:`Results.alone` of ``out``, so that it can read the results there.

    Raises:
        InUse: another run uses ``out``.
        OSError: ``out`` cannot be written to.
        Errors of :func:`cambrian.run.prepare.ensure`.
    """
    results = Results(out)
    with nullcontext() if held else results.alone():
        results.sweep()
        made = prepare.ensure(needed_stacks(groups), options.clock)
        # trials need the memory
        parallel.end_kept()
        try:
            return _run_groups(study, groups, results, made, options, console)
        except interrupts.Interrupted as stop:
            stop.left = interrupts.KEPT
            raise
        finally:
            # what killed workers left
            results.sweep()


def _run_groups(
    study: Study,
    groups: Sequence[Group],
    results: Results,
    made: Environment,
    options: RunOptions,
    console: Console,
) -> Summary:
    names = {id(trial): carry_out.trial_id(trial, made) for group in groups for trial in group.trials}
    scheduler = Scheduler(groups, names, results, _again(groups, names, results, options, console))
    if line := _left_out(results, study, set(names.values()), options):
        console.print(line, markup=False, highlight=False)
    _record(results, study, scheduler, made, options)
    missing = scheduler.first()
    kept = {name for name in scheduler.counted() if scheduler.has(name)}
    summary = Summary(kept=len(kept))
    if summary.kept:
        total = f"{'up to ' if scheduler.adaptive else ''}{scheduler.at_most() + len(kept)}"
        console.print(f"{summary.kept} of {total} trials have results already", highlight=False)
    source = scheduler if scheduler.adaptive else None
    undecided = scheduler.undecided()
    for label, finished in pool.run_with_progress(
        missing,
        made,
        results,
        engine=options.engine,
        cpu_limit_s=options.cpu_limit_s,
        console=console,
        source=source,
    ):
        if finished.outcome is None:
            summary.errors.append(f"{label}: {finished.error}")
        else:
            summary.ran += 1
            scheduler.note(finished)
        if scheduler.undecided() < undecided:
            # write the decisions now, in case this run is killed
            undecided = scheduler.undecided()
            _record(results, study, scheduler, made, options)
    _record(results, study, scheduler, made, options)
    for name, label in scheduler.counted().items():
        if scheduler.has(name):
            verdict = results.trial(name).verdict
            if not verdict["valid"]:
                summary.invalid.append((label, tuple(verdict["reasons"])))
    summary.stopped = [str(progress) for progress in scheduler.groups if progress.group.stopping]
    return summary


def _left_out(results: Results, study: Study, wanted: set[str], options: RunOptions) -> str:
    """What the reader should know if the new study.json lacks trials of the one that it replaces."""
    try:
        before = results.study()
    except Unread:
        raise
    except (FileNotFoundError, Damaged):
        # the run writes it anew
        return ""
    old = _sharded(before["command"], before.get("shard"), before.get("shards"))
    new = _sharded(options.command, *(options.shard or (None, None)))
    same = commands.words(old) == commands.words(new)
    if same and options.started_by:
        # `cambrian gate` begins with few seeds each time
        return ""
    listed = {name for group in before["groups"] for name in group["trials"]}
    count = sum(results.has(name) for name in listed - wanted)
    if not count:
        return ""
    stay = "trial stays" if count == 1 else "trials stay"
    left = f"{count} earlier {stay} in this folder, but no report shows them"
    if not same:
        return (
            f"study.json listed trials of {_shortened(old)}, and now lists only those of "
            f"{_shortened(new)}: {left}; "
            "remedy: --out another folder, or the earlier command again"
        )
    cause = "the study has changed"
    if _is_of(before["study"], study):
        cause = "what its trials run has changed (a stack's program, the kernel, Cambrian or a trace file)"
    return (
        f"since the same command ran before, {cause}: {left}; remedy: --out another folder for the new ones"
    )


def _sharded(command: str, shard: int | None, shards: int | None) -> str:
    """The command with its ``--shard``, which ``study.json`` has beside it so that shards can be joined."""
    return f"{command} --shard {shard}/{shards}" if shard else command


def _is_of(record: Mapping[str, object], study: Study) -> bool:
    """Is ``record`` this study, or one that today's Cambrian cannot read, so that Cambrian has changed?"""
    try:
        return Study.model_validate(record) == study
    except ValidationError:
        return True


def _shortened(command: str) -> str:
    """A command line with the first few patterns of its ``--only``."""

    def few(only: str) -> list[str]:
        patterns = only.split(",")
        more = len(patterns) - _PATTERNS_SHOWN
        left_out = ["and", str(more), "more"] if more > 0 else []
        return ["--only", ",".join(patterns[:_PATTERNS_SHOWN]), *left_out]

    return shlex.join(commands.with_only(command, few))


def _again(
    groups: Sequence[Group],
    names: Mapping[int, str],
    results: Results,
    options: RunOptions,
    console: Console,
) -> set[str]:
    """The identities of the trials that run again although they have results; tells the reader about each."""
    damaged = _damaged(groups, names, results, console)
    if options.cpu_limit_s is None:
        return damaged
    there = {name for name in names.values() if results.has(name)} - damaged
    ended = {name for name in there if _had_cpu_s(results.trial(name).verdict) < round(options.cpu_limit_s)}
    if ended:
        console.print(
            f"with --cpu-limit {options.cpu_limit_s:g}, {counted_trials(len(ended))} that used up a smaller "
            "limit run again",
            highlight=False,
        )
    return damaged | ended


def _had_cpu_s(verdict: Mapping[str, Any]) -> float:
    """CPU seconds of a guest that was ended because it had used them (:class:`limits.Account`); else inf.

    These are what a ``--cpu-limit`` allowed; the usual limit grows, so then what the guest used.
    """
    found = (_USED_UP.search(reason) for reason in verdict["reasons"])
    return min((float(one[2] or one[1]) for one in found if one), default=math.inf)


def _damaged(
    groups: Sequence[Group], names: Mapping[int, str], results: Results, console: Console
) -> set[str]:
    """The identities of the trials whose results are damaged; tells the reader about each.

    Raises:
        Unread: results cannot be read here and now; they may be whole, so no trial takes their place.
    """
    found: dict[str, Damaged] = {}
    for group in groups:
        for trial in group.trials:
            name = names[id(trial)]
            if name in found or not results.has(name):
                continue
            # a stopping rule reads the packets now, so damage in their middle matters
            look = check.thorough if group.stopping else check.quick
            faults = look(results.trial(name))
            if unread := next((fault for fault in faults if isinstance(fault, Unread)), None):
                raise unread
            if faults:
                found[name] = faults[0]
    for fault in found.values():
        console.print(f"damaged, so this trial runs again: {fault.path}: {fault.why}", markup=False)
    return set(found)


def tell(summary: Summary, took_s: float, folder: Path, console: Console) -> None:
    """Print the summary of a run with results in ``folder``."""
    invalid = summary.invalid
    lines = [f"invalid: {label}: {'; '.join(reasons)}" for label, reasons in invalid[:_SHOWN]]
    if len(invalid) > _SHOWN:
        lines.append(f"… and {len(invalid) - _SHOWN} more invalid trials; the report lists all")
    lines += summary.stopped
    lines += [f"failed: {text}" for text in summary.errors]
    lines.append(
        f"{counted_trials(summary.ran)} run in {cost.rough_time(took_s)}, "
        f"{summary.kept} kept, {len(invalid)} invalid; results in {folder}"
    )
    for line in lines:
        console.print(line, markup=False)
