"""The quantities that a gate compares, with the change of each that has no practical effect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cambrian.stats.states import CONFORMANCE, SHARE_PERCENT


@dataclass(frozen=True)
class Change:
    """A change within ``± part`` of the earlier mean, or within ``± least``, has no practical effect.

    ``title`` is the quantity in words. ``least`` is in the quantity's unit. The larger of the two counts;
    ``why`` gives the reason.
    """

    title: str
    part: float
    least: float
    why: str

    def margin(self, earlier: float) -> float:
        """The largest change without effect, in the quantity's unit."""
        return max(self.part * abs(earlier), self.least)


#: quantity → the change of it that has no effect; docs/how-to/gate-a-ci.md lists them
MARGINS: Mapping[str, Change] = {
    "throughput_mbps": Change("throughput", 0.05, 0.05, "a twentieth, as for a share of 45 to 55 of 100"),
    # only trials of two flows have it in a snapshot: of more flows 5 points would be too much
    "share_percent": Change("share of throughput", 0.0, SHARE_PERCENT.high, SHARE_PERCENT.why),
    "delay_mean_ms": Change("mean queueing delay", 0.1, 2.0, "a tenth, or less than two packets at 10 Mbps"),
    "delay_p95_ms": Change(
        "95th percentile of queueing delay", 0.1, 2.0, "a tenth, or less than two packets at 10 Mbps"
    ),
    "queue_loss_percent": Change("queue loss", 0.25, 0.1, "a quarter, or one packet in a thousand"),
    "redundant_percent": Change("redundant bytes", 0.25, 0.2, "a quarter, or two packets in a thousand"),
    "longest_pause_ms": Change(
        "longest pause", 0.25, 200.0, "a quarter, or one round trip and its retransmission timeout"
    ),
    "packet_mean_bytes": Change(
        "mean packet size", 0.02, 20.0, "2 %: the mean changes a little with the number of short packets"
    ),
    "conformance": Change("conformance", 0.0, CONFORMANCE.high, CONFORMANCE.why),
    "plt_ms": Change("page load time", 0.05, 20.0, "a twentieth, or about one frame of a 60 Hz screen"),
    "completion_s": Change(
        "transfer time at the bottleneck", 0.05, 0.02, "a twentieth, or about one frame of a 60 Hz screen"
    ),
    # begins before the handshake, unlike the transfer time
    "fetch_s": Change("fetch time", 0.05, 0.02, "a twentieth, or about one frame of a 60 Hz screen"),
}
