"""Losses of a flow: drops by the queue, and random losses."""

from __future__ import annotations

from cambrian.measure.flow_window import FlowWindow
from cambrian.measure.quantity import Quantity, of_hundred, percent


def _interval_queue_loss_percent(window: FlowWindow) -> float | None:
    return None if window.is_sized else percent(window.whole.queue_loss_ratios[window.number])


QUANTITIES = (
    Quantity(
        "queue_loss_percent",
        "packets that the queue dropped, in percent of the flow's packets that reached it, over the whole "
        "trial; null if none reached it",
        heading="Queue loss, %",
        digits=2,
        formula="Loss",
        window=lambda window: percent(window.whole.losses[window.number]["queue_loss_ratio"]),
        ends=of_hundred,
    ),
    Quantity(
        "random_loss_percent",
        "packets lost on the flow's own link, in percent of the packets offered to it, as counted there, "
        "over the whole trial",
        heading="Random loss, %",
        digits=2,
        formula="Loss",
        window=lambda window: percent(window.whole.losses[window.number]["random_loss_ratio"]),
        ends=of_hundred,
    ),
    Quantity(
        "interval_queue_loss_percent",
        "packets that the queue dropped, in percent of the flow's packets that reached it, over the measured "
        "interval; null for a flow of fixed size",
        formula="Loss",
        window=_interval_queue_loss_percent,
        ends=of_hundred,
    ),
)
