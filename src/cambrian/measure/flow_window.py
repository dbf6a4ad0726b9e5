"""One flow's packets and traces within its measured interval: the input of the quantities' functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from cambrian.judging.flow_traces import is_steady
from cambrian.measure import flow_ends
from cambrian.metrics import completion, loss, payload, queueing, throughput
from cambrian.metrics.columns import NS_PER_MS, NS_PER_S, int64
from cambrian.metrics.gates import ENDED_EARLY
from cambrian.metrics.parameters.flight import Flight, flight
from cambrian.metrics.parameters.window import full_frame
from cambrian.metrics.payload import Protocol
from cambrian.metrics.window_use import WindowUse, unused_share, window_use
from cambrian.store.results import TrialResult
from cambrian.study.model import Flow, Trial
from cambrian.trace.endpoint_events import EndpointEvents

Interval = tuple[int, int]


@dataclass(frozen=True)
class FlowMeasures:
    """One flow of one trial: the quantities of its window, by name.

    ``confirmed_cca`` is None if the stack cannot report it.
    """

    figures: Mapping[str, Any]
    requested_cca: str
    confirmed_cca: str | None

    def __getitem__(self, name: str) -> Any:
        """A quantity's value; None if the flow has none."""
        return self.figures.get(name)

    @property
    def ended_early(self) -> bool:
        """Did it give up, fall silent or never get through?"""
        return self["outcome"] in ENDED_EARLY


@dataclass(frozen=True)
class TrialWindow:
    """A trial's packets and the figures from them.

    ``interval``: the measured interval of endless flows, in nanoseconds. ``rates``: the bottleneck's steps
    ``(from_ns, rate_mbps)``, empty for a trace. ``protocols``: one for each flow, None if unknown, or empty.
    """

    result: TrialResult
    trial: Trial
    interval: Interval
    rates: Sequence[tuple[int, float]]
    protocols: Sequence[Protocol | None]

    @property
    def packets(self) -> pl.DataFrame:
        """All packets of the trial at the bottleneck."""
        return self.result.packets

    @property
    def flows(self) -> list[FlowWindow]:
        """Each flow's window."""
        return [FlowWindow(self, number) for number in range(len(self.trial.flows))]

    @cached_property
    def throughputs_mbps(self) -> list[float]:
        """Of each flow over the interval, also of those of fixed size."""
        frame = throughput.throughput(self.packets, len(self.trial.flows), *self.interval)
        found: list[float] = frame["throughput_mbps"].to_list()
        return found

    @cached_property
    def shared_interval(self) -> Interval | None:
        """The part of the interval in which all flows have started; None if there is none.

        What a flow that has not started leaves to the others is not their share.
        """
        t0_ns, t1_ns = self.interval
        begin_ns = max(t0_ns, *(round(flow.start_ms * NS_PER_MS) for flow in self.trial.flows))
        return (begin_ns, t1_ns) if begin_ns < t1_ns else None

    @cached_property
    def shared_mbps(self) -> list[float]:
        """Throughput of each flow over :attr:`shared_interval`; empty without one, and with a sized flow."""
        if self.shared_interval is None or self.has_sized_flow:
            return []
        if self.shared_interval == self.interval:
            return self.throughputs_mbps
        frame = throughput.throughput(self.packets, len(self.trial.flows), *self.shared_interval)
        found: list[float] = frame["throughput_mbps"].to_list()
        return found

    @cached_property
    def delays(self) -> dict[int, dict[str, Any]]:
        """Flow → its own packets' queueing delays over the interval, ms."""
        return _by_flow(queueing.delay_summary(self.packets, *self.interval))

    @cached_property
    def losses(self) -> list[dict[str, Any]]:
        """Of each flow over the whole trial: ratios of queue drops, and of losses on its own link."""
        counts = self.result.link_counts("forward")
        offered, lost = [count.offered for count in counts], [count.lost for count in counts]
        return loss.loss(self.packets, offered, lost).to_dicts()

    @cached_property
    def queue_loss_ratios(self) -> list[float | None]:
        """Of each flow over the interval."""
        return loss.queue_loss_ratios(self.packets, len(self.trial.flows), *self.interval)

    @cached_property
    def has_sized_flow(self) -> bool:
        """Does some flow end by itself?"""
        return any(is_sized(flow) for flow in self.trial.flows)

    @cached_property
    def spans_ns(self) -> dict[int, Interval]:
        """Of each sized flow: from its first arrival to just after the last departure until it has all.

        A flow whose server sent another size than requested ends too. To the trial's planned end if it never
        had everything: otherwise a flow that starved and gave up would have the throughput of its best
        seconds. A flow without an arrival begins at its client's start.
        """
        if not self.has_sized_flow:
            return {}
        done_ns = [flow_ends.done_ns(self.result, number) for number in range(len(self.trial.flows))]
        spans = completion.flow_spans(self.packets, len(done_ns), done_ns).to_dicts()
        found = {}
        for number, flow in enumerate(self.trial.flows):
            begin_ns, last_ns = spans[number]["first_arrival_ns"], spans[number]["last_departure_ns"]
            if not is_sized(flow):
                continue
            if done_ns[number] is None:
                start_ns = round(flow.start_ms * NS_PER_MS)
                found[number] = (start_ns if begin_ns is None else begin_ns, self.latest_end_ns)
            elif last_ns is not None:
                found[number] = (begin_ns, last_ns + 1)
        return found

    @property
    def latest_end_ns(self) -> int:
        """The trial's end as the study has it, also if every flow ended before; in ns since its zero."""
        return max(int(self.result.manifest["guest"]["end_ns"]), round(self.trial.duration_s * NS_PER_S))


