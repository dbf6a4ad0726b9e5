"""ProbeRTT in an exported window: the stages in which a BBR flow keeps little in flight."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import polars as pl

from cambrian.metrics.columns import NS_PER_S, BoolArray, FloatArray, Int64Array, int64
from cambrian.metrics.parameters.bbr_rates import WARM_UP_ROUNDS
from cambrian.metrics.parameters.bbr_settled import silences_within
from cambrian.metrics.parameters.flow_trace import FlowTrace
from cambrian.metrics.parameters.window import segment_bytes
from cambrian.metrics.states.vocabulary import PROBE_RTT, RECOVERY, words_of

#: how long ProbeRTT lasts: most of a round trip, and this long, at least
LEAST_ROUNDS, LEAST_NS, MOST_NS = 0.9, 80_000_000, 2_000_000_000
#: entering it, one acknowledgement lowers the window to this part of it; leaving it raises it again
FALL, RISE = 0.75, 1.25
#: before, it had at least this part of its largest window in so many round trips: a later BBR also lowers
#: it in steps
STEADY, STEADY_ROUNDS = 0.85, 10
#: Linux's word for a reduction by ECN: its BBR does not reduce then
_ECN_ONLY = "cwr"


@dataclass(frozen=True)
class LowStage:
    """One ProbeRTT, at the sender.

    ``enter_ns``: the window fell. ``low_ns``: the flight had fallen to it; None if the stack's
    count of its flight does not show it. ``leave_ns``: the window rose again. ``packets``: the
    window in between. ``wait_ns``: the longest time in it between two acknowledgements, or
    sendings: only then can a sender notice that it is over.
    """

    enter_ns: int
    low_ns: int | None
    leave_ns: int
    packets: float
    wait_ns: int


def waits_s(stages: Sequence[LowStage]) -> FloatArray:
    """Seconds from the end of each stage to the beginning of the next, shape (n − 1,)."""
    waits = [after.enter_ns - before.leave_ns for before, after in pairwise(stages)]
    return np.array(waits, np.float64) / NS_PER_S


def low_stages(trace: FlowTrace) -> list[LowStage]:
    """The stages by the stack's own window, its states if it exports them, and the packets for the unit."""
    rows = trace.transport.filter(pl.col("cwnd_bytes").is_not_null())
    segment = segment_bytes(trace)
    # none of the packets may carry payload
    if not rows.height or segment < 1:
        return []
    time_ns, cwnd = int64(rows, "time_ns"), int64(rows, "cwnd_bytes")
    words = words_of(rows["state"], PROBE_RTT)
    if words:
        inside = rows["state"].is_in(words).fill_null(False).to_numpy()
        edges = np.diff(np.concatenate(([0], inside.astype(np.int8))))
        enters, leaves = np.flatnonzero(edges == 1).tolist(), np.flatnonzero(edges == -1).tolist()
        last = len(rows) - 1
        if len(enters) > len(leaves) and time_ns[last] - time_ns[enters[-1]] > MOST_NS:
            # it lasts beyond the trial's end, and longer than any ProbeRTT should
            leaves.append(last)
        pairs = list(zip(enters, leaves, strict=False))
    else:
        pairs = _windows_falls(rows, time_ns, cwnd, trace)
    # the last packet that fits in need not fill the window
    fits = (rows["in_flight_bytes"] < rows["cwnd_bytes"] + segment).fill_null(False).to_numpy()
    found = []
    for enter, leave in pairs:
        lows = enter + np.flatnonzero(fits[enter:leave])
        found.append(
            LowStage(
                enter_ns=int(time_ns[enter]),
                low_ns=int(time_ns[lows[0]]) if len(lows) else None,
                leave_ns=int(time_ns[leave]),
                packets=float(np.median(cwnd[enter + (leave - enter) // 2 : leave])) / segment,
                wait_ns=int(np.diff(time_ns[lows[0] if len(lows) else enter : leave + 1]).max()),
            )
        )
    return plausible(found, trace, is_named=bool(words))


def _windows_falls(
    rows: pl.DataFrame, time_ns: Int64Array, cwnd: Int64Array, trace: FlowTrace
) -> list[tuple[int, int]]:
    falls = np.flatnonzero(cwnd[1:] < FALL * cwnd[:-1]) + 1
    rises = np.append(np.flatnonzero(cwnd[1:] > RISE * cwnd[:-1]) + 1, len(cwnd))
    next_rises = rises[np.searchsorted(rises, falls, side="right").clip(max=len(rises) - 1)]
    earlier = np.minimum(np.searchsorted(time_ns, time_ns[falls] - STEADY_ROUNDS * trace.rtt_ns), falls - 1)
    in_recovery = _by_losses(rows, time_ns, falls, trace)
    return [
        (fall, rise)
        for fall, rise, since, by_loss in zip(
            falls.tolist(), next_rises.tolist(), earlier.tolist(), in_recovery.tolist(), strict=True
        )
        if rise < len(cwnd)
        and time_ns[rise] - time_ns[fall] < MOST_NS
        # the window does not move in between, or a congestion event is what lowered it
        and np.ptp(cwnd[fall:rise]) == 0
        and not by_loss
        and cwnd[fall - 1] >= STEADY * cwnd[since:fall].max()
    ]


def _by_losses(rows: pl.DataFrame, time_ns: Int64Array, falls: Int64Array, trace: FlowTrace) -> BoolArray:
    """Which of the falls are of loss recovery: Linux's BBR keeps what is in flight for a round trip."""
    losses_ns = int64(trace.transport.filter(pl.col("event") == "loss"), "time_ns")
    at_loss = np.searchsorted(losses_ns, time_ns[falls], side="right") > np.searchsorted(
        losses_ns, time_ns[falls - 1]
    )
    words = [word for word in words_of(rows["state"], RECOVERY) if word != _ECN_ONLY]
    in_recovery = rows["state"].is_in(words).fill_null(False).to_numpy()
    return np.asarray(at_loss | in_recovery[falls])


def plausible(stages: list[LowStage], trace: FlowTrace, *, is_named: bool = False) -> list[LowStage]:
    """The stages after the first round trips with the duration of a ProbeRTT; any, if the log names them.

    Four packets for each round trip are sent in one: a flow that falls silent waits for a timeout, which
    also lowers its window for a while.
    """
    least_ns = max(LEAST_ROUNDS * trace.rtt_ns, LEAST_NS)
    silent = silences_within(trace, [(stage.enter_ns, stage.leave_ns) for stage in stages])
    return [
        stage
        for stage, is_silent in zip(stages, silent, strict=True)
        if not is_silent
        and stage.enter_ns > trace.start_ns + WARM_UP_ROUNDS * trace.rtt_ns
        and (is_named or least_ns <= stage.leave_ns - (stage.low_ns or stage.enter_ns) <= MOST_NS)
    ]
