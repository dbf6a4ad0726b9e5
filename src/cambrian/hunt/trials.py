"""Run a property's trials in one situation, and say how far each seed breaks it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType

from cambrian.hunt import situation as situations
from cambrian.hunt.properties import Property, ends
from cambrian.hunt.situation import Situation
from cambrian.measure.figures import Figures
from cambrian.metrics.gates.flows import UNSUPPORTED
from cambrian.run import pool, prepare
from cambrian.run.local import Cores
from cambrian.stacks import catalogue, checks, receivers
from cambrian.store import check
from cambrian.store.results import Results, TrialResult
from cambrian.study.errors import StudyError
from cambrian.study.expand import expand
from cambrian.study.load import parse_study
from cambrian.study.model import Group, Trial
from cambrian.study.reference import REFERENCE_STACK
from cambrian.trial import carry_out, plan
from cambrian.trial.carry_out import Outcome

#: how far kernel TCP must be from breaking a property that accuses another: a fifth of the bound
ROOM = 0.2
#: gates about what the sender did: to others its trial is no sample, here that is what is judged
_ABOUT_THE_SENDER = ("saturation", "premature end")
#: to the property about how a flow ends, what an endpoint ended with is what is judged
_ABOUT_THE_END = (*_ABOUT_THE_SENDER, "endpoint")
#: trials whose figures stay in memory
_MOST_MEASURED = 20


@dataclass(frozen=True)
class Evidence:
    """What a property's trials showed: for each sample how far it is broken, and in words.

    A sample is one seed and order of flows; NaN if it does not show the property. ``kernel``: the same of
    kernel TCP, empty if it was not needed. ``invalid``: reasons of invalid trials.
    """

    excess: tuple[float, ...]
    shows: tuple[str, ...]
    kernel: tuple[float, ...] = ()
    kernel_shows: tuple[str, ...] = ()
    invalid: tuple[str, ...] = ()

    @property
    def breaks(self) -> bool:
        """Do all samples break it?"""
        return bool(self.excess) and all(excess > 0 for excess in self.excess)

    @property
    def kernel_keeps(self) -> bool:
        """Does kernel TCP keep it in all samples, with room?"""
        return bool(self.kernel) and all(excess <= -ROOM for excess in self.kernel)

    @property
    def kernel_unknown(self) -> bool:
        """Do some of kernel TCP's samples not show the property, and all others keep it with room?"""
        known = [excess for excess in self.kernel if not math.isnan(excess)]
        return len(known) < len(self.kernel) and all(excess <= -ROOM for excess in known)

    @property
    def is_broken(self) -> bool:
        """Is it broken by the contestant alone?"""
        return self.breaks and self.kernel_keeps

    @property
    def typical(self) -> str:
        """What the sample in the middle shows, in words: the first one may be the most extreme."""
        return _middle(self.excess, self.shows)

    @property
    def kernel_typical(self) -> str:
        """The same of kernel TCP; empty if it was not needed."""
        return _middle(self.kernel, self.kernel_shows)

    @property
    def score(self) -> float:
        """How close it is to broken; above 0 if all samples break it."""
        return min((excess for excess in self.excess if not math.isnan(excess)), default=-1.0)


