"""The section "Across networks": what the networks differ in decides the form of its charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import polars as pl
import pytest

from cambrian.measure import quantities
from cambrian.report import across
from cambrian.report.across import Axes
from cambrian.report.charts import curves
from cambrian.report.charts.model import Lines
from cambrian.report.figures import colours
from cambrian.report.figures.figure import Figure

GRID: Mapping[str, Sequence[Any]] = {"rtt_ms": (20.0, 100.0), "buffer_bdp": (0.5, 1.0, 4.0)}
SEEDS = range(1, 5)
#: spread of the seeds, whose mean is 0
SPREAD = dict(zip(SEEDS, (-3.0, -1.0, 1.0, 3.0), strict=True))


def made(
    networks: Sequence[Mapping[str, Any]],
    contestants: Sequence[str] = ("a cubic", "b bbr"),
    design: str = "versus-reference",
) -> pl.DataFrame:
    """Observations with a share that grows with the network's number; the reference has the rest."""
    rows: list[dict[str, Any]] = [
        {
            "trial": f"{number}-{who}-{seed}",
            "seed": seed,
            "design": design,
            "network": f"n{number}",
            "rate_mbps": 10.0,
            "queue": "droptail",
            "placebo": False,
            "flow": flow,
            "flows": 2,
            "contestant": (who, "r cubic")[flow],
            "against": ("r cubic", who)[flow],
            "share_percent": abs(100 * flow - share),
        }
        | dict(network)
        for number, network in enumerate(networks)
        for who in contestants
        for seed in SEEDS
        for share in [30 + 5 * number + SPREAD[seed]]
        for flow in (0, 1)
    ]
    kinds = {name: one.dtype for name, one in quantities.ALL.items()}
    return pl.DataFrame([dict.fromkeys(kinds) | row for row in rows], schema=kinds)


def grid(**keys: Sequence[Any]) -> list[dict[str, Any]]:
    return [dict(zip(keys, values, strict=True)) for values in product(*keys.values())]


def drawn(frame: pl.DataFrame, design: Any = "versus-reference") -> Sequence[Figure]:
    names = frame["network"].unique(maintain_order=True).to_list()
    return across.figures(frame, names, design, {"a cubic": "#123456"})


@pytest.mark.parametrize(
    ("networks", "axes"),
    [
        (grid(buffer_bdp=(1, 2)), Axes("buffer_bdp")),
        (grid(**GRID), Axes("buffer_bdp", "rtt_ms")),
        (grid(rate_mbps=(5, 10), **GRID), Axes("buffer_bdp", "panel", ("rate_mbps", "rtt_ms"))),
        (grid(queue=("droptail", "codel"), rtt_ms=(10, 20, 30)), Axes("rtt_ms", "queue")),
        # a missing corner, or nothing but words
        (grid(**GRID)[:-1], Axes("network")),
        (grid(queue=("droptail", "codel")), Axes("network")),
        # a buffer in bytes stands for itself; one in BDP has other bytes on each network
        (grid(buffer_bytes=(9000, 30000)), Axes("buffer_bytes")),
        ([{"buffer_bdp": 1.0, "rtt_ms": rtt, "buffer_bytes": 90 * rtt} for rtt in (10, 20)], Axes("rtt_ms")),
        # a key that not every network has
        ([{"buffer_bdp": 1.0}, {"buffer_bdp": 2.0}, {"buffer_bytes": 9000}], Axes("network")),
    ],
)
def test_axes(networks: list[dict[str, Any]], axes: Axes) -> None:
    assert across.axes(made(networks)) == axes


def test_a_line_for_each_contestant_and_a_panel_for_each_rtt() -> None:
    (figure,) = drawn(made(grid(**GRID)))
    assert [panel.chart.to_dict()["title"] for panel in figure.panels] == ["RTT 20 ms", "RTT 100 ms"]
    # shares of the contestants alone: the reference's are the rest
    found = figure.data.filter(series="b bbr").sort("rtt_ms", "buffer_bdp")
    assert found["effect"].to_list() == pytest.approx([30, 35, 40, 45, 50, 55])
    assert set(figure.data["series"]) == {"a cubic", "b bbr"}
    assert (found["low"] < found["effect"]).all()
    colour = figure.panels[0].chart.to_dict()["layer"][0]["encoding"]["color"]["scale"]
    assert dict(zip(colour["domain"], colour["range"], strict=True))["a cubic"] == "#123456"


