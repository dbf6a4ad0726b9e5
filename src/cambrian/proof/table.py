"""The rows of ``cambrian stacks test`` as a table, for a terminal and for the documentation."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from cambrian.proof.rows import Row

_HEAD = ("stack", "CCA", "clean link", "1 % loss", "same bytes twice", "CCA confirmed", "verdict")


def _number(value: float | None, text: str) -> str:
    return "–" if value is None else text.format(value)


def _repeats(row: Row) -> str:
    if not row.hashes:
        return "–"
    return f"yes ({row.hashes[0][:8]})" if row.repeats else "no"


def _confirmed(row: Row) -> str:
    if row.capacity_share is None:
        return "–"
    if row.confirmed is None:
        return "not possible"
    return "yes" if row.confirmed == row.cca else f"runs {row.confirmed}"


def _cells(row: Row) -> list[str]:
    return [
        row.stack,
        row.cca,
        _number(row.capacity_share, "{:.1%}"),
        _number(row.loss_mbps, "{:.1f} Mbps"),
        _repeats(row),
        _confirmed(row),
    ]


def _verdict(row: Row) -> str:
    if not row.ok:
        return "FAILS: " + "; ".join(row.misses)
    written = [cause for _, cause in row.causes]
    if row.nondeterministic and not row.repeats:
        written.append(row.nondeterministic)
    return "passes" + (f", with a cause: {' '.join(written)}" if written else "")


def terminal(rows: Sequence[Row]) -> Table:
    """The table for a terminal."""
    table = Table(*_HEAD)
    for row in rows:
        table.add_row(*_cells(row), "passes" if row.ok else "FAILS", style=None if row.ok else "red")
    return table


def remarks(rows: Sequence[Row]) -> list[str]:
    """Lines below the terminal's table: failures and documented causes."""
    return [
        f"{row.stack} {row.cca}: {_verdict(row)}"
        for row in rows
        if not row.ok or row.causes or (row.nondeterministic and not row.repeats)
    ]


def markdown(rows: Sequence[Row]) -> str:
    """The table in Markdown, for docs/reference/stacks.md."""
    lines = ["| " + " | ".join(_HEAD) + " |", "|" + "---|" * len(_HEAD)]
    for row in rows:
        cells = [*_cells(row), _verdict(row)]
        lines.append("| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |")
    return "\n".join(lines) + "\n"
