"""BBR's ProbeRTT: its interval, its duration, and the flight that it keeps.

draft-cardwell-iccrg-bbr-congestion-control-00, section 4.3.5, and Linux's ``tcp_bbr.c``: after
10 s without a lower RTT, 4 packets for 200 ms and a round trip. BBRv2 and BBRv3
(draft-ietf-ccwg-bbr): after 5 s, half a BDP.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from cambrian.metrics.columns import NS_PER_MS, NS_PER_S, int64
from cambrian.metrics.parameters.bbr_low_stages import LowStage, waits_s
from cambrian.metrics.parameters.estimate import Estimate, Missing, Source
from cambrian.metrics.parameters.flow_trace import FlowTrace

KEYS = ("probe_rtt_interval_s", "probe_rtt_duration_ms", "probe_rtt_packets", "probe_rtt_gain")
#: how many packets of the window are not resolved, and which share of it: a gain's window is of the
#: round trip that the flow itself knows
PACKETS_RESOLUTION: dict[Source, float] = {"window": 0.5, "packets": 1.5}
SHARE_RESOLUTION: dict[Source, float] = {"window": 0.03, "packets": 0.05}
#: a window of no more than this is meant in packets, not in BDP
FEW_PACKETS = 8
#: the least window of a sender may be its initial one (14,720 bytes, RFC 9002), as in quiche's BBRv2. It
#: decides if it is larger than the drafts' half of a BDP
LEAST_WINDOW_PACKETS, DRAFTS_GAIN = 12.5, 0.5
#: of fewer in a round trip, four are too many to show when ProbeRTT ends
FEWEST_PACKETS = 2 * FEW_PACKETS
#: a lower RTT starts the wait for the next ProbeRTT anew; waits that exceed the least by more had one
SAME_WAIT = 0.02
#: ProbeRTT lasts 200 ms and a round trip at least: on longer paths than this, the round trip decides
LONGEST_TRIP_MS = 180.0


def may_be_least(stages: Sequence[LowStage], bdp: float) -> bool:
    """May the window in these stages be the least that the sender takes, and no part of the BDP?"""
    usual = float(np.median([stage.packets for stage in stages]))
    return max(DRAFTS_GAIN * bdp, FEW_PACKETS) < usual <= LEAST_WINDOW_PACKETS


def estimates_from_stages(
    stages: Sequence[LowStage], trace: FlowTrace, bdp: float, source: Source, *, least: bool
) -> Iterator[Estimate | Missing]:
    """ProbeRTT's parameters from at least one stage.

    ``bdp``: the flow's, in packets. ``least``: :func:`may_be_least` by the best source.
    """
    yield _interval(stages, source)
    if source == "packets" and bdp < FEWEST_PACKETS:
        why = (
            "the path holds few packets, which come once a round trip in ProbeRTT, so they show its end late"
        )
        yield Missing("probe_rtt_duration_ms", why, source)
    else:
        yield _duration(stages, trace, source)
    packets = np.array([stage.packets for stage in stages])
    share = SHARE_RESOLUTION[source]
    usual = float(np.median(packets))
    half = max(PACKETS_RESOLUTION[source], share * usual)
    yield Estimate("probe_rtt_packets", tuple(packets.tolist()), half, source)
    if usual <= FEW_PACKETS:
        yield Missing("probe_rtt_gain", "the window is a fixed number of packets", source)
    elif least:
        why = "the path holds few packets, so the window may be the least that the sender takes"
        yield Missing("probe_rtt_gain", why, source)
    elif not trace.steady or not bdp:
        yield Missing("probe_rtt_gain", trace.changing, source)
    else:
        yield Estimate("probe_rtt_gain", tuple((packets / bdp).tolist()), half / bdp, source)


def _interval(stages: Sequence[LowStage], source: Source) -> Estimate | Missing:
    """The time from the end of one stage to the beginning of the next.

    BBR's clock starts with the last lowest RTT, somewhere within the first of the two.
    """
    if len(stages) < 2:
        return Missing("probe_rtt_interval_s", f"{len(stages)} ProbeRTT in the trial", source)
    waits = waits_s(stages)
    least = waits[waits <= (1 + SAME_WAIT) * waits.min()]
    if len(least) < 2:
        why = "no two waits are equally short: lower RTTs may have restarted them"
        return Missing("probe_rtt_interval_s", why, source)
    within_s = float(np.median([stage.leave_ns - stage.enter_ns for stage in stages])) / NS_PER_S
    return Estimate("probe_rtt_interval_s", tuple(least.tolist()), within_s, source)


def _duration(stages: Sequence[LowStage], trace: FlowTrace, source: Source) -> Estimate | Missing:
    """The time with a low window. An acknowledgement ends it, so half of the longest wait is subtracted."""
    if not trace.steady:
        return Missing("probe_rtt_duration_ms", trace.changing, source)
    whole = [stage for stage in stages if stage.low_ns is not None]
    if not whole:
        return Missing("probe_rtt_duration_ms", "the trace does not show when the flight was low", source)
    trip_ms = max(_round_trip_ms(stage, trace) for stage in whole)
    if trip_ms > LONGEST_TRIP_MS:
        why = f"a round trip of up to {trip_ms:.0f} ms may decide when ProbeRTT ends"
        return Missing("probe_rtt_duration_ms", why, source)
    wait_ms = float(np.median([stage.wait_ns for stage in whole])) / NS_PER_MS
    lasted_ms = np.array([stage.leave_ns - (stage.low_ns or 0) for stage in whole]) / NS_PER_MS
    return Estimate("probe_rtt_duration_ms", tuple((lasted_ms - wait_ms / 2).tolist()), wait_ms / 2, source)


def _round_trip_ms(stage: LowStage, trace: FlowTrace) -> float:
    """The longest round trip of a packet that is sent while the flight is low, queueing included."""
    since_ns = (stage.low_ns or stage.enter_ns) + trace.forward_ns
    until_ns = stage.leave_ns + trace.forward_ns
    inside = trace.packets.filter(
        pl.col("arrival_ns").is_between(since_ns, until_ns) & pl.col("departure_ns").is_not_null()
    )
    if not inside.height:
        return trace.rtt_ms
    waits_ns = int64(inside, "departure_ns") - int64(inside, "arrival_ns")
    return trace.rtt_ms + float(waits_ns.max()) / NS_PER_MS
