"""Turn the estimates of trials into findings: one contestant on one network, then on all its networks."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cambrian.judging import findings, references
from cambrian.judging.contradictions import Contradiction, contradicts
from cambrian.judging.findings import Finding
from cambrian.judging.references import Reference
from cambrian.metrics.parameters.definitions import PARAMETERS
from cambrian.metrics.parameters.estimate import (
    SAME_SHARE,
    Estimate,
    Measured,
    Missing,
    Source,
    common_lower_by,
    differing,
    pooled,
)

#: parameter → the parameter that it restates
RESTATES = {
    "emulated_connections": "beta",
    "beta_again": "beta",
    "pacing": "pacing_factor",
}
#: parameters by which reductions do not last, or are none of the law's
_NOT_THE_LAWS = frozenset({"rollback_share", "regrown_share", "unexplained_cuts"})
#: parameters fitted between two reductions: they mean nothing where one of these is off. Estimates
#: from packets do not make them differ, because a flight follows its window loosely
_FITTED = frozenset({"cubic_growth", "cubic_c", "cubic_k_rule", "alpha", "fast_convergence", "reno_friendly"})
#: halfway between ProbeRTTs every 5 s, as in the later drafts, and every 10 s
_LONGEST_LATER_INTERVAL_S = 7.5
#: values of ``bbr_generation``: the kernel's, and later ones
_FIRST_BBR, _LATER_BBR = PARAMETERS["bbr_generation"].kinds
#: packets for each acknowledgement, from which on a window that grows once for each of them is slow:
#: two are usual, and a receiver that joins frames has about three
_ACKS, _RARE_ACKS = "ack_every_packets", 4.0
#: by packets it compares the flight with the log's window, and nothing tells which of the two is wrong
_BEYOND = "beyond_window"
#: rates that are compared with that of cruising, and that itself
_OVER_CRUISING = frozenset({"cruise_factor", "probe_up_gain", "probe_down_gain", "startup_gain"})
#: what only the first generation does so
_FIRST_ONLY = frozenset({"cycle_rounds", "probe_rtt_packets"})
_WINDOW_GAIN = "cwnd_gain"
#: one network may show a C that is off, and another one that no C fits: both are another growth
_LAW = {"cubic_growth", "cubic_c"}
#: parameters whose reference value or fit depends on the measured β
_BY_BETA = frozenset({"alpha", "fast_convergence", "reno_friendly"})
#: families that draw no random numbers
_WITHOUT_DRAWS = ("cubic", "reno")
#: in order of preference: the exported window, then packets
_SOURCES: tuple[Source, ...] = ("window", "packets")
#: a loss also ends the slow start of a sender that could leave it earlier: where another network shows an
#: earlier exit, an exit by loss is no evidence
_SLOW_START_EXIT, _BY_LOSS = "slow_start_exit", "loss"
#: smallest share of the conclusive networks on which a parameter must differ
_AGREEING_NETWORKS = 0.5


@dataclass(frozen=True)
class Judged:
    """One contestant on one network.

    ``family``: the algorithm whose reference values apply. ``findings``: one for each parameter. ``both``:
    each measured (parameter, source). ``missing``: parameter → why it could not be measured.
    ``contradictions``: parameters whose window and packets contradict each other. ``trials``: the number that
    differ from one another, out of ``ran``. ``refused``: why this network is not used to judge; empty if it
    is. ``path``: its rate, round trip and buffer. ``network``: its name.
    """

    family: str
    findings: tuple[Finding, ...]
    both: tuple[Measured, ...]
    missing: dict[str, str]
    contradictions: tuple[Contradiction, ...] = ()
    trials: int = 0
    ran: int = 0
    refused: str = ""
    path: tuple[object, ...] = ()
    network: str = ""


def of_flows(flows: Sequence[Sequence[Estimate | Missing]]) -> list[Estimate | Missing]:
    """One trial's estimates of a contestant, from those of each of its flows there.

    Flows of one trial share its link, so they are one trial. What one of them shows, the trial shows.
    """
    if len(flows) == 1:
        return list(flows[0])
    shown: dict[tuple[str, Source], list[Estimate]] = defaultdict(list)
    missing: list[Missing] = []
    for one in (one for flow in flows for one in flow):
        if isinstance(one, Estimate):
            shown[one.parameter, one.source].append(one)
        else:
            missing.append(one)
    gaps = (one for one in missing if (one.parameter, one.source) not in shown)
    return [*map(_of_flows, shown.values()), *gaps]


def _of_flows(estimates: Sequence[Estimate]) -> Estimate | Missing:
    """The events of one or several flows of one trial together; missing where these differ in kind.

    No number of events resolves flows that differ: the interval is widened until it has each flow's value.
    """
    first = estimates[0]
    if len({one.label for one in estimates}) > 1:
        return Missing(first.parameter, "its flows in one trial differ in kind", first.source)
    samples, events = tuple(sample for one in estimates for sample in one.samples), None
    if any(one.events for one in estimates):
        events = sum(one.count for one in estimates)
        samples = (sum(one.value * one.count for one in estimates) / events,)
    resolution = max(one.resolution for one in estimates)
    if first.label is None:
        resolution += max(abs(one.value - float(np.median(samples))) for one in estimates)
    lower_by = common_lower_by(estimates, float(np.median(samples)))
    return replace(first, samples=samples, events=events, resolution=resolution, lower_by=lower_by)


def judge(
    network: str,
    family: str,
    trials: Sequence[Sequence[Estimate | Missing]],
    path: tuple[object, ...] = (),
    lone: Sequence[bool] = (),
) -> Judged:
    """Pool one network's trials and compare them with the standard's values.

    ``trials``: by :func:`of_flows` where it has several flows in a trial.
    ``lone``: of each trial, whether the contestant was alone on a path without randomness; empty if it never
    was. Replicates count as one trial. A parameter is judged by the exported window if there is one, else by
    packets. If the window does not resolve it, or window and packets contradict each other, it is
    inconclusive. A BBR that probes like the second or third generation is compared with that draft. Call
    :func:`combined` afterwards, with all networks.
    """
    different = differing(trials, lone or [False] * len(trials), draws=family not in _WITHOUT_DRAWS)
    measured = {
        (name, source): replace(
            pooled(estimates, len(different)), shown=len(_estimates(trials, name, source)), ran=len(trials)
        )
        for name, source in sorted({(one.parameter, one.source) for trial in different for one in trial})
        if (estimates := _estimates(different, name, source))
    }
    best = {
        name: next(measured[name, source] for source in _SOURCES if (name, source) in measured)
        for name in sorted({name for name, _ in measured})
    }
    if family == "bbr" and _is_later_bbr(best):
        family = references.LATER_BBR
    standard = _standard(family, best)
    unresolved = {
        name: why
        for name, why in _reasons(trials, "window").items()
        if name in _FITTED & best.keys() and best[name].source == "packets"
    }
    judged = [
        _judge(family, network, measurement, standard.get(name), unresolved.get(name, ""))
        for name, measurement in best.items()
    ]
    if family == "bbr" and not _is_first_bbr(best):
        judged = [_of_unknown_generation(finding) for finding in judged]
    if (acks := best.get(_ACKS)) is not None and acks.value > _RARE_ACKS:
        judged = _with_rare_acks(judged, acks)
        if family == references.LATER_BBR or (family == "bbr" and not _is_first_bbr(best)):
            judged = [_of_later_bbr_with_rare_acks(finding, acks) for finding in judged]
    judged = [
        _with_packets(
            finding, measured.get((finding.key, "packets")), measured.get(("probe_up_gain", "packets"))
        )
        for finding in judged
    ]
    if family == "cubic" and (unknown := _unknown_beta(best.get("beta"), standard["beta"])):
        judged = [
            findings.inconclusive(finding, f"the expected value depends on β, and {unknown}")
            if finding.key in _BY_BETA and finding.status != "not judged"
            else finding
            for finding in judged
        ]
    if any(finding.key in _NOT_THE_LAWS and "off" in (finding.status, finding.looks) for finding in judged):
        judged = [findings.unjudged(finding) if finding.key in _FITTED else finding for finding in judged]
    contradictions = [
        each
        for name in best
        # from packets alone these are known too loosely to contradict a log
        if not (family == "cubic" and name in _FITTED)
        and (each := contradicts(network, measured, name, standard.get(name))) is not None
    ]
    contradicted = {each.parameter for each in contradictions}
    judged = [
        findings.inconclusive(finding, "the stack's log and its packets contradict each other")
        if {finding.key, RESTATES.get(finding.key)} & contradicted and finding.status != "not judged"
        else finding
        for finding in judged
    ]
    # the log's own reason replaces the packets'
    reasons = _reasons(trials, "packets") | _reasons(trials, "window")
    missing = {name: why for name, why in reasons.items() if name not in best}
    return Judged(
        family,
        tuple(judged),
        tuple(measured.values()),
        missing,
        tuple(contradictions),
        len(different),
        len(trials),
        path=path,
        network=network,
    )


def combined(judged: Mapping[str, Judged]) -> dict[str, Judged]:
    """Settle the findings of one contestant's networks by each other.

    A difference seen in one trial is confirmed if another network shows the same in another trial. A
    parameter that differs on less than half of the conclusive networks is inconclusive on all of them. The
    same holds for contradictions, of the networks on which the log and the packets both show the parameter.
    """
    names = dict.fromkeys(finding.key for here in judged.values() for finding in here.findings)
    twins = _twins(judged)
    contradicting: dict[str, list[str]] = defaultdict(list)
    for network, here in judged.items():
        for each in here.contradictions:
            contradicting[each.parameter].append(twins[network])
    comparable = Counter(
        name for here in judged.values() if not here.refused for name in _twice_measured(here.both)
    )
    mixed = len({here.family for here in judged.values()}) > 1
    every = [
        # what a later BBR may also do says nothing about a BBR that is of the first generation elsewhere
        findings.inconclusive(finding, "other networks show another generation of BBR")
        if mixed
        and here.family == references.LATER_BBR
        and finding.reference is not None
        and finding.reference.also is not None
        else finding
        for here in judged.values()
        for finding in here.findings
    ]
    settled = {
        name: _across(
            [one for one in every if one.key == name],
            twins,
            [one for one in every if {one.key, name} == _LAW],
        )
        for name in names
    }
    by_network = {}
    for network, here in judged.items():
        settled_here = tuple(
            next(f for f in settled[finding.key] if f.network == finding.network) for finding in here.findings
        )
        contradictions = tuple(
            replace(
                each,
                confirmed=(
                    each.confirmed or len(set(contradicting[each.parameter])) >= findings.FEWEST_TRIALS
                )
                and len(contradicting[each.parameter]) >= _AGREEING_NETWORKS * comparable[each.parameter],
            )
            for each in here.contradictions
        )
        by_network[network] = replace(here, findings=settled_here, contradictions=contradictions)
    return by_network


def _twins(judged: Mapping[str, Judged]) -> dict[str, str]:
    """Network → the first one of the same path whose trials show the same, or itself.

    Two networks of one rate, round trip and buffer may differ in what this contestant never meets, such as
    how the queue drops packets, or which way has the delay: then their trials are one trial.
    """
    found: dict[str, str] = {}
    for network, here in judged.items():
        others = ((first, judged[first]) for first in found)
        same = (name for name, one in others if one.path == here.path and _same(one.both, here.both))
        found[network] = next(same, network)
    return found


def _same(one: Sequence[Measured], other: Sequence[Measured]) -> bool:
    """The same parameters, with the same values of as many events?"""
    mine, its = ({(each.parameter, each.source): each for each in both} for both in (one, other))
    return mine.keys() == its.keys() and all(
        (each.events, each.label) == (its[key].events, its[key].label)
        and abs(each.value - its[key].value) <= SAME_SHARE * abs(each.value)
        for key, each in mine.items()
    )


def _twice_measured(both: Sequence[Measured]) -> set[str]:
    """Parameters that the log and the packets show by enough events."""
    enough = Counter(one.parameter for one in both if one.events >= PARAMETERS[one.parameter].fewest)
    return {name for name, sources in enough.items() if sources == len(_SOURCES)}


def family(judged: Sequence[Judged]) -> str:
    """The algorithm of a contestant's networks together; empty without a network.

    A network may not show BBR's generation. A later one on any network decides, if none shows the first.
    """
    families = [one.family for one in judged]
    shown = {one.label for here in judged for one in here.both if one.parameter == "bbr_generation"}
    if references.LATER_BBR in families and _FIRST_BBR not in shown:
        return references.LATER_BBR
    return max(families, key=families.count, default="")


def _across(
    several: Sequence[Finding], twins: Mapping[str, str], related: Sequence[Finding]
) -> list[Finding]:
    """One parameter's findings on several networks, settled by each other.

    ``twins``: by :func:`_twins`. ``related``: findings of another parameter that shows the same fault.
    """
    if several[0].key == _SLOW_START_EXIT and any(_leaves_slow_start(finding) for finding in several):
        why = "here a loss ended slow start; on another network slow start ended before any loss"
        several = [
            findings.inconclusive(finding, why)
            if finding.looks is not None and finding.measured.label == _BY_LOSS
            else finding
            for finding in several
        ]
    differing_here = [finding for finding in several if finding.looks is not None]
    conclusive = sum(_is_conclusive(finding) for finding in several)
    enough = len(differing_here) >= _AGREEING_NETWORKS * conclusive
    fault = {twins[finding.network] for finding in related if finding.looks is not None}
    settled = []
    for finding in several:
        if finding.looks is None:
            settled.append(finding)
            continue
        if not enough:
            settled.append(findings.inconclusive(finding, "most networks show no difference"))
            continue
        # what differs in the other direction on another network proves nothing here
        alike = [one for one in differing_here if findings.same_direction(finding, one)]
        trials = fault | {twins[one.network] for one in alike}
        proven = len(trials) >= findings.FEWEST_TRIALS or any(one.differs for one in alike)
        others = [one for one in alike if twins[one.network] != twins[finding.network]]
        settled.append(findings.confirmed(finding, others) if proven else finding)
    return settled


def _is_conclusive(finding: Finding) -> bool:
    return finding.status == "as it should be" or finding.looks is not None


def _leaves_slow_start(finding: Finding) -> bool:
    """Does the network show that slow start ends before a loss?"""
    return _is_conclusive(finding) and finding.measured.label != _BY_LOSS


def refuse(judged: Judged, why: str) -> Judged:
    """Withdraw the judgement, because the reference fails its own test on this network."""
    return replace(
        judged,
        findings=tuple(findings.unjudged(one) for one in judged.findings),
        contradictions=(),
        refused=why,
    )


def beside(judged: Judged, reference: Judged | None) -> Judged:
    """The same, without the choices that the reference makes on this network, too.

    ``reference``: the kernel's controller on this network, which is beside itself as well; None if it was not
    run there.
    """
    own = {one.key: one.measured for one in reference.findings} if reference is not None else {}
    return replace(judged, findings=tuple(findings.beside(one, own.get(one.key)) for one in judged.findings))


def failures(judged: Judged) -> Collection[str]:
    """Differences and contradictions, for a test of the reference itself; empty if it passes."""
    accused = [findings.sentence(one) for one in judged.findings if "off" in (one.status, one.looks)]
    return accused + [one.text for one in judged.contradictions]


def _judge(family: str, network: str, one: Measured, reference: Reference | None, unresolved: str) -> Finding:
    finding = findings.judge(network, one, reference)
    if finding.looks is not None and (one.parameter, one.source) == (_BEYOND, "packets"):
        return findings.inconclusive(finding, "by its packets and the log's window, which may be another one")
    if finding.looks is None or one.source == "window" or family != "cubic" or one.parameter not in _FITTED:
        return finding
    if unresolved:
        return findings.inconclusive(finding, f"from packets alone; from the stack's log: {unresolved}")
    return findings.inconclusive(finding, "from packets alone, whose flight follows the window too loosely")


def _reasons(trials: Sequence[Sequence[Estimate | Missing]], source: Source) -> dict[str, str]:
    """Parameter → why trials do not show it by this source: the reason that most of them have."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for trial in trials:
        for one in trial:
            if isinstance(one, Missing) and one.source == source:
                counts[one.parameter][one.why] += 1
    return {name: whys.most_common(1)[0][0] for name, whys in counts.items()}


