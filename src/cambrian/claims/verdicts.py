"""Judge each claim from the frames of a results folder."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from cambrian.claims import covariates
from cambrian.claims.frames import Frames
from cambrian.claims.model import Claim, ClaimTest, Verdict
from cambrian.effects import notes
from cambrian.effects.errors import EffectError, NoDataError, NotCompleteError, UndefinedError
from cambrian.effects.summary import Estimate, summary
from cambrian.stats import power
from cambrian.stats import scale as scales
from cambrian.stats.interval import Interval

#: a claim has the first of these verdicts that one of its tests has
_WORST_FIRST: tuple[Verdict, ...] = ("doesn't hold", "not run", "inconclusive")


@dataclass(frozen=True)
class Finding:
    """The result of a test; without ``estimate`` the ``reason`` says what is missing."""

    test: ClaimTest
    verdict: Verdict
    estimate: Estimate | None
    reason: str = ""
    #: the measured releases, which may explain a difference from the paper
    versions: tuple[str, ...] = ()

    @property
    def note(self) -> str:
        """The values that the test lists and no trial has, in words; empty if all have trials."""
        return notes.only_at(self.estimate.partial if self.estimate else ())


@dataclass(frozen=True)
class Judged:
    """A claim with its verdict, and the results of its tests."""

    claim: Claim
    verdict: Verdict
    results: tuple[Finding, ...]
    reason: str = ""

    @property
    def note(self) -> str:
        """What the verdict is not about, though the claim lists it; empty if it is about all of it."""
        return "; ".join(dict.fromkeys(result.note for result in self.results if result.note))


def judge(claim: Claim, frames: Frames) -> Judged:
    """Run all tests of ``claim``.

    The claim holds if all tests hold. It doesn't hold if any test doesn't; else it is not run if any test is
    not run, else inconclusive.
    """
    if claim.not_available:
        return Judged(claim, "not available", (), claim.not_available)
    if not claim.tests:
        return Judged(claim, "not run", (), "the claim has no test")
    results = tuple(run(test, frames) for test in claim.tests)
    return Judged(claim, combined(result.verdict for result in results), results)


def combined(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict of a claim from the verdicts of its tests (at least one)."""
    found = set(verdicts)
    return next((verdict for verdict in _WORST_FIRST if verdict in found), "holds")


def run(test: ClaimTest, frames: Frames) -> Finding:
    """The figure of one test, and its verdict."""
    try:
        frame = frames.frame(test.part, test.table)
    except ValueError as error:
        return Finding(test, "not run", None, str(error))
    if frame is None:
        return Finding(test, "not run", None, f"{test.part} has not been run")
    try:
        found = summary(frame, test)
    except NotCompleteError as error:
        return Finding(test, "inconclusive", None, f"{test.part}: {error}")
    except NoDataError as error:
        return Finding(test, "not run", None, f"{test.part}: {error}")
    except UndefinedError as error:
        return Finding(test, "inconclusive", None, f"{test.part}, {test.quantity}: {error}")
    except EffectError as error:
        return Finding(test, "not run", None, f"{test.part}, {test.quantity}: {error}")
    verdict = verdict_of(test, found)
    reasons = [
        notes.cut(found),
        _undefined(found),
        found.reason,
        notes.of_part(found) if verdict == "inconclusive" and not _of_each_cell(test) else "",
        _more(test, found) if verdict == "inconclusive" else "",
    ]
    reason = "; ".join(one for one in reasons if one)
    return Finding(test, verdict, found, reason, covariates.versions(frame, test))


def verdict_of(test: ClaimTest, found: Estimate) -> Verdict:
    """ "holds" if the whole interval is in the expected region, "doesn't hold" if it is all outside.

    Inconclusive if cells are left out: those whose transfers or page loads were not complete, those without
    a seed of all their groups, and those whose effect is not defined, such as a ratio to 0. If listed values
    have no trial, a test of each cell is judged on the others, and a count, a minimum or a maximum by what
    the others say of all values.
    """
    if found.low is None or found.high is None or math.isnan(found.low + found.high):
        return "inconclusive"
    if notes.cut(found) or found.cells_left_out:
        # the cells that are left are the easier ones
        return "inconclusive"
    low, high = (found.low, found.high) if _of_each_cell(test) else found.of_all(found.low, found.high)
    if test.expect.covers(low, high):
        return "holds"
    return "doesn't hold" if test.expect.misses(low, high) else "inconclusive"


def _of_each_cell(test: ClaimTest) -> bool:
    """Does the test ask something of each cell, such as a maximum of at most 5, or 100 % of the cells?"""
    if test.summary in {"share", "steps"}:
        return test.expect.at_least == 100 or test.expect.at_most == 0
    sides = {
        "min": (test.expect.above, test.expect.at_least),
        "max": (test.expect.below, test.expect.at_most),
    }
    return any(side is not None for side in sides.get(test.summary, ()))


def _undefined(found: Estimate) -> str:
    if not found.cells_left_out:
        return ""
    return (
        "cells left out because their effect is not defined (a division by 0, or the SD of a single seed): "
        f"{found.cells_left_out}"
    )


#: figures with a Student interval, which shrinks with the square root of the number of seeds
_STUDENT = frozenset({"mean", "geometric_mean", "median", "slope"})


def _more(test: ClaimTest, found: Estimate) -> str:
    """How many more seeds would settle it, if the measured values are the true ones; empty if unknown."""
    if found.low is None or found.high is None or test.summary not in _STUDENT:
        return ""
    if notes.cut(found) or found.cells_left_out or found.uneven:
        return ""
    estimate, low, high, *borders = scales.transform(
        np.array([found.estimate, found.low, found.high, *test.expect.borders]), found.scale
    )
    nearest = min(borders, key=lambda border: abs(estimate - border))
    more = power.to_settle(Interval(estimate, low, high, 0.95, found.behind, ""), None, nearest).more
    return "" if more is None else f"about {max(more, 1)} more seeds would settle it"
