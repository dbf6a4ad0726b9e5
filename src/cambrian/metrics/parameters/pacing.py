"""Pacing: do packets leave by a timer, and at which multiple of cwnd/sRTT (RFC 9002, section 7.7)?

In steady state acknowledgements set the rate, because a pacer may send faster than they come. Pacing shows
when a sender may send more than was acknowledged: in the first round trips. There a sender without pacing
answers each acknowledgement at once, and a sender with pacing spreads its packets. The share of packets that
no acknowledgement released distinguishes the two; their rate over the window is the factor. BBR's rates have
estimators of their own.

An initial window that leaves in one go, and what a late acknowledgement or a receiver's credit lets go, are
not a pacer's. Where acknowledgements are rare, their times are unknown: then only a sender with more trains
than acknowledgements is paced for sure.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import polars as pl

from cambrian.metrics.columns import (
    BITS_PER_BYTE,
    NS_PER_MS,
    NS_PER_S,
    BoolArray,
    FloatArray,
    Int64Array,
    int64,
)
from cambrian.metrics.parameters.beginning import Beginning, beginning
from cambrian.metrics.parameters.definitions import PARAMETERS
from cambrian.metrics.parameters.estimate import Estimate, Missing
from cambrian.metrics.parameters.flow_trace import FlowTrace
from cambrian.metrics.parameters.trains import ANSWER_NS, Trains, lags_ns, trains
from cambrian.metrics.parameters.window import OVERHEAD_BYTES

KEY = "pacing_factor"
PACING = "pacing"
#: round trips from the first data on in which pacing is looked for
_ROUNDS = 6
#: shares of the packets in them that left by a clock
MOST_UNPACED = 0.01
LEAST_PACED = 0.03
#: an answer later than the shorter of these two, in RTT and in ns, is one to a delayed acknowledgement: 25 ms
#: is QUIC's default max_ack_delay (RFC 9000, section 18.2), and Linux's TCP waits for 40 ms at least
_DELAYED_ACK = 0.4
_DELAYED_ACK_NS = 25_000_000
#: a receiver's timer may be shorter. Then so many of these trains come the same time after an answer, within
#: this share of it; a pacer's times after an answer change as its rate grows. Timers are 2 ms and longer
_SAME_LAG = 0.1
_SAME_LAG_TRAINS = 0.8
_SHORTEST_TIMER_NS = 2_000_000
#: of a loop's trains, so few are nearer to the one before, or later after an acknowledgement, than a tick;
#: and a tick is this much of a timer's time at least, for its clock is the sender's
_FEW = 0.05
_SHORTEST_TICK = 0.95
#: in the first round trip: a train with so much of its packets is the initial window in one go
_ONE_GO = 0.5
#: and no pacer is so many times as fast as cwnd/RTT (BBR's Startup: 2.89); what comes sooner left with the
#: train before it
_FASTEST = 4.0
#: packets for each acknowledgement from which on most times of acknowledgements are unknown: every second is
#: usual, and Linux acknowledges about three where it joins them (GRO)
_RARE_ACKS = 4.0
#: trains for each acknowledgement that acknowledgements alone do not explain: a loop may split its answer,
#: and in slow start a receiver with a timer acknowledges fewer packets at once than later
_TRAINS_AN_ACK = 2.0
#: a sender lets no more go together (RFC 9002, section 7.7), or its initial window if that is larger; more
#: may be a pacer's, or what credit from the receiver lets go
_LARGEST_BURST = 10
#: gaps by the clock that tell a round's rate
_FEWEST_GAPS = 6
#: a packet waits less than this in an empty queue's rounds, in RTT: srtt is the RTT in them
_EMPTY_QUEUE = 0.1
#: error by a pacer's timers and trains, as a share of the factor
_TIMERS = 0.05
#: fewest round trips of a slow start that give a rate
_FEWEST_ROUNDS = 3
#: rounding of an exported pacing rate
_ROUNDING = 0.01


def estimate(trace: FlowTrace) -> Iterator[Estimate | Missing]:
    """Paced or not, and the factor; without the factor for BBR, which has rates of its own."""
    begun = beginning(trace)
    if begun is None or trace.hidden:
        yield Missing(PACING, "no undisturbed first round trips, which would show pacing", "packets")
        share = None
    else:
        start, clocked = first_trains(trace, begun)
        share = clocked_share(start, clocked)
        doubt = _doubt(trace, begun, start, clocked)
        if doubt is not None:
            yield Missing(PACING, doubt, "packets")
            share = None
        elif trace.family == "bbr" and share <= MOST_UNPACED:
            # its window doubles in Startup, so that packets leave in pairs behind each acknowledgement
            why = (
                "in Startup, a BBR whose pacer lets several packets go at once looks like one without a pacer"
            )
            yield Missing(PACING, why, "packets")
        else:
            yield _kind(share)
        if share is not None and share >= LEAST_PACED and trace.family != "bbr":
            yield _from_packets(trace, begun, start, clocked)
    if not trace.has_window or trace.family == "bbr":
        return
    if share is None:
        # stacks export a rate also where they do not use it
        yield Missing(KEY, "packets do not show here whether the logged rate is in use")
    elif share > MOST_UNPACED:
        yield _from_window(trace)


def _kind(share: float) -> Estimate | Missing:
    if MOST_UNPACED < share < LEAST_PACED:
        why = f"{share:.0%} of the first packets left by a timer: inconclusive"
        return Missing(PACING, why, "packets")
    code = int(share >= LEAST_PACED)
    return Estimate(PACING, (float(code),), 0.0, "packets", PARAMETERS[PACING].kinds[code])


def first_trains(trace: FlowTrace, begun: Beginning) -> tuple[Trains, BoolArray]:
    """The trains of the first round trips until the sender knows of a drop; which of them a clock released.

    In the first round trip no data is acknowledged yet; see ``_first_by_clock``.
    """
    end_ns = min(begun.start_ns + _ROUNDS * trace.rtt_ns, _first_drop_ns(trace) + trace.rtt_ns)
    early = replace(trace, packets=trace.packets.filter(pl.col("arrival_ns") < end_ns))
    start = trains(early).between(begun.start_ns, end_ns)
    longest_ns = min(round(_DELAYED_ACK * trace.rtt_ns), _DELAYED_ACK_NS)
    lag_ns = lags_ns(early, start)
    # later still is the answer to a delayed acknowledgement
    clocked: BoolArray = (lag_ns > ANSWER_NS) & (lag_ns < longest_ns)
    first = start.between(begun.start_ns, begun.start_ns + trace.rtt_ns)
    clocked[: len(first)] = _first_by_clock(first, trace.rtt_ns)
    return start, clocked


def _first_by_clock(first: Trains, rtt_ns: int) -> BoolArray:
    """Of the first round trip's trains: those that a clock released.

    A pacer waits after each train for as long as its bytes take at its rate. What comes sooner belongs to the
    same go; and where one train has most of the packets, it is the initial window, and what came before it
    was sent for itself.
    """
    clocked = np.zeros(len(first), np.bool_)
    if len(first) < 2:
        return clocked
    least_ns = first.frame_bytes[:-1] / first.frame_bytes.sum() * rtt_ns / _FASTEST
    clocked[1:] = np.diff(first.start_ns) >= least_ns
    largest = int(np.argmax(first.packets))
    if first.packets[largest] >= _ONE_GO * first.packets.sum():
        clocked[: largest + 1] = False
    return clocked


def _doubt(trace: FlowTrace, begun: Beginning, start: Trains, clocked: BoolArray) -> str | None:
    """Why the share of packets by a clock need not tell whether the sender paces; None if it tells."""
    share = clocked_share(start, clocked)
    if share <= MOST_UNPACED:
        # a pacer may let an initial window go in one burst; slow start sends more then
        in_first = start.start_ns < begun.start_ns + trace.rtt_ns
        few = start.packets[~in_first].sum() < start.packets[in_first].sum()
        return "too few packets after the first round trip and before a drop" if few else None
    if share < LEAST_PACED:
        return None
    lag_ns = _constant_lag_ns(trace, begun, start, clocked)
    if lag_ns is not None:
        why = "which a receiver's timer may delay"
        return f"packets leave {lag_ns / NS_PER_MS:.1f} ms after an acknowledgement is due, {why}"
    tick_ns = _tick_ns(trace, begun, start, clocked)
    if tick_ns is not None:
        apart = f"packets leave {tick_ns / NS_PER_MS:.1f} ms apart or more, each time within that of an ACK"
        return f"{apart}: a loop with a timer does so, too"
    most = max(_LARGEST_BURST, len(begun.sizes_bytes))
    if clocked_share(start, clocked & (start.packets <= most)) < LEAST_PACED:
        return f"more than {most} packets leave together: by a pacer, or by credit from the receiver"
    arrived = int((trace.packets["outcome"] == "departed").sum())
    if not trace.acks or arrived < _RARE_ACKS * trace.acks:
        return None
    every = arrived / trace.acks
    # as many as by a receiver's timer, and as by its count of packets
    length_ns = start.start_ns[-1] - begun.start_ns + trace.rtt_ns
    by_timer = trace.acks * length_ns / max(trace.end_ns - begun.start_ns, 1)
    by_count = start.packets.sum() / every
    number = np.count_nonzero(start.start_ns >= begun.start_ns + trace.rtt_ns)
    if number > max(by_timer, by_count, _TRAINS_AN_ACK * min(by_timer, by_count)):
        return None
    return f"{every:.0f} packets for each acknowledgement, whose times are unknown: they may let packets go"


def _constant_lag_ns(trace: FlowTrace, begun: Beginning, start: Trains, clocked: BoolArray) -> float | None:
    """The time after an answer that nearly all trains by a clock have in common; None if there is none."""
    later = clocked & (start.start_ns >= begun.start_ns + trace.rtt_ns)
    lag_ns = lags_ns(trace, start)[later]
    if not len(lag_ns):
        return None
    usual_ns = float(np.median(lag_ns))
    same = np.abs(lag_ns - usual_ns) <= _SAME_LAG * usual_ns
    return usual_ns if usual_ns >= _SHORTEST_TIMER_NS and same.mean() >= _SAME_LAG_TRAINS else None


def _tick_ns(trace: FlowTrace, begun: Beginning, start: Trains, clocked: BoolArray) -> float | None:
    """The time of a loop that answers acknowledgements at its next tick; None if packets do not leave so.

    Its trains are a tick apart or more, and none leaves later than a tick after an acknowledgement. On a slow
    link the trains of a pacer are so, too: each second packet is acknowledged after 2 ms. But a pacer spreads
    the first round trip's packets, which no acknowledgement releases.
    """
    later = start.start_ns >= begun.start_ns + trace.rtt_ns
    spread = start.packets[clocked & ~later].sum()
    if spread >= _ONE_GO * start.packets[~later].sum():
        return None
    gaps_ns = np.diff(start.start_ns[later])
    if not len(gaps_ns):
        return None
    tick_ns = float(np.quantile(gaps_ns, _FEW))
    latest_ns = float(np.quantile(lags_ns(trace, start)[later], 1 - _FEW))
    return tick_ns if tick_ns >= _SHORTEST_TICK * _SHORTEST_TIMER_NS and latest_ns <= tick_ns else None


def clocked_share(start: Trains, clocked: BoolArray) -> float:
    """Share of the packets in these trains that a clock released; 0 without packets."""
    return float(start.packets[clocked].sum() / max(1, start.packets.sum()))


def _from_packets(
    trace: FlowTrace, begun: Beginning, start: Trains, clocked: BoolArray
) -> Estimate | Missing:
    """A sender in slow start has its initial window and what has been acknowledged since."""
    overhead = OVERHEAD_BYTES[trace.protocol]
    sent = pl.col("arrival_ns").is_between(begun.start_ns, start.start_ns[-1])
    departed = trace.packets.filter((pl.col("outcome") == "departed") & sent)
    acknowledged_ns = int64(departed, "departure_ns") + trace.rtt_ns
    waits = int64(departed, "departure_ns") - int64(departed, "arrival_ns") > _EMPTY_QUEUE * trace.rtt_ns
    settled_ns = acknowledged_ns[np.argmax(waits)] if waits.any() else start.start_ns[-1] + 1
    acknowledged = np.concatenate(([0], np.cumsum(int64(departed, "size_bytes") - overhead)))
    payload = start.frame_bytes - overhead * start.packets
    first_bytes = int(begun.sizes_bytes.sum())
    window_bytes = first_bytes + acknowledged[np.searchsorted(acknowledged_ns, start.start_ns, side="right")]
    # a gap from one train that left by the clock to the next that did
    gaps = np.flatnonzero(clocked[:-1] & clocked[1:] & (start.start_ns[1:] < settled_ns))
    samples, windows = _by_round(trace, begun, gaps, start.start_ns, payload, window_bytes)
    if len(samples) < _FEWEST_ROUNDS:
        why = "paced, but too few packets in a row left by the timer to measure the rate"
        return Missing(KEY, why, "packets")
    unsure = begun.packet_bytes / float(np.median(windows)) + _TIMERS
    return Estimate(KEY, tuple(samples), unsure * float(np.median(samples)), "packets")


def _by_round(
    trace: FlowTrace,
    begun: Beginning,
    gaps: Int64Array,
    start_ns: Int64Array,
    payload: Int64Array,
    window_bytes: Int64Array,
) -> tuple[list[float], list[float]]:
    """Each round trip's factor, from its gaps: bytes sent over those that cwnd/sRTT would have sent."""
    length_ns = start_ns[gaps + 1] - start_ns[gaps]
    allowed = length_ns * window_bytes[gaps] / trace.rtt_ns
    number = (start_ns[gaps] - begun.start_ns) // trace.rtt_ns
    samples, windows = [], []
    for one in np.unique(number):
        chosen = number == one
        if chosen.sum() >= _FEWEST_GAPS:
            samples.append(float(payload[gaps][chosen].sum() / allowed[chosen].sum()))
            windows.append(float(np.mean(window_bytes[gaps][chosen])))
    return samples, windows


