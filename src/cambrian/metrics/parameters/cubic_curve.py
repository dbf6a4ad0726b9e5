"""CUBIC's C, K, fast convergence and Reno-friendly α: fit its law to the epochs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from cambrian.metrics.columns import BoolArray, FloatArray
from cambrian.metrics.parameters.cubic_growth import C_RANGE, Fit, Law, fit, follow
from cambrian.metrics.parameters.definitions import PARAMETERS as PARAMETERS_BY_KEY
from cambrian.metrics.parameters.epochs import Epochs
from cambrian.metrics.parameters.estimate import Estimate, Missing, Source, of_kind

#: parameters that :func:`estimates` yields
PARAMETERS = ("cubic_c", "cubic_k_s", "cubic_k_rule", "fast_convergence", "alpha", "reno_friendly")
#: RFC 9438 section 5
STANDARD_C = 0.4
#: largest error of a window in segments: counted in bytes, in whole segments, or a flight
ERROR_BYTES, ERROR_SEGMENTS, ERROR_FLIGHT = 0.5, 1.0, 1.5
#: the widest half-interval that still tells something: C in share of it (or of the standard's, if that is
#: larger: how small a C is does not matter), W_max and α as such
WIDEST = {"cubic_c": 0.5, "fast_convergence": 0.1, "alpha": 0.3}
#: epochs of less than this share of the usual sensitivity give no sample of their own
SENSITIVE = 0.25
#: steps of Law's vector in which its effect is measured
STEPS = np.array([0.02, 0.01, 0.05, 0.01])
#: no epoch tells another C than these, segments/s³
C_POSSIBLE = (1e-6, 1e6)
#: the law's parameters, in its vector's order
NAMES = ("cubic_c", "fast_convergence", "alpha", "lead")
#: improvement of the fit, in errors, that shows a Reno-friendly region
CLEARLY = 0.35
#: a loss so much below the last maximum, in segments, surely is; one so much above surely is not
SURELY_BELOW: dict[Source, float] = {"window": 1.0, "packets": 1e9}
#: W_max must come out within this with and without a Reno-friendly region, if neither is clearly better
STEADY = 0.03
#: losses below the last maximum that a flight tells W_max from
FEW_BELOW = 3
#: largest deviation, in errors, of a law that fits
SURELY = 0.25
#: K counts from β·W_max where that brings the law so much nearer
SURELY_BETTER = 0.5
#: two laws are distinguishable if their windows differ by this number of errors in an epoch
TOLD_APART = 2.0
#: a law that is off by more than so much of an epoch's growth is not CUBIC's
NOT_CUBIC = 0.05
#: share of the epochs that must follow a law
FOLLOWING = 0.8
#: segments by which W_max may be below the window before a loss: some take the flight, which does not always
#: fill the window
UNFILLED = (1.0, 2.0, 3.0)


def estimates(
    seen: Epochs, depth: FloatArray, beta: float, read_ahead_s: float, source: Source
) -> Iterator[Estimate | Missing]:
    """C, K, fast convergence, α and whether there is a Reno-friendly region.

    ``depth``: how far, in segments, the loss before each epoch was below the last maximum. ``beta``:
    what reductions leave. ``read_ahead_s``: the round trip by which the curve is read ahead.
    """
    if not len(seen):
        yield from _nothing("no congestion avoidance between two congestion events", source)
        return
    error = _error(seen, source)
    start = Law(STANDARD_C, (1 + beta) / 2, 3 * (1 - beta) / (1 + beta), read_ahead_s, ahead_s=read_ahead_s)
    # some take a loss a little below the maximum for one at it, and whole packets do not order maxima
    surely = depth > SURELY_BELOW[source]
    below = surely | ((depth > -SURELY_BELOW[source]) & _likelier(start, seen))
    found, other = _nearest(seen, below, start, error)
    follows = _following(found, seen, error)
    if source == "window" and float(follows.mean()) < FOLLOWING:
        epochs, nearest, another = _unfilled(seen, below, start, error)
        more = _following(nearest, epochs, error)
        if more.sum() > follows.sum():
            follows = more
            if found.cost > _tolerance(seen, error):
                seen, found, other = epochs, nearest, another
    kinds = PARAMETERS_BY_KEY["cubic_growth"].kinds
    if found.cost > _tolerance(seen, error):
        yield from _nothing(
            f"the window does not follow CUBIC's law (off by {found.cost:.1f} segments)", source
        )
        # a flight follows its window loosely, so it alone is too weak for an accusation
        if source == "window":
            if _shows(start, seen, below, error):
                yield of_kind("cubic_growth", (~follows).astype(int).tolist(), kinds, source)
            else:
                yield Missing("cubic_growth", "Reno's estimate determines the window here", source)
        return
    yield of_kind("cubic_growth", (~follows).astype(int).tolist(), kinds, source)
    samples, resolution = sensitivities(found.law, seen, below, error + found.cost)
    if found.law.alpha == 0:
        # with a Reno-friendly region the windows may be explained nearly as well by other values
        resolution["cubic_c"] += abs(float(np.log(found.law.c / other.law.c)))
        resolution["fast_convergence"] += abs(found.law.converging - other.law.converging)
    share = _share_of_c(found, seen, below, start.alpha, error, resolution["cubic_c"])
    yield from _c_and_k(found.law, seen, below, samples["cubic_c"], share, source)
    sure = found.law.alpha > 0 or abs(found.law.converging - other.law.converging) <= STEADY
    if not below.any():
        yield Missing("fast_convergence", "no loss below the last maximum", source)
    elif not sure or (source == "packets" and below.sum() < FEW_BELOW):
        yield Missing("fast_convergence", "too few losses below the last maximum", source)
    else:
        yield _estimate("fast_convergence", samples, resolution, source)
    yield _k_rule(found.law, seen, below, error, source)
    yield from _reno_friendly(found, seen, below, start.alpha, error, samples, resolution, source)


def _nearest(seen: Epochs, below: BoolArray, start: Law, error: float) -> tuple[Fit, Fit]:
    """The best fit of RFC 9438's law, or of a variant of it if that is much nearer, and the other of two.

    The variants: its recommendation for Reno's estimate above the window before the loss, and RFC 8312's law.
    """
    found, other = _best(seen, below, start, error)
    if found.cost <= error * SURELY:
        return found, other
    # RFC 8312 counts K from β·W_max, and Reno's estimate by the clock; some do the one, some both
    others = [replace(start, raised=True), replace(start, timed=True)]
    if below.any():
        others += [replace(start, by_maximum=True), replace(start, by_maximum=True, timed=True)]
    tried = [_best(seen, below, law, error) for law in others]
    nearest, another = min(tried, key=lambda pair: pair[0].cost)
    return (nearest, another) if nearest.cost < SURELY_BETTER * found.cost else (found, other)


def _unfilled(seen: Epochs, below: BoolArray, start: Law, error: float) -> tuple[Epochs, Fit, Fit]:
    """The epochs with the W_max, of :data:`UNFILLED`, by which most of them follow the law; and the fits."""
    lower = [replace(seen, before=np.maximum(seen.before - off, seen.after)) for off in UNFILLED]
    tried = [(epochs, *_nearest(epochs, below, start, error)) for epochs in lower]
    return max(tried, key=lambda one: float(_following(one[1], one[0], error).mean()))


def _tolerance(seen: Epochs, error: float) -> float:
    """Largest median deviation of a law that the epochs follow, segments."""
    return max(NOT_CUBIC * float(np.median(np.ptp(seen.segments, axis=1))), error)


def _following(found: Fit, seen: Epochs, error: float) -> BoolArray:
    """Of each epoch: does it follow the law?"""
    return np.asarray(
        found.misfit <= np.maximum(NOT_CUBIC * np.ptp(seen.segments, axis=1), error), dtype=bool
    )


def _shows(standard: Law, seen: Epochs, below: BoolArray, error: float) -> bool:
    """Would these windows differ with another C? Windows that Reno's estimate carries do not depend on C.

    RFC 8312 and RFC 9438 differ in that estimate, and so do the programs that follow one of them.
    """
    return sensitivities(standard, seen, below, error)[1]["cubic_c"] <= WIDEST["cubic_c"]


def _share_of_c(
    found: Fit, seen: Epochs, below: BoolArray, alpha: float, error: float, known: float
) -> float:
    """C's half-interval in share: it reaches to every C tried with which the law fits as well.

    Tried are the standard's and the least possible. If the latter fits, Reno's estimate alone carries the
    window, or the epochs end long before K, and C may be nothing. The sensitivity to C does not show this: it
    is that at the best C, which may be large enough to matter.

    ``alpha``: the standard's. ``known``: the share by the sensitivity; infinite if that is too wide already.
    """
    if known > WIDEST["cubic_c"]:
        return np.inf
    begin = replace(found.law, alpha=found.law.alpha or alpha)
    free = (False, bool(below.any()), True, True)

    def fits(c: float) -> bool:
        return fit(seen, below, replace(begin, c=c), free).cost <= found.cost + CLEARLY * error

    share = known
    apart = abs(STANDARD_C - found.law.c) / found.law.c
    if apart > known and fits(STANDARD_C):
        share += apart
    return max(share, 1.0) if fits(C_RANGE[0]) else share


def _nothing(why: str, source: Source) -> Iterator[Missing]:
    for name in PARAMETERS:
        yield Missing(name, why, source)


def _k_rule(law: Law, seen: Epochs, below: BoolArray, error: float, source: Source) -> Estimate | Missing:
    """Does K count from the window (RFC 9438), or from β·W_max (RFC 8312)? By the epochs that tell."""
    if source == "packets":
        return Missing("cubic_k_rule", "packets do not show when the time of the curve starts", source)
    telling, nearer = _distinguished(law, replace(law, by_maximum=not law.by_maximum), seen, below, error)
    if not telling.any():
        return Missing("cubic_k_rule", "both rules give the same windows here", source)
    codes = np.where(nearer, law.by_maximum, not law.by_maximum)[telling].astype(int)
    return of_kind("cubic_k_rule", codes.tolist(), PARAMETERS_BY_KEY["cubic_k_rule"].kinds, source)


def _distinguished(
    one: Law, other: Law, seen: Epochs, below: BoolArray, error: float
) -> tuple[BoolArray, BoolArray]:
    """Of each epoch: do the two laws' windows differ there by two errors, and is ``one`` the nearer?"""
    windows = [follow(law, seen, below) for law in (one, other)]
    apart = np.sqrt(np.mean((windows[0] - windows[1]) ** 2, axis=1))
    off = [np.mean((window - seen.segments) ** 2, axis=1) for window in windows]
    return np.asarray(apart >= TOLD_APART * error, dtype=bool), np.asarray(off[0] <= off[1], dtype=bool)


