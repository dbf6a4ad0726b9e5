"""A page's sections as Markdown, for a reader of the repository."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cambrian.markdown import table_lines
from cambrian.report.figures.figure import Figure
from cambrian.report.layout import Shown
from cambrian.report.page import MOST_ROWS
from cambrian.report.sections import Commands, Section, Statement, Table, Words


def table(shown: Shown, csv: str) -> Iterator[str]:
    """A table's lines, folded where the page has it closed; ``csv`` is the address of its CSV file."""
    rows = shown.rows[:MOST_ROWS]
    more = f", the first {MOST_ROWS} here" if len(shown.rows) > MOST_ROWS else ""
    link = f"[CSV]({csv})"
    if shown.is_closed:
        yield f"<details><summary>{_plain(shown.caption)}: {len(shown.rows)} rows{more}</summary>"
        yield ""
        yield link
    else:
        yield f"**{_text(shown.caption)}** ({link})"
    yield ""
    yield from table_lines(
        [_text(heading) for heading in shown.headings],
        ([_text(cell) for cell in row] for row in rows),
        shown.numbers,
    )
    if shown.is_closed:
        yield ""
        yield "</details>"


def section(one: Section, figures: str, tables: str, prefix: str) -> Iterator[str]:
    """A section's lines; its files are ``FIGURES/PREFIX…`` and ``TABLES/PREFIX…``."""
    yield f"## {_text(one.heading)}"
    yield ""
    for piece in one.pieces:
        match piece:
            case Words(texts):
                for text in texts:
                    yield from (_text(text), "")
            case Commands(lines, why):
                commands = " ".join(f"`{line}`" for line in lines)
                yield f"**{_text(why)}**" + (f" Run it with: {commands}" if commands else "")
                yield ""
            case Figure():
                yield from _figure(piece, figures, tables, prefix)
            case Table(shown):
                yield from table(shown, f"{tables}/{prefix}{shown.csv}")
                yield ""
    statements = [piece for piece in one.pieces if isinstance(piece, Statement)]
    if statements:
        yield from _statements(statements)


def _figure(figure: Figure, figures: str, tables: str, prefix: str) -> Iterator[str]:
    alt = "; ".join(panel.alt for panel in figure.panels)
    yield f"### {_text(figure.heading)}"
    yield ""
    yield f"![{_plain(alt)}]({figures}/{prefix}{figure.name}.png)"
    yield ""
    yield f"{_text(figure.caption)} ([data](" + f"{tables}/{prefix}{figure.name}-figure.csv))"
    yield ""


def _statements(statements: Sequence[Statement]) -> Iterator[str]:
    rows = (
        [f"**{_text(one.verdict)}**{f', {_text(one.note)}' if one.note else ''}", _text(one.text)]
        for one in statements
    )
    yield from table_lines(["Verdict", "Claim"], rows)
    yield ""
    yield "<details><summary>Figures, sources and possible reasons for differences</summary>"
    yield ""
    for one in statements:
        yield f"- **{_text(one.name)}**: {_text(one.verdict)}"
        yield from (f"  - {label}: {_text(line)}" for label, line in one.lines)
    yield ""
    yield "</details>"
    yield ""


def _text(text: str) -> str:
    """The text as one line, with Markdown's markup escaped."""
    line = " ".join(text.split())
    for sign in ("\\", "|", "*", "_", "<"):
        line = line.replace(sign, f"\\{sign}" if sign != "<" else "&lt;")
    return line


def _plain(text: str) -> str:
    """The text as one line, for HTML or an image's alternative text."""
    line = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;")
    return line.replace("[", "(").replace("]", ")")
