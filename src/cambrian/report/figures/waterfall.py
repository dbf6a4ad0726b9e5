"""Waterfalls: one bar for each object of a page, one panel for each contestant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import altair as alt
import polars as pl

from cambrian.metrics.waterfall import PHASES, Waterfall
from cambrian.report.collect import Cell, Collected
from cambrian.report.figures import colours
from cambrian.report.figures.figure import Figure, Panel, inline

#: pixels: height of an object's bar, least and greatest height of a panel
_ROW, _LEAST, _MOST = 7, 110, 420
#: columns of :func:`cambrian.metrics.waterfall.phases` with the begin and the end of each phase
_ENDS = {
    "queued": ("start_ms", "request_ms"),
    "waiting": ("request_ms", "first_byte_ms"),
    "receiving": ("first_byte_ms", "end_ms"),
}
_COLOURS = {"queued": colours.GREY, "waiting": "#E69F00", "receiving": "#0072B2"}

_CAPTION = (
    "One bar for each object in the first valid trial: the document on top, then images in the document’s "
    "order. Queued: in the browser, before the request is sent. Waiting: from the request to the first byte, "
    "with the round trip. Receiving: from the first to the last byte, even while bytes of other objects "
    "arrive. Dashed: the load event."
)


def figures(collected: Collected) -> Iterator[Figure]:
    """One figure for each network and page."""
    for network in collected.networks:
        cells = [cell for cell in collected.on(network) if cell.trials and cell.trials[0].waterfalls]
        pages = dict.fromkeys(_page(cell, fall) for cell in cells for fall in cell.trials[0].waterfalls)
        for page in pages:
            falls = [
                (cell, fall)
                for cell in cells
                for fall in cell.trials[0].waterfalls
                if _page(cell, fall) == page and fall.phases.height
            ]
            if falls:
                yield _figure(network.name, page, falls)


def _page(cell: Cell, fall: Waterfall) -> str:
    return next(load.page for load in cell.trials[0].page_loads if load.flow == fall.flow)


def _load_ms(cell: Cell, fall: Waterfall) -> float | None:
    return next(load.plt_ms for load in cell.trials[0].page_loads if load.flow == fall.flow)


def _figure(network: str, page: str, falls: Sequence[tuple[Cell, Waterfall]]) -> Figure:
    last_ms = max(_last_ms(cell, fall) for cell, fall in falls)
    most = max(fall.phases.height for _, fall in falls)
    height = min(max(_ROW * most, _LEAST), _MOST)
    panels = tuple(
        Panel(_chart(cell, fall, last_ms, most, height), _alt(network, page, cell, fall))
        for cell, fall in falls
    )
    data = [
        fall.phases.with_columns(
            pl.lit(cell.names[fall.flow]).alias("contestant"), pl.lit(cell.trials[0].trial.seed).alias("seed")
        )
        for cell, fall in falls
    ]
    return Figure(
        name=f"waterfall-{page}_{network}",
        network=network,
        heading=f"Objects of {page} over time",
        caption=_CAPTION,
        panels=panels,
        data=pl.concat(data),
        height=height,
    )


def _last_ms(cell: Cell, fall: Waterfall) -> float:
    """End of a panel's time: the last byte or the load event, in ms."""
    ends: list[float] = fall.phases.get_column("end_ms").to_list()
    return max([*ends, _load_ms(cell, fall) or 0.0])


def _chart(cell: Cell, fall: Waterfall, last_ms: float, most: int, height: int) -> alt.TopLevelMixin:
    shown = fall.phases.select(
        "object",
        (pl.col("size_bytes") / 1000).alias("size_kb"),
        *((pl.col(name) / 1000).alias(f"{name[:-3]}_s") for name in dict.fromkeys(sum(_ENDS.values(), ()))),
    ).with_columns((pl.col("object") - 0.42).alias("top"), (pl.col("object") + 0.42).alias("bottom"))
    scale = alt.Scale(domain=list(PHASES), range=[_COLOURS[name] for name in PHASES])
    x = alt.Scale(domain=[0, last_ms / 1000], nice=False)
    y = alt.Scale(domain=[-0.6, most - 0.4], reverse=True, nice=False)
    base = alt.Chart(inline(shown))
    tooltip = [
        alt.Tooltip("object:Q", title="Object"),
        alt.Tooltip("size_kb:Q", title="Size (kB)", format=".1f"),
        *(
            alt.Tooltip(f"{name}_s:Q", title=title, format=".4f")
            for name, title in (
                ("start", "Found (s)"),
                ("request", "Requested (s)"),
                ("first_byte", "First byte (s)"),
                ("end", "Last byte (s)"),
            )
        ),
    ]
    layers = [
        base.mark_rect().encode(
            x=alt.X(f"{begin[:-3]}_s:Q", title="Time since the navigation began (s)", scale=x),
            x2=f"{end[:-3]}_s:Q",
            y=alt.Y("top:Q", title="Object", scale=y, axis=alt.Axis(grid=False)),
            y2="bottom:Q",
            color=alt.ColorDatum(phase, scale=scale, legend=alt.Legend(direction="horizontal")),
            tooltip=tooltip,
        )
        for phase, (begin, end) in _ENDS.items()
    ]
    load_ms = _load_ms(cell, fall)
    if load_ms is not None:
        rule = alt.Chart(inline(pl.DataFrame({"load_s": [load_ms / 1000]})))
        layers.append(rule.mark_rule(strokeDash=[4, 3], color=colours.GREY).encode(x="load_s:Q"))
    title = alt.TitleParams(cell.names[fall.flow], subtitle=f"seed {cell.trials[0].trial.seed}")
    return alt.layer(*layers, title=title).properties(height=height)


def _alt(network: str, page: str, cell: Cell, fall: Waterfall) -> str:
    ends: list[float] = fall.phases.get_column("end_ms").to_list()
    return (
        f"Waterfall, {network}, {page}, {cell.names[fall.flow]}: {len(ends)} objects, the first "
        f"complete after {min(ends):.0f} ms, the last after {max(ends):.0f} ms."
    )