def _best(seen: Epochs, below: BoolArray, start: Law, error: float) -> tuple[Fit, Fit]:
    """The best fit, and the other of two: with a Reno-friendly region, if that is clearly better, or without.

    Where α shows nowhere at first, a search does not move it: it begins at the best of several.
    """
    converging = bool(below.any())
    without = fit(seen, below, replace(start, alpha=0.0), (True, converging, False, True))
    several = [replace(law, alpha=alpha) for law in (start, without.law) for alpha in _alphas(start)[:-1]]
    begin = min(several, key=lambda law: float(np.mean(np.abs(follow(law, seen, below) - seen.segments))))
    friendly = fit(seen, below, begin, (True, converging, True, True))
    better = friendly.cost < without.cost - CLEARLY * error
    return (friendly, without) if better else (without, friendly)


def _alphas(start: Law) -> tuple[float, ...]:
    """α of one connection by the standard, of two (N² times as much, by Chromium), of Reno, and none."""
    return (start.alpha, 4 * start.alpha, 1.0, 0.0)


def _likelier(start: Law, seen: Epochs) -> BoolArray:
    """The epochs that more likely follow a loss below the last maximum, by the α that fits best."""
    nothing = np.zeros(len(seen), bool)
    found = []
    for alpha in _alphas(start):
        law = replace(start, alpha=alpha)
        plain, converged = (
            np.mean((follow(law, seen, which) - seen.segments) ** 2, axis=1) for which in (nothing, ~nothing)
        )
        found.append((float(np.minimum(plain, converged).sum()), converged < plain))
    return np.asarray(min(found, key=lambda one: one[0])[1], dtype=bool)


