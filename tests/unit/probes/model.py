"""A small model of a sender whose losses are known: a window, a path that loses what a test says, one queue.

Times are ns. 100 ms (50 of them before the queue), frames of 1514 bytes, as the probes' networks.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import polars as pl

from cambrian.metrics.columns import NS_PER_S, PACKETS
from cambrian.metrics.parameters.flow_trace import FlowTrace
from cambrian.probes.probed_flow import ProbedFlow
from cambrian.study.model import Change, Network
from cambrian.trace import schema

FRAME, RTT, FORWARD = 1514, 100_000_000, 50_000_000
#: base round trip's probe: packets that leave the host before the flow
PROBE_PACKETS = 2
TIMEOUT = 300_000_000

#: (number of the packet among all that leave the host, from 1; when it is sent) → is it lost?
Loses = Callable[[int, int], bool]


@dataclass
class Sender:
    """``cut`` tells what a loss does to the window; the rest is like a real sender's.

    ``cut(window, event)``: the window after a loss; ``event`` counts congestion events from 1.
    ``per_packet``: each lost packet is an event. ``growth``: packets of window a round trip. ``collapses``: a
    timeout twice in a row leaves a window of two. ``silence``: ns without sending after a burst of eight.
    ``late``: round trips between learning of a loss and the cut. ``marks``: number of a packet → does the
    queue mark it? A mark is an event as a loss is. ``gradual``: steps of a cut over a round trip (RFC 6937).
    ``timeout``: the first one, in ns;
    ``backs_off``: how much longer each is than the one before. ``train``: packets leave where the window has
    room for so many.
    """

    cut: Callable[[float, int], float] = lambda window, event: window * 0.7
    growth: float = 1.0
    per_packet: bool = False
    collapses: bool = True
    silence: int = 0
    late: int = 0
    marks: Callable[[int], bool] = lambda number: False
    gradual: int = 1
    timeout: int = TIMEOUT
    backs_off: float = 2.0
    most: float = 150.0
    initial: float = 80.0
    train: int = 1

    def run(self, network: Network, loses: Loses, duration_s: float = 30.0) -> ProbedFlow:
        """Play it for so many seconds."""
        self.rows: list[tuple[int, int, bool]] = []
        self.service = round(FRAME * 8 * 1000 / (network.rate_mbps or 1))
        at_s = [step.at_s for step in network.schedule if step.return_loss_percent is not None]
        self.silent_s = list(zip(at_s[::2], at_s[1::2], strict=True))
        self.loses, self.end = loses, round(duration_s * NS_PER_S)
        self.window, self.threshold = self.initial, 0.0
        self.outstanding: deque[tuple[int, int]] = deque()
        self.number, self.sent, self.free_at, self.event = PROBE_PACKETS, 0, 0, 0
        self.recovery, self.timeouts, self.timer, self.quiet, self.order = 0, 0, 0, 0, 0
        self.events: list[tuple[int, int, str, int]] = []
        self._send(0)
        while self.events:
            now, _, kind, number = heapq.heappop(self.events)
            if now > self.end:
                break
            getattr(self, f"_{kind}")(now, number)
        return seen(self._trace(), network)

    def _at(self, when: int, kind: str, number: int) -> None:
        self.order += 1
        heapq.heappush(self.events, (when, self.order, kind, number))

    def _send(self, now: int, number: int = 0) -> None:
        room = self.window - len(self.outstanding) >= self.train or not self.outstanding
        while room and now >= self.quiet and len(self.outstanding) + 1 <= self.window:
            self._transmit(now)
        if not self.timeouts:
            self._arm(now)

    def _transmit(self, now: int) -> None:
        self.number += 1
        self.outstanding.append((self.number, now))
        if not self.loses(self.number, now):
            arrival = now + FORWARD
            self.free_at = max(self.free_at, arrival) + self.service
            self.rows.append((arrival, self.free_at, self.marks(self.number)))
            if not any(begin * NS_PER_S <= self.free_at < end * NS_PER_S for begin, end in self.silent_s):
                self._at(self.free_at + RTT - FORWARD, "ack", self.number)

    def _arm(self, now: int) -> None:
        self.timer += 1
        # the queue delays the acknowledgement that restarts the timer, but no timeout does
        waited = 0 if self.timeouts else max(self.free_at - FORWARD - now, 0)
        self._at(now + waited + round(self.timeout * self.backs_off**self.timeouts), "timeout", self.timer)

    def _timeout(self, now: int, timer: int) -> None:
        if timer == self.timer and self.outstanding:
            self.timeouts += 1
            self._transmit(now)
            self._arm(now)

    def _ack(self, now: int, number: int) -> None:
        persistent = self.timeouts >= 2
        self.timeouts = 0
        lost = [one for one in self.outstanding if one[0] < number]
        self.outstanding = deque(one for one in self.outstanding if one[0] > number)
        if persistent and self.collapses:
            self.window, self.threshold, self.recovery = 2.0, self.window / 2, self.number
        elif lost or self.marks(number):
            self._lost(now, lost or [(number, now)])
        slow_start = self.window < self.threshold
        self.window = min(self.window + (1.0 if slow_start else self.growth / self.window), self.most)
        self._send(now)

    def _lost(self, now: int, lost: list[tuple[int, int]]) -> None:
        for number, _ in lost:
            if self.per_packet or number > self.recovery:
                self.event += 1
                self.recovery = self.number
                if self.late:
                    self._at(now + self.late * RTT, "cut", 0)
                else:
                    self._cut(now, 0)
        if self.silence and len(lost) >= 8:
            self.quiet = now + self.silence
            self._at(self.quiet, "send", 0)

    def _cut(self, now: int, _: int) -> None:
        fallen = self.window - max(self.cut(self.window, self.event), 2.0)
        self.window -= fallen / self.gradual
        for step in range(1, self.gradual):
            self._at(now + step * RTT // self.gradual, "step", round(1e6 * fallen / self.gradual))

    def _step(self, now: int, millionths: int) -> None:
        self.window -= millionths / 1e6

    def _trace(self) -> FlowTrace:
        kept = [row for row in self.rows if row[0] < self.end]
        frame = pl.DataFrame(
            {
                "flow": [0] * len(kept),
                "arrival_ns": [arrival for arrival, _, _ in kept],
                "departure_ns": [departure if departure < self.end else None for _, departure, _ in kept],
                "size_bytes": [FRAME] * len(kept),
                "outcome": ["departed" if departure < self.end else "queued" for _, departure, _ in kept],
                "ce": [marked for _, _, marked in kept],
            },
            schema=pl.Schema(PACKETS),
        )
        return trace(frame, self.end)


def trace(packets: pl.DataFrame, end_ns: int, **settings: Any) -> FlowTrace:
    """A flow alone with these packets."""
    given: dict[str, Any] = {
        "packets": packets,
        "transport": schema.empty(),
        "family": "cubic",
        "protocol": "quic",
        "rtt_ms": 100.0,
        "forward_delay_ms": 50.0,
        "rate_mbps": 5.0,
        "start_ns": 0,
        "end_ns": end_ns,
        "alone": True,
        "steady": True,
        "random_loss": True,
        "acks": None,
    }
    return FlowTrace(**(given | settings))


def seen(flow: FlowTrace, where: Network) -> ProbedFlow:
    """That flow alone."""
    return ProbedFlow(flow, where, flow.packets, (flow.start_ns,), flow.end_ns)


def alone_with(packets: pl.DataFrame, end_ns: int, where: Network) -> ProbedFlow:
    """A flow of these packets alone on a network whose queue holds them all."""
    return seen(trace(packets, end_ns, rate_mbps=where.rate_mbps, random_loss=False), where)


def beside_small(packets: pl.DataFrame) -> pl.DataFrame:
    """These packets, and two of 120 bytes just after each."""
    small = packets.with_columns(size_bytes=pl.lit(120, packets.schema["size_bytes"]))
    return pl.concat([packets, small, small]).sort("arrival_ns")


def network(name: str = "probe-lone-losses", **settings: Any) -> Network:
    """5 Mbps by default, 100 ms."""
    return Network(**({"name": name, "rate_mbps": 5, "rtt_ms": 100, "buffer_bdp": 4} | settings))


EVERY = 1500
ECN = network("probe-ecn", queue="codel", ecn=True)
LONE = network(rate_mbps=10, loss_every_packets=EVERY)
OUTAGES_S = ((8.0, 8.03), (11.0, 11.03), (14.0, 14.03), (18.0, 21.0))
OUTAGES = network(
    "probe-outages",
    schedule=tuple(
        change
        for begin, end in OUTAGES_S
        for change in (Change(at_s=begin, loss_percent=100), Change(at_s=end, loss_percent=0))
    ),
)


LOST_ACKS = network(
    "probe-lost-acks",
    schedule=(Change(at_s=10, return_loss_percent=100), Change(at_s=18, return_loss_percent=0)),
)


def each_nth(number: int, now: int) -> bool:
    """The loss of :data:`LONE`."""
    return number % EVERY == 0


def nothing(number: int, now: int) -> bool:
    """No packet is lost."""
    return False


def in_outage(number: int, now: int) -> bool:
    """The losses of :data:`OUTAGES`."""
    return any(begin * NS_PER_S <= now < end * NS_PER_S for begin, end in OUTAGES_S)
