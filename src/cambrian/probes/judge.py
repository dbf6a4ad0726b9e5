"""Compare a contestant's figures with the kernel's: a state, and a sentence with both figures.

For each seed, the effect is the ratio to kernel TCP's figure, the difference from it, or the difference from
a bound (:mod:`cambrian.probes.effects`). With at least two trials it is *different* if its interval lies
completely outside the margin, and *equivalent* if completely inside. Standards allow many of the differences.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from cambrian.judging.findings import SHOWN_SHARE
from cambrian.metrics import theory
from cambrian.probes import effects
from cambrian.probes.effects import FEWEST_TRIALS, Side
from cambrian.probes.figures import Figure, NoFigure
from cambrian.probes.table import Probe
from cambrian.stats.jackknife import FEWEST_SEEDS
from cambrian.stats.states import State
from cambrian.study.model import FRAME_BYTES, Network

_TITLES = {"cubic": "kernel CUBIC", "reno": "kernel Reno", "bbr": "kernel BBR"}
#: how the names of generations of BBR begin that the kernel lacks
_LATER = ("bbr2", "bbr3", "bbrv2", "bbrv3")

#: Reno's mean window if it grows once for two packets, relative to once for each (Mathis et al., table 1)
RENO_DELAYED_ACKS = math.sqrt(1 / 2)

#: seed → its trial's figure, or why there is none
Readings = Mapping[int, Figure | NoFigure]


@dataclass(frozen=True)
class Finding:
    """One probe of one contestant on one network.

    ``state`` is None if nothing is compared; ``why`` gives the reason. ``mine`` and ``its``: the contestant's
    and the kernel's mean over trials, in the probe's unit. ``effect`` from ``low`` to ``high``: the ratio or
    difference with its interval; the ends are None if unknown. ``seeds``: number of compared seeds.
    ``events``: number of events in the contestant's trials. ``more``: additional seeds that would settle an
    inconclusive state, as ``settles_as``; None if unknown. One or two seeds of a random network need three
    for an interval: then ``settles_as`` is None. ``theory``: the value by theory, in the probe's unit.
    ``text``: a sentence without a full stop. ``margin``: the lowest and the highest effect that are
    equivalent here, None if nothing is compared.
    """

    probe: Probe
    network: str
    mine: float | None
    its: float | None
    events: int
    theory: float | None
    text: str
    state: State | None = None
    why: str | None = None
    effect: float | None = None
    low: float | None = None
    high: float | None = None
    seeds: int = 0
    more: int | None = None
    settles_as: State | None = None
    margin: tuple[float, float] | None = None


def judge(
    probe: Probe, network: Network, family: str, later: bool, mine: Readings, its: Readings | None
) -> Finding:
    """Compare one probe's readings of a contestant with those of kernel TCP with the CCA ``family``.

    Parameters:
        later: the contestant is a BBR of a generation that the kernel lacks.
        its: None if kernel TCP was not run alone on this network with this round trip.
    """
    here, kernel = _figures(mine), _figures(its or {})
    finding = Finding(
        probe=probe,
        network=network.name,
        mine=_mean(here),
        its=_mean(kernel),
        events=sum(one.events for one in here.values()),
        theory=_theory(probe, network, family, here),
        text=_words(probe, network, family, here, kernel),
    )
    if why := _uncomparable(probe, mine, its, here, kernel, later):
        return replace(finding, why=why)
    drawn = probe.flows > 1 or is_random(network)
    allowed = [] if finding.theory is None else [finding.theory]
    if family == "reno" and finding.theory is not None:
        # RFC 5681, section 3.1: one that counts delayed acknowledgements, and not bytes, grows half as fast
        allowed.append(finding.theory * RENO_DELAYED_ACKS)
    compared = effects.compare(probe, here, kernel, drawn=drawn, allowed=allowed)
    text = finding.text
    state = _with_limits(compared.state, here, kernel)
    # a limit that no more seeds remove
    reachable = _with_limits(compared.settles_as, here, kernel) == compared.settles_as
    # seeds that an interval still needs settle nothing
    promised = reachable and (compared.seeds >= FEWEST_SEEDS or not drawn)
    if state != compared.state:
        text += "; the trial ends too soon to tell"
    if compared.ratio is not None:
        text += f" ({compared.ratio:.2f} times the kernel's)"
    if compared.seeds < FEWEST_TRIALS:
        text += f"; one trial is inconclusive, {FEWEST_TRIALS} are needed"
    return replace(
        finding,
        text=text,
        state=state,
        effect=compared.effect,
        low=_finite(compared.low),
        high=_finite(compared.high),
        seeds=compared.seeds,
        more=compared.more if reachable else None,
        settles_as=compared.settles_as if promised else None,
        margin=compared.margin,
    )


def _with_limits(state: State | None, here: Side, kernel: Side) -> State | None:
    """The state if some values are limits: they prove a difference only if more time would make it larger."""
    if state is None or not any(one.at_least or one.at_most for one in (*here.values(), *kernel.values())):
        return state
    larger, smaller = (here, kernel) if (_mean(here) or 0.0) > (_mean(kernel) or 0.0) else (kernel, here)
    closer = any(one.at_most for one in larger.values()) or any(one.at_least for one in smaller.values())
    return state if state == "different" and not closer else "inconclusive"


def is_later_bbr(cca: str) -> bool:
    """Does the name of a controller say that it is a BBR of a generation that the kernel lacks?"""
    return cca.startswith(_LATER)


def is_random(network: Network) -> bool:
    """Does the network have randomness, so that seeds differ in more than a flow's start?"""
    losses = [(step.loss_percent, step.return_loss_percent) for step in network.schedule]
    losses.append((network.loss_percent, network.return_loss_percent))
    return bool(
        # all is lost in an outage, whatever the seed
        any(0 < (percent or 0) < 100 for both in losses for percent in both)
        or network.burst_loss
        or network.jitter_ms
        or network.reorder_percent
        or network.duplicate_percent
        or network.queue not in ("droptail", "codel", "fq_codel")
    )


