"""CUBIC's growth (RFC 9438 sections 4.2 to 4.4), step by step, and its fit to a measured window.

A window does not lie *on* the curve: each acknowledged segment moves it by (target − cwnd)/cwnd of the
way to the curve's value one round trip later, so it lags behind when queues are long. So this code simulates
the law itself, driven by the actual acknowledgements.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import least_squares

from cambrian.metrics.columns import BoolArray, FloatArray
from cambrian.metrics.parameters.epochs import Epochs

#: the target is at most this many windows (RFC 9438 section 4.2)
MOST_GROWTH = 1.5
#: C's search range, segments/s³, and those of W_max/window, α and the clock's lead in seconds
C_RANGE = (0.02, 20.0)
F_RANGE = (0.4, 1.2)
ALPHA_RANGE = (0.0, 5.0)
LEAD_RANGE = (-0.3, 0.6)
#: a search begins at least so far inside its ranges
EDGE = 1e-3
#: how far each parameter moves in a step, and how many steps there are at most
SCALES = np.array([0.3, 0.05, 0.2, 0.05])
MOST_STEPS = 15


@dataclass(frozen=True)
class Law:
    """CUBIC with these parameters.

    ``c``: segments/s³. ``converging``: W_max over the window at a loss below the last maximum.
    ``alpha``: segments a round trip in the Reno-friendly region. ``lead_s``: how far the curve's clock is
    ahead of the growth's begin: the round trip that it is read ahead, and what recovery took.
    ``by_maximum``: K is that of RFC 8312 (section 4.1), the time from β·W_max to W_max, and Reno's
    estimate begins at β·W_max (section 4.2), wherever the window is; by RFC 9438 both begin at the
    window. They differ where W_max is not the window before the loss: under fast convergence.
    ``timed``: Reno's estimate goes with the time since the loss, in round trips of that moment, as
    RFC 8312 (section 4.2) has it; else with what is acknowledged, as RFC 9438 (section 4.3) has.
    ``raised``: Reno's estimate grows by a segment a round trip, as Reno does, once it has reached the window
    before the loss (a recommendation of RFC 9438, section 4.3).
    ``ahead_s``: of the lead, the round trip that the curve is read ahead.
    """

    c: float
    converging: float
    alpha: float
    lead_s: float
    by_maximum: bool = False
    timed: bool = False
    raised: bool = False
    ahead_s: float = 0.0

    def vector(self) -> FloatArray:
        """For a search: C by its logarithm."""
        return np.array([np.log(self.c), self.converging, self.alpha, self.lead_s])


@dataclass(frozen=True)
class Fit:
    """``law``: the best. ``misfit``: its root mean square deviation in segments, of each epoch."""

    law: Law
    misfit: FloatArray

    @property
    def cost(self) -> float:
        """Median over epochs of the root mean square deviation, segments."""
        return float(np.median(self.misfit))


def follow(law: Law, epochs: Epochs, below: BoolArray) -> FloatArray:
    """The windows that the law leads to: as ``epochs.segments``."""
    w = epochs.after.copy()
    w_max = np.where(below, law.converging, 1.0) * epochs.before
    origin = np.maximum(w_max, w)
    begin = origin * epochs.after / epochs.before if law.by_maximum else w
    k_s = np.cbrt((origin - begin) / law.c)
    estimate = np.array(begin, dtype=float)
    windows = np.empty_like(epochs.segments)
    windows[:, 0] = w
    # what does not follow from the window is known for every moment at once; rows are moments
    passed_s, acked = epochs.passed_s.T, epochs.acked.T
    middle_s = (passed_s[1:] + passed_s[:-1]) / 2
    cubic = law.c * (middle_s + law.lead_s - k_s) ** 3 + origin
    without_lead = law.c * (middle_s - k_s) ** 3 + origin
    if law.timed:
        gaps_s = np.maximum(passed_s[1:] - passed_s[:-1], 1e-9)
        since_s = np.maximum(passed_s[1:] + law.lead_s - law.ahead_s, 0.0)
    for step in range(len(middle_s)):
        share = acked[step + 1] / w
        target = np.minimum(np.maximum(cubic[step], w), MOST_GROWTH * w)
        if law.timed:
            estimate = begin + law.alpha * since_s[step] * (share / gaps_s[step])
        else:
            alpha: float | FloatArray = law.alpha
            if law.raised:
                alpha = np.where(estimate >= epochs.before, max(1.0, law.alpha), law.alpha)
            estimate = estimate + alpha * share
        grown = target + (w - target) * np.exp(-share)
        friendly = without_lead[step] < estimate
        w = np.where(friendly, np.maximum(grown, estimate), grown)
        windows[:, step + 1] = w
    return windows


def fit(epochs: Epochs, below: BoolArray, start: Law, free: tuple[bool, bool, bool, bool]) -> Fit:
    """Least squares over the windows; only parameters that are ``free`` (in :class:`Law`'s order) move."""
    moving = np.array(free)
    fixed = start.vector()

    def law(values: FloatArray) -> Law:
        whole = fixed.copy()
        whole[moving] = values
        c, converging, alpha, lead_s = (float(value) for value in whole)
        return replace(start, c=float(np.exp(c)), converging=converging, alpha=alpha, lead_s=lead_s)

    def off(values: FloatArray) -> FloatArray:
        return (follow(law(values), epochs, below) - epochs.segments).ravel()

    ranges = np.array([np.log(C_RANGE), F_RANGE, ALPHA_RANGE, LEAD_RANGE])[moving]
    result = least_squares(
        off,
        np.clip(fixed[moving], ranges[:, 0] + EDGE, ranges[:, 1] - EDGE),
        bounds=(ranges[:, 0], ranges[:, 1]),
        x_scale=SCALES[moving],
        diff_step=[1e-3],
        xtol=1e-4,
        ftol=1e-4,
        max_nfev=MOST_STEPS,
        loss="soft_l1",
    )
    best = law(result.x)
    deviation = follow(best, epochs, below) - epochs.segments
    return Fit(best, np.sqrt(np.mean(deviation**2, axis=1)))
