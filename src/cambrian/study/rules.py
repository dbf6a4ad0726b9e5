"""What must hold in a study as a whole."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Literal, Protocol

from cambrian.study import hints, naming
from cambrian.study.faults import Faults
from cambrian.study.model import Contestant, Flow, Network, Page, Patterns, Stopping, Study
from cambrian.study.positions import Path
from cambrian.study.reference import REFERENCE_STACK, ReferenceOf, reference_contestant
from cambrian.study.tables import PlacedContestant, PlacedFlow, PlacedLineup, PlacedNetwork
from cambrian.study.tracefile import mean_rate_mbps

SEE_INTEROP = "`cambrian interop` shows which receivers a stack has"
#: the name of the line-up that a flow is in; None if it is in none
LineupOf = Callable[[PlacedFlow], str | None]


class StackChecks(Protocol):
    """What the stacks' manifests say of a contestant (:mod:`cambrian.stacks.checks`)."""

    def receiver_problem(self, contestant: Contestant, /) -> str | None:
        """Why a contestant cannot have its receiver; None if it can."""

    def option_problem(self, contestant: Contestant, /) -> tuple[str, str, str] | None:
        """The first option that is wrong: its key, the problem and the remedy."""

    def use_problem(
        self, contestant: Contestant, network: Network, /, *, page: bool
    ) -> tuple[str, str, str] | None:
        """Why it cannot do what a study asks of it on a network: the key, the problem and the remedy."""


def check_stacks(
    study: Study,
    contestants: Sequence[PlacedContestant],
    flows: Sequence[PlacedFlow],
    checks: StackChecks,
    faults: Faults,
) -> None:
    """Each contestant's options must exist, and each bulk flow needs a receiver that speaks its protocol."""
    placed = [(one.path, one.path[:2], one.contestant, study.page_load is None) for one in contestants]
    placed += [(one.path, one.path, one.flow.contestant, one.flow.page is None) for one in flows]
    for path, table, contestant, bulk in placed:
        wrong = checks.option_problem(contestant)
        if wrong is not None:
            key, problem, remedy = wrong
            faults.add((*table, "options", key), problem, remedy)
        if (wrong := unfit(contestant, study.networks, checks, page=not bulk)) is not None:
            key, problem, remedy = wrong
            faults.add((*table, key), problem, remedy, key=key)
        problem_of_receiver = checks.receiver_problem(contestant) if bulk else None
        if problem_of_receiver is not None:
            at = path if contestant.receiver == "own" else (*table, "receiver")
            faults.add(at, problem_of_receiver, SEE_INTEROP)


def unfit(
    contestant: Contestant, networks: Sequence[Network], checks: StackChecks, *, page: bool
) -> tuple[str, str, str] | None:
    """Why it can do what the study asks of it on no network: the key, the problem and the remedy."""
    uses = [checks.use_problem(contestant, network, page=page) for network in networks]
    return None if None in uses else uses[0]


def check_whole(
    study: Study,
    networks: Sequence[PlacedNetwork],
    contestants: Sequence[PlacedContestant],
    flows: Sequence[PlacedFlow],
    lineups: Sequence[PlacedLineup],
    *,
    reference_of: ReferenceOf | None,
    faults: Faults,
) -> None:
    """Note every rule that the study breaks as a whole."""
    _design_has_its_players(study, contestants, flows, lineups, faults)
    _pages_suit_the_design(study, contestants, faults)
    _stopping_suits_the_design(study, faults)
    _network_names_differ(networks, faults)
    _contestant_names_differ(contestants, faults)
    everyone = [*flows, *(flow for placed in lineups for flow in placed.flows)]
    _flow_names_differ(everyone, faults)
    _one_round_trip_at_a_time(networks, everyone, faults)
    names = {placed.path: placed.lineup.name for placed in lineups}

    def lineup_of(flow: PlacedFlow) -> str | None:
        return names.get(flow.path[:2])

    _pages_end(study, everyone, lineup_of, faults)
    _events_fall_within_the_trial(study, networks, everyone, lineup_of, faults)
    _schedules_are_clear(study, networks, faults)
    _paths_fit_into_the_guest(networks, everyone, faults)
    _pies_interval_is_a_timers(networks, faults)
    _profiles_keep_something(study, faults)
    if study.design == "versus-reference" and reference_of is not None:
        _references_exist(contestants, reference_of, faults)


