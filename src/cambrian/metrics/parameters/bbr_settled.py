"""When a BBR flow is in ProbeBW: what its log says, signs that it left Startup, and no silences.

Time alone does not tell: the samples of a flow that its application or its receiver limits do not end
Startup (draft-ietf-ccwg-bbr, BBRCheckFullBwReached), and a flow that lost its packets may be dead. The
last row of its log then holds for as long as no new one comes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from cambrian.metrics.columns import BITS_PER_BYTE, SMALLEST_DATA_BYTES, BoolArray, Int64Array, int64
from cambrian.metrics.parameters.bbr_rates import POINTS_A_ROUND, WARM_UP_ROUNDS, Rates
from cambrian.metrics.parameters.flow_trace import FlowTrace
from cambrian.metrics.parameters.window import frame_bytes
from cambrian.metrics.states import vocabulary

#: BBR's own words; a kernel's, such as "recovery", are of its loss recovery
_PROBE_BW = frozenset({vocabulary.PROBE_BW, *vocabulary.PHASES})
_WORDS = _PROBE_BW | {vocabulary.STARTUP, vocabulary.DRAIN, vocabulary.PROBE_RTT}
#: without a packet for so many round trips, queueing included, a sender waits for a timeout or for its
#: application; even ProbeRTT, which waits for the flight to drain, is silent for one at most
SILENT_ROUNDS = 3.0
#: and for so many packets' time on the bottleneck: on a slow link a packet may take a round trip
SILENT_PACKETS = 8
#: Startup's gain is 2 or more in every version of BBR (2.77 and 2.885 as drafted); a tenth less, for the
#: bandwidth that is found later may be larger
LEFT_RATE = 1.8
#: what is higher than a rate before it by this was reached by growing: a guess at the beginning was not
GROWN = 1.3
#: Startup's window is 2.885 BDP and ProbeBW's 2: it falls to 0.69. Half of that way is enough
LEFT_WINDOW = 1.2
#: a rate lasts so many points of the grid, about 0.4 round trips
_LASTS_POINTS = round(0.4 * POINTS_A_ROUND)
#: part of the time in which the queue that Startup built is gone
_GONE_SHARE = 0.5

NEVER = "the log never shows ProbeBW"
STILL = "nothing shows that the flow left Startup: no probe, and no fall from Startup's level"


def settled(trace: FlowTrace, time_ns: Int64Array) -> BoolArray:
    """Points (of the sender's time) at which the flow is in ProbeBW, or may be, and sends."""
    known = says_probe_bw(trace, time_ns)
    found = (time_ns >= trace.start_ns + WARM_UP_ROUNDS * trace.rtt_ns) & ~in_silence(trace, time_ns)
    return found if known is None else found & known


def says_probe_bw(trace: FlowTrace, time_ns: Int64Array) -> BoolArray | None:
    """Points at which the log's last word is ProbeBW; None if it has no word of BBR's.

    A log that has a word for Startup and none for ProbeBW says by no word that Startup is over.
    """
    named = _named(trace)
    said = {state for state in named.values() if state in _WORDS}
    if not said:
        return None
    inside = _inside(trace, named, _PROBE_BW)
    # words of something else do not end a state, and no word does where ProbeBW has one
    return _held(trace, time_ns, inside.forward_fill() if said & _PROBE_BW else inside.fill_null(1))


def names_phases(trace: FlowTrace) -> bool:
    """Does the log name ProbeBW's phases, as only a later generation does?"""
    return any(state in vocabulary.PHASES for state in _named(trace).values())


def says_phase(trace: FlowTrace, time_ns: Int64Array, *phases: str) -> BoolArray | None:
    """Points at which the log's last word is one of these phases of ProbeBW; None if it names no phase."""
    if not names_phases(trace):
        return None
    return _held(trace, time_ns, _inside(trace, _named(trace), frozenset(phases)).forward_fill())


def _named(trace: FlowTrace) -> dict[str, str]:
    """Each word of the log for a state → the state."""
    words = trace.transport["state"].drop_nulls().unique().to_list()
    return {word: vocabulary.state_of(word) for word in words}


def _inside(trace: FlowTrace, named: Mapping[str, str], states: frozenset[str]) -> pl.Series:
    """Of each row 1 if its word is one of these states, 0 for another of BBR's, null for none of BBR's."""
    codes = {word: int(state in states) for word, state in named.items() if state in _WORDS}
    return trace.transport["state"].replace_strict(codes, default=None, return_dtype=pl.Int8)


def _held(trace: FlowTrace, time_ns: Int64Array, inside: pl.Series) -> BoolArray:
    """The last row's value at each point; False before the first row, and where no row says it."""
    last = np.searchsorted(int64(trace.transport, "time_ns"), time_ns, side="right") - 1
    held = inside.fill_null(0).to_numpy().astype(np.bool_)
    found: BoolArray = (last >= 0) & held[last]
    return found


def never_says_probe_bw(trace: FlowTrace) -> bool:
    """The log has words of BBR's, and none of them is ProbeBW."""
    known = says_probe_bw(trace, int64(trace.transport, "time_ns"))
    return known is not None and not known.any()


def in_silence(trace: FlowTrace, time_ns: Int64Array) -> BoolArray:
    """Points (of the sender's time) between two packets of data that are far apart, or after the last."""
    sent_ns, limit_ns = _sendings(trace)
    if not len(sent_ns):
        return np.ones(len(time_ns), np.bool_)
    gap_ns = np.diff(np.concatenate((sent_ns, [max(trace.end_ns, sent_ns[-1])])))
    before = np.searchsorted(sent_ns, time_ns, side="right") - 1
    found: BoolArray = (before < 0) | (gap_ns > limit_ns)[before]
    return found


def silences_within(trace: FlowTrace, spans: Sequence[tuple[int, int]]) -> BoolArray:
    """For each span [from, to) of the sender's time: does it hold a silence, or much of one?"""
    sent_ns, limit_ns = _sendings(trace)
    found = np.zeros(len(spans), np.bool_)
    for number, (from_ns, to_ns) in enumerate(spans):
        begin, end = np.searchsorted(sent_ns, [from_ns, to_ns])
        gaps_ns = np.diff(np.concatenate(([from_ns], sent_ns[begin:end], [to_ns])))
        limits_ns = limit_ns[max(begin - 1, 0) : end]
        found[number] = len(limits_ns) == 0 or bool(np.any(gaps_ns[-len(limits_ns) :] > limits_ns))
    return found


def _sendings(trace: FlowTrace) -> tuple[Int64Array, Int64Array]:
    """When each packet of data was sent, and after how long without another the flow is silent."""
    data = trace.packets.filter(pl.col("size_bytes") >= SMALLEST_DATA_BYTES)
    arrival_ns = int64(data, "arrival_ns")
    waits = data.select(wait_ns=(pl.col("departure_ns") - pl.col("arrival_ns")).forward_fill().fill_null(0))
    wait_ns = int64(waits, "wait_ns")
    limit_ns = SILENT_ROUNDS * (trace.rtt_ns + wait_ns)
    if trace.rate_mbps is not None:
        limit_ns = np.maximum(
            limit_ns, SILENT_PACKETS * frame_bytes(trace) * BITS_PER_BYTE * 1e3 / trace.rate_mbps
        )
    return arrival_ns - trace.forward_ns, limit_ns.astype(np.int64)


def left_startup(rates: Rates, trace: FlowTrace, is_free: BoolArray) -> bool:
    """Does a flow whose log names no states, and that shows no probe, leave Startup? By its rates.

    By its own pacing rate: that grew in the first round trips, and then fell by about Startup's gain. By
    packets: Startup filled the link, and then the queue that it had built went away.

    ``is_free``: the points at which the queue is short.
    """
    early = rates.time_ns < trace.start_ns + WARM_UP_ROUNDS * trace.rtt_ns
    late = ~early & ~in_silence(trace, rates.time_ns)
    if not early.any() or not late.any():
        return False
    if rates.source == "packets":
        end_ns = trace.start_ns + WARM_UP_ROUNDS * trace.rtt_ns
        begun = trace.packets.filter(pl.col("arrival_ns") < end_ns)
        filled = bool((begun["outcome"] == "dropped").any()) or not is_free[early].all()
        return filled and bool(np.mean(is_free[late]) >= _GONE_SHARE)
    known = np.isfinite(rates.rate_bps)
    rate = rates.rate_bps[early & known]
    grown = np.sort(rate[rate > GROWN * np.minimum.accumulate(rate)])
    if len(grown) < _LASTS_POINTS or not np.any(late & known):
        return False
    return bool(grown[-_LASTS_POINTS] >= LEFT_RATE * np.median(rates.rate_bps[late & known]))
