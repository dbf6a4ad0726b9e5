"""Many trials' notes, gathered: one line a group and gate."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl


@dataclass(frozen=True)
class Note:
    """A note of ``trials`` trials of a group; ``text`` is the first one's."""

    group: str
    text: str
    trials: int


def gathered(notes: pl.DataFrame) -> list[Note]:
    """One entry a group, gate and flow (the words before the numbers), in order of appearance."""
    if not notes.height:
        return []
    about = pl.col("note").str.extract(r"^([^:]+:(?: flow \d+)?)").fill_null(pl.col("note"))
    grouped = (
        notes.with_columns(about=about)
        .group_by("group", "about", maintain_order=True)
        .agg(pl.col("note").first(), pl.col("trial").n_unique().alias("trials"))
    )
    return [Note(row["group"], row["note"], row["trials"]) for row in grouped.to_dicts()]
