"""Method ``clustered``: regions of halves of the trials; the two sides use different seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from cambrian.metrics import clustered
from cambrian.metrics.clustered import Region, TrialArea
from cambrian.metrics.columns import FloatArray
from cambrian.metrics.conformance_t import Translated, conformance_t, region_shape
from cambrian.metrics.halves import Arms
from cambrian.report.collect import Cell
from cambrian.report.conformance import seed_pairs
from cambrian.report.conformance.scores import Compared, Scores
from cambrian.report.kept import kept, key_of_arrays, make_missing
from cambrian.stats import jackknife, splits
from cambrian.stats.splits import Score, Split

METHOD = "clustered"
#: the code that decides a trial's area
_MADE_BY = ("cambrian.metrics.clustered",)
#: what a progress bar counts
_CLUSTERED = "trials clustered"
#: one trial's points, and the unit of both axes
_Clustering = tuple[FloatArray, FloatArray]
#: number of the scored splits that are also translated
_SPLITS_MOVED = 5


@dataclass(frozen=True)
class _Arm:
    """Trials of one group: their region, and the seed of each trial, in order."""

    region: Region
    seeds: tuple[int, ...]

    def part(self, seeds: Sequence[int]) -> Region | None:
        """The region of the trials with these seeds; None without such a trial."""
        mine = [trial for trial, seed in zip(self.region.trials, self.seeds, strict=True) if seed in seeds]
        return Region(tuple(mine)) if mine else None


@dataclass(frozen=True)
class _Scored:
    """Scores, and the means (with all seeds, then without each) from which differences are computed."""

    scores: Scores
    plain: FloatArray
    moved: FloatArray


def cluster(pairs: Sequence[tuple[Cell, Cell]]) -> None:
    """Cluster the trials of these groups and of their references on all cores; :func:`region` uses that."""
    tasks = [
        task for test, reference in pairs for cell in (test, reference) for task in _points(cell, reference)
    ]
    # a reference is the same for many contestants
    make_missing(_area, list(dict(_keyed(tasks)).items()), what=_CLUSTERED)


@lru_cache(maxsize=512)
def region(cell: Cell, reference: Cell) -> Region:
    """The region of a group's valid trials, in order of seed, in units of ``reference``'s SD.

    Raises:
        ValueError: either group has no trial with an envelope.
    """
    return Region(tuple(_areas(_points(cell, reference))))


def _points(cell: Cell, reference: Cell) -> list[_Clustering]:
    """Each trial's points, in order of seed, and the unit of both axes; empty if either group has none."""
    mine, others = (
        [one.points for _, mine in sorted(seed_pairs.envelopes(each).items()) for one in mine]
        for each in (cell, reference)
    )
    if not others:
        return []
    unit = clustered.scale(others)
    return [(points, unit) for points in mine]


def _areas(tasks: Sequence[_Clustering]) -> list[TrialArea]:
    return kept(_area, _keyed(tasks), what=_CLUSTERED)


def _keyed(tasks: Sequence[_Clustering]) -> list[tuple[str, _Clustering]]:
    return [(key_of_arrays(_MADE_BY, *task), task) for task in tasks]


def _area(key: str, task: _Clustering) -> TrialArea:
    del key
    return clustered.trial_area(*task)


def compare(test: Cell, reference: Cell) -> Compared | None:
    """The contestant and its noise floor; None if either has no envelope or no region."""
    tests, references = _arm(test, reference), _arm(reference, reference)
    if tests is None or references is None:
        return None
    seeds = tuple(sorted({*tests.seeds, *references.seeds}))
    mine, own = _score(tests, references, seeds), _floor(reference, seeds)
    if mine is None:
        return None
    if own is None:
        return Compared(METHOD, mine.scores, None, None, None, None, None)
    count = min(len(set(tests.seeds)), len(set(references.seeds)))
    (deficit, p), (deficit_t, p_t) = (
        (jackknife.interval(found, count, size=size), jackknife.p_value(found, count, 0.0, size=size))
        for found, size in (
            (own.plain - mine.plain, abs(float(own.plain[0]))),
            (own.moved - mine.moved, abs(float(own.moved[0]))),
        )
    )
    return Compared(METHOD, mine.scores, own.scores, deficit, deficit_t, p, p_t)


def floor(reference: Cell) -> Scores | None:
    """The reference's halves against each other; None with fewer than two trials."""
    found = _floor(reference, tuple(sorted(seed_pairs.envelopes(reference))))
    return found.scores if found else None


def _arm(cell: Cell, reference: Cell) -> _Arm | None:
    mine = seed_pairs.envelopes(cell)
    # the orders of a seed stay together
    seeds = tuple(seed for seed in sorted(mine) for _ in mine[seed])
    return _Arm(region(cell, reference), seeds) if seeds and seed_pairs.envelopes(reference) else None


@lru_cache(maxsize=256)
def _floor(reference: Cell, seeds: tuple[int, ...]) -> _Scored | None:
    arm = _arm(reference, reference)
    return _score(arm, arm, seeds) if arm and len(set(arm.seeds)) > 1 else None


def _score(test: _Arm, reference: _Arm, seeds: tuple[int, ...]) -> _Scored | None:
    """``test`` against ``reference`` over half-splits of ``seeds``; None if no split can be scored."""
    # every second split is reversed, or else the first seed would always be on one side;
    # with one seed, all trials against all
    halves = [split[::-1] if number % 2 else split for number, split in enumerate(splits.splits(seeds))]
    halves = halves or [(seeds, seeds)]
    plain = _scoring(test, reference, seeds)
    each = [splits.once(seeds, split, plain) for split in halves]
    moved = [found for split in halves[:_SPLITS_MOVED] if (found := _moved(test, reference, split))]
    if not moved or not np.any(np.isfinite(each)):
        return None
    means = splits.replicates(seeds, [(split, plain) for split in halves])
    means_t = splits.replicates(
        seeds,
        [
            (split, _scoring(replace(test, region=test.region.moved(found.move)), reference, seeds))
            for split, found in moved
        ],
    )
    count = min(len(set(test.seeds)), len(set(reference.seeds)))
    scores = Scores(
        count=int(np.isfinite(each).sum()),
        what="half-splits",
        conformance=jackknife.interval(means, count, "share"),
        lowest=float(np.nanmin(each)),
        highest=float(np.nanmax(each)),
        conformance_t=jackknife.interval(means_t, count, "share"),
        delta_throughput_mbps=tuple(found.delta_throughput_mbps for _, found in moved),
        delta_delay_ms=tuple(found.delta_delay_ms for _, found in moved),
        counted_percent=100 * len(test.region.kept) / len(test.region.points),
    )
    return _Scored(scores, means, means_t)


def _scoring(test: _Arm, reference: _Arm, seeds: Sequence[int]) -> Score:
    arms = Arms(test.region, reference.region)
    mine, others = (np.searchsorted(seeds, side.seeds) for side in (test, reference))
    return lambda weights, others_weights: arms.conformance(weights[:, mine], others_weights[:, others])


def _moved(test: _Arm, reference: _Arm, split: Split) -> tuple[Split, Translated] | None:
    mine, its = test.part(split[0]), reference.part(split[1])
    if mine is None or its is None or not len(mine.kept) or not len(its.kept):
        return None
    return split, conformance_t(region_shape(mine), region_shape(its))
