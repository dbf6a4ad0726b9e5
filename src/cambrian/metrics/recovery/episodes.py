"""Loss episodes at the bottleneck's queue, and the sender's reaction and recovery times.

An episode begins with a queue drop and contains every drop until the sender could first know of it; the next
drop begins the next episode. That moment is the departure of the flow's next packet plus the return delay, so
it does not depend on the stack's log. The sender's reaction is its first loss event, retransmission or entry
to a recovery state from then on. Some logs get a row only when a packet is sent, and a sender that has just
cut its window sends none for a while: they do not tell when the sender reacted. Recovery ends when the state
leaves recovery, or, for a stack without such a state, when the congestion window grows again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from cambrian.metrics.columns import NS_PER_MS, BoolArray, FloatArray, Int64Array, int64, require
from cambrian.metrics.states.vocabulary import RECOVERY, RETRANSMISSION_TIMEOUT, words_of

#: events of a transport trace with which a sender answers a loss
REACTIONS = ("loss", "retransmit", "rto")
#: states in which a sender repairs a loss
RECOVERING = (RECOVERY, RETRANSMISSION_TIMEOUT)
#: a later reaction has another cause; no retransmission timer here starts above a second (RFC 6298)
_LONGEST_WAIT_NS = 1_000_000_000
#: acknowledgements of so many packets change what a sender sends or logs. s2n-quic's receiver acknowledges
#: nine at once; rows of TQUIC's and quiche's logs that waited for a packet came 17 to 50 packets later
_MOST_UNSEEN_PACKETS = 12
#: these rows came 17 to 60 ms late. Linux holds back its acknowledgements for a millisecond after a loss, in
#: which many packets come on a fast link
_LEAST_UNSEEN_NS = 5_000_000
#: what a sender does at once is this near in time
_AT_ONCE_NS = 50_000
#: for what the sender cannot have known within the trial
_NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Episodes:
    """The queue-loss episodes of one flow; arrays have one entry an episode, shape (n,).

    ``began_ns``: the first drop. ``drops``: packets dropped. ``rtt_ms``: round trip at that time,
    queue included. ``earliest_ms``: from the drop to when the sender could know; ``reaction_ms``:
    to when it reacted; ``recovery_ms``: to the end of recovery. NaN: unknown, because the sender
    was already recovering, the trial ended, or the trace has no such event. ``reaction_ms`` is NaN for a row
    that came late, and for all rows of a log that has several such rows.
    """

    began_ns: Int64Array
    drops: Int64Array
    rtt_ms: FloatArray
    earliest_ms: FloatArray
    reaction_ms: FloatArray
    recovery_ms: FloatArray

    @property
    def count(self) -> int:
        """Number of episodes."""
        return len(self.began_ns)


def episodes(packets: pl.DataFrame, transport: pl.DataFrame, *, forward_ns: int, back_ns: int) -> Episodes:
    """Every episode of one flow.

    Parameters:
        packets, transport: of that flow alone. Without rows in ``transport``, reactions are NaN.
        forward_ns, back_ns: propagation delays from the sender to the queue, and from the
            receiver back to the sender.
    """
    require(packets, "arrival_ns", "departure_ns", "outcome")
    dropped = np.sort(int64(packets.filter(pl.col("outcome") == "dropped"), "arrival_ns"))
    went = packets.filter(pl.col("outcome") == "departed").sort("arrival_ns", maintain_order=True)
    known_ns = _known(dropped, int64(went, "arrival_ns"), int64(went, "departure_ns"), back_ns)
    firsts = _firsts(dropped, known_ns)
    began, known = dropped[firsts], known_ns[firsts]
    reacted, ended = _answers(transport, known)
    acked_ns = np.sort(int64(went, "departure_ns")) + back_ns
    sent_ns = np.sort(int64(packets, "arrival_ns")) - forward_ns
    late = _is_late(reacted, known, int64(transport, "time_ns"), sent_ns, acked_ns)
    reacted[late] = np.nan
    if late.sum() > 1:
        # the log's other rows may be late by less than what shows
        reacted[:] = np.nan
    to_known = np.where(known == _NEVER, np.nan, known - began)
    return Episodes(
        began_ns=began,
        drops=np.diff(np.append(firsts, len(dropped))).astype(np.int64),
        rtt_ms=(to_known + forward_ns) / NS_PER_MS,
        earliest_ms=to_known / NS_PER_MS,
        reaction_ms=(reacted - began) / NS_PER_MS,
        recovery_ms=(ended - began) / NS_PER_MS,
    )


def _known(dropped: Int64Array, arrivals: Int64Array, departures: Int64Array, back_ns: int) -> Int64Array:
    """When the first packet after each drop can have been acknowledged; ``_NEVER`` without one."""
    after = np.searchsorted(arrivals, dropped, side="right")
    found = np.full(len(dropped), _NEVER, np.int64)
    there = after < len(arrivals)
    found[there] = departures[after[there]] + back_ns
    return found


def _firsts(dropped: Int64Array, known_ns: Int64Array) -> Int64Array:
    """Positions of the drops that begin an episode: a step an episode, not a packet."""
    positions: list[int] = []
    at = 0
    while at < len(dropped):
        positions.append(at)
        at = int(np.searchsorted(dropped, known_ns[at], side="right"))
    return np.array(positions, np.int64)


def _answers(transport: pl.DataFrame, known: Int64Array) -> tuple[FloatArray, FloatArray]:
    """When the sender reacted to each episode, and when its recovery ended; NaN if unknown."""
    reacted = np.full(len(known), np.nan)
    ended = np.full(len(known), np.nan)
    if not transport.height or not len(known):
        return reacted, ended
    times = int64(transport, "time_ns")
    recovering = _mask(transport, pl.col("state").is_in(words_of(transport["state"], *RECOVERING)))
    entered = recovering & ~np.concatenate([[False], recovering[:-1]])
    rows = np.flatnonzero(_mask(transport, pl.col("event").is_in(REACTIONS)) | entered)
    if not len(rows):
        return reacted, ended
    first = np.searchsorted(times[rows], known, side="left")
    row = rows[np.minimum(first, len(rows) - 1)]
    when = times[row]
    # a reaction belongs to the last episode that the sender can know of by then
    mine = (first < len(rows)) & (when < np.append(known[1:], _NEVER))
    mine[mine] = when[mine] - known[mine] <= _LONGEST_WAIT_NS
    reacted[mine] = when[mine]
    end = _ends(transport, recovering)[row[mine]]
    ended[mine] = np.where(end < len(times), times[np.minimum(end, len(times) - 1)], np.nan)
    return reacted, ended


def _is_late(
    reacted: FloatArray, known: Int64Array, row_ns: Int64Array, sent_ns: Int64Array, acked_ns: Int64Array
) -> BoolArray:
    """Did the sender neither log nor send, while many packets were acknowledged, before it reacted?

    Then its reaction may have been at any of these acknowledgements.
    """
    before = np.where(np.isfinite(reacted), reacted, 0) - _AT_ONCE_NS
    since = known
    for times in (row_ns, sent_ns):
        since = np.maximum(since, np.append(0, times)[np.searchsorted(times, before, side="right")])
    unseen = np.searchsorted(acked_ns, before) - np.searchsorted(acked_ns, since, side="right")
    return np.isfinite(reacted) & (unseen > _MOST_UNSEEN_PACKETS) & (before - since > _LEAST_UNSEEN_NS)


def _ends(transport: pl.DataFrame, recovering: BoolArray) -> Int64Array:
    """For each row the row in which a recovery that holds there is over; as many as rows: never.

    With a state "recovery", it is the first row in another state; otherwise the next row with a larger
    window.
    """
    cwnd = transport.get_column("cwnd_bytes").fill_null(strategy="forward").fill_null(0).to_numpy()
    grew = np.concatenate([[False], np.diff(cwnd) > 0])
    calm_at, grew_at = _next(~recovering), _next(grew)
    # growth in the row itself came before the reaction
    after = np.append(grew_at[1:], len(grew_at))
    return np.where(recovering, calm_at, after)


def _next(flags: BoolArray) -> Int64Array:
    """For each position the first at or after it whose flag is set; ``len(flags)`` without one."""
    where = np.where(flags, np.arange(len(flags)), len(flags))
    return np.minimum.accumulate(where[::-1])[::-1]


def _mask(transport: pl.DataFrame, condition: pl.Expr) -> BoolArray:
    return transport.select(condition.fill_null(False)).to_series().to_numpy()
