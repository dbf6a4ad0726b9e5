"""What the page says about its figures."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import polars as pl
import pytest

from cambrian.judging.families import Family
from cambrian.metrics.columns import PACKETS
from cambrian.metrics.pageload import PageLoad
from cambrian.metrics.recovery import FlowRecovery, Tail, episodes
from cambrian.report import matrix, tables, words
from cambrian.report.collect import Cell, Collected, collect
from cambrian.report.tables import flows, page_changes, page_loads, pairwise, recovery
from cambrian.stats import states
from cambrian.store.results import Results
from cambrian.study.model import Contestant, Flow, Network, Page, PageObjects
from cambrian.trace.schema import TRANSPORT
from tests.unit import report_results
from tests.unit.report import made

SECOND = 1_000_000_000


def measured_from(from_s: float | None, *begins_s: int) -> Collected:
    """A study of solo flows, with a trial for each beginning of what was measured of it."""
    trials = [replace(made.trial(seed, [9.0]), t0_ns=at * SECOND) for seed, at in enumerate(begins_s, 1)]
    found = made.collected("solo", [made.cell("solo", ["one"], trials)])
    return replace(found, study=found.study.model_copy(update={"measured_from_s": from_s}))


@pytest.mark.parametrize(("ran", "said"), [((True, False), "1 of 2 networks"), ((True, True), "2 networks")])
def test_a_part_of_the_networks_is_called_so(ran: tuple[bool, ...], said: str) -> None:
    cells = []
    for number, has_run in enumerate(ran):
        network = made.NETWORK.model_copy(update={"name": str(number)})
        trial = made.trial(number, [9.0])
        records = (SimpleNamespace(id=trial.id, valid=True),) if has_run else ()
        one = made.cell("solo", ["one"], [trial] if has_run else [], network)
        cells.append(replace(one, records=cast("Any", records)))
    text = words.what_ran(made.collected("solo", cells))
    assert text.startswith(f"{sum(ran)} trial") and f" on {said}: {sum(ran)} valid" in text


@pytest.mark.parametrize(
    ("from_s", "begins_s", "text"),
    [
        (
            None,
            (1, 2),
            "from the moment when every endless flow has run for 20 of its base round trips until the "
            "trial’s end",
        ),
        (30, (30, 30), "from 30 s after the trial’s start until its end"),
        (0, (0, 0), "from 0 s after the trial’s start until its end"),
        (
            30,
            (30, 0),
            "from 30 s after the trial’s start until its end; 1 trial that "
            "ended before that moment is measured completely",
        ),
    ],
)
def test_the_measured_interval_is_the_studys(
    from_s: float | None, begins_s: tuple[int, ...], text: str
) -> None:
    assert words.measured_interval(measured_from(from_s, *begins_s)) == text


def sized(number: int, found: Collected) -> Collected:
    """The same study, its first trials with a flow of 1 MB instead of an endless one."""
    (cell,) = found.cells
    trials = [
        replace(one, t0_ns=0, trial=one.trial.model_copy(
            update={"flows": (one.trial.flows[0].model_copy(update={"size_bytes": 1_000_000}),)}
        )) if place < number else one
        for place, one in enumerate(cell.trials)
    ]  # fmt: skip
    return replace(found, cells=(replace(cell, trials=tuple(trials)),))


def test_without_an_endless_flow_there_is_no_such_moment() -> None:
    """Even if a trial's first client starts at its zero, it is not called too short."""
    own = "from its first client’s start until its last flow’s end"
    assert words.measured_interval(sized(2, measured_from(None, 1, 1))) == f"in each trial {own}"
    assert words.measured_interval(sized(2, measured_from(30, 1, 1))) == f"in each trial {own}"
    assert words.measured_interval(sized(1, measured_from(30, 30, 30))) == (
        f"from 30 s after the trial’s start until its end; a trial without an endless flow is measured {own}"
    )


