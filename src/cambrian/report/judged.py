"""Each contestant's parameters on each network, and its verdict over all of them."""

from __future__ import annotations

import itertools
import textwrap
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from cambrian.judging import contestants, plausibility, references, verdicts
from cambrian.judging.contestants import Judged
from cambrian.judging.flow_traces import is_steady, loses
from cambrian.judging.plausibility import Alone, Compared
from cambrian.judging.sides import Side
from cambrian.judging.verdicts import Unjudged, Verdict
from cambrian.measure.settled import full_rtt_ms
from cambrian.measure.trial import TrialMeasures
from cambrian.metrics.parameters.bbr import FEWEST_PACKETS
from cambrian.metrics.parameters.estimate import Estimate, Missing
from cambrian.probes import table
from cambrian.probes.figures import Figure
from cambrian.probes.judge import repeats
from cambrian.report import limits, placebo
from cambrian.report.collect import Cell, Collected, Record, everybody
from cambrian.study.limits import bdp_bytes
from cambrian.study.model import FRAME_BYTES, Contestant, Network
from cambrian.study.reference import reference_contestant

Trials = list[Sequence[Estimate | Missing]]
#: the study that judges any contestant
_JUDGES = "fingerprint"
#: most characters of an invalid trial's reason in a verdict
_REASON_WIDTH = 160


def by_network(collected: Collected) -> dict[tuple[str, str], Judged]:
    """(contestant, network) → its judged parameters; contestants without a family are absent.

    Findings are reconciled over networks. Where the reference fails its own test, no contestant is judged.
    """
    trials: dict[tuple[str, str], Trials] = {}
    lone: dict[tuple[str, str], list[bool]] = {}
    paths = {cell.network.name: cell.network.path for cell in collected.cells}
    for cell in collected.cells:
        for name, trial in itertools.product(_tested(cell), cell.trials):
            numbers = (number for number in _subjects(cell) if cell.names[number] == name)
            flows = [mine for number in numbers for mine in trial.parameters[number : number + 1] if mine]
            if flows:
                place = (name, cell.network.name)
                trials.setdefault(place, []).append(contestants.of_flows(flows))
                lone.setdefault(place, []).append(len(cell.names) == 1 and repeats(cell.network))
    first = {
        place: contestants.judge(
            place[1], reference(collected, place[0]), found, paths[place[1]], lone[place]
        )
        for place, found in trials.items()
    }
    families = {name: family(first, name) for name, _ in first}
    # one network may not show the generation of BBR: then the other networks decide
    same = {
        place: one
        if one.family == families[place[0]]
        else contestants.judge(place[1], families[place[0]], trials[place], one.path, lone[place])
        for place, one in first.items()
    }
    titles = {place: collected.kernel(place[0]) for place in same}
    same = {
        place: contestants.beside(one, same.get((titles[place], place[1]))) for place, one in same.items()
    }
    # before networks settle each other: a network that judges nobody confirms nothing on another one, and
    # the reference's own test is of each network by itself
    same = {
        place: contestants.refuse(one, why) if (why := _refusal(collected, same, place)) else one
        for place, one in same.items()
    }
    same = {place: _without_limited(collected, place, one) for place, one in same.items()}
    settled: dict[tuple[str, str], Judged] = {}
    for name in families:
        here = {network: one for (contestant, network), one in same.items() if contestant == name}
        settled |= {(name, network): one for network, one in contestants.combined(here).items()}
    return {place: settled[place] for place in same}


def _without_limited(collected: Collected, place: tuple[str, str], judged: Judged) -> Judged:
    """The same, without what something other than the contestant's controller may cause there."""
    if why := limits.limited(collected, *place):
        return contestants.refuse(judged, f"{place[1]} does not judge it: {why}")
    # credit that a hole blocks looks like a reduction that the log does not have
    return replace(judged, contradictions=()) if limits.withheld(collected, *place) else judged