def test_lines_of_one_colour_differ_by_their_dashes() -> None:
    frame = made(grid(buffer_bdp=(1, 2)), ("a cubic", "b bbr", "c reno"))
    (figure,) = across.figures(frame, ["n0", "n1"], "versus-reference", {"a cubic": "#777", "c reno": "#777"})
    scale = figure.panels[0].chart.to_dict()["layer"][0]["encoding"]["strokeDash"]["scale"]
    dashes = dict(zip(scale["domain"], map(tuple, scale["range"]), strict=True))
    assert dashes["a cubic"] == dashes["b bbr"] == (1, 0) != dashes["c reno"]


def test_the_panels_of_three_keys_are_in_the_order_of_numbers() -> None:
    (figure,) = drawn(made(grid(rate_mbps=(5.0, 10.0, 100.0), **GRID)))
    titles = [panel.chart.to_dict()["title"] for panel in figure.panels]
    assert titles[:2] == ["Rate 5 Mbps, RTT 20 ms", "Rate 5 Mbps, RTT 100 ms"]
    assert titles[-1] == "Rate 100 Mbps, RTT 100 ms"


def test_a_key_that_some_networks_lack_has_panels_in_words() -> None:
    (figure,) = drawn(made(grid(loss_every_packets=(None, 100), rate_mbps=(5.0, 10.0), buffer_bdp=(1, 2, 4))))
    titles = [str(panel.chart.to_dict()["title"]) for panel in figure.panels]
    assert sorted(titles) == sorted(
        f"Rate {rate} Mbps, {loss}"
        for rate in (5, 10)
        for loss in ("Loss every (packets): not set", "Loss every 100 packets")
    )
    assert "not set" in titles[0]


@pytest.mark.parametrize(("values", "kind"), [((1.0, 2.0, 4.0), None), ((1.0, 2.0, 8.0), "log")])
def test_a_wide_range_has_a_logarithmic_axis(values: Sequence[float], kind: str | None) -> None:
    (figure,) = drawn(made(grid(buffer_bdp=values)))
    scale = figure.panels[0].chart.to_dict()["layer"][0]["encoding"]["x"]["scale"]
    assert scale.get("type") == kind


@pytest.mark.parametrize(
    ("least", "most", "labels"),
    [
        (671.9, 747.1, [600, 700, 800]),
        (250.9, 332.4, [250, 300, 350]),
        (100.0, 101.0, [90, 95, 100]),
        (1.0, 100.0, [1, 2, 5, 10, 20, 50, 100]),
    ],
)
def test_a_logarithmic_axis_has_three_numbers(least: float, most: float, labels: Sequence[float]) -> None:
    lines = Lines(part="study", quantity="plt_ms", title="Time", x="buffer_bdp", logarithmic=True)
    span = curves._span(pl.DataFrame({"effect": [least, most], "low": None, "high": None}), lines)
    assert curves._axis(lines, span).to_dict()["values"] == pytest.approx(labels)


@pytest.mark.parametrize(
    ("networks", "contestants"),
    [
        (grid(**GRID)[:-1], ("a cubic", "b bbr")),
        (grid(**GRID), tuple(f"c{number}" for number in range(len(colours.PALETTE) + 1))),
    ],
)
def test_a_heat_map_where_lines_would_not_do(
    networks: list[dict[str, Any]], contestants: Sequence[str]
) -> None:
    (figure,) = drawn(made(networks, contestants))
    squares = figure.panels[0].chart.to_dict()["layer"][0]
    assert squares["mark"]["type"] == "rect"
    assert figure.data.height == len(networks) * len(contestants)
    # compared with an equal share
    assert figure.data["state"].null_count() == 0


def test_a_heat_map_does_not_test_the_reference_against_itself() -> None:
    """Its p-value would be among those by which the others' are corrected."""
    frame = made(grid(**GRID)[:-1])
    floor = made(grid(**GRID)[:-1], ["r cubic"])
    (alone,) = drawn(frame)
    (both,) = drawn(pl.concat([frame, floor]))
    itself = both.data.filter(contestant="r cubic")
    assert itself.height == len(GRID["rtt_ms"]) * len(GRID["buffer_bdp"]) - 1
    assert itself["p"].null_count() == itself["state"].null_count() == itself.height
    others = both.data.filter(pl.col("contestant") != "r cubic")
    assert others["p_bh"].to_list() == alone.data["p_bh"].to_list()


def test_networks_of_a_heat_map_are_in_the_study_s_order() -> None:
    frame = made([{"queue": "droptail"}, {"queue": "codel"}])
    (figure,) = across.figures(frame, ["n1", "n0"], "versus-reference", {})
    assert figure.panels[0].chart.to_dict()["layer"][0]["encoding"]["x"]["scale"]["domain"] == ["n1", "n0"]


