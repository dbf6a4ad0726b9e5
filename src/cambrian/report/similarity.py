"""How alike a contestant and its reference are, over trials, beside the noise floor."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from cambrian.metrics import conformance
from cambrian.metrics.conformance import Similarity
from cambrian.metrics.envelope import Envelope
from cambrian.report.collect import Cell
from cambrian.stats import pairs
from cambrian.stats.interval import Interval

#: fewer trials than this on either side make intervals too rough for a verdict
FEWEST_TRIALS = 5

Verdict = Literal["within", "below", "too few trials"]
#: seed → flow 0's envelope in the valid trial of that seed
Envelopes = Mapping[int, Envelope]


@dataclass(frozen=True)
class Floor:
    """What the reference scores against itself: over all pairs of its trials."""

    pairs: int
    mean: float
    lowest: float
    highest: float
    deviation_mean: float


@dataclass(frozen=True)
class Comparison:
    """A contestant's envelopes against its reference's, each trial with each of another seed.

    Every interval is of the mean over pairs, seeds resampled (:mod:`cambrian.stats.pairs`).
    ``deviation_sd`` is None where a reference does not vary. ``deficit`` is the floor's mean
    conformance minus the contestant's. ``floor`` and ``deficit`` are None with fewer than
    two reference trials.
    """

    conformance: Interval
    deviation: Interval
    deviation_sd: Interval | None
    delta_throughput_mbps: Interval
    delta_delay_ms: Interval
    floor: Floor | None
    deficit: Interval | None
    verdict: Verdict


def envelopes(cell: Cell) -> Envelopes:
    """Flow 0's envelope of each valid trial that has one."""
    return {trial.trial.seed: trial.envelope for trial in cell.trials if trial.envelope is not None}


def compare(test: Cell, reference: Cell) -> Comparison | None:
    """``test`` against ``reference``, a noise-floor group; None where either has no envelope."""
    tests, references = envelopes(test), envelopes(reference)
    if not tests or not references:
        return None
    scores = against(tests, references)
    own = against_itself(references)
    spread = _pick(scores, lambda pair: pair.deviation_sd)
    alike = _pick(scores, lambda pair: pair.conformance)
    short = pairs.deficit(alike, _pick(own, lambda pair: pair.conformance)) if own else None
    return Comparison(
        conformance=pairs.mean(alike),
        deviation=pairs.mean(_pick(scores, lambda pair: pair.deviation)),
        deviation_sd=pairs.mean(spread) if all(map(math.isfinite, spread.values())) else None,
        delta_throughput_mbps=pairs.mean(_pick(scores, lambda pair: pair.delta_throughput_mbps)),
        delta_delay_ms=pairs.mean(_pick(scores, lambda pair: pair.delta_delay_ms)),
        floor=_floor(own),
        deficit=short,
        verdict=judge(short, min(len(tests), len(references))),
    )


def against(tests: Envelopes, references: Envelopes) -> dict[tuple[int, int], Similarity]:
    """Each test trial with each reference trial."""
    return {
        (seed, other): conformance.compare(one, two)
        for (seed, one), (other, two) in itertools.product(tests.items(), references.items())
    }


def against_itself(references: Envelopes) -> dict[tuple[int, int], Similarity]:
    """Each reference trial with each other one, each pair once."""
    return {
        (seed, other): conformance.compare(references[seed], references[other])
        for seed, other in itertools.combinations(references, 2)
    }


def judge(deficit: Interval | None, trials: int) -> Verdict:
    """Where a contestant lies beside its noise floor.

    ``below``: the whole interval of its deficit is above 0. ``within``: these trials do not
    tell it apart from its reference repeated.
    """
    if deficit is None or trials < FEWEST_TRIALS or math.isnan(deficit.low):
        return "too few trials"
    return "below" if deficit.low > 0 else "within"


def _floor(own: Mapping[tuple[int, int], Similarity]) -> Floor | None:
    if not own:
        return None
    scores = [pair.conformance for pair in own.values()]
    distances = [pair.deviation for pair in own.values()]
    return Floor(
        pairs=len(scores),
        mean=sum(scores) / len(scores),
        lowest=min(scores),
        highest=max(scores),
        deviation_mean=sum(distances) / len(distances),
    )


def _pick(
    scores: Mapping[tuple[int, int], Similarity], what: Callable[[Similarity], float]
) -> dict[tuple[int, int], float]:
    return {pair: what(score) for pair, score in scores.items()}
