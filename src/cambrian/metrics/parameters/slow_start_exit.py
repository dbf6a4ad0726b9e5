"""The end of slow start: by a loss, or by delay before a loss (HyStart; HyStart++, RFC 9406).

In slow start the window grows by the acknowledged bytes. If this ends before the sender can know of a loss,
delay or a long train of acknowledgements ended it. After HyStart the window then hardly grows; HyStart++
continues for five round trips with a quarter of slow start's growth. An end before the bottleneck has a
queue, or half its BDP in flight, is caused by neither: ``other``. Measured in the exported window, and in the
flight of a sender without pacing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from cambrian.metrics.columns import BITS_PER_BYTE, FloatArray, Int64Array
from cambrian.metrics.parameters import trains
from cambrian.metrics.parameters.beginning import Beginning, beginning
from cambrian.metrics.parameters.definitions import PARAMETERS
from cambrian.metrics.parameters.epochs import acknowledged
from cambrian.metrics.parameters.estimate import Estimate, Missing, Source
from cambrian.metrics.parameters.flight import flight
from cambrian.metrics.parameters.flow_trace import FlowTrace
from cambrian.metrics.parameters.pacing import MOST_UNPACED, clocked_share, first_trains
from cambrian.metrics.parameters.window import frame_bytes, of_stack, segment_bytes
from cambrian.metrics.recovery.episodes import REACTIONS, RECOVERING
from cambrian.metrics.states.vocabulary import CONSERVATIVE_SLOW_START, words_of
from cambrian.metrics.window_use import is_unused_at

KEY = "slow_start_exit"
_KINDS = PARAMETERS[KEY].kinds
#: growth over what was acknowledged: of slow start at least, of conservative slow start at least
_SLOW_START = 0.4
_CONSERVATIVE = 0.15
#: over how much growth is seen: segments at least, and share of the window
_LOOK_BACK_SEGMENTS = 8
_LOOK_BACK_SHARE = 0.1
#: share of a round trip after the end that must be seen to tell HyStart++ from HyStart
_SEEN_AFTER = 0.15
#: HyStart looks for a delay of at least this (RFC 9406 section 4.3: MIN_RTT_THRESH)
_LEAST_DELAY_NS = 4_000_000
#: and for trains of half a round trip: as much in flight, of the BDP, less what is not sure of it
_LEAST_BDP = 0.4
#: round trips after the first data in which slow start is looked for
_MOST_ROUNDS = 200
#: a window that does not grow in so many round trips, with no loss, is at a limit
_LIMIT_TRIPS = 30


@dataclass(frozen=True)
class _Growth:
    """The window against what was acknowledged by then, in full segments, up to the first loss known."""

    time_ns: Int64Array
    segments: FloatArray
    acknowledged: FloatArray
    frame_bytes: int
    ends_by_loss: bool


def estimate(trace: FlowTrace) -> Iterator[Estimate | Missing]:
    """The kind of the end, from the window and from the flight; none for BBR."""
    if trace.family == "bbr":
        return
    begun = beginning(trace)
    sources: tuple[Source, ...] = ("window", "packets") if trace.has_window else ("packets",)
    for source in sources:
        if begun is None:
            yield Missing(KEY, "the flow sends only a first flight, or its handshake lost packets", source)
        elif not trace.steady or (source == "packets" and trace.random_loss):
            lost = "the path loses packets before the capture point"
            yield Missing(KEY, lost if trace.steady else trace.changing, source)
        elif trace.slow_receiver:
            yield Missing(KEY, "a slow receiver acknowledges late, at times that are unknown", source)
        elif source == "packets" and clocked_share(*first_trains(trace, begun)) > MOST_UNPACED:
            yield Missing(
                KEY, "because of pacing the flight does not follow the window in slow start", source
            )
        else:
            yield _of(trace, begun, source)


def _of(trace: FlowTrace, begun: Beginning, source: Source) -> Estimate | Missing:
    growth = _growth(trace, begun, source)
    slopes = _slopes(growth)
    if not (slopes >= _SLOW_START).any():
        return Missing(KEY, "the window does not grow as in slow start", source)
    at = _end(growth, slopes)
    if at is None:
        if growth.ends_by_loss:
            return _found("loss", source)
        return Missing(KEY, "slow start lasts to the end of the trace", source)
    if is_unused_at(trace.transport, int(growth.time_ns[at]), segment_bytes(trace)):
        return Missing(KEY, "when growth stops, the window is not in use", source)
    if _is_at_its_limit(growth, at, trace.rtt_ns):
        return Missing(KEY, "the window stays at the size that it then has", source)
    if source == "window" and _says_conservative(trace, growth):
        return _found("hystart++", source)
    return _before_loss(trace, growth, at, source)


def _before_loss(trace: FlowTrace, growth: _Growth, at: int, source: Source) -> Estimate | Missing:
    """The kind of an end at row ``at``, before a loss is known."""
    after = _slope_after(growth, at)
    if after is None and growth.ends_by_loss:
        why = "it ends before a loss; the loss comes too soon to tell what ended it"
        return Missing(KEY, why, source)
    if not _delay_or_train(trace, growth, at):
        return _found("other", source)
    if after is None:
        return Missing(KEY, "the trace ends too soon after it to tell HyStart++ from HyStart", source)
    return _found("hystart++" if after >= _CONSERVATIVE else "hystart", source)


def _end(growth: _Growth, slopes: FloatArray) -> int | None:
    """The first row at which growth stops and does not go on as in slow start; None without one."""
    for at in np.flatnonzero(slopes < _SLOW_START).tolist():
        after = _slope_after(growth, at)
        if after is None or after < _SLOW_START:
            return int(at)
    return None


def _is_at_its_limit(growth: _Growth, at: int, rtt_ns: int) -> bool:
    """Does the window stay as it is, although no loss comes? After HyStart it grows, but slowly."""
    after = growth.segments[at:]
    waited_ns = growth.time_ns[-1] - growth.time_ns[at]
    return bool(waited_ns >= _LIMIT_TRIPS * rtt_ns and after.max() < after[0] + 1)


def _says_conservative(trace: FlowTrace, growth: _Growth) -> bool:
    before = trace.transport.filter(pl.col("time_ns") <= int(growth.time_ns[-1]))
    return bool(words_of(before["state"], CONSERVATIVE_SLOW_START))


def _found(kind: str, source: Source) -> Estimate:
    return Estimate(KEY, (float(_KINDS.index(kind)),), 0.0, source, kind)


def _growth(trace: FlowTrace, begun: Beginning, source: Source) -> _Growth:
    horizon_ns = begun.start_ns + _MOST_ROUNDS * trace.rtt_ns
    early = replace(
        trace,
        packets=trace.packets.filter(pl.col("arrival_ns") < horizon_ns),
        transport=trace.transport.filter(pl.col("time_ns") < horizon_ns),
    )
    found, size = flight(early.packets, early.rtt_ns), max(1, frame_bytes(early))
    loss_ns = min(_loss_known_ns(early, found.learnt_ns), horizon_ns)
    if source == "window":
        window = of_stack(early)
        time_ns, segments = window.time_ns, window.segments
    else:
        time_ns = found.arrival_ns - trace.forward_ns
        segments = found.flight_bytes / size
    # only the last row of an acknowledgement has all its growth; just before the next one is answered the
    # flight is the window
    together_ns = trains.together(early, found.size_bytes)
    last = np.append(np.diff(time_ns) > together_ns, True)[: len(time_ns)]
    time_ns, segments = time_ns[last], segments[last]
    chosen = (time_ns >= begun.start_ns - trace.forward_ns) & (time_ns < loss_ns)
    time_ns, segments = time_ns[chosen], segments[chosen]
    ends_by_loss = loss_ns < min(trace.end_ns, horizon_ns)
    return _Growth(time_ns, segments, acknowledged(early, time_ns), size, ends_by_loss)


def _loss_known_ns(trace: FlowTrace, learnt_ns: Int64Array) -> int:
    """The sender's time at which it can first know of a loss, or says so; the trial's end if never."""
    told = trace.transport.filter(
        pl.col("event").is_in(REACTIONS)
        | pl.col("state").is_in(words_of(trace.transport["state"], *RECOVERING)).fill_null(False)
    )["time_ns"]
    times = [trace.end_ns, *told.head(1), *(learnt_ns[:1] - trace.forward_ns)]
    return int(min(times))


def _slopes(growth: _Growth) -> FloatArray:
    """Growth over acknowledged segments, over the last few of them; NaN with too few of them."""
    acknowledged, segments = growth.acknowledged, growth.segments
    back = acknowledged - np.maximum(_LOOK_BACK_SEGMENTS, _LOOK_BACK_SHARE * segments)
    before = np.searchsorted(acknowledged, back, side="right") - 1
    length = acknowledged - acknowledged[np.maximum(before, 0)]
    risen = segments - segments[np.maximum(before, 0)]
    known = (before >= 0) & (length > 0)
    return np.where(known, risen / np.maximum(length, 1), np.nan)


def _slope_after(growth: _Growth, at: int) -> float | None:
    """Growth in the round trip after slow start ended, or in what is left of it."""
    since = growth.acknowledged - growth.acknowledged[at]
    last = int(np.searchsorted(since, growth.segments[at], side="right")) - 1
    if since[last] < _SEEN_AFTER * growth.segments[at]:
        return None
    return float((growth.segments[last] - growth.segments[at]) / since[last])


def _delay_or_train(trace: FlowTrace, growth: _Growth, at: int) -> bool:
    """Was there a delay or a train that HyStart could measure when slow start ended?"""
    time_ns = int(growth.time_ns[at])
    back_ns = trace.back_ns
    recent = trace.packets.filter(
        (pl.col("outcome") == "departed")
        & pl.col("departure_ns").is_between(time_ns - back_ns - trace.rtt_ns, time_ns - back_ns)
    )
    # HyStart looks at a round's least RTT
    waited_ns = (recent["departure_ns"] - recent["arrival_ns"]).min()
    if isinstance(waited_ns, int) and waited_ns >= _LEAST_DELAY_NS:
        return True
    if trace.rate_mbps is None:
        return False
    bdp_bytes = trace.rate_mbps * trace.rtt_ms * 1000 / BITS_PER_BYTE
    return bool(growth.segments[at] * growth.frame_bytes >= _LEAST_BDP * bdp_bytes)
