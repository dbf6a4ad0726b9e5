"""A contestant's readings beside the kernel's: a state, and the sentence that says what was seen.

What is compared is, seed by seed, the ratio to kernel TCP's figure, its difference from it, or the
difference from a bound (:mod:`cambrian.probes.effects`). *Different* is what lies wholly outside the margin,
*equivalent* what lies wholly inside it, in two trials at least. It describes; many a difference is a choice
that standards allow.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from cambrian.metrics import theory
from cambrian.probes import effects
from cambrian.probes.effects import FEWEST_TRIALS, Side
from cambrian.probes.figures import Figure, Unseen
from cambrian.probes.table import Probe
from cambrian.stats.states import State
from cambrian.study.model import FRAME_BYTES, Network

_TITLES = {"cubic": "kernel CUBIC", "reno": "kernel Reno", "bbr": "kernel BBR"}
#: CCAs of a generation that the kernel lacks
_LATER = ("bbr2", "bbr3")

#: seed → what its trial shows
Readings = Mapping[int, Figure | Unseen]


@dataclass(frozen=True)
class Finding:
    """One probe of one contestant on one network.

    ``state`` is None where nothing is compared, and ``why`` says why. ``mine`` and ``its``: means over
    trials, the contestant's and the kernel's, in the probe's unit. ``effect`` from ``low`` to ``high``: the
    ratio, or the difference, that the state rests on; the ends are None where they are not known.
    ``seeds``: those that are compared. ``events``: what the contestant's trials show. ``more``: seeds that
    would settle it, None where that is not known. ``theory``: what the textbooks predict, in the probe's
    unit. ``text``: a sentence without a full stop.
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


def judge(
    probe: Probe, network: Network, family: str, cca: str, mine: Readings, its: Readings | None
) -> Finding:
    """One probe's readings of a contestant beside those of kernel TCP with the CCA ``family``.

    Parameters:
        cca: the contestant's own name of its controller.
        its: None where kernel TCP was not run alone on this network.
    """
    here, kernel = _figures(mine), _figures(its or {})
    found = Finding(
        probe=probe,
        network=network.name,
        mine=_mean(here),
        its=_mean(kernel),
        events=sum(one.events for one in here.values()),
        theory=_theory(probe, network, family, here),
        text=_words(probe, network, family, here, kernel),
    )
    if why := _uncomparable(probe, mine, its, here, kernel, cca):
        return replace(found, why=why)
    drawn = probe.flows > 1 or draws(network)
    compared = effects.compare(probe, here, kernel, drawn=drawn, textbook=found.theory)
    text = found.text
    if compared.ratio is not None:
        text += f" ({compared.ratio:.2f} times the kernel's)"
    if compared.seeds < FEWEST_TRIALS:
        text += "; of one trial nothing is said"
    return replace(
        found,
        text=text,
        state=compared.state,
        effect=compared.effect,
        low=_finite(compared.low),
        high=_finite(compared.high),
        seeds=compared.seeds,
        more=compared.more,
    )


def draws(network: Network) -> bool:
    """Does the network draw anything at random, so that seeds differ by more than a flow's start?"""
    return bool(
        network.loss_percent
        or network.return_loss_percent
        or network.burst_loss
        or network.jitter_ms
        or network.reorder_percent
        or network.duplicate_percent
        or network.queue not in ("droptail", "codel", "fq_codel")
    )


def _figures(readings: Readings) -> Side:
    return {seed: one for seed, one in readings.items() if isinstance(one, Figure)}


def _uncomparable(
    probe: Probe, mine: Readings, its: Readings | None, here: Side, kernel: Side, cca: str
) -> str | None:
    """Why nothing is compared; None where it is."""
    if not here:
        return _said(mine)
    if probe.bound is not None:
        # what kernel TCP does not keep is no measure of others
        return (
            None if all(map(probe.keeps, kernel.values())) else "kernel TCP itself is beyond the bound here"
        )
    if cca in _LATER:
        return "the kernel has no BBR of this generation to compare with"
    if its is None:
        return "kernel TCP was not run alone on this network"
    if not kernel:
        return f"kernel TCP shows nothing to compare with: {_said(its)}"
    if not here.keys() & kernel.keys():
        return "no seed has both a trial of it and one of kernel TCP"
    return None


def _said(readings: Readings) -> str:
    """Why no trial shows it."""
    return next((one.why for one in readings.values() if isinstance(one, Unseen)), "no valid trial")


def _theory(probe: Probe, network: Network, family: str, here: Side) -> float | None:
    """The textbook's mean window in packets at the network's loss, or the rate that it makes, in Mbps.

    At the round trips that the contestant had. Of independent losses it is too low: see
    :mod:`cambrian.metrics.theory`.
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
    says = probe.says if kernel else probe.says.rpartition(", ")[0]
    return says.format(
        mine=_shown(probe, _mean(here)),
        its=_shown(probe, _mean(kernel)),
        kernel=_TITLES.get(family, f"kernel {family}"),
        loss_percent=f"{network.loss_percent:g}",
        loss_every_packets=network.loss_every_packets,
    )


def _shown(probe: Probe, value: float | None) -> str:
    return "an unknown amount" if value is None else f"{value:.{probe.digits}f} {probe.unit}".strip()


def _mean(side: Side) -> float | None:
    return float(np.mean([one.value for one in side.values()])) if side else None


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
