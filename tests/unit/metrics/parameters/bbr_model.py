"""A small model of a BBR sender alone behind an endless queue, for traces whose truth is known.

Time is in ns. The path is 20 Mbit/s and 50 ms, 25 of them before the queue; frames are 1514 bytes,
sent by QUIC. The bandwidth that the sender reckons with is the bottleneck's, but for its first round trip.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import polars as pl

from cambrian.metrics.columns import PACKETS
from cambrian.metrics.parameters.flow_trace import FlowTrace
from cambrian.trace.schema import TRANSPORT

FRAME, PAYLOAD = 1514, 1472
RTT, FORWARD = 50_000_000, 25_000_000
SERVICE = FRAME * 8 * 1000 // 20
START = 100_000_000
BDP = RTT / SERVICE


@dataclass(frozen=True)
class Bbr:
    """The truth. ``margin``: pacing rate over gain · bandwidth, of payload. ``first_bandwidth``: that
    of the first round trip over the bottleneck's. Probing up lasts a round trip, draining ``down_rounds``.
    ``other_down``: the gain of draining in every second cycle, if it is another one there.
    ``receiver_packets``: the receiver's window; with one the flow stays in Startup, because it is limited.
    """

    seconds: float = 35.0
    startup_gain: float = 2.885
    up: float = 1.25
    down: float = 0.75
    margin: float = 0.99
    first_bandwidth: float = 0.5
    cycle_rounds: float = 8.0
    down_rounds: float = 1.0
    cwnd_gain: float = 2.0
    interval_s: float = 10.0
    duration_ms: float = 200.0
    probe_rtt_packets: int = 4
    receiver_packets: int | None = None
    other_down: float | None = None

    def gain(self, since_ns: float) -> float:
        """ProbeBW's, so long after it began: two rounds of cruising, then cycles of up, down, cruising."""
        cycle, rounds = divmod(since_ns / RTT - 2, self.cycle_rounds)
        if since_ns < 2 * RTT:
            return 1.0
        down = self.other_down if cycle % 2 and self.other_down is not None else self.down
        return self.up if rounds < 1 else down if rounds < 1 + self.down_rounds else 1.0


@lru_cache
def run(truth: Bbr) -> FlowTrace:
    """Play it: a packet leaves when the pacer's time has come and the window has room."""
    arrivals: list[int] = []
    acks: list[int] = []
    rows: list[tuple[int, int, int, int, str]] = []
    state, since, low, last_departure, acked = "startup", START, -1, 0, 0
    now = START
    while now < truth.seconds * 1e9:
        while acked < len(acks) and acks[acked] <= now:
            acked += 1
        in_flight = len(arrivals) - acked
        if state == "startup" and truth.receiver_packets is None and now > START + 8 * RTT:
            state, since = "drain", now
        elif state == "drain" and in_flight <= BDP:
            state, since = "probe_bw", now
        elif state == "probe_bw" and now >= since + truth.interval_s * 1e9:
            state, since, low = "probe_rtt", now, -1
        elif state == "probe_rtt" and low < 0 and in_flight <= truth.probe_rtt_packets:
            low = now
        elif state == "probe_rtt" and low >= 0 and now >= low + truth.duration_ms * 1e6:
            state, since = "probe_bw", now
        window = {
            "startup": math.ceil(truth.startup_gain * BDP),
            "drain": math.ceil(truth.startup_gain * BDP),
            "probe_bw": math.ceil(truth.cwnd_gain * BDP) + 3,
            "probe_rtt": truth.probe_rtt_packets,
        }[state]
        gain = {"startup": truth.startup_gain, "drain": 1 / truth.startup_gain, "probe_rtt": 1.0}.get(
            state, truth.gain(now - since)
        )
        if now < START + RTT:
            gain *= truth.first_bandwidth
        rows.append(
            (
                now,
                window * PAYLOAD,
                in_flight * PAYLOAD,
                round(20e6 * PAYLOAD / FRAME * gain * truth.margin),
                state,
            )
        )
        if in_flight >= min(window, truth.receiver_packets or window):
            now = acks[acked]
            continue
        arrival = now + FORWARD
        last_departure = max(arrival, last_departure + SERVICE)
        arrivals.append(arrival)
        acks.append(last_departure + RTT - FORWARD)
        now += round(SERVICE / (gain * truth.margin))
    return _trace(truth, arrivals, acks, rows)


def _trace(
    truth: Bbr, arrivals: list[int], acks: list[int], rows: list[tuple[int, int, int, int, str]]
) -> FlowTrace:
    packets = pl.DataFrame(
        {
            "flow": 0,
            "arrival_ns": arrivals,
            "departure_ns": [ack - (RTT - FORWARD) for ack in acks],
            "size_bytes": FRAME,
            "outcome": "departed",
            "ce": False,
        },
        schema=PACKETS,
    )
    names = ("time_ns", "cwnd_bytes", "in_flight_bytes", "pacing_bps", "state")
    told = pl.DataFrame(rows, schema=names, orient="row").with_columns(
        flow=pl.lit(0), event=pl.lit("ack"), ssthresh_bytes=None, srtt_us=None
    )
    return FlowTrace(
        packets=packets,
        transport=told.select(pl.col(name).cast(kind) for name, kind in TRANSPORT.items()),
        family="bbr",
        protocol="quic",
        rtt_ms=RTT / 1e6,
        forward_delay_ms=FORWARD / 1e6,
        rate_mbps=20,
        start_ns=START,
        end_ns=round(truth.seconds * 1e9),
        alone=True,
        steady=True,
        random_loss=False,
        acks=len(acks),
    )
