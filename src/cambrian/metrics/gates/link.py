"""Gates on the emulated network: rate, base RTT, buffer, saturation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

from cambrian.metrics.columns import int64, require
from cambrian.metrics.gates.verdict import Gate
from cambrian.metrics.queueing import queue_on_arrival
from cambrian.metrics.throughput import grows
from cambrian.metrics.utilisation import busy, capacity_bits, utilisation

#: the length of a run of departures is known within two ticks of the virtual clock, 256 ns each
_RUN_KNOWN_NS = 512
#: a random loss may deviate from its share by this many standard deviations, plus some packets
_LOSS_DEVIATIONS = 6.0
_LOSS_SPARE = 3


def rate_gate(
    packets: pl.DataFrame, rate_mbps: float, burst_bytes: int, tolerance_percent: float = 1.0
) -> Gate:
    """The bottleneck's rate while it was busy, against the configured one.

    Times have a resolution, which is much of a run of one small packet: it adds to the tolerance.
    """
    name = "rate"
    found = busy(packets, burst_bytes)
    if found is None:
        return Gate(name, None, None, rate_mbps, f"{name}: not measured, the bottleneck was never busy")
    error = (found.rate_mbps / rate_mbps - 1) * 100
    known_percent = 100 * found.runs * _RUN_KNOWN_NS / found.busy_ns
    text = f"{name}: {found.rate_mbps:.4f} Mbps while busy, configured {rate_mbps:g} Mbps ({error:+.3f} %)"
    if known_percent > tolerance_percent:
        text += f"; busy for only {found.busy_ns / 1e3:.1f} µs, so known within {known_percent:.1f} %"
    return Gate(name, abs(error) <= tolerance_percent + known_percent, found.rate_mbps, rate_mbps, text)


def rtt_gate(measured_ms: float | None, configured_ms: float, tolerance_ms: float) -> Gate:
    """The round trip without queueing, as the guest measured it, against the configured one.

    ``measured_ms`` is the smallest of the samples. The tolerance belongs to how it was
    measured: a ping before the flows start can be held to microseconds, the minimum of a
    stack's sRTT includes serialisation, acknowledgement delay and perhaps a standing queue.
    """
    name = "base RTT"
    if measured_ms is None:
        return Gate(name, None, None, configured_ms, f"{name}: not measured")
    error_ms = measured_ms - configured_ms
    text = f"{name}: {measured_ms:.4f} ms, configured {configured_ms:g} ms ({error_ms:+.4f} ms)"
    return Gate(name, abs(error_ms) <= tolerance_ms, measured_ms, configured_ms, text)


@dataclass(frozen=True)
class Limit:
    """A drop-tail queue's limit: ``amount`` bytes (bfifo) or packets (pfifo).

    With ``one_in_transit`` a packet that is partly sent no longer counts against it, as in Mahimahi:
    an opportunity of a trace-driven link begins the next packet with what the last one left of it.
    """

    amount: int
    unit: Literal["bytes", "packets"] = "bytes"
    one_in_transit: bool = False


def buffer_gate(packets: pl.DataFrame, limit: Limit, slack_ns: int = 1_000) -> Gate:
    """A drop-tail queue drops a packet if and only if it does not fit.

    Linux's bfifo accepts a packet when backlog + size ≤ limit. Two violations: a packet
    dropped though it surely fitted (the buffer is smaller than configured, or something
    else drops), and one accepted though it surely did not (larger). "Surely" grants the
    doubt of events within ``slack_ns`` of each other. A packet is known to be accepted once it has
    departed: one that came in the last moment may be called queued, though it was dropped, since
    no later one left to show it. The measured figure is the largest backlog that surely was there, the
    packet just accepted included.
    """
    name = "buffer"
    require(packets, "outcome", "size_bytes")
    expected = f"{limit.amount} {limit.unit}"
    if packets.height == 0:
        return Gate(name, None, None, expected, f"{name}: not measured, no packet arrived")
    in_packets = limit.unit == "packets"
    size = np.ones(packets.height, dtype=np.int64) if in_packets else int64(packets, "size_bytes")
    found = queue_on_arrival(packets, in_packets=in_packets, slack_ns=slack_ns)
    dropped = (packets.get_column("outcome") == "dropped").to_numpy()
    accepted = (packets.get_column("outcome") == "departed").to_numpy()
    early = int((dropped & (found.most + size <= limit.amount)).sum())
    beyond = int(size.max()) if limit.one_in_transit else 0
    over = int((accepted & (found.least + size > limit.amount + beyond)).sum())
    largest = int((found.least + size)[accepted].max(initial=0))
    text = f"{name}: largest backlog {largest} {limit.unit} of {expected}, {int(dropped.sum())} dropped"
    if early:
        text += f"; {early} packet(s) dropped although they fitted"
    if over:
        text += f"; {over} packet(s) accepted beyond the limit"
    if not dropped.any() and not over:
        text += "; nothing was dropped, so the limit itself was not reached"
    return Gate(name, not (early or over), float(largest), expected, text)


def saturation_gate(
    packets: pl.DataFrame, rate_mbps: float, t0_ns: int, t1_ns: int, threshold: float = 0.8
) -> Gate:
    """Bulk flows should fill the bottleneck in [t0_ns, t1_ns), or have had a congestion signal.

    Below ``threshold`` the cause decides. If the queue dropped or marked packets in the
    interval, the controllers reacted to congestion: that is a finding about them, and the
    gate gives a note. The same holds after earlier signals if the senders grow in the interval: on a large
    path Reno needs minutes to come back. Otherwise the application, a window or the controller limited the
    senders. Packets do not tell which, so the trial is invalid.
    """
    name = "saturation"
    require(packets, "arrival_ns", "outcome", "ce")
    used = utilisation(packets, capacity_bits([(0, rate_mbps)], t0_ns, t1_ns), t0_ns, t1_ns)
    text = f"{name}: {used:.1%} of the bottleneck used after the warm-up, at least {threshold:.0%} expected"
    if used >= threshold:
        return Gate(name, True, used, threshold, text)
    signal = (pl.col("outcome") == "dropped") | pl.col("ce").fill_null(False)
    signals = packets.filter(signal & (pl.col("arrival_ns") < t1_ns))
    within = signals.filter(pl.col("arrival_ns") >= t0_ns).height
    if within:
        return Gate(name, None, used, threshold, f"{text}; {within} packets were dropped or marked")
    if signals.height and grows(packets, t0_ns, t1_ns):
        text += f"; {signals.height} packets were dropped or marked before, and the senders grow since then"
        return Gate(name, None, used, threshold, text)
    causes = (
        "the application, a send or receive window, or the controller itself limited the senders "
        "(if the controller does, say why in its manifest: causes.capacity)"
    )
    text += f"; no packet was dropped or marked after the warm-up: {causes}"
    return Gate(name, False, used, threshold, text)


def trace_link_gate(overflowed_packets: int | None) -> Gate:
    """The program that plays a trace must have run to the end, and seen every packet.

    ``overflowed_packets``: those that the kernel dropped before it had read them; None if it failed or
    did not report them.
    """
    name = "trace link"
    if overflowed_packets is None:
        return Gate(name, False, None, 0, f"{name}: its program did not report what it counted")
    text = f"{name}: {overflowed_packets} packet(s) dropped before the program had read them"
    return Gate(name, overflowed_packets == 0, overflowed_packets, 0, text)


def loss_gate(label: str, offered_packets: int, lost_packets: int, loss_percent: float) -> Gate:
    """A link must lose the configured share of its packets, and none without a configured loss."""
    name = "link loss"
    share = loss_percent / 100
    expected = share * offered_packets
    allowed = _LOSS_DEVIATIONS * math.sqrt(expected * (1 - share)) + _LOSS_SPARE if loss_percent else 0.0
    text = (
        f"{name}: {label} lost {lost_packets} of {offered_packets} packets; {loss_percent:g} % "
        f"of them are {expected:.0f}"
    )
    return Gate(name, abs(lost_packets - expected) <= allowed, lost_packets, round(expected, 1), text)
