"""A contestant's readings beside the kernel's: different, equivalent or inconclusive, and the sentence that says so.

What is compared is, seed by seed, the ratio to kernel TCP's figure, its difference from it, or the
difference from a bound. Where the network draws nothing at random (no random loss, jitter…), a seed only
moves the flow's start, and trials differ by next to nothing: the *range* over the seeds is set beside the
margin. Where it does, the 95 % Student interval of the mean over seeds is, of at least three. Both are widened by
what the measure cannot resolve.

*Different* is what lies wholly outside the margin, in two trials at least; *equivalent* what lies wholly
inside it, in two trials at least. It describes; many a difference is a choice that standards allow.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.stats

from cambrian.metrics import theory
from cambrian.probes.figures import Figure, Unseen
from cambrian.probes.table import Probe
from cambrian.study.model import FRAME_BYTES, Network

State = Literal["different", "equivalent", "inconclusive"]
#: nothing is said of fewer trials
FEWEST_TRIALS = 2
#: a spread is not known of fewer seeds
FEWEST_SEEDS = 3
CONFIDENCE = 0.95
MOST_SEEDS = 1000
#: least value of a ratio's sides: a flow that carries nothing is nobody's zeroth part
_LEAST = 1e-3
_TITLES = {"cubic": "kernel CUBIC", "reno": "kernel Reno", "bbr": "kernel BBR"}
#: CCAs whose generation the kernel lacks
_LATER = ("bbr2", "bbr3")

#: seed → what its trial shows
Readings = Mapping[int, Figure | Unseen]


@dataclass(frozen=True)
class Finding:
    """One probe of one contestant on one network.

    ``state`` is None where nothing is compared, and ``why`` says why. ``mine`` and ``its``: means over trials, the
    contestant's and the kernel's, in the probe's unit. ``effect`` from ``low`` to ``high``: the ratio, or the difference,
    that the state rests on. ``seeds`` are those that both have; ``events`` what the contestant's trials show.
    ``more``: seeds that would settle it, None where that is not known. ``theory``: what the textbooks
    predict, in the probe's unit. ``text``: a sentence without a full stop.
    """

    probe: Probe
    network: str
    state: State | None
    mine: float | None
    its: float | None
    effect: float | None
    low: float | None
    high: float | None
    seeds: int
    events: int
    more: int | None
    theory: float | None
    text: str
    why: str | None = None


def judge(
    probe: Probe, network: Network, family: str, cca: str, mine: Readings, its: Readings | None
) -> Finding:
    """One probe's readings of a contestant beside those of kernel TCP with the CCA ``family``.

    Parameters:
        cca: the contestant's own name of its controller.
        its: None where kernel TCP was not run alone on this network.
    """
    here = {seed: one for seed, one in mine.items() if isinstance(one, Figure)}
    kernel = {seed: one for seed, one in (its or {}).items() if isinstance(one, Figure)}
    events = sum(one.events for one in here.values())
    words = _words(probe, network, family, here, kernel)
    blank = Finding(
        probe, network.name, None, _mean(here), _mean(kernel), None, None, None,
        len(here), events, None, _theory(probe, network, family), words,
    )  # fmt: skip
    if why := _uncomparable(probe, mine, its, here, kernel, cca):
        return _with(blank, why=why)
    effects = _effects(probe, here, kernel)
    if len(effects) < FEWEST_TRIALS:
        text = f"{words}: one trial only" if len(effects) else f"{words}: not of the same seeds"
        return _with(blank, state="inconclusive", seeds=len(effects), text=text, more=FEWEST_TRIALS - len(effects))
    resolution = _resolution(probe, here, kernel)
    effect, low, high = _interval(effects, resolution, drawn=draws(network))
    inside = _margin(probe)
    state = _state(low, high, inside)
    more = _more(effects, resolution, inside, drawn=draws(network)) if state == "inconclusive" else None
    shown = [math.exp(one) for one in (effect, low, high)] if probe.compare == "ratio" else [effect, low, high]
    text = words
    if probe.compare == "ratio":
        text += f" ({shown[0]:.2f} times the kernel's)"
    if state == "inconclusive":
        text += ", which these trials cannot tell apart from the margin"
    return _with(
        blank, state=state, effect=shown[0], low=_finite(shown[1]), high=_finite(shown[2]),
        seeds=len(effects), more=more, text=text,
    )  # fmt: skip


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


def _with(finding: Finding, **changes: object) -> Finding:
    return Finding(**{**vars(finding), **changes})  # type: ignore[arg-type]


def _uncomparable(
    probe: Probe,
    mine: Readings,
    its: Readings | None,
    here: Mapping[int, Figure],
    kernel: Mapping[int, Figure],
    cca: str,
) -> str | None:
    """Why nothing is compared; None where it is."""
    if not here:
        return next((one.why for one in mine.values() if isinstance(one, Unseen)), "no valid trial")
    if probe.compare == "bound":
        return None
    if cca in _LATER:
        return "the kernel has no BBR of this generation to compare with"
    if its is None:
        return "kernel TCP was not run alone on this network"
    if not kernel:
        said = next((one.why for one in its.values() if isinstance(one, Unseen)), "no valid trial")
        return f"kernel TCP shows nothing to compare with: {said}"
    return None


def _effects(probe: Probe, here: Mapping[int, Figure], kernel: Mapping[int, Figure]) -> list[float]:
    """One a seed that both have: logarithm of the ratio, or the difference."""
    if probe.bound is not None:
        return [one.value - probe.bound for one in here.values()]
    pairs = [(here[seed].value, kernel[seed].value) for seed in sorted(here.keys() & kernel.keys())]
    if probe.compare == "ratio":
        return [math.log(max(one, _LEAST) / max(two, _LEAST)) for one, two in pairs]
    return [one - two for one, two in pairs]


def _resolution(probe: Probe, here: Mapping[int, Figure], kernel: Mapping[int, Figure]) -> float:
    """Half-width that both sides' measures leave open, on the scale of the effects."""
    sides = [here] if probe.compare == "bound" else [here, kernel]
    if probe.compare == "ratio":
        parts = [max(one.resolution / max(one.value, _LEAST) for one in side.values()) for side in sides]
    else:
        parts = [max(one.resolution for one in side.values()) for side in sides]
    return float(np.hypot(*parts)) if len(parts) > 1 else parts[0]


