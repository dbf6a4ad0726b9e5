"""Theory: mean windows of Reno and CUBIC at a given loss rate.

Windows are in segments (one maximum segment size each); ``loss_ratio`` is the probability
that a segment is lost, or more exactly of a congestion event per segment: if one event
loses several segments, count the event once. Both models assume periodic loss, a sender
limited only by its window, and no timeouts.
"""

from __future__ import annotations

import math

#: RFC 9438, section 4: CUBIC's aggressiveness (segments/s³) and multiplicative decrease.
CUBIC_C = 0.4
CUBIC_BETA = 0.7


def _check_loss(loss_ratio: float) -> None:
    if not 0 < loss_ratio <= 1:
        raise ValueError(f"loss_ratio is {loss_ratio}; the models need a ratio in (0, 1]")


def reno_window_segments(loss_ratio: float, segments_per_ack: int = 1) -> float:
    """Mean congestion window of Reno, √(3 / (2·b·p)) segments.

    b = ``segments_per_ack``: 1 when every segment is acknowledged or the sender counts
    bytes (RFC 3465, as Linux does), giving √(3/2)/√p = 1.2247…/√p; 2 for delayed ACKs with
    a sender that counts ACKs, giving √(3/4)/√p. Source: Mathis, Semke, Mahdavi, Ott, CCR
    27(3), 1997, table 1.
    """
    _check_loss(loss_ratio)
    if segments_per_ack < 1:
        raise ValueError(f"segments_per_ack is {segments_per_ack}; it must be at least 1")
    return math.sqrt(3 / (2 * segments_per_ack * loss_ratio))


def cubic_window_segments(
    loss_ratio: float, rtt_s: float, c: float = CUBIC_C, beta: float = CUBIC_BETA
) -> float:
    """Mean window of CUBIC in its cubic region, in segments.

    AVG_W = ⁴√(C·(3+β) / (4·(1-β))) · ⁴√(RTT³/p³), RTT in seconds: the time between two
    losses is ⁴√ of the segments between them, so a long round trip costs CUBIC less than
    Reno. Source: RFC 9438, section 5.
    """
    _check_loss(loss_ratio)
    if rtt_s <= 0:
        raise ValueError(f"rtt_s is {rtt_s}; it must be positive")
    return float((c * (3 + beta) / (4 * (1 - beta)) * (rtt_s / loss_ratio) ** 3) ** 0.25)


def cubic_average_window_segments(
    loss_ratio: float, rtt_s: float, c: float = CUBIC_C, beta: float = CUBIC_BETA
) -> float:
    """Mean window of CUBIC including its Reno-friendly region, in segments.

    The larger of the cubic region's mean and Reno's: in the Reno-friendly region CUBIC
    follows an AIMD whose mean equals Reno's by the choice of its additive increase (RFC 9438, section 4.3).
    """
    return max(cubic_window_segments(loss_ratio, rtt_s, c, beta), reno_window_segments(loss_ratio))


def window_rate_mbps(window_segments: float, segment_bytes: int, rtt_s: float) -> float:
    """Rate in Mbps of a sender that moves one window each round trip.

    ``segment_bytes`` chooses what is counted: the payload for goodput, the frame for
    throughput at the bottleneck. ``rtt_s`` includes the queueing delay.
    """
    if rtt_s <= 0:
        raise ValueError(f"rtt_s is {rtt_s}; it must be positive")
    return window_segments * segment_bytes * 8 / rtt_s / 1e6
