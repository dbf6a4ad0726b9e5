"""A figure: comparable panels of one kind, and the data that they draw.

A panel is one small chart without a width. On the page it takes the width of its column, in a file
:data:`PANEL_WIDTH`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import altair as alt
import polars as pl
import vl_convert

#: pixels, in files
PANEL_WIDTH = 320
PANEL_HEIGHT = 220
#: panels in a row, in files
COLUMNS = 3
#: a paper's figure → its width in points, and its panels in a row: \columnwidth and \textwidth of ACM's
#: two-column format (acmart, sigconf)
PAPER: Mapping[str, tuple[float, int]] = {"one-column": (241.1, 1), "two-columns": (506.3, 2)}
#: pixels of a panel there, and points for each pixel at most: labels of 11 pixels become 8 points
PAPER_PANEL_WIDTH, POINTS_PER_PIXEL = 260, 0.75
#: PNG pixels for each pixel of the chart
PNG_SCALE = 2

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', Arial, sans-serif"


@dataclass(frozen=True)
class Panel:
    """One chart. ``alt`` is its alternative text; ``group`` is the key of the group that it is about.

    ``data`` is what the page saves as CSV of a chart that draws shapes; else it saves what the chart draws.
    """

    chart: alt.TopLevelMixin
    alt: str
    group: str = ""
    data: pl.DataFrame | None = None

    def spec(self) -> dict[str, Any]:
        """Vega-Lite, without size, theme and schema address."""
        # vl-convert compiles what is drawn, and so checks it: once is enough
        spec: dict[str, Any] = self.chart.to_dict(validate=False)
        for key in ("$schema", "config"):
            spec.pop(key, None)
        if self.data is not None:
            spec["usermeta"] = {"csv": rounded(self.data).write_csv()}
        return spec


@dataclass(frozen=True)
class Figure:
    """Panels that belong together. ``name`` is the name of its files; ``data`` has everything drawn.

    No other figure of the page has its name. Names of networks and pages have hyphens, but no "_": it joins
    two names.
    """

    #: among the pieces of a section
    kind: ClassVar = "figure"
    name: str
    network: str
    heading: str
    caption: str
    panels: tuple[Panel, ...]
    data: pl.DataFrame
    height: int = PANEL_HEIGHT
    #: each panel takes a whole row
    wide: bool = False
    #: pixels that a readable panel needs: a narrower page scrolls it sideways
    least_width: int = 0
    #: the figure shows the main result, so it comes before the tables
    leads: bool = False

    def save(self, folder: Path, specs: list[dict[str, Any]]) -> list[Path]:
        """Write ``NAME.png``, ``NAME.svg``, ``NAME.csv``, and a ``NAME-WIDTH.pdf`` for each width of a paper.

        Returns the files. ``specs`` are the panels' specifications.
        """
        svg = self.svg(specs)
        pictures = {
            f"{self.name}.svg": svg.encode(),
            f"{self.name}.png": vl_convert.svg_to_png(svg, scale=PNG_SCALE),
            f"{self.name}.csv": rounded(self.data).write_csv().encode(),
            **{f"{self.name}-{width}.pdf": self._pdf(specs, *PAPER[width]) for width in PAPER},
        }
        for name, content in pictures.items():
            (folder / name).write_bytes(content)
        return [folder / name for name in pictures]

    def _pdf(self, specs: list[dict[str, Any]], width_points: float, columns: int) -> bytes:
        """The figure as a PDF of this width."""
        drawn = self.svg(specs, columns=columns, width=PAPER_PANEL_WIDTH)
        size = re.search(r'width="([\d.]+)" height="([\d.]+)"', drawn)
        assert size is not None, "Vega writes the size first"
        # what has fewer panels than columns is narrower, and its letters are no larger
        points = min(width_points, POINTS_PER_PIXEL * float(size[1]))
        height = points * float(size[2]) / float(size[1])
        pdf: bytes = vl_convert.svg_to_pdf(
            drawn.replace(size[0], f'width="{points:.1f}" height="{height:.1f}"', 1)
        )
        return pdf

    def svg(self, specs: list[dict[str, Any]], *, columns: int = COLUMNS, width: int = PANEL_WIDTH) -> str:
        """The whole figure on white; ``specs`` are the panels' specifications."""
        if self.wide:
            columns, width = 1, 2 * width
        sized = [spec | {"width": width, "height": self.height} for spec in specs]
        for spec in sized:
            spec.pop("usermeta", None)
        datasets = {name: rows for spec in sized for name, rows in spec.pop("datasets", {}).items()}
        whole = {
            "$schema": alt.SCHEMA_URL,
            "background": "white",
            "concat": sized,
            # each panel has its own contestants; equal domains make the axes equal
            "resolve": {"scale": dict.fromkeys(("color", "shape", "strokeDash"), "independent")},
            "columns": columns,
            "spacing": 28,
            "datasets": datasets,
            "config": config("light"),
        }
        vega = vl_convert.vegalite_to_vega(json.dumps(whole))
        return str(vl_convert.vega_to_svg(vega))


def inline(frame: pl.DataFrame, **types: str) -> alt.InlineData:
    """``frame`` as CSV within the chart, with five significant digits: a third of the size of JSON.

    ``types`` gives the types of columns without numbers (``series="string"``).
    """
    parse = {name: types.get(name, "number") for name in frame.columns}
    return alt.InlineData(
        values=rounded(frame).write_csv(), format=alt.CsvDataFormat(type="csv", parse=parse)
    )


def rounded(frame: pl.DataFrame) -> pl.DataFrame:
    """``frame`` with five significant digits, which is finer than a screen's pixels."""
    floats = [name for name, kind in frame.schema.items() if kind.is_float()]
    return frame.with_columns(pl.col(floats).round_sig_figs(5)) if floats else frame


def config(theme: str) -> dict[str, Any]:
    """Vega-Lite's configuration for ``theme`` ("light" or "dark"), with a transparent background."""
    ink, quiet, grid = (
        ("#1b1f24", "#57606a", "#e3e6ea") if theme == "light" else ("#e6e9ec", "#a3acb6", "#353b43")
    )
    return {
        "font": FONT,
        "background": "transparent",
        "view": {"stroke": None},
        "text": {"color": ink},
        "axis": {
            "labelColor": quiet,
            "titleColor": ink,
            "titleFontWeight": "normal",
            "titleFontSize": 12,
            "labelFontSize": 11,
            "gridColor": grid,
            "domainColor": quiet,
            "tickColor": quiet,
            "labelOverlap": True,
            "tickCount": 5,
        },
        # plots of one figure line up though their labels differ in length
        "axisY": {"minExtent": 30},
        "legend": {
            "orient": "top",
            "direction": "vertical",
            "title": None,
            "labelColor": ink,
            "titleColor": ink,
            "labelFontSize": 11,
            "labelLimit": 300,
            "rowPadding": 1,
            "offset": 4,
            "symbolStrokeWidth": 2,
        },
        "title": {
            "anchor": "start",
            "frame": "group",
            "color": ink,
            "fontSize": 13,
            "fontWeight": 600,
            "subtitleColor": quiet,
            "subtitleFontSize": 11,
            "offset": 6,
        },
    }
