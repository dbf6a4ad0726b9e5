"""What a measure says of one trial."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """``value`` in the probe's unit, from so many ``events``.

    ``resolution``: the half-width below which the measure cannot tell two values apart, in the same unit.
    """

    value: float
    events: int
    resolution: float = 0.0


@dataclass(frozen=True)
class Unseen:
    """The trial does not show it, and ``why``, in words."""

    why: str
