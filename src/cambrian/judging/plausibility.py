"""Plausibility: compare a contestant alone on a link with the reference alone.

A fault that no parameter describes shows in utilisation, packet loss, queueing delay and data that is sent
again without need. The comparison is coarse on purpose: honest implementations of one algorithm differ by
less than the margins.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from cambrian.judging.findings import FEWEST_TRIALS
from cambrian.judging.sides import Side, State
from cambrian.metrics.parameters.estimate import SAME_SHARE

#: share of the link
UTILISATION_MARGIN = 0.10
#: a BBR of a generation that the kernel lacks, where the kernel's fills so much of the link: it must fill so
#: much in some trial. On steady paths those of the stock stacks have 82 % and more; two have 48 to 55 %
FULL_SHARE, LEAST_SHARE = 0.9, 0.75
#: it probes for bandwidth every two to three seconds, or 63 round trips: several probes must have failed
FEWEST_SECONDS = 10.0
#: percentage points of the packets, or share of the reference's loss: on small links all lose much; and so
#: many packets
LOSS_MARGIN_PERCENT, LOSS_MARGIN_SHARE, LOSS_MARGIN_PACKETS = 1.0, 0.5, 10
#: on a path that holds fewer packets, one packet more or less in each cut is a factor of two or three
SMALL_PATH_PACKETS, SMALL_LOSS_MARGIN_SHARE = 30, 2.0
#: median queueing delay: share of the round trip without queueing, or of the reference's delay
DELAY_MARGIN_RTT, DELAY_MARGIN_SHARE = 0.25, 0.5
#: and the time that the link takes for so many full frames
DELAY_MARGIN_FRAMES, FRAME_BITS = 2.0, 8 * 1514
#: percentage points of the delivered bytes, or share of the reference's
TWICE_MARGIN_PERCENT, TWICE_MARGIN_SHARE = 2.0, 0.5
#: on a path with random loss, throughput is different outside the first factor. It is equivalent within it
#: only if the means are within the second: 0.6 Mbps beside the reference's 1.0 is neither
THROUGHPUT_FACTOR, NEAR_FACTOR = 2.0, 1.25
#: largest chance with which an equal sender may look different
MOST_CHANCE = 0.05
#: a difference is steady if it is so many times the largest range of one side's trials on any network
STEADY_RANGES = 3.0
#: two trials of each side can be two moods of equal senders (one time in eight), so they need so many margins
FAR_MARGINS = 3.0
#: why a network shows nothing about the controllers
_UNSTEADY = (
    "the path changes, varies its delay, reorders or duplicates packets, has a RED queue or holds fewer than "
    "four packets, so correct senders may differ"
)
#: fewer silences in a trial may be an accident
FEWEST_SILENCES = 2
#: fewest round trips with a full queue after slow start
FEWEST_ROUND_TRIPS = 50


@dataclass(frozen=True)
class Alone:
    """One trial of one flow alone, after the end of its slow start, or over the measured interval if lossy.

    ``utilisation``: 0 to 1; None for a link that follows a trace. ``loss_percent``: share of its packets that
    the queue dropped. ``delay_ms``: median queueing delay. ``lossy``: the path has random loss.
    ``unsteady``: it changes, varies its delay, reorders or duplicates packets, has a RED queue or holds
    fewer than four packets.
    ``limit``: what else than its controller decides what it sends; empty if nothing does. ``roomy``: behind a
    drop-tail queue of a BDP or more. ``full_rtt_ms``: a round trip with a full queue.
    ``rate_mbps``: the link's; None for a link that follows a trace. ``twice_percent``: the least share of the
    delivered bytes that the receiver already had, because headers are known within limits; None if unknown.
    ``round_trips``: those with a full queue in this time. ``grows``: it still grows, and nothing is dropped
    or marked. ``packets``: full ones that it carried. ``silences_s``: length of each silence that no drop or
    mark precedes.
    """

    rtt_ms: float
    rate_mbps: float | None
    throughput_mbps: float
    utilisation: float | None
    loss_percent: float | None
    delay_ms: float | None
    lossy: bool
    twice_percent: float | None = None
    round_trips: float = math.inf
    grows: bool = False
    unsteady: bool = False
    limit: str = ""
    roomy: bool = True
    full_rtt_ms: float = 0.0
    packets: float = math.inf
    silences_s: tuple[float, ...] = ()


@dataclass(frozen=True)
class Compared:
    """One figure on one network. ``trials``: number of the contestant's differing trials, at most the
    reference's number of trials. ``effect``: how far the nearest trials of both are apart, in percent (of the
    link, the packets, the base RTT, the delivered bytes). ``gap``: the same distance in margins;
    ``spread``: the larger range of one side's trials in margins. ``draws``: number of the contestant's
    differing trials and of the reference's trials; (0, 0) where a difference shows nothing about controllers.
    ``more``: is the contestant's larger than the reference's?
    ``confirmed_on``: for a figure of one trial, the independent network that shows it differ in the same
    direction; empty for others.
    """

    name: str
    network: str
    state: State
    trials: int
    text: str
    effect: float
    gap: float = 0.0
    spread: float = 0.0
    draws: tuple[int, int] = (0, 0)
    more: bool = False
    confirmed_on: str = ""


def side(mine: Mapping[str, Sequence[Alone]], reference: Mapping[str, Sequence[Alone]], title: str) -> Side:
    """Compare the trials alone, by network. ``title``: the reference's name, such as ``tcp cubic``.

    A figure is different if it lies outside the margin in two differing trials, or on two networks with two
    trials each of either side, if the trials of one differ from those of the other, and if that is not likely
    by chance: see :func:`_is_unlikely` and :func:`_is_steady`.
    """
    both = {
        name: (*trials, *reference[name]) for name, trials in mine.items() if trials and reference.get(name)
    }
    if not both:
        known = any(mine.values())
        why = (
            f"{title} was not run alone on the same network with the same round trip"
            if known
            else "none of its trials alone is valid"
        )
        return Side("not measured", (why,))
    compared = _compared(mine, reference, title)
    if found := _proven(compared, mine, reference):
        return Side("different", tuple(figure.text for figure in found))
    inconclusive = [figure.text for figure in compared if figure.state != "equivalent"]
    short = {name: _round_trips(trials) for name, trials in both.items() if _is_short(trials)}
    if short:
        inconclusive.append(_too_short(short, title))
    if growing := [name for name, trials in both.items() if _grows(trials) and name not in short]:
        inconclusive.append(
            f"too short to compare with {title} on {', '.join(growing)}: after slow start a flow still grows "
            "back to the full link"
        )
    if inconclusive:
        return Side("inconclusive", tuple(inconclusive))
    if not compared:
        return Side("not measured", (f"its trials show nothing to compare with {title}",))
    return Side("equivalent")


def proven(
    mine: Mapping[str, Sequence[Alone]], reference: Mapping[str, Sequence[Alone]], title: str
) -> list[Compared]:
    """The figures that make :func:`side` different."""
    return _proven(_compared(mine, reference, title), mine, reference)


def underused(
    mine: Mapping[str, Sequence[Alone]], reference: Mapping[str, Sequence[Alone]], title: str
) -> list[Compared]:
    """Where a contestant leaves a quarter of a link unused in each trial, and the reference fills it.

    For one that is not compared with the reference otherwise. As many trials show it as :func:`side` needs. A
    flow that still grows counts, too, after several probes for bandwidth. Behind a small buffer or an AQM a
    later BBR may leave more unused, because it answers losses and marks.
    """
    found = []
    for network in (name for name in mine if reference.get(name)):
        both = (*mine[network], *reference[network])
        a, b = (_known([each.utilisation for each in side[network]]) for side in (mine, reference))
        if not (a and b and all(each.roomy for each in both)) or _is_rough(both) or _is_short(both):
            continue
        if min(each.round_trips * each.full_rtt_ms for each in mine[network]) < 1000 * FEWEST_SECONDS:
            continue
        state: State = "different" if max(a) < LEAST_SHARE and min(b) > FULL_SHARE else "inconclusive"
        draws = _differing(mine[network]), len(reference[network])
        text = f"{_utilisations(a, b, title)} on {network}"
        found.append(
            _figure("utilisation", network, state, draws, text, (a, b), UTILISATION_MARGIN, percent=100)
        )
    return _proven(found, mine, reference)


def _compared(
    mine: Mapping[str, Sequence[Alone]], reference: Mapping[str, Sequence[Alone]], title: str
) -> list[Compared]:
    both = [name for name, trials in mine.items() if trials and reference.get(name)]
    return [one for name in both for one in _compare(name, mine[name], reference[name], title)]


def _proven(
    compared: Sequence[Compared],
    mine: Mapping[str, Sequence[Alone]],
    reference: Mapping[str, Sequence[Alone]],
) -> list[Compared]:
    differing = [figure for figure in compared if figure.state == "different"]
    found = []
    for figure in differing:
        alike = [one for one in compared if one.name == figure.name and one.draws != (0, 0)]
        several = [
            one
            for one in differing
            if one.name == figure.name
            and one.more == figure.more
            and min(len(mine[one.network]), len(reference[one.network])) >= FEWEST_TRIALS
        ]
        confirmed = _independent([one.network for one in several], mine)
        if (figure.trials >= FEWEST_TRIALS or confirmed >= FEWEST_TRIALS) and (
            _is_unlikely(figure, alike, mine) or _is_steady(figure, alike, confirmed)
        ):
            others = () if figure.trials >= FEWEST_TRIALS else several
            confirms = (
                one.network
                for one in others
                if _independent([figure.network, one.network], mine) >= FEWEST_TRIALS
            )
            found.append(replace(figure, confirmed_on=next(confirms, "")))
    return found


def _is_unlikely(figure: Compared, alike: Sequence[Compared], mine: Mapping[str, Sequence[Alone]]) -> bool:
    """Would so many trials of equal senders hardly come in this order by chance?

    ``alike``: the same figure on all networks. One with a single draw of a side says nothing of chance.
    """
    drawn = [one for one in alike if min(one.draws) >= FEWEST_TRIALS]
    differing = [one.network for one in drawn if one.state == "different" and one.more == figure.more]
    if not differing:
        return False
    networks, confirmed = _independent([one.network for one in drawn], mine), _independent(differing, mine)
    alone = networks * _apart(figure) if figure in drawn else 1.0
    return min(alone, _at_least(confirmed, networks, max(map(_apart, drawn)))) <= MOST_CHANCE


def _is_steady(figure: Compared, alike: Sequence[Compared], confirmed: int) -> bool:
    """Are the trials of each side near to each other on every network, beside the gap, and is it no mood?

    ``confirmed``: independent networks that differ. Several networks or enough trials show it, or it is far
    outside the margin.
    """
    if figure.gap <= STEADY_RANGES * max(one.spread for one in alike):
        return False
    # of two moods of equal chance, all of one side's trials have one and all of the other's the other
    moods = 2.0 ** (1 - sum(figure.draws))
    return confirmed >= FEWEST_TRIALS or moods <= MOST_CHANCE or figure.gap > FAR_MARGINS


def _apart(one: Compared) -> float:
    """The chance that all trials of one of two equal senders lie above all of the other's."""
    return 2 / math.comb(sum(one.draws), one.draws[0])


