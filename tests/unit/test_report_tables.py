from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from rich.console import Console

from cambrian.metrics import envelope
from cambrian.report import printed, provenance, tables, words
from cambrian.report.collect import Collected, collect
from cambrian.report.conformance import seed_pairs
from cambrian.report.tables import records
from cambrian.stats import pairs, states
from cambrian.stats.interval import Interval
from cambrian.store.results import Results
from cambrian.study.model import BurstLoss, Change, Flow, Network
from tests.unit import report_results
from tests.unit.report import made

TLS, PACED = "tcp cubic with TLS", "tcp reno paced at 1 Mbps"


@pytest.fixture(scope="module")
def knobs() -> Collected:
    return collect(Results(report_results.KNOBS))


def row(frame: pl.DataFrame, **wanted: object) -> dict[str, object]:
    found = frame.filter([pl.col(name) == value for name, value in wanted.items()])
    assert found.height == 1
    return found.row(0, named=True)


def reference_envelopes(subject: str) -> list[envelope.Envelope]:
    """Flow 0's envelope of each trial of a reference against itself, straight from the store."""
    results = Results(report_results.KNOBS)
    trials = report_results.group(results.study(), subject)["trials"]
    return [envelope.imc22(results.trial(name).packets, 0, rtt_ms=20, duration_s=5) for name in trials]


@pytest.mark.parametrize(("contestant", "reference"), [(TLS, "tcp cubic"), (PACED, "tcp reno")])
def test_noise_floor_is_that_of_the_contestants_own_reference(
    knobs: Collected, contestant: str, reference: str
) -> None:
    found = row(tables.all_tables(knobs)["conformance"], contestant=contestant)
    floor = report_results.noise_floor(reference_envelopes(reference))
    assert found["reference"] == reference
    assert found["floor_mean"] == pytest.approx(floor.mean())
    assert (found["floor_lowest"], found["floor_highest"]) == (floor.min(), floor.max())


def test_the_two_references_have_different_floors(knobs: Collected) -> None:
    assert tables.all_tables(knobs)["conformance"]["floor_mean"].n_unique() == 2


def test_a_pace_cap_shows_where_tls_does_not(knobs: Collected) -> None:
    frame = tables.all_tables(knobs)["conformance"]
    tls, paced = row(frame, contestant=TLS), row(frame, contestant=PACED)
    assert isinstance(tls["deficit"], float) and abs(tls["deficit"]) < 0.1
    assert isinstance(paced["deficit"], float) and paced["deficit"] > 0.3
    # three short trials a side do not tell, and say how many more would
    assert set(frame["verdict"]) <= {"inconclusive", "different"}
    assert tls["verdict"] == "inconclusive"
    unsettled = frame.filter(pl.col("verdict") == "inconclusive")
    assert (unsettled["more_seeds"].drop_nulls() > 0).all()


def test_invalid_trial_is_listed_and_not_averaged(tmp_path: Path) -> None:
    folder = report_results.copy(tmp_path)
    before = collect(Results(folder))
    group = report_results.group(Results(folder).study(), PACED)
    first, *others = group["trials"]
    report_results.reject(folder, first, "rate: 3.0000 Mbps while busy, configured 4 Mbps")
    after = collect(Results(folder))

    values = tables.all_tables(before)["trials"].filter((pl.col("flow") == 0) & pl.col("trial").is_in(others))
    found = row(tables.all_tables(after)["flows"], group=group["key"], flow=0)
    assert found["trials"] == 2
    assert found["throughput_mbps"] == pytest.approx(values["throughput_mbps"].mean())
    assert (
        found["throughput_mbps"]
        != row(tables.all_tables(before)["flows"], group=group["key"], flow=0)["throughput_mbps"]
    )
    assert first not in set(tables.all_tables(after)["trials"]["trial"])
    assert tables.all_tables(after)["invalid"].to_dicts() == [
        {
            "network": "4mbps-20ms-2bdp",
            "group": group["key"],
            "trial": first,
            "seed": 1,
            "reasons": "rate: 3.0000 Mbps while busy, configured 4 Mbps",
        }
    ]
    assert row(tables.all_tables(after)["conformance"], contestant=PACED)["seeds"] == 2
    # the charts over time move on to the next seed
    shown = next(cell for cell in after.cells if cell.key == group["key"])
    assert shown.trials[0].trial.seed == 2
    assert words.what_ran(after) == (
        "12 trials on 1 network: 11 valid, 1 invalid (in no average and no figure)."
    )


