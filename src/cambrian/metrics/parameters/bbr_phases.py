"""ProbeBW's phases in a flow's rate: probing up, draining, and cruising."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from cambrian.metrics.columns import BoolArray, FloatArray, Int64Array
from cambrian.metrics.parameters.bbr_rates import LEVEL_ROUNDS, POINTS_A_ROUND, Rates, level_bps
from cambrian.metrics.parameters.bbr_settled import (
    left_startup,
    names_phases,
    says_phase,
    says_probe_bw,
    settled,
)
from cambrian.metrics.parameters.estimate import Source
from cambrian.metrics.parameters.flow_trace import FlowTrace
from cambrian.metrics.states.vocabulary import PROBE_BW_CRUISE, PROBE_BW_REFILL

#: probing raises the rate by this much at least, and by less than Startup does
UP_LEAST, UP_MOST = 1.08, 2.0
#: what drains the probe lowers it to this part of cruising or less
DOWN_MOST = 0.97
#: so many of the probes that draining follows, by packets; a pacer's own word is exact, and a few are enough
MOST = 0.5
FEWEST_SURE = 3
#: a probe that raises the rate by more, with none lower behind it, may start from draining: 1.25 over 0.75
MOST_FROM_CRUISING = 1.5
#: a probe whose rate rises by this once more begins with a refill after draining, 1 over 0.9, and the rate
#: before it is draining's: a later generation drains until it probes if its flight never falls to a BDP, as
#: behind rare acknowledgements. This share of such probes leaves the others in doubt, too
SECOND_RISE, DOUBTFUL_SHARE = 1.15, 0.25
#: a phase lasts this long at least; its rate is what it has in that time, at this many points or more
PHASE_ROUNDS = 0.4
EDGE_POINTS = 2
#: a phase is compared with the rate in this time before it: BBRv2 and v3 refill the path for a round
#: trip then, without the bounds that cruising is under; packets are counted over a longer time
BEFORE_ROUNDS: dict[Source, float] = {"window": 0.5, "packets": 3.0}
#: and is within this of the level, or the flow was not cruising then
CRUISE_SPREAD = 0.1
#: the pacer sets the packets' pace while the queue is short; behind a standing one of more than
#: this part of a round trip acknowledgements may
SHORT_QUEUE_ROUNDS = 0.25
#: cruising is this near to the level
CRUISE_NEAR = 0.03
#: and to the rate before probes
CRUISE_DRIFT = 0.15
#: without a probe, cruising is what the flow does in this part of the time or more: BBRv1 in six phases of
#: eight, while a sender with shorter cycles may probe for longer than the level allows for
CRUISE_SHARE = 0.5
#: a later generation, whose cycles last two seconds and more, cruises in most of each: 66 % of the time and
#: more in the stock stacks; one whose rate drifts or breaks down between its probes has 49 % at most
LATER_CRUISE_SHARE = 0.6
#: within a phase the rate is even; a burst is not
EVEN_SPREAD = 0.06


@dataclass(frozen=True)
class Phases:
    """``start_ns``: when each probing began, those behind a standing queue included. Of the others:
    ``cruise_bps``, the rate just before; ``up_gain``, that at its start over it; ``down_gain``,
    that just after it over the same (NaN where none is lower). Where a lower one follows enough of
    them, only those that one follows: the rest is the end of a long draining. ``refills``: too many probes
    rise twice, and may start in a drain phase.
    """

    start_ns: Int64Array
    cruise_bps: FloatArray
    up_gain: FloatArray
    down_gain: FloatArray
    refills: bool = False

    @property
    def may_start_in_drain(self) -> bool:
        """Their rate rises twice; or no lower one follows some, and they rise as if from draining."""
        return self.refills or bool(
            np.isnan(self.down_gain).any() and np.median(self.up_gain) > MOST_FROM_CRUISING
        )


def by_named_phases(rates: Rates, trace: FlowTrace) -> Rates:
    """The same; if the log names ProbeBW's phases, the level is that of cruising and refilling alone."""
    level = says_phase(trace, rates.time_ns, PROBE_BW_CRUISE, PROBE_BW_REFILL)
    if level is None:
        return rates
    return replace(rates, level_bps=level_bps(np.where(level, rates.rate_bps, np.nan)))


