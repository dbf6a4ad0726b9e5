"""What a measure says of one trial."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np


@dataclass(frozen=True)
class Figure:
    """``value`` in the probe's unit, from so many ``events``.

    ``resolution``: the half-width below which the measure cannot tell two values apart, in the same unit.
    ``trip_s``: the flow's mean round trip, queueing included, where textbooks predict the value from it.
    """

    value: float
    events: int
    resolution: float = 0.0
    trip_s: float | None = None


@dataclass(frozen=True)
class Unseen:
    """The trial does not show it, and ``why``, in words."""

    why: str


def together(several: Sequence[Figure | Unseen]) -> Figure | Unseen:
    """What the trials of one seed, at least one, say together: the mean, or why one of them shows nothing."""
    known = [one for one in several if isinstance(one, Figure)]
    if len(known) < len(several):
        return next(one for one in several if isinstance(one, Unseen))
    mean = float(np.mean([one.value for one in known]))
    return replace(known[0], value=mean, events=sum(one.events for one in known))