def test_a_pairwise_study_leaves_out_a_contestant_against_itself() -> None:
    pairs = made(grid(buffer_bdp=(1, 2)), design="pairwise")
    itself = pairs.filter(contestant="a cubic").with_columns(
        against="contestant", trial="trial" + pl.lit("-self"), share_percent=pl.lit(50.0)
    )
    (figure,) = drawn(pl.concat([pairs, itself]), "pairwise")
    assert figure.data.filter(series="a cubic").sort("buffer_bdp")["effect"].to_list() == [30, 35]


def test_a_seed_without_a_value_in_one_of_its_trials_or_rivals_is_left_out() -> None:
    frame = made(grid(buffer_bdp=(1, 2)), ["a cubic"], "pairwise").filter(flow=0)
    groups = [
        frame.with_columns(pl.lit(name).alias("group"), pl.col("trial") + name, share_percent=pl.lit(share))
        for name, share in (("fair", 50.0), ("fierce", 10.0))
    ]
    gap = groups[1].with_columns(share_percent=pl.when(pl.col("seed") > 1).then("share_percent"))
    (figure,) = drawn(pl.concat([groups[0], gap]), "pairwise")
    assert figure.data.select("effect", "seeds").rows() == [(30, 3)] * 2
    # no seed in common
    assert drawn(pl.concat([groups[0].filter(seed=1), gap]), "pairwise") == ()


def test_the_references_own_line_is_not_of_its_flows_beside_contestants() -> None:
    """Beside a contestant that fills the queue the reference loses 9 %, against itself 1 %."""
    loss = {"a cubic": 8.0, "b bbr": 2.0, "r cubic": 9.0}
    itself = (pl.col("contestant") == "r cubic") & (pl.col("against") == "r cubic")
    frame = made(grid(buffer_bdp=(1, 2)), tuple(loss)).with_columns(
        pl.when(itself).then(1.0).otherwise(pl.col("contestant").replace_strict(loss)).alias(name)
        for name in ("queue_loss_percent", "delay_p95_ms", "plt_ms")
    )
    figures = drawn(frame)
    assert [one.name.rpartition("-")[2] for one in figures] == ["percent", "ms", "ms", "percent"]
    for figure in figures[1:]:
        ends = figure.data.filter(buffer_bdp=1).sort("contestant").select("contestant", "effect").rows()
        assert ends == [("a cubic", 8), ("b bbr", 2), ("r cubic", 1)]


def test_each_page_has_its_own_chart() -> None:
    """A mean of the load times of two pages is the load time of neither."""
    loads = made(grid(buffer_bdp=(1, 2)), design="pairwise").drop("plt_ms", "page")
    both = pl.concat(
        loads.with_columns(
            plt_ms=pl.col("share_percent") * factor, page=pl.lit(page), trial="trial" + pl.lit(page)
        )
        for page, factor in (("small", 10.0), ("big one", 20.0))
    ).with_columns(share_percent=None)
    figures = drawn(both, "pairwise")
    assert [(one.name, one.heading) for one in figures] == [
        ("across-plt-ms_small", "Page load time (ms), page small"),
        ("across-plt-ms_big one", "Page load time (ms), page big one"),
    ]
    small, big = (one.data.filter(series="a cubic").sort("buffer_bdp")["effect"].to_list() for one in figures)
    assert (small, big) == ([300, 350], [600, 700])
    # one page needs no name
    (figure,) = drawn(both.filter(page="small"), "pairwise")
    assert (figure.name, figure.heading) == ("across-plt-ms", "Page load time (ms)")


def test_a_group_with_a_load_that_did_not_end_in_time_has_no_point() -> None:
    """The loads that did end are the fastest."""
    loads = made(grid(buffer_bdp=(1, 2, 4)), ["a cubic"], design="solo").filter(flow=0)
    loads = loads.with_columns(
        plt_ms=pl.col("share_percent") * 10,
        page=pl.lit("page"),
        not_complete=pl.when(pl.col("network") == "n1").then(1).otherwise(0),
        group=pl.col("network") + "/a",
        share_percent=None,
    )
    figures = across.figures(loads, ["n0", "n1", "n2"], "solo", {"a cubic": "#123456"})
    (figure,) = (one for one in figures if one.name == "across-plt-ms")
    assert figure.data.sort("buffer_bdp")["buffer_bdp"].to_list() == [1, 4]


def test_one_network_has_no_such_section() -> None:
    assert drawn(made([{}])) == ()


def test_every_chart_names_a_quantity_and_is_shown_by_a_design() -> None:
    charts = across.charts()
    assert {design for chart in charts for design in chart.designs} == {
        "solo", "versus-reference", "pairwise", "flows"
    }  # fmt: skip
    assert all(chart.designs and chart.quantity in quantities.ALL for chart in charts)
    shown = [(design, chart.quantity) for chart in charts for design in chart.designs]
    assert len(set(shown)) == len(shown)
