"""BBR's Startup: its pacing gain, 2/ln 2 = 2.885 in Linux and the first draft, 2.77 in BBRv3."""

from __future__ import annotations

import numpy as np

from cambrian.metrics.parameters.bbr_phases import Phases
from cambrian.metrics.parameters.bbr_rates import POINTS_A_ROUND, WARM_UP_ROUNDS, Rates
from cambrian.metrics.parameters.bbr_settled import in_silence, says_phase, says_probe_bw
from cambrian.metrics.parameters.estimate import Estimate, Missing
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
#: a rate of the bandwidth that Startup found is greater by this than the least one before it
RAISED = 1.05
RESOLUTION = 0.02


def estimates_from_rates(rates: Rates, found: Phases, trace: FlowTrace) -> Estimate | Missing:
    """Startup's gain, by the log's pacing rates alone."""
    if not trace.alone:
        return Missing(GAIN, "other flows change the rate in Startup", rates.source)
    if rates.source == "packets":
        why = "packets do not show it: the window, which doubles each round trip, also limits Startup's rate"
        return Missing(GAIN, why, "packets")
    return _by_pacing(rates, found, trace)


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
    if np.median(last) < RAISED * rate[:drain].min():
        # the guess is of the initial window: a path of few packets, or an RTT of 1 ms, never exceeds it
        return Missing(GAIN, "the pacing rate does not rise in Startup: it may be the sender's first guess")
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
    return Estimate(GAIN, (float(np.median(last)) / first,), RESOLUTION, "window")
