"""BBR's ProbeBW: gains of its phases, cruising rate, and length of a cycle.

Linux's ``tcp_bbr.c`` and draft-cardwell-iccrg-bbr-congestion-control-00: eight phases of a
round trip, with gains 1.25, 0.75 and six times 1. BBRv2 and BBRv3 (draft-ietf-ccwg-bbr) probe
every 2 to 3 seconds, drain with 0.75 or 0.9, and cruise in between.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from cambrian.metrics.columns import BITS_PER_BYTE, NS_PER_S, FloatArray, departed
from cambrian.metrics.parameters import acks
from cambrian.metrics.parameters.bbr_bdp import bdp_packets, link_packets, unfilled_packets, why_unfilled
from cambrian.metrics.parameters.bbr_phases import Phases, cruises, stays_in_startup
from cambrian.metrics.parameters.bbr_rates import Rates
from cambrian.metrics.parameters.bbr_settled import NEVER, STILL, names_phases, never_says_probe_bw
from cambrian.metrics.parameters.definitions import PARAMETERS
from cambrian.metrics.parameters.estimate import Estimate, Missing, Source
from cambrian.metrics.parameters.flow_trace import FlowTrace

GAINS = ("probe_up_gain", "probe_down_gain")
GENERATION = "bbr_generation"
FIRST, LATER = 0, 1
KEYS = (*GAINS, "cruise_factor", "cycle_rounds", GENERATION)
#: how far the lab's and the kernel's own values are from what is found, at most
GAIN_RESOLUTION: dict[Source, float] = {"window": 0.003, "packets": 0.01}
#: by packets, those of a round trip are counted to this part of one, which matters where they are few
UNEVEN_PACKETS = 0.25
CRUISE_RESOLUTION: dict[Source, float] = {"window": 0.004, "packets": 0.004}
FROM_DRAIN = "no lower rate follows the probes; they may start in a drain phase"
REFILLS = "its rate rises twice when it probes; the probes may start in a drain phase"
#: a pacing rate that is so much above what the flow carries is not what limits it
MORE_THAN_CARRIED = 1.03
#: draft-ietf-ccwg-bbr: bw_shortterm, which losses lower and which ends before a probe
BOUNDED = "losses may lower the rate between the probes of a later generation, which they are compared with"
#: fewer probes than this may be something else
FEWEST_PROBES = 3
#: gains that differ from the usual one by more are of something else
SAME_GAIN = 0.1
#: phases of a cycle: each ends with the first acknowledgement after its time
CYCLE_PHASES = 8
#: and probing up lasts until the flight has grown, up to this much longer
LONGER_ROUNDS = 0.5
#: cycles that differ from the usual one by more are not whole ones; where so many are shorter, the
#: usual one is itself of several, for not all probes are seen
SAME_CYCLE, SHORT_SHARE = 0.35, 0.15
#: BBRv1's cycle is eight round trips; that of BBRv2 and v3 two to three seconds, or as many round trips as
#: the path holds packets, up to 63
V1_ROUNDS = 12
V2_LEAST_ROUNDS, V2_LEAST_NS = 20, 2 * NS_PER_S
#: after three seconds it probes, for some round trips. Where the usual time between the probes that are seen
#: is longer, or more of the times than this share are shorter, most probes of another generation are not seen
V2_MOST_NS, V2_SHORT_SHARE = 6 * NS_PER_S, 1 / 3
#: BBR counts in the least round trip that it knows, and that is so old at most
KNOWN_NS = 10 * NS_PER_S


def estimates_from_rates(
    rates: Rates, found: Phases, trace: FlowTrace, frame_bytes: int, carried: FloatArray
) -> Iterator[Estimate | Missing]:
    """ProbeBW's parameters from one source of rates. ``carried``: packets in each round trip."""
    source = rates.source
    if never_says_probe_bw(trace):
        for key in KEYS:
            yield Missing(key, NEVER, source)
        return
    kind = kind_of(found, trace, frame_bytes, bdp_packets(carried))
    yield from _probing(found, trace, source, frame_bytes, kind)
    yield _cruising(rates, found, trace, unfilled_packets(carried, trace, frame_bytes), frame_bytes, kind)


