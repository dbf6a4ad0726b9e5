"""The bandwidth-delay product from a BBR flow's view: its own rate times the round trip."""

from __future__ import annotations

import numpy as np

from cambrian.metrics.columns import BITS_PER_BYTE, departed, int64
from cambrian.metrics.parameters.bbr_settled import in_silence, says_probe_bw
from cambrian.metrics.parameters.flow_trace import FlowTrace
from cambrian.metrics.parameters.window import segment_bytes

#: BBR keeps the largest rate of some round trips: more than the median, less than what probing finds
OF_ROUNDS = 0.75
#: a window lets out no more than itself in a round trip: one that is so much smaller has another unit
OTHER_UNIT = 20


def bdp_packets(trace: FlowTrace, frame_bytes: int) -> float:
    """Upper quartile of the packets that left the bottleneck in a round trip; 0 if none did.

    ``frame_bytes``: size of a full frame of the flow, one packet. Silences do not count, and only round
    trips in ProbeBW, if the log tells: a flow that stays in ProbeRTT carries a part of its path's product.
    """
    left = departed(trace.packets)
    if not left.height:
        return 0.0
    edges = np.arange(trace.start_ns, trace.end_ns, trace.rtt_ns)
    carried, _ = np.histogram(int64(left, "departure_ns"), edges, weights=int64(left, "size_bytes"))
    probing = says_probe_bw(trace, edges[:-1])
    sends = ~in_silence(trace, edges[:-1])
    if probing is not None and (probing & sends).any():
        sends &= probing
    carried = carried[sends]
    return float(np.quantile(carried, OF_ROUNDS)) / frame_bytes if len(carried) else 0.0


def window_has_other_unit(trace: FlowTrace, bdp: float) -> bool:
    """Is the window in the log so small that its unit cannot be bytes? ``bdp``: the flow's, in packets."""
    usual = trace.transport["cwnd_bytes"].median()
    return usual is not None and segment_bytes(trace) * bdp > OTHER_UNIT * float(usual)  # type: ignore[arg-type]


def link_packets(trace: FlowTrace, frame_bytes: int) -> float:
    """Full frames that the link carries in a round trip without queueing; the link's rate must be known."""
    return (trace.rate_mbps or 0.0) * 1e3 * trace.rtt_ms / (BITS_PER_BYTE * max(frame_bytes, 1))