def test_invalid_trial_keeps_its_hash(tmp_path: Path) -> None:
    folder = report_results.copy(tmp_path)
    trial = report_results.group(Results(folder).study(), TLS)["trials"][0]
    report_results.reject(folder, trial, "capture: 3 packet(s) lost by the capture")
    traces = tables.all_tables(collect(Results(folder)))["traces"]
    assert traces.height == 12
    assert not row(traces, trial=trial)["valid"]


def test_missing_trials_are_told(tmp_path: Path) -> None:
    folder = report_results.copy(tmp_path)
    trial = report_results.group(Results(folder).study(), TLS)["trials"][0]
    (folder / "trials" / trial / "verdict.json").unlink()
    assert words.what_ran(collect(Results(folder))).endswith(
        "; 1 trial of the study is missing here (not run yet)."
    )


def test_group_without_valid_trials_says_so(tmp_path: Path) -> None:
    folder = report_results.copy(tmp_path)
    for trial in report_results.group(Results(folder).study(), TLS)["trials"]:
        report_results.reject(folder, trial, "CCA: asked for cubic and runs reno")
    collected = collect(Results(folder))
    found = row(tables.all_tables(collected)["conformance"], contestant=TLS)
    assert (found["verdict"], found["conformance"], found["seeds"]) == ("no valid trial", None, 0)
    assert row(tables.all_tables(collected)["flows"], contestant=TLS)["throughput_mbps"] is None


def test_shares_of_a_trial_sum_to_one(knobs: Collected) -> None:
    sums = tables.all_tables(knobs)["trials"].group_by("trial").agg(pl.col("share_percent").sum())
    assert np.allclose(sums["share_percent"].to_numpy(), 100)


def test_pairwise_ratio_is_the_mean_of_the_trials_ratios(tmp_path: Path) -> None:
    folder = report_results.copy(tmp_path, report_results.as_pairwise)
    collected = collect(Results(folder))
    found = row(tables.all_tables(collected)["pairwise"], x=PACED)
    cell = next(cell for cell in collected.cells if cell.subject == PACED)
    ratios = [
        trial.flows[0]["throughput_mbps"] / sum(flow["throughput_mbps"] for flow in trial.flows)
        for trial in cell.trials
    ]
    assert found["ratio"] == pytest.approx(np.mean(ratios))


def test_pairs_of_equal_seed_are_left_out() -> None:
    scores = {(1, 1): 1.0, (1, 2): 0.25, (2, 1): 0.75, (2, 2): 1.0}
    assert pairs.mean(scores).estimate == 0.5


def test_one_trial_a_side_has_an_estimate_and_no_interval() -> None:
    found = pairs.mean({(1, 1): 0.8})
    assert found.estimate == 0.8
    assert math.isnan(found.low) and math.isnan(found.high)


@pytest.mark.parametrize("draw", range(5))
def test_an_arm_like_its_floor_has_no_deficit(draw: int) -> None:
    values = np.random.default_rng(draw).uniform(size=20).tolist()
    places = [(one, other) for one in range(5) for other in range(5) if one != other]
    scores = dict(zip(places, values, strict=True))
    found, p = pairs.deficit(scores, scores)
    assert (found.estimate, found.low, found.high) == pytest.approx((0, 0, 0))
    assert p is None
    spread = pairs.mean(scores, "share")
    assert 0 <= spread.low <= spread.estimate <= spread.high <= 1


