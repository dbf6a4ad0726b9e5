"""CUBIC's model with other answers to congestion: to marks, and by the bytes in flight."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import polars as pl

from cambrian.metrics.parameters.flow_trace import FlowTrace
from tests.unit.metrics.parameters.cubic_model import CubicSender
from tests.unit.metrics.parameters.sender_model import RTT


@dataclass
class MarkedSender(CubicSender):
    """The queue marks from ``mark_at`` packets on, as well as it drops what its buffer does not hold.

    ``beta_marks``: what is left of the window after a mark (RFC 8511: up to 0.85).
    """

    mark_at: int = 40
    beta_marks: float = 0.85
    marks: set[int] = field(default_factory=set)

    def _enqueue(self, arrival: int) -> None:
        before = len(self.rows)
        super()._enqueue(arrival)
        departure = self.rows[before][1]
        if departure is not None and len(self.queued) > self.mark_at:
            self.marks.add(arrival)
            self._at(departure + RTT // 2, "mark", 0)

    def _mark(self, now: int, _: int) -> None:
        if now > self.recovered:
            losses, self.beta = self.beta, self.beta_marks
            self._loss(now, 0)
            self.beta = losses

    def _trace(self, settings: dict[str, Any]) -> FlowTrace:
        trace = super()._trace(settings)
        marked = pl.col("arrival_ns").is_in(list(self.marks)) & (pl.col("outcome") == "departed")
        return FlowTrace(**(vars(trace) | {"packets": trace.packets.with_columns(ce=marked)}))


@dataclass
class CutsFlight(CubicSender):
    """β of the bytes in flight when a loss is declared, as RFC 9438, section 4.6, writes it.

    The acknowledgement that tells of the loss has taken its packets off, and the loss its own.
    """

    def _loss(self, now: int, count: int) -> None:
        if now > self.recovered:
            whole, self.window = self.window, self.flight - count - self.ack_every
            super()._loss(now, count)
            # fast convergence counts from the window
            self.w_max = whole
            return
        super()._loss(now, count)