def _refusal(collected: Collected, judged: Mapping[tuple[str, str], Judged], place: tuple[str, str]) -> str:
    """Why a network judges no contestant of a family: the kernel's controller or its placebo fails there."""
    title = collected.kernel(place[0])
    for name in (title, placebo.names(collected).get((place[1], title))):
        own = judged.get((name, place[1])) if name else None
        for accusation in contestants.failures(own) if own is not None else ():
            return (
                f"no contestant is judged on {place[1]}, because the reference {name} fails its own test "
                f"there: {accusation}"
            )
    return ""


def family(judged: Mapping[tuple[str, str], Judged], contestant: str) -> str:
    """The algorithm that a contestant is judged as, over its networks; empty if it is not judged."""
    return contestants.family([one for (name, _), one in judged.items() if name == contestant])


def _subjects(cell: Cell) -> Iterator[int]:
    """The flows under test: all of design ``flows`` and of a pair of two contestants, else flow 0.

    The two positions of a pair are equal, so the order of the study's list decides nothing.
    """
    is_pair = cell.design == "pairwise" and len({*cell.names}) == len(cell.names)
    return iter(range(len(cell.names)) if cell.design == "flows" or is_pair else range(1))


def reference(collected: Collected, contestant: str) -> str:
    """The kernel CCA that a contestant is judged against; empty if there is none."""
    family = collected.families.get(contestant)
    return family.reference if family else ""


def alone(collected: Collected, contestant: str, only: str | None = None) -> dict[str, list[Alone]]:
    """Path → a contestant's trials alone there: the network's name, and its own round trip if it has one.

    ``only``: the one network that counts; None for all.
    """
    trials: dict[str, list[Alone]] = {}
    for cell in _cells_alone(collected, contestant):
        network = cell.network
        if only not in (None, network.name):
            continue
        limit = limits.withheld(collected, contestant, network.name)
        for trial in cell.trials:
            flow = trial.trial.flows[0]
            if flow.size_bytes:
                continue
            rtt_ms = flow.base_rtt_ms(network)
            own = "" if rtt_ms == network.rtt_ms else f" with an RTT of {rtt_ms:g} ms"
            unsteady = _is_unsteady(network, rtt_ms)
            one = _alone(trial, lossy=loses(network), unsteady=unsteady, limit=limit)
            trials.setdefault(network.name + own, []).append(one)
    return trials


def _cells_alone(collected: Collected, contestant: str) -> list[Cell]:
    """The groups of a contestant's endless flow alone, outside the networks that only probes use."""
    cells = collected.alone(contestant)
    return [cell for cell in cells if not table.is_for_probes_alone(cell.network.name)]


def _is_unsteady(network: Network, rtt_ms: float) -> bool:
    """Does the path change, vary its delay, reorder or duplicate packets? Correct senders differ there.

    Also behind RED: its average does not fall while its queue is empty (docs/explanation/limits.md), so it
    may drop all packets of a flow that has timeouts. And on a path of hardly any packets: one more in a
    sender's least window decides whether its queue overflows.
    """
    rate_mbps = network.rate_mbps
    few = rate_mbps is not None and bdp_bytes(rate_mbps, rtt_ms) < FEWEST_PACKETS * FRAME_BYTES
    return few or not is_steady(network) or network.queue == "red"


def _alone(trial: TrialMeasures, *, lossy: bool, unsteady: bool, limit: str) -> Alone:
    """On a steady path without random loss after the end of slow start, else over the measured interval."""
    network, flow, after = trial.trial.network, trial.trial.flows[0], trial.settled
    whole = trial.flows[0]["throughput_mbps"]
    mbps = whole if after is None or lossy or unsteady else after.throughput_mbps
    rtt_ms, longest_ms = flow.base_rtt_ms(network), full_rtt_ms(network, flow)
    return Alone(
        rtt_ms=rtt_ms,
        rate_mbps=network.rate_mbps,
        throughput_mbps=mbps,
        utilisation=after.utilisation if after else None,
        loss_percent=after.loss_percent if after else None,
        delay_ms=after.delay_ms if after else None,
        lossy=lossy,
        unsteady=unsteady,
        limit=limit,
        # the buffer is a whole number of packets, or of bytes
        roomy=network.queue == "droptail" and longest_ms > 1.95 * rtt_ms,
        full_rtt_ms=longest_ms,
        twice_percent=_twice_percent(trial),
        round_trips=after.round_trips if after else 0.0,
        grows=after is not None and after.grows,
        packets=mbps * after.seconds * 1e6 / (8 * FRAME_BYTES) if after else 0.0,
        # lost acknowledgements make a sender silent, too
        silences_s=after.silences_s if after and not network.return_loss_percent else (),
    )


