"""What a flight does after the network lost or marked something, loss by loss.

A sender learns of a loss a round trip after the lost packet would have met the queue. Its flight falls
at once or over the round trip that follows (RFC 6937), so it is looked at from one round trip after the
loss until three; what is lowest of the half round trips in there is what is left of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cambrian.probes.seen import Seen

#: round trips after a loss: from when the sender knows, and until when its flight has settled
LEARNT, SETTLED = 1.0, 3.0
#: round trips after a loss at which a flight that was cut once is still growing back
LATER = (5.0, 6.0)
#: no drop of the queue's own may come so many round trips before a loss, or until its end
CLEAR = 3.0
_HALF_TRIPS = 0.5
#: a flight that changed by more than this from one round trip to the next, before a loss, was about
#: something else
STEADY = 0.15
#: a flight that keeps more than this has not answered; a packet's worth of noise is 1 to 2 %
ANSWERED = 0.93


@dataclass(frozen=True)
class Loss:
    """A loss by the network: its packets would have met the queue from ``begin_ns`` to ``end_ns``."""

    begin_ns: int
    end_ns: int


@dataclass(frozen=True)
class Fall:
    """One loss: the flight before it in bytes, the share of it that was left, and the share of it later.

    ``kept`` and ``later`` are NaN where the flow sent nothing then, or the trial ends before it.
    ``trip_ns`` is the round trip before the loss, with queueing.
    """

    loss: Loss
    before_bytes: float
    kept: float
    later: float
    trip_ns: int


def after(seen: Seen, losses: Sequence[Loss], *, learnt: float = LEARNT, own_signals: int = 0) -> list[Fall]:
    """What followed each loss that nothing else disturbed.

    ``learnt``: round trips after a loss's end from which the flight is looked at. ``own_signals``: drops
    and marks by the queue that a loss consists of. Losses near another drop or mark, those in a flight that
    was not steady before, and those whose end the trial cuts off are left out.
    """
    found = []
    for loss in losses:
        position = int(np.searchsorted(seen.flight.arrival_ns, loss.begin_ns)) - 1
        if position < 0:
            continue
        trip_ns = int(seen.flight.round_trip_ns[position])
        if _signals(seen, loss, trip_ns) > own_signals or loss.end_ns + SETTLED * trip_ns > seen.trace.end_ns:
            continue
        before = seen.most_in_flight(loss.begin_ns - trip_ns, loss.begin_ns)
        parts = np.arange(learnt, SETTLED, _HALF_TRIPS)
        flights = [_flight(seen, loss, trip_ns, part, part + _HALF_TRIPS) for part in parts]
        earlier = seen.most_in_flight(loss.begin_ns - 2 * trip_ns, loss.begin_ns - trip_ns)
        # a comparison with NaN, where nothing was sent, is false
        if not abs(earlier / before - 1) <= STEADY:
            continue
        kept = float(np.nanmin(flights)) / before if np.isfinite(flights).any() else np.nan
        ends = loss.end_ns + LATER[1] * trip_ns <= seen.trace.end_ns
        later = _flight(seen, loss, trip_ns, *LATER) / before if ends else np.nan
        found.append(Fall(loss, before, kept, later, trip_ns))
    return found


def _flight(seen: Seen, loss: Loss, trip_ns: int, begin: float, end: float) -> float:
    return seen.most_in_flight(loss.end_ns + begin * trip_ns, loss.end_ns + end * trip_ns)


def _signals(seen: Seen, loss: Loss, trip_ns: int) -> int:
    """Drops and marks by the queue so near that their effect could be taken for the loss's."""
    signals = np.sort(seen.flight.signal_ns)
    first, last = np.searchsorted(signals, [loss.begin_ns - CLEAR * trip_ns, loss.end_ns + SETTLED * trip_ns])
    return int(last - first)
