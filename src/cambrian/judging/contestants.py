"""From what single trials show to findings: one contestant on one network, and then on all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from cambrian.judging import findings, references
from cambrian.judging.contradictions import Contradiction, contradicts
from cambrian.judging.findings import Finding
from cambrian.judging.references import Reference
from cambrian.metrics.parameters.estimate import Estimate, Measured, Missing, Source, differing, pooled

_ROLLBACK = "rollback_share"
#: what is fitted between two reductions: it means nothing where reductions are taken back, and a flight,
#: which follows its window loosely, accuses nobody of what the window itself leaves open
_FITTED = frozenset({"cubic_growth", "cubic_c", "cubic_k_rule", "alpha", "fast_convergence", "reno_friendly"})
#: halfway between ProbeRTTs every 5 s, as in the later drafts, and every 10 s
_LONGEST_LATER_INTERVAL_S = 7.5
#: the kind of ``bbr_generation`` that is not kernel BBR's
_LATER_BBR = "BBRv2- or v3-like"
#: a stack's own word first; packets alone where it exports nothing
_SOURCES: tuple[Source, ...] = ("window", "packets")
#: a loss also ends the slow start of a sender that would have left it: where another network shows that it
#: does, a loss says nothing
_SLOW_START_EXIT, _BY_LOSS = "slow_start_exit", "loss"
#: a parameter that differs must do so on at least this share of the networks that tell
_AGREEING_NETWORKS = 0.5


@dataclass(frozen=True)
class Judged:
    """``family``: whose values it was compared with; ``findings``: one a parameter; ``both``: each
    (parameter, source) measured; ``missing``: parameter → why it could not be measured;
    ``contradictions``: where its own window and its packets exclude each other. ``trials``: those that
    differ from one another, of ``ran``. ``refused``: why this network judges nobody, empty where it does.
    """

    family: str

    findings: tuple[Finding, ...]
    both: tuple[Measured, ...]
    missing: dict[str, str]
    contradictions: tuple[Contradiction, ...] = ()
    trials: int = 0
    ran: int = 0
    refused: str = ""


def judge(network: str, family: str, trials: Sequence[Sequence[Estimate | Missing]]) -> Judged:
    """Pool one network's trials and set them beside the standard's values.

    Trials that say the same count as one. A parameter is judged by the stack's own
    window where there is one, else by packets; where a window cannot resolve it, packets accuse nobody, and
    where the two exclude each other, neither is believed. A BBR that probes as the second and third
    generations do is compared with their draft. :func:`together` must follow, with all networks.
    """
    different = differing(trials)
    measured = {
        (name, source): pooled(found, len(different))
        for name, source in sorted({(one.parameter, one.source) for trial in different for one in trial})
        if (found := _estimates(different, name, source))
    }
    best = {
        name: next(measured[name, source] for source in _SOURCES if (name, source) in measured)
        for name in sorted({name for name, _ in measured})
    }
    if family == "bbr" and _is_later_bbr(best):
        family = references.LATER_BBR
    standard = _standard(family, best)
    unresolved = _unresolved(different, best)
    judged = [
        _judge(family, network, one, standard.get(name), unresolved.get(name, ""))
        for name, one in best.items()
    ]
    if any(one.key == _ROLLBACK and "off" in (one.status, one.looks) for one in judged):
        judged = [findings.unjudged(one) if one.key in _FITTED else one for one in judged]
    apart = [
        each
        for name in best
        if (each := contradicts(network, measured, name, standard.get(name))) is not None
    ]
    names = {one.parameter for one in apart}
    judged = [
        findings.open_(one, "its window and its packets exclude each other")
        if one.key in names and one.status != "not judged"
        else one
        for one in judged
    ]
    missing = {
        one.parameter: one.why
        for trial in different
        for one in trial
        if isinstance(one, Missing) and not any(one.parameter == name for name, _ in measured)
    }
    return Judged(
        family, tuple(judged), tuple(measured.values()), missing, tuple(apart), len(different), len(trials)
    )


def together(judged: Mapping[str, Judged]) -> dict[str, Judged]:
    """One contestant's networks, each with what the others confirm.

    What differs in a single trial is confirmed by another network that shows the same. What differs on
    less than half of the networks that tell stays inconclusive on all of them.
    """
    names = dict.fromkeys(finding.key for one in judged.values() for finding in one.findings)
    apart = Counter(found.parameter for one in judged.values() for found in one.contradictions)
    settled = {
        name: _across([f for one in judged.values() for f in one.findings if f.key == name]) for name in names
    }
    found = {}
    for network, one in judged.items():
        mine = tuple(
            next(f for f in settled[finding.key] if f.network == finding.network) for finding in one.findings
        )
        contradictions = tuple(
            replace(each, confirmed=each.confirmed or apart[each.parameter] >= findings.FEWEST_TRIALS)
            for each in one.contradictions
        )
        found[network] = replace(one, findings=mine, contradictions=contradictions)
    return found


def _across(several: Sequence[Finding]) -> list[Finding]:
    """One parameter's findings on several networks, settled by one another."""
    if several[0].key == _SLOW_START_EXIT and any(_leaves_slow_start(one) for one in several):
        why = "a loss came first here, and on another network it ends before a loss"
        several = [
            findings.open_(one, why) if one.looks is not None and one.measured.label == _BY_LOSS else one
            for one in several
        ]
    differing_here = [one for one in several if one.looks is not None]
    telling = [one for one in several if one.status == "as it should be" or one.looks is not None]
    alike = len(differing_here) >= _AGREEING_NETWORKS * len(telling)
    proven = len(differing_here) >= findings.FEWEST_TRIALS or any(one.differs for one in differing_here)
    return [
        one
        if one.looks is None
        else findings.confirmed(one)
        if alike and proven
        else one
        if alike
        else findings.open_(one, "most networks show otherwise")
        for one in several
    ]