def test_a_constant_deficit_is_found_exactly() -> None:
    places = [(one, other) for one in range(5) for other in range(5)]
    found, p = pairs.deficit(dict.fromkeys(places, 0.2), dict.fromkeys(places, 0.9))
    assert p is None
    assert (found.estimate, found.low, found.high) == pytest.approx((0.7, 0.7, 0.7))


@pytest.mark.parametrize(
    ("low", "high", "p", "floor", "verdict"),
    [
        (0.1, 0.4, 0.01, 0.9, "different"),
        (-0.13, 0.71, 0.2, 0.9, "inconclusive"),
        (-0.05, 0.09, 0.6, 0.9, "equivalent"),
        # who is like a reference that is unlike itself has not been shown to be like it
        (-0.05, 0.09, 0.6, 0.2, "inconclusive"),
        (math.nan, math.nan, None, 0.9, "inconclusive"),
        # more like the reference than the reference itself is no difference
        (-0.5, -0.3, 0.001, 0.9, "equivalent"),
        (0.2, 0.2, None, 0.9, states.SAME),
    ],
)
def test_verdicts(low: float, high: float, p: float | None, floor: float, verdict: str) -> None:
    deficit = Interval((low + high) / 2, low, high, 0.95, 5, "")
    assert seed_pairs.judge(deficit, p, floor) == verdict


def test_runs_of_seeds() -> None:
    assert provenance.runs([3, 1, 2, 7, 9, 8, 2]) == "1–3, 7–9"
    assert provenance.runs([5]) == "5"


def test_what_ran_names_the_start_round_trip_and_size_of_each_flow() -> None:
    own = [
        Flow(contestant=made.contestant("a")),
        Flow(contestant=made.contestant("b"), start_ms=10_000, rtt_ms=160),
        Flow(contestant=made.contestant("c"), size_bytes=3000),
    ]
    cell = made.cell("flows", ["a", "b", "c"], [made.trial(1, [1.0, 1.0, 1.0])])
    found = made.collected("flows", [cell], flows=own)
    assert list(provenance._settings(found.study)) == [
        "b starts after 10 s, has a base RTT of 160 ms",
        "c carries 3,000 bytes",
    ]
    spread = replace(found, study=found.study.model_copy(update={"start_spread_ms": 200.0}))
    assert provenance._offsets(spread) == (
        "each flow starts at a random time from 0 to 200 ms after its own start (uniform), "
        "set by study and seed"
    )


def test_notes_are_gathered_by_group_and_gate() -> None:
    texts = [
        "CCA: flow 0 (x) not confirmed",
        "CCA: flow 0 (x) not confirmed",
        "saturation: 70.1%",
        "saturation: 71.3%",
    ]
    frame = pl.DataFrame({"group": ["a", "a", "a", "b"], "trial": ["1", "2", "1", "3"], "note": texts})
    assert records.gathered(frame) == [
        records.Note("a", texts[0], 2),
        records.Note("a", texts[2], 1),
        records.Note("b", texts[3], 1),
    ]


def test_a_terminal_of_80_columns_shows_each_table(knobs: Collected) -> None:
    console = Console(width=80)
    for name, frame in tables.all_tables(knobs).items():
        if frame.is_empty():
            continue
        columns = printed.chosen(frame, tables.kinds()[name].printed)
        with console.capture() as shown:
            console.print(*printed.terminal(frame, columns, 80))
        head = shown.get().partition("──")[0]
        assert set(head.split()) >= {*columns} - {"network"}, name


def test_every_kind_of_table_says_what_a_terminal_shows() -> None:
    assert all(1 < len(kind.printed) <= 6 for kind in tables.kinds().values())


