"""Throughput of a flow, and its share of the link."""

from __future__ import annotations

from cambrian.measure.flow_window import FlowWindow
from cambrian.measure.quantity import Quantity, finite, of_hundred, percent
from cambrian.metrics import fairness, throughput, utilisation


def _throughput_mbps(window: FlowWindow) -> float:
    if window.own_span_ns is None:
        return window.whole.throughputs_mbps[window.number]
    count = len(window.whole.trial.flows)
    frame = throughput.throughput(window.packets, count, *window.own_span_ns)
    return float(frame["throughput_mbps"][window.number])


def _share_percent(window: FlowWindow) -> float | None:
    mbps = window.whole.shared_mbps
    return percent(float(fairness.shares(mbps)[window.number])) if mbps else None


def _rate_peak_percent(window: FlowWindow) -> float | None:
    trip_ns = round(window.flow.base_rtt_ms(window.whole.trial.network) * 1e6)
    peak = throughput.rate_peak(window.packets, window.number, *window.span_ns, trip_ns)
    return None if peak is None else percent(peak)


def _payload_capacity_percent(window: FlowWindow) -> float | None:
    mbps, rates = window.payload_mbps, window.whole.rates
    if mbps is None or not rates:
        return None
    from_ns, to_ns = window.span_ns
    could_mbps = utilisation.capacity_bits(rates, from_ns, to_ns) / (to_ns - from_ns) * 1e3
    return percent(mbps / could_mbps)


QUANTITIES = (
    Quantity(
        "throughput_mbps",
        "frames (IP packet + 14 bytes) that left the bottleneck over the measured interval; flows of fixed "
        "size and pages: over their own span, or to the trial's planned end if they never were complete",
        heading="Throughput, Mbps",
        formula="Throughput",
        window=_throughput_mbps,
    ),
    Quantity(
        "payload_mbps",
        "the same less 42 (QUIC: Ethernet+IP+UDP) or 66 (TCP: Ethernet+IP+TCP+timestamps) a frame; "
        "= rate×1448/1514 on a full link for TCP",
        formula="Throughput",
        window=lambda window: window.payload_mbps,
    ),
    Quantity(
        "share_percent",
        "the flow's throughput in percent of the throughput of all flows, over the part of the measured "
        "interval in which all flows have started; null in a trial with a flow of fixed size",
        heading="Share of throughput, %",
        digits=0,
        formula="Fairness",
        window=_share_percent,
        ends=of_hundred,
    ),
    Quantity(
        "rate_peak_percent",
        "largest sending rate within a round trip, or within 32 packets if that is longer, in percent of the "
        "median one; about 100 for a constant rate; null if the measured interval is shorter than 10 s or "
        "100 round trips, or half of it silent",
        formula="Throughput",
        window=_rate_peak_percent,
    ),
    Quantity(
        "payload_capacity_percent",
        "`payload_mbps` in percent of what the link could carry in that time (schedule counted); null on a "
        "trace",
        formula="Utilisation and rate",
        window=_payload_capacity_percent,
    ),
    Quantity(
        "of_fair_percent",
        "throughput in percent of the max-min fair share, over the same time as `share_percent`",
        heading="Of its max-min fair share, %",
        digits=0,
        formula="Fairness",
        trial=lambda trial, number: (
            percent(trial.sharing.of_fair[number]) if trial.sharing and trial.sharing.of_fair else None
        ),
    ),
    Quantity(
        "jain",
        "Jain's index of the flows' throughput, over the same time as `share_percent`",
        level="trial",
        heading="Jain’s index",
        digits=3,
        formula="Fairness",
        trial=lambda trial, _: finite(trial.jain),
        ends=lambda flows: (1 / flows, 1.0),
    ),
    Quantity(
        "utilisation_percent",
        "bytes that left the bottleneck in percent of what the link could carry, over the measured interval",
        level="trial",
        heading="Utilisation of the link, %",
        formula="Utilisation and rate",
        trial=lambda trial, _: percent(trial.utilisation),
        ends=of_hundred,
    ),
)