def _interval(effects: list[float], resolution: float, *, drawn: bool) -> tuple[float, float, float]:
    """Mean and ends: the range, or Student's interval; the latter has none of fewer than three."""
    mean = float(np.mean(effects))
    if not drawn:
        return mean, min(effects) - resolution, max(effects) + resolution
    if len(effects) < FEWEST_SEEDS:
        return mean, -math.inf, math.inf
    arm = _student(len(effects)) * float(np.std(effects, ddof=1)) / math.sqrt(len(effects)) + resolution
    return mean, mean - arm, mean + arm


def _student(seeds: int) -> float:
    return float(scipy.stats.t.isf((1 - CONFIDENCE) / 2, seeds - 1))


def _margin(probe: Probe) -> tuple[float, float]:
    """The margin on the scale of the effects."""
    if probe.compare == "ratio":
        return math.log(probe.low), math.log(probe.high)
    return probe.low, probe.high


def _state(low: float, high: float, margin: tuple[float, float]) -> State:
    if low > margin[1] or high < margin[0]:
        return "different"
    return "equivalent" if margin[0] <= low and high <= margin[1] else "inconclusive"


def _more(
    effects: list[float], resolution: float, margin: tuple[float, float], *, drawn: bool
) -> int | None:
    """Seeds to add until the interval leaves the margin's end, if mean and spread stay as they are."""
    if not drawn:
        return None
    if len(effects) < FEWEST_SEEDS:
        return FEWEST_SEEDS - len(effects)
    mean, spread = float(np.mean(effects)), float(np.std(effects, ddof=1))
    distance = min(abs(mean - end) for end in margin if math.isfinite(end)) - resolution
    for seeds in range(len(effects) + 1, MOST_SEEDS):
        if _student(seeds) * spread / math.sqrt(seeds) < distance:
            return seeds - len(effects)
    return None


def _theory(probe: Probe, network: Network, family: str) -> float | None:
    """The textbook's mean window in packets at the network's loss, or the rate that it makes, in Mbps.

    Without queueing, and of independent losses too low: see :mod:`cambrian.metrics.theory`.
    """
    ratio = 1 / network.loss_every_packets if network.loss_every_packets else network.loss_percent / 100
    if probe.theory is None or not ratio or family not in ("cubic", "reno"):
        return None
    rtt_s = network.rtt_ms / 1e3
    window = (
        theory.cubic_average_window_segments(ratio, rtt_s)
        if family == "cubic"
        else theory.reno_window_segments(ratio)
    )
    return window if probe.theory == "window" else theory.window_rate_mbps(window, FRAME_BYTES, rtt_s)


def _words(
    probe: Probe, network: Network, family: str, here: Mapping[int, Figure], kernel: Mapping[int, Figure]
) -> str:
    return probe.says.format(
        mine=_shown(probe, _mean(here)),
        its=_shown(probe, _mean(kernel)),
        kernel=_TITLES.get(family, f"kernel {family}"),
        loss_percent=f"{network.loss_percent:g}",
        loss_every_packets=network.loss_every_packets,
    )


def _shown(probe: Probe, value: float | None) -> str:
    if value is None:
        return "an unknown amount"
    return f"{value:.{probe.digits}f} {probe.unit}".strip()


def _mean(side: Mapping[int, Figure]) -> float | None:
    return float(np.mean([one.value for one in side.values()])) if side else None


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
