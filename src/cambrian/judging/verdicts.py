"""One verdict for each contestant, with its evidence.

The first state that applies is the state of the side "parameters":

* *different*: a parameter is off (:mod:`~cambrian.judging.findings` says when), or the exported window and
  the packets contradict each other. It is a different algorithm if the window does not grow by the
  algorithm's law, or if at least two core parameters (:data:`CORE`), and more than half of the judged ones,
  are off.
* *not measured*: no core parameter could be judged.
* *inconclusive*: a parameter that the standard sets looks off in one trial, or nowhere as it should be; or a
  core parameter of BBR, which each long flow shows, is measured on no network.
* *equivalent*: each parameter is as it should be on at least one network and looks off on none. If the
  algorithm reacts to losses or marks, packets confirm the response.

A side is not *equivalent* either if all of the contestant's trials are invalid on a network where those of
the reference show that side.

:mod:`~cambrian.judging.sides` combines it with the other sides.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cambrian.judging import references, sides
from cambrian.judging.contestants import RESTATES, Judged
from cambrian.judging.findings import Finding, few_and_off, sentence, value_text
from cambrian.judging.sides import Kind, Side, Sides, State
from cambrian.metrics.parameters.definitions import PARAMETERS

#: the parameters that define each algorithm
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
#: how packets show that a sender reacts to losses: without one of them its own log is the only evidence
_WITNESSES = frozenset({"losses_answered", "marks_answered"})
#: families that react to single losses
_REACTING = ("cubic", "reno")
#: parameter → the parameters that explain it if one of them is off as well
_FOLLOWS = {key: {of} for key, of in RESTATES.items()} | {
    "losses_answered": {"rollback_share", "regrown_share"},
    "recovery_growth": {"rollback_share", "regrown_share"},
}
#: parameter → the one whose effect is a factor in it
_SCALED = {"cwnd_gain": "cruise_factor"}
#: the parameter for the law of window growth
_LAW = "cubic_growth"
#: fewest core parameters off in a different algorithm; fewer may be one changed setting
_FEWEST_OF_ANOTHER = 2
#: networks with few events each that leave a parameter inconclusive together
_FEWEST_NETWORKS = 2
#: most networks that a sentence names
_MOST_NAMED = 3


@dataclass(frozen=True)
class Unjudged:
    """A network on which a contestant has invalid trials alone.

    ``why``: how many, and the reason of one. ``shows``: the sides that valid trials of the reference show
    there.
    """

    network: str
    why: str
    shows: frozenset[str] = frozenset()

    def __str__(self) -> str:
        """``probe-ecn (2 of 2 trials invalid; seed 1: saturation: …)``."""
        return f"{self.network} ({self.why})"


@dataclass(frozen=True)
class Verdict:
    """``kinds`` and ``text`` (a few short sentences), and the ``sides`` that they follow from.

    ``off``: findings against the standard. ``choices``: findings unlike the reference that the standard
    allows. ``open``: inconclusive findings. ``measured``: number of parameters with a figure and a reference
    value; ``settled``: of those that are not inconclusive on every network. ``networks``: parameter of
    ``off`` and ``choices`` → number of networks with that status. ``missing``: parameter → why no network
    shows it. ``refused``: why some networks are not used to judge. ``unjudged``: networks without a valid
    trial.
    """

    contestant: str
    family: str
    kinds: tuple[Kind, ...]
    text: str
    sides: Sides
    off: tuple[Finding, ...]
    choices: tuple[Finding, ...]
    open: tuple[Finding, ...]
    networks: Mapping[str, int]
    measured: int
    settled: int
    missing: Mapping[str, str]
    refused: tuple[str, ...] = ()
    unjudged: tuple[Unjudged, ...] = ()

    @property
    def causes(self) -> list[Finding]:
        """The findings of ``off`` without those that follow from another one of them."""
        return _once(self.off)


def verdict(
    contestant: str,
    family: str,
    judged: Sequence[Judged],
    *,
    plausibility: Side | None = None,
    behaviour: Side | None = None,
    impact: Side | None = None,
    unjudged: Sequence[Unjudged] = (),
) -> Verdict:
    """Judge one contestant.

    Parameters:
        judged: its networks, after :func:`~cambrian.judging.contestants.combined`.
        plausibility, behaviour, impact: the other sides; None if not measured.
        unjudged: networks on which it has invalid trials alone.
    """
    findings = [finding for one in judged for finding in one.findings if finding.status != "not judged"]
    by_key: dict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        by_key[finding.key].append(finding)
    off, choices = _differing(by_key, "off"), _differing(by_key, "other choice")
    open_ = _open(by_key, CORE.get(family, frozenset()))
    missing = _missing(judged)
    # a network whose trials are all invalid may show more
    nowhere = "measured on no network" + (" with a valid trial" if unjudged else "")
    parameters, algorithm = _parameters(family, judged, by_key, off, open_, missing, nowhere)
    each = {
        "parameters": parameters,
        "plausibility": plausibility or Side(),
        "behaviour": behaviour or Side(),
        "impact": impact or Side(),
    }
    whole = Sides(
        **{
            name: sides.without(side, [one.network for one in unjudged if name in one.shows])
            for name, side in each.items()
        },
        algorithm=algorithm,
    )
    text = sides.headline(TITLES.get(family, family), whole) + not_judged(unjudged)
    unmeasured = _unmeasured(family, missing) if parameters.state == "different" else {}
    if unmeasured:
        text += f" {nowhere.capitalize()}: {'; '.join(PARAMETERS[key].title for key in unmeasured)}."
    if choices:
        said = [_where(finding, by_key[finding.key]) for finding in _once(choices)]
        text += f" Choices unlike the reference's: {'; '.join(said)}."
    return Verdict(
        contestant=contestant,
        family=family,
        kinds=sides.kinds(whole),
        text=text,
        sides=whole,
        off=tuple(off),
        choices=tuple(choices),
        open=tuple(open_),
        networks={
            finding.key: sum(one.status == finding.status for one in by_key[finding.key])
            for finding in (*off, *choices)
        },
        measured=len(by_key),
        settled=sum(any(one.status != "inconclusive" for one in several) for several in by_key.values()),
        missing=missing,
        refused=tuple(dict.fromkeys(one.refused for one in judged if one.refused)),
        unjudged=tuple(unjudged),
    )


def _missing(judged: Sequence[Judged]) -> dict[str, str]:
    """Parameter → why no network with a valid trial shows it; different reasons name their networks."""
    seen = {finding.key for one in judged for finding in one.findings}
    reasons: dict[str, dict[str, list[str]]] = defaultdict(dict)
    for one in judged:
        for key, why in one.missing.items():
            if key not in seen:
                reasons[key].setdefault(why, []).append(one.network)
    return {
        key: next(iter(here))
        if len(here) == 1
        else _named([f"{why} ({_named(networks)})" for why, networks in here.items()])
        for key, here in reasons.items()
    }


def by_reason(missing: Mapping[str, str]) -> dict[str, str]:
    """The titles of parameters that no network shows → the reason, each once; ``missing``: key → reason."""
    titles: dict[str, list[str]] = defaultdict(list)
    for key, why in missing.items():
        titles[why].append(PARAMETERS[key].title)
    return {" / ".join(those): why for why, those in titles.items()}


def not_judged(unjudged: Sequence[Unjudged]) -> str:
    """The sentence on networks without a valid trial; empty if there is none."""
    return f" Not judged on {_named(list(map(str, unjudged)), '; ')}." if unjudged else ""


def _named(names: Sequence[str], by: str = ", ") -> str:
    """The first names, and the number of the others."""
    rest = len(names) - _MOST_NAMED
    others = f"{by}and {rest} other{'s' * (rest > 1)}" if rest > 0 else ""
    return by.join(names[:_MOST_NAMED]) + others


def _differing(by_key: Mapping[str, Sequence[Finding]], status: str) -> list[Finding]:
    """For each parameter with this status on any network, the finding with the narrowest interval."""
    matching = ([one for one in several if one.status == status] for several in by_key.values())
    return [min(each, key=lambda one: one.measured.high - one.measured.low) for each in matching if each]


def _open(by_key: Mapping[str, Sequence[Finding]], core: frozenset[str]) -> list[Finding]:
    """One finding for each inconclusive parameter that the standard sets.

    Outside the core, a parameter with too few events on every network does not count, unless two networks
    show it off: each has too few events to accuse, but together they are no accident.
    """
    unsettled = []
    for key, several in by_key.items():
        seen_off = [one for one in several if few_and_off(one)]
        if key not in core and all(one.few for one in several) and len(seen_off) < _FEWEST_NETWORKS:
            continue
        if any(one.status in ("off", "other choice") for one in several):
            continue
        looking = [one for one in several if one.looks == "off"]
        fine = any(one.status == "as it should be" for one in several)
        binding = any(one.reference is not None and one.reference.binds for one in several)
        if looking or (binding and not fine):
            unsettled.append((looking or seen_off or list(several))[0])
    return unsettled


def _parameters(
    family: str,
    judged: Sequence[Judged],
    by_key: Mapping[str, Sequence[Finding]],
    off: Sequence[Finding],
    open_: Sequence[Finding],
    missing: Mapping[str, str],
    nowhere: str,
) -> tuple[Side, bool]:
    """The side "parameters", and whether its differences make it a different algorithm.

    ``nowhere``: what to say of a core parameter that no network shows.
    """
    contradictions = [each for one in judged for each in one.contradictions]
    proven = list(dict.fromkeys(each.parameter for each in contradictions if each.confirmed))
    texts = [next(each.text for each in contradictions if each.parameter == name) for name in proven]
    core = CORE.get(family, frozenset())
    if off or texts:
        wrong = {finding.key for finding in off} & core
        many = len(wrong) >= _FEWEST_OF_ANOTHER and 2 * len(wrong) > len(core & by_key.keys())
        return Side("different", tuple(_accusations(off, by_key) + texts)), _LAW in wrong or many
    if not core & by_key.keys():
        return Side("not measured", tuple(dict.fromkeys(one.refused for one in judged if one.refused))), False
    fine = {key for key, several in by_key.items() if any(one.status == "as it should be" for one in several)}
    unsettled = [sentence(one) for one in _once(open_) if RESTATES.get(one.key) not in fine]
    unsettled += [f"{each.text}, in one trial" for each in contradictions if not each.confirmed]
    if gaps := by_reason(_unmeasured(family, missing)):
        unsettled.append(f"{nowhere}: {'; '.join(f'{titles} ({why})' for titles, why in gaps.items())}")
    if family in _REACTING and not _WITNESSES & fine and not unsettled:
        unsettled.append(
            "no network shows the response to losses in the packets; "
            "only the stack's own log reports a response"
        )
    state: State = "inconclusive" if unsettled else "equivalent"
    return Side(state, tuple(unsettled)), False


def _unmeasured(family: str, missing: Mapping[str, str]) -> dict[str, str]:
    """Core parameters of a BBR, which each long flow shows, that no network measures → why."""
    if family in _REACTING:
        return {}
    return {key: missing[key] for key in sorted(CORE.get(family, frozenset())) if key in missing}


def _accusations(off: Sequence[Finding], by_key: Mapping[str, Sequence[Finding]]) -> list[str]:
    parts = [_where(finding, by_key[finding.key]) for finding in _once(off)]
    like = next((finding for finding in off if finding.key == "emulated_connections"), None)
    if like is not None and like.measured.low > 1:
        parts.append(f"its β is that of {value_text(like.measured)} connections of the standard")
    return parts


def _once(findings: Sequence[Finding]) -> list[Finding]:
    """The findings without those that follow from another one of them."""
    by_key = {finding.key: finding for finding in findings}
    return [
        finding
        for finding in findings
        if not by_key.keys() & _FOLLOWS.get(finding.key, set())
        and not _scaled(finding, by_key.get(_SCALED.get(finding.key, "")))
    ]


def _scaled(finding: Finding, by: Finding | None) -> bool:
    """Is a window too large by no more than the bandwidth that its sender reckons with?"""
    if by is None or finding.reference is None or not finding.reference.value:
        return False
    return 1 < finding.measured.value / finding.reference.value <= by.measured.value


def _where(finding: Finding, several: Sequence[Finding]) -> str:
    """A finding in words, with the number of networks that show it if not all do."""
    alike = [one for one in several if one.status == finding.status]
    text = sentence(finding, alike)
    return text if len(alike) == len(several) else f"{text} (on {len(alike)} of {len(several)} networks)"


def evidence(finding: Finding, networks: int = 1) -> str:
    """The source of a finding: ``…: from window, 16 events in 2 differing trials on 20mbps-50ms-1bdp``.

    ``networks``: number of networks with the same finding.
    """
    measured = finding.measured
    events = "event" if measured.events == 1 else "events"
    trials = "trial" if measured.trials == 1 else "trials"
    others = f", and on {networks - 1} other{'s' * (networks > 2)}" if networks > 1 else ""
    return (
        f"{PARAMETERS[finding.key].title}: from {measured.source}, {measured.events} {events} in "
        f"{measured.trials} differing {trials} on {finding.network}{others}"
    )
