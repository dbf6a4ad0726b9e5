"""The colours of heat maps."""

from __future__ import annotations

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
