"""Hints for planning: how many more trials would be enough, from the trials so far.

Each hint assumes that the measured spread, and the measured size of a difference, are the true ones. Few
trials do not show these well, so a hint is only a rough guess. It is no stopping rule: running trials until
an interval excludes zero produces false alarms.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import scipy

from cambrian.stats.interval import Interval
from cambrian.stats.jackknife import FEWEST_SEEDS
from cambrian.stats.states import LEVEL, Margin, State

#: above this number of trials a hint to settle gives no number: such a difference is on the border
MOST_TRIALS = 1_000
#: the same of a hint to narrow an interval: a study that stops by a rule has as many seeds at most
MOST_TO_SHRINK = 10_000
POWER = 0.8
#: with sides less alike than that in their number of seeds, what one more seed of each gives is not known:
#: the spread of the side with many shrinks more slowly, and an interval does not say which spread is whose
MOST_UNLIKE = 1.5


@dataclass(frozen=True)
class Hint:
    """``more`` additional trials of each arm, a ``sentence`` with this number, and the ``state`` after them.

    ``more`` is 0 if there are enough already, and None without a number: too few trials to know their spread,
    no difference to find, or more than 1,000 trials (10,000 to narrow an interval). ``state`` is None
    if there is no number, or no state.
    """

    more: int | None
    sentence: str
    state: State | None = None


def to_shrink(interval: Interval, half_width: float, unit: str = "") -> Hint:
    """Trials until an interval is within ± ``half_width``, if its arms shrink as 1/√n."""
    _check_half_width(half_width)
    goal = f"narrow the {_percent(interval.confidence)} interval to ± {_amount(half_width, unit)}"
    arm = max(interval.estimate - interval.low, interval.high - interval.estimate)
    if not math.isfinite(arm):
        return _unknown(goal)
    needed = _scaled(interval.n, arm / half_width)
    return _hint(needed, interval.n, goal, "the spread stays as it is", MOST_TO_SHRINK)


def to_settle(
    interval: Interval,
    margin: Margin | None,
    null: float = 0.0,
    *,
    level: float = LEVEL,
    power: float = POWER,
) -> Hint:
    """Seeds until an inconclusive figure is either "different" or "equivalent", with this power.

    For any Student interval: its arm is t · SE, SE shrinks as 1/√n, and the estimate is assumed to be the
    truth. The figure is different once SE · (t + t of the power) is below its distance from ``null``, with
    the t of ``level``: how small p must be, which a correction for many tests lowers. It is equivalent once
    SE · (t + t of the power) is below its distance to the nearer end of the margin around ``null``, if it
    lies inside, with the t of the interval: no correction applies to it. The smaller number of seeds counts.
    The state is "equivalent" if the interval is then within the margin, as :func:`states.state` has it.
    With a ``level`` of 0 no p is small enough: the seeds until it is equivalent.
    """
    if not 0 < power < 1:
        raise ValueError(f"power is {power}; give a share between 0 and 1, such as 0.8")
    if not 0 <= level <= LEVEL:
        raise ValueError(f"level is {level}; a correction makes it smaller than {LEVEL:g}, but not below 0")
    goal = f"settle it with {_percent(power)} power"
    away = interval.estimate - null
    arm = max(interval.estimate - interval.low, interval.high - interval.estimate)
    if not math.isfinite(arm) or interval.n < FEWEST_SEEDS:
        return _unknown(goal)
    tail = (1 - interval.confidence) / 2
    sd = arm / float(scipy.special.stdtrit(interval.n - 1, 1 - tail)) * math.sqrt(interval.n)
    inside = min(margin.high - away, away - margin.low) if margin else -math.inf
    if max(abs(away), inside) <= 0:
        return _nothing_to_find(goal)

    def arm_of(n: int, *shares: float) -> float:
        return sum(float(scipy.special.stdtrit(n - 1, one)) for one in shares) * sd / math.sqrt(n)

    def enough(n: int) -> bool:
        return arm_of(n, 1 - level / 2, power) <= abs(away) or arm_of(n, 1 - tail, power) <= inside

    needed = _least(enough, interval.n)
    hint = _hint(needed, interval.n, goal, "the difference and the spread stay as they are")
    if needed is None:
        return hint
    return replace(hint, state="equivalent" if arm_of(needed, 1 - tail) <= inside else "different")


def _least(enough: Callable[[int], bool], have: int) -> int | None:
    """The smallest n ≥ ``have`` that is enough; None above :data:`MOST_TRIALS`."""
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
    """Number of trials that an interval needs if it is ``ratio`` times too wide with ``n`` trials."""
    needed = math.ceil(n * ratio**2 - 1e-9)
    return max(needed, n) if needed <= MOST_TO_SHRINK else None


def _hint(needed: int | None, have: int, goal: str, condition: str, most: int = MOST_TRIALS) -> Hint:
    if needed is None:
        return Hint(None, f"more than {max(most, have):,} trials would {goal}, if {condition}")
    more = needed - have
    if more == 0:
        return Hint(0, f"the existing {have} trials {goal} already, if {condition}")
    return Hint(more, f"{more:,} more trial{'' if more == 1 else 's'} would {goal}, if {condition}")


def _unknown(goal: str) -> Hint:
    return Hint(None, f"unknown how many more trials would {goal}: too few trials to see their spread")


def _nothing_to_find(goal: str) -> Hint:
    return Hint(None, f"no number of trials would {goal}, if the difference stays at 0")


def _check_half_width(half_width: float) -> None:
    if not half_width > 0:
        raise ValueError(f"half_width is {half_width}; it must be positive")


def _amount(value: float, unit: str) -> str:
    return f"{value:g} {unit}".rstrip()


def _percent(share: float) -> str:
    return f"{100 * share:g} %"