def _at_least(count: int, of: int, chance: float) -> float:
    """The chance of ``count`` or more successes ``of`` so many, each of this ``chance``."""
    return sum(
        math.comb(of, each) * chance**each * (1 - chance) ** (of - each) for each in range(count, of + 1)
    )


def _round_trips(trials: Sequence[Alone]) -> float:
    return min(each.round_trips for each in trials)


def _is_short(trials: Sequence[Alone]) -> bool:
    """Is slow start too large a part of them? On a path with random loss the length does not matter."""
    return _round_trips(trials) < FEWEST_ROUND_TRIPS and not _is_rough(trials)


def _grows(trials: Sequence[Alone]) -> bool:
    return any(each.grows for each in trials) and not _is_rough(trials)


def _is_rough(trials: Sequence[Alone]) -> bool:
    """Is only throughput compared?"""
    return any(each.lossy or each.unsteady or each.limit for each in trials)


def _too_short(round_trips: Mapping[str, float], title: str) -> str:
    """``round_trips``: by network."""
    few, many = (f"{bound(round_trips.values()):.0f}" for bound in (min, max))
    return (
        f"too short to compare with {title} on {', '.join(round_trips)}: "
        f"{few if few == many else f'{few} to {many}'} round trips with a full queue, "
        f"{FEWEST_ROUND_TRIPS} are needed"
    )


