"""Lost acknowledgements: for seconds the return path loses everything, and only timeouts send packets.

The packets themselves still arrive, so the capture at the bottleneck shows each timeout. In a blackout of the
forward path it shows none. Other packets may come between (a ping, a close), so no figure relies on one
particular gap. Small packets that come as often as before, such as a heartbeat, are no timeouts.
"""

from __future__ import annotations

import numpy as np

from cambrian.metrics.columns import FloatArray, Int64Array, int64
from cambrian.metrics.parameters import window
from cambrian.probes.figures import Figure, NoFigure
from cambrian.probes.probed_flow import DATA, ProbedFlow

#: packets nearer together than this share of the round trip (without queueing) belong to one timeout, which
#: may send two
TOGETHER_TRIPS = 0.5
#: fewer times between timeouts give fewer than two ratios
FEWEST_TIMES = 3
#: two ratios are the same within this share
SAME_RATIO = 0.1
#: round trips after which the last acknowledgements no longer cause packets: a paced flight takes one
QUIET_TRIPS = 2
#: a heartbeat has at least so many packets expected in each half of the time without acknowledgements, and
#: this share of that number. Timeouts that double leave one or two for the second half
FEWEST_BEATS = 3
BEATS = (0.5, 1.5)
#: round trips after the first packet that is acknowledged again in which a window shows: slow start from two
#: packets has eight in the third
RESTART_TRIPS = 3
#: a smaller flight does not differ enough from those eight packets
FEWEST_PACKETS = 50


def timeout_growth(flow: ProbedFlow) -> Figure | NoFigure:
    """The largest ratio of two successive times between timeouts: 2 if timeouts double, 1 if none grows."""
    times_ns = _times_ns(flow)
    if isinstance(times_ns, NoFigure):
        return times_ns
    return Figure(float(_ratios(times_ns).max()), len(times_ns))


def timeout_trips(flow: ProbedFlow) -> Figure | NoFigure:
    """The first timeout, in round trips without queueing, the least that a sender may have measured.

    In TCP it is the first time from which the times grow as they do in the median: a tail loss probe may come
    before it. Another sender's is the first time of all. If that is shorter than a round trip and the
    times after it grow by another factor, it may belong to another packet, and there is no figure.
    """
    times_ns = _times_ns(flow)
    if isinstance(times_ns, NoFigure):
        return times_ns
    ratios = _ratios(times_ns)
    usual = np.abs(ratios / np.median(ratios) - 1) <= SAME_RATIO
    is_tcp = flow.trace.protocol == "tcp"
    if not usual.any() or not (is_tcp or usual[0] or times_ns[0] >= flow.trace.rtt_ns):
        return NoFigure("its timeouts do not grow by one factor")
    first = int(np.argmax(usual)) if is_tcp else 0
    return Figure(float(times_ns[first]) / flow.trace.rtt_ns, 1)


def timeout_packets(flow: ProbedFlow) -> Figure | NoFigure:
    """Number of packets while acknowledgements are lost, from two round trips after the last one on."""
    silence = _silence_ns(flow)
    if isinstance(silence, NoFigure):
        return silence
    begin_ns, end_ns = silence
    arrivals = _without_heartbeat_ns(flow, silence)
    first, last = np.searchsorted(arrivals, [begin_ns + QUIET_TRIPS * flow.trace.rtt_ns, end_ns])
    if first == last and len(arrivals) < len(flow.arrivals_ns):
        return NoFigure(
            "all its packets are small and come as often as before: its timeouts may be among them"
        )
    return Figure(float(last - first), 1)


def timeout_kept(flow: ProbedFlow) -> Figure | NoFigure:
    """Most bytes in a round trip after the acknowledgements are back, as a share of the flight before.

    No packet was lost, so timeouts are all that the sender knows of. They lower no window in QUIC
    (RFC 9002, section 7.6). In TCP and SCTP they may (RFC 5681, section 3.1; RFC 9260, section 7.2.3).
    """
    lost = _only_timeouts_ns(flow)
    if isinstance(lost, NoFigure):
        return lost
    begin_ns, end_ns = lost
    last = int(np.searchsorted(flow.flight.arrival_ns, begin_ns)) - 1
    if last < 0:
        return NoFigure("the flow had not started when the acknowledgements began to be lost")
    before = flow.most_in_flight(begin_ns - float(flow.flight.round_trip_ns[last]), begin_ns)
    if not before >= FEWEST_PACKETS * flow.packet_bytes:
        return NoFigure(f"fewer than {FEWEST_PACKETS} packets were in flight when acknowledgements were lost")
    after = int(np.searchsorted(flow.data_arrivals_ns, end_ns))
    if after == len(flow.data_arrivals_ns):
        return NoFigure("the flow sent nothing after the acknowledgements were back")
    back_ns = int(flow.data_arrivals_ns[after])
    if back_ns + RESTART_TRIPS * flow.trace.rtt_ns > flow.trace.end_ns:
        return NoFigure("the trial ends too soon after the acknowledgements are back")
    most = flow.most_bytes_in_a_trip(back_ns, back_ns + RESTART_TRIPS * flow.trace.rtt_ns)
    return Figure(most / before, 1)


