"""ProbeRTT from packets alone: a silence, then a low flight, then the path is filled again."""

from __future__ import annotations

import numpy as np

from cambrian.metrics.columns import BITS_PER_BYTE, NS_PER_S
from cambrian.metrics.parameters.bbr_low_stages import LEAST_ROUNDS, MOST_NS, LowStage, plausible
from cambrian.metrics.parameters.flight import flight
from cambrian.metrics.parameters.flow_trace import FlowTrace
from cambrian.metrics.parameters.window import frame_bytes

#: the sender falls silent for this part of a round trip, and this many packets'
#: time on the bottleneck; one that does so more often sends in bursts
SILENT_ROUNDS, SILENT_PACKETS, SILENCES_A_SECOND = 0.15, 6, 5.0
#: and its flight is then below this part of what it was, until it exceeds itself by this, or by 3 packets
LOWER, ABOVE, ABOVE_PACKETS = 0.85, 0.05, 3
#: all its silences come in this time
STEPS_ROUNDS = 3
#: smaller packets may carry no data but acknowledgements, which pass at any time
FULL_SHARE = 0.5


def stages_after_silences(trace: FlowTrace) -> list[LowStage]:
    """ProbeRTTs by packets alone, in order of time: a silence, then a low flight."""
    found = flight(trace.packets, trace.rtt_ns)
    if not len(found.arrival_ns) or trace.rate_mbps is None:
        return []
    full = found.size_bytes > FULL_SHARE * found.packet_bytes
    arrival_ns, in_flight, size = found.arrival_ns[full], found.flight_bytes[full], frame_bytes(trace)
    packet_ns = size * BITS_PER_BYTE * 1e3 / trace.rate_mbps
    silent_ns = max(SILENT_ROUNDS * trace.rtt_ns, SILENT_PACKETS * packet_ns)
    silences = np.flatnonzero(np.diff(arrival_ns) > silent_ns)
    if len(silences) > SILENCES_A_SECOND * (trace.end_ns - trace.start_ns) / NS_PER_S:
        return []
    # one value a silence: the highest flight in the round trip after it
    lows = silences + 1
    firsts = np.searchsorted(arrival_ns, arrival_ns[lows] + round(LEAST_ROUNDS * trace.rtt_ns))
    windows = np.array([in_flight[low:first].max() for low, first in zip(lows, firsts, strict=True)])
    deep = np.flatnonzero(windows < LOWER * in_flight[silences]) if len(windows) else silences
    stages: list[LowStage] = []
    for number in deep:
        low = lows[number]
        if stages and arrival_ns[low] < stages[-1].leave_ns + trace.forward_ns:
            continue
        # the smallest RTT that is found in it may lower the window once more
        within = deep[
            (deep >= number) & (arrival_ns[lows[deep]] < arrival_ns[low] + STEPS_ROUNDS * trace.rtt_ns)
        ]
        window = windows[within[-1]]
        until = np.searchsorted(arrival_ns, arrival_ns[low] + MOST_NS)
        above = in_flight[lows[within[-1]] : until] > window + max(ABOVE * window, ABOVE_PACKETS * size)
        if not np.any(above):
            continue
        leave = lows[within[-1]] + np.argmax(above)
        # the packets that fill the path again leave in one go with the one that is above
        gaps = np.diff(arrival_ns[low : leave + 1])
        waits = np.flatnonzero(gaps > packet_ns)
        last = low + waits[-1] + 1 if len(waits) else leave
        stages.append(
            LowStage(
                enter_ns=int(arrival_ns[silences[number]]) - trace.forward_ns,
                low_ns=int(arrival_ns[low]) - trace.forward_ns,
                leave_ns=int(arrival_ns[last]) - trace.forward_ns,
                packets=float(window) / size,
                # with as many acknowledgements as before, a larger window shows a round trip later
                wait_ns=max(int(gaps.max()), trace.rtt_ns),
            )
        )
    return plausible(stages, trace)
