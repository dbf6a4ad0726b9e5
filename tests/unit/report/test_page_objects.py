"""Objects and changes of page loads, from committed results: tables and waterfalls."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
import scipy.stats

from cambrian.metrics import pageload
from cambrian.report import tables
from cambrian.report.collect import Cell, Collected, collect
from cambrian.report.figures import waterfall
from cambrian.report.tables import page_changes, page_loads, page_objects
from cambrian.stats import states
from cambrian.store.results import Results

PAGES = Path(__file__).parents[2] / "fixtures" / "runs" / "pages"
CELLS = [
    (contestant, name) for contestant in ("quic-go cubic", "tcp-h2 cubic") for name in ("beta-small", "few")
]


@pytest.fixture(scope="module")
def collected() -> Collected:
    return collect(Results(PAGES))


def test_each_contestant_is_compared_with_tcp_seed_by_seed(collected: Collected) -> None:
    frame = page_changes.table(collected)
    assert frame is not None
    assert frame.select("contestant", "base", "page").rows() == [
        ("quic-go cubic", "tcp-h2 cubic", "beta-small"),
        ("quic-go cubic", "tcp-h2 cubic", "few"),
    ]
    ours, base = collected.cells[0], collected.cells[2]
    changes = [
        pageload.change_percent(two.page_loads[0].plt_ms or 0, one.page_loads[0].plt_ms or 0)
        for one, two in zip(ours.trials, base.trials, strict=True)
    ]
    assert frame["pltc_percent"][0] == pytest.approx(sum(changes) / 3)
    assert frame["seeds"].to_list() == [3, 3]
    assert (frame["p_bh"] >= frame["p"]).all()
    p = scipy.stats.ttest_1samp(changes, 0).pvalue
    assert frame["p"][0] == pytest.approx(p)


def test_what_is_inconclusive_stands_in_parentheses(collected: Collected) -> None:
    frame = page_changes.table(collected)
    assert frame is not None
    unsure = frame.with_columns(state=pl.lit("inconclusive"))
    at = tables.shown("page_changes", frame, collected).headings.index("Page load time change, %")
    assert all(row[at].startswith("(") for row in tables.shown("page_changes", unsure, collected).rows)
    sure = frame.with_columns(state=pl.lit("different"))
    assert not any(row[at].startswith("(") for row in tables.shown("page_changes", sure, collected).rows)


def test_load_times_that_do_not_vary_are_not_tested(collected: Collected) -> None:
    """Load times 3 parts in 100,000 apart make changes that are 3 parts in 10,000 apart, and a p near 0."""

    def in_ms(cell: Cell, middle_ms: float) -> Cell:
        trials = [
            replace(trial, page_loads=(replace(trial.page_loads[0], plt_ms=middle_ms + 0.01 * number),))
            for number, trial in enumerate(cell.trials)
        ]
        return replace(cell, trials=tuple(trials))

    ours, base = collected.cells[0], collected.cells[2]
    found = replace(collected, cells=(in_ms(ours, 776.3), in_ms(base, 873.4)))
    frame = page_changes.table(found)
    assert frame is not None
    assert frame.select("p", "p_bh", "hedges_g", "state").row(0) == (None, None, None, states.SAME)
    assert frame["pltc_percent"][0] == pytest.approx(11.1, abs=0.05)
    text = dict(
        zip(
            tables.shown("page_changes", frame, found).headings,
            tables.shown("page_changes", frame, found).rows[0],
            strict=True,
        )
    )
    assert text["Page load time change, %"] == "11.1 ="
    # one side that varies is enough for a test
    (first, *others) = in_ms(ours, 776.3).trials
    first = replace(first, page_loads=(replace(first.page_loads[0], plt_ms=780.0),))
    varying = replace(ours, trials=(first, *others))
    frame = page_changes.table(replace(collected, cells=(varying, in_ms(base, 873.4))))
    assert frame is not None and frame["p"][0] is not None


def test_waits_and_stalls_of_each_contestant_and_page(collected: Collected) -> None:
    frame = page_objects.table(collected)
    assert frame is not None
    assert frame.select("contestant", "page").rows() == CELLS
    for cell, row in zip(collected.cells, frame.to_dicts(), strict=True):
        lengths = [fall.stall.length_ms for trial in cell.trials for fall in trial.waterfalls if fall.stall]
        assert row["stall_length_ms"] == pytest.approx(sum(lengths) / len(lengths))
        # random losses have no times
        assert "Stalls after a drop at the queue" in tables.shown("page_objects", frame, collected).headings
        assert row["stall_length_ms"] < max(load.plt_ms or 0 for load in cell.trials[0].page_loads)


def test_objects_have_the_names_of_page_loads(collected: Collected) -> None:
    """Of two line-ups with the same contestant, nothing said which row was whose."""
    cells = [replace(cell, lineup=f"line-up {number}") for number, cell in enumerate(collected.cells)]
    found = replace(collected, cells=tuple(cells))
    frame = page_objects.table(found)
    assert frame is not None
    names = {row[0] for row in tables.shown("page_objects", frame, found).rows}
    assert "line-up 0: quic-go cubic" in names and len(names) == len(cells)


def test_a_waterfall_a_page_with_a_panel_a_contestant_and_a_bar_an_object(collected: Collected) -> None:
    found = list(waterfall.figures(collected))
    assert [figure.heading.split()[2] for figure in found] == ["beta-small", "few"]
    for figure, objects in zip(found, (13, 4), strict=True):
        titles = [panel.chart.to_dict(validate=False)["title"]["text"] for panel in figure.panels]
        assert titles == ["quic-go cubic", "tcp-h2 cubic"]
        assert figure.data.height == 2 * objects
        assert all(f"{objects} objects" in panel.alt for panel in figure.panels)
        assert (figure.data["start_ms"] <= figure.data["request_ms"]).all()
        assert (figure.data["first_byte_ms"] <= figure.data["end_ms"]).all()


def test_each_group_has_the_studys_name_of_its_page(tmp_path: Path) -> None:
    """Two pages of equal objects have the same trials, which store one name."""
    folder = tmp_path / "pages"
    shutil.copytree(PAGES, folder)
    place = folder / "study.json"
    record = json.loads(place.read_text())
    pages = record["study"]["page_load"]["pages"]
    pages.append({**next(one for one in pages if one["name"] == "few"), "name": "again"})
    few = [group for group in record["groups"] if group["page"] == "few"]
    record["groups"] += [{**group, "page": "again", "key": f"{group['key']}-again"} for group in few]
    place.write_text(json.dumps(record))
    found = page_loads.table(collect(Results(folder), judged=False))
    assert found is not None
    assert found["page"].to_list() == ["beta-small", "few", "beta-small", "few", "again", "again"]