def _design_has_its_players(
    study: Study,
    contestants: Sequence[PlacedContestant],
    flows: Sequence[PlacedFlow],
    lineups: Sequence[PlacedLineup],
    faults: Faults,
) -> None:
    if study.solo and study.design != "pairwise":
        remedy = 'leave solo out, or set design = "pairwise"'
        faults.add(("solo",), f'design = "{study.design}" takes no solo', remedy)
    if study.design == "flows":
        if not flows and not lineups:
            faults.add(("design",), 'design = "flows" needs flows', "add a [[flow]] table for each flow")
        if flows and lineups:
            problem, remedy = "flows are in line-ups here", "write this [[flow]] into a [[lineup]]'s flows"
            faults.add(flows[0].path, problem, remedy)
        names = [placed.lineup.name for placed in lineups]
        for index, name in enumerate(names):
            if name in names[:index]:
                problem = f'two line-ups are called "{name}"'
                faults.add((*lineups[index].path, "name"), problem, "give each a name of its own")
        if contestants:
            problem = 'design = "flows" takes no [[contestant]]'
            faults.add(contestants[0].path[:2], problem, "write each as a [[flow]], or choose another design")
    else:
        if not contestants and not flows and not lineups:
            problem = f'design = "{study.design}" needs contestants'
            faults.add(("design",), problem, "add a [[contestant]] table", key="design")
        for path in [placed.path for placed in (*flows, *lineups)]:
            remedy = 'set design = "flows", or write each as a [[contestant]]'
            faults.add(path, f'design = "{study.design}" takes no [[{path[0]}]]', remedy)


def _pages_suit_the_design(study: Study, contestants: Sequence[PlacedContestant], faults: Faults) -> None:
    if study.page_load is None:
        return
    if study.design == "flows":
        remedy = 'give each [[flow]] that loads one its own: page = "beta-small"'
        faults.add(("page_load",), 'design = "flows" takes no [page_load]', remedy)
    elif study.design == "versus-reference":
        problem = 'design = "versus-reference" compares endless flows: it takes no [page_load]'
        faults.add(("page_load",), problem, 'set design = "solo" (or "pairwise")')
    for placed in contestants:
        if placed.contestant.receiver != "own":
            receiver = (*placed.path[:2], "receiver")
            faults.add(receiver, "a page is loaded by client, not by a receiver", "leave receiver out")
    names = [page.name for page in study.page_load.pages]
    for index, name in enumerate(names):
        if name in names[:index]:
            path = ("page_load", "pages", index)
            faults.add(path, f'two pages are called "{name}"', 'give each its own name = "…"')
    if study.page_load.client != "light":
        for index, page in enumerate(study.page_load.pages):
            if page.pauses:
                problem = "a browser asks for all images at once: it cannot keep after_ms"
                faults.add(
                    ("page_load", "pages", index), problem, 'set client = "light", or leave after_ms out'
                )
    if study.page_load.netlog and study.page_load.client != "chromium":
        faults.add(("page_load", "netlog"), "only chromium has a netlog", 'set client = "chromium"')


def _stopping_suits_the_design(study: Study, faults: Faults) -> None:
    """What decides must be measured in every group's trials, and nothing else may decide."""
    if study.stopping is None:
        return
    if "seeds" in study.model_fields_set:
        remedy = "leave seeds out, or [stopping] (a profile may still give seeds)"
        faults.add(("seeds",), "[stopping] decides how many trials are run", remedy)
    for flows in [lineup.flows for lineup in study.lineups] or [study.flows]:
        _stopping_suits(study, study.stopping, flows, faults)


def _stopping_suits(study: Study, stopping: Stopping, flows: Sequence[Flow], faults: Faults) -> None:
    """``flows`` are those of one trial; none where the study has contestants."""
    pages = [bool(study.page_load or flow.page) for flow in flows] or [study.page_load is not None]
    sized = any(pages) or any(flow.size_bytes for flow in flows)
    endless_first = not (pages[0] or (flows and flows[0].size_bytes))
    alone = study.design == "solo" or study.solo or len(flows) == 1
    if stopping.measure == "plt_ms" and not pages[0]:
        what = "the first [[flow]] loads" if study.design == "flows" else "the contestants load"
        problem, remedy = f"{what} no page", "give half_width_mbps instead, or a page to load"
        faults.add(("stopping", "half_width_plt_ms"), problem, remedy)
    if stopping.measure == "throughput_mbps" and not endless_first:
        problem = "the flow that decides ends by itself, and its throughput with it"
        remedy = "give half_width_plt_ms instead" if pages[0] else "let the first [[flow]] be endless"
        faults.add(("stopping", "half_width_mbps"), problem, remedy)
    if stopping.measure == "share_percent" and (alone or sized):
        problem = "a flow alone has no share" if alone else "a flow that ends by itself has no share"
        remedy = f"give {'half_width_plt_ms' if pages[0] else 'half_width_mbps'} instead"
        faults.add(("stopping", "half_width_share_percent"), problem, remedy)


