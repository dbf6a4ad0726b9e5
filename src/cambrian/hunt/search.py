"""Look for situations in which a contestant breaks a property, and make them simple.

First one situation for each single cause, then what Hypothesis draws and steers.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import hypothesis
from hypothesis import HealthCheck, Phase, Verbosity
from hypothesis import strategies as st

from cambrian.hunt.properties import Property
from cambrian.hunt.situation import Situation, situations, systematic
from cambrian.hunt.trials import Evidence, Runner
from cambrian.probes.judge import is_later_bbr

#: seeds of the search, and those after them that confirm what it reports: the search chooses the worst of
#: many situations, so its own seeds prove little
SEEDS, FRESH_SEEDS = 2, 5
#: most of the whole budget that one shrink may take
_SHRINK_PART = 0.3
#: the same targets count no more above this
_MOST_TARGET = 3.0
_MANY = 100_000


class OutOfTime(BaseException):
    """The budget is spent. No Exception: Hypothesis would take it for a failure."""


class Found(BaseException):
    """A property is broken. No Exception: Hypothesis would shrink it, and knows no order of keys."""

    def __init__(self, broken: Property, situation: Situation) -> None:
        super().__init__(broken.name)
        self.broken, self.situation = broken, situation


@dataclass(frozen=True)
class Counterexample:
    """A broken property: the simplest situation that was found, and the evidence of more seeds there.

    ``elsewhere``: the same with another stack's client, None without one.
    """

    broken: Property
    situation: Situation
    evidence: Evidence
    elsewhere: Evidence | None = None


class Hunt:
    """One search. ``tell`` is called with a line for each situation that is tried."""

    def __init__(
        self,
        runner: Runner,
        properties: Sequence[Property],
        budget_s: float,
        seed: int,
        tell: Callable[[str], None],
    ) -> None:
        self._runner, self._seed, self._tell = runner, seed, tell
        later = is_later_bbr(runner.contestant.partition("/")[2])
        self._left = [
            one
            for one in properties
            if (not one.families or runner.reference in one.families) and not (later and one.beside_kernel)
        ]
        self._budget_s = budget_s
        self._end = time.monotonic() + budget_s
        self._known: dict[tuple[str, Situation], Evidence] = {}

    @property
    def tried(self) -> int:
        """Number of situations that were tried."""
        return len({situation for _, situation in self._known})

    @property
    def judged(self) -> bool:
        """Did a trial show any property?"""
        return any(not math.isnan(excess) for one in self._known.values() for excess in one.excess)

    @property
    def invalid(self) -> list[str]:
        """Reasons of invalid trials, each once."""
        return list(dict.fromkeys(reason for one in self._known.values() for reason in one.invalid))

    def run(self) -> Iterator[Counterexample]:
        """Each broken property once, with a simple situation, until the budget is spent.

        More seeds confirm each. Where one of them keeps the property, the paths around are tried.
        """
        searches = itertools.chain([self._systematic], itertools.repeat(self._drawn))
        search = next(searches)
        doubtful: list[tuple[Property, Situation]] = []
        # once for each property: what is around a doubt is doubtful too
        asked: set[str] = set()
        while self._left and time.monotonic() < self._end:
            try:
                while doubtful:
                    self._around(*doubtful[-1])
                    doubtful.pop()
                search()
            except OutOfTime:
                return
            except Found as found:
                situation = self._simplest(found)
                evidence = self._runner.evidence(found.broken, situation, SEEDS + FRESH_SEEDS)
                self._known[found.broken.name, situation] = evidence
                if evidence.is_broken:
                    self._left.remove(found.broken)
                    elsewhere = self._runner.elsewhere(found.broken, situation, SEEDS)
                    yield Counterexample(found.broken, situation, evidence, elsewhere)
                else:
                    self._tell(f"{situation}: no finding, {_why_none(evidence)} {found.broken.name}")
                    if found.broken.name not in asked:
                        doubtful.append((found.broken, situation))
                    asked.add(found.broken.name)
            else:
                search = next(searches)
                self._seed += 1

    def _around(self, doubtful: Property, situation: Situation) -> None:
        """Paths that differ in one key from one where only some seeds break the property."""
        for one in situation.around():
            if doubtful in self._left:
                self._try(one, [doubtful])

    def _systematic(self) -> None:
        """Every single cause; a relation where both of its situations are among them anyway."""
        every = systematic()
        plain, relations = self._kinds()
        useful = [situation for situation in every if any(one.applies(situation) for one in plain)]
        for number, situation in enumerate(useful):
            if time.monotonic() > self._end:
                raise OutOfTime
            if number % self._runner.jobs == 0:
                self._begin(useful[number : number + self._runner.jobs], plain)
            self._try(situation, plain)
        for situation, one in itertools.product(every, relations):
            if set(one.variants(situation)) <= set(every):
                self._try(situation, [one])

    def _drawn(self) -> None:
        plain, relations = self._kinds()

        @hypothesis.seed(self._seed)
        @hypothesis.settings(
            max_examples=_MANY,
            deadline=None,
            database=None,
            phases=[Phase.generate, Phase.target],
            suppress_health_check=list(HealthCheck),
            verbosity=Verbosity.quiet,
        )
        @hypothesis.given(
            st.tuples(*[situations()] * self._runner.jobs), st.integers(0, max(0, len(relations) - 1))
        )
        def test(several: tuple[Situation, ...], number: int) -> None:
            if any(self._is_new(situation) for situation in several) and time.monotonic() > self._end:
                raise OutOfTime
            self._begin(several, plain)
            for place, situation in enumerate(several):
                for one, evidence in self._try(situation, [*plain, *relations[number : number + 1]]):
                    hypothesis.target(min(evidence.score, _MOST_TARGET), label=f"{one.name} {place}")

        test()

    def _begin(self, several: Sequence[Situation], plain: Sequence[Property]) -> None:
        """Let the workers begin what these properties need in these situations."""
        useful = [one for one in several if any(held.applies(one) for held in plain)]
        self._runner.begin(useful, with_kernel=any(held.with_kernel for held in plain))

    def _kinds(self) -> tuple[list[Property], list[Property]]:
        """What is left: properties of one network, and relations."""
        relations = [one for one in self._left if one.is_relation]
        return [one for one in self._left if not one.is_relation], relations

    def _is_new(self, situation: Situation) -> bool:
        return all(known != situation for _, known in self._known)

    def _try(self, situation: Situation, properties: Sequence[Property]) -> list[tuple[Property, Evidence]]:
        """The evidence of those properties that apply.

        Raises:
            Found: one is broken.
            OutOfTime: the budget is spent.
        """
        tried: list[tuple[Property, Evidence]] = []
        is_new = self._is_new(situation)
        for one in properties:
            if one.applies(situation):
                evidence = self._evidence(one, situation, self._end)
                if evidence.is_broken:
                    self._tell(f"{situation}: BREAKS {one.name}: {evidence.shows[0]}")
                    raise Found(one, situation)
                tried.append((one, evidence))
        if is_new and tried:
            nearest, evidence = max(tried, key=lambda pair: pair[1].score)
            kernel = "kernel TCP unknown" if evidence.kernel_unknown else "kernel TCP too, or nearly"
            also = f" ({kernel})" if evidence.breaks else ""
            self._tell(f"{situation}: nothing broken; nearest {nearest.name}: {evidence.shows[0]}{also}")
        return tried

    def _simplest(self, found: Found) -> Situation:
        """Take one unusual key after the other away, as long as the property stays broken."""
        best, end = found.situation, min(self._end, time.monotonic() + _SHRINK_PART * self._budget_s)
        try:
            while True:
                best = next(
                    one
                    for one in best.simpler()
                    if found.broken.applies(one) and self._evidence(found.broken, one, end).is_broken
                )
        except (StopIteration, OutOfTime):
            return best

    def _evidence(self, one: Property, situation: Situation, end: float) -> Evidence:
        key = (one.name, situation)
        if key not in self._known:
            if time.monotonic() > end:
                raise OutOfTime
            self._known[key] = self._runner.evidence(one, situation, SEEDS)
        return self._known[key]


def _why_none(evidence: Evidence) -> str:
    """Why a property that the search found broken is no finding, up to the property's name."""
    of = len(evidence.excess)
    if evidence.breaks and evidence.kernel_unknown:
        known = sum(not math.isnan(excess) for excess in evidence.kernel)
        show = f"only {known} of {len(evidence.kernel)} trials of kernel TCP show whether it keeps it"
        return f"{show}; {of} of {of} trials break"
    if evidence.breaks:
        return f"kernel TCP itself breaks it, or keeps it with too little reserve; {of} of {of} trials break"
    return f"{sum(excess > 0 for excess in evidence.excess)} of {of} trials break"
