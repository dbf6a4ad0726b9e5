"""From what single trials show to findings: one contestant on one network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cambrian.judging import findings, references
from cambrian.judging.findings import Finding
from cambrian.metrics.parameters.estimate import Estimate, Measured, Missing, Source, pooled

_ROLLBACK = "rollback_share"
#: what is fitted between two reductions, and so means nothing where reductions are taken back
_SPOILT_BY_ROLLBACK = frozenset(
    {"cubic_growth", "cubic_c", "cubic_k_rule", "alpha", "fast_convergence", "reno_friendly"}
)
#: halfway between ProbeRTTs every 5 s, as in the later drafts, and every 10 s
_LONGEST_LATER_INTERVAL_S = 7.5
#: the kind of ``bbr_generation`` that is not kernel BBR's
_LATER_BBR = "BBRv2- or v3-like"
#: a stack's own word first; packets alone where it exports nothing
_SOURCES: tuple[Source, ...] = ("window", "packets")


@dataclass(frozen=True)
class Judged:
    """``family``: whose values it was compared with; ``findings``: one a parameter; ``both``: each
    (parameter, source) measured; ``missing``: parameter → why it could not be measured.
    """

    family: str

    findings: tuple[Finding, ...]
    both: tuple[Measured, ...]
    missing: dict[str, str]


def judge(network: str, family: str, trials: Sequence[Sequence[Estimate | Missing]]) -> Judged:
    """Pool the trials' estimates and set them beside the standard's values.

    A parameter is judged by the stack's own window where there is one, else by packets. A BBR that
    probes as the second and third generations do is compared with their draft.
    """
    measured = {
        (name, source): pooled(found)
        for name, source in sorted({(one.parameter, one.source) for trial in trials for one in trial})
        if (found := _estimates(trials, name, source))
    }
    best = {
        name: next(measured[name, source] for source in _SOURCES if (name, source) in measured)
        for name in sorted({name for name, _ in measured})
    }
    if family == "bbr" and _is_later_bbr(best):
        family = references.LATER_BBR
    standard = references.of(family)
    if family == "cubic" and "beta" in best:
        standard = references.following(standard, best["beta"], best.get("alpha"))
    judged = [findings.judge(network, one, standard.get(name)) for name, one in best.items()]
    if any(one.key == _ROLLBACK and one.status == "off" for one in judged):
        judged = [findings.unjudged(one) if one.key in _SPOILT_BY_ROLLBACK else one for one in judged]
    missing = {
        one.parameter: one.why
        for trial in trials
        for one in trial
        if isinstance(one, Missing) and not any(one.parameter == name for name, _ in measured)
    }
    return Judged(family, tuple(judged), tuple(measured.values()), missing)


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
