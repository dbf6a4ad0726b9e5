"""Tables in Markdown."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence


def table_lines(
    headings: Sequence[str], rows: Iterable[Sequence[str]], numbers: Sequence[bool] | None = None
) -> list[str]:
    """The lines of a table.

    Args:
        headings: one for each column. They and the cells are Markdown: :func:`plain` makes it of any text.
        rows: the cells of each row.
        numbers: which columns hold numbers, and so are aligned to the right; default: none.
    """
    rules = ("---:" if number else "---" for number in numbers or [False] * len(headings))
    return [_row(headings), "|" + "|".join(rules) + "|", *map(_row, rows)]


def plain(text: str) -> str:
    """A text on one line, with what Markdown would take for HTML or for the end of a cell escaped."""
    return html.escape(text, quote=False).replace("|", "\\|").replace("\n", " ")


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
