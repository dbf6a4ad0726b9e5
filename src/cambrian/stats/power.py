"""How many more trials would answer: hints for planning, made from the trials so far.

Each takes what was measured for the truth: the spread, and for a difference its size. Neither is
known well from few trials, so a hint is a guess at how much work is ahead, never a promise, and
no test: running until an interval leaves zero makes a false alarm of chance.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.special
import scipy.stats

from cambrian.stats.interval import FloatArray, Interval, as_trials, check_confidence

#: beyond so many trials a number would say no more than "far too many"
MOST_TRIALS = 10_000
POWER = 0.8


@dataclass(frozen=True)
class Hint:
    """``more`` trials of each arm, beyond those there are, and the sentence that says so.

    ``more`` is 0 where there are enough already, and None where no number follows: too few
    trials to know their spread, no difference to find, or more than 10,000.
    """

    more: int | None
    sentence: str


def to_narrow(
    values: Sequence[float] | FloatArray, half_width: float, unit: str = "", confidence: float = 0.95
) -> Hint:
    """Trials until Student's interval of the mean is within ± ``half_width`` (in the data's unit)."""
    check_confidence(confidence)
    _check_half_width(half_width)
    trials = as_trials(values)
    goal = f"narrow the {_percent(confidence)} interval of the mean to ± {_amount(half_width, unit)}"
    if len(trials) < 2:
        return _unknown(goal)
    sd = float(trials.std(ddof=1))

    def enough(n: int) -> bool:
        return bool(scipy.stats.t.isf((1 - confidence) / 2, n - 1) * sd / math.sqrt(n) <= half_width)

    return _hint(_least(enough, len(trials)), len(trials), goal, "the spread stays as it is")


def to_shrink(interval: Interval, half_width: float, unit: str = "") -> Hint:
    """Trials until any other kind of interval is within ± ``half_width``: its arms shrink as 1/√n."""
    _check_half_width(half_width)
    goal = f"narrow the {_percent(interval.confidence)} interval to ± {_amount(half_width, unit)}"
    arm = max(interval.estimate - interval.low, interval.high - interval.estimate)
    if not math.isfinite(arm):
        return _unknown(goal)
    needed = _scaled(interval.n, arm / half_width)
    return _hint(needed, interval.n, goal, "the spread stays as it is")


def to_detect(
    values: Sequence[float] | FloatArray,
    threshold: float = 0.0,
    *,
    confidence: float = 0.95,
    power: float = POWER,
) -> Hint:
    """Trials until a one-sample t test tells the mean from ``threshold`` with this power.

    Paired differences are one sample, against 0. By the noncentral t distribution with
    n - 1 degrees of freedom and noncentrality √n·d, both tails counted.
    """
    trials = as_trials(values)
    goal = f"tell the mean from {threshold:g} {_chance(confidence, power)}"
    if len(trials) < 2:
        return _unknown(goal)
    effect = _effect(float(trials.mean()) - threshold, float(trials.std(ddof=1)))
    return _detect(effect, lambda n: (n - 1.0, math.sqrt(n)), len(trials), goal, confidence, power)


def to_tell_apart(
    a: Sequence[float] | FloatArray,
    b: Sequence[float] | FloatArray,
    *,
    confidence: float = 0.95,
    power: float = POWER,
) -> Hint:
    """Trials of each arm until Welch's t test tells two independent arms apart with this power.

    Counted for arms of equal size, from the smaller arm on: noncentrality √n·d with d the
    difference over √(s₁² + s₂²), Welch-Satterthwaite degrees of freedom.
    """
    one, two = as_trials(a), as_trials(b)
    goal = f"tell the two arms apart {_chance(confidence, power)}"
    fewest = min(len(one), len(two))
    if fewest < 2:
        return _unknown(goal)
    variances = np.array([one.var(ddof=1), two.var(ddof=1)])
    effect = _effect(float(one.mean() - two.mean()), math.sqrt(variances.sum()))
    share = float(variances.sum() ** 2 / np.square(variances).sum()) if variances.any() else 2.0
    return _detect(effect, lambda n: ((n - 1) * share, math.sqrt(n)), fewest, goal, confidence, power)


def to_exclude(interval: Interval, value: float, *, power: float = POWER) -> Hint:
    """Trials until any other kind of interval leaves ``value`` out with this power.

    For statistics without one value a trial, such as a mean over pairs of trials: the interval's
    arm towards ``value`` stands for z·SE of a normal estimate, and SE shrinks as 1/√n.
    """
    goal = f"tell it from {value:g} {_chance(interval.confidence, power)}"
    distance = abs(interval.estimate - value)
    arm = interval.estimate - interval.low if interval.estimate > value else interval.high - interval.estimate
    if not math.isfinite(arm):
        return _unknown(goal)
    if distance == 0:
        return _nothing_to_find(goal)
    z = float(scipy.stats.norm.isf((1 - interval.confidence) / 2))
    standard_error = arm / z
    needed = _scaled(interval.n, (z + float(scipy.stats.norm.isf(1 - power))) * standard_error / distance)
    return _hint(needed, interval.n, goal, _AS_THEY_ARE)


_AS_THEY_ARE = "the difference and the spread stay as they are"


def _detect(
    effect: float,
    shape: Callable[[int], tuple[float, float]],
    have: int,
    goal: str,
    confidence: float,
    power: float,
) -> Hint:
    """``shape``: n → degrees of freedom, and what the effect is multiplied with."""
    check_confidence(confidence)
    if not 0 < power < 1:
        raise ValueError(f"power is {power}; give a share between 0 and 1, such as 0.8")
    if effect == 0:
        return _nothing_to_find(goal)

    def enough(n: int) -> bool:
        df, root = shape(n)
        return t_test_power(df, effect * root, confidence) >= power

    return _hint(_least(enough, have), have, goal, _AS_THEY_ARE)


def t_test_power(df: float, noncentrality: float, confidence: float = 0.95) -> float:
    """Chance that a two-sided t test rejects, by the noncentral t distribution.

    Source: Cohen, "Statistical Power Analysis for the Behavioral Sciences" (1988), chapter 2.
    """
    if math.isinf(noncentrality):
        return 1.0
    critical = float(scipy.stats.t.isf((1 - confidence) / 2, df))
    # the lower tail is the upper one mirrored; scipy.stats.nct loses it where it is small
    upper = 1.0 - float(scipy.special.nctdtr(df, abs(noncentrality), critical))
    lower = float(scipy.special.nctdtr(df, abs(noncentrality), -critical))
    return upper + (lower if math.isfinite(lower) else 0.0)


def _effect(difference: float, sd: float) -> float:
    if sd == 0:
        return math.copysign(math.inf, difference) if difference else 0.0
    return difference / sd


def _least(enough: Callable[[int], bool], have: int) -> int | None:
    """The least n ≥ ``have`` that is enough; None beyond :data:`MOST_TRIALS`."""
    if enough(have):
        return have
    if not enough(MOST_TRIALS):
        return None
    low, high = have, MOST_TRIALS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _scaled(n: int, ratio: float) -> int | None:
    """Trials that an interval ``ratio`` times too wide for its purpose needs."""
    needed = math.ceil(n * ratio**2 - 1e-9)
    return max(needed, n) if needed <= MOST_TRIALS else None


def _hint(needed: int | None, have: int, goal: str, condition: str) -> Hint:
    if needed is None:
        return Hint(None, f"more than {MOST_TRIALS:,} trials would {goal}, if {condition}")
    more = needed - have
    if more == 0:
        return Hint(0, f"the {have} trials there are {goal} already, if {condition}")
    return Hint(more, f"{more:,} more trial{'' if more == 1 else 's'} would {goal}, if {condition}")


def _unknown(goal: str) -> Hint:
    return Hint(None, f"how many more trials would {goal} is unknown: too few are there to see their spread")


def _nothing_to_find(goal: str) -> Hint:
    return Hint(None, f"no number of trials would {goal}, if the difference stays at 0")


def _check_half_width(half_width: float) -> None:
    if not half_width > 0:
        raise ValueError(f"half_width is {half_width}; it must be positive")


def _amount(value: float, unit: str) -> str:
    return f"{value:g} {unit}".rstrip()


def _percent(share: float) -> str:
    return f"{100 * share:g} %"


def _chance(confidence: float, power: float) -> str:
    return f"at {_percent(confidence)} confidence with {_percent(power)} power"
