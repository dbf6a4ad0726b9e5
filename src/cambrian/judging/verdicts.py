"""What a person can act on: one short verdict for each implementation, with its evidence.

The rules, in order:

* *different algorithm*: the window does not grow by the algorithm's law; or at least two of the
  parameters that make the algorithm what it is (:data:`CORE`) are off, and they are more than half
  of those measured.
* *off by a parameter*: at least one parameter is off.
* *conformant*: none is; other choices that the standards allow are named.
* *not judged*: no parameter of the core could be measured.

A parameter that is measured on several networks is off where at least half of them say so.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from cambrian.judging import references
from cambrian.judging.findings import Finding, sentence, value_text
from cambrian.metrics.parameters.definitions import PARAMETERS

Kind = Literal["conformant", "off by a parameter", "different algorithm", "not judged"]

#: what makes a controller the one that it is named after, by family
CORE: Mapping[str, frozenset[str]] = {
    "cubic": frozenset({"beta", "cubic_growth", "cubic_c", "alpha", "rollback_share"}),
    "reno": frozenset({"beta", "alpha", "rollback_share"}),
    "bbr": frozenset(
        {"probe_up_gain", "probe_down_gain", "cruise_factor", "cycle_rounds", "probe_rtt_interval_s"}
    ),
    references.LATER_BBR: frozenset(
        {"probe_up_gain", "probe_down_gain", "cruise_factor", "probe_rtt_interval_s", "probe_rtt_gain"}
    ),
}
_TITLES = {
    "cubic": "CUBIC",
    "reno": "Reno",
    "bbr": "BBR",
    references.LATER_BBR: "BBR of the second or third generation",
}
#: parameters that say the same as another one, in other words
_RESTATES = {"emulated_connections": "beta", "beta_again": "beta", "pacing": "pacing_factor"}
#: the parameter that says by what law the window grows
_LAW = "cubic_growth"
#: fewer core parameters off than this may be a number that somebody set
_FEWEST_OF_ANOTHER = 2


@dataclass(frozen=True)
class Verdict:
    """``kind`` and ``text`` for people; ``off`` and ``choices``: the findings that they rest on."""

    contestant: str
    family: str
    kind: Kind
    text: str
    off: tuple[Finding, ...]
    choices: tuple[Finding, ...]
    measured: int
    missing: Mapping[str, str]


def verdict(contestant: str, family: str, findings: Sequence[Finding], missing: Mapping[str, str]) -> Verdict:
    """Judge one contestant by its findings on all networks.

    ``missing``: parameter → why no network shows it.
    """
    by_key: dict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        by_key[finding.key].append(finding)
    off = _agreed(by_key, "off")
    choices = _agreed(by_key, "other choice")
    core = CORE.get(family, frozenset())
    core_seen = core & by_key.keys()
    kind = _kind({finding.key for finding in off}, core, core_seen)
    return Verdict(
        contestant=contestant,
        family=family,
        kind=kind,
        text=_text(kind, family, off, choices, by_key),
        off=tuple(off),
        choices=tuple(choices),
        measured=len(by_key),
        missing=dict(missing),
    )


def _agreed(by_key: Mapping[str, Sequence[Finding]], status: str) -> list[Finding]:
    """For each parameter that at least half of its networks give this status: the narrowest finding."""
    found = []
    for several in by_key.values():
        alike = [finding for finding in several if finding.status == status]
        if alike and 2 * len(alike) >= len(several):
            found.append(min(alike, key=lambda one: one.measured.high - one.measured.low))
    return found


def _kind(off: set[str], core: frozenset[str], core_seen: frozenset[str]) -> Kind:
    if not core_seen:
        return "off by a parameter" if off else "not judged"
    wrong = off & core
    if _LAW in wrong:
        return "different algorithm"
    if len(wrong) >= _FEWEST_OF_ANOTHER and 2 * len(wrong) > len(core_seen):
        return "different algorithm"
    return "off by a parameter" if off else "conformant"


def _text(
    kind: Kind,
    family: str,
    off: Sequence[Finding],
    choices: Sequence[Finding],
    by_key: Mapping[str, Sequence[Finding]],
) -> str:
    parts = [_where(finding, by_key[finding.key]) for finding in _once(off)]
    like = next((finding for finding in off if finding.key == "emulated_connections"), None)
    if like is not None:
        parts.append(f"it behaves like {value_text(like.measured)} connections of the standard")
    title = _TITLES.get(family, family)
    opening = {
        "conformant": f"{title}; every parameter that could be measured is as it should be.",
        "off by a parameter": f"{title}, but off: " + "; ".join(parts) + ".",
        "different algorithm": f"Not {title} as the standard has it: " + "; ".join(parts) + ".",
        "not judged": f"Too little of {title} shows in these traces for a verdict.",
    }[kind]
    if not choices:
        return opening
    said = "; ".join(sentence(one) for one in _once(choices))
    return f"{opening} Other choices than the reference's: {said}."


def _once(findings: Sequence[Finding]) -> list[Finding]:
    """Without those that say the same as another one."""
    keys = {finding.key for finding in findings}
    return [finding for finding in findings if _RESTATES.get(finding.key) not in keys]


def _where(finding: Finding, several: Sequence[Finding]) -> str:
    """A finding, and on how many networks it was the same where it was not on all."""
    agreeing = sum(one.status == finding.status for one in several)
    text = sentence(finding)
    return text if agreeing == len(several) else f"{text} (on {agreeing} of {len(several)} networks)"


def evidence(finding: Finding) -> str:
    """How it is known: ``window, 16 events in 2 trials on 20mbps-50ms-1bdp``."""
    measured = finding.measured
    events = "event" if measured.events == 1 else "events"
    trials = "trial" if measured.trials == 1 else "trials"
    return (
        f"{PARAMETERS[finding.key].title}: from {measured.source}, {measured.events} {events} in "
        f"{measured.trials} {trials} on {finding.network}"
    )
