"""Spurious losses: packets that a sender declared lost, compared with those that were lost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cambrian.metrics.columns import Int64Array


@dataclass(frozen=True)
class FalseLosses:
    """Numbers of packets. ``declared``: lost or retransmitted, by the sender. ``dropped``: by the network.

    ``estimate``: declared minus dropped; the true number is from ``low`` to ``high``. The end of a trial
    causes this range: a sender declares a late drop after the trial or never, and a stack that counts until
    its program ends also counts drops after the trial. The range is 0 for a flow that ended before.
    """

    declared: int
    dropped: int
    estimate: int
    low: int
    high: int


def false_losses(
    declared: int,
    queue_drops_ns: Int64Array,
    random_drops: int,
    *,
    span_ns: tuple[int, int],
    unnoticed_ns: int,
    after_ns: int,
) -> FalseLosses:
    """Declared losses beyond the real ones, of one flow.

    Parameters:
        queue_drops_ns: times of the queue's drops, sorted, shape (n,).
        random_drops: number of packets that the link lost.
        span_ns: start and end of the flow.
        unnoticed_ns: time before the end in which the sender may have missed a drop.
        after_ns: time after the end in which the stack still counted.

    For a time without a capture, the bound on queue drops is the largest number in any window of that length,
    and the bound on random drops is their mean plus three standard deviations of a Poisson count. The drops
    of the first slow start do not come again: they bound the time after the end only if the flow was not seen
    for as long after them.

    Raises:
        ValueError: a count or a time is negative.
    """
    if min(declared, random_drops, unnoticed_ns, after_ns) < 0:
        raise ValueError("counts and times must not be negative")
    dropped = len(queue_drops_ns) + random_drops
    per_ns = random_drops / max(span_ns[1] - span_ns[0], 1)
    unnoticed = int((queue_drops_ns >= span_ns[1] - unnoticed_ns).sum()) + _most_random(per_ns * unnoticed_ns)
    unseen = _most_within(
        _repeatable(queue_drops_ns, span_ns[1] - after_ns, unnoticed_ns), after_ns
    ) + _most_random(per_ns * after_ns)
    difference = declared - dropped
    return FalseLosses(
        declared=declared,
        dropped=dropped,
        estimate=max(difference, 0),
        low=max(difference - unseen, 0),
        high=max(difference + min(unnoticed, dropped), 0),
    )


def _most_random(mean: float) -> int:
    return int(np.ceil(mean + 3 * np.sqrt(mean)))


def _repeatable(times_ns: Int64Array, before_ns: int, notice_ns: int) -> Int64Array:
    """The drops after the sender knew of its first one, if it knew by ``before_ns``; otherwise all."""
    known_ns = times_ns[0] + notice_ns if len(times_ns) else before_ns
    return times_ns[times_ns > known_ns] if known_ns < before_ns else times_ns


def _most_within(times_ns: Int64Array, window_ns: int) -> int:
    """The most of these (sorted) times in any window of that length."""
    if not window_ns or not len(times_ns):
        return 0
    ends = np.searchsorted(times_ns, times_ns + window_ns, side="left")
    return int((ends - np.arange(len(times_ns))).max())