def repeats(network: Network) -> bool:
    """Does a flow that is alone there do the same for every seed, except for its start?"""
    return not (is_random(network) or network.schedule or network.trace_file)


def _figures(readings: Readings) -> Side:
    return {seed: one for seed, one in readings.items() if isinstance(one, Figure)}


def _uncomparable(
    probe: Probe, mine: Readings, its: Readings | None, here: Side, kernel: Side, later: bool
) -> str | None:
    """Why nothing is compared; None if it is."""
    if not here:
        return _why_unseen(mine)
    if probe.bound is not None:
        # a bound that kernel TCP violates is not applied to others
        return None if all(map(probe.keeps, kernel.values())) else "kernel TCP itself exceeds the bound here"
    if later:
        return "the kernel has no BBR of this generation"
    if its is None:
        return "kernel TCP was not run alone on this network with this round trip"
    if not kernel:
        return f"kernel TCP gives no figure: {_why_unseen(its)}"
    for side, readings, whose in ((here, mine, "the contestant"), (kernel, its, "kernel TCP")):
        if len(side) < SHOWN_SHARE * len(readings):
            return f"only {len(side)} of {len(readings)} trials of {whose} give a figure"
    if not here.keys() & kernel.keys():
        return "no seed has trials of both the contestant and kernel TCP"
    return None


def _why_unseen(readings: Readings) -> str:
    """Why no trial gives a figure."""
    return next((one.why for one in readings.values() if isinstance(one, NoFigure)), "no valid trial")


def _theory(probe: Probe, network: Network, family: str, here: Side) -> float | None:
    """The mean window in packets by theory at the network's loss, or the throughput from it, in Mbps.

    Uses the contestant's round trips. Too low for independent losses: see :mod:`cambrian.metrics.theory`.
    """
    ratio = 1 / network.loss_every_packets if network.loss_every_packets else network.loss_percent / 100
    trips_s = [one.trip_s for one in here.values() if one.trip_s is not None]
    if probe.theory is None or not ratio or not trips_s or family not in ("cubic", "reno"):
        return None
    rtt_s = float(np.mean(trips_s))
    window = (
        theory.cubic_average_window_segments(ratio, rtt_s)
        if family == "cubic"
        else theory.reno_window_segments(ratio)
    )
    return window if probe.theory == "window" else theory.window_rate_mbps(window, FRAME_BYTES, rtt_s)


def _words(probe: Probe, network: Network, family: str, here: Side, kernel: Side) -> str:
    template = probe.says if kernel else probe.says.rpartition(", ")[0]
    return template.format(
        mine=_shown(probe, here),
        its=_shown(probe, kernel),
        kernel=_TITLES.get(family, f"kernel {family}"),
        loss_percent=f"{network.loss_percent:g}",
        loss_every_packets=network.loss_every_packets,
    )


def _shown(probe: Probe, side: Side) -> str:
    value = _mean(side)
    if value is None:
        return "an unknown amount"
    figures = side.values()
    least, most = any(one.at_least for one in figures), any(one.at_most for one in figures)
    # the limits of seeds may be on both sides of the mean
    limit = "about " if least and most else "at least " if least else "at most " if most else ""
    return f"{limit}{value:.{probe.digits}f} {probe.unit}".strip()


def _mean(side: Side) -> float | None:
    return float(np.mean([one.value for one in side.values()])) if side else None


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
