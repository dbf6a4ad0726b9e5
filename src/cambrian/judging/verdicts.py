"""What a person can act on: one verdict for each contestant, with its evidence.

What the parameters' side says, in order:

* *different*: a parameter is off (:mod:`~cambrian.judging.findings` says when), or the stack's own window and
  its packets exclude each other. It is another algorithm where the window does not grow by the algorithm's
  law, or where at least two of those that make the algorithm what it is (:data:`CORE`) are off and they
  are more than half of those judged.
* *not measured*: no parameter of the core could be judged.
* *inconclusive*: a parameter that the standard sets looks off in one trial, or shows nowhere as it should be.
* *equivalent*: every one is as it should be on at least one network, and looks off on none; and packets
  bear out that losses or marks are answered, where the algorithm reacts to them.

:mod:`~cambrian.judging.sides` makes one verdict of it and the other sides.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cambrian.judging import references, sides
from cambrian.judging.contestants import Judged
from cambrian.judging.findings import Finding, sentence, value_text
from cambrian.judging.sides import Kind, Side, Sides, State
from cambrian.metrics.parameters.definitions import PARAMETERS

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
TITLES = {
    "cubic": "CUBIC",
    "reno": "Reno",
    "bbr": "BBR",
    references.LATER_BBR: "BBR of the second or third generation",
}
#: what packets show of a sender that reacts to losses: without one of them its own log is the only witness
_WITNESSES = frozenset({"losses_answered", "marks_answered"})
#: families that react to single losses
_REACTING = ("cubic", "reno")
#: parameters that say the same as another one, in other words
_RESTATES = {
    "emulated_connections": "beta",
    "beta_again": "beta",
    "pacing": "pacing_factor",
}
#: what follows from another one where both are off
_FOLLOWS = _RESTATES | {"losses_answered": "rollback_share"}
#: the parameter that says by what law the window grows
_LAW = "cubic_growth"
#: fewer core parameters off than this may be a number that somebody set
_FEWEST_OF_ANOTHER = 2


@dataclass(frozen=True)
class Verdict:
    """``kind`` and ``text`` (a few short sentences) for people, and the ``sides`` that they reconcile.

    ``off``, ``choices``, ``open``: the findings that differ from the standard, that differ from the reference
    where the standard leaves it open, and that are inconclusive. ``measured``: parameters judged.
    ``networks``: parameter of ``off`` and ``choices`` → on how many networks it differs so.
    ``missing``: parameter → why no network shows it. ``refused``: networks that judge nobody, and why.
    """

    contestant: str
    family: str
    kind: Kind
    text: str
    sides: Sides
    off: tuple[Finding, ...]
    choices: tuple[Finding, ...]
    open: tuple[Finding, ...]
    networks: Mapping[str, int]
    measured: int
    missing: Mapping[str, str]
    refused: tuple[str, ...] = ()


def verdict(
    contestant: str,
    family: str,
    judged: Sequence[Judged],
    *,
    plausibility: Side | None = None,
    behaviour: Side | None = None,
    impact: Side | None = None,
) -> Verdict:
    """Judge one contestant.

    Parameters:
        judged: its networks, after :func:`~cambrian.judging.contestants.together`.
        plausibility, behaviour, impact: the other sides; None for what was not measured.
    """
    findings = [finding for one in judged for finding in one.findings if finding.status != "not judged"]
    by_key: dict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        by_key[finding.key].append(finding)
    off, choices = _differing(by_key, "off"), _differing(by_key, "other choice")
    open_ = _open(by_key, CORE.get(family, frozenset()))
    seen = {finding.key for one in judged for finding in one.findings}
    parameters, algorithm = _parameters(family, judged, by_key, off, open_)
    whole = Sides(
        parameters, plausibility or Side(), behaviour or Side(), impact or Side(), algorithm=algorithm
    )
    text = sides.headline(TITLES.get(family, family), whole)
    if choices:
        text += f" Other choices than the reference's: {'; '.join(map(sentence, _once(choices)))}."
    return Verdict(
        contestant=contestant,
        family=family,
        kind=sides.kind(whole),
        text=text,
        sides=whole,
        off=tuple(off),
        choices=tuple(choices),
        open=tuple(open_),
        networks={
            told.key: sum(one.status == told.status for one in by_key[told.key]) for told in (*off, *choices)
        },
        measured=len(by_key),
        missing={key: why for one in judged for key, why in one.missing.items() if key not in seen},
        refused=tuple(dict.fromkeys(one.refused for one in judged if one.refused)),
    )


def _differing(by_key: Mapping[str, Sequence[Finding]], status: str) -> list[Finding]:
    """Of each parameter with this status on any network the narrowest finding; they are settled already."""
    alike = ([one for one in several if one.status == status] for several in by_key.values())
    return [min(found, key=lambda one: one.measured.high - one.measured.low) for found in alike if found]


def _open(by_key: Mapping[str, Sequence[Finding]], core: frozenset[str]) -> list[Finding]:
    """Parameters that the standard sets, and that are neither off nor surely as they should be anywhere.

    Outside of the core, too few events are as good as none.
    """
    found = []
    for key, several in by_key.items():
        if key not in core and all(one.few for one in several):
            continue
        if any(one.status in ("off", "other choice") for one in several):
            continue
        looking = [one for one in several if one.looks == "off"]
        fine = any(one.status == "as it should be" for one in several)
        binding = any(one.reference is not None and one.reference.binds for one in several)
        if looking or (binding and not fine):
            found.append((looking or list(several))[0])
    return found


def _parameters(
    family: str,
    judged: Sequence[Judged],
    by_key: Mapping[str, Sequence[Finding]],
    off: Sequence[Finding],
    open_: Sequence[Finding],
) -> tuple[Side, bool]:
    """The parameters' side, and whether what differs makes it another algorithm."""
    apart = [found for one in judged for found in one.contradictions]
    proven = list(dict.fromkeys(found.parameter for found in apart if found.confirmed))
    said = [next(found.text for found in apart if found.parameter == name) for name in proven]
    core = CORE.get(family, frozenset())
    if off or said:
        wrong = {finding.key for finding in off} & core
        many = len(wrong) >= _FEWEST_OF_ANOTHER and 2 * len(wrong) > len(core & by_key.keys())
        return Side("different", tuple(_accusations(off, by_key) + said)), _LAW in wrong or many
    if not core & by_key.keys():
        return Side("not measured", tuple(dict.fromkeys(one.refused for one in judged if one.refused))), False
    fine = {key for key, several in by_key.items() if any(one.status == "as it should be" for one in several)}
    unsettled = [sentence(one) for one in _once(open_) if _RESTATES.get(one.key) not in fine]
    unsettled += [f"{found.text}, in one trial" for found in apart if not found.confirmed]
    if family in _REACTING and not _WITNESSES & fine and not unsettled:
        unsettled.append("its log shows how it answers losses, its packets show it on no network")
    state: State = "inconclusive" if unsettled else "equivalent"
    return Side(state, tuple(unsettled)), False


