"""A history as a section of a page: its chart, a table of releases, and what changed in each."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from cambrian.releases import chart, history
from cambrian.releases.history import History
from cambrian.report import layout
from cambrian.report.layout import Column
from cambrian.report.sections import Commands, Piece, Section, Table, Words

#: columns of the table of changes
_CHANGES = {name: pl.String() for name in ("release", "previous", "network", "figure", "before", "after")}


def made(found: History) -> Section:
    """The section; its files are called ``STACK-CCA…``."""
    name = f"{found.stack}-{found.cca}"
    return Section(f"{found.stack} {found.cca}", name, tuple(_pieces(found, name)))


def _pieces(found: History, name: str) -> Iterator[Piece]:
    yield Words((" ".join(_summary(found)),), found=True)
    yield Commands((found.command,), "Make it again.")
    drawn = chart.figure(found, name)
    if drawn is not None:
        yield drawn
    yield _releases(found, f"{name}-releases.csv")
    if (changes := _changes(found)).height:
        columns = [layout.text(column, column.capitalize()) for column in changes.columns]
        caption = "Figures that are different from those of the release before, the largest change first"
        yield Table(layout.shown(changes, columns, caption, f"{name}-changes.csv"), changes)


def _summary(found: History) -> Iterator[str]:
    """How many releases have figures, and how many of them send other packets or differ in a figure."""
    entries = found.entries
    yield f"{len(found.measured)} of {len(entries)} releases have figures."
    later = [one for one in entries if one.change is not None]
    if later:
        same = sum(one.same_packets for one in later)
        different = [one.of.release for one in later if one.change is not None and one.change.different]
        yield f"{same} of {len(later)} later ones send the packets of the release before."
        yield f"Figures are different in: {', '.join(different)}." if different else "No figure is different."


def _releases(found: History, csv: str) -> Table:
    means = history.means(found)
    rows = []
    for one in found.entries:
        row: dict[str, object] = {"release": one.of.release, "date": one.of.date}
        row |= {f"{name} on {network}": by.get(one.of.release) for (network, name), by in means.items()}
        row["against the release before"] = f"{one.short}: {one.of.why}" if one.of.why else one.short or None
        rows.append(row)
    columns: list[Column] = [layout.text("release", "Release"), layout.text("date", "Date")]
    columns += [
        _figures(f"{name} on {network}", f"{chart.heading(name)}: {network}") for network, name in means
    ]
    columns.append(layout.text("against the release before", "Against the release before"))
    numbers = {f"{name} on {network}": pl.Float64() for network, name in means}
    frame = pl.DataFrame(rows, schema_overrides=numbers)
    return Table(layout.shown(frame, columns, "Means over the seeds", csv), frame)


def _figures(name: str, heading: str) -> Column:
    """A column of numbers with three digits, because releases differ by little."""
    return Column(heading, lambda row: layout.NOTHING if row[name] is None else f"{row[name]:.3g}")


def _changes(found: History) -> pl.DataFrame:
    """Each figure that is different from that of the release before."""
    rows = [
        {
            "release": one.of.release,
            "previous": one.before,
            "network": change.place,
            "figure": change.name,
            "before": change.before,
            "after": change.after,
        }
        for one in found.entries
        if one.change is not None
        for change in one.change.different
    ]
    return pl.DataFrame(rows, schema=_CHANGES)