def _probing(
    found: Phases, trace: FlowTrace, source: Source, frame_bytes: int, kind: int | None
) -> Iterator[Estimate | Missing]:
    probes = found.start_ns if found.refills else found.up_gain
    if len(probes) < FEWEST_PROBES:
        why = f"{len(found.up_gain)} probes with a steady rate before and during the probe"
        if source == "packets":
            why += ", with a queue short enough that pacing sets the rate"
        for key in (*GAINS, "cycle_rounds", GENERATION):
            yield Missing(key, why, source)
        return
    why = REFILLS if found.refills else ""
    if not trace.alone or trace.random_loss:
        is_later = names_phases(trace) or kind == LATER
        why = BOUNDED if is_later else why
    if why:
        for key in GAINS:
            yield Missing(key, why, source)
    else:
        half = GAIN_RESOLUTION[source]
        if source == "packets":
            half = max(half, UNEVEN_PACKETS / link_packets(trace, frame_bytes))
        yield from _gains(found, source, half)
    yield from _cycle(found, trace, source, frame_bytes, kind)


def _cruising(
    rates: Rates,
    found: Phases,
    trace: FlowTrace,
    carried: float | None,
    frame_bytes: int,
    kind: int | None,
) -> Estimate | Missing:
    """``carried``: packets in a usual round trip; None if they fill the link, or it is shared."""
    source = rates.source
    if why := _hides_cruising(trace, source, kind):
        return Missing("cruise_factor", why, source)
    levels = cruises(rates, trace, found, may_be_later=kind != FIRST)
    if not len(levels):
        still = stays_in_startup(rates, trace, found)
        unsteady = FROM_DRAIN if found.may_start_in_drain else "no steady rate that only pacing sets"
        return Missing("cruise_factor", STILL if still else REFILLS if found.refills else unsteady, source)
    paced = float(np.median(levels)) * link_packets(trace, frame_bytes)
    if carried is not None and paced > MORE_THAN_CARRIED * carried:
        why = f"{why_unfilled(trace)}, and carries less than its pacing rate lets go"
        if trace.random_loss:
            why = f"{why_unfilled(trace)}, and less comes to it than its pacing rate lets go"
        return Missing("cruise_factor", why, source)
    return Estimate("cruise_factor", _all(levels), CRUISE_RESOLUTION[source], source)


def _hides_cruising(trace: FlowTrace, source: Source, kind: int | None) -> str:
    """Why this path shows no cruising rate; empty if it may."""
    if not trace.alone:
        return "the bottleneck's rate is shared"
    if trace.slow_receiver:
        return "a slow receiver limits the rate"
    if source == "packets" and trace.random_loss:
        return "the path loses packets before they are counted"
    if trace.random_loss and kind != FIRST:
        # draft-ietf-ccwg-bbr: each round trip with a loss lowers the bound bw_shortterm to the latest rate
        return "random losses may lower the rate at which it cruises: no probes show the first generation"
    return ""


def _gains(found: Phases, source: Source, half: float) -> Iterator[Estimate | Missing]:
    """``half``: what each gain is not resolved by."""
    drained = found.down_gain[np.isfinite(found.down_gain)]
    if len(drained) < FEWEST_PROBES:
        yield Missing("probe_down_gain", "no lower rate follows the probes", source)
    else:
        yield _gain("probe_down_gain", drained, source, half)
    if found.may_start_in_drain:
        yield Missing("probe_up_gain", FROM_DRAIN, source)
    else:
        yield _gain("probe_up_gain", found.up_gain, source, half)


