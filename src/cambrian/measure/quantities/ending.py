"""How a flow ended."""

from __future__ import annotations

from cambrian.measure.quantity import FLOAT, TEXT, Quantity

QUANTITIES = (
    Quantity(
        "outcome",
        "how the flow ended: ran, finished, gave up, fell silent, never sent (docs/reference/metrics.md); "
        "for the last three, the figures are what the flow carried, over the whole interval",
        TEXT,
        window=lambda window: window.end.get("outcome"),
    ),
    Quantity(
        "ended_s",
        "when it ended, after the trial's zero; null for one that ran on, or never sent",
        FLOAT,
        window=lambda window: window.end.get("ended_s"),
    ),
)