def _error(seen: Epochs, source: Source) -> float:
    if source == "packets":
        return ERROR_FLIGHT
    whole = np.allclose(seen.segments, np.round(seen.segments), atol=1e-6)
    return ERROR_SEGMENTS if whole else ERROR_BYTES


def sensitivities(
    law: Law, seen: Epochs, below: BoolArray, error: float
) -> tuple[dict[str, FloatArray], dict[str, float]]:
    """Each parameter's value from each epoch alone, and its error for ``error`` segments.

    Of a parameter's effect on the windows only that part counts which no other parameter has.
    """
    at = law.vector()
    base = follow(law, seen, below)
    effects = []
    for number, step in enumerate(STEPS):
        moved = at.copy()
        moved[number] += step
        effects.append((follow(_law(moved, law), seen, below) - base) / step)
    off = (seen.segments - base).ravel()
    samples, resolution = {}, {}
    for number, name in enumerate(NAMES[:3]):
        others = np.column_stack([effect.ravel() for k, effect in enumerate(effects) if k != number])
        own = effects[number].ravel()
        own = own - others @ np.linalg.lstsq(others, own, rcond=None)[0]
        by_epoch = own.reshape(len(seen), -1)
        power = (by_epoch**2).sum(axis=1)
        strong = power >= SENSITIVE * power.max() if power.max() > 0 else np.zeros(len(seen), bool)
        moves = (by_epoch * off.reshape(by_epoch.shape)).sum(axis=1)[strong] / power[strong]
        samples[name] = at[number] + moves
        strength = np.sqrt(power[strong].mean() / by_epoch.shape[1]) if strong.any() else 0.0
        resolution[name] = error / strength if strength > 0 else np.inf
    samples["cubic_c"] = np.exp(np.clip(samples["cubic_c"], *np.log(C_POSSIBLE)))
    return samples, resolution


