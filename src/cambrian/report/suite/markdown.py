"""The page's blocks as Markdown, for a reader of the repository."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cambrian.report.layout import Shown
from cambrian.report.suite.blocks import Block, Tabled

#: rows of a longer table that Markdown shows; its CSV has all
MOST_ROWS = 200


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
    yield "| " + " | ".join(_text(heading) for heading in shown.headings) + " |"
    yield "|" + "|".join("---:" if number else "---" for number in shown.numbers) + "|"
    for row in rows:
        yield "| " + " | ".join(_text(cell) for cell in row) + " |"
    if shown.is_closed:
        yield ""
        yield "</details>"


def block(one: Block, figures: str, tables: str, prefix: str) -> Iterator[str]:
    """A section's lines; its files are ``FIGURES/PREFIX…`` and ``TABLES/PREFIX…``."""
    yield f"## {_text(one.heading)}"
    yield ""
    content = one.content
    for words in one.words:
        yield from (_text(words), "")
    if content.not_run:
        commands = " ".join(f"`{command}`" for command in content.commands)
        yield f"**{_text(content.not_run)}**" + (f" Run it with: {commands}" if commands else "")
        yield ""
    for words in content.words:
        yield from (_text(words), "")
    for figure in content.figures:
        alt = "; ".join(panel.alt for panel in figure.panels)
        yield f"### {_text(figure.heading)}"
        yield ""
        yield f"![{_plain(alt)}]({figures}/{prefix}{figure.name}.png)"
        yield ""
        yield f"{_text(figure.caption)} ([data](" + f"{tables}/{prefix}{figure.name}-figure.csv))"
        yield ""
    for shown in content.tables:
        yield from table(shown.shown, f"{tables}/{prefix}{shown.shown.csv}")
        yield ""
    if content.entries:
        yield from _entries(one)


def _entries(one: Block) -> Iterator[str]:
    yield "| Verdict | Claim |"
    yield "|---|---|"
    for entry in one.content.entries:
        yield f"| **{_text(entry.verdict)}** | {_text(entry.text)} |"
    yield ""
    yield "<details><summary>Figures, sources and possible reasons for differences</summary>"
    yield ""
    for entry in one.content.entries:
        yield f"- **{_text(entry.name)}**: {_text(entry.verdict)}"
        yield from (f"  - {label}: {_text(line)}" for label, line in entry.lines)
    yield ""
    yield "</details>"
    yield ""


def all_tables(blocks: Sequence[Block]) -> Iterator[Tabled]:
    """Every table of a page."""
    for one in blocks:
        yield from one.content.tables


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