def _leaves_slow_start(finding: Finding) -> bool:
    """Does the network tell that something else than a loss ends slow start?"""
    told = finding.status == "as it should be" or finding.looks is not None
    return told and finding.measured.label != _BY_LOSS


def refuse(judged: Judged, why: str) -> Judged:
    """The same without a judgement: on this network the reference does not pass its own test."""
    return replace(
        judged,
        findings=tuple(findings.unjudged(one) for one in judged.findings),
        contradictions=(),
        refused=why,
    )


def failures(judged: Judged) -> Collection[str]:
    """What the test says of the reference itself that it must not say; empty where it passes."""
    accused = [findings.sentence(one) for one in judged.findings if "off" in (one.status, one.looks)]
    return accused + [one.text for one in judged.contradictions]


def _judge(family: str, network: str, one: Measured, reference: Reference | None, unresolved: str) -> Finding:
    found = findings.judge(network, one, reference)
    if found.looks is None or one.source == "window" or family != "cubic" or one.parameter not in _FITTED:
        return found
    if unresolved:
        return findings.open_(found, f"from packets alone, and its own window says: {unresolved}")
    return findings.open_(found, "a flight follows its window too loosely to accuse anybody by it alone")


def _unresolved(
    trials: Sequence[Sequence[Estimate | Missing]], best: Mapping[str, Measured]
) -> dict[str, str]:
    """Parameter → why the stack's own window does not show it, where only packets seem to."""
    return {
        one.parameter: one.why
        for trial in trials
        for one in trial
        if isinstance(one, Missing)
        and one.source == "window"
        and one.parameter in _FITTED & best.keys()
        and best[one.parameter].source == "packets"
    }


def _standard(family: str, best: Mapping[str, Measured]) -> dict[str, Reference]:
    standard = references.of(family)
    if family == "cubic" and "beta" in best:
        return references.following(standard, best["beta"], best.get("alpha"))
    return standard


def _is_later_bbr(measured: Mapping[str, Measured]) -> bool:
    """Is it BBR's second or third generation, by its probing or, where that does not show, its ProbeRTT?"""
    generation, interval = measured.get("bbr_generation"), measured.get("probe_rtt_interval_s")
    if generation is not None:
        return generation.label == _LATER_BBR
    return interval is not None and interval.high < _LONGEST_LATER_INTERVAL_S


def _estimates(trials: Sequence[Sequence[Estimate | Missing]], name: str, source: Source) -> list[Estimate]:
    return [
        one
        for trial in trials
        for one in trial
        if isinstance(one, Estimate) and (one.parameter, one.source) == (name, source)
    ]
