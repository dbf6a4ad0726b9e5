"""Figures as tables: of one side, and of two beside each other."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.speed import counts
from benchmarks.speed.jobs import Found, Row

#: quantity → how it is called beside another side's
NAMES = {
    "wall_s": "wall, s",
    "read_s": "reading, s",
    "metrics_s": "metrics, s",
    "trial_s": "a trial, s",
    "command_s": "the command, s",
    "peak_mib": "memory, MiB",
    "virtual_s": "virtual, s",
    "sent_bytes": "bytes",
    **{quantity: f"{heading} for each packet" for quantity, heading in counts.QUANTITIES.items()},
}


@dataclass(frozen=True)
class Table:
    """Headings and rows; the first column is text, the others are numbers."""

    headings: tuple[str, ...]
    rows: list[list[str]]


def spread(samples: Sequence[float], digits: int = 2) -> str:
    """The median and, of several, the range."""
    median = f"{statistics.median(samples):,.{digits}f}"
    if len(samples) == 1:
        return median
    return f"{median} ({min(samples):,.{digits}f}–{max(samples):,.{digits}f})"


def table(part: str, rows: Mapping[str, Row]) -> Table:
    """The table of a part."""
    return _TABLES.get(part, _timed)(rows)


def _counts(rows: Mapping[str, Row]) -> Table:
    ordered = sorted(rows.items(), key=lambda item: counts.per_packet(item[1], "hand_overs"))
    return Table(
        ("contestant", "packets", *counts.QUANTITIES.values()),
        [
            [
                name,
                f"{row['packets']:,}",
                *(f"{counts.per_packet(row, one):.3f}" for one in counts.QUANTITIES),
            ]
            for name, row in ordered
        ],
    )


def _timed(rows: Mapping[str, Row]) -> Table:
    return Table(
        ("contestant", "virtual, s", "wall, s", "virtual/wall", "packets", "hand-overs a packet"),
        [
            [
                name,
                f"{row['virtual_s']:.3g}",
                spread(row["wall_s"]),
                f"{row['virtual_s'] / statistics.median(row['wall_s']):.3g}",
                f"{row['packets']:,}",
                f"{counts.per_packet(row, 'hand_overs'):.2f}",
            ]
            for name, row in rows.items()
        ],
    )


def _walls(rows: Mapping[str, Row]) -> Table:
    return Table(("contestant", "wall, s"), [[name, spread(row["wall_s"])] for name, row in rows.items()])


def _metrics(rows: Mapping[str, Row]) -> Table:
    return Table(
        ("trial", "packets", "rows", "reading, s", "metrics, s"),
        [
            [
                name,
                f"{row['packets']:,}",
                f"{row['rows']:,}",
                spread(row["read_s"]),
                spread(row["metrics_s"]),
            ]
            for name, row in rows.items()
        ],
    )


def _cores(rows: Mapping[str, Row]) -> Table:
    first = statistics.median(next(iter(rows.values()))["trial_s"]) if rows else 0.0
    return Table(
        ("where", "trials", "a trial, s", "the whole command, s", "times as fast"),
        [
            [
                name,
                f"{row['trials']:,}",
                spread(row["trial_s"]),
                spread(row["command_s"]),
                f"{first / statistics.median(row['trial_s']):.2f}",
            ]
            for name, row in rows.items()
        ],
    )


def _memory(rows: Mapping[str, Row]) -> Table:
    return Table(("trial", "MiB"), [[name, spread(row["peak_mib"], 0)] for name, row in rows.items()])


_TABLES: Mapping[str, Callable[[Mapping[str, Row]], Table]] = {
    "counts": _counts,
    "empty": _walls,
    "metrics": _metrics,
    "cores": _cores,
    "cluster": _cores,
    "memory": _memory,
}


def compared(part: str, found: Mapping[str, Found]) -> Table:
    """The figures of a part of two sides, and the second over the first.

    Of what is the same in every run, the counts of entries are shown, and what differs between the sides.
    """
    (mine_name, mine), (other_name, other) = ((name, one.get(part, {})) for name, one in found.items())
    return Table(
        ("row", "figure", mine_name, other_name, "other/this", "packets"),
        [
            line
            for row, figures in mine.items()
            if row in other
            for line in _compared(row, figures, other[row])
        ],
    )


def _compared(row: str, mine: Row, other: Row) -> list[list[str]]:
    lines = []
    for quantity, value in mine.items():
        theirs = other.get(quantity)
        if theirs is None or quantity.endswith("_sha256"):
            continue
        if quantity in counts.QUANTITIES:
            pair = (counts.per_packet(mine, quantity), counts.per_packet(other, quantity))
            shown, wanted = [f"{one:.3f}" for one in pair], quantity == "hand_overs" or pair[0] != pair[1]
        elif isinstance(value, list):
            pair = (statistics.median(value), statistics.median(theirs))
            shown, wanted = [spread(value), spread(theirs)], True
        else:
            pair, shown, wanted = (value, theirs), [f"{value:,}", f"{theirs:,}"], value != theirs
        if wanted:
            ratio = f"{pair[1] / pair[0]:.2f}" if pair[0] else ""
            lines.append([row, NAMES.get(quantity, quantity), *shown, ratio, ""])
    if lines:
        lines[0][-1] = same(mine, other)
    return lines


def same(mine: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """Did both sides send the same packets? Empty if no hash says so."""
    hashes = [quantity for quantity in mine if quantity.endswith("_sha256")]
    if not hashes:
        return ""
    return "the same" if all(mine[one] == other.get(one) for one in hashes) else "OTHERS"