@pytest.mark.parametrize(
    ("from_s", "text"), [(None, "20 of its base round trips"), (2.5, "from 2.5 s after the trial’s start")]
)
def test_the_page_names_it(tmp_path: Path, from_s: float | None, text: str) -> None:
    def change(data: dict[str, Any]) -> None:
        report_results.one_group(data)
        data["study"]["measured_from_s"] = from_s

    made_page = report_results.report(report_results.copy(tmp_path, change), tmp_path / "page").read_text()
    others = {"20 of its base round trips", "from 2.5 s after the trial’s start"} - {text}
    assert text in made_page
    assert not [other for other in others if other in made_page]


OTHER = Network(name="other", rate_mbps=20, rtt_ms=50, buffer_bdp=4)


def together(*cells: Cell) -> str:
    """The answer of a ``flows`` study with these groups."""
    found = made.collected("flows", cells)
    return words.answer(found, {"flows": flows.table(found)})


def group(names: list[str], mbps: list[float], network: Network = made.NETWORK) -> Cell:
    return made.cell("flows", names, [made.trial(seed, mbps, network=network) for seed in (1, 2)], network)


def test_flows_together_answer_with_what_each_has() -> None:
    assert together(group(["a", "b"], [15.0, 5.0])) == (
        "Mean throughput: a 15.0 Mbps (75 %) and b 5.0 Mbps (25 %)."
    )
    assert together(group(["a", "b"], [15.0, 5.0]), group(["a", "b"], [18.0, 2.0], OTHER)) == (
        "Mean throughput: link: a 15.0 Mbps (75 %) and b 5.0 Mbps (25 %); "
        "other: a 18.0 Mbps (90 %) and b 2.0 Mbps (10 %)."
    )
    alone = replace(group(["a"], [20.0]), lineup="one")
    both = replace(group(["a", "b"], [15.0, 5.0]), lineup="two")
    assert together(alone, both) == (
        "Mean throughput: one: a 20.0 Mbps; two: a 15.0 Mbps (75 %) and b 5.0 Mbps (25 %)."
    )


def test_equal_flows_are_one_entry_with_their_mean() -> None:
    """Each order of the flows runs, so only the mean of equal flows is balanced."""
    assert together(group(["a", "b", "b", "b"], [8.0, 3.0, 4.0, 5.0])) == (
        "Mean throughput: a 8.0 Mbps (40 %) and 3 flows of b, each 4.0 Mbps (20 %)."
    )


def ended(names: list[str], took_s: list[float | None], rates: list[float], **settings: object) -> Cell:
    """A trial for each time; the last flow carries a megabyte."""
    trials = []
    for seed, taken_s in enumerate(took_s, 1):
        one = made.trial(seed, rates)
        last = one.trial.flows[-1].model_copy(update={"size_bytes": 10**6, **settings})
        spec = one.trial.model_copy(update={"flows": (*one.trial.flows[:-1], last)})
        measured = [replace(flow, figures={**flow.figures, "share_percent": None}) for flow in one.flows]
        if taken_s is not None:
            measured[-1] = replace(measured[-1], figures={**measured[-1].figures, "fetch_s": taken_s})
        trials.append(replace(one, trial=spec, flows=tuple(measured)))
    return made.cell("flows", names, trials)


def test_a_flow_of_fixed_size_answers_with_its_time() -> None:
    assert together(ended(["bulk", "short"], [1.0, 2.0], [15.0, 5.0])) == (
        "Means: bulk 15.0 Mbps and short is complete, 1.50 s after its start."
    )


def test_the_answer_is_the_time_that_a_user_waits() -> None:
    """Not the shorter one from its first packet on; the table beside it names both."""
    cell = ended(["bulk", "short"], [1.0, 2.0], [15.0, 5.0])
    trials = [
        replace(trial, flows=(trial.flows[0], replace(last, figures={**last.figures, "completion_s": 0.8})))
        for trial in cell.trials
        if (last := trial.flows[1])
    ]
    found = made.collected("flows", [replace(cell, trials=tuple(trials))])
    frame = flows.table(found)
    assert words.answer(found, {"flows": frame}).endswith("short is complete, 1.50 s after its start.")
    shown = tables.shown("flows", frame, found)
    short = dict(zip(shown.headings, shown.rows[1], strict=True))
    assert short["Client’s start until it had all, s"] == "1.50"
    assert short["First to last packet at the bottleneck, s"] == "0.80"


