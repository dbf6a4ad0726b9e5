"""The data of the page's Explore view: each flow of complete seeds' trials, and the means of tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from cambrian.measure import quantities
from cambrian.report.tables import flows

#: of a number
_DIGITS = 6
#: the table that has means with intervals
_MEANS = "flows"


def data(observed: pl.DataFrame, frames: Mapping[str, pl.DataFrame]) -> dict[str, Any]:
    """Columns of the study's observations that have a value, with what the registry says of them, and means.

    ``means`` are the rows of the table ``flows``: for a figure NAME its mean NAME, and the ends of its
    interval NAME_low and NAME_high where the table has them. The table's column that is no mean is left out.
    """
    seen = _short(observed)
    columns = [_column(series) for series in seen.get_columns() if series.null_count() < len(series)]
    names = [column["name"] for column in columns if column["name"] != flows.LONGEST]
    means = _short(frames[_MEANS])
    kept = [
        name
        for name in means.columns
        if name in ("group", "flow", "seeds") or name.removesuffix("_low").removesuffix("_high") in names
    ]
    return {"columns": columns, "means": means.select(kept).to_dicts()}


def _column(series: pl.Series) -> dict[str, Any]:
    known = quantities.ALL.get(series.name)
    return {
        "name": series.name,
        "unit": known.unit if known else "",
        "level": known.level if known else "flow",
        "meaning": known.meaning if known else "",
        "number": series.dtype.is_numeric(),
        "values": series.to_list(),
    }


def _short(frame: pl.DataFrame) -> pl.DataFrame:
    floats = [name for name, kind in frame.schema.items() if kind.is_float()]
    numbers = pl.col(floats).fill_nan(None)
    return frame.with_columns(pl.when(numbers.is_finite()).then(numbers).round_sig_figs(_DIGITS).name.keep())
