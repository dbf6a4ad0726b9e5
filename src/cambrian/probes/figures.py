"""The result of one measure in one trial."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np


@dataclass(frozen=True)
class Figure:
    """``value`` in the probe's unit, from ``events`` events.

    ``resolution``: half-width that the measure cannot resolve, in the same unit. ``trip_s``: the flow's mean
    round trip, queueing included, if theory predicts the value from it. ``at_least``: the trial ended before
    the value was reached, which is thus a lower limit. ``at_most``: the value was still falling when the
    trial ended.

    Raises:
        ValueError: a value or resolution that is not finite.
    """

    value: float
    events: int
    resolution: float = 0.0
    trip_s: float | None = None
    at_least: bool = False
    at_most: bool = False

    def __post_init__(self) -> None:
        if not (math.isfinite(self.value) and math.isfinite(self.resolution)):
            raise ValueError(f"not finite: {self.value} ± {self.resolution}")


@dataclass(frozen=True)
class NoFigure:
    """The trial gives no figure; ``why``, in words."""

    why: str


class NotInNetwork(ValueError):
    """A network of a user has a name of the fingerprint's, but not what the probe is about; in words."""


def mean(several: Sequence[Figure | NoFigure]) -> Figure | NoFigure:
    """The mean over the trials of one seed (at least one), or why one of them gives no figure."""
    known = [one for one in several if isinstance(one, Figure)]
    if len(known) < len(several):
        return next(one for one in several if isinstance(one, NoFigure))
    value = float(np.mean([one.value for one in known]))
    return replace(
        known[0],
        value=value,
        events=sum(one.events for one in known),
        at_least=any(one.at_least for one in known),
        at_most=any(one.at_most for one in known),
    )
