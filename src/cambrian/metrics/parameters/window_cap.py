"""The largest window: its maximum while it is constant, fully used, and without losses."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cambrian.metrics.parameters.estimate import Estimate, Missing
from cambrian.metrics.parameters.flight import Flight
from cambrian.metrics.parameters.flow_trace import FlowTrace
from cambrian.metrics.parameters.window import Window

#: a window within this of its maximum is at it, in segments
AT_MOST = {"window": 0.01, "packets": 1.5}
#: so much of the flow's life it must be there
SHARE_OF_LIFE = 0.25
#: and so much of it be in flight
USED_SHARE = 0.9


def estimates(trace: FlowTrace, window: Window, flown: Window, found: Flight) -> Iterator[Estimate | Missing]:
    """The cap in segments. ``flown``: the flight's envelope, which says whether the window was used."""
    w, time_ns = window.segments, window.time_ns
    if len(w) < 2 or not w.any() or not len(flown.segments):
        yield Missing("max_window_packets", "no window", window.source)
        return
    most = float(w.max())
    full = w >= most - AT_MOST[window.source]
    at_most_ns = np.diff(time_ns, append=time_ns[-1:])[full].sum()
    since_ns, until_ns = time_ns[full][[0, -1]]
    sent_ns = found.signal_ns - trace.forward_ns
    lost = ((sent_ns > since_ns) & (sent_ns < until_ns)).any()
    at = np.searchsorted(flown.time_ns, time_ns[full], side="right") - 1
    used = float(np.median(flown.segments[np.maximum(at, 0)])) / most
    if lost or at_most_ns < SHARE_OF_LIFE * (trace.end_ns - trace.start_ns) or used < USED_SHARE:
        why = "the window never stays at a maximum that the flow fills"
        yield Missing("max_window_packets", why, window.source)
        return
    yield Estimate("max_window_packets", (most,), 1.0 if window.source == "window" else 2.0, window.source)
