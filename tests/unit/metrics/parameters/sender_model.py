"""A small model of a sender behind a drop-tail queue, for traces whose truth is known.

Time is in ns. A window counts packets; the path is 20 Mbit/s and 50 ms, 25 of them before the
queue; frames are 1514 bytes, sent by QUIC (1472 bytes of payload).
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from cambrian.metrics.columns import PACKETS
from cambrian.metrics.parameters.flow_trace import FlowTrace
from cambrian.trace import schema

FRAME, PAYLOAD = 1514, 1472
RTT, FORWARD = 50_000_000, 25_000_000
SERVICE = FRAME * 8 * 1000 // 20
START = 400_000_000

#: (window, packets acknowledged) → growth in packets
Growth = Callable[[float, int], float]


def slow_start(window: float, acked: int) -> float:
    """A packet for each that is acknowledged."""
    return acked


def steady(window: float, acked: int) -> float:
    """Nothing."""
    return 0.0


@dataclass
class Sender:
    """``run`` plays it.

    ``initial``: the window at first. ``growth``: until the first loss, and ``avoidance`` from
    then on. ``pacing``: factor of cwnd/RTT, or None. ``train``: packets that a pacer lets go
    together. ``threshold``: packets after a lost one that must arrive before it is declared.
    ``beta``: what is left of the window then. ``waits``: for two round trips after that, it does not grow.
    ``ack_delay``: the receiver keeps an acknowledgement for no
    longer, in ns; None: it only counts.
    """

    initial: int = 10
    growth: Growth = slow_start
    avoidance: Growth = steady
    pacing: float | None = None
    train: int = 1
    ack_every: int = 1
    ack_delay: int | None = None
    threshold: int = 3
    beta: float = 0.7
    waits: bool = False
    buffer_packets: int = 82
    packets: int = 1500
    rows: list[tuple[int, int | None, str]] = field(default_factory=list)
    transport: list[tuple[int, str, float]] = field(default_factory=list)
    acks: int = 0

    def run(self, **settings: Any) -> FlowTrace:
        """Send ``packets`` packets; ``settings`` replace the trace's."""
        self.window, self.flight, self.sent = float(self.initial), 0, 0
        self.recovered = 0
        self.lossy, self.free_at, self.queued = False, 0, deque[int]()
        self.arrived, self.pending, self.left = 0, 0, 0
        self.oldest, self.batch = 0, 0
        self.release, self.in_train, self.waiting = 0, 0, False
        self.lost: deque[int] = deque()
        self.events: list[tuple[int, int, str, int]] = []
        first = START + RTT + RTT // 2
        self.transport.append((first - RTT, "start", self.window))
        self._at(first, "go", 0)
        while self.events and self.sent < self.packets:
            now, _, kind, count = heapq.heappop(self.events)
            getattr(self, f"_{kind}")(now, count)
        return self._trace(settings)

    def _at(self, when: int, kind: str, count: int) -> None:
        self.left += 1
        heapq.heappush(self.events, (when, self.left, kind, count))

    def _ack(self, now: int, count: int) -> None:
        self.flight -= count
        growth = self.avoidance if self.lossy else self.growth
        if not (self.waits and now <= self.recovered):
            self.window += growth(self.window, count)
        self.transport.append((now, "ack", self.window))
        self._go(now, 0)

    def _loss(self, now: int, count: int) -> None:
        self.flight -= count
        if now > self.recovered:
            self.window *= self.beta
            self.recovered = now + 2 * RTT
        self.lossy = True
        self.transport.append((now, "loss", self.window))
        self._go(now, 0)

    def _late(self, now: int, batch: int) -> None:
        """The receiver's timer, unless it has acknowledged since."""
        if batch == self.batch and self.pending:
            self._acknowledge(now)

    def _acknowledge(self, at: int) -> None:
        self.acks += 1
        self.batch += 1
        self._at(at, "ack", self.pending)
        self.pending = 0

    def _timer(self, now: int, count: int) -> None:
        self.waiting = False
        self._go(now, count)

    def _go(self, now: int, _: int) -> None:
        while self.flight + 1 <= self.window and self.sent < self.packets:
            if self.pacing is not None and self.in_train == 0:
                if now < self.release:
                    if not self.waiting:
                        self.waiting = True
                        self._at(self.release, "timer", 0)
                    return
                self.in_train = self.train
                gap = self.train * RTT / (self.pacing * self.window)
                self.release = max(self.release, now) + round(gap)
            self.in_train -= 1
            self.flight += 1
            self.sent += 1
            self._enqueue(now + FORWARD)

    def _enqueue(self, arrival: int) -> None:
        while self.queued and self.queued[0] <= arrival:
            self.queued.popleft()
        if len(self.queued) >= self.buffer_packets:
            self.rows.append((arrival, None, "dropped"))
            self.lost.append(self.arrived + self.threshold)
            return
        self.free_at = max(self.free_at, arrival) + SERVICE
        self.queued.append(self.free_at)
        self.rows.append((arrival, self.free_at, "departed"))
        self.arrived += 1
        back = self.free_at + RTT - FORWARD
        if self.ack_delay is not None and self.pending and self.oldest + self.ack_delay < back:
            self._acknowledge(self.oldest + self.ack_delay)
        self.pending += 1
        if self.pending == 1 and self.ack_delay is not None:
            self.oldest = back
            self._at(back + self.ack_delay, "late", self.batch)
        if self.pending == self.ack_every:
            self._acknowledge(back)
        while self.lost and self.lost[0] <= self.arrived:
            self.lost.popleft()
            self._at(back, "loss", 1)

    def _trace(self, settings: dict[str, Any]) -> FlowTrace:
        packets = pl.DataFrame(
            {
                "flow": [0] * len(self.rows),
                "arrival_ns": [row[0] for row in self.rows],
                "departure_ns": [row[1] for row in self.rows],
                "size_bytes": [FRAME] * len(self.rows),
                "outcome": [row[2] for row in self.rows],
                "ce": [False] * len(self.rows),
            },
            schema=PACKETS,
        )
        return trace_of(packets, transport_of(self.transport), **({"acks": self.acks} | settings))


