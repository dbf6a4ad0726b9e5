"""A flow neither starves kernel TCP with the same algorithm, nor is starved by it."""

from __future__ import annotations

from cambrian.hunt.properties import bounded
from cambrian.hunt.situation import Situation
from cambrian.measure.figures import Figures
from cambrian.metrics.fairness import pair_ratio
from cambrian.metrics.throughput import throughput


def _share(one: Figures, situation: Situation) -> float | None:
    """Percentage of the bytes that leave the queue in the second half of the trial.

    A flow that starts later needs tens of round trips with a full queue, and kernel BBR ten seconds and more:
    its own late flow has 12 to 29 % after 4 s, and half after 30 (5 Mbps, 50 ms, 1 BDP).
    """
    del situation
    end_ns = int(one.result.manifest["guest"]["end_ns"])
    own, rival = throughput(one.result.packets, 2, end_ns // 2, end_ns).get_column("throughput_mbps")
    return 100 * pair_ratio(own, rival) if own + rival else None


def _others(one: Figures, situation: Situation) -> float | None:
    share = _share(one, situation)
    return None if share is None else 100 - share


def _applies(situation: Situation) -> bool:
    return situation.rival != "none" and situation.is_lossless and situation.event == "none"


PROPERTIES = (
    bounded(
        "not-starved",
        says="Beside kernel TCP with the same algorithm, a flow has at least {least:g} % of the throughput "
        "in the second half of the trial.",
        source="RFC 9743, section 5.2.1",
        applies=_applies,
        figure=_share,
        least=10.0,
        beside_kernel=True,
        shows="it has {value:.0f} % of the throughput",
    ),
    bounded(
        "starves-nobody",
        says="A flow leaves kernel TCP with the same algorithm at least {least:g} % of the throughput in the "
        "second half of the trial.",
        source="RFC 9743, section 5.2.1",
        applies=_applies,
        figure=_others,
        least=10.0,
        beside_kernel=True,
        shows="it leaves kernel TCP {value:.0f} % of the throughput",
    ),
)
