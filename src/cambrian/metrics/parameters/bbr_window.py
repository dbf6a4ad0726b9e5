"""BBR's window in ProbeBW over the flow's BDP, ``cwnd_gain``.

That is its gain, 2 in Linux and the draft, only if its own estimate of the BDP is right and it adds little.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from cambrian.metrics.columns import BITS_PER_BYTE, FloatArray, int64
from cambrian.metrics.parameters import acks, bursts
from cambrian.metrics.parameters.bbr_bdp import why_unfilled
from cambrian.metrics.parameters.bbr_low_stages import LowStage, waits_s
from cambrian.metrics.parameters.bbr_rates import WARM_UP_ROUNDS
from cambrian.metrics.parameters.bbr_settled import (
    LEFT_WINDOW,
    NEVER,
    STILL,
    never_says_probe_bw,
    says_probe_bw,
    settled,
)
from cambrian.metrics.parameters.estimate import Estimate, Missing
from cambrian.metrics.parameters.flow_trace import FlowTrace
from cambrian.metrics.parameters.window import frame_bytes, segment_bytes

KEY = "cwnd_gain"
#: the window at its bound: so near to the most common one, for this share of the time; what recovery
#: from losses lowers or raises it to is something else each time
LEVEL_SPREAD, LEVEL_SHARE = 0.03, 0.2
#: Linux adds to gain · BDP what acknowledgements come bunched, about two of theirs or of a receiver's bunches
#: and three bursts of offload (tcp_bbr.c, bbr_ack_aggregation_cwnd, bbr_quantization_budget;
#: BBR.offload_budget in the drafts)
ADDED_ACKS, ADDED_BURSTS = 2, 3
#: such a burst: what leaves in a millisecond, but at least two packets and at most 64 KiB (bbr_tso_segs_goal;
#: BBR.send_quantum); the flow's own trains, if they are larger: a larger quantum is no larger gain
BURST_S, LEAST_BURST_PACKETS, MOST_BURST_BYTES = 1e-3, 2, 65_536
#: the flow's own smallest RTT and largest bandwidth are this near to ours
SHARE_RESOLUTION = 0.025
#: BBRv2 and v3 come to ProbeRTT after 5 s, BBRv1 after 10
V2_INTERVAL_S = 7.5


def estimate_from_window(
    stages: Sequence[LowStage], trace: FlowTrace, bdp: float, *, left_startup: bool, fills: bool
) -> Estimate | Missing:
    """From the stack's own window.

    ``stages``: its ProbeRTTs; ``bdp``: in packets. ``left_startup``: by its rates the flow left Startup; its
    window may also show it. ``fills``: it fills the link, or is not alone.
    """
    if not trace.alone or not trace.steady or trace.rate_mbps is None:
        why = trace.changing if trace.alone else "the flow's share of the path changes"
        return Missing(KEY, f"{why}, and its largest bandwidth is unknown")
    if len(stages) > 1 and np.median(waits_s(stages)) < V2_INTERVAL_S:
        why = "it is low as often as in BBRv2 and BBRv3, which also bound it by inflight_hi and inflight_lo"
        return Missing(KEY, why)
    if never_says_probe_bw(trace):
        return Missing(KEY, NEVER)
    if not fills:
        return Missing(KEY, f"{why_unfilled(trace)}, and its largest bandwidth is unknown")
    levels = _levels(trace, stages) if bdp else np.empty(0)
    if not len(levels):
        return Missing(KEY, "the window returns to no common value")
    if not left_startup and _stays(trace, float(np.median(levels))):
        return Missing(KEY, STILL)
    frame = frame_bytes(trace)
    every = max(trace.packets.height / trace.acks, 1.0) if trace.acks else 2.0
    every = max(every, acks.in_bunches(trace, frame))
    burst_bytes = min(trace.rate_mbps * 1e6 / BITS_PER_BYTE * BURST_S, MOST_BURST_BYTES)
    trains = [one.value for one in bursts.estimate(trace) if isinstance(one, Estimate)]
    burst = max(LEAST_BURST_PACKETS, burst_bytes / frame, *trains)
    added = ADDED_BURSTS * burst + ADDED_ACKS * every
    if added >= np.median(levels):
        # on a path of few packets the gain may be anything, and its middle less than 0
        why = f"bursts and acknowledgements may add {added:.0f} packets: as many as the window has"
        return Missing(KEY, why)
    gains = (levels - added / 2) / bdp
    half = added / 2 / bdp + SHARE_RESOLUTION * float(np.median(gains))
    return Estimate(KEY, tuple(gains.tolist()), half, "window")


def _levels(trace: FlowTrace, stages: Sequence[LowStage]) -> FloatArray:
    """The window that is most common in ProbeBW, without ProbeRTT and silences: one value a round trip."""
    if (segment := segment_bytes(trace)) < 1:
        return np.empty(0)
    rows = trace.transport.filter(pl.col("cwnd_bytes").is_not_null())
    time_ns, cwnd = int64(rows, "time_ns"), int64(rows, "cwnd_bytes")
    grid = np.arange(trace.start_ns + WARM_UP_ROUNDS * trace.rtt_ns, trace.end_ns, trace.rtt_ns)
    keep = (grid >= time_ns[0]) & settled(trace, grid)
    for stage in stages:
        keep &= (grid < stage.enter_ns) | (grid > stage.leave_ns)
    window: FloatArray = cwnd[np.searchsorted(time_ns, grid[keep], side="right") - 1] / segment
    if not len(window):
        return window
    whole = np.sort(np.round(window))
    centres = np.unique(np.concatenate((whole - 1, whole, whole + 1)).clip(0))
    near = np.searchsorted(whole, centres + 1, "right") - np.searchsorted(whole, centres - 1)
    usual = float(centres[np.argmax(near)])
    level: FloatArray = window[np.abs(window - usual) <= max(LEVEL_SPREAD * usual, 1)]
    return level if len(level) >= LEVEL_SHARE * len(window) else np.empty(0)


def _stays(trace: FlowTrace, level: float) -> bool:
    """The log names no states, and its window was never much above this level in the first round trips."""
    rows = trace.transport.filter(pl.col("cwnd_bytes").is_not_null())
    time_ns = int64(rows, "time_ns")
    if says_probe_bw(trace, time_ns) is not None:
        return False
    early = int64(rows, "cwnd_bytes")[time_ns < trace.start_ns + WARM_UP_ROUNDS * trace.rtt_ns]
    return not np.any(early > LEFT_WINDOW * level * segment_bytes(trace))