def _independent(networks: Sequence[str], mine: Mapping[str, Sequence[Alone]]) -> int:
    """Number of networks of other paths or with other trials.

    Networks of one path may differ in what this contestant never meets, such as how the queue drops packets.
    """
    kept: list[Alone] = []
    for one in (mine[network][0] for network in networks):
        if not any(_path(one) == _path(other) and _same(one, other) for other in kept):
            kept.append(one)
    return len(kept)


def _path(one: Alone) -> tuple[float | None, float, float]:
    return one.rate_mbps, one.rtt_ms, one.full_rtt_ms


def _figure(
    name: str,
    network: str,
    state: State,
    draws: tuple[int, int],
    text: str,
    values: tuple[Sequence[float], Sequence[float]],
    margin: float,
    *,
    percent: float,
) -> Compared:
    """``values``: the contestant's and the reference's. ``percent``: 1 of the figure's unit, in percent of
    what ``effect`` refers to."""
    gap = max(_gap(*values), 0.0)
    spread = max(max(side) - min(side) for side in values)
    more = max(values[0]) > max(values[1])
    return Compared(
        name, network, state, min(draws), text, percent * gap, gap / margin, spread / margin, draws, more
    )


def _compare(network: str, mine: Sequence[Alone], reference: Sequence[Alone], title: str) -> list[Compared]:
    draws = _differing(mine), len(reference)

    def compared(
        name: str, a: Sequence[float], b: Sequence[float], margin: float, text: str, percent: float
    ) -> Compared:
        state, said = _state(a, b, margin), f"{text} on {network}"
        return _figure(name, network, state, draws, said, (a, b), margin, percent=percent)

    if limits := [each.limit for each in (*mine, *reference) if each.limit]:
        text = f"{_throughputs(mine, reference, title)[3]} on {network}: {limits[0]}"
        return [Compared("throughput", network, "inconclusive", 0, text, 0.0)]
    if any(each.unsteady for each in (*mine, *reference)):
        return [_on_unsteady_path(network, mine, reference, title)]
    found = [*_twice(network, mine, reference, title), *_silences(network, mine, reference, title)]
    if any(each.lossy for each in (*mine, *reference)):
        a, b, margin, text = _throughputs(mine, reference, title)
        percent = 100 / mine[0].rate_mbps if mine[0].rate_mbps else 0.0
        figure = compared("throughput", a, b, margin, text, percent)
        return [replace(figure, state=_unless_far(figure.state, a, b)), *found]
    if _is_short((*mine, *reference)) or _grows((*mine, *reference)):
        return found
    a, b = (_known([each.utilisation for each in trials]) for trials in (mine, reference))
    if a and b:
        found.append(compared("utilisation", a, b, UTILISATION_MARGIN, _utilisations(a, b, title), 100))
    a, b = (_known([each.loss_percent for each in trials]) for trials in (mine, reference))
    if a and b:
        text = f"packet loss after slow start {_mean(a):.1f} % ({title} {_mean(b):.1f} %)"
        few = 100 * LOSS_MARGIN_PACKETS / max(min(each.packets for each in (*mine, *reference)), 1)
        share = SMALL_LOSS_MARGIN_SHARE if _is_small(mine[0]) else LOSS_MARGIN_SHARE
        margin = max(LOSS_MARGIN_PERCENT, share * _mean(b), few)
        found.append(compared("loss", a, b, margin, text, 1))
    a, b = (_known([each.delay_ms for each in trials]) for trials in (mine, reference))
    if a and b:
        frame_ms = FRAME_BITS / (1000 * mine[0].rate_mbps) if mine[0].rate_mbps else 0.0
        margin = max(
            DELAY_MARGIN_RTT * mine[0].rtt_ms, DELAY_MARGIN_SHARE * _mean(b), DELAY_MARGIN_FRAMES * frame_ms
        )
        text = f"median queueing delay after slow start {_mean(a):.0f} ms ({title} {_mean(b):.0f} ms)"
        found.append(compared("delay", a, b, margin, text, 100 / mine[0].rtt_ms))
    return found