def _gain(key: str, gains: FloatArray, source: Source, half: float) -> Estimate | Missing:
    """The gains without those of shortened and blurred phases; missing without a majority that agrees."""
    usual = np.sort(gains)[len(gains) // 2]
    same = gains[np.abs(gains / usual - 1) < SAME_GAIN]
    if 2 * len(same) <= len(gains):
        return Missing(key, "the gains of its probes differ", source)
    return Estimate(key, _all(same), half, source)


def _cycle(
    found: Phases, trace: FlowTrace, source: Source, frame_bytes: int, kind: int | None
) -> Iterator[Estimate | Missing]:
    """A cycle lasts as configured or longer, by what each phase waits for; half of that is taken off."""
    rounds = np.diff(found.start_ns) / trace.rtt_ns
    usual = float(np.median(rounds))
    # ProbeRTT comes between, and a probe that is not seen
    whole = rounds[np.abs(rounds / usual - 1) < SAME_CYCLE]
    regular = len(whole) >= FEWEST_PROBES and np.mean(rounds < (1 - SAME_CYCLE) * usual) <= SHORT_SHARE
    if usual * trace.rtt_ns > max(V2_MOST_NS, V1_ROUNDS * trace.rtt_ns):
        why = "the times between the probes that are seen are longer than a cycle of any generation"
        yield Missing("cycle_rounds", why, source)
    elif regular:
        waits = max(_ack_gap_rounds(trace, frame_bytes), acks.bunch_gap_ns(trace) / trace.rtt_ns)
        longer = LONGER_ROUNDS + CYCLE_PHASES * waits
        yield Estimate("cycle_rounds", _all(whole - longer / 2), longer / 2, source)
    else:
        yield Missing("cycle_rounds", "the times between the probes differ", source)
    if kind is None or (source == "packets" and not regular):
        yield Missing(GENERATION, "the times between the probes fit no generation, or both", source)
    else:
        yield generation(kind, source)


def kind_of(found: Phases, trace: FlowTrace, frame_bytes: int, packets: float) -> int | None:
    """The only generation that probes at such times; None for neither or both.

    On a long path, or on one of few packets, a later generation probes as often as the first. Where
    packets take long, or a queue stays, the first one's round trips are longer than the path's.
    ``packets``: the path's product; 0 if it is unknown.
    """
    cycles_ns = np.diff(found.start_ns)
    if len(cycles_ns) < FEWEST_PROBES - 1 or not packets:
        return None
    usual_ns = float(np.median(cycles_ns))
    if usual_ns <= V1_ROUNDS * trace.rtt_ns:
        return FIRST if usual_ns < V2_LEAST_NS and packets > V1_ROUNDS else None
    gap_ns = trace.rtt_ns * max(_ack_gap_rounds(trace, frame_bytes), _packets_an_ack(trace) / packets)
    # an acknowledgement may wait for its packet, and a phase for its acknowledgement
    known_ns = trace.rtt_ns + _least_wait_ns(trace) + 2 * gap_ns
    least_ns = V2_LEAST_ROUNDS * known_ns
    is_later = least_ns <= usual_ns <= V2_MOST_NS and np.mean(cycles_ns < least_ns) <= V2_SHORT_SHARE
    return LATER if is_later else None


def _least_wait_ns(trace: FlowTrace) -> int:
    """The least time in the queue, in the part of the trial in which it is longest."""
    left = departed(trace.packets)
    part = (left["arrival_ns"] - trace.start_ns) // KNOWN_NS
    # the last part is shorter
    part = part.clip(upper_bound=max((trace.end_ns - trace.start_ns) // KNOWN_NS - 1, 0))
    waits = pl.DataFrame({"part": part, "wait_ns": left["departure_ns"] - left["arrival_ns"]})
    return int(waits.group_by("part").min().get_column("wait_ns").max())  # type: ignore[arg-type]


def generation(kind: int, source: Source) -> Estimate:
    """BBR's generation: 0 for the first, 1 for a later one."""
    return Estimate(GENERATION, (float(kind),), 0.0, source, PARAMETERS[GENERATION].kinds[kind])


def _ack_gap_rounds(trace: FlowTrace, frame_bytes: int) -> float:
    """The usual time between two acknowledgements at full rate."""
    rate_mbps = trace.rate_mbps or 1.0
    return _packets_an_ack(trace) * frame_bytes * BITS_PER_BYTE / (rate_mbps * 1e3 * trace.rtt_ms)


def _packets_an_ack(trace: FlowTrace) -> float:
    """2 if acknowledgements were not counted."""
    return max(trace.packets.height / trace.acks, 1.0) if trace.acks else 2.0


def _all(values: FloatArray) -> tuple[float, ...]:
    return tuple(float(value) for value in values)
