"""The sender model with faults that are no parameter: what it does at a loss, or does not."""

from __future__ import annotations

from dataclasses import dataclass

from tests.unit.metrics.parameters.cubic_model import CubicSender
from tests.unit.metrics.parameters.sender_model import RTT


@dataclass
class CutsEachPacket(CubicSender):
    """The window is cut for each lost packet, not once a round trip."""

    def _loss(self, now: int, count: int) -> None:
        self.recovered = min(self.recovered, now - 1)
        super()._loss(now, count)
        self.window = max(self.window, 4.0)


@dataclass
class IgnoresEveryOther(CubicSender):
    """Every other congestion event is ignored."""

    seen: int = 0
    ignored_until: int = 0

    def _loss(self, now: int, count: int) -> None:
        if now > self.recovered and now > self.ignored_until:
            self.seen += 1
            if self.seen % 2 == 0:
                self.ignored_until = now + 2 * RTT
        if now <= self.ignored_until:
            self.flight -= count
            self.transport.append((now, "loss", self.window))
            self._go(now, 0)
            return
        super()._loss(now, count)


@dataclass
class SlowStartsBack(CubicSender):
    """After a cut it grows by a packet for each that is acknowledged, back to where it was and on."""

    def _cubic(self, now: int, count: int) -> None:
        self.window += count if self.window < self.w_max else count / self.window


@dataclass
class IgnoresIsolated(CubicSender):
    """A loss counts only if another one came less than a round trip before it."""

    last: int = -(10**12)

    def _loss(self, now: int, count: int) -> None:
        isolated, self.last = now - self.last > RTT, now
        if isolated and self.lossy:
            self.flight -= count
            self.transport.append((now, "loss", self.window))
            self._go(now, 0)
            return
        super()._loss(now, count)
