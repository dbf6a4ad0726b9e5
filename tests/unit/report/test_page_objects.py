"""Objects and changes of page loads, from committed results: tables and waterfalls."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import scipy.stats

from cambrian.metrics.gates.page import NOT_IN_TIME
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


def in_ms(cell: Cell, times_ms: Sequence[float]) -> Cell:
    """The cell with these load times, a seed each."""
    (trial, *_) = cell.trials
    return replace(
        cell,
        trials=tuple(
            replace(
                trial,
                trial=trial.trial.model_copy(update={"seed": seed}),
                page_loads=(replace(trial.page_loads[0], plt_ms=ms),),
            )
            for seed, ms in enumerate(times_ms)
        ),
    )


def changes(collected: Collected, ours_ms: Sequence[float], base_ms: Sequence[float]) -> dict[str, Any]:
    """The row of two contestants with these load times."""
    ours, base = collected.cells[0], collected.cells[2]
    frame = page_changes.table(replace(collected, cells=(in_ms(ours, ours_ms), in_ms(base, base_ms))))
    assert frame is not None
    return frame.row(0, named=True)


def test_each_contestant_is_compared_with_tcp_seed_by_seed(collected: Collected) -> None:
    frame = page_changes.table(collected)
    assert frame is not None
    assert frame.select("contestant", "base", "page").rows() == [
        ("quic-go cubic", "tcp-h2 cubic", "beta-small"),
        ("quic-go cubic", "tcp-h2 cubic", "few"),
    ]
    ours, base = (
        [trial.page_loads[0].plt_ms or 0 for trial in collected.cells[number].trials] for number in (0, 2)
    )
    assert frame["pltc_percent"][0] == pytest.approx(100 * (1 - sum(ours) / sum(base)))
    assert frame["seeds"].to_list() == [3, 3]
    assert (frame["p_bh"] >= frame["p"]).all()
    # where all changes are small, it is Student's test of the seeds' changes
    p = scipy.stats.ttest_rel(ours, base).pvalue
    assert frame["p"][0] == pytest.approx(p, rel=0.2)


def test_a_change_by_hand(collected: Collected) -> None:
    """Means of 200 and 100 ms, and without a seed a ratio of 1.5, 2 or 2.5."""
    found = changes(collected, [300.0, 200.0, 100.0], [100.0, 100.0, 100.0])
    assert found["pltc_percent"] == pytest.approx(-100)
    logs = [math.log(1.5), math.log(2.0), math.log(2.5)]
    middle = sum(logs) / 3
    error = math.sqrt(2 / 3 * sum((one - middle) ** 2 for one in logs))
    t = scipy.stats.t.isf(0.025, 2)
    assert found["pltc_percent_low"] == pytest.approx(100 - 200 * math.exp(t * error))
    assert found["pltc_percent_high"] == pytest.approx(100 - 200 * math.exp(-t * error))
    assert found["p"] == pytest.approx(2 * scipy.stats.t.sf(math.log(2) / error, 2))
    # J(2) = 1 / √π
    assert found["hedges_g"] == pytest.approx(-math.log(2) / (error * math.sqrt(3)) / math.sqrt(math.pi))


def test_the_other_way_round_a_change_is_the_inverse(collected: Collected) -> None:
    """Which side is the base once decided who is slower: A than B, and B than A."""
    ours, base = [500.0, 900.0, 700.0, 650.0], [800.0, 600.0, 1_000.0, 550.0]
    one, other = changes(collected, ours, base), changes(collected, base, ours)
    assert (one["p"], one["hedges_g"]) == pytest.approx((other["p"], -other["hedges_g"]))
    for end, opposite in (("", ""), ("_low", "_high")):
        ratio = 1 - one[f"pltc_percent{end}"] / 100
        assert 1 / ratio == pytest.approx(1 - other[f"pltc_percent{opposite}"] / 100)


def test_equal_load_times_are_seldom_called_different(collected: Collected) -> None:
    """Of 30 and 100 seeds, the mean of the seeds' changes called 21 and 76 % of such studies slower."""
    rng = np.random.default_rng(20)
    studies = 100
    for seeds in (30, 100):
        wrong = 0
        for _ in range(studies):
            ours, base = np.where(rng.random((2, seeds)) < 0.2, 3_000, 1_000) + rng.normal(0, 20, (2, seeds))
            wrong += changes(collected, ours.tolist(), base.tolist())["state"] == "different"
        assert wrong <= 12, seeds


def test_means_of_the_other_loads_stand_beside_the_number_of_late_ones(collected: Collected) -> None:
    first = collected.cells[0]
    record = replace(first.records[0], valid=False, reasons=(f"flow 0 (x) {NOT_IN_TIME}",))
    cut = replace(first, records=(*first.records[1:], record), trials=first.trials[1:])
    found = replace(collected, cells=(cut, *collected.cells[1:]))
    frame = page_objects.table(found)
    assert frame is not None
    assert frame["late"].to_list() == [1, 0, 0, 0]
    shown = tables.shown("page_objects", frame, found)
    at = shown.headings.index("Not loaded in time")
    assert sorted(row[at] for row in shown.rows) == ["", "", "", "1"]


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

    ours, base = (
        in_ms(collected.cells[number], [middle_ms, middle_ms + 0.01, middle_ms + 0.02])
        for number, middle_ms in ((0, 776.3), (2, 873.4))
    )
    found = replace(collected, cells=(ours, base))
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
    assert changes(collected, [780.0, 776.3, 776.3], [873.4, 873.4, 873.4])["p"] is not None


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
