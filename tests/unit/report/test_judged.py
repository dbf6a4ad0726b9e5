"""The verdict on a contestant that results cannot judge, or only in part: it says why, and what helps."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from cambrian.judging import references
from cambrian.judging.families import Family
from cambrian.judging.sides import Side
from cambrian.measure.settled import Settled
from cambrian.measure.trial import TrialMeasures
from cambrian.metrics.parameters.estimate import Estimate
from cambrian.report import judged, machine_pairs, study_page
from cambrian.report.collect import Collected, Record
from cambrian.study.model import Contestant, Cpu, Flow, Network
from tests.unit.report.made import NETWORK, cell, collected, contestant, trial


@pytest.mark.parametrize(
    ("cca", "ending"),
    [
        ("bbr", " To judge it: cambrian run fingerprint --contestant tcp/bbr."),
        ("vegas", " No study can judge its parameters: Cambrian has no standard for vegas."),
    ],
)
def test_no_command_is_named_that_cannot_judge_either(cca: str, ending: str) -> None:
    one = Contestant(stack="tcp", cca=cca)
    results = collected("solo", [cell("solo", [one.name], [trial(1, [19.0])])], [one])
    results = replace(results, families={one.name: Family(cca, "tcp")})
    (found,) = judged.all_verdicts(results, behaviour={one.name: Side()})
    assert found.kinds == ("not judged",)
    assert found.text.endswith(ending)


def _record(seed: int, *reasons: str) -> Record:
    return Record(f"trial-{seed}", seed, not reasons, reasons, (), "")


_UNUSED = (
    "saturation: 3.9% of the bottleneck used after the warm-up, at least 80% expected; no packet was dropped"
)
_FAULTY = "base RTT: 52.0 ms measured, 50.0 ms configured"


@pytest.mark.parametrize(
    ("reasons", "why"),
    [
        (
            (_UNUSED, _UNUSED),
            "2 of 3 trials invalid; seed 1: saturation: 3.9% of the bottleneck used after the warm-up, at "
            "least 80% expected",
        ),
        (
            (_FAULTY, _UNUSED),
            f"2 of 3 trials invalid; seed 1: {_FAULTY}; seed 2: saturation: 3.9% of the bottleneck used "
            "after the warm-up, at least 80% expected",
        ),
    ],
)
def test_a_network_of_invalid_trials_alone_is_in_the_verdict(reasons: tuple[str, ...], why: str) -> None:
    """Whatever the reason is: nobody is accused of it, and nothing there is like the reference."""
    mine, reference = contestant("mine"), Contestant(stack="tcp", cca="cubic")
    names = (mine.name, reference.name)
    estimates = (Estimate("ack_every_packets", (2.0,) * 40, 0.1, "packets"),)
    shown = [replace(trial(seed, [19.0]), parameters=(estimates,)) for seed in (1, 2)]
    other = NETWORK.model_copy(update={"name": "other"})
    cells = [cell("solo", [name], shown, network) for name in names for network in (NETWORK, other)]
    cells[1] = replace(
        cells[1],
        trials=(),
        records=tuple(_record(seed, reason) for seed, reason in enumerate(reasons, 1)),
        missing=("trial-3",),
    )
    families = {name: Family("cubic", "tcp") for name in names}
    results = replace(collected("solo", cells, [mine, reference]), families=families)
    same = Side("equivalent")
    found, kernel = judged.all_verdicts(results, behaviour={mine.name: same, reference.name: same})
    (one,) = found.unjudged
    assert (one.network, one.why) == ("other", why)
    assert one.shows == {"parameters", "plausibility"}
    assert not found.sides.differ
    assert f"Not judged on other ({why})." in found.text
    assert not kernel.unjudged
    # where the reference has no valid trial either, no side is expected to show anything
    results = replace(results, cells=(*cells[:3], replace(cells[3], trials=())))
    (one,) = judged.all_verdicts(results, behaviour={mine.name: same})[0].unjudged
    assert not one.shows


def test_a_contestant_alone_with_two_round_trips_is_two_of_one_network() -> None:
    """The last line-up replaced the others, with the network's round trip."""
    trials = [
        [trial(seed, [mbps], rtts_ms=[rtt_ms]) for seed in (1, 2)] for mbps, rtt_ms in ((19, 50), (7, 400))
    ]
    found = judged.alone(collected("flows", [cell("flows", ["mine"], some) for some in trials]), "mine")
    assert {path: [(one.throughput_mbps, one.rtt_ms) for one in here] for path, here in found.items()} == {
        "link": [(19, 50.0)] * 2,
        "link with an RTT of 400 ms": [(7, 400.0)] * 2,
    }


_PLAIN = Contestant(stack="tcp", cca="cubic")