def _standard(family: str, best: Mapping[str, Measured]) -> dict[str, Reference]:
    standard = references.for_family(family)
    if family == "cubic" and "beta" in best:
        return references.following(standard, best["beta"], best.get("alpha"))
    return standard


def _unknown_beta(beta: Measured | None, reference: Reference) -> str:
    """Why nothing can be judged by a CUBIC's β; empty if it is known."""
    if beta is None:
        return "β is not measured"
    if few := findings.too_little(beta):
        return f"β is not measured well enough: {few}"
    return findings.OF_FLIGHT if findings.is_of_flight(beta, reference) else ""


def _is_later_bbr(measured: Mapping[str, Measured]) -> bool:
    """Is it BBR's second or third generation, by its probing or, if that is not measured, by its ProbeRTT?

    In competition a window that is small for another reason can look like ProbeRTT. So one trial with short
    times between ProbeRTTs is no sign.
    """
    generation, interval = measured.get("bbr_generation"), measured.get("probe_rtt_interval_s")
    if generation is not None:
        return generation.label == _LATER_BBR
    return (
        interval is not None
        and interval.trials >= findings.FEWEST_TRIALS
        and interval.high < _LONGEST_LATER_INTERVAL_S
    )


def _is_first_bbr(measured: Mapping[str, Measured]) -> bool:
    """Does its probing show BBR's first generation? A ProbeRTT every 10 s does not: Google's BBRv2 has it."""
    generation = measured.get("bbr_generation")
    return generation is not None and generation.label == _FIRST_BBR and not findings.too_little(generation)


