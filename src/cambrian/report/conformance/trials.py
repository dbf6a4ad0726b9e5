"""Method ``imc22``: all pairs of trials with different seeds."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from functools import lru_cache

from cambrian.metrics.conformance import Similarity
from cambrian.metrics.conformance_t import Translated, conformance_t, imc22_shape
from cambrian.report.collect import Cell
from cambrian.report.conformance import seed_pairs
from cambrian.report.conformance.scores import Compared, Scores
from cambrian.report.conformance.seed_pairs import Envelopes
from cambrian.stats import pairs

METHOD = "imc22"
#: each trial is translated onto the trials of this number of next seeds, in a circle
_NEXT_SEEDS = 2

_Pair = tuple[int, int]
#: a pair of seeds → their translated trials, order by order
_Moved = Mapping[_Pair, tuple[Translated, ...]]


def compare(test: Cell, reference: Cell) -> Compared | None:
    """The contestant and its noise floor; None if either has no envelope."""
    tests, references = seed_pairs.envelopes(test), seed_pairs.envelopes(reference)
    if not tests or not references:
        return None
    plain, moved = _plain(seed_pairs.against(tests, references)), _moved(tests, references)
    own, own_moved = _floor(reference)
    deficit, p = pairs.deficit(plain, own) if own else (None, None)
    deficit_t, p_t = pairs.deficit(_best(moved), _best(own_moved)) if own else (None, None)
    return Compared(
        method=METHOD,
        scores=_scores(tests, plain, moved),
        floor=floor(reference),
        deficit=deficit,
        deficit_t=deficit_t,
        p=p,
        p_t=p_t,
    )


def floor(reference: Cell) -> Scores | None:
    """The reference's trials against each other; None with fewer than two."""
    own, moved = _floor(reference)
    return _scores(seed_pairs.envelopes(reference), own, moved, itself=True) if own else None


@lru_cache(maxsize=256)
def _floor(reference: Cell) -> tuple[pairs.Scores, _Moved]:
    references = seed_pairs.envelopes(reference)
    own = _plain(seed_pairs.against_itself(references))
    return own, _moved(references, references) if own else {}


def _moved(tests: Envelopes, references: Envelopes) -> dict[_Pair, tuple[Translated, ...]]:
    seeds = sorted({*tests, *references})
    neighbours = (
        (seed, seeds[(place + step) % len(seeds)])
        for place, seed in enumerate(seeds)
        for step in range(1, _NEXT_SEEDS + 1)
    )
    usable = [
        pair for pair in neighbours if pair[0] in tests and pair[1] in references and pair[0] != pair[1]
    ]
    # each side has one trial, of the same seed: compare these two
    chosen = usable or itertools.islice(itertools.product(tests, references), 1)
    return {
        (seed, other_seed): tuple(
            conformance_t(imc22_shape(mine), imc22_shape(its))
            for mine, its in zip(tests[seed], itertools.cycle(references[other_seed]), strict=False)
        )
        for seed, other_seed in chosen
    }


def _plain(scores: Mapping[_Pair, Similarity]) -> dict[_Pair, float]:
    return {pair: one.conformance for pair, one in scores.items()}


def _best(moved: _Moved) -> dict[_Pair, float]:
    return {pair: sum(one.conformance_t for one in each) / len(each) for pair, each in moved.items()}


def _scores(tests: Envelopes, scores: pairs.Scores, moved: _Moved, *, itself: bool = False) -> Scores:
    usable = pairs.usable(scores)
    envelopes = [one for each in tests.values() for one in each]
    points = sum(len(one.points) for one in envelopes)
    translated = [one for each in moved.values() for one in each]
    return Scores(
        count=len(usable),
        what="pairs of seeds",
        conformance=pairs.mean(scores, "share", itself=itself),
        lowest=min(usable.values()),
        highest=max(usable.values()),
        conformance_t=pairs.mean(_best(moved), "share", itself=itself),
        delta_throughput_mbps=tuple(one.delta_throughput_mbps for one in translated),
        delta_delay_ms=tuple(one.delta_delay_ms for one in translated),
        counted_percent=100 * sum(len(one.kept) for one in envelopes) / points,
    )
