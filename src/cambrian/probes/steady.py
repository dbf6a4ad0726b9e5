"""Measures of a flow in its steady state: throughput, queueing delay, silences, and sizes of its frames."""

from __future__ import annotations

from cambrian.metrics import pauses
from cambrian.metrics.columns import NS_PER_MS, NS_PER_S, int64, to_mbps
from cambrian.metrics.parameters import window
from cambrian.probes.figures import Figure, NoFigure
from cambrian.probes.probed_flow import DATA, ProbedFlow


def carried_mbps(flow: ProbedFlow) -> Figure | NoFigure:
    """Throughput at the bottleneck (frames) after the first slow start."""
    span_ns = flow.trace.end_ns - flow.settled_ns
    if span_ns <= 0:
        return NoFigure("the trial ends before the flow's first slow start is over")
    waited = int64(flow.carried, "departure_ns") - int64(flow.carried, "arrival_ns")
    trip_s = (flow.trace.rtt_ns + (float(waited.mean()) if len(waited) else 0.0)) / NS_PER_S
    return Figure(to_mbps(float(int64(flow.carried, "size_bytes").sum()), span_ns), 1, trip_s=trip_s)


def delay_ms(flow: ProbedFlow) -> Figure | NoFigure:
    """Mean queueing delay of the packets that departed."""
    if not flow.carried.height:
        return NoFigure("no packet departed after the flow's first slow start")
    waited = int64(flow.carried, "departure_ns") - int64(flow.carried, "arrival_ns")
    return Figure(float(waited.mean()) / NS_PER_MS, 1)


def loss_silence_trips(flow: ProbedFlow) -> Figure | NoFigure:
    """Second longest time without data soon after a drop or mark, in round trips without queueing.

    Counts after the first slow start. No figure if there is a silence without such a cause
    (:func:`cambrian.metrics.pauses.causeless_silences_s`), which may be the application's: another one may
    follow a drop by chance.
    """
    trip_ns = int(flow.flight.round_trip_ns.max(initial=flow.trace.rtt_ns))
    where = (flow.trace.packets, flow.settled_ns, flow.trace.end_ns, trip_ns)
    if pauses.causeless_silences_s(*where):
        return NoFigure("it is also silent where the queue neither drops nor marks a packet before")
    silence_ns = pauses.loss_silence_ns(*where)
    if silence_ns is None:
        return NoFigure("the queue neither drops nor marks a packet after the flow's first slow start")
    return Figure(silence_ns / flow.trace.rtt_ns, 1)


def usual_frame_bytes(flow: ProbedFlow) -> Figure | NoFigure:
    """Median frame size, by bytes: frames of at least this size carry half of the bytes."""
    if not len(flow.sizes_bytes):
        return NoFigure("the flow sent nothing after its first slow start")
    return Figure(float(window.frame_of_share(flow.sizes_bytes, 0.5)), len(flow.sizes_bytes))


def full_percent(flow: ProbedFlow) -> Figure | NoFigure:
    """Percentage of a bulk flow's packets that have at least half of its full frame.

    A sender need not fill its frames evenly: records of the application and padding make sizes differ. Silly
    windows and small packets beside large ones are below half.
    """
    if not len(flow.sizes_bytes):
        return NoFigure("the flow sent nothing after its first slow start")
    full = flow.sizes_bytes >= DATA * window.frame_of_share(flow.sizes_bytes, window.FULL_SHARE)
    return Figure(100 * float(full.mean()), len(flow.sizes_bytes))
