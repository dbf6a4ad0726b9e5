"""What an estimator says of one trial, and what several trials say together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.stats

#: where a figure comes from: the stack's own window (and pacing rate, states), or packets alone
Source = Literal["window", "packets"]
CONFIDENCE = 0.95
#: fewer trials than this tell nothing of their spread: that of the events within them is used
FEWEST_TRIALS = 3


@dataclass(frozen=True)
class Estimate:
    """One parameter as one trial shows it.

    ``samples``: one value an event (a congestion event, a round, a cycle…), at least one; the
    trial's value is their median. ``resolution``: the half-width that the method cannot
    resolve whatever the number of events (a packet of a window, an ACK's delay), in the
    parameter's unit; it widens every interval. ``label``: for a parameter that is a kind and
    no number, the word for it (``value`` is then its code in
    :mod:`cambrian.metrics.parameters.definitions`).
    """

    parameter: str
    samples: tuple[float, ...]
    resolution: float
    source: Source
    label: str | None = None

    def __post_init__(self) -> None:
        if not self.samples or not all(map(math.isfinite, self.samples)):
            raise ValueError(f"{self.parameter}: give finite samples, at least one; say Missing otherwise")
        if self.resolution < 0:
            raise ValueError(f"{self.parameter}: resolution is {self.resolution}; it must not be negative")

    @property
    def value(self) -> float:
        """The trial's value: the median of its events."""
        return float(np.median(self.samples))


@dataclass(frozen=True)
class Missing:
    """A parameter that this trial cannot show, and why, in words."""

    parameter: str
    why: str
    source: Source = "window"


@dataclass(frozen=True)
class Measured:
    """One parameter of one contestant on one network, over trials.

    [``low``, ``high``]: 95 % interval of the mean over trials, widened by the method's
    resolution; from the events' spread where there are fewer than 3 trials (``by`` says which).
    """

    parameter: str
    value: float
    low: float
    high: float
    trials: int
    events: int
    source: Source
    by: Literal["trials", "events"]
    label: str | None = None


def pooled(estimates: Sequence[Estimate]) -> Measured:
    """One parameter's estimates, one a trial, together.

    Raises:
        ValueError: none, or of several parameters or sources.
    """
    if len({(one.parameter, one.source) for one in estimates}) != 1:
        raise ValueError("pool the estimates of one parameter and one source, at least one")
    first = estimates[0]
    by_trial = np.array([one.value for one in estimates])
    events = np.concatenate([one.samples for one in estimates])
    labels = [one.label for one in estimates if one.label is not None]
    values = by_trial if len(by_trial) >= FEWEST_TRIALS else events
    centre = float(np.mean(by_trial))
    half = _half_width(values) + max(one.resolution for one in estimates)
    return Measured(
        parameter=first.parameter,
        value=centre,
        low=centre - half,
        high=centre + half,
        trials=len(estimates),
        events=len(events),
        source=first.source,
        by="trials" if len(by_trial) >= FEWEST_TRIALS else "events",
        label=max(labels, key=labels.count) if labels else None,
    )


def _half_width(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    """Of Student's interval of a mean; 0 for a single value."""
    if len(values) < 2:
        return 0.0
    quantile = scipy.stats.t.ppf((1 + CONFIDENCE) / 2, len(values) - 1)
    return float(quantile * np.std(values, ddof=1) / math.sqrt(len(values)))
