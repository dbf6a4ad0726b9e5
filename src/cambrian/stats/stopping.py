"""The stopping rule: when enough seeds have been run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from cambrian.stats.exact import median_interval
from cambrian.stats.interval import FloatArray, Interval, check_confidence


@dataclass(frozen=True)
class Decision:
    """Whether to stop, the reason, and the interval so far.

    ``narrow``: is the interval narrow enough?
    """

    stop: bool
    reason: str
    interval: Interval | None
    narrow: bool = False


@dataclass(frozen=True)
class StoppingRule:
    """Stop when the median's interval is narrow enough, between a minimum and a maximum of seeds.

    ``half_width`` is in the values' unit. Prudentia's rule is 10 to 30 trials, 95 %, and
    ±0.5 Mbps at 8 Mbps or ±1.5 Mbps at 50 Mbps.
    """

    min_seeds: int
    max_seeds: int
    half_width: float
    confidence: float = 0.95

    def __post_init__(self) -> None:
        check_confidence(self.confidence)
        if not 1 <= self.min_seeds <= self.max_seeds:
            raise ValueError(f"need 1 <= min_seeds <= max_seeds, not {self.min_seeds} and {self.max_seeds}")
        if self.half_width <= 0:
            raise ValueError(f"half_width is {self.half_width}; it must be positive")

    def decide(self, values: Sequence[float] | FloatArray, run: int | None = None) -> Decision:
        """Decide from the values of the valid seeds so far; there may be none.

        ``run`` is the number of seeds that were run, invalid ones included: these count towards the maximum
        but not towards the minimum. Without it all seeds were valid.
        """
        count = len(values)
        run = count if run is None else run
        interval = median_interval(values, self.confidence) if count else None
        reached = longer_arm(interval) if interval else math.nan
        width = f"± {reached:.4g} against {self.half_width:g}"
        if count >= self.min_seeds and reached <= self.half_width:
            return Decision(True, f"narrow enough: {width}", interval, narrow=True)
        if run >= self.max_seeds:
            why = "no interval" if math.isnan(reached) else width
            why += f", of {run} seeds {count} valid" if count < run else ""
            return Decision(True, f"maximum of seeds reached, not narrow enough: {why}", interval)
        if count < self.min_seeds:
            return Decision(False, f"{count} of at least {self.min_seeds} seeds", interval)
        return Decision(False, f"not narrow enough: {width}", interval)

    def surely_more(self, valid: int, run: int) -> int:
        """How many more seeds must be run before the rule can stop.

        ``valid`` of the ``run`` seeds so far are valid, and the rule has not stopped yet. Below ``min_seeds``
        valid seeds it is the missing number; afterwards it is one.
        """
        return min(max(self.min_seeds - valid, 1), self.max_seeds - run)


def longer_arm(interval: Interval) -> float:
    """The half-width of an asymmetric interval: the longer of both arms."""
    return max(interval.estimate - interval.low, interval.high - interval.estimate)