def phases(rates: Rates, trace: FlowTrace) -> Phases:
    """The probes of a flow in ProbeBW."""
    ratio = rates.ratio
    late = settled(trace, rates.time_ns)
    least = max(round(PHASE_ROUNDS * POINTS_A_ROUND), 2 * rates.edge_points + EDGE_POINTS)
    before = rates.edge_points + round(BEFORE_ROUNDS[rates.source] * POINTS_A_ROUND)
    free = is_free(rates, trace)
    is_named = names_phases(trace)
    starts, probes, doubtful = [], [], 0
    for start, end in _runs((ratio > UP_LEAST) & (ratio < UP_MOST) & late, least):
        cruise = _steady_rate(rates, start - before, start)
        up = _steady_rate(rates, start, start + least)
        if np.isnan(up / cruise) or abs(cruise / rates.level_bps[start] - 1) > CRUISE_SPREAD:
            continue
        starts.append(rates.time_ns[start])
        if free[start] and not is_named and _steady_rate(rates, end - least, end) > SECOND_RISE * up:
            doubtful += 1
        elif free[start]:
            # the bandwidth that is found by probing may raise the rate: it is the end that draining goes by
            drop = _steady_rate(rates, end, end + least) / _steady_rate(rates, end - least, end)
            down = up / cruise * drop
            probes.append((cruise, up / cruise, down if down < DOWN_MOST else np.nan))
    refills = doubtful > DOUBTFUL_SHARE * (doubtful + len(probes))
    cruise_bps, ups, downs = np.array(probes, np.float64).reshape(-1, 3).T
    drained = np.isfinite(downs)
    fewest = FEWEST_SURE if rates.source == "window" else MOST * len(downs) + 1
    if np.count_nonzero(drained) >= fewest:
        cruise_bps, ups, downs = cruise_bps[drained], ups[drained], downs[drained]
    return Phases(np.array(starts, np.int64), cruise_bps, ups, downs, refills)


def _steady_rate(rates: Rates, start: int, end: int) -> float:
    """The rate between two changes; NaN if it varies."""
    inside = np.sort(rates.rate_bps[max(start + rates.edge_points, 0) : max(end - rates.edge_points, 0)])
    if not len(inside):
        return float("nan")
    # the fifths: np.quantile would take most of the time here
    low, middle, high = inside[[len(inside) // 5, len(inside) // 2, -1 - len(inside) // 5]]
    return float(middle) if middle > 0 and high - low <= EVEN_SPREAD * middle else float("nan")


def is_free(rates: Rates, trace: FlowTrace) -> BoolArray:
    """Points at which the pacer sets the pace: all if it is exported, else those with a short queue."""
    if rates.source == "window":
        return np.ones(len(rates.time_ns), np.bool_)
    window = round(BEFORE_ROUNDS[rates.source] * POINTS_A_ROUND)
    waited = pl.Series(rates.waited_ns).rolling_median(window, min_samples=1).to_numpy()
    free: BoolArray = waited <= SHORT_QUEUE_ROUNDS * trace.rtt_ns
    return free


def cruises(rates: Rates, trace: FlowTrace, found: Phases, *, may_be_later: bool = False) -> FloatArray:
    """The cruising rate over the bottleneck's, one value every few cycles, in ProbeBW; empty if unsure.

    ``may_be_later``: it may be of BBR's second or third generation.
    """
    if found.may_start_in_drain:
        return np.empty(0)
    looked = is_free(rates, trace) & settled(trace, rates.time_ns)
    if (named := says_phase(trace, rates.time_ns, PROBE_BW_CRUISE)) is not None:
        looked &= named
    near = np.abs(rates.ratio - 1) < CRUISE_NEAR
    level = rates.rate_bps[looked & near]
    if len(found.cruise_bps):
        # where draining takes most of the time, its rate is the usual one
        level = level[np.abs(level / np.median(found.cruise_bps) - 1) < CRUISE_DRIFT]
        if may_be_later and len(level) < LATER_CRUISE_SHARE * np.count_nonzero(looked):
            return np.empty(0)
    elif len(level) < CRUISE_SHARE * np.count_nonzero(looked) or stays_in_startup(rates, trace, found):
        return np.empty(0)
    size = LEVEL_ROUNDS * POINTS_A_ROUND
    blocks = level[: len(level) // size * size].reshape(-1, size)
    return np.asarray(np.median(blocks, axis=1) / rates.unit_bps, np.float64)


def stays_in_startup(rates: Rates, trace: FlowTrace, found: Phases) -> bool:
    """Nothing shows that the flow left Startup: neither its log, nor a probe, nor its rates."""
    if says_probe_bw(trace, rates.time_ns) is not None or len(found.cruise_bps):
        return False
    return not left_startup(rates, trace, is_free(rates, trace))


def _runs(mask: BoolArray, least: int) -> list[tuple[int, int]]:
    """[start, end) of the runs of True that are at least ``least`` long."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], mask.astype(np.int8), [0]))))
    pairs = edges.reshape(-1, 2)
    return [(int(start), int(end)) for start, end in pairs if end - start >= least]