def _from_window(trace: FlowTrace) -> Estimate | Missing:
    """The stack's own pacing rate over its window and smoothed RTT: one value per second."""
    rows = trace.transport.drop_nulls(["pacing_bps", "cwnd_bytes", "srtt_us"]).filter(
        (pl.col("pacing_bps") > 0) & (pl.col("cwnd_bytes") > 0) & (pl.col("srtt_us") > 0)
    )
    if not rows.height:
        return Missing(KEY, "the stack does not export its pacing rate")
    rate = int64(rows, "cwnd_bytes") * BITS_PER_BYTE * 1e6 / int64(rows, "srtt_us")
    factors = int64(rows, "pacing_bps") / rate
    return Estimate(KEY, _each_second(int64(rows, "time_ns"), factors), _ROUNDING, "window")


def _each_second(time_ns: Int64Array, values: FloatArray) -> tuple[float, ...]:
    seconds = pl.DataFrame({"second": time_ns // NS_PER_S, "value": values})
    medians = seconds.group_by("second", maintain_order=True).median()["value"]
    return tuple(float(value) for value in medians)


def _first_drop_ns(trace: FlowTrace) -> int:
    dropped = trace.packets.filter(pl.col("outcome") == "dropped")["arrival_ns"]
    return int(dropped[0]) if len(dropped) else trace.end_ns
