"""Conformance of a contestant to its reference over pairs of seeds, compared with the noise floor."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from cambrian.metrics import conformance
from cambrian.metrics.conformance import Similarity
from cambrian.metrics.envelope import Envelope
from cambrian.report import blocks
from cambrian.report.collect import Cell
from cambrian.stats import pairs, states
from cambrian.stats.interval import Interval
from cambrian.stats.states import State

#: below this conformance with itself a reference varies too much for any contestant to be equivalent to it
LEAST_FLOOR = 0.5
#: ends of the names of figures that are counts of points
_COUNTS = ("_inside", "_points")

#: seed → flow 0's envelope in each of its trials
Envelopes = Mapping[int, tuple[Envelope, ...]]


@dataclass(frozen=True)
class Floor:
    """The reference against itself, over all pairs of its seeds."""

    pairs: int
    mean: float
    lowest: float
    highest: float
    deviation_mean: float


@dataclass(frozen=True)
class Comparison:
    """A contestant's envelopes against its reference's, over pairs of different seeds.

    Every interval is for a mean over pairs of seeds (:mod:`cambrian.stats.pairs`).
    ``deviation_sd`` is None if a reference does not vary. ``deficit`` is the floor's mean
    conformance minus the contestant's, and ``p`` tests for no deficit. ``floor`` and ``deficit`` are None
    with fewer than two reference seeds.
    """

    conformance: Interval
    deviation: Interval
    deviation_sd: Interval | None
    delta_throughput_mbps: Interval
    delta_delay_ms: Interval
    floor: Floor | None
    deficit: Interval | None
    p: float | None


def envelopes(cell: Cell) -> Envelopes:
    """Flow 0's envelopes, for the seeds whose trials are all valid and have one."""
    found = {}
    for seed, mine in blocks.whole(cell).items():
        known = tuple(one.envelope for one in mine if one.envelope is not None)
        if len(known) == len(mine):
            found[seed] = known
    return found


def compare(test: Cell, reference: Cell) -> Comparison | None:
    """``test`` against ``reference``, a noise-floor group; None if either has no envelope."""
    tests, references = envelopes(test), envelopes(reference)
    if not tests or not references:
        return None
    scores = against(tests, references)
    own = against_itself(references)
    spread = _pick(scores, "deviation_sd")
    conformances, floors = _pick(scores, "conformance"), _pick(own, "conformance")
    deficit, p = pairs.deficit(conformances, floors) if own else (None, None)
    return Comparison(
        conformance=pairs.mean(conformances, "share"),
        deviation=pairs.mean(_pick(scores, "deviation")),
        deviation_sd=pairs.mean(spread) if all(map(math.isfinite, spread.values())) else None,
        delta_throughput_mbps=pairs.mean(_pick(scores, "delta_throughput_mbps")),
        delta_delay_ms=pairs.mean(_pick(scores, "delta_delay_ms")),
        floor=_floor(own),
        deficit=deficit,
        p=p,
    )


def against(tests: Envelopes, references: Envelopes) -> dict[tuple[int, int], Similarity]:
    """Each test seed with each reference seed."""
    return {
        (seed, other): between(one, two)
        for (seed, one), (other, two) in itertools.product(tests.items(), references.items())
    }


def against_itself(references: Envelopes) -> dict[tuple[int, int], Similarity]:
    """Each reference seed with each other one, each pair once."""
    return {
        (seed, other): between(references[seed], references[other])
        for seed, other in itertools.combinations(references, 2)
    }


def between(tests: Sequence[Envelope], references: Sequence[Envelope]) -> Similarity:
    """Mean over all pairs of trials of two seeds; counts of points are added up."""
    scores = [conformance.compare(one, two) for one, two in itertools.product(tests, references)]
    if len(scores) == 1:
        return scores[0]

    def joined(name: str) -> Any:
        values = [getattr(score, name) for score in scores]
        return sum(values) if name.endswith(_COUNTS) else math.fsum(values) / len(values)

    return Similarity(**{one.name: joined(one.name) for one in fields(Similarity)})


def possible(floor: float | None) -> tuple[State, ...]:
    """The settled states that :func:`judge` can give a contestant beside this ``floor``."""
    return ("different", "equivalent") if (floor or 0) >= LEAST_FLOOR else ("different",)


def judge(deficit: Interval | None, p: float | None, floor: float | None) -> State:
    """The state of a contestant compared with its noise floor; ``p`` is corrected for the family.

    "different": conformance below the noise floor. "equivalent": a deficit within the margin, if ``floor``
    is at least :data:`LEAST_FLOOR`.
    """
    found = states.state(deficit, states.CONFORMANCE, p)
    if found == "different" and deficit is not None and deficit.estimate < 0:
        return "inconclusive"
    return "inconclusive" if found == "equivalent" and found not in possible(floor) else found


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


def _pick(scores: Mapping[tuple[int, int], Similarity], name: str) -> dict[tuple[int, int], float]:
    return {pair: getattr(score, name) for pair, score in scores.items()}