def _network_names_differ(networks: Sequence[PlacedNetwork], faults: Faults) -> None:
    seen: dict[str, PlacedNetwork] = {}
    for placed in networks:
        name = placed.network.name
        other = seen.setdefault(name, placed)
        if other is placed:
            continue
        if other.network == placed.network:
            problem = f'two networks are the same, "{name}"'
            faults.add(placed.path, problem, "remove one of them, or a value that a list has twice")
        else:
            remedy = _other_names(other, placed)
            faults.add((*placed.path, "name"), f'two networks are called "{name}"', remedy, key="name")


def _other_names(one: PlacedNetwork, other: PlacedNetwork) -> str:
    """The remedy for two networks with one name: a name for each, or a template for the cells of one grid."""
    differs = [
        key for key in naming.TEMPLATE_KEYS if getattr(one.network, key) != getattr(other.network, key)
    ]
    if one.path == other.path and differs:
        keys = "-".join(f"{{{key}}}" for key in differs)
        return f'add what differs in this grid to the name, in braces: name = "…-{keys}"'
    return f'give each a name of its own, such as name = "{one.network.name}-2"'


def _contestant_names_differ(contestants: Sequence[PlacedContestant], faults: Faults) -> None:
    seen: dict[str, Contestant] = {}
    for placed in contestants:
        name = placed.contestant.name
        # of the table: placed.path is the one of the list element with the controller
        label = (*placed.path[:2], "label")
        if not _can_be_a_file(name, label, faults):
            continue
        _is_no_others_name(placed.contestant, label, faults)
        other = seen.setdefault(naming.slug(name), placed.contestant)
        if other is placed.contestant:
            continue
        if other == placed.contestant:
            problem = f'two contestants are the same, "{name}"'
            remedy = "remove one of them, or a value that a list has twice; or give one a label"
            faults.add(placed.path, problem, remedy, key="label")
        else:
            problem = _same(name, other.name, "contestants")
            remedy = f'give each its own table and label, such as label = "{_tuned(placed.contestant)}"'
            faults.add(label, problem, remedy)


def _tuned(contestant: Contestant) -> str:
    """An example of a label."""
    return f"{contestant.stack} {contestant.cca}, tuned"


def _can_be_a_file(name: str, label: Path, faults: Faults) -> bool:
    """Does a contestant's name leave something for the names of files? They have only these characters."""
    if re.search("[a-z0-9]", naming.slug(name)):
        return True
    problem = f'"{name}" has no letter from a to z and no digit, which the names of files are made of'
    faults.add(label, problem, 'give a label with some, such as label = "quinn cubic"')
    return False


#: the kernel's controllers that other stacks are compared with
_KERNEL_CCAS = ("cubic", "reno", "bbr")


def _is_no_others_name(contestant: Contestant, label: Path, faults: Faults) -> None:
    """A label that is the name of kernel TCP or of a placebo would take its place in tables and verdicts."""
    slug = naming.slug(contestant.label)
    of_kernel = slug in {f"{REFERENCE_STACK}-{cca}" for cca in (contestant.cca, *_KERNEL_CCAS)}
    if slug.startswith("placebo"):
        problem = f'"{contestant.label}" is what a placebo is called'
    elif of_kernel and contestant != reference_contestant(contestant.cca):
        problem = f'"{contestant.label}" is what kernel TCP is called'
    else:
        return
    faults.add(label, problem, f'give another label, such as label = "{_tuned(contestant)}"')


def _same(name: str, other: str, what: str) -> str:
    if name == other:
        return f'two {what} are called "{name}"'
    return f'"{other}" and "{name}" give the same name of a file, {naming.slug(name)}'


def _flow_names_differ(flows: Sequence[PlacedFlow], faults: Faults) -> None:
    """Flows that have one name are one contestant to tables and verdicts, whatever line-up they are in."""
    seen: dict[str, Contestant] = {}
    for placed in flows:
        contestant = placed.flow.contestant
        label = (*placed.path, "label")
        if not _can_be_a_file(contestant.name, label, faults):
            continue
        _is_no_others_name(contestant, label, faults)
        known = seen.setdefault(naming.slug(contestant.name), contestant)
        if known != contestant:
            problem = _same(contestant.name, known.name, "different contestants")
            remedy = f'give one a label, such as label = "{_tuned(contestant)}"'
            faults.add(label, problem, remedy)