def _with_rare_acks(judged: Sequence[Finding], acks: Measured) -> list[Finding]:
    """Findings behind rare acknowledgements: CUBIC's window may grow once for each (RFC 9438, section 4.2).

    Its C then looks smaller, and another law may fit better. A C that is too large has another cause.
    """
    fast = any(one.key == "cubic_c" and one.looks is not None and not _is_below(one) for one in judged)
    why = f"one acknowledgement for {acks.value:.1f} packets, and a window may grow once for each of them"
    return [
        findings.inconclusive(one, why) if one.key in _LAW and one.looks is not None and not fast else one
        for one in judged
    ]


def _of_later_bbr_with_rare_acks(finding: Finding, acks: Measured) -> Finding:
    """A finding of a BBR that may drain until it probes: its flight never falls to a BDP behind rare ACKs.

    The rate of draining is then taken for that of cruising, which it is below.
    """
    is_above = finding.key == "cruise_factor" and not _is_below(finding)
    if finding.key not in _OVER_CRUISING or finding.looks is None or is_above:
        return finding
    why = f"one acknowledgement for {acks.value:.1f} packets, and it may drain until it probes"
    return findings.inconclusive(finding, why)


def _is_below(finding: Finding) -> bool:
    reference = finding.reference
    return reference is not None and reference.value is not None and finding.measured.value < reference.value


