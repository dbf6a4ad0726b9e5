"""A contestant's conformance to its reference by each method of envelopes, before and after translation.

``imc22`` compares pairs of trials of different seeds (:mod:`.trials`). ``clustered``
compares regions of several trials, so both the contestant and the noise floor are scored on
halves of the trials (:mod:`.halves`).
"""

from __future__ import annotations

from collections.abc import Sequence

from cambrian.report.collect import Cell
from cambrian.report.conformance import halves, trials
from cambrian.report.conformance.scores import Compared, Scores


def compare_all(pairs: Sequence[tuple[Cell, Cell]]) -> list[list[Compared]]:
    """:func:`compare` for each pair; their trials are clustered on all cores."""
    halves.cluster(pairs)
    return [compare(test, reference) for test, reference in pairs]


def compare(test: Cell, reference: Cell) -> list[Compared]:
    """A contestant compared with its noise floor, by each method that has envelopes to compare."""
    return [found for kind in (trials, halves) if (found := kind.compare(test, reference))]


def floors(reference: Cell) -> dict[str, Scores]:
    """A reference against itself: method → scores; empty with fewer than two trials."""
    found = {kind.METHOD: kind.floor(reference) for kind in (trials, halves)}
    return {method: scores for method, scores in found.items() if scores}
