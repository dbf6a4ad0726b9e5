"""Look for situations in which a contestant breaks a property; Hypothesis draws, targets and shrinks them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import hypothesis
from hypothesis import HealthCheck, Phase, Verbosity
from hypothesis import strategies as st
from hypothesis.database import DirectoryBasedExampleDatabase

from cambrian.hunt.properties import Property
from cambrian.hunt.situation import Situation, situations
from cambrian.hunt.trials import Evidence, Runner

#: seeds of the search, and of what it reports
SEEDS, MORE_SEEDS = 2, 5
#: most of the whole budget that one shrink may take
_SHRINK_PART = 0.3
#: the same targets count no more above this
_MOST_TARGET = 3.0
_MANY = 100_000


class OutOfTime(BaseException):
    """The budget is spent. No Exception: Hypothesis would take it for a failure."""


class Broken(Exception):
    """The property is broken in this situation."""


@dataclass(frozen=True)
class Counterexample:
    """A broken property: the simplest situation that was found, and the evidence of more seeds there."""

    broken: Property
    situation: Situation
    evidence: Evidence

    @property
    def stands(self) -> bool:
        """Do at least four of five samples break it, and none of kernel TCP's?"""
        broken = sum(excess > 0 for excess in self.evidence.excess)
        kernel = self.evidence.kernel
        return broken >= 0.8 * len(self.evidence.excess) and bool(kernel) and max(kernel) <= 0


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
        self._left = list(properties)
        self._budget_s = budget_s
        self._end = time.monotonic() + budget_s
        self._known: dict[tuple[str, Situation], Evidence] = {}
        self._active: Property | None = None
        self._best: Situation | None = None

    @property
    def tried(self) -> int:
        """Number of situations and properties that were tried."""
        return len(self._known)

    @property
    def invalid(self) -> list[str]:
        """Reasons of invalid trials, each once."""
        return list(dict.fromkeys(reason for one in self._known.values() for reason in one.invalid))

    def run(self) -> Iterator[Counterexample]:
        """Each broken property once, with a simple situation, until the budget is spent."""
        number = 0
        while self._left and time.monotonic() < self._end:
            self._active = self._best = None
            try:
                self._search(self._seed + number)
            except (OutOfTime, Broken):
                pass
            except hypothesis.errors.HypothesisException:
                # a shrink that ends early looks inconsistent to Hypothesis; what was found stays found
                if self._best is None:
                    raise
            number += 1
            if self._active is None or self._best is None:
                continue
            self._left.remove(self._active)
            evidence = self._runner.evidence(self._active, self._best, MORE_SEEDS)
            yield Counterexample(self._active, self._best, evidence)

    def _search(self, seed: int) -> None:
        extra = [one for one in self._left if _is_costly(one)]

        @hypothesis.seed(seed)
        @hypothesis.settings(
            max_examples=_MANY,
            deadline=None,
            database=DirectoryBasedExampleDatabase(self._runner.results.folder / "examples"),
            phases=[Phase.reuse, Phase.generate, Phase.target, Phase.shrink],
            suppress_health_check=list(HealthCheck),
            verbosity=Verbosity.quiet,
            print_blob=False,
        )
        @hypothesis.given(situations(), st.integers(0, max(0, len(extra) - 1)))
        def test(situation: Situation, number: int) -> None:
            if self._active is None:
                cheap = [one for one in self._left if not _is_costly(one)]
                self._try(situation, [*cheap, *extra[number : number + 1]])
            else:
                self._try(situation, [self._active])

        test()

    def _try(self, situation: Situation, properties: Sequence[Property]) -> None:
        for one in properties:
            if not one.applies(situation):
                continue
            evidence = self._evidence(one, situation)
            if self._active is None:
                hypothesis.target(min(evidence.score, _MOST_TARGET), label=one.name)
            if evidence.is_broken:
                if self._active is None:
                    self._active = one
                    part = time.monotonic() + _SHRINK_PART * self._budget_s
                    self._end_of_shrink = min(self._end, part)
                if self._best is None or situation.complexity < self._best.complexity:
                    self._best = situation
                raise Broken(one.name)

    def _evidence(self, one: Property, situation: Situation) -> Evidence:
        key = (one.name, situation)
        if key not in self._known:
            if time.monotonic() > (self._end if self._active is None else self._end_of_shrink):
                raise OutOfTime
            self._known[key] = found = self._runner.evidence(one, situation, SEEDS)
            state = "BROKEN" if found.is_broken else "kept"
            self._tell(f"{one.name}: {situation}: {state}; {found.shows[0] if found.shows else ''}")
        return self._known[key]


def _is_costly(one: Property) -> bool:
    """Does it need trials that no other property has?"""
    return one.rival or len(one.variants(Situation(loss_percent=1.0))) > 1