@pytest.mark.parametrize(
    "changed",
    [
        {"options": {"max_pacing_rate_bytes_per_s": 250_000}},
        {"tls": True},
        {"receiver_cpu": Cpu(per_packet_us=500)},
    ],
)
def test_kernel_tcp_with_other_settings_is_nobodys_reference(changed: dict[str, Any]) -> None:
    """It is called ``tcp cubic``, too, and CUBIC would be accused of filling a link that it leaves idle."""

    def results(kernel: Contestant) -> Collected:
        made = {"mine": (9.0, 9.1, 9.2), kernel.name: (2.0, 2.1, 2.2)}
        network = NETWORK.model_copy(update={"loss_percent": 1.0})
        cells = [
            cell("solo", [name], [trial(seed, [one]) for seed, one in enumerate(mbps, 1)], network)
            for name, mbps in made.items()
        ]
        families = dict.fromkeys(made, Family("cubic", "tcp"))
        return replace(collected("solo", cells, [contestant("mine"), kernel]), families=families)

    plain, other = results(_PLAIN), results(_PLAIN.model_copy(update=changed))
    assert plain.kernel("mine") == "tcp cubic"
    assert judged.plausible(plain, "mine", "cubic").state == "different"
    assert judged.implausible(plain, "mine", "cubic", "link")
    assert machine_pairs.reference_of(plain.cells[0], plain) is plain.cells[1]
    assert not other.kernel("mine")
    for name in ("mine", "tcp cubic"):
        side = judged.plausible(other, name, "cubic")
        assert side == Side("not measured", ("tcp cubic has other settings than the reference",))
        assert not judged.implausible(other, name, "cubic", "link")
    assert machine_pairs.reference_of(other.cells[0], other) is None


def test_a_later_bbr_is_compared_by_an_absolute_bound_alone() -> None:
    made = {"mine": (9.0, 9.5), "tcp bbr": (19.0, 19.1)}

    def settled(seed: int, mbps: float) -> TrialMeasures:
        after = Settled(20.0, 200.0, False, mbps, mbps / 20, 0.0, 3.0)
        return replace(trial(seed, [mbps]), settled=after)

    cells = [
        cell("solo", [name], [settled(seed, one) for seed, one in enumerate(mbps, 1)])
        for name, mbps in made.items()
    ]
    kernel = Contestant(stack="tcp", cca="bbr")
    families = dict.fromkeys(made, Family("bbr", "tcp"))
    results = replace(collected("solo", cells, [contestant("mine"), kernel]), families=families)
    found = judged.plausible(results, "mine", references.LATER_BBR)
    assert found.state == "different"
    assert [one.text for one in judged.implausible(results, "mine", references.LATER_BBR)] == [
        *found.findings
    ]
    fine = replace(results, cells=(replace(cells[1], names=("mine",)), cells[1]))
    assert judged.plausible(fine, "mine", references.LATER_BBR).state == "not measured"


def test_a_later_bbr_may_leave_a_link_unused_behind_a_small_buffer_or_an_aqm() -> None:
    for changed, roomy in (
        ({}, True),
        ({"buffer_bdp": 0.5}, False),
        ({"queue": "codel"}, False),
        ({"buffer_bdp": None, "buffer_packets": 83}, True),
    ):
        network = NETWORK.model_copy(update=changed)
        cells = [cell("solo", ["mine"], [trial(1, [9.0], network=network)], network)]
        found = judged.alone(collected("solo", cells), "mine")
        assert [one.roomy for here in found.values() for one in here] == [roomy], changed


def test_a_network_whose_difference_another_one_confirms_is_different_too() -> None:
    """The verdict named the queue behind 3 BDP, and the matrix's cell was inconclusive."""
    deep = NETWORK.model_copy(update={"name": "deep", "buffer_bdp": 3.0})
    mbps = {
        ("mine", "link"): 9.0,
        ("mine", "deep"): 8.0,
        ("tcp cubic", "link"): 19.0,
        ("tcp cubic", "deep"): 19.0,
    }
    networks = {"link": NETWORK, "deep": deep}

    def same(name: str, network: str) -> list[TrialMeasures]:
        each = mbps[name, network]
        after = Settled(20.0, 200.0, False, each, each / 20, 0.0, 3.0)
        return [replace(trial(seed, [each]), settled=after) for seed in (1, 2)]

    cells = [cell("solo", [name], same(name, here), networks[here]) for name, here in mbps]
    families = {name: Family("cubic", "tcp") for name, _ in mbps}
    results = replace(collected("solo", cells, [contestant("mine"), _PLAIN]), families=families)
    whole = judged.plausible(results, "mine", "cubic")
    assert whole.state == "different" and len(whole.findings) == 2
    for network in networks:
        (text,) = judged.plausible(results, "mine", "cubic", network).findings
        assert text in whole.findings
        assert judged.implausible(results, "mine", "cubic", network)


