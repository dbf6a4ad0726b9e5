"""Notes of many trials, gathered: one line for each group and gate."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl


@dataclass(frozen=True)
class Note:
    """A note that ``trials`` trials of a group have; ``text`` is the first trial's."""

    group: str
    text: str
    trials: int


def gathered(notes: pl.DataFrame) -> list[Note]:
    """One entry for each group, gate and flow (the text before the numbers), in order of appearance."""
    if not notes.height:
        return []
    about = pl.col("note").str.extract(r"^([^:]+:(?: flow \d+)?)").fill_null(pl.col("note"))
    grouped = (
        notes.with_columns(about=about)
        .group_by("group", "about", maintain_order=True)
        .agg(pl.col("note").first(), pl.col("trial").n_unique().alias("trials"))
    )
    return [Note(row["group"], row["note"], row["trials"]) for row in grouped.to_dicts()]