def _is_small(one: Alone) -> bool:
    """Does the path hold few packets, with a full queue?"""
    return one.rate_mbps is not None and 1000 * one.rate_mbps * one.full_rtt_ms < (
        SMALL_PATH_PACKETS * FRAME_BITS
    )


def _utilisations(mine: Sequence[float], reference: Sequence[float], title: str) -> str:
    return f"utilisation after slow start {100 * _mean(mine):.0f} % ({title} {100 * _mean(reference):.0f} %)"


def _throughputs(
    mine: Sequence[Alone], reference: Sequence[Alone], title: str
) -> tuple[list[float], list[float], float, str]:
    """Both sides' throughput in Mbps, the margin of their difference, and their means in words."""
    a, b = ([each.throughput_mbps for each in trials] for trials in (mine, reference))
    margin = (THROUGHPUT_FACTOR - 1) * max(min(_mean(a), _mean(b)), 0.1)
    return a, b, margin, f"throughput {_mean(a):.1f} Mbps ({title} {_mean(b):.1f} Mbps)"


def _unless_far(state: State, mine: Sequence[float], reference: Sequence[float]) -> State:
    """The state of a throughput, which is not equivalent if the means are too far apart for that."""
    one, other = sorted((_mean(mine), _mean(reference)))
    return "inconclusive" if state == "equivalent" and other > NEAR_FACTOR * one else state


