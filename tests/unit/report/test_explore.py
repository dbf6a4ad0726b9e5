"""The data of the Explore view: the observations' own numbers, with the registry's words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cambrian.measure import quantities
from cambrian.report import explore, page, tables
from cambrian.report.collect import Collected, collect
from cambrian.report.observations import observations
from cambrian.store.results import Results
from tests.unit import report_results


@pytest.fixture(scope="module")
def knobs() -> Collected:
    return collect(Results(report_results.KNOBS))


def test_each_column_is_the_observations(knobs: Collected) -> None:
    frame = observations(knobs)
    columns = {one["name"]: one for one in explore.data(frame, tables.all_tables(knobs))["columns"]}
    assert {"trial", "group", "flow", "contestant", "throughput_mbps", "share_percent"} <= columns.keys()
    for name, column in columns.items():
        assert len(column["values"]) == frame.height
        if name in quantities.ALL:
            assert (column["meaning"], column["unit"]) == (
                quantities.ALL[name].meaning,
                quantities.ALL[name].unit,
            )
    assert columns["throughput_mbps"]["values"] == pytest.approx(frame["throughput_mbps"].to_list(), rel=1e-5)
    # a column without any value is left out
    assert all(frame[name].null_count() == frame.height for name in frame.columns if name not in columns)


def test_means_are_the_tables(knobs: Collected) -> None:
    frames = tables.all_tables(knobs)
    means = explore.data(observations(knobs), frames)["means"]
    assert len(means) == frames["flows"].height
    for mean, row in zip(means, frames["flows"].to_dicts(), strict=True):
        assert (mean["group"], mean["flow"]) == (row["group"], row["flow"])
        for name in ("throughput_mbps", "throughput_mbps_low", "delay_p95_ms"):
            assert mean[name] == pytest.approx(row[name], rel=1e-5)


def test_the_longest_of_all_trials_is_no_mean(knobs: Collected) -> None:
    data = explore.data(observations(knobs), tables.all_tables(knobs))
    assert "longest_starved_s" in [column["name"] for column in data["columns"]]
    assert all("longest_starved_s" not in mean and "starved_percent" in mean for mean in data["means"])


def test_without_a_complete_seed_there_is_no_column(knobs: Collected) -> None:
    # the view then says so
    assert explore.data(observations(knobs).clear(), tables.all_tables(knobs))["columns"] == []


def test_it_is_plain_json(knobs: Collected) -> None:
    json.dumps(explore.data(observations(knobs), tables.all_tables(knobs)), allow_nan=False)


def test_explore_has_its_colours_in_a_page_without_figures(tmp_path: Path) -> None:
    made = page.Page(about=("Report", "study", "flows"), title="Flows", sections=(), explore=True)
    assert 'id="themes"' in page.write(made, tmp_path).read_text()