def test_the_page_counts_what_is_measured_and_what_is_settled() -> None:
    """ "5 parameters judged. Parameters: not measured." said both at once."""
    sides = dict.fromkeys(("parameters", "plausibility", "behaviour", "impact"), "not measured")
    empty = dict.fromkeys(("inconclusive", "refused", "evidence", "not_shown"), "")
    _, counts = study_page._why({"text": "", "measured": 5, "settled": 4} | sides | empty, "", {})
    assert counts.startswith(
        "5 parameters compared with a standard, 4 well enough to judge. "
        "Parameters: not measured (none of those that define the algorithm)."
    )
    # what invalid trials of other networks would show is not known
    row = {"text": "", "measured": 0, "settled": 0} | sides | empty | {"not_shown": "β: no loss"}
    *_, said = study_page._why(row | {"not_judged": "ecn (2 of 2 trials invalid)"}, "", {})
    assert said == "The valid traces do not show: β: no loss."
    *_, said = study_page._why(row | {"not_judged": ""}, "", {})
    assert said == "These traces do not show: β: no loss."
    # the values of a contestant that is limited are measured, and not judged
    _, counts = study_page._why({"text": "", "measured": 0, "settled": 0} | sides | empty, "", {})
    assert counts.startswith("0 parameters compared with a standard. Parameters: not measured. ")


def test_the_page_links_networks_whose_names_have_a_semicolon() -> None:
    """The report of a contestant that is off on "DSL; at home" ended with a KeyError: 'DSL'."""
    row = dict.fromkeys(("text", "inconclusive", "refused", "not_shown", "parameters"), "") | {
        "plausibility": "", "behaviour": "", "impact": "", "measured": 1, "settled": 1,
        "evidence": "β", "networks": "DSL; at home; lab",
    }  # fmt: skip
    anchors = {"DSL": "network-1", "DSL; at home": "network-2", "lab": "network-3"}
    *_, said = study_page._why(row, "", anchors)
    assert said == ('β. Trials: <a href="#network-2">DSL; at home</a>, <a href="#network-3">lab</a>.')


def test_one_trial_of_two_flows_accuses_nobody() -> None:
    """It was "2 events in 2 differing trials"."""
    mine, rival = contestant("mine"), contestant("rival")
    windows = tuple((Estimate("initial_window_packets", (size,), 0.1, "window"),) for size in (40, 41, 10))
    trials = [replace(trial(seed, [6.0, 6.0, 6.0]), parameters=windows) for seed in (1, 2)]
    flows = [Flow(contestant=who) for who in (mine, mine, rival)]
    names = [flow.contestant.name for flow in flows]

    def results(count: int) -> Collected:
        made = collected("flows", [cell("flows", names, trials[:count])], [], flows)
        return replace(made, families=dict.fromkeys(names, Family("cubic", "tcp")))

    found = judged.by_network(results(1))
    assert {name: (here.trials, here.ran) for (name, _), here in found.items()} == {
        "mine": (1, 1),
        "rival": (1, 1),
    }
    assert not any(one.sides.differ for one in judged.all_verdicts(results(1)))
    assert judged.by_network(results(2))["mine", "link"].ran == 2


def test_an_unused_link_is_no_reason_beside_a_server_that_failed() -> None:
    """The text of a verdict gave both, as if the sender also left the link unused."""
    dead, unused = "endpoint: flow 0 (x) ended with status 1", "saturation: 3.9% of the bottleneck used"
    both = Record("a", 1, valid=False, reasons=(dead, unused), notes=(), packets_sha256="")
    assert judged._reasons([both]) == f"seed 1: {dead}"
    alone = replace(both, seed=2, reasons=(unused,))
    assert judged._reasons([both, alone]) == f"seed 1: {dead}; seed 2: {unused}"


@pytest.mark.parametrize(
    ("changed", "rtt_ms", "unsteady"),
    [
        ({}, 50, False),
        ({"jitter_ms": 5}, 50, True),
        ({"queue": "red"}, 50, True),
        # three packets: one more in a sender's least window overflows the queue
        ({"rate_mbps": 1}, 40, True),
        # a flow's own round trip
        ({}, 1, True),
        ({"rate_mbps": None, "trace_file": "link.trace"}, 50, True),
    ],
)
def test_where_correct_senders_may_differ(changed: dict[str, Any], rtt_ms: float, *, unsteady: bool) -> None:
    network = Network.model_validate({"rate_mbps": 20, "rtt_ms": 50, "buffer_packets": 20} | changed)
    assert judged._is_unsteady(network, rtt_ms) == unsteady
