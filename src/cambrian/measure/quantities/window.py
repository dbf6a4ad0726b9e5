"""A flow's congestion window by its own trace, and the size of its packets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cambrian.judging.flow_traces import loses
from cambrian.measure.flow_window import FlowWindow
from cambrian.measure.quantity import Quantity, of_difference, of_hundred
from cambrian.metrics import flight_growth, payload
from cambrian.metrics.window_use import WindowUse


def _used(figure: Callable[[WindowUse, int], float | None]) -> Any:
    def value(window: FlowWindow) -> float | None:
        if window.packet_bytes is None or window.window_use is None:
            return None
        return figure(window.window_use, window.packet_bytes)

    return value


def _flight_growth(window: FlowWindow) -> float | None:
    if window.is_sized or window.flight is None or loses(window.whole.trial.network):
        return None
    return flight_growth.packets_per_trip(window.flight, *window.span_ns)


QUANTITIES = (
    Quantity(
        "cwnd_mean_packets",
        "mean over time, in full packets of the flow (cwnd bytes / payload of its full frame, which 95 % of "
        "its bytes do not exceed); null without transport trace, or if the flow ended before the interval",
        window=_used(lambda used, packet_bytes: used.mean_bytes / packet_bytes),
    ),
    Quantity(
        "cwnd_most_packets",
        "largest window",
        window=_used(lambda used, packet_bytes: used.most_bytes / packet_bytes),
    ),
    Quantity(
        "cwnd_growth_packets_per_s",
        "sum of all increases of the window, per second",
        window=_used(lambda used, packet_bytes: used.growth_bytes_per_s / packet_bytes),
    ),
    Quantity(
        "cwnd_rises_per_s",
        "how often the window passes one more whole packet, per second",
        window=_used(lambda used, _: used.rises_per_s),
    ),
    Quantity(
        "cwnd_rate_mbps",
        "window divided by smoothed RTT, mean over time; a pacer multiplies it by its gain",
        window=_used(lambda used, _: used.rate_mbps),
    ),
    Quantity(
        "window_unused_percent",
        "part of the time in which by the sender's log less than 80 % of the window is in flight and three "
        "more packets would fit: its application, its receiver or another limit decides what it sends; 0 if "
        "the window grew to more than twice its first size without being used; null without transport "
        "trace, or if the flow ended before the interval",
        window=lambda window: window.window_unused_percent,
        ends=of_hundred,
    ),
    Quantity(
        "flight_growth_packets",
        "full packets by which its flight grows in a round trip while none of its packets is dropped or "
        "marked; null with fewer than 40 round trips in stretches of eight and more, in less than 10 s, for "
        "flows of fixed size and pages, and on a path that changes, reorders, duplicates or itself loses "
        "packets",
        window=_flight_growth,
        ends=of_difference,
    ),
    Quantity(
        "packet_mean_bytes",
        "mean size of the IP packets that left the bottleneck over the measured interval; flows of fixed "
        "size and pages: over their own span, or to the trial's planned end if they never were complete",
        window=lambda window: payload.mean_packet_bytes(window.packets, window.number, *window.span_ns),
    ),
)