def _twice_percent(trial: TrialMeasures) -> float | None:
    """The least share of bytes that flow 0's receiver already had; None if unknown.

    Where acknowledgements are lost, data must be sent again without need.
    """
    recovery = trial.recoveries[0] if trial.recoveries else None
    if recovery is None or recovery.redundancy is None or trial.trial.network.return_loss_percent:
        return None
    return recovery.redundancy.percent(recovery.redundancy.low_bytes)


def all_verdicts(
    collected: Collected,
    behaviour: Mapping[str, Side] | None = None,
    impact: Mapping[str, Side] | None = None,
) -> list[Verdict]:
    """The verdict on each contestant, in the study's order; those without a valid trial are last.

    ``behaviour``, ``impact``: contestant → side.
    """
    judged = by_network(collected)
    judgements = []
    for name in dict.fromkeys((*(contestant for contestant, _ in judged), *(behaviour or {}))):
        judged_as = family(judged, name) or reference(collected, name)
        found = verdicts.verdict(
            name,
            judged_as,
            [one for (contestant, _), one in judged.items() if contestant == name],
            plausibility=plausible(collected, name, judged_as),
            behaviour=(behaviour or {}).get(name),
            impact=(impact or {}).get(name),
            unjudged=_unjudged(collected, name),
        )
        if "not judged" in found.kinds:
            found = replace(found, text=found.text + _remedy(collected, name, judged_as))
        judgements.append(found)
    # page loads have no verdict
    here = {name for cell in collected.cells if not cell.page for name in cell.names}
    for name, counts in without_trials(collected).items():
        if name in here & collected.families.keys():
            unjudged = _unjudged(collected, name)
            found = verdicts.verdict(name, reference(collected, name), [], unjudged=unjudged)
            text = f"No valid trial: {counts}.{verdicts.not_judged(unjudged)}"
            judgements.append(replace(found, text=text))
    return judgements


def _unjudged(collected: Collected, name: str) -> list[Unjudged]:
    """The networks on which all trials of a contestant under test are invalid.

    Groups that load a page count only where kernel TCP's loads have probes.
    """
    title = collected.kernel(name)
    found = []
    for network in collected.networks:
        here = collected.on(network)
        for page in dict.fromkeys(cell.page for cell in here):
            mine, its = (
                [cell for cell in here if cell.page == page and who in _tested(cell)] for who in (name, title)
            )
            records = [record for cell in mine for record in cell.records]
            shows = frozenset(side for cell in its for side in _shown(cell, title, mine))
            if records and not any(cell.trials for cell in mine) and (page is None or "behaviour" in shows):
                count = len(records) + sum(len(cell.missing) for cell in mine)
                why = f"{len(records)} of {count} trial{'s' * (count > 1)} invalid; {_reasons(records)}"
                found.append(Unjudged(network.name, why, shows))
    return found


def _tested(cell: Cell) -> dict[str, None]:
    """The contestants under test of a group, each once."""
    return {cell.names[number]: None for number in _subjects(cell)}


def _shown(cell: Cell, title: str, mine: Sequence[Cell]) -> Iterator[str]:
    """The sides that a contestant's groups would show beside this group of the reference's valid trials."""
    if not cell.trials:
        return
    number = cell.names.index(title)
    readings = (one for trial in cell.trials for one in trial.parameters[number : number + 1])
    if any(isinstance(one, Estimate) for reading in readings for one in reading):
        yield "parameters"
    both_alone = len(cell.names) == 1 and any(len(one.names) == 1 for one in mine)
    if both_alone and not cell.page and not table.is_for_probes_alone(cell.network.name):
        yield "plausibility"
    probed = (one for trial in cell.trials for one in trial.probes.values())
    if cell.design == "versus-reference" or any(isinstance(one, Figure) for one in probed):
        yield "behaviour"
    if cell.design == "versus-reference":
        yield "impact"