def _on_unsteady_path(
    network: str, mine: Sequence[Alone], reference: Sequence[Alone], title: str
) -> Compared:
    """Throughput where correct senders of one algorithm may differ: it accuses nobody."""
    a, b, margin, said = _throughputs(mine, reference, title)
    state = _unless_far(_state(a, b, margin), a, b)
    state = "equivalent" if state == "equivalent" else "inconclusive"
    return Compared("throughput", network, state, 0, f"{said} on {network}: {_UNSTEADY}", 0.0)


def _twice(network: str, mine: Sequence[Alone], reference: Sequence[Alone], title: str) -> list[Compared]:
    """Data delivered twice: only more than the reference's is a fault."""
    known, its = ([each for each in side if each.twice_percent is not None] for side in (mine, reference))
    a, b = (_known([each.twice_percent for each in side]) for side in (known, its))
    if not a or not b:
        return []
    margin = max(TWICE_MARGIN_PERCENT, TWICE_MARGIN_SHARE * max(b))
    most = max(b) + margin
    state: State = "different" if min(a) > most else "equivalent" if max(a) <= most else "inconclusive"
    text = f"at least {_mean(a):.1f} % of what arrives had arrived before ({title} {_mean(b):.1f} %)"
    draws = _differing(known), len(its)
    return [_figure("twice", network, state, draws, f"{text} on {network}", (a, b), margin, percent=1)]


def _silences(network: str, mine: Sequence[Alone], reference: Sequence[Alone], title: str) -> list[Compared]:
    """Silences without a cause in the network, as the reference has none: they accuse nobody.

    An application that pauses looks the same as a controller that does.
    """
    counts = [0 if each.lossy else len(each.silences_s) for each in mine]
    if max(counts) < FEWEST_SILENCES or any(each.silences_s for each in reference):
        return []
    longest_s = max(length_s for each in mine for length_s in each.silences_s)
    text = (
        f"on {network} it is silent up to {max(counts)} times in a trial, for up to {longest_s:.1f} s, "
        f"with no loss before ({title} never): its application, its receiver or its controller pauses"
    )
    return [Compared("silence", network, "inconclusive", 0, text, 0.0)]


def _differing(trials: Sequence[Alone]) -> int:
    """Number of trials that differ from each other by more than rounding."""
    kept: list[Alone] = []
    for one in trials:
        if not any(_same(one, other) for other in kept):
            kept.append(one)
    return len(kept)


def _same(one: Alone, other: Alone) -> bool:
    pairs = (
        (one.throughput_mbps, other.throughput_mbps),
        (one.delay_ms or 0.0, other.delay_ms or 0.0),
        (one.loss_percent or 0.0, other.loss_percent or 0.0),
    )
    return all(abs(mine - its) <= SAME_SHARE * abs(mine) for mine, its in pairs)


def _state(mine: Sequence[float], reference: Sequence[float], margin: float) -> State:
    """Different if the trials' ranges lie farther apart than the margin, equivalent if no two trials do."""
    farthest = max(max(mine) - min(reference), max(reference) - min(mine))
    if _gap(mine, reference) > margin:
        return "different"
    return "equivalent" if farthest <= margin else "inconclusive"


def _gap(mine: Sequence[float], reference: Sequence[float]) -> float:
    """How far the trials' ranges lie apart; negative if they overlap."""
    return max(min(mine) - max(reference), min(reference) - max(mine))


def _known(values: Sequence[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
