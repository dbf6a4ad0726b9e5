"""A contestant's likeness to its reference by each method of envelopes, as it is and moved to fit.

``imc22`` compares trials, each with others of another seed (:mod:`.trials`). ``clustered``
compares regions of several trials, so both the contestant and the noise floor are scored on
halves of the trials (:mod:`.halves`).
"""

from __future__ import annotations

from cambrian.report.collect import Cell
from cambrian.report.likeness import halves, trials
from cambrian.report.likeness.scores import Beside, Scores


def beside(test: Cell, reference: Cell) -> list[Beside]:
    """A contestant beside its noise floor, by each method that has something to compare."""
    return [found for kind in (trials, halves) if (found := kind.beside(test, reference))]


def floors(reference: Cell) -> dict[str, Scores]:
    """A reference against itself: method → scores; none with fewer than two trials."""
    found = {kind.METHOD: kind.floor(reference) for kind in (trials, halves)}
    return {method: scores for method, scores in found.items() if scores}
