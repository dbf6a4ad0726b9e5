"""A report of page loads, from committed results."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cambrian.report import tables
from cambrian.report.collect import Collected, collect
from cambrian.report.figures.kinds import all_figures
from cambrian.report.tables import page_loads
from cambrian.store.results import Results
from tests.unit import report_results

PAGES = Path(__file__).parents[1] / "fixtures" / "runs" / "pages"
CELLS = [
    (contestant, name) for contestant in ("quic-go cubic", "tcp-h2 cubic") for name in ("beta-small", "few")
]


@pytest.fixture(scope="module")
def collected() -> Collected:
    return collect(Results(PAGES))


def test_a_row_a_contestant_and_page_with_the_trials_mean(collected: Collected) -> None:
    rows = tables.all_tables(collected)["page_loads"].to_dicts()
    assert [(row["contestant"], row["page"]) for row in rows] == CELLS
    assert [row["objects"] for row in rows] == [12, 3, 12, 3]
    for cell, row in zip(collected.cells, rows, strict=True):
        times = [load.plt_ms for trial in cell.trials for load in trial.page_loads]
        assert len(times) == row["trials"] == 3
        assert row["plt_ms"] == pytest.approx(sum(filter(None, times)) / 3)
        assert row["plt_ms_low"] <= row["plt_ms"] <= row["plt_ms_high"]
        assert row["document_ms"] < row["first_object_ms"] < row["last_object_ms"]
        assert row["last_object_ms"] == pytest.approx(row["plt_ms"])


def test_the_figure_has_a_panel_a_page_that_says_who_took_how_long(collected: Collected) -> None:
    (figure,) = (one for one in all_figures(collected) if one.name.startswith("pageload-"))
    assert [panel.chart.to_dict(validate=False)["title"] for panel in figure.panels] == ["beta-small", "few"]
    slow = tables.all_tables(collected)["page_loads"].row(2, named=True)
    assert f"tcp-h2 cubic {slow['plt_ms'] / 1000:.3f} s" in figure.panels[0].alt


def test_no_two_figures_have_one_name(tmp_path: Path) -> None:
    """With hyphens, page news on mobile-4g and page news-mobile on 4g would both be "news-mobile-4g"."""
    shutil.copytree(PAGES, tmp_path / "pages")
    study = tmp_path / "pages" / "study.json"
    data = json.loads(study.read_text())
    names = {"few": "news", "beta-small": "news-mobile"}
    for page in data["study"]["page_load"]["pages"]:
        page["name"] = names[page["name"]]
    networks = ("4g", "mobile-4g")
    data["study"]["networks"] = [data["study"]["networks"][0] | {"name": name} for name in networks]
    data["groups"] = [
        one | {"network": name, "page": names[one["page"]], "key": f"{one['key']}-{name}"}
        for name in networks
        for one in data["groups"]
    ]
    study.write_text(json.dumps(data))
    found = [one.name for one in all_figures(collect(Results(study.parent)))]
    assert sum(name.startswith("waterfall") for name in found) == 4
    assert len({*found}) == len(found)


def test_lines_over_time_end_with_the_page_and_alike_for_all_who_load_it(collected: Collected) -> None:
    shown = {
        cell.page: {one.shown_s for one in collected.cells if one.page == cell.page}
        for cell in collected.cells
    }
    assert all(len(lengths) == 1 for lengths in shown.values())
    assert max(shown["few"]) < max(shown["beta-small"]) < 2


def test_the_page_tells_of_the_loads(tmp_path: Path) -> None:
    made = report_results.report(PAGES, tmp_path, with_files=True)
    text = made.read_text()
    assert "Page loads compared with tcp-h2 cubic’s: 1 clearly faster, " in text
    assert "quic-go cubic · beta-small" in text
    with (tmp_path / "tables" / "page_loads.csv").open() as file:
        assert [(row["contestant"], row["page"]) for row in csv.DictReader(file)] == CELLS


def test_objects_of_all_trials_can_be_queried() -> None:
    database = Results(PAGES).database()
    (answer,) = database.execute(
        "SELECT count(*), count(DISTINCT trial), bool_and(complete) FROM objects"
    ).fetchall()
    assert answer == (3 * 2 * (13 + 4), 12, True)
    assert database.execute("SELECT count(*) FROM page_loads").fetchall() == [(12,)]
    assert json.loads((PAGES / "study.json").read_text())["groups"][0]["page"] == "beta-small"


def test_the_median_of_an_even_number_of_loads_is_between_the_two_in_the_middle() -> None:
    times = [4271.3, 4405.6, 5053.2, 5554.2]
    assert page_loads.percentile(times, 0, 50, 3) == pytest.approx(4729.4)
    assert page_loads.percentile(times[:3], 1, 50, 3) == pytest.approx(4729.4)
    # one of the two was late
    assert page_loads.percentile(times[:2], 2, 50, 3) is None
    assert page_loads.percentile(times, 0, 75, 4) == 5053.2


def test_percentiles_are_measured_times_with_enough_loads(collected: Collected) -> None:
    rows = tables.all_tables(collected)["page_loads"].to_dicts()
    for cell, row in zip(collected.cells, rows, strict=True):
        times = sorted(load.plt_ms or 0 for trial in cell.trials for load in trial.page_loads)
        assert row["plt_ms_p50"] == times[1]
        assert row["plt_ms_p75"] is row["plt_ms_p95"] is None


@pytest.mark.parametrize(("percent", "least"), page_loads.PERCENTILES)
def test_no_percentile_is_the_fastest_or_the_slowest_load(percent: int, least: int) -> None:
    times = [float(n) for n in range(least)]
    assert 0 < (page_loads.percentile(times, 0, percent, least) or 0) < least - 1
    assert page_loads.percentile(times[1:], 0, percent, least) is None


@given(
    st.lists(st.floats(1, 1000), max_size=60),
    st.integers(0, 20),
    # so slow that the mean with a load that was not late is above 1000, too
    st.floats(1001, 10_000),
    st.sampled_from(page_loads.PERCENTILES),
)
def test_a_late_load_counts_as_slower_than_all_others(
    times: list[float], late: int, longer_ms: float, percentile: tuple[int, int]
) -> None:
    ended_later = [*times, *(1000 + longer_ms for _ in range(late))]
    known = page_loads.percentile(ended_later, 0, *percentile)
    late_ones = page_loads.percentile(times, late, *percentile)
    assert late_ones == (known if known is not None and known <= 1000 else None)
