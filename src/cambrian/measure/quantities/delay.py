"""Queueing delay of a flow's own packets."""

from __future__ import annotations

from cambrian.measure.quantity import Quantity

QUANTITIES = (
    Quantity(
        "delay_p50_ms",
        "queueing delay of this flow's own packets over the measured interval: median",
        heading="Median queueing delay, ms",
        formula="Queueing",
        window=lambda window: window.delay.get("p50_ms"),
    ),
    Quantity(
        "delay_p95_ms",
        "likewise: 95th percentile",
        formula="Queueing",
        window=lambda window: window.delay.get("p95_ms"),
        heading="95th percentile of delay, ms",
    ),
    Quantity(
        "delay_p99_ms",
        "likewise: 99th percentile",
        formula="Queueing",
        window=lambda window: window.delay.get("p99_ms"),
    ),
    Quantity(
        "delay_mean_ms",
        "likewise: mean, which Little's law relates to the mean queue",
        formula="Queueing",
        window=lambda window: window.delay.get("mean_ms"),
    ),
    Quantity(
        "delay_max_ms",
        "likewise: longest",
        formula="Queueing",
        window=lambda window: window.delay.get("max_ms"),
    ),
)