def _accusations(off: Sequence[Finding], by_key: Mapping[str, Sequence[Finding]]) -> list[str]:
    parts = [_where(finding, by_key[finding.key]) for finding in _once(off)]
    like = next((finding for finding in off if finding.key == "emulated_connections"), None)
    if like is not None:
        parts.append(f"it behaves like {value_text(like.measured)} connections of the standard")
    return parts


def _once(findings: Sequence[Finding]) -> list[Finding]:
    """Without those that say the same as another one of them."""
    keys = {finding.key for finding in findings}
    return [finding for finding in findings if _FOLLOWS.get(finding.key) not in keys]


def _where(finding: Finding, several: Sequence[Finding]) -> str:
    """A finding, and on how many networks it was the same where it was not on all."""
    agreeing = sum(one.status == finding.status for one in several)
    text = sentence(finding)
    return text if agreeing == len(several) else f"{text} (on {agreeing} of {len(several)} networks)"


def evidence(finding: Finding, networks: int = 1) -> str:
    """How it is known: ``window, 16 events in 2 trials on 20mbps-50ms-1bdp``; on how many networks in all."""
    measured = finding.measured
    events = "event" if measured.events == 1 else "events"
    trials = "trial" if measured.trials == 1 else "trials"
    others = f", and on {networks - 1} other{'s' * (networks > 2)}" if networks > 1 else ""
    return (
        f"{PARAMETERS[finding.key].title}: from {measured.source}, {measured.events} {events} in "
        f"{measured.trials} differing {trials} on {finding.network}{others}"
    )
