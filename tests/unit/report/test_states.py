"""State machines in the report: whom a contestant is compared with, the table, the drawing."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from cambrian.metrics.states.machine import Machine
from cambrian.metrics.states.pooled import pooled
from cambrian.report import machine_pairs, tables
from cambrian.report.collect import Collected, collect
from cambrian.report.figures import machine_graph
from cambrian.report.figures import states as figure
from cambrian.report.figures.figure import rounded
from cambrian.report.tables import states as table
from cambrian.store.results import Results
from tests.unit import report_results

S = 1_000_000_000


@pytest.fixture(scope="module")
def knobs(tmp_path_factory: pytest.TempPathFactory) -> Collected:
    return collect(Results(report_results.copy(tmp_path_factory.mktemp("states"))))


def test_a_contestant_meets_its_references_noise_floor(knobs: Collected) -> None:
    for cell in knobs.cells:
        reference = machine_pairs.reference_of(cell, knobs)
        if cell.is_noise_floor:
            assert reference is None and machine_pairs.compare(cell, knobs) is None
        else:
            assert reference is not None and reference.is_noise_floor and reference.subject == cell.reference


def test_a_pairwise_study_compares_nobody(tmp_path: Path) -> None:
    collected = collect(Results(report_results.copy(tmp_path, report_results.as_pairwise)))
    assert all(machine_pairs.reference_of(cell, collected) is None for cell in collected.cells)
    assert list(figure.figures(collected)) == []


def test_shares_of_a_flow_sum_to_all_of_the_time(knobs: Collected) -> None:
    found = table.table(knobs)
    assert found is not None
    sums = found.group_by("group", "flow").agg(pl.col("share_percent").sum())["share_percent"].to_list()
    assert sums == pytest.approx([100] * len(sums))
    assert set(found["source"]) <= {"exported", "partly inferred"}


def test_a_page_row_says_where_the_time_goes(knobs: Collected) -> None:
    found = table.table(knobs)
    assert found is not None
    shown = tables.shown("states", found, knobs)
    assert len(shown.rows) == len(knobs.cells)
    spent = shown.headings.index("Time in state")
    assert all("congestion avoidance" in row[spent] for row in shown.rows)


def test_a_flow_without_states_says_so(knobs: Collected, monkeypatch: pytest.MonkeyPatch) -> None:
    silent = next(cell for cell in knobs.cells if not cell.is_noise_floor)
    arm = machine_pairs.arm
    monkeypatch.setattr(machine_pairs, "arm", lambda cell, flow=0: {} if cell is silent else arm(cell, flow))
    found = table.table(knobs)
    assert found is not None
    row = found.filter(found["group"] == silent.key).row(0, named=True)
    assert (row["source"], row["state"], row["differs"]) == (table.NOT_AVAILABLE, None, None)
    panels = [panel.alt for one in figure.figures(knobs) for panel in one.panels]
    assert len(panels) == sum(not cell.is_noise_floor for cell in knobs.cells) - 1


def test_each_panel_has_both_machines_in_words(knobs: Collected) -> None:
    for one in figure.figures(knobs):
        for panel in one.panels:
            assert panel.alt.count("congestion avoidance") == 2
            assert panel.spec()["height"] == one.height


def test_the_page_saves_shares_and_transitions_and_not_the_drawing(knobs: Collected) -> None:
    (found,) = figure.figures(knobs)
    lines = [panel.spec()["usermeta"]["csv"].splitlines() for panel in found.panels]
    # as `cambrian report --figures` writes them
    head, *rows = rounded(found.data).write_csv().splitlines()
    assert {one[0] for one in lines} == {head} and "share_percent" in head
    assert [row for one in lines for row in one[1:]] == rows
    assert "<svg" in found.svg([panel.spec() for panel in found.panels])


def test_ribbons_go_from_broad_to_pointed_between_discs() -> None:
    machine = Machine(
        {"slow_start": S, "congestion_avoidance": 99 * S}, {("slow_start", "congestion_avoidance"): 4}, 0.0
    )
    drawn = machine_graph.graph(pooled([machine]), lift=0.0, most=4.0)
    breadths = drawn.ribbons["breadth"].to_list()
    assert breadths == sorted(breadths, reverse=True) and breadths[0] > 10
    assert drawn.ribbons["x"].is_sorted()
    assert drawn.rates["label"].to_list() == ["4"]
    areas = dict(zip(drawn.discs["label"], drawn.discs["area"], strict=True))
    assert areas["congestion|avoidance|99 %"] > areas["slow start|1.0 %"]


def test_unknown_states_have_a_place() -> None:
    machine = Machine({"startup": S, "unknown: nap": S}, {("startup", "unknown: nap"): 1}, 0.0)
    drawn = machine_graph.graph(pooled([machine]), lift=0.0, most=1.0)
    assert drawn.discs["y"].min() == pytest.approx(-0.12)