def _law(vector: FloatArray, like: Law) -> Law:
    return replace(
        like,
        c=float(np.exp(vector[0])),
        converging=float(vector[1]),
        alpha=float(vector[2]),
        lead_s=float(vector[3]),
    )


def _estimate(
    name: str, samples: dict[str, FloatArray], resolution: dict[str, float], source: Source
) -> Estimate | Missing:
    if resolution[name] > WIDEST[name]:
        return Missing(name, "the window hardly depends on this value here", source)
    return Estimate(name, tuple(samples[name].tolist()), resolution[name], source)


def _c_and_k(
    law: Law, seen: Epochs, below: BoolArray, c: FloatArray, share: float, source: Source
) -> Iterator[Estimate | Missing]:
    why = "the window hardly depends on C here"
    if share * law.c > WIDEST["cubic_c"] * max(law.c, STANDARD_C):
        yield Missing("cubic_c", why, source)
    else:
        # C is not below 0
        half = min(share * law.c, float(np.median(c)))
        yield Estimate("cubic_c", tuple(c.tolist()), half, source)
    if share > WIDEST["cubic_c"]:
        yield Missing("cubic_k_s", why, source)
        return
    full = seen.only(~below) if (~below).any() else seen
    k_s = np.cbrt((full.before - full.after) / law.c)
    yield Estimate("cubic_k_s", tuple(k_s.tolist()), share / 3 * float(np.median(k_s)), source)


def _reno_friendly(
    found: Fit,
    seen: Epochs,
    below: BoolArray,
    alpha: float,
    error: float,
    samples: dict[str, FloatArray],
    resolution: dict[str, float],
    source: Source,
) -> Iterator[Estimate | Missing]:
    """Is the window ever carried by Reno's estimate, and by which α? Would the standard's show?"""
    told = _estimate("alpha", samples, resolution, source)
    if isinstance(told, Estimate):
        yield told
        yield of_kind(
            "reno_friendly", [0] * len(told.samples), PARAMETERS_BY_KEY["reno_friendly"].kinds, source
        )
        return
    yield Missing("alpha", "the window never follows Reno's estimate", source)
    without = replace(found.law, alpha=0.0)
    # another C may do what the standard's estimate would: the best law that has it must be off as well
    free = (True, bool(below.any()), False, True)
    tried = [fit(seen, below, replace(found.law, alpha=alpha, timed=timed), free) for timed in (False, True)]
    nearest = min(tried, key=lambda one: one.cost)
    telling, nearer = _distinguished(without, nearest.law, seen, below, error)
    if not telling.any() or nearest.cost <= TOLD_APART * error:
        yield Missing("reno_friendly", "Reno's estimate does not determine the window here", source)
        return
    kinds = PARAMETERS_BY_KEY["reno_friendly"].kinds
    yield of_kind("reno_friendly", nearer[telling].astype(int).tolist(), kinds, source)
