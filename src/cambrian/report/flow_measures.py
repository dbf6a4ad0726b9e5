"""One flow's figures in one trial."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from cambrian.metrics import completion, fairness, loss, pauses, payload, queueing, throughput, utilisation
from cambrian.metrics.columns import NS_PER_MS, NS_PER_S
from cambrian.metrics.gates import ENDED_EARLY
from cambrian.metrics.payload import Protocol
from cambrian.metrics.window_use import window_use
from cambrian.store.results import TrialResult
from cambrian.study.model import Flow, Trial
from cambrian.trace.endpoint_events import EndpointEvents

Interval = tuple[int, int]


@dataclass(frozen=True)
class FlowMeasures:
    """One flow of one trial.

    Throughput, payload, share, queueing delay (of this flow's own packets) and window over the
    trial's measured interval, or, for a flow of fixed size, over its own span at the bottleneck.
    ``share`` is NaN in a trial with a flow of fixed size; ``payload_capacity_share``, payload of what
    the bottleneck could carry, is None for a link that follows a trace. Losses are over the whole trial,
    in percent, None where nothing was sent; ``interval_queue_loss_percent`` alone is over the measured
    interval (None for a flow of fixed size). ``confirmed_cca`` is None where the stack offers
    no way to read it back; ``completion_s`` is the span of a flow of fixed size that was
    carried whole; ``fetch_s``, of one that is no page, the time from its client's start until that
    had all of it; ``longest_pause_ms``, within the measured interval, the longest time without a departure.
    Windows are in full packets of the flow, None where its trace names none
    (:class:`cambrian.metrics.window_use.WindowUse`). ``packet_mean_bytes`` is of its IP packets that left.
    ``outcome`` is how the flow
    ended (:mod:`cambrian.metrics.gates.ends`) and ``ended_s`` when, since the trial's zero; both None where
    its trial's verdict does not say. A flow that ended early has its figures over the whole interval.
    """

    throughput_mbps: float
    share: float
    delay_p50_ms: float | None
    delay_p95_ms: float | None
    delay_p99_ms: float | None
    queue_loss_percent: float | None
    random_loss_percent: float | None
    interval_queue_loss_percent: float | None
    requested_cca: str
    confirmed_cca: str | None
    completion_s: float | None
    fetch_s: float | None = None
    longest_pause_ms: float | None = None
    payload_mbps: float | None = None
    payload_capacity_share: float | None = None
    cwnd_mean_packets: float | None = None
    cwnd_most_packets: float | None = None
    cwnd_growth_packets_per_s: float | None = None
    cwnd_rises_per_s: float | None = None
    cwnd_rate_mbps: float | None = None
    packet_mean_bytes: float | None = None
    outcome: str | None = None
    ended_s: float | None = None

    @property
    def ended_early(self) -> bool:
        """Did it give up, fall silent or never get through?"""
        return self.outcome in ENDED_EARLY


def of(
    result: TrialResult,
    trial: Trial,
    interval: Interval,
    rates: Sequence[tuple[int, float]],
    protocols: Sequence[Protocol | None],
) -> tuple[FlowMeasures, ...]:
    """Every flow of a trial.

    Parameters:
        interval: what is measured of flows that never end, in nanoseconds.
        rates: the bottleneck's steps ``(from_ns, rate_mbps)``; empty for a trace.
        protocols: one a flow, None where it is unknown; or none at all.
    """
    manifest, packets, count = result.manifest, result.packets, len(trial.flows)
    mbps = throughput.throughput(packets, count, *interval)["throughput_mbps"].to_list()
    shares = fairness.shares(mbps).tolist()
    delays = _by_flow(queueing.delay_summary(packets, *interval))
    losses = _losses(result)
    queue_losses = loss.queue_loss_ratios(packets, count, *interval)
    spans: dict[int, Interval] = {}
    if any(is_sized(flow) for flow in trial.flows):
        shares = [math.nan] * count
        spans = _spans_ns(trial, packets)
        for number, span in spans.items():
            mbps[number] = throughput.throughput(packets, count, *span)["throughput_mbps"][number]
            delays[number] = _by_flow(queueing.delay_summary(packets, *span))[number]
    found = []
    for number, flow in enumerate(trial.flows):
        delay, end = delays.get(number, {}), result.flow_end(number)
        seen = spans.get(number, interval)
        protocol = protocols[number] if protocols else None
        payload_mbps = payload.payload_mbps(packets, number, protocol, *seen) if protocol else None
        complete_ns = _complete_ns(manifest, number, flow.size_bytes) if is_sized(flow) else None
        found.append(
            FlowMeasures(
                throughput_mbps=mbps[number],
                share=shares[number],
                delay_p50_ms=delay.get("p50_ms"),
                delay_p95_ms=delay.get("p95_ms"),
                delay_p99_ms=delay.get("p99_ms"),
                queue_loss_percent=_percent(losses[number]["queue_loss_ratio"]),
                random_loss_percent=_percent(losses[number]["random_loss_ratio"]),
                interval_queue_loss_percent=None if is_sized(flow) else _percent(queue_losses[number]),
                requested_cca=flow.contestant.cca,
                confirmed_cca=EndpointEvents.of(manifest, f"flow{number}.sender").read_back.name(
                    flow.contestant.cca
                ),
                completion_s=_length_s(spans.get(number)) if complete_ns is not None else None,
                fetch_s=_fetch_s(flow, complete_ns),
                longest_pause_ms=pauses.longest_pause_ns(packets, number, *seen) / NS_PER_MS,
                payload_mbps=payload_mbps,
                payload_capacity_share=_capacity_share(payload_mbps, rates, seen),
                packet_mean_bytes=payload.mean_packet_bytes(packets, number, *seen),
                **_window(result, number, protocol, seen),
                outcome=end.get("outcome"),
                ended_s=end.get("ended_s"),
            )
        )
    return tuple(found)


def is_sized(flow: Flow) -> bool:
    """Does the flow end by itself?"""
    return bool(flow.size_bytes or flow.page)


def _by_flow(frame: pl.DataFrame) -> dict[int, dict[str, Any]]:
    return {row["flow"]: row for row in frame.to_dicts() if row["flow"] is not None}


def _spans_ns(trial: Trial, packets: pl.DataFrame) -> dict[int, Interval]:
    """First arrival and just after the last departure of each flow of fixed size."""
    spans = completion.flow_spans(packets, len(trial.flows)).to_dicts()
    return {
        number: (spans[number]["first_arrival_ns"], spans[number]["last_departure_ns"] + 1)
        for number, flow in enumerate(trial.flows)
        if is_sized(flow) and spans[number]["last_departure_ns"] is not None
    }


def _losses(result: TrialResult) -> list[dict[str, Any]]:
    counts = result.link_counts("forward")
    offered, lost = [count.offered for count in counts], [count.lost for count in counts]
    return loss.loss(result.packets, offered, lost).to_dicts()


def _percent(ratio: float | None) -> float | None:
    return None if ratio is None else 100 * ratio


def _complete_ns(manifest: dict[str, Any], number: int, size_bytes: int) -> int | None:
    """When the receiver had all that it asked for, since the trial's zero; None where it never had.

    None too where it was sent another size (0 takes any): servers that are not ours answer with bodies
    of their own size, and when the last of them is there more has been carried than was asked for.
    """
    done = EndpointEvents.of(manifest, f"flow{number}.receiver").done
    if done is None or not done.complete or (size_bytes and done.bytes != size_bytes):
        return None
    return done.time_ns - int(manifest["guest"]["zero_ns"])


def _length_s(span: Interval | None) -> float | None:
    return None if span is None else (span[1] - span[0]) / NS_PER_S


def _fetch_s(flow: Flow, complete_ns: int | None) -> float | None:
    """A page's loads are timed by their clients (:mod:`cambrian.metrics.pageload`)."""
    if complete_ns is None or flow.page:
        return None
    return (complete_ns - flow.start_ms * NS_PER_MS) / NS_PER_S


def _capacity_share(mbps: float | None, rates: Sequence[tuple[int, float]], span: Interval) -> float | None:
    if mbps is None or not rates:
        return None
    could_mbps = utilisation.capacity_bits(rates, *span) / (span[1] - span[0]) * 1e3
    return mbps / could_mbps


def _window(
    result: TrialResult, number: int, protocol: Protocol | None, span: Interval
) -> dict[str, float | None]:
    packet_bytes = payload.full_payload_bytes(result.packets, number, protocol) if protocol else None
    if packet_bytes is None:
        return {}
    used = window_use(result.transport, number, *span, packet_bytes)
    if used is None:
        return {}
    return {
        "cwnd_mean_packets": used.mean_bytes / packet_bytes,
        "cwnd_most_packets": used.most_bytes / packet_bytes,
        "cwnd_growth_packets_per_s": used.growth_bytes_per_s / packet_bytes,
        "cwnd_rises_per_s": used.rises_per_s,
        "cwnd_rate_mbps": used.rate_mbps,
    }