def test_a_flow_that_is_not_always_complete_has_no_mean_time() -> None:
    """The transfers that were complete are the fastest."""
    assert together(ended(["bulk", "short"], [1.0, None, None, None], [15.0, 5.0])) == (
        "Means: bulk 15.0 Mbps and short is complete in 1 of 4 cases. Not complete at the trial’s end: 3 of "
        "4 transfers of short on link. So these have no mean time: give a longer duration_s."
    )
    assert together(ended(["bulk", "short"], [None, None], [15.0, 5.0])).startswith(
        "Means: bulk 15.0 Mbps and short never is complete. Not complete at the trial’s end: 2 of 2 transfers"
    )
    # of equal flows, one that was not always complete leaves no mean of both
    one = ended(["bulk", "short"], [1.0, 2.0], [15.0, 5.0])
    both = [replace(trial, flows=(trial.flows[1],) * 2) for trial in one.trials]
    none = replace(both[0].flows[0], figures={**both[0].flows[0].figures, "fetch_s": None})
    both[0] = replace(both[0], flows=(both[0].flows[0], none))
    both = [
        replace(trial, trial=trial.trial.model_copy(update={"flows": (trial.trial.flows[1],) * 2}))
        for trial in both
    ]
    assert together(replace(one, names=("short", "short"), trials=tuple(both))).startswith(
        "Means: 2 flows of short, each is complete in 3 of 4 cases. "
    )
    # no seed is whole, so there is no mean
    half = replace(ended(["bulk", "short"], [1.0], [15.0, 5.0]), orders=2)
    assert together(half) == "Means: short is complete."


def test_a_transfer_of_another_size_than_requested_was_complete() -> None:
    """A foreign server answers with bodies of its own size: such a transfer has no time."""
    cell = ended(["bulk", "short"], [None], [15.0, 5.0])
    (one,) = cell.trials
    last = replace(one.flows[1], figures={**one.flows[1].figures, "outcome": "finished"})
    cell = replace(cell, trials=(replace(one, flows=(one.flows[0], last)),))
    assert together(cell) == "Means: bulk 15.0 Mbps and short is complete."


def test_a_transfer_that_gave_up_needs_no_longer_trial() -> None:
    cell = ended(["bulk", "short"], [1.0, None, None], [15.0, 5.0])
    trials = [
        replace(trial, flows=(trial.flows[0], replace(last, figures={**last.figures, "outcome": outcome})))
        for trial, outcome in zip(cell.trials, ("finished", "gave up", "gave up"), strict=True)
        if (last := trial.flows[1])
    ]
    assert together(replace(cell, trials=tuple(trials))).endswith(
        "Not complete, and some ended early: 2 of 3 transfers of short on link. So these have no mean time."
    )


def test_both_tables_and_the_answer_agree_on_a_transfer_that_was_not_complete() -> None:
    """Its other transfers are the fastest, so no mean of them is given."""
    cell = ended(["short"], [1.0, 3.0, None], [5.0])
    tail = Tail(1000.0, 500.0, 20.0, timer_driven=True, after_last_drop_ms=None)
    nothing_lost = episodes(
        pl.DataFrame(schema=PACKETS), pl.DataFrame(schema=TRANSPORT), forward_ns=1, back_ns=1
    )
    found = FlowRecovery(nothing_lost, None, None, None, tail)
    trials = [
        replace(trial, recoveries=(found if trial.flows[0]["fetch_s"] else replace(found, tail=None),))
        for trial in cell.trials
    ]
    collected = made.collected("flows", [replace(cell, trials=tuple(trials))])
    collected = replace(collected, study=collected.study.model_copy(update={"flows": trials[0].trial.flows}))
    flow, recovered = flows.table(collected), recovery.table(collected)
    assert recovered is not None
    assert flow.select("trials", "not_complete", "fetch_s", "completion_s").row(0) == (3, 1, None, None)
    names = ("trials", "not_complete", "tail_completion_ms", "tail_longest_gap_ms", "tail_timer_driven")
    assert recovered.select(names).row(0) == (3, 1, None, None, 2)
    shown = tables.shown("flows", flow, collected)
    row = dict(zip(shown.headings, shown.rows[0], strict=True))
    assert (row["Not complete, trials"], row["Client’s start until it had all, s"]) == ("1", "–")
    assert words.answer(collected, {"flows": flow}) == (
        "Means: short is complete in 2 of 3 cases. Not complete at the trial’s end: 1 of 3 transfers of "
        "short on link. So these have no mean time: give a longer duration_s."
    )
    # where all were complete there is no such column
    whole = made.collected("flows", [replace(cell, trials=tuple(trials[:2]))])
    assert "Not complete, trials" not in tables.shown("flows", flows.table(whole), whole).headings


