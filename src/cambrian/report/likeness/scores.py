"""What a method says of one arm of trials against another."""

from __future__ import annotations

from dataclasses import dataclass

from cambrian.stats.interval import Interval


@dataclass(frozen=True)
class Scores:
    """One arm against another by one method.

    ``count`` comparisons of ``what``. ``conformance`` and ``conformance_t`` are means over
    comparisons with their intervals; ``lowest`` and ``highest`` are of the single conformances.
    ``delta_throughput_mbps`` and ``delta_delay_ms``: test minus reference by the best translation,
    one each for the comparisons that were moved. ``counted_percent``: how many of the test's points
    conformance counts; few are no picture of the whole.
    """

    count: int
    what: str
    conformance: Interval
    lowest: float
    highest: float
    conformance_t: Interval
    delta_throughput_mbps: tuple[float, ...]
    delta_delay_ms: tuple[float, ...]
    counted_percent: float


@dataclass(frozen=True)
class Beside:
    """A contestant's scores beside its noise floor's (None without two reference trials).

    ``deficit``: floor minus contestant, ``p`` that of "none"; ``deficit_t`` and ``p_t``: where both were
    moved to fit.
    """

    method: str
    scores: Scores
    floor: Scores | None
    deficit: Interval | None
    deficit_t: Interval | None
    p: float | None
    p_t: float | None