def _one_round_trip_at_a_time(
    networks: Sequence[PlacedNetwork], flows: Sequence[PlacedFlow], faults: Faults
) -> None:
    own = next((placed for placed in flows if placed.flow.rtt_ms is not None), None)
    stepped = next((one.network.name for one in networks if one.network.changes("rtt_ms")), None)
    if own is not None and stepped is not None:
        problem = f"the schedule of {stepped} sets one rtt_ms for all flows"
        faults.add((*own.path, "rtt_ms"), problem, "remove rtt_ms of the flow, or of the steps")


def _pages_end(study: Study, flows: Sequence[PlacedFlow], lineup_of: LineupOf, faults: Faults) -> None:
    """A page whose own pauses last longer than the trial is never complete."""
    pages: list[tuple[Path, Page, float, tuple[float, str]]] = [
        (("page_load", "pages", index), page, 0.0, _shortest(study, page=page.name))
        for index, page in enumerate(_pages(study))
    ]
    pages += [
        ((*one.path, "page"), one.flow.page, one.flow.start_ms, _shortest(study, lineup=lineup_of(one)))
        for one in flows
        if one.flow.page
    ]
    for path, page, start_ms, (ends_s, where) in pages:
        waits_ms = start_ms + sum(group.count * (group.after_ms or 0) for group in page.objects)
        if waits_ms >= ends_s * 1000:
            remedy = (
                f"the trial ends after {ends_s:g} s{where}: give a smaller after_ms or a longer duration_s"
            )
            faults.add(path, f"its images wait for {waits_ms / 1000:g} s in all", remedy)


def _shortest(study: Study, *, page: str | None = None, lineup: str | None = None) -> tuple[float, str]:
    """The shortest duration of trials (with this page or line-up), and the profile that has it, in words."""
    own = [
        (profile.duration_s, f" in the profile {name}")
        for name, profile in study.profiles.items()
        if profile.duration_s and _keeps(profile.pages, page) and _keeps(profile.lineups, lineup)
    ]
    return min([(study.duration_s, ""), *own])


def _keeps(patterns: Patterns | None, name: str | None) -> bool:
    return patterns is None or name is None or any(naming.matches(name, pattern) for pattern in patterns)


def _pages(study: Study) -> tuple[Page, ...]:
    return study.page_load.pages if study.page_load else ()


def _references_exist(
    contestants: Sequence[PlacedContestant], reference_of: ReferenceOf, faults: Faults
) -> None:
    for placed in contestants:
        contestant = placed.contestant
        cca = reference_of(contestant.stack, contestant.cca)
        if cca is None:
            problem = f'{contestant.stack} {contestant.cca} has no kernel reference for "versus-reference"'
            remedy = 'choose another CCA, or design = "solo" or "pairwise"'
            faults.add(placed.path, problem, remedy, key="cca")
            continue
        reference = reference_contestant(cca)
        if contestant != reference and naming.slug(contestant.name) == naming.slug(reference.name):
            remedy = f'give it a label, such as label = "{_tuned(contestant)}"'
            problem = f'"{contestant.name}" is what the reference is called'
            faults.add((*placed.path[:2], "label"), problem, remedy)


def _events_fall_within_the_trial(
    study: Study,
    networks: Sequence[PlacedNetwork],
    flows: Sequence[PlacedFlow],
    lineup_of: LineupOf,
    faults: Faults,
) -> None:
    """Steps fall within the study's own duration, which a profile may cut; starts within every profile's."""
    shortest_s, _ = _shortest(study)
    shortest_ms = shortest_s * 1000
    written = f"the trial ends after {study.duration_s:g} s"
    longer = f"the shortest trial ends after {shortest_s:g} s"
    for network in networks:
        for index, change in enumerate(network.network.schedule):
            if change.at_s >= study.duration_s:
                remedy = f"{written}: give an earlier at_s or a longer duration_s"
                faults.add((*network.path, "schedule", index, "at_s"), "this step would never come", remedy)
            elif change.settled_s >= study.duration_s:
                where = (*network.path, "schedule", index, "handover_overlap_ms")
                remedy = f"{written}: give a smaller handover_overlap_ms or a longer duration_s"
                faults.add(where, "the old address would never go", remedy)
    for flow in flows:
        ends_s, _ = _shortest(study, lineup=lineup_of(flow))
        if flow.flow.start_ms + study.start_spread_ms >= ends_s * 1000:
            remedy = (
                f"the shortest trial ends after {ends_s:g} s: give an earlier start_ms or a longer duration_s"
            )
            faults.add((*flow.path, "start_ms"), "this flow might never start", remedy)
    if (study.measured_from_s or 0) * 1000 >= shortest_ms:
        remedy = f"{longer}: give an earlier measured_from_s or a longer duration_s"
        faults.add(("measured_from_s",), "nothing would be measured", remedy)
    if study.start_spread_ms >= shortest_ms:
        remedy = f"{longer}: give a smaller start_spread_ms or a longer duration_s"
        faults.add(("start_spread_ms",), "flows might never start", remedy)


