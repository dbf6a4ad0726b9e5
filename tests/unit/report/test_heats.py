"""The colours of heat maps."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any, cast

import polars as pl
import pytest

from cambrian.report.charts import heats
from cambrian.report.charts.model import Heat
from cambrian.stats import states

SHARES = Heat(part="study", quantity="share_percent", title="Share", x="network", y="contestant")


@pytest.mark.parametrize(
    ("fair", "shares", "scale"),
    [
        # nearly equal shares are nearly without colour
        (50.0, [49.8, 50.0], (40.0, 50.0, 60.0)),
        (50.0, [], (40.0, 50.0, 60.0)),
        (50.0, [20.0, 61.0], (20.0, 50.0, 80.0)),
        (25.0, [25.5], (20.0, 25.0, 30.0)),
        (5.0, [5.1], (4.0, 5.0, 6.0)),
        # cells with different equal shares have no common middle
        (None, [25.0, 50.0], (25.0, None, 50.0)),
    ],
)
def test_shares_are_coloured_by_their_distance_from_an_equal_share(
    fair: float | None, shares: list[float], scale: tuple[float, float | None, float]
) -> None:
    shade = heats._shade(pl.Series(shares, dtype=pl.Float64), SHARES, fair)
    assert (shade.least, shade.middle, shade.most) == pytest.approx(scale)


@pytest.mark.parametrize("fair", [2.0, 50.0, 75.0])
def test_no_share_within_its_margin_is_dark(fair: float) -> None:
    margin = states.of_share(fair).high
    shade = heats._shade(pl.Series([fair + margin]), SHARES, fair)
    assert margin < heats._DARK * (shade.most - fair)


def legend(shares: list[float], fair: float) -> dict[str, Any]:
    colour = heats._colour(SHARES, heats._shade(pl.Series(shares), SHARES, fair))
    return cast("dict[str, Any]", colour.to_dict())["legend"]  # type: ignore[no-any-return]


def test_the_title_of_the_colours_is_not_cut() -> None:
    assert legend([50.0], 50.0)["titleLimit"] == 0


def test_no_label_of_the_colours_is_a_share_below_zero_or_above_a_hundred() -> None:
    assert legend([90.0], 25.0)["values"] == [0, 25, 90]
    assert legend([30.0], 75.0)["values"] == [30, 75, 100]


@pytest.mark.parametrize(
    ("column", "values", "axis"),
    [
        ("buffer_bdp", [0.333333, 0.5, 2 / 3], ["0.333333", "0.5", "0.666667"]),
        ("buffer_bdp", [1.00000001, 1.00000002], ["1.00000001", "1.00000002"]),
        ("buffer_bytes", [9999.0, 1234567.0], ["9999", "1234567"]),
        ("buffer_packets", [1500, 1234567], ["1500", "1234567"]),
        ("ecn", [False, True], ["false", "true"]),
        ("buffer_packets", [20, None], ["20", "not set"]),
    ],
)
@pytest.mark.parametrize("on_x", [True, False])
def test_each_cell_is_in_its_own_column_or_row(
    column: str, values: Sequence[object], axis: list[str], *, on_x: bool
) -> None:
    rows = [
        {"trial": f"{place}-{one}-{seed}", "group": f"{place}-{one}", "seed": seed, "flow": 0, "flows": 1,
         "contestant": one, column: value, "throughput_mbps": place + seed, "network": f"n{place}",
         "not_complete": None, "design": "solo"}
        for place, value in enumerate(values) for one in "ab" for seed in (1, 2, 3)
    ]  # fmt: skip
    x, y = (column, "contestant") if on_x else ("contestant", column)
    heat = Heat(part="study", quantity="throughput_mbps", title="Throughput", x=x, y=y)
    figure, _ = heats.figure(pl.DataFrame(rows), heat, "name", {})
    spec = figure.panels[0].spec()
    side = "x" if on_x else "y"
    domain = spec["layer"][0]["encoding"][side]["scale"]["domain"]
    assert domain == (axis if on_x else axis[::-1])
    (text,) = spec["datasets"].values() if "datasets" in spec else [spec["data"]["values"]]
    read = list(csv.DictReader(io.StringIO(text)))
    assert {(one[side], float(one["effect"])) for one in read} == {
        (word, place + 2) for place, word in enumerate(axis)
    }
    # a text that looks like a number stays a text
    data = spec.get("data") or spec["layer"][0]["data"]
    assert data["format"]["parse"][side] == "string"


@pytest.mark.parametrize(
    ("design", "seeds", "p", "state"),
    [
        ("pairwise", 3, 2**-5, "different"),
        ("versus-reference", 3, 2**-5, "different"),
        ("pairwise", 2, None, "inconclusive"),
        ("flows", 3, None, "different"),
    ],
)
def test_trials_that_one_flow_of_a_pair_wins_may_be_chance_in_a_map_too(
    design: str, seeds: int, p: float | None, state: str
) -> None:
    """Of six even pairs that chance decides, a map called one uneven in 24 % of studies with 3 seeds."""
    rows = [
        {"trial": f"{seed}-{order}", "group": "a-b", "seed": seed, "flow": 0, "flows": 2, "contestant": "a",
         "against": "b", "share_percent": 90 + seed / 10, "network": "n", "not_complete": None,
         "design": design}
        for seed in range(seeds) for order in (0, 1)
    ]  # fmt: skip
    _, cells = heats.figure(pl.DataFrame(rows), SHARES, "name", {})
    assert cells["state"].to_list() == [state]
    if seeds > 2:
        assert cells["p"][0] == pytest.approx(p) if p else cells["p"][0] < 2**-5
