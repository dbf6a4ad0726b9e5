"""Multiplicative decrease: the window's share after a congestion event, and the emulated connections.

If N connections share one window and one of them backs off, β_N = (N − 1 + β)/N of it remains
(Chromium's ``cubic_bytes.cc``; Crowcroft and Oechslin, CCR 28(3), 1998): N = (1 − β)/(1 − β_N).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from cambrian.metrics.columns import BoolArray, FloatArray
from cambrian.metrics.parameters.estimate import Estimate, Missing, Source
from cambrian.metrics.parameters.reductions import Reductions, Signals

#: β of one connection (RFC 9438 section 4.6, RFC 5681 section 3.1)
ONE_CONNECTION = {"cubic": 0.7, "reno": 0.5}
#: largest share that is kept after CE marks (RFC 8511 section 3.1: 0.8, and 0.85 for CUBIC)
MOST_AFTER_MARKS = 0.85
#: segments that a ratio's numerator may be off by: a window in whole segments; a flight besides by
#: what delayed acknowledgements hide
ERROR_SEGMENTS: dict[Source, float] = {"window": 1.0, "packets": 2.5}
#: growth by a segment from each row to the next is that of a window in whole segments, and hides nothing
SEEN_SEGMENTS = 2.0
#: and in share of the window: where a sender paces, its flight stays below its window
ERROR_SHARE: dict[Source, float] = {"window": 0.0, "packets": 0.02}
#: the first event ends slow start, which overshoots: it is left out where so many others remain
FEWEST_LATER = 2
#: events that lost below the last maximum, at least, to say what they left
FEWEST_AGAIN = 3
#: largest share of outliers among the events
ODD_SHARE = 0.25
#: of two groups of ratios each is this share of the events at least
GROUP_SHARE = 0.25
#: how near the two groups' quotient must be to what fast convergence takes from W_max
TWICE = 0.05
#: fewest events for a flight's β: one may be a dip within a recovery period
FEWEST: dict[Source, int] = {"window": 1, "packets": 2}
#: windows closer than this, in segments, count as equal
SAME_SEGMENTS: dict[Source, float] = {"window": 0.1, "packets": 1.0}


def estimates(
    found: Reductions,
    family: str,
    source: Source,
    signals: Signals,
    unexplained: BoolArray,
    acknowledged: float,
) -> Iterator[Estimate | Missing]:
    """β, the same after a loss below the last maximum (CUBIC only), and N (CUBIC and Reno).

    ``signals``: what each event answers. ``unexplained``: events that answer neither a loss nor a mark,
    shape (n,); what they leave is no β. ``acknowledged``: packets for each acknowledgement.

    The standards multiply the bytes in flight, and allow to multiply the window instead. When a loss is
    declared, the packets of that acknowledgement and the lost ones are in flight no more.
    """
    ratio = found.after / found.before
    unseen = np.maximum(ERROR_SEGMENTS[source], found.unseen - SEEN_SEGMENTS)
    error = unseen / found.before + ERROR_SHARE[source]
    in_flight = np.maximum(found.before - acknowledged - signals.drops, found.after)
    of_flight = found.after / in_flight
    # where a flight comes back at once, it may never have been a window
    kept = ~found.undone if source == "packets" else ~unexplained & np.isfinite(found.unseen)
    if left_out := _keeps_more(ratio, error, family, kept, signals):
        # a drop of the same round trip may come after the answer to the mark
        kept &= signals.marks == 0
    if kept.sum() > FEWEST_LATER:
        kept[0] = False
    if kept.sum() < FEWEST[source]:
        why = "too few lasting congestion events" if len(found) else "no congestion event"
        if len(found) and unexplained.all():
            why = "no loss or mark explains any cut of the window"
        elif np.isinf(found.unseen).any():
            why = "the log's rows are too rare to show the window before a cut"
        if left_out:
            why = "its events are marks, after which RFC 8511 allows to keep more"
        yield Missing("beta", why, source)
        return
    below = depth_below_maximum(found) > SAME_SEGMENTS[source]
    below &= family == "cubic"
    if source == "packets" and family == "cubic":
        below = _lower_half(ratio, ERROR_SEGMENTS[source] / found.before, kept, below)
    plain, again = _usual(ratio, error, kept & ~below), _usual(ratio, error, kept & below)
    if not plain.any():
        plain = again
    yield _beta("beta", ratio[plain], error[plain], of_flight[plain], source)
    if again.sum() >= FEWEST_AGAIN and (kept & ~below).any():
        yield _beta("beta_again", ratio[again], error[again], of_flight[again], source)
    elif family == "cubic":
        yield Missing("beta_again", "too few losses below the last maximum to compare", source)
    if family in ONE_CONNECTION:
        yield _connections(ONE_CONNECTION[family], ratio[plain], error[plain], of_flight[plain], source)


def _keeps_more(ratio: FloatArray, error: FloatArray, family: str, kept: BoolArray, signals: Signals) -> bool:
    """Does the flow keep more after marks than after losses, as much as RFC 8511 (ABE) allows?

    Events with a mark and a drop show it only where no event has marks alone.
    """
    marked = kept & signals.only_marks
    if not marked.any():
        marked = kept & (signals.marks > 0)
    if family not in ONE_CONNECTION or not marked.any():
        return False
    share, near = float(np.median(ratio[marked])), float(np.median(error[marked]))
    return ONE_CONNECTION[family] + near < share <= MOST_AFTER_MARKS + near


def _usual(ratio: FloatArray, error: FloatArray, kept: BoolArray) -> BoolArray:
    """``kept`` without the odd events (two reductions read as one, a silence that was none).

    Odd is what lies farther from the median than three errors, if it is a small share.
    """
    if not kept.any():
        return kept
    near = np.abs(ratio - np.median(ratio[kept])) <= 3 * error
    return kept & near if (kept & ~near).sum() <= ODD_SHARE * kept.sum() else kept


def _lower_half(ratio: FloatArray, error: FloatArray, kept: BoolArray, below: BoolArray) -> BoolArray:
    """Whole packets do not order the maxima, but two kinds of reductions show as two groups of ratios.

    The lower group, if both are large, farther apart than three errors, and as far as a window that
    is cut from (1 + β)/2 of itself; else ``below``.
    """
    values = np.sort(ratio[kept])
    gaps = np.diff(values)
    if len(gaps) < FEWEST_AGAIN or gaps.max() < 3 * np.median(error):
        return below
    split = int(np.argmax(gaps)) + 1
    if min(split, len(values) - split) < GROUP_SHARE * len(values):
        return below
    low, high = float(np.median(values[:split])), float(np.median(values[split:]))
    if abs(low / high - (1 + high) / 2) > TWICE:
        return below
    return np.asarray(ratio < (values[split - 1] + values[split]) / 2, dtype=bool)


def _estimate(parameter: str, values: FloatArray, error: FloatArray, source: Source) -> Estimate:
    return Estimate(parameter, tuple(values.tolist()), float(np.median(error)), source)


def _beta(
    parameter: str, ratio: FloatArray, error: FloatArray, of_flight: FloatArray, source: Source
) -> Estimate:
    return replace(_estimate(parameter, ratio, error, source), lower_by=_lower_by(ratio, of_flight))


def _lower_by(values: FloatArray, of_flight: FloatArray) -> float:
    """How much lower the values are than those of the flight, at most, in nearly all events.

    A share of the flight is the same in each event, however many packets each has lost: an event with many
    drops excuses no others.
    """
    return max(0.0, float(np.quantile(of_flight, ODD_SHARE) - np.median(values)))


def _connections(
    one: float, ratio: FloatArray, error: FloatArray, of_flight: FloatArray, source: Source
) -> Estimate:
    """N of β; dN = (1 − β)/(1 − β_N)² · dβ_N."""
    cut, cut_of_flight = np.maximum(1 - ratio, error), np.maximum(1 - of_flight, error)
    number = (1 - one) / cut
    found = _estimate("emulated_connections", number, (1 - one) / cut**2 * error, source)
    return replace(found, lower_by=_lower_by(number, (1 - one) / cut_of_flight))


def depth_below_maximum(found: Reductions) -> FloatArray:
    """How far below W_max each event lost, in segments (RFC 9438 section 4.7); negative above it.

    W_max is the window before the last event, and (1 + β)/2 of it if that one was below, too.
    Events that were taken back leave no W_max.
    """
    depth = np.zeros(len(found))
    beta = float(np.median(found.after / found.before)) if len(found) else 0.0
    w_max = 0.0
    for number, (before, undone) in enumerate(zip(found.before, found.undone, strict=True)):
        depth[number] = w_max - before
        if not undone:
            w_max = before * (1 + beta) / 2 if before < w_max else before
    return depth