@dataclass(frozen=True)
class FlowWindow:
    """One flow of a trial. Its window is the measured interval, or its own span if it is of fixed size."""

    whole: TrialWindow
    number: int

    @property
    def flow(self) -> Flow:
        """The flow as the study has it."""
        return self.whole.trial.flows[self.number]

    @property
    def packets(self) -> pl.DataFrame:
        """All packets of the trial."""
        return self.whole.packets

    @property
    def is_sized(self) -> bool:
        """Does the flow end by itself?"""
        return is_sized(self.flow)

    @property
    def own_span_ns(self) -> Interval | None:
        """Of a flow of fixed size, see :attr:`TrialWindow.spans_ns`."""
        return self.whole.spans_ns.get(self.number)

    @property
    def span_ns(self) -> Interval:
        """What is measured of this flow."""
        return self.own_span_ns or self.whole.interval

    @property
    def _logged_ns(self) -> Interval | None:
        """The same until the flow's end, after which the last row of its log says nothing; None if before."""
        from_ns, to_ns = self.span_ns
        end_ns = flow_ends.end_ns(self.whole.result, self.number)
        return (from_ns, min(to_ns, end_ns)) if end_ns > from_ns else None

    @property
    def protocol(self) -> Protocol | None:
        """What it runs over, where that is known."""
        return self.whole.protocols[self.number] if self.whole.protocols else None

    @cached_property
    def delay(self) -> dict[str, Any]:
        """Its packets' time in the queue, by :func:`queueing.delay_summary`; empty without a departure."""
        if self.own_span_ns is None:
            return self.whole.delays.get(self.number, {})
        return _by_flow(queueing.delay_summary(self.packets, *self.own_span_ns)).get(self.number, {})

    @cached_property
    def payload_mbps(self) -> float | None:
        """Throughput without headers in Mbps; None if the protocol is unknown."""
        if self.protocol is None:
            return None
        return payload.payload_mbps(self.packets, self.number, self.protocol, *self.span_ns)

    @property
    def end(self) -> dict[str, Any]:
        """How it ended, by its trial's verdict (:mod:`cambrian.metrics.gates.ends`)."""
        return self.whole.result.flow_end(self.number)

    @property
    def complete_ns(self) -> int | None:
        """When the receiver had all requested bytes, in ns since the trial's zero; None if not by its end.

        Also None if the server sent another size than requested, see :func:`flow_ends.complete_ns`.
        """
        if not self.is_sized:
            return None
        return flow_ends.complete_ns(self.whole.result, self.number, self.flow.size_bytes)

    @cached_property
    def packet_bytes(self) -> int | None:
        """Payload of a full packet; None if the protocol is unknown, or without payload."""
        if self.protocol is None:
            return None
        own = self.packets.filter(pl.col("flow") == self.number)
        full = full_frame(int64(own, "size_bytes")) - payload.HEADER_BYTES[self.protocol]
        return full if full > 0 else None

    @cached_property
    def window_use(self) -> WindowUse | None:
        """Size and growth of its exported window; None without one."""
        if self.packet_bytes is None or self._logged_ns is None:
            return None
        return window_use(self.whole.result.transport, self.number, *self._logged_ns, self.packet_bytes)

    @cached_property
    def flight(self) -> Flight | None:
        """Its bytes in flight, from packets; None on a path that changes, reorders or duplicates."""
        network = self.whole.trial.network
        if not is_steady(network):
            return None
        own = self.packets.filter(pl.col("flow") == self.number)
        return flight(own, round(self.flow.base_rtt_ms(network) * NS_PER_MS))

    @cached_property
    def window_unused_percent(self) -> float | None:
        """Percent of the time in which its window is not what limits it; None without window and flight."""
        if self.packet_bytes is None or self._logged_ns is None:
            return None
        share = unused_share(self.whole.result.transport, self.number, *self._logged_ns, self.packet_bytes)
        return None if share is None else 100 * share

    @property
    def confirmed_cca(self) -> str | None:
        """The controller that the stack read back."""
        sender = EndpointEvents.of(self.whole.result.manifest, f"flow{self.number}.sender")
        return sender.read_back.name(self.flow.contestant.cca)


def is_sized(flow: Flow) -> bool:
    """Does the flow end by itself?"""
    return bool(flow.size_bytes or flow.page)


def _by_flow(frame: pl.DataFrame) -> dict[int, dict[str, Any]]:
    return {row["flow"]: row for row in frame.to_dicts() if row["flow"] is not None}