def _reasons(records: Sequence[Record]) -> str:
    """One reason of each gate that failed, in few words: ``seed 1: saturation: 3.9% of …``."""
    by_gate: dict[str, str] = {}
    for record in records:
        for reason in record.causes:
            short = textwrap.shorten(reason.partition("; ")[0], _REASON_WIDTH, placeholder=" …")
            by_gate.setdefault(reason.partition(":")[0], f"seed {record.seed}: {short}")
    return "; ".join(by_gate.values())


def without_trials(collected: Collected) -> dict[str, str]:
    """Contestant under test without a valid trial → its trials in words: ``2 invalid, 4 not run``."""
    cells: dict[str, list[Cell]] = defaultdict(list)
    for cell in collected.cells:
        for name in _tested(cell):
            cells[name].append(cell)
    return {name: _no_valid(mine) for name, mine in cells.items() if not any(one.trials for one in mine)}


def _no_valid(cells: Sequence[Cell]) -> str:
    invalid = {record.id for cell in cells for record in cell.records}
    missing = {name for cell in cells for name in cell.missing}
    counts = ((len(invalid), "invalid"), (len(missing), "not run"))
    return ", ".join(f"{count:,} {what}" for count, what in counts if count)


def _remedy(collected: Collected, name: str, judged_as: str) -> str:
    """How to judge a contestant that these results cannot; empty if it has own settings or is limited."""
    if judged_as not in references.families():
        return f" No study can judge its parameters: Cambrian has no standard for {judged_as}."
    study = collected.study
    networks = [one.name for one in collected.networks if not table.is_for_probes_alone(one.name)]
    if networks and all(limits.limited(collected, name, network) for network in networks):
        return ""
    everyone = list(everybody(study))
    if study.name == _JUDGES or not any(one.name == name and one == _plain(one) for one in everyone):
        return ""
    one = next(one for one in everyone if one.name == name)
    return f" To judge it: cambrian run {_JUDGES} --contestant {one.stack}/{one.cca}."


def _plain(one: Contestant) -> Contestant:
    return Contestant(stack=one.stack, cca=one.cca)


def plausible(collected: Collected, contestant: str, family: str, network: str | None = None) -> Side:
    """A contestant's results alone, compared with the kernel's: on all networks, or on one."""
    title = collected.kernel(contestant)
    if found := implausible(collected, contestant, family, network):
        return Side("different", tuple(one.text for one in found))
    if why := _not_compared(collected, contestant, family):
        return Side("not measured", (why,))
    if not _cells_alone(collected, contestant):
        on_probes = ("alone only on the networks of probes",) if collected.alone(contestant) else ()
        return Side("not measured", on_probes)
    return plausibility.side(alone(collected, contestant, network), alone(collected, title), title)


def implausible(
    collected: Collected, contestant: str, family: str, network: str | None = None
) -> list[Compared]:
    """What makes :func:`plausible` different: on all networks, or on one, which others may confirm."""
    title, is_later = collected.kernel(contestant), family == references.LATER_BBR
    if not title or (_not_compared(collected, contestant, family) and not is_later):
        return []
    differing = plausibility.underused if is_later else plausibility.proven
    found = differing(alone(collected, contestant), alone(collected, title), title)
    return [one for one in found if network is None or one.network in alone(collected, contestant, network)]


def _not_compared(collected: Collected, contestant: str, family: str) -> str:
    """Why a contestant's results alone are not compared with the kernel's; empty if they are."""
    if family == references.LATER_BBR:
        return "the kernel has no BBR of that generation"
    if not (cca := reference(collected, contestant)):
        return "it has no reference"
    if contestant == (title := collected.kernel(contestant)):
        return "it is the reference"
    if not title:
        return f"{reference_contestant(cca).name} has other settings than the reference"
    return ""
