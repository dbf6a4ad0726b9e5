"""The rows of ``cambrian stacks test`` as a table, for a terminal and for the documentation."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from cambrian.markdown import plain, table_lines
from cambrian.proof.rows import Row

_HEAD = (
    "stack",
    "CCA",
    "clean link",
    "1 % loss",
    "same bytes twice",
    "CCA confirmed",
    "trace rows",
    "verdict",
)


def _number(value: float | None, text: str) -> str:
    return "–" if value is None else text.format(value)


def _loss(row: Row) -> str:
    text = _number(row.loss_mbps, "{:.1f} Mbps")
    return text + ("" if row.kernel_loss_mbps is None else f" (kernel {row.kernel_loss_mbps:.1f})")


def _repeats(row: Row) -> str:
    if len(row.hashes) < 2:  # it did not run twice
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
        _loss(row),
        _repeats(row),
        _confirmed(row),
        _number(row.trace_rows, "{:,}") if row.trace != "none" else "no trace",
    ]


def _verdict(row: Row) -> str:
    if not row.ok:
        logs = f"; logs: {row.logs}" if row.logs else ""
        return "FAILS: " + "; ".join(row.misses) + logs
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
    """Lines below the terminal's table: failures, documented causes and warnings."""
    said = [
        f"{row.stack} {row.cca}: {_verdict(row)}"
        for row in rows
        if not row.ok or row.causes or (row.nondeterministic and not row.repeats)
    ]
    said += [f"warning: {row.stack} {row.cca}: {text}" for row in rows for text in row.warnings]
    if any(not row.ok and not row.logs for row in rows):
        said.append("To keep the logs of the programs, add: --keep DIR")
    return said


def markdown(rows: Sequence[Row]) -> str:
    """The table in Markdown, for docs/reference/stacks.md."""
    cells = (list(map(plain, [*_cells(row), _verdict(row)])) for row in rows)
    return "\n".join(table_lines(_HEAD, cells)) + "\n"
