"""Does a contestant alone on a link do what the reference does there, parameters apart?

Coarse on purpose: a fault that is no parameter shows in how much of the link is used, how much is dropped
and how long packets wait. The margins are wider than what honest implementations of one algorithm
differ by.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cambrian.judging.findings import FEWEST_TRIALS
from cambrian.judging.sides import Side, State

#: share of the link
UTILISATION_MARGIN = 0.10
#: percentage points of the packets
LOSS_MARGIN_PERCENT = 1.0
#: median queueing delay: share of the round trip without queueing, or of the reference's delay
DELAY_MARGIN_RTT, DELAY_MARGIN_SHARE = 0.25, 0.5
#: where the path itself loses packets, throughput within this factor is plausible
THROUGHPUT_FACTOR = 2.0


@dataclass(frozen=True)
class Alone:
    """One trial of one flow alone, over the measured interval.

    ``utilisation``: share of what the bottleneck could carry; None for a link that follows a trace.
    ``loss_percent``: of its packets, dropped by the queue. ``delay_ms``: median queueing delay.
    ``lossy``: the path itself loses packets.
    """

    rtt_ms: float
    throughput_mbps: float
    utilisation: float | None
    loss_percent: float | None
    delay_ms: float | None
    lossy: bool


@dataclass(frozen=True)
class _Compared:
    """One figure on one network. ``trials``: how many of the contestant's differ."""

    name: str
    network: str
    state: State
    trials: int
    text: str


def side(mine: Mapping[str, Sequence[Alone]], reference: Mapping[str, Sequence[Alone]], title: str) -> Side:
    """Compare by network → trials alone. ``title``: the reference's name, such as ``tcp cubic``.

    Odd is what lies outside the margin in two differing trials or on two networks.
    """
    compared = [
        one
        for network, trials in mine.items()
        if trials and reference.get(network)
        for one in _compare(network, trials, reference[network], title)
    ]
    if not compared:
        return Side("not measured", (f"{title} was not run alone on the same network",))
    odd = [one for one in compared if one.state == "different"]
    proven = [
        one
        for one in odd
        if one.trials >= FEWEST_TRIALS or sum(other.name == one.name for other in odd) >= FEWEST_TRIALS
    ]
    if proven:
        return Side("different", tuple(one.text for one in proven))
    open_ = [one for one in compared if one.state != "equivalent"]
    if open_:
        return Side("inconclusive", tuple(one.text for one in open_))
    return Side("equivalent")


def _compare(network: str, mine: Sequence[Alone], reference: Sequence[Alone], title: str) -> list[_Compared]:
    trials = len({(one.throughput_mbps, one.delay_ms) for one in mine})

    def one(name: str, a: Sequence[float], b: Sequence[float], margin: float, text: str) -> _Compared:
        return _Compared(name, network, _state(a, b, margin), trials, f"{text} on {network}")

    found = []
    if any(each.lossy for each in (*mine, *reference)):
        a, b = ([each.throughput_mbps for each in trials] for trials in (mine, reference))
        text = f"{_mean(a):.1f} Mbps where {title} carries {_mean(b):.1f}"
        margin = (THROUGHPUT_FACTOR - 1) * max(min(_mean(a), _mean(b)), 0.1)
        return [one("throughput", a, b, margin, text)]
    a, b = (_known([each.utilisation for each in trials]) for trials in (mine, reference))
    if a and b:
        text = f"utilisation {100 * _mean(a):.0f} % where {title} has {100 * _mean(b):.0f} %"
        found.append(one("utilisation", a, b, UTILISATION_MARGIN, text))
    a, b = (_known([each.loss_percent for each in trials]) for trials in (mine, reference))
    if a and b:
        text = f"{_mean(a):.1f} % of its packets dropped where {title} loses {_mean(b):.1f} %"
        found.append(one("loss", a, b, LOSS_MARGIN_PERCENT, text))
    a, b = (_known([each.delay_ms for each in trials]) for trials in (mine, reference))
    if a and b:
        margin = max(DELAY_MARGIN_RTT * mine[0].rtt_ms, DELAY_MARGIN_SHARE * _mean(b))
        text = f"a median queue of {_mean(a):.0f} ms where {title} has {_mean(b):.0f}"
        found.append(one("delay", a, b, margin, text))
    return found


def _state(mine: Sequence[float], reference: Sequence[float], margin: float) -> State:
    """By the trials' ranges: no closer than the margin, or nowhere farther apart than it."""
    gap = max(min(mine) - max(reference), min(reference) - max(mine))
    farthest = max(max(mine) - min(reference), max(reference) - min(mine))
    if gap > margin:
        return "different"
    return "equivalent" if farthest <= margin else "inconclusive"


def _known(values: Sequence[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
