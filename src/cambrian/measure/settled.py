"""A flow alone after its slow start: where honest senders of one algorithm do the same.

The end of slow start is a choice: a sender that leaves it at a loss drops hundreds of packets and then grows
back, one that leaves it earlier does not. In a short trial most of the difference between two flows is this.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from cambrian.metrics import loss, pauses, queueing, throughput, utilisation
from cambrian.metrics.columns import NS_PER_MS, Int64Array
from cambrian.study.model import Flow, Network, Trial
from cambrian.trial.links import buffer_bytes

#: a loss episode is over after so many round trips with a full queue without a drop or a mark
_QUIET_TRIPS = 3.0
#: an episode that lasts longer is not the end of slow start: the sender always drops
_MOST_TRIPS = 20.0


@dataclass(frozen=True)
class Settled:
    """The figures of a flow alone from the end of its first loss episode to the trial's end.

    ``round_trips``: with a full queue. ``grows``: the queue drops and marks nothing in that time, and the
    flow carries more and more, so that it has not come back to the full link yet. ``throughput_mbps`` and
    ``loss_percent`` (dropped by the queue) are 0, and ``delay_ms`` (median in the queue) is None, without
    packets. ``utilisation`` (0 to 1) is None for a link that follows a trace. ``silences_s``: by
    :func:`cambrian.metrics.pauses.causeless_silences_s`.
    """

    seconds: float
    round_trips: float
    grows: bool
    throughput_mbps: float
    utilisation: float | None
    loss_percent: float
    delay_ms: float | None
    silences_s: tuple[float, ...] = ()


def settled(
    trial: Trial, packets: pl.DataFrame, rates: list[tuple[int, float]], t0_ns: int, t1_ns: int
) -> Settled | None:
    """The settled part of [t0_ns, t1_ns); None if there is none, or if the trial is not of one endless flow.

    ``rates``: the bottleneck's steps ``(from_ns, rate_mbps)``, empty for a trace.
    """
    if len(trial.flows) != 1 or trial.flows[0].size_bytes or trial.flows[0].page:
        return None
    trip_ns = round(full_rtt_ms(trial.network, trial.flows[0]) * NS_PER_MS)
    signal = (pl.col("outcome") == "dropped") | pl.col("ce").fill_null(False)
    signals_ns = packets.filter(signal & (pl.col("arrival_ns") < t1_ns)).get_column("arrival_ns").sort()
    from_ns = max(t0_ns, _first_episode_ns(signals_ns.to_numpy(), trip_ns))
    if from_ns >= t1_ns:
        return None
    span = from_ns, t1_ns
    quiet = not (signals_ns >= from_ns).any()
    delays = queueing.delay_summary(packets, *span).filter(pl.col("flow") == 0).get_column("p50_ms")
    return Settled(
        seconds=(t1_ns - from_ns) / 1e9,
        round_trips=(t1_ns - from_ns) / trip_ns,
        grows=quiet and throughput.grows(packets, *span),
        throughput_mbps=throughput.throughput(packets, 1, *span)["throughput_mbps"][0],
        utilisation=(
            utilisation.utilisation(packets, utilisation.capacity_bits(rates, *span), *span)
            if rates
            else None
        ),
        loss_percent=100 * (loss.queue_loss_ratios(packets, 1, *span)[0] or 0.0),
        delay_ms=delays[0] if len(delays) else None,
        silences_s=pauses.causeless_silences_s(packets, *span, trip_ns),
    )


def full_rtt_ms(network: Network, flow: Flow) -> float:
    """The flow's round trip with a full queue; without one on a link that follows a trace."""
    rtt_ms = flow.base_rtt_ms(network)
    if network.rate_mbps is None:
        return rtt_ms
    return rtt_ms + buffer_bytes(network, network.rate_mbps) * 8e-3 / network.rate_mbps


def _first_episode_ns(signals_ns: Int64Array, trip_ns: int) -> int:
    """When the first loss episode has had its effect; 0 without one, or if it goes on and on."""
    if not len(signals_ns):
        return 0
    ends = np.flatnonzero(np.diff(signals_ns) > _QUIET_TRIPS * trip_ns)
    end_ns = int(signals_ns[ends[0]] if len(ends) else signals_ns[-1])
    return end_ns + trip_ns if end_ns - signals_ns[0] <= _MOST_TRIPS * trip_ns else 0
