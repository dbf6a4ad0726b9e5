"""Bounds over many cells at once: share of cells beyond a threshold, largest and smallest cell.

A share of cells above a threshold, or an extreme, of estimates is biased: noise carries some cells over the
threshold, and the largest of many estimates tends to exceed the largest true value. So each bound comes from
tests of the cells:

* *least number of cells beyond*: closed testing with Simes' tests (Goeman, Meijer, Krebs, Solari,
  Biometrika 106, 2019). It holds for all cells at once, at 2.5 %.
* *the largest is below a bound* if each cell is, by its own test (intersection-union; Berger,
  Technometrics 24, 1982); *above a bound* if Simes' test of all cells shows that at least one is.

Each cell's test is Student's, of its own seeds. Simes' test is valid for cells that are independent or
positively dependent, such as cells with common seeds (Sarkar, Ann. Stat. 26, 1998).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from cambrian.stats.interval import FloatArray

#: level of each of the two sides
ALPHA = 0.025
#: bisections until a bound is exact to its last digit
_HALVINGS = 60


@dataclass(frozen=True)
class Cells:
    """Estimates with standard errors and degrees of freedom, shape (k,) each.

    The error is 0 for an exact cell, and infinite for an unknown one.
    """

    estimate: FloatArray
    error: FloatArray
    freedom: FloatArray

    def negated(self) -> Cells:
        """The same cells with negated estimates."""
        return Cells(-self.estimate, self.error, self.freedom)

    def p_at_most(self, threshold: float) -> FloatArray:
        """One-sided p of "the cell is at most ``threshold``", shape (k,)."""
        distance = self.estimate - threshold
        testable = (self.error > 0) & np.isfinite(self.error)
        t = np.divide(distance, self.error, out=np.zeros(len(distance)), where=testable)
        exact = np.where(self.error == 0, distance <= 0, 1.0)
        return np.asarray(np.where(testable, scipy.special.stdtr(self.freedom, -t), exact))


def surely(p: FloatArray, alpha: float = ALPHA) -> int:
    """The least number of false hypotheses, with confidence 1 − ``alpha``.

    At most n hypotheses are true, where n is the largest number for which Simes' test of the n largest p does
    not reject.
    """
    ordered = np.sort(p)
    for count in range(len(ordered), 0, -1):
        largest = ordered[len(ordered) - count :]
        if np.all(count * largest / np.arange(1, count + 1) > alpha):
            return len(ordered) - count
    return len(ordered)


def share_above(cells: Cells, threshold: float) -> tuple[float, float]:
    """95 % bounds of the share of the cells that are above ``threshold``, in 0 to 1."""
    count = len(cells.estimate)
    above = surely(cells.p_at_most(threshold))
    # p of "the cell is at least the threshold"
    exact = cells.error == 0
    p_above = np.where(exact, cells.estimate > threshold, cells.negated().p_at_most(-threshold))
    return above / count, (count - surely(p_above)) / count


def largest(cells: Cells) -> tuple[float, float]:
    """95 % bounds of the largest of the cells."""
    arm = scipy.special.stdtrit(cells.freedom, 1 - ALPHA) * cells.error
    high = float(np.max(cells.estimate + arm))
    bottom, top = float(np.max(cells.estimate - _far(cells))), float(np.max(cells.estimate))
    # the lower bound is the largest threshold for which "all cells are at most it" is rejected
    for _ in range(_HALVINGS):
        middle = (bottom + top) / 2
        bottom, top = (middle, top) if _any_above(cells, middle) else (bottom, middle)
    return bottom, high


def smallest(cells: Cells) -> tuple[float, float]:
    """95 % bounds of the smallest of the cells."""
    low, high = largest(cells.negated())
    return -high, -low


def crossing(cells: Cells, threshold: float) -> tuple[int, int]:
    """Bounds (first and last index) of the first cell from which on all cells are above ``threshold``.

    The cells are in order; the index after the last cell means never.
    """
    count = len(cells.estimate)
    p = cells.p_at_most(threshold)
    last = count
    while last > 0 and p[last - 1] <= ALPHA:
        last -= 1
    exact = cells.error == 0
    p_above = np.where(exact, cells.estimate > threshold, cells.negated().p_at_most(-threshold))
    first = 0
    # "all cells from here on are above" is false while Simes' test of these cells rejects it
    while first < count and simes(p_above[first:]) <= ALPHA:
        first += 1
    return min(first, last), last


def simes(p: FloatArray) -> float:
    """p of "all of these hypotheses are true". Source: Simes, Biometrika 73 (1986)."""
    ordered = np.sort(p)
    return float(np.min(len(ordered) * ordered / np.arange(1, len(ordered) + 1)))


def _any_above(cells: Cells, threshold: float) -> bool:
    return simes(cells.p_at_most(threshold)) <= ALPHA


def _far(cells: Cells) -> FloatArray:
    """Distance below each estimate at which this cell alone rejects, corrected for the number of cells."""
    return np.asarray(
        scipy.special.stdtrit(cells.freedom, 1 - ALPHA / (2 * len(cells.estimate))) * cells.error
    )
