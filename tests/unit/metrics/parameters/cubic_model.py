"""The sender model with CUBIC's congestion avoidance, written from RFC 9438, for known truths."""

from __future__ import annotations

from dataclasses import dataclass

from tests.unit.metrics.parameters.sender_model import RTT, Sender


@dataclass
class CubicSender(Sender):
    """``c``, ``converging`` (W_max over the window at a loss below the last one), ``alpha`` as in the RFC.

    ``rfc8312``: K counts from β·W_max. ``taken_back``: every so many reductions one lasts, and the
    others are undone a (queued) round trip later.
    """

    c: float = 0.4
    converging: float = 0.85
    alpha: float = 0.529
    rfc8312: bool = False
    taken_back: int = 1
    w_max: float = 0.0
    began: int | None = None
    estimate: float = 0.0
    reductions: int = 0
    undo: tuple[int, float] | None = None

    def _ack(self, now: int, count: int) -> None:
        self.flight -= count
        if not self.lossy:
            self.window += self.growth(self.window, count)
        elif self.undo is not None and now > self.undo[0]:
            self.window, self.undo = self.undo[1], None
        elif now > self.recovered - RTT:
            self._cubic(now, count)
        self.transport.append((now, "ack", self.window))
        self._go(now, 0)

    def _cubic(self, now: int, count: int) -> None:
        if self.began is None:
            self.began = now
            self.origin = max(self.w_max, self.window)
            self.from_segments = self.beta * self.origin if self.rfc8312 else self.window
            self.estimate = self.from_segments
        k_s = ((self.origin - self.from_segments) / self.c) ** (1 / 3)
        t_s = (now - self.began) / 1e9
        target = self.c * (t_s + RTT / 1e9 - k_s) ** 3 + self.origin
        target = min(max(target, self.window), 1.5 * self.window)
        grown = self.window + (target - self.window) / self.window * count
        self.estimate += self.alpha * count / self.window
        if self.c * (t_s - k_s) ** 3 + self.origin < self.estimate:
            grown = max(grown, self.estimate)
        self.window = grown

    def _loss(self, now: int, count: int) -> None:
        before, was = self.window, self.recovered
        super()._loss(now, count)
        if self.recovered == was:
            return
        self.reductions += 1
        if self.reductions % self.taken_back:
            self.undo = (now + 2 * RTT, before)
            return
        self.w_max = before * self.converging if before < self.w_max else before
        self.began = None