def test_a_group_without_a_complete_seed_is_left_out() -> None:
    half = replace(group(["a", "b"], [15.0, 5.0], OTHER), orders=4)
    assert together(half) == ""
    assert together(group(["a", "b"], [15.0, 5.0]), half) == (
        "Mean throughput: link: a 15.0 Mbps (75 %) and b 5.0 Mbps (25 %)."
    )


def test_flows_of_one_name_with_other_settings_are_not_averaged() -> None:
    """What such a study is about: two round trips, a late comer, a short flow beside a long one."""
    trips = made.cell("flows", ["a", "a"], [made.trial(1, [15.0, 5.0], rtts_ms=[20.0, 80.0])])
    assert together(trips) == (
        "Mean throughput: a (RTT 20 ms) 15.0 Mbps (75 %) and a (RTT 80 ms) 5.0 Mbps (25 %)."
    )
    flows_of_study = [
        Flow(contestant=made.contestant("a")),
        Flow(contestant=made.contestant("a"), start_ms=10_000),
    ]
    found = made.collected("flows", [group(["a", "a"], [18.0, 2.0])], flows=flows_of_study)
    assert words.answer(found, {"flows": flows.table(found)}) == (
        "Mean throughput: a (from 0 s on) 18.0 Mbps (90 %) and a (from 10 s on) 2.0 Mbps (10 %)."
    )
    assert together(ended(["a", "a"], [1.0, 2.0], [15.0, 5.0])) == (
        "Means: a (endless) 15.0 Mbps and a (1,000,000 bytes) is complete, 1.50 s after its start."
    )


def test_many_flows_are_answered_with_ranges_of_equal_flows_and_of_times() -> None:
    cells = [
        replace(
            ended(["a", "b", "b", "short"], [float(number)], [9.0 - number, 3.0, 5.0, 1.0]),
            lineup=f"line-up {number}",
            key=f"{number}",
        )
        for number in (1, 2, 3)
    ]
    assert together(*cells) == (
        "Mean throughput of endless flows ranged from 4.0 Mbps (b, line-up 1) to 8.0 Mbps (a, line-up 1). "
        "Mean times of transfers and page loads ranged from 1.00 s (short, line-up 1) to 3.00 s "
        "(short, line-up 3)."
    )


def test_one_time_is_no_range() -> None:
    endless = [replace(group(["a", "b"], [6.0, 4.0]), lineup=f"{name}", key=f"{name}") for name in "xyz"]
    timed = replace(ended(["a", "short"], [2.0], [9.0, 1.0]), lineup="t", key="t")
    assert together(*endless, timed) == (
        "Mean throughput of endless flows ranged from 4.0 Mbps (b, x) to 9.0 Mbps (a, t). "
        "Mean times of transfers and page loads: 2.00 s (short, t)."
    )


