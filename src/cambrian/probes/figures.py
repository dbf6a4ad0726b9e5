"""What a measure says of one trial."""

from __future__ import annotations

from dataclasses import dataclass


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
