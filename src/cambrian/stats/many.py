"""What can be said of many cells at once: how many lie beyond a threshold, and the most and the least.

A share of cells, or an extreme, of estimates is biased: noise carries some cells over a threshold,
and the largest of many estimates is larger than any truth. So none is estimated by plugging in;
each bound is a test of all cells that it speaks of:

* *how many are surely beyond*: closed testing with Simes' tests (Goeman, Meijer, Krebs, Solari,
  Biometrika 106, 2019). A statement on all cells at once, at 2.5 % whatever the truth.
* *the most is below a bound* if every cell is, each by its own test (intersection-union; Berger,
  Technometrics 24, 1982); *above a bound* if Simes' test of all cells together says that one is.

Each cell's test is Student's, of its own seeds. Simes' test holds for cells that are independent or
vary together, as those do that share seeds (Sarkar, Ann. Stat. 26, 1998).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.special

from cambrian.stats.interval import FloatArray

#: of each of the two sides
ALPHA = 0.025
#: halvings until a bound is as exact as its digits
_HALVINGS = 60


@dataclass(frozen=True)
class Cells:
    """Estimates with standard errors and degrees of freedom, shape (k,) each.

    An error of 0 is that of a cell that is exact, an infinite one of a cell that nothing is known of.
    """

    estimate: FloatArray
    error: FloatArray
    freedom: FloatArray

    def turned(self) -> Cells:
        """The same with the sign of every estimate turned."""
        return Cells(-self.estimate, self.error, self.freedom)

    def p_at_most(self, threshold: float) -> FloatArray:
        """One-sided p of "the cell is at most ``threshold``", shape (k,)."""
        distance = self.estimate - threshold
        told = (self.error > 0) & np.isfinite(self.error)
        t = np.divide(distance, self.error, out=np.zeros(len(distance)), where=told)
        exact = np.where(self.error == 0, distance <= 0, 1.0)
        return np.asarray(np.where(told, scipy.special.stdtr(self.freedom, -t), exact))


def surely(p: FloatArray, alpha: float = ALPHA) -> int:
    """How many of the hypotheses are false at least, with confidence 1 − ``alpha``.

    The cells that may be true are at most the most for which Simes' test of that many of the
    largest p does not reject.
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
    # "at least the threshold" is false: surely not above it
    exact = cells.error == 0
    p_above = np.where(exact, cells.estimate > threshold, cells.turned().p_at_most(-threshold))
    return above / count, (count - surely(p_above)) / count


def largest(cells: Cells) -> tuple[float, float]:
    """95 % bounds of the largest of the cells."""
    arm = scipy.special.stdtrit(cells.freedom, 1 - ALPHA) * cells.error
    high = float(np.max(cells.estimate + arm))
    bottom, top = float(np.max(cells.estimate - _far(cells))), float(np.max(cells.estimate))
    # the lower bound is the largest threshold that not all cells can be at most
    for _ in range(_HALVINGS):
        middle = (bottom + top) / 2
        bottom, top = (middle, top) if _any_above(cells, middle) else (bottom, middle)
    return bottom, high


def smallest(cells: Cells) -> tuple[float, float]:
    """95 % bounds of the smallest of the cells."""
    low, high = largest(cells.turned())
    return -high, -low


def crossing(cells: Cells, threshold: float) -> tuple[int, int]:
    """Places (first and last) between which lies the first cell from which on all are above ``threshold``.

    The cells are in order; the place after the last means never.
    """
    count = len(cells.estimate)
    p = cells.p_at_most(threshold)
    last = count
    while last > 0 and p[last - 1] <= ALPHA:
        last -= 1
    exact = cells.error == 0
    p_above = np.where(exact, cells.estimate > threshold, cells.turned().p_at_most(-threshold))
    first = 0
    # "all from here on are above" is refuted while Simes' test of those cells rejects it
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
    """So many errors below its estimate that one cell alone rejects, as many cells as there are."""
    return np.asarray(
        scipy.special.stdtrit(cells.freedom, 1 - ALPHA / (2 * len(cells.estimate))) * cells.error
    )