def _middle(excess: Sequence[float], shows: Sequence[str]) -> str:
    """The words of the sample with the (lower) median excess; of samples with one, if there are any."""
    if not shows:
        return ""
    known = [number for number, one in enumerate(excess) if not math.isnan(one)] or range(len(shows))
    ranked = sorted(known, key=lambda number: excess[number])
    return shows[ranked[(len(ranked) - 1) // 2]]


class Runner:
    """Runs the trials of one contestant (``stack/cca``) on worker processes, and keeps their results.

    Raises:
        StudyError: the contestant is unknown or has no reference.
        Errors of :func:`cambrian.run.prepare.ensure`.
    """

    def __init__(self, contestant: str, folder: Path, jobs: int) -> None:
        checks.check_named(contestant, "hunt")
        stack, cca = contestant.split("/")
        reference = catalogue.reference_of(stack, cca)
        if reference is None:
            raise StudyError(
                file="hunt",
                key=contestant,
                problem="kernel TCP has no such algorithm to compare with",
                remedy="give a contestant with a reference",
            )
        self.contestant, self.reference = contestant, reference
        self.results = Results(folder)
        #: the stack of the reference client, "" if the contestant sends to that anyway, or cannot
        self.other_receiver = _other_receiver(stack)
        trials = [
            trial
            for receiver in filter(None, (situations.OWN, self.other_receiver))
            for group in self._groups(self._text("hunt", {"network": Situation()}, 1, receiver))
            for trial in group.trials
        ]
        self._made = prepare.ensure({name for trial in trials for name in plan.stack_names(trial)})
        self._alone = self.results.alone()
        self._jobs = jobs
        self._measured: dict[str, Figures] = {}
        self._begun: dict[str, Future[Outcome]] = {}

    @property
    def jobs(self) -> int:
        """Trials that run at a time."""
        return self._jobs

    @property
    def _kernel(self) -> str:
        return f"{REFERENCE_STACK}/{self.reference}"

    def __enter__(self) -> Runner:
        self._alone.__enter__()
        check.note_no_study(self.results, "cambrian hunt")
        self._workers = Cores(self._jobs).begin(self._made, self.results, None)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self._workers.stop()
        self._workers.close()
        self._alone.__exit__(kind, error, trace)

    def study(self, one: Property, situation: Situation, seeds: int, receiver: str = situations.OWN) -> str:
        """The TOML text of the study with these trials."""
        variants = one.variants(situation)
        names = ["network"] if len(variants) == 1 else ["path", "other-path"]
        title = f"{self.contestant}: {one.name}"
        return self._text(title, dict(zip(names, variants, strict=True)), seeds, receiver)

    def _text(
        self, title: str, variants: Mapping[str, Situation], seeds: int, receiver: str = situations.OWN
    ) -> str:
        return situations.study_toml(
            title, variants, self.contestant, self._kernel, seeds=seeds, receiver=receiver
        )

    def evidence(self, one: Property, situation: Situation, seeds: int) -> Evidence:
        """Run the contestant's first trial; if that breaks the property, its others and kernel TCP's too.

        Where a property compares with the kernel, the kernel is compared with itself under the next seed.
        """
        own, beside = self._sides(one, self.study(one, situation, seeds))
        numbers = range(len(own[0].trials))
        found = self._judged(one, situation, own, numbers[:1])
        if found.breaks:
            self._begin(trial for group in (*own, *beside) for trial in group.trials)
            found = self._judged(one, situation, own, numbers)
        if not found.breaks:
            return found
        if self.contestant == self._kernel:
            # the reference has no other reference: a property that it breaks is probably wrong
            return replace(found, kernel=(-1.0,))
        kernel = self._judged(one, situation, beside, numbers)
        return replace(found, kernel=kernel.excess, kernel_shows=kernel.shows)

    def elsewhere(self, one: Property, situation: Situation, seeds: int) -> Evidence | None:
        """The contestant's trials with another stack's client; None without another client.

        A receiver decides when it acknowledges, and so how fast some senders grow.
        """
        if not self.other_receiver:
            return None
        own, _ = self._sides(one, self.study(one, situation, seeds, self.other_receiver))
        return self._judged(one, situation, own, range(len(own[0].trials)))

    def begin(self, wanted: Iterable[Situation], *, with_kernel: bool) -> None:
        """Let the workers begin the first trial of each situation, and kernel TCP's if it is needed."""
        subjects = ("contestant", "kernel") if with_kernel else ("contestant",)
        for situation in wanted:
            groups = self._groups(self._text("", {"network": situation}, 1))
            self._begin(group.trials[0] for group in groups if group.subject in subjects)

    def _groups(self, text: str) -> list[Group]:
        study = parse_study(text, "hunt", Path(), catalogue.ccas(), catalogue.reference_of, checks)
        return list(expand(study, reference_of=catalogue.reference_of))

    def _sides(self, one: Property, text: str) -> tuple[list[Group], list[Group]]:
        """The groups of a study whose trials make the contestant's samples, and those of kernel TCP's."""
        groups = self._groups(text)
        own = [group for group in groups if group.subject == "contestant"]
        beside = [group for group in groups if group.subject == "kernel"]
        if one.with_kernel:
            return [*own, *beside], [*beside, *map(_next_seeds, beside)]
        return own, beside

    def _judged(
        self, one: Property, situation: Situation, groups: Sequence[Group], numbers: Sequence[int]
    ) -> Evidence:
        """What these samples show. A sample has one trial for each variant.

        One with an invalid trial counts only if the property judges what made it invalid.
        """
        found = self._run([group.trials[number] for group in groups for number in numbers])
        excess, shows, invalid = [], [], []
        for number in numbers:
            trials = [found[id(group.trials[number])] for group in groups]
            judged = _ABOUT_THE_END if one.name == ends.NAME else _ABOUT_THE_SENDER
            bad = [reason for result in trials for reason in _reasons(result, judged)]
            if bad:
                invalid += bad
                excess.append(math.nan)
                shows.append(f"an invalid trial: {bad[0]}")
                continue
            figures = [self._figures(result) for result in trials]
            excess.append(one.excess(figures, situation))
            shows.append(one.shows(figures, situation))
        return Evidence(tuple(excess), tuple(shows), invalid=tuple(invalid))

    def _figures(self, result: TrialResult) -> Figures:
        """A trial's figures: the properties share the trials of a situation, and measure each once."""
        if result.id not in self._measured:
            if len(self._measured) >= _MOST_MEASURED:
                self._measured.clear()
            self._measured[result.id] = Figures(result)
        return self._measured[result.id]

    def _begin(self, trials: Iterable[Trial]) -> None:
        for trial in trials:
            name = carry_out.trial_id(trial, self._made)
            if name not in self._begun and not self.results.has(name):
                self._begun[name] = self._workers.submit(trial)

    def _run(self, trials: Sequence[Trial]) -> Mapping[int, TrialResult]:
        """id(trial) → its result, run if it has none."""
        names = {id(trial): carry_out.trial_id(trial, self._made) for trial in trials}
        for attempt in range(pool.TRIES):
            self._begin(trials)
            for name in names.values():
                begun = self._begun.pop(name, None)
                error = pool.error_of(begun) if begun else None
                if error is not None and (
                    attempt + 1 == pool.TRIES or not isinstance(error, pool.DISTURBANCES)
                ):
                    raise error
        return {number: self.results.checked(name) for number, name in names.items()}


def _other_receiver(stack: str) -> str:
    """The stack of the reference client for a sender; "" if that is its own, or none speaks with it."""
    sender = catalogue.load()[stack]
    try:
        own, other = (receivers.choose(sender, which).stack.name for which in (situations.OWN, "reference"))
    except receivers.NoReceiver:
        return ""
    return other if other != own else ""


def _next_seeds(group: Group) -> Group:
    """The group with each trial in the place of the one before it."""
    return group.model_copy(update={"trials": (*group.trials[1:], group.trials[0])})


def _reasons(result: TrialResult, judged: Sequence[str]) -> list[str]:
    """Why a trial is no sample for a property; ``judged``: the gates about what the property judges.

    An endpoint that cannot play its role here (exit status 127) shows no behaviour.
    """
    about = [
        gate["text"]
        for gate in result.verdict["gates"]
        if gate["name"] in judged and gate["measured"] != UNSUPPORTED
    ]
    return [reason for reason in result.verdict["reasons"] if reason not in about]
