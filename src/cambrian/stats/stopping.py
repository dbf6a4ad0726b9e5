"""When enough trials have been run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from cambrian.stats.exact import median_interval
from cambrian.stats.interval import FloatArray, Interval, check_confidence


@dataclass(frozen=True)
class Decision:
    """Whether to stop, why, and the interval that was reached (always worth printing)."""

    stop: bool
    reason: str
    interval: Interval | None


@dataclass(frozen=True)
class StoppingRule:
    """Stop when the median's interval is narrow enough, within a least and a most of trials.

    ``half_width`` is in the values' unit. Prudentia's rule is 10 to 30 trials, 95 %, and
    ±0.5 Mbps at 8 Mbps or ±1.5 Mbps at 50 Mbps.
    """

    min_trials: int
    max_trials: int
    half_width: float
    confidence: float = 0.95

    def __post_init__(self) -> None:
        check_confidence(self.confidence)
        if not 1 <= self.min_trials <= self.max_trials:
            raise ValueError(
                f"need 1 <= min_trials <= max_trials, not {self.min_trials} and {self.max_trials}"
            )
        if self.half_width <= 0:
            raise ValueError(f"half_width is {self.half_width}; it must be positive")

    def decide(self, values: Sequence[float] | FloatArray) -> Decision:
        """Judge the valid trials' values so far, which may be none."""
        count = len(values)
        interval = median_interval(values, self.confidence) if count else None
        reached = _longer_arm(interval) if interval else math.nan
        width = f"± {reached:.4g} against {self.half_width:g}"
        if count < self.min_trials:
            return Decision(False, f"{count} of at least {self.min_trials} trials", interval)
        if interval and _longer_arm(interval) <= self.half_width:
            return Decision(True, f"narrow enough: {width}", interval)
        if count >= self.max_trials:
            return Decision(True, f"most trials reached, not narrow enough: {width}", interval)
        return Decision(False, f"not narrow enough: {width}", interval)


def _longer_arm(interval: Interval) -> float:
    # The interval is asymmetric, and "the median within ± half_width" needs both arms.
    return max(interval.estimate - interval.low, interval.high - interval.estimate)