def _with_packets(finding: Finding, packets: Measured | None, up_gain: Measured | None) -> Finding:
    """A finding of a logged rate that is off, where the packets leave as they should: the log is wrong.

    ``up_gain``: by packets. Without probes in the packets a log that is too high proves more than they do,
    because the window may hold them back.
    """
    reference = finding.reference
    if finding.key != "cruise_factor" or finding.looks is None or packets is None or reference is None:
        return finding
    is_low = finding.measured.high < packets.low
    is_high = finding.measured.low > packets.high and up_gain is not None
    if not (is_low or is_high) or not _is_right(packets, reference):
        return finding
    why = (
        f"{findings.value_text(packets)} by its packets: the log's rate may have another unit, or lack bytes"
    )
    return findings.inconclusive(finding, why)


def _is_right(measured: Measured, reference: Reference) -> bool:
    return findings.judge("", measured, reference).status == "as it should be"


def _of_unknown_generation(finding: Finding) -> Finding:
    """A finding of a BBR of which nothing shows the generation: no accusation of what a later one may do."""
    later = references.for_family(references.LATER_BBR).get(finding.key)
    may_be = later is not None and findings.judge(finding.network, finding.measured, later).looks is None
    # a later one also bounds its window by the flight that it found to be safe (inflight_hi, inflight_lo)
    may_be |= finding.key == _WINDOW_GAIN and _is_below(finding)
    if finding.looks is not None and (finding.key in _FIRST_ONLY or may_be):
        return findings.inconclusive(finding, "nothing on this network shows which generation of BBR this is")
    return finding


def _estimates(trials: Sequence[Sequence[Estimate | Missing]], name: str, source: Source) -> list[Estimate]:
    return [
        one
        for trial in trials
        for one in trial
        if isinstance(one, Estimate) and (one.parameter, one.source) == (name, source)
    ]
