"""BBR's Startup: its pacing gain, 2/ln 2 = 2.885 in Linux and the first draft, 2.77 in BBRv3."""

from __future__ import annotations

import numpy as np

from cambrian.metrics.columns import BoolArray
from cambrian.metrics.parameters.bbr_phases import Phases, cruises
from cambrian.metrics.parameters.bbr_rates import POINTS_A_ROUND, WARM_UP_ROUNDS, Rates
from cambrian.metrics.parameters.bbr_settled import in_silence, says_phase, says_probe_bw
from cambrian.metrics.parameters.estimate import Estimate, Missing, Source
from cambrian.metrics.parameters.flow_trace import FlowTrace
from cambrian.metrics.states.vocabulary import PROBE_BW_CRUISE, PROBE_BW_REFILL

GAIN = "startup_gain"
#: Drain's rate is less than this part of Startup's (1/2.885² as drafted, 1/5.5 in BBRv3)
DRAIN = 0.35
#: the rate at the end of Startup, and cruising soon after it, are taken over these round trips
LAST_ROUNDS, SOON_ROUNDS = 1.0, 24
#: Drain is over when the rate rises by this factor; cruising then is this near to what follows, or
#: it is probing, or the bandwidth that Startup found was given up
RISES, SAME_BANDWIDTH = 1.3, 0.07
#: in this part of them the flow may send nothing; a rate that is only carried on is none
MOST_SILENT = 0.5
#: a window that doubles each round trip lets out twice the bottleneck's rate: more is the pacer's
MORE_THAN_DOUBLE = 2.3
#: by packets, cruising must be this near to the bottleneck's rate
FILLS = 0.1
#: a plateau of the packets' rate: this many points, this even
PLATEAU_POINTS, PLATEAU_SPREAD = 2, 0.07
RESOLUTION: dict[Source, float] = {"window": 0.02, "packets": 0.12}


def estimates_from_rates(rates: Rates, found: Phases, trace: FlowTrace) -> Estimate | Missing:
    """Startup's gain from one source of rates."""
    if not trace.alone:
        return Missing(GAIN, "other flows change the rate in Startup", rates.source)
    return _by_pacing(rates, found, trace) if rates.source == "window" else _by_packets(rates, found, trace)


def _by_pacing(rates: Rates, found: Phases, trace: FlowTrace) -> Estimate | Missing:
    """The last pacing rate before Drain over the first cruising ones after it."""
    known = np.isfinite(rates.rate_bps)
    rate, time_ns = rates.rate_bps[known], rates.time_ns[known]
    early = np.flatnonzero(time_ns < trace.start_ns + WARM_UP_ROUNDS * trace.rtt_ns)
    falls = [point for point in early[1:] if rate[point] < DRAIN * rate[point - 1]]
    # the one to Drain is the last: the first measured RTT may have lowered a guess before
    if not falls:
        return Missing(GAIN, "the pacing rate does not fall at the end of Startup")
    drain = falls[-1]
    last = rate[max(drain - round(LAST_ROUNDS * POINTS_A_ROUND), 0) : drain]
    if np.ptp(rate[:drain]) == 0:
        return Missing(GAIN, "the pacing rate keeps its first value: Startup is not paced")
    after = drain + int(np.argmax(rate[drain:] > RISES * rate[drain]))
    soon = slice(after, after + SOON_ROUNDS * POINTS_A_ROUND)
    in_probe_bw = says_probe_bw(trace, time_ns)
    if in_probe_bw is not None and not in_probe_bw[soon].any():
        return Missing(GAIN, "the log shows no ProbeBW soon after the fall of its rate")
    if in_silence(trace, time_ns[soon]).mean() > MOST_SILENT:
        return Missing(GAIN, "the flow falls silent after the fall of its rate")
    if found.refills:
        return Missing(GAIN, "the flow may drain, not cruise, after the fall of its rate")
    cruising = rate[soon]
    if (named := says_phase(trace, time_ns[soon], PROBE_BW_CRUISE, PROBE_BW_REFILL)) is not None:
        cruising = cruising[named]
    if not len(cruising):
        return Missing(GAIN, "the log shows no cruising soon after the fall of its rate")
    cruise = float(np.median(cruising))
    first = float(np.median(cruising[: round(LAST_ROUNDS * POINTS_A_ROUND)]))
    if abs(first / cruise - 1) > SAME_BANDWIDTH:
        return Missing(GAIN, "the rate just after Drain is not the cruising rate")
    return Estimate(GAIN, (float(np.median(last)) / first,), RESOLUTION["window"], "window")


def _by_packets(rates: Rates, found: Phases, trace: FlowTrace) -> Estimate | Missing:
    """The highest even rate of Startup over the cruising one."""
    levels = cruises(rates, trace, found)
    if not len(levels):
        return Missing(GAIN, "no cruising rate to compare with", "packets")
    factor = float(np.median(levels))
    if abs(factor - 1) > FILLS:
        return Missing(GAIN, "the cruising rate differs much from the bandwidth found in Startup", "packets")
    cruise = factor * rates.unit_bps
    early = rates.rate_bps[rates.time_ns < trace.start_ns + WARM_UP_ROUNDS * trace.rtt_ns] / cruise
    even = _plateaus(early)
    if not np.any(even & (early > MORE_THAN_DOUBLE)):
        return Missing(GAIN, "the window, which doubles each round trip, limits Startup's rate", "packets")
    top = early[even].max()
    gain = float(np.median(early[even & (early > (1 - PLATEAU_SPREAD) * top)]))
    return Estimate(GAIN, (gain,), RESOLUTION["packets"], "packets")


def _plateaus(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> BoolArray:
    """Points whose neighbours on either side are as high, or nearly."""
    even = np.zeros(len(values), np.bool_)
    if len(values) < 2 * PLATEAU_POINTS + 1:
        return even
    windows = np.lib.stride_tricks.sliding_window_view(values, 2 * PLATEAU_POINTS + 1)
    even[PLATEAU_POINTS:-PLATEAU_POINTS] = np.ptp(windows, axis=1) <= PLATEAU_SPREAD * windows.max(axis=1)
    return even