_LOST: tuple[Literal["loss_percent", "return_loss_percent"], ...] = ("loss_percent", "return_loss_percent")


def _schedules_are_clear(study: Study, networks: Sequence[PlacedNetwork], faults: Faults) -> None:
    """A moment has one value of each key, and some packets arrive."""
    shortest_s, where = _shortest(study)
    for placed in networks:
        network = placed.network
        set_there: dict[tuple[float, str], object] = {}
        for index, change in enumerate(network.schedule):
            for key, value in change.model_dump(exclude_none=True, exclude={"at_s"}).items():
                if set_there.setdefault((change.at_s, key), value) != value:
                    problem = f"another step at {change.at_s:g} s has another {key}"
                    step = (*placed.path, "schedule", index, key)
                    faults.add(step, problem, "give one of them, or another at_s")
        for lost in _LOST:
            spans_s = network.lost_spans_s(lost)
            if any(from_s == 0 and to_s >= shortest_s for from_s, to_s in spans_s):
                problem = f"{lost} = 100 loses every packet of the {shortest_s:g} s of a trial{where}"
                remedy = "give less, or an earlier step of schedule that ends the outage"
                faults.add((*placed.path, lost), problem, remedy)


def _paths_fit_into_the_guest(
    networks: Sequence[PlacedNetwork], flows: Sequence[PlacedFlow], faults: Faults
) -> None:
    """A trace's rate is known only now, and so is the longest round trip of all flows."""
    own = max((placed for placed in flows if placed.flow.rtt_ms), key=_own_rtt_ms, default=None)
    for placed in networks:
        network, rate_mbps = placed.network, mean_rate_mbps(placed.network)
        wrong, path = network.path_problem(rate_mbps), placed.path
        if wrong is None and own is not None:
            wrong, path = network.path_problem(rate_mbps, [_own_rtt_ms(own)]), (*own.path, "rtt_ms")
        if wrong is not None:
            problem, _, remedy = wrong.partition(": ")
            faults.add(path, problem, remedy)


def _pies_interval_is_a_timers(networks: Sequence[PlacedNetwork], faults: Faults) -> None:
    """PIE keeps its interval in ticks of the kernel, HZ = 1000, rounded up (net/sched/sch_pie.c).

    Between them a grid would have one network under two names.
    """
    for placed in networks:
        interval_ms = placed.network.aqm_interval_ms
        if placed.network.queue in ("pie", "fq_pie") and interval_ms and interval_ms % 1:
            problem = f"the kernel rounds {placed.network.queue}'s interval up to whole milliseconds"
            faults.add((*placed.path, "aqm_interval_ms"), problem, f"give {math.ceil(interval_ms)}")


def _own_rtt_ms(placed: PlacedFlow) -> float:
    return placed.flow.rtt_ms or 0.0


def _profiles_keep_something(study: Study, faults: Faults) -> None:
    """Each pattern of a profile matches one thing at least."""
    pages = study.page_load.pages if study.page_load else ()
    named: dict[str, tuple[str, list[str]]] = {
        "networks": ("network", [network.name for network in study.networks]),
        "contestants": ("contestant", [contestant.name for contestant in study.contestants]),
        "lineups": ("line-up", [lineup.name for lineup in study.lineups]),
        "pages": ("page", [page.name for page in pages]),
    }
    for profile_name, profile in study.profiles.items():
        for key, (kind, names) in named.items():
            for index, pattern in enumerate(getattr(profile, key) or ()):
                if any(naming.matches(name, pattern) for name in names):
                    continue
                path = ("profile", profile_name, key, index)
                remedy = (
                    hints.for_name(pattern, names, f"the {kind}s are")
                    if names
                    else f"leave {key} out: there are none"
                )
                faults.add(path, f'no {kind} matches "{pattern}"', remedy)