def test_a_terminal_shows_a_figure_with_its_interval(knobs: Collected) -> None:
    frame = tables.all_tables(knobs)["flows"]
    first = frame.filter(pl.col("throughput_mbps_low").is_not_null()).head(1)
    low, high = (f"{first[f'throughput_mbps_{end}'].item():.4g}" for end in ("low", "high"))
    console = Console(width=80)
    with console.capture() as shown:
        console.print(*printed.terminal(first, ["throughput_mbps"], 80))
    assert f"[{low}, {high}]" in shown.get()


@pytest.mark.parametrize(
    ("rates", "in_states"),
    [
        ({}, "loss 100 % in bad and 0 % in good"),
        ({"loss_in_bad_percent": 80, "loss_in_good_percent": 0.1}, "loss 80 % in bad and 0.1 % in good"),
    ],
)
def test_burst_loss_is_described_with_its_loss_in_both_states(
    rates: dict[str, float], in_states: str
) -> None:
    burst = BurstLoss(good_to_bad_percent=0.2, bad_to_good_percent=20, **rates)
    network = Network(name="n", rate_mbps=20, rtt_ms=50, buffer_bdp=1, burst_loss=burst)
    assert provenance._loss(network) == f"Gilbert–Elliott: good→bad 0.2 %, bad→good 20 %, {in_states}"


@pytest.mark.parametrize(
    ("known", "rate", "buffer"),
    [
        ({"n": 12.345}, "trace cell.trace, 12.3 Mbps on average", "125,000 bytes (1.62 BDP)"),
        ({}, "trace cell.trace", "125,000 bytes"),
    ],
)
def test_a_link_that_follows_a_trace_has_its_mean_rate(
    known: dict[str, float], rate: str, buffer: str
) -> None:
    network = Network(name="n", trace_file="traces/cell.trace", rtt_ms=50, buffer_bdp=1)
    ran = made.cell("solo", ["a"], [made.trial(1, [9.0])], network)
    found = replace(made.collected("solo", [ran]), raw={"trace_mean_mbps": known})
    (row,) = provenance.networks(found)
    assert (row.rate, row.buffer) == (rate, buffer)


def test_a_schedule_has_its_values_as_the_network_has() -> None:
    """It said "10.0 Mbps" beside "10 Mbps"."""
    steps = (
        Change(at_s=5, rate_mbps=10, rtt_ms=30),
        Change(at_s=8, loss_percent=0.1, return_loss_percent=100),
        Change(at_s=9, handover_overlap_ms=0),
    )
    network = Network(name="n", rate_mbps=20, rtt_ms=50, buffer_bdp=1, schedule=steps)
    assert provenance._other(network) == (
        "at 5 s: 10 Mbps, 30 ms; at 8 s: 0.1 % loss, 100 % loss of ACKs; "
        "at 9 s: receivers get a new address and keep the old one for 0 ms"
    )


def test_each_table_of_the_list_names_functions_and_quantities_that_exist() -> None:
    for name, kind in tables.kinds().items():
        module, function = tables._made_by(name)
        assert callable(getattr(module, function)), name
        assert {*kind.needs} <= {*tables.kinds()}, name
        assert [column.column(module).heading for column in kind.columns].count("") == 0, name


def test_words_fill_in_figures_and_are_a_dash_without_the_first() -> None:
    column = tables.Column(kind="count", words="{taken:1} ({ideal:0}) of {trials}", heading="Taken")
    show = column.column(tables).show
    assert show({"taken": 12.34, "ideal": -0.4, "trials": 3}) == "12.3 (0) of 3"
    assert show({"taken": None, "ideal": 1.0, "trials": 3}) == "–"


def test_a_column_without_figures_is_left_out() -> None:
    frame = pl.DataFrame({"late": [0, None], "known": [None, 0.0], "unknown": [None, None]})
    assert tables.Column(given="known").is_in(frame)
    assert not tables.Column(given="unknown").is_in(frame)
    assert not tables.Column(above_0=("late",)).is_in(frame)
