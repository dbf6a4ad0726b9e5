"""BBR's parameters: read a trace once, and make all BBR estimates from it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cambrian.metrics.columns import FloatArray
from cambrian.metrics.parameters import bbr_probe_bw, bbr_probe_rtt, bbr_startup, bbr_window
from cambrian.metrics.parameters.bbr_bdp import (
    bdp_packets,
    carried_packets,
    link_packets,
    unfilled_packets,
    window_has_other_unit,
)
from cambrian.metrics.parameters.bbr_low_stages import low_stages
from cambrian.metrics.parameters.bbr_phases import Phases, by_named_phases, phases, stays_in_startup
from cambrian.metrics.parameters.bbr_probe_bw import GENERATION, LATER, generation
from cambrian.metrics.parameters.bbr_rates import Rates, counted, paced
from cambrian.metrics.parameters.bbr_settled import names_phases, settled
from cambrian.metrics.parameters.bbr_silences import stages_after_silences
from cambrian.metrics.parameters.estimate import Estimate, Missing, Source
from cambrian.metrics.parameters.flow_trace import FlowTrace
from cambrian.metrics.parameters.window import frame_bytes

#: by source: the rates, and the probes in them
Seen = dict[Source, tuple[Rates, Phases]]
_NO_WINDOW = "the stack does not export its window"
RATE_KEYS = (*bbr_probe_bw.KEYS, bbr_startup.GAIN)
#: the rate must be known in this share of the time in ProbeBW: a log that misses the changes of some phases
#: shows the others too often
LEAST_KNOWN = 0.75
#: a path of fewer packets in a round trip hides ProbeBW's phases, and the window's gain: four are the least
FEWEST_PACKETS = 4
#: each round trip has eight points of some arrays: these take 0.5 GB
MOST_ROUNDS = 500_000


def estimate(trace: FlowTrace) -> Iterator[Estimate | Missing]:
    """BBR's parameters from the stack's own log, and from packets alone; none for other families."""
    if trace.family != "bbr":
        return
    frame = frame_bytes(trace)
    carried = carried_packets(trace, frame)
    seen = _rates(trace, frame)
    for one in _of_rates(trace, frame, carried, seen):
        # few packets a round trip, or a long one, make a later generation probe as often as the first
        is_logs = (one.parameter, one.source) == (GENERATION, "window")
        yield generation(LATER, "window") if is_logs and names_phases(trace) else one
    left = any(not stays_in_startup(rates, trace, found) for rates, found in seen.values())
    yield from _of_flights(trace, frame, carried, left_startup=left)
    why = "the trace does not show the rounds of Startup, so their growth is unknown"
    yield Missing("startup_threshold", why)


def _rates(trace: FlowTrace, frame: int) -> Seen:
    """The flow's rates and its probes by each source that shows them."""
    if trace.rate_mbps is None or _hides_rates(trace, frame):
        return {}
    sent = counted(trace, trace.rate_mbps, frame)
    both = [paced(trace, trace.rate_mbps, frame, sent), sent if trace.alone else None]
    known = [by_named_phases(rates, trace) for rates in both if rates is not None]
    return {rates.source: (rates, phases(rates, trace)) for rates in known}


def _hides_rates(trace: FlowTrace, frame: int) -> str:
    """Why neither source shows the flow's rates; empty if they may."""
    if trace.rate_mbps is None or not trace.steady:
        return trace.changing
    rounds = (trace.end_ns - trace.start_ns) / trace.rtt_ns
    if rounds > MOST_ROUNDS:
        return f"{rounds:,.0f} round trips are too many to look at each"
    if _holds_hardly_any(trace, frame):
        return "the path holds hardly any packets, whose own time makes each phase longer than its round trip"
    return ""


def _holds_hardly_any(trace: FlowTrace, frame: int) -> bool:
    """Does the path hold fewer packets in a round trip than BBR's least window?"""
    return bool(frame) and trace.rate_mbps is not None and link_packets(trace, frame) < FEWEST_PACKETS


def _known(rates: Rates, trace: FlowTrace) -> float:
    """The share of the time in ProbeBW in which the rate is known; 1 without such a time."""
    late = settled(trace, rates.time_ns)
    return float(np.isfinite(rates.rate_bps[late]).mean()) if late.any() else 1.0


def _of_rates(trace: FlowTrace, frame: int, carried: FloatArray, seen: Seen) -> Iterator[Estimate | Missing]:
    if hidden := _hides_rates(trace, frame):
        yield from _missing(RATE_KEYS, hidden, "window")
        yield from _missing(RATE_KEYS, hidden, "packets")
        return
    why = "too few packets" if trace.alone else "other flows move the queue, and the packets' rate with it"
    whys: dict[Source, str] = {"window": "the stack does not tell its pacing rate", "packets": why}
    for source, without in whys.items():
        if source not in seen:
            yield from _missing(RATE_KEYS, without, source)
            continue
        rates, found = seen[source]
        if (known := _known(rates, trace)) < LEAST_KNOWN:
            why = (
                f"in {1 - known:.0%} of the time in ProbeBW, "
                "packets leave faster than the last pacing rate in the log"
            )
            yield from _missing(RATE_KEYS, why, source)
        else:
            yield from bbr_probe_bw.estimates_from_rates(rates, found, trace, frame, carried)
            yield bbr_startup.estimates_from_rates(rates, found, trace)


def _of_flights(
    trace: FlowTrace, frame: int, carried: FloatArray, *, left_startup: bool
) -> Iterator[Estimate | Missing]:
    bdp = bdp_packets(carried)
    other_unit = trace.has_window and window_has_other_unit(trace, bdp)
    least = False
    if trace.has_window and not other_unit:
        stages = low_stages(trace)
        fills = unfilled_packets(carried, trace, frame) is None
        if _holds_hardly_any(trace, frame):
            why = "the path holds fewer packets than BBR's least window"
            yield Missing(bbr_window.KEY, why, "window")
        else:
            yield bbr_window.estimate_from_window(stages, trace, bdp, left_startup=left_startup, fills=fills)
        if stages:
            least = bbr_probe_rtt.may_be_least(stages, bdp)
            yield from bbr_probe_rtt.estimates_from_stages(stages, trace, bdp, "window", least=least)
        else:
            why = "the window shows no ProbeRTT: it never falls and rises again like one"
            yield from _missing(bbr_probe_rtt.KEYS, why, "window")
    else:
        why = "the logged window has another unit than bytes" if other_unit else _NO_WINDOW
        yield from _missing((bbr_window.KEY, *bbr_probe_rtt.KEYS), why, "window")
    why = "packets do not show it: pacing, not the window, limits the flight of a BBR"
    yield Missing(bbr_window.KEY, why, "packets")
    if not trace.alone or not trace.steady or trace.rate_mbps is None:
        why = trace.changing if trace.alone else "other flows also change the flight"
        yield from _missing(bbr_probe_rtt.KEYS, why, "packets")
    elif stages := stages_after_silences(trace):
        # its log shows this better than its packets
        least |= bbr_probe_rtt.may_be_least(stages, bdp)
        yield from bbr_probe_rtt.estimates_from_stages(stages, trace, bdp, "packets", least=least)
    else:
        yield from _missing(bbr_probe_rtt.KEYS, "no silence that a low flight follows", "packets")


def _missing(keys: tuple[str, ...], why: str, source: Source) -> Iterator[Missing]:
    for key in keys:
        yield Missing(key, why, source)