def test_a_contestant_that_differs_comes_after_the_shares() -> None:
    found = made.collected("flows", [group(["a", "b"], [15.0, 5.0])])
    verdicts = pl.DataFrame(
        [
            {"contestant": "a", "differs": True, "verdict": "different"},
            {"contestant": "b", "differs": False, "verdict": "inconclusive"},
        ]
    )
    assert words.answer(found, {"flows": flows.table(found), "verdicts": verdicts}) == (
        "Mean throughput: a 15.0 Mbps (75 %) and b 5.0 Mbps (25 %). "
        "1 of 2 contestants clearly differs from kernel TCP or the standard (a); 1 inconclusive."
    )
    assert "differs" not in words.answer(
        found, {"flows": flows.table(found), "verdicts": verdicts.with_columns(differs=False)}
    )


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        (
            [("tcp reno", "conformant"), ("quinn reno", "conformant"), ("quiche reno", "inconclusive")],
            "None of 2 contestants clearly differs from kernel TCP or the standard; "
            "1 conformant and 1 inconclusive.",
        ),
        # it shows that the study can settle something, though it is not counted
        (
            [("tcp reno", "conformant"), ("quinn reno", "inconclusive")],
            "quinn reno does not clearly differ from kernel TCP or the standard: inconclusive.",
        ),
        # a study of the kernel alone judges the kernel, and one that differs is named
        (
            [("tcp reno", "conformant"), ("tcp cubic", "inconclusive")],
            "None of 2 contestants clearly differs from kernel TCP or the standard; "
            "1 conformant and 1 inconclusive.",
        ),
        # nor is one left out that is nobody's reference
        (
            [("tcp bbr", "conformant"), ("quinn reno", "inconclusive")],
            "None of 2 contestants clearly differs from kernel TCP or the standard; "
            "1 conformant and 1 inconclusive.",
        ),
        (
            [("tcp reno", "different"), ("quinn reno", "inconclusive")],
            "1 of 2 contestants clearly differs from kernel TCP or the standard (tcp reno); 1 inconclusive.",
        ),
    ],
)
def test_the_kernels_controllers_are_not_counted_beside_other_stacks(
    rows: list[tuple[str, str]], text: str
) -> None:
    contestants = [Contestant(stack=name.split()[0], cca=name.split()[1]) for name, _ in rows]
    found = replace(
        made.collected("solo", [group([name], [9.0]) for name, _ in rows], contestants),
        families={name: Family("reno", "quic") for name, _ in rows},
    )
    verdicts = pl.DataFrame(
        [{"contestant": name, "differs": said == "different", "verdict": said} for name, said in rows]
    )
    assert words.answer(found, {"flows": flows.table(found), "verdicts": verdicts}) == text


def test_a_kernel_controller_that_is_its_own_reference_is_not_counted_either() -> None:
    """Kernel TCP does not differ from kernel TCP."""
    names = ["tcp cubic", "tcp bbr", "quinn cubic", "quic-go cubic"]
    contestants = [Contestant(stack=name.split()[0], cca=name.split()[1]) for name in names]
    found = replace(
        made.collected("solo", [group([name], [9.0]) for name in names], contestants),
        families={name: Family(name.split()[1], "quic") for name in names},
    )
    verdicts = pl.DataFrame(
        [
            {"contestant": name, "differs": name == names[-1], "verdict": said}
            for name, said in zip(names, [*["inconclusive"] * 3, "off by a parameter"], strict=True)
        ]
    )
    assert words.answer(found, {"flows": flows.table(found), "verdicts": verdicts}) == (
        "1 of 2 contestants clearly differs from kernel TCP or the standard (quic-go cubic); 1 inconclusive."
    )


def test_a_range_names_the_line_up_and_the_network() -> None:
    cells = [
        replace(group(["a"], [float(mbps)], network), lineup=f"line-up {mbps}", key=f"{mbps}{network.name}")
        for network in (made.NETWORK, OTHER)
        for mbps in (1, 2, 3, 4)
    ]
    found = made.collected("flows", cells)
    assert words.answer(found, {"flows": flows.table(found)}) == (
        "Mean throughput ranged from 1.0 Mbps (line-up 1: a on link) to 4.0 Mbps (line-up 4: a on other)."
    )


def loading(cell: Cell, position: int, took_ms: float) -> Cell:
    """The group with a page load by the flow at a position."""
    page = Page(name="small", objects=(PageObjects(count=3, size_bytes=1000),))
    load = PageLoad(position, "small", "light", took_ms, 100.0, 200.0, 800.0, objects=3, complete=3)
    trials = []
    for one in cell.trials:
        flows_now = list(one.trial.flows)
        flows_now[position] = flows_now[position].model_copy(update={"page": page})
        spec = one.trial.model_copy(update={"flows": tuple(flows_now)})
        trials.append(replace(one, trial=spec, page_loads=(*one.page_loads, load)))
    return replace(cell, trials=tuple(trials))


