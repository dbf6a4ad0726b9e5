"""The bandwidth-delay product from a BBR flow's view: its own rate times the round trip."""

from __future__ import annotations

import numpy as np

from cambrian.metrics.columns import BITS_PER_BYTE, FloatArray, departed, int64
from cambrian.metrics.parameters.bbr_settled import in_silence, says_probe_bw
from cambrian.metrics.parameters.flow_trace import FlowTrace
from cambrian.metrics.parameters.window import segment_bytes

#: BBR keeps the largest rate of some round trips: more than the median, less than what probing finds
OF_ROUNDS = 0.75
#: a window lets out no more than itself in a round trip: one that is so much smaller has another unit
OTHER_UNIT = 20
#: a flow that usually carries less than this part of what the link could leaves a part of it unused
FULL_SHARE = 0.97


def bdp_packets(carried: FloatArray) -> float:
    """Upper quartile of the packets that left the bottleneck in a round trip; 0 if none did.

    ``carried``: by :func:`carried_packets`.
    """
    return float(np.quantile(carried, OF_ROUNDS)) if len(carried) else 0.0


def carried_packets(trace: FlowTrace, frame_bytes: int) -> FloatArray:
    """Packets that left the bottleneck in each round trip that counts.

    ``frame_bytes``: size of a full frame of the flow, one packet. Silences do not count, and only round
    trips in ProbeBW, if the log tells: a flow that stays in ProbeRTT carries a part of its path's product.
    """
    left = departed(trace.packets)
    if not left.height:
        return np.empty(0)
    edges = np.arange(trace.start_ns, trace.end_ns, trace.rtt_ns)
    carried, _ = np.histogram(int64(left, "departure_ns"), edges, weights=int64(left, "size_bytes"))
    probing = says_probe_bw(trace, edges[:-1])
    sends = ~in_silence(trace, edges[:-1])
    if probing is not None and (probing & sends).any():
        sends &= probing
    return np.asarray(carried[sends] / frame_bytes, np.float64)


def window_has_other_unit(trace: FlowTrace, bdp: float) -> bool:
    """Is the window in the log so small that its unit cannot be bytes? ``bdp``: the flow's, in packets."""
    usual = trace.transport["cwnd_bytes"].median()
    return usual is not None and segment_bytes(trace) * bdp > OTHER_UNIT * float(usual)  # type: ignore[arg-type]


def link_packets(trace: FlowTrace, frame_bytes: int) -> float:
    """Full frames that the link carries in a round trip without queueing; the link's rate must be known."""
    return (trace.rate_mbps or 0.0) * 1e3 * trace.rtt_ms / (BITS_PER_BYTE * max(frame_bytes, 1))


def unfilled_packets(carried: FloatArray, trace: FlowTrace, frame_bytes: int) -> float | None:
    """Packets that the flow usually carries in a round trip; None if it fills the link, or is not alone."""
    if not trace.alone or not len(carried):
        return None
    # a round trip holds a whole number of packets
    usual = float(np.median(carried)) + 1
    return usual if usual < FULL_SHARE * link_packets(trace, frame_bytes) else None


def why_unfilled(trace: FlowTrace) -> str:
    """Why a flow with :func:`unfilled_packets` carries less than the link could, as a clause."""
    if trace.random_loss:
        return "the path loses packets before the link"
    return "it leaves a part of the link unused"
