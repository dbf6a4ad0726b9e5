"""All parameters of loss-based controllers, from the window and from packets alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from cambrian.metrics.parameters import (
    acks,
    cubic_curve,
    decrease,
    flight_reductions,
    increase,
    reductions,
    rollback,
    window,
    window_cap,
)
from cambrian.metrics.parameters.epochs import epochs
from cambrian.metrics.parameters.estimate import Estimate, Missing, of_share
from cambrian.metrics.parameters.flight import Flight, flight
from cambrian.metrics.parameters.flow_trace import FlowTrace
from cambrian.metrics.parameters.reductions import Reductions
from cambrian.metrics.parameters.window import Window

#: families with a model of bandwidth, whose windows fall for other reasons
_OTHERS = ("bbr",)
#: in segments of the sender's at that time
_IN_SEGMENTS = ("alpha", "cubic_c")
#: what is looked for in every family, and besides in each
_ALWAYS = ("beta", "rollback_share", "max_window_packets")
_BY_FAMILY = {
    "reno": ("alpha", "emulated_connections"),
    "cubic": ("beta_again", "emulated_connections", *cubic_curve.PARAMETERS),
}


def estimate(trace: FlowTrace) -> Iterator[Estimate | Missing]:
    """β, fast convergence, C, K, α, N, rollback and the largest window; none for BBR."""
    if trace.family in _OTHERS:
        return
    growth = window.frame_growth(trace)
    for one in _estimates(trace):
        if isinstance(one, Estimate) and one.parameter in _IN_SEGMENTS:
            # with smaller packets than the full ones it was so much larger
            yield replace(one, resolution=one.resolution + (growth - 1) * abs(one.value))
        else:
            yield one


def _estimates(trace: FlowTrace) -> Iterator[Estimate | Missing]:
    found = flight(trace.packets, trace.rtt_ns)
    flown = window.of_flight(trace, found)
    acknowledged = acks.most(trace)
    if trace.has_window and len(found.arrival_ns):
        own = window.of_stack(trace)
        events = reductions.in_window(own, found, trace.forward_ns)
        yield from _of(trace, own, events, found, flown, acknowledged)
    why = trace.hidden or _rare_acks(trace)
    if why is not None:
        for parameter in _BY_FAMILY.get(trace.family, ()) + _ALWAYS:
            yield Missing(parameter, why, "packets")
        return
    events = flight_reductions.in_flight(trace, found, flown)
    yield from _of(trace, flown, events, found, flown, acknowledged)


def _rare_acks(trace: FlowTrace) -> str | None:
    """Why the flight's envelope is not the window, if each acknowledgement releases many packets."""
    departed = (trace.packets["outcome"] == "departed").sum()
    if not trace.acks or departed <= window.ENVELOPE_PACKETS * trace.acks:
        return None
    return f"one acknowledgement for {departed / trace.acks:.0f} packets hides the window"


def _of(
    trace: FlowTrace, own: Window, events: Reductions, found: Flight, flown: Window, acknowledged: float
) -> Iterator[Estimate | Missing]:
    """What one source shows. ``acknowledged``: packets for each acknowledgement."""
    source = own.source
    signals = reductions.signals(events, found, trace.forward_ns)
    unexplained = np.zeros(len(events), bool)
    if source == "window":
        known = reductions.causeless(events, found, own, trace)
        yield _unexplained(known)
        if known is not None:
            unexplained = known.cuts
        yield rollback.in_recovery(events, own, found, trace, unexplained)
    left = list(decrease.estimates(events, trace.family, source, signals, unexplained, acknowledged))
    yield from left
    yield from rollback.estimates(events, source, signals.only_marks, "" if trace.steady else trace.changing)
    yield from window_cap.estimates(trace, own, flown, found)
    if trace.family == "reno":
        yield from increase.estimates(trace, own, events)
    if trace.family == "cubic" and not trace.steady:
        # while the path changes, a window does not follow its law of growth
        for parameter in cubic_curve.PARAMETERS:
            yield Missing(parameter, trace.changing, source)
    elif trace.family == "cubic":
        seen = epochs(trace, own, events)
        # what a controller does after a cut of another cause is not the law's
        seen = seen.only(~unexplained[seen.number])
        depth = decrease.depth_below_maximum(events)[seen.number]
        beta = next((one.value for one in left if isinstance(one, Estimate) and one.parameter == "beta"), 1.0)
        yield from cubic_curve.estimates(seen, depth, beta, trace.rtt_ms / 1e3, source)


def _unexplained(known: reductions.Causeless | None) -> Estimate | Missing:
    if known is None:
        return Missing("unexplained_cuts", "path or log do not show each loss")
    count = int((~known.allowed).sum())
    if not count:
        return Missing("unexplained_cuts", "no congestion event")
    return of_share("unexplained_cuts", int((known.cuts & ~known.allowed).sum()), count, "window")