def test_a_page_load_beside_a_flow_answers_with_its_time() -> None:
    cell = loading(group(["bulk", "reader"], [15.0, 5.0]), 1, 812.5)
    found = made.collected("flows", [cell])
    loads = page_loads.table(found)
    assert loads is not None
    assert words.answer(found, {"flows": flows.table(found), "page_loads": loads}) == (
        "Means: bulk 15.0 Mbps (75 %) and reader loads small, 0.81 s after its start."
    )


def test_pairs_that_load_pages_answer_with_times_and_have_no_split() -> None:
    """Their throughputs are of different times, so they share nothing."""
    cells = [
        replace(loading(made.cell("pairwise", pair, [made.trial(1, [3.0, 2.0])]), 0, took_ms), page="small")
        for pair, took_ms in ((("a", "b"), 900.0), (("a", "a"), 1100.0))
    ]
    found = made.collected("pairwise", cells, [made.contestant("a"), made.contestant("b")])
    loads = page_loads.table(found)
    assert loads is not None
    assert pairwise.table(found) is None
    assert words.answer(found, {"flows": flows.table(found), "page_loads": loads}) == (
        "Mean page load time: a · small against b: 0.900 s and a · small against a: 1.100 s."
    )
    assert matrix.matrix(found, {"page_loads": loads}, {}).glyph == ""


def splits(*rows: tuple[str, float, str]) -> str:
    """The answer of a study of pairs with these ratios and states."""
    table = pl.DataFrame(
        [
            {"network": "link", "x": x, "y": "z", "ratio": ratio, "split": split, "p_bh": 0.5}
            for x, ratio, split in rows
        ]
    )
    return words.answer(made.collected("pairwise", [group(["a", "b"], [1.0, 1.0])]), {"pairwise": table})


def test_the_most_uneven_pair_is_one_that_is_not_even() -> None:
    lead = "Splits between two different contestants: "
    assert splits(("a", 0.51, "equivalent")) == f"{lead}0 uneven, 1 even, 0 inconclusive."
    assert splits(("a", 0.55, "equivalent"), ("b", 0.53, "different")) == (
        f"{lead}1 uneven, 1 even, 0 inconclusive; the most uneven one is b’s 53 % against z on link."
    )
    assert splits(("a", 0.7, "inconclusive"), ("b", 0.4, "different")) == (
        f"{lead}1 uneven, 0 even, 1 inconclusive; the most uneven one is z’s 60 % against b on link."
    )
    assert splits(("a", 0.51, "equivalent"), ("b", 0.95, states.SAME)) == (
        f"{lead}0 uneven, 1 even, 1 inconclusive (1 with one value in all seeds, so not tested); "
        "the most uneven one is b’s 95 % against z on link "
        "(inconclusive: one value in all seeds, so not tested)."
    )


def test_the_answer_names_who_has_no_valid_trial(tmp_path: Path) -> None:
    """And it says nothing of the references alone: nobody asked for them."""
    folder = report_results.copy(tmp_path)
    data = json.loads((folder / "study.json").read_text())

    def reject(subject: str) -> str:
        trials = report_results.group(data, subject)["trials"]
        for trial in trials:
            report_results.reject(folder, trial, "too slow")
        return f"{subject} ({len(trials)} invalid)"

    def answer() -> str:
        found = collect(Results(folder))
        return words.answer(found, tables.some_tables(found, ["verdicts", "flows"]))

    contestants = [
        name for name in collect(Results(folder)).families if name not in {"tcp cubic", "tcp reno"}
    ]
    assert len(contestants) == 2
    first = reject(contestants[0])
    assert answer() == (
        f"{contestants[1]} does not clearly differ from kernel TCP or the standard: inconclusive. "
        f"No valid trial of {first}."
    )
    both = f"{first} and {reject(contestants[1])}"
    assert answer() == f"No valid trial of {both}."


def test_a_contestant_that_did_not_run_is_named() -> None:
    ran = made.cell("solo", ["a"], [made.trial(1, [9.0])])
    waits = replace(made.cell("solo", ["b"], []), missing=("x", "y"))
    found = made.collected("solo", [ran, waits])
    assert words.answer(found, {"flows": flows.table(found)}) == (
        "Mean throughput: a 9.0 Mbps. No valid trial of b (2 not run)."
    )