@dataclass
class ReducesGradually(Sender):
    """A reduction lasts a round trip: each acknowledgement lets a part of its packets go (RFC 6937)."""

    target: float = math.inf

    def _loss(self, now: int, count: int) -> None:
        if now > self.recovered:
            self.target, self.recovered = self.beta * self.window, now + 2 * RTT
        self.flight -= count
        self.lossy = True
        self.transport.append((now, "loss", self.window))
        self._go(now, 0)

    def _ack(self, now: int, count: int) -> None:
        if self.window <= self.target:
            super()._ack(now, count)
            return
        self.window = max(self.target, self.window - (1 - self.beta) * count)
        if self.window == self.target:
            self.target = math.inf
        self.flight -= count
        self.transport.append((now, "ack", self.window))
        self._go(now, 0)


class InTrains(Sender):
    """As with segmentation offload: packets leave only where the window has room for a whole train."""

    def _go(self, now: int, count: int) -> None:
        if self.window - self.flight >= self.train or not self.flight:
            super()._go(now, count)


def polled(trace: FlowTrace, every_ms: int) -> FlowTrace:
    """The same with one row of the log in so much time: the last one."""
    turn = pl.col("time_ns") // (every_ms * 1_000_000)
    return replace(trace, transport=trace.transport.filter(turn != turn.shift(-1)))


def in_small_frames(trace: FlowTrace) -> FlowTrace:
    """The same bytes at the same times, with every second packet in five small frames."""
    number = pl.int_range(pl.len())
    small, rest = FRAME // 5, FRAME - 4 * (FRAME // 5)
    split = (
        pl.when(number % 2 == 1).then(pl.lit([small] * 4 + [rest])).otherwise(pl.concat_list("size_bytes"))
    )
    return replace(trace, packets=trace.packets.with_columns(size_bytes=split).explode("size_bytes"))


def transport_of(rows: list[tuple[int, str, float]]) -> pl.DataFrame:
    """``transport`` of (time, event, window in packets)."""
    return pl.DataFrame(
        {
            "time_ns": [row[0] for row in rows],
            "event": [row[1] for row in rows],
            "cwnd_bytes": [int(row[2] * PAYLOAD) for row in rows],
            "ssthresh_bytes": None,
            "in_flight_bytes": None,
            "srtt_us": None,
            "pacing_bps": None,
            "state": None,
        },
        schema=TRANSPORT,
    )


#: one flow's, as an estimator gets it
TRANSPORT = {name: kind for name, kind in schema.TRANSPORT.items() if name != "flow"}


def trace_of(packets: pl.DataFrame, transport: pl.DataFrame | None = None, **settings: Any) -> FlowTrace:
    """A lone CUBIC's trace on the model's path."""
    known: dict[str, Any] = {
        "family": "cubic",
        "protocol": "quic",
        "rtt_ms": RTT / 1e6,
        "forward_delay_ms": FORWARD / 1e6,
        "rate_mbps": 20.0,
        "start_ns": START,
        "end_ns": int(packets["arrival_ns"].max() or 0) + RTT,  # type: ignore[arg-type]
        "alone": True,
        "steady": True,
        "random_loss": False,
        "acks": None,
    }
    empty = transport_of([])
    return FlowTrace(
        packets=packets, transport=empty if transport is None else transport, **(known | settings)
    )