def log_window_kept(flow: ProbedFlow) -> Figure | NoFigure:
    """The least window in the sender's log while no acknowledgement arrives, as a share of the one before."""
    lost = _only_timeouts_ns(flow)
    if isinstance(lost, NoFigure):
        return lost
    # the last acknowledgements still arrive, and the window may change with them
    begin_ns, end_ns = lost[0] + flow.trace.rtt_ns, lost[1]
    own = window.of_stack(flow.trace)
    first, last = np.searchsorted(own.time_ns, [begin_ns, end_ns])
    if not 0 < first < last or not own.segments[first - 1]:
        return NoFigure("its log has no row of its window while the acknowledgements are lost")
    return Figure(float(own.segments[first:last].min() / own.segments[first - 1]), int(last - first))


def _only_timeouts_ns(flow: ProbedFlow) -> tuple[int, int] | NoFigure:
    """The time in which acknowledgements are lost, of a sender that knows of timeouts alone, in QUIC."""
    if flow.trace.protocol == "tcp" or flow.trace.other_transport:
        return NoFigure("a timeout may lower the window of a transport other than QUIC")
    lost = _lost_ns(flow)
    if isinstance(lost, NoFigure):
        return lost
    known_ns, sent_ns = flow.flight.learnt_ns, flow.flight.signal_ns
    if ((known_ns > lost[0] + flow.trace.rtt_ns) & (sent_ns < lost[1])).any():
        return NoFigure("the queue dropped or marked a packet of the flight before")
    return lost


def _lost_ns(flow: ProbedFlow) -> tuple[int, int] | NoFigure:
    """The time in which acknowledgements are lost, at the beginning of the return path."""
    spans_ns = flow.lost_spans_ns("return_loss_percent")
    if not spans_ns:
        return NoFigure("the network's schedule loses no acknowledgements and then keeps them again")
    return spans_ns[0]


def _silence_ns(flow: ProbedFlow) -> tuple[int, int] | NoFigure:
    """The time at the queue in which no packet follows from an acknowledgement."""
    lost = _lost_ns(flow)
    if isinstance(lost, NoFigure):
        return lost
    # acknowledgements that are on their way when the loss begins still arrive
    return lost[0] + flow.trace.rtt_ns, lost[1] + flow.trace.rtt_ns


def _times_ns(flow: ProbedFlow) -> Int64Array | NoFigure:
    """The times between successive timeouts; the first counts from the last packet before them."""
    silence = _silence_ns(flow)
    if isinstance(silence, NoFigure):
        return silence
    arrivals = _without_heartbeat_ns(flow, silence)
    first, last = np.searchsorted(arrivals, silence)
    gaps = np.diff(arrivals[max(first - 1, 0) : last])
    times: Int64Array = gaps[gaps > TOGETHER_TRIPS * flow.trace.rtt_ns]
    if len(times) < FEWEST_TIMES:
        return NoFigure(
            f"{len(times)} timeouts while its acknowledgements were lost; {FEWEST_TIMES} are needed"
        )
    return times


def _without_heartbeat_ns(flow: ProbedFlow, silence: tuple[int, int]) -> Int64Array:
    """Arrivals of the packets that timeouts may have sent: all, or those with data beside a heartbeat.

    Small packets are a heartbeat if they come as often in both halves of ``silence`` as in a time as long
    before it.
    """
    begin_ns, end_ns = silence
    if not len(flow.arrivals_ns):
        return flow.arrivals_ns
    sizes = int64(flow.trace.packets, "size_bytes")
    small = flow.arrivals_ns[sizes < DATA * flow.flight.packet_bytes]
    before_ns = max(2 * begin_ns - end_ns, int(flow.arrivals_ns[0]))
    counts = np.diff(np.searchsorted(small, [before_ns, begin_ns, (begin_ns + end_ns) // 2, end_ns]))
    expected = counts[0] * (end_ns - begin_ns) / 2 / max(begin_ns - before_ns, 1)
    beats = expected >= FEWEST_BEATS and all(
        BEATS[0] * expected <= count <= BEATS[1] * expected for count in counts[1:]
    )
    return flow.data_arrivals_ns if beats else flow.arrivals_ns


def _ratios(times_ns: Int64Array) -> FloatArray:
    ratios: FloatArray = times_ns[1:] / times_ns[:-1]
    return ratios
