"""Page loads that a trial's time cut off: the mean of the others is not the contestant's."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import polars as pl
import pytest

from cambrian.metrics.gates.page import page_gates
from cambrian.report import matrix, tables, words
from cambrian.report.collect import Cell, Collected, Record
from cambrian.report.figures import colours, pageload
from cambrian.report.observations import observations
from cambrian.report.tables import flows, page_loads
from cambrian.study.model import Network
from tests.unit.report import made
from tests.unit.report.test_words import loading

NO_OBJECTS = pl.DataFrame(schema={"complete": pl.Boolean, "path": pl.String, "protocol": pl.String})


def record(seed: int, flow: int | None = None, error: str | None = None) -> Record:
    """A trial; with ``flow``, that flow's page was not loaded."""
    label = f"flow {flow} (tcp-h2 cubic)"
    gates = [] if flow is None else page_gates(label, NO_OBJECTS, None, "h2", error)[:1]
    reasons = tuple(gate.text for gate in gates)
    return Record(str(seed), seed, not reasons, reasons, (), "")


def cell(*records: Record) -> Cell:
    network = Network(name="lossy", rate_mbps=5, rtt_ms=60, buffer_bdp=1)
    return Cell("lossy/tcp-h2", "solo", network, ("tcp-h2 cubic",), (), records, (), None)


def test_only_loads_that_needed_more_time_are_late() -> None:
    mixed = cell(record(1), record(2, 0), record(3, 0, "the server closed the connection"), record(4, 1))
    assert (mixed.late_loads(0), mixed.late_loads(1)) == (1, 1)


def test_a_contestant_with_a_late_load_has_no_mean_time() -> None:
    times = {1: 4800.0, 3: 5100.0}
    assert page_loads.in_time(cell(record(1), record(3)), 0, times) == times
    assert page_loads.in_time(cell(record(1), record(2, 0), record(3)), 0, times) == {}


def test_a_late_load_leaves_no_mean_in_the_matrix_the_table_of_flows_and_the_answer() -> None:
    group = loading(made.cell("flows", ["bulk", "reader"], [made.trial(1, [15.0, 5.0])]), 1, 800.0)
    group = replace(group, page="small", records=(record(1), record(2, 1)))
    found = made.collected("flows", [group])
    loads = page_loads.table(found)
    assert loads is not None
    frames = {"flows": flows.table(found), "page_loads": loads}
    bulk, reader = frames["flows"].select("not_complete", "fetch_s").rows()
    assert (bulk, reader) == ((None, None), (1, None))
    assert observations(found)["not_complete"].to_list() == [None, 1]
    assert [row.cells["link"].figure for row in matrix.matrix(found, frames, {}).rows][1] == "–"
    assert words.answer(found, frames).startswith(
        "Means: bulk 15.0 Mbps (75 %) and reader loads small in 1 of 2 cases. Not loaded in time: 1 of 2 "
    )


def test_a_group_whose_loads_were_all_late_has_a_row() -> None:
    network = made.NETWORK
    fast = replace(
        loading(made.cell("solo", ["fast"], [made.trial(1, [9.0])]), 0, 800.0), page="small", network=network
    )
    slow = Cell(
        "link/slow", "solo", network, ("slow",), (), (record(1, 0), record(2, 0)), (), None, page="small"
    )
    found = made.collected("solo", [fast, slow])
    loads = page_loads.table(found)
    assert loads is not None
    row = loads.row(by_predicate=pl.col("contestant") == "slow", named=True)
    assert (row["page"], row["trials"], row["late"], row["plt_ms"]) == ("small", 0, 2, None)
    text = tables.shown("page_loads", loads, found).rows[1]
    assert text[:5] == ("slow", "small", "–", "0", "2")
    frames = {"flows": flows.table(found), "page_loads": loads}
    assert "800" in words.answer(found, frames) or "0.800 s" in words.answer(found, frames)
    # a study of nothing else
    only = page_loads.table(made.collected("solo", [slow]))
    assert only is not None and only["late"].to_list() == [2]


def test_the_figure_has_no_place_for_loads_beside_a_late_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(colours, "palette", lambda _: {"fast": "#111", "slow": "#222"})
    groups = [
        replace(loading(made.cell("solo", [name], [made.trial(1, [9.0])]), 0, load_ms), page="small")
        for name, load_ms in (("fast", 800.0), ("slow", 99_000.0))
    ]
    groups[1] = replace(groups[1], records=(record(1), record(2, 0)))
    (figure,) = pageload.figures(made.collected("solo", groups))
    spec = figure.panels[0].spec()
    assert "slow" not in json.dumps(spec) and "fast" in json.dumps(spec)


def test_the_answer_names_what_was_not_loaded_in_time() -> None:
    cut = cell(record(1), record(2, 0), record(3, 0))
    said = words._late(cast("Collected", SimpleNamespace(cells=(cut,), networks=[cut.network])))
    assert said.startswith("Not loaded in time: 2 of 3 loads of tcp-h2 cubic on lossy.")
    assert words._late(cast("Collected", SimpleNamespace(cells=(cell(record(1)),)))) == ""


def test_each_load_beside_another_one_has_a_name_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(colours, "palette", lambda _: {"x": "#111", "y": "#222"})
    pairs = (("x", "x"), ("x", "y"))
    groups = [
        loading(
            loading(replace(made.cell("pairwise", pair, [made.trial(1, [9, 9])]), page="small"), 0, 800.0),
            1,
            700.0,
        )
        for pair in pairs
    ]
    found = made.collected("pairwise", groups)
    loads = page_loads.table(found)
    assert loads is not None
    names = ["x against x (flow 0)", "x against x (flow 1)", "x against y", "y against x"]
    assert [row[0] for row in tables.shown("page_loads", loads, found).rows] == names
    (figure,) = pageload.figures(found)
    assert all(name in figure.panels[0].alt for name in names)
    assert figure.height == 4 * pageload._ROW
    (ticks, *_) = figure.panels[0].chart.to_dict(validate=False)["layer"]
    assert ticks["encoding"]["color"]["scale"]["domain"] == names


def test_means_of_one_seed_have_no_line_of_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    """Vega warned of an infinite extent: a layer without a value."""
    monkeypatch.setattr(colours, "palette", lambda _: {"x": "#111"})
    one = made.cell("solo", ["x"], [made.trial(1, [9.0])])
    (figure,) = pageload.figures(made.collected("solo", [replace(loading(one, 0, 800.0), page="small")]))
    marks = [layer["mark"]["type"] for layer in figure.panels[0].chart.to_dict(validate=False)["layer"]]
    assert marks == ["tick", "point"]