def test_pairs_that_are_the_same_in_every_seed_have_not_too_few() -> None:
    """Ten seeds of 100 % were "Too few seeds to test whether a split is even"."""
    trials = [made.trial(seed, [19.0 + 0.01 * seed, 0.0]) for seed in range(10)]
    names = ("x", "y")
    found = made.collected(
        "pairwise", [made.cell("pairwise", names, trials)], [made.contestant(name) for name in names]
    )
    frame = pairwise.table(found)
    assert frame is not None
    assert words.answer(found, {"pairwise": frame}).startswith(
        "Splits between two different contestants: 0 uneven, 0 even, 1 inconclusive (1 with one value in all "
        "seeds, so not tested)"
    )


def test_page_loads_name_each_base() -> None:
    rows = [("a", "tcp-h2 cubic", 5.0), ("b", "quinn cubic", -5.0), ("c", "quinn cubic", -5.0)]
    changes = pl.DataFrame(rows, schema=["network", "base", "pltc_percent"], orient="row")
    said = words._loads(
        cast("Collected", None), pl.DataFrame(), changes.with_columns(state=pl.lit("different"))
    )
    assert said.startswith("Page loads compared with tcp-h2 cubic’s and quinn cubic’s: 1 clearly faster, 2 ")
    # as in the matrix; "the same in every seed" read as equal to the base
    state = pl.Series("state", ["inconclusive", states.SAME, states.SAME])
    said = words._loads(cast("Collected", None), pl.DataFrame(), changes.with_columns(state))
    assert said.endswith(
        ": 0 clearly faster, 0 clearly slower, 0 equally fast, 3 inconclusive (2 with one value in all "
        "seeds, so not tested)."
    )


@pytest.mark.parametrize(
    ("seeds", "said"),
    [
        ((1, 1), "With one seed, means cannot be compared"),
        ((1, 5), "In 1 of the 2 groups that are inconclusive, means cannot be compared"),
        ((3, 5), ""),
    ],
)
def test_a_page_says_that_few_seeds_compare_no_means(seeds: tuple[int, ...], said: str) -> None:
    """A study of one seed said "8 inconclusive" and not that one seed can never be more."""
    groups = [
        made.cell("pairwise", ("x", name), [made.trial(seed, [9.0, 9.0]) for seed in range(count)])
        for name, count in zip("yz", seeds, strict=True)
    ]
    found = made.collected("pairwise", groups)
    text = words.few_seeds(found, {one.key for one in groups})
    assert text.startswith(said) and bool(text) == bool(said)
    assert not said or "3 seeds or more" in text
    # what is settled needs no more seeds, and a flow alone is not judged by means
    alone = made.cell("solo", ("x",), [made.trial(1, [9.0])])
    assert words.few_seeds(made.collected("solo", [alone]), {alone.key}) == ""
    assert words.few_seeds(found, set()) == ""


def test_the_first_screen_of_one_seed_says_how_many_are_needed(tmp_path: Path) -> None:
    def one_seed(data: dict[str, Any]) -> None:
        for group in data["groups"]:
            group["trials"] = group["trials"][: group.get("orders", 1)]

    page = report_results.report(report_results.copy(tmp_path, one_seed), tmp_path / "page").read_text()
    assert "With one seed, means cannot be compared and stay inconclusive: 3 seeds or more" in page


@pytest.mark.parametrize(("first", "base"), [("tcpls", "tcp cubic"), ("tcp-h2", "tcp-h2 cubic")])
def test_only_the_kernels_stacks_are_the_base_of_page_loads(first: str, base: str) -> None:
    """A stack of one's own called "tcpls" was the base instead of kernel TCP."""
    cells = []
    for stack in (first, "tcp"):
        one = Contestant(stack=stack, cca="cubic")
        trial = made.trial(1, [1])
        spec = trial.trial.model_copy(update={"flows": (Flow(contestant=one),)})
        cells.append(replace(made.cell("solo", [one.name], [replace(trial, trial=spec)]), page="p"))
    (row,) = page_changes._rows(cells)
    assert row["base"] == base
