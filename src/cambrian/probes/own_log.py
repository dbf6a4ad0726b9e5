"""What a stack's own log and counters say, beside what its packets show: round trips, flight, and losses.

A fault here need not show in any packet. Stacks without such a log or counter have no figure. Each figure is
the least that the log departs from the packets, so that what a correct stack may do in more than one way
(smooth over more or fewer round trips, count headers, acknowledge late) counts for it.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from cambrian.metrics.columns import NS_PER_MS, FloatArray, Int64Array, int64
from cambrian.probes.figures import Figure, NoFigure
from cambrian.probes.probed_flow import ProbedFlow

#: rows of a log that are enough for a quantile
FEWEST_ROWS = 50
#: more rows than that, evenly spread, say no more
MOST_ROWS = 1000
#: round trips over which a round trip may be smoothed: an eighth of each sample, and one sample in each
SMOOTHED_TRIPS = 8
#: what an acknowledgement may be delayed by (RFC 9000, section 18.2); a sender may subtract it or not
ACK_DELAY_NS = 25 * NS_PER_MS
#: a log that is so many times too large or too small has another unit
OTHER_UNIT = 100
#: the flight is compared in this last part of the flow's life: what stays in flight for good has added up
LAST_PART = 0.25
#: a flight that is too large at nine of ten rows is too large for good
LEAST = 0.1
#: packets for each acknowledgement, usually (RFC 9000, section 13.2.2; RFC 5681, section 4.2)
USUAL_PER_ACK = 2


def srtt(flow: ProbedFlow) -> Figure | NoFigure:
    """The log's smoothed round trip, divided by the nearest that smoothing can make of the packets'; median.

    1 if it is between the least and the most that the packets had which were acknowledged in the eight round
    trips before. An acknowledgement may have come later by :data:`ACK_DELAY_NS`, or by the mean time between
    two acknowledgements where they are rare.
    """
    rows = _rows(flow, "srtt_us", flow.settled_ns, least=1)
    if isinstance(rows, NoFigure):
        return rows
    at_ns, srtts_us = rows
    some = np.unique(np.linspace(0, len(at_ns) - 1, MOST_ROWS).astype(np.int64))
    span_ns = flow.trace.end_ns - flow.trace.start_ns
    late_ns = max(ACK_DELAY_NS, span_ns / flow.trace.acks) if flow.trace.acks else ACK_DELAY_NS
    ratios = [_of_srtt(flow, int(at_ns[row]), 1000.0 * float(srtts_us[row]), late_ns) for row in some]
    median = float(np.median(ratios))
    if not 1 / OTHER_UNIT < median < OTHER_UNIT:
        return NoFigure(f"its log's smoothed round trip is {median:.3g} times the packets', in another unit")
    return Figure(median, len(at_ns))


def _of_srtt(flow: ProbedFlow, at_ns: int, srtt_ns: float, late_ns: float) -> float:
    arrivals_ns, trips_ns = flow.flight.arrival_ns, flow.flight.round_trip_ns
    acked = max(int(np.searchsorted(arrivals_ns, at_ns - flow.flight.trip_ns(at_ns), side="right")) - 1, 0)
    since_ns = arrivals_ns[acked] - SMOOTHED_TRIPS * trips_ns[acked]
    smoothed = trips_ns[int(np.searchsorted(arrivals_ns, since_ns)) : acked + 1]
    least_ns, most_ns = float(smoothed.min()), float(smoothed.max()) + late_ns
    return srtt_ns / min(max(srtt_ns, least_ns), most_ns)


def beyond_flight_packets(flow: ProbedFlow) -> Figure | NoFigure:
    """Full packets that the log has in flight at almost all times, and the packets do not have; at least.

    For the log, bytes count as they are; for the packets, whole frames, and at each time the flight when the
    last packet was sent. What one acknowledgement covers beyond two packets may still count as in flight.
    """
    span_ns = flow.trace.end_ns - flow.trace.start_ns
    rows = _rows(flow, "in_flight_bytes", flow.trace.end_ns - round(LAST_PART * span_ns))
    if isinstance(rows, NoFigure):
        return rows
    if flow.trace.acks is None:
        return NoFigure("how many packets an acknowledgement covers is not known")
    at_ns, counted_bytes = rows
    last = (np.searchsorted(flow.flight.arrival_ns, at_ns, side="right") - 1).clip(0)
    beyond: FloatArray = (counted_bytes - flow.flight.flight_bytes[last]) / flow.packet_bytes
    covered = len(flow.flight.arrival_ns) / max(flow.trace.acks, 1) - USUAL_PER_ACK
    return Figure(max(float(np.quantile(beyond, LEAST)) - max(covered, 0.0), 0.0), len(at_ns))


def false_losses(flow: ProbedFlow) -> Figure | NoFigure:
    """Packets that the sender declared lost, or TCP sent again, by its own count, and nothing lost; at least.

    A timeout is no loss in QUIC. In TCP and SCTP it may be (RFC 5681, section 3.1; RFC 9260, section 6.3.3).
    """
    not_quic = flow.trace.protocol == "tcp" or flow.trace.other_transport
    if not_quic and flow.network.lost_spans_s("return_loss_percent"):
        return NoFigure("a timeout may be a loss for a transport other than QUIC")
    if flow.false_losses is None:
        return NoFigure("it has no count of its lost packets, or what the network lost is not known")
    return Figure(float(flow.false_losses.low), flow.false_losses.declared)


def _rows(
    flow: ProbedFlow, column: str, from_ns: int, *, least: int = 0
) -> tuple[Int64Array, Int64Array] | NoFigure:
    """When, on the queue's clock, and what the log says in this column; less than ``least`` says nothing."""
    if not flow.trace.steady:
        return NoFigure(flow.trace.changing)
    if flow.trace.slow_receiver:
        return NoFigure("a slow receiver acknowledges its packets late")
    within = pl.col("time_ns").is_between(from_ns, flow.trace.end_ns, closed="left")
    rows = flow.trace.transport.filter(within & (pl.col(column) >= least))
    if not len(flow.flight.arrival_ns) or rows.height < FEWEST_ROWS:
        return NoFigure(f"its log has {column} in {rows.height} rows; {FEWEST_ROWS} are needed")
    return int64(rows, "time_ns") + flow.trace.forward_ns, int64(rows, column)
