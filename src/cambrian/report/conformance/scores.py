"""The scores of one arm of trials against another by one method."""

from __future__ import annotations

from dataclasses import dataclass

from cambrian.stats.interval import Interval


@dataclass(frozen=True)
class Scores:
    """One arm against another by one method.

    ``count`` comparisons of ``what``. ``conformance`` and ``conformance_t`` are means over
    comparisons with their intervals; ``lowest`` and ``highest`` are single conformances.
    ``delta_throughput_mbps`` and ``delta_delay_ms``: test minus reference by the best translation,
    one value for each translated comparison. ``counted_percent``: share of the test's points that
    conformance counts; with a low share they do not represent the whole.
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
class Compared:
    """A contestant's scores and its noise floor's (None without two reference trials).

    ``deficit``: floor minus contestant, ``p`` tests for no deficit; ``deficit_t`` and ``p_t``: the same after
    translation.
    """

    method: str
    scores: Scores
    floor: Scores | None
    deficit: Interval | None
    deficit_t: Interval | None
    p: float | None
    p_t: float | None
