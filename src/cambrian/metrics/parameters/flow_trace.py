"""The input of the estimators: one flow of one trial."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl


@dataclass(frozen=True)
class FlowTrace:
    """One flow's packets, its transport trace, and what was configured.

    ``packets``: this flow's rows of ``packets`` (see :mod:`cambrian.metrics.columns`), in order
    of arrival. ``transport``: its rows of ``transport`` (``time_ns``, ``event``, ``cwnd_bytes``,
    ``ssthresh_bytes``, ``in_flight_bytes``, ``srtt_us``, ``pacing_bps``, ``state``), in order of
    time; without rows if the stack exports nothing.

    ``family``: the kernel CCA that the contestant is judged against (``cubic``, ``reno``,
    ``bbr``, …). ``protocol``: ``quic`` or ``tcp``. ``other_transport``: it may be another transport over
    UDP than QUIC, with rules of its own. ``rtt_ms``: the flow's round trip without
    queueing; ``forward_delay_ms`` is its part before the bottleneck's queue.
    ``rate_mbps``: the bottleneck's (frames); None for a link that follows a trace.
    ``start_ns``, ``end_ns``: when the flow was started, and when it ended (complete, ended early, or with the
    trial); all times count from the trial's zero. ``alone``: no other flow shares the bottleneck.
    ``steady``: neither rate, RTT nor loss changes in the trial, and nothing reorders, jitters or duplicates.
    ``changing``: if it is not steady, what the path does, as a clause.
    ``random_loss``: the path itself loses packets, before the capture point.
    ``slow_receiver``: its receiver has a slow CPU, and may lose packets behind the queue.
    ``acks``: packets that the receiver's link was offered (handshake included).
    """

    packets: pl.DataFrame
    transport: pl.DataFrame
    family: str
    protocol: str
    rtt_ms: float
    forward_delay_ms: float
    rate_mbps: float | None
    start_ns: int
    end_ns: int
    alone: bool
    steady: bool
    random_loss: bool
    acks: int | None
    slow_receiver: bool = False
    changing: str = "the path changes"
    other_transport: bool = False

    @property
    def rtt_ns(self) -> int:
        """The round trip without queueing, in nanoseconds."""
        return round(self.rtt_ms * 1e6)

    @property
    def forward_ns(self) -> int:
        """Delay from the sender to the queue: sent = arrival − this."""
        return round(self.forward_delay_ms * 1e6)

    @property
    def hidden(self) -> str | None:
        """Why packets alone do not give the flight; None if they do."""
        if self.random_loss:
            return "the path loses packets before the capture point"
        if not self.alone:
            return "other flows share the queue: their drops and delays disturb the flight"
        if not self.steady:
            return f"{self.changing}, so the flight is unknown"
        if self.slow_receiver:
            return "a slow receiver acknowledges late and loses packets, so the flight is unknown"
        return None

    @property
    def back_ns(self) -> int:
        """Delay from the queue to the receiver and back: acknowledged ≥ departure + this."""
        return self.rtt_ns - self.forward_ns

    @property
    def has_window(self) -> bool:
        """Does the stack export its congestion window?"""
        return bool(self.transport.height) and self.transport["cwnd_bytes"].is_not_null().any()
