"""What a page consists of: sections of words, tables, figures and judged statements, in any order.

The reports of studies and suites, the comparison of two results directories and the atlas are such sections.
:mod:`cambrian.report.page` shows them as HTML, :mod:`cambrian.report.suite.markdown` as Markdown. A text that
is ``markupsafe.Markup`` may have links; all other texts are plain.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeVar

import markupsafe
import polars as pl

from cambrian.report.figures.figure import Figure
from cambrian.report.layout import Shown


@dataclass(frozen=True)
class Words:
    """Paragraphs; ``found`` if they come from data."""

    kind: ClassVar = "words"
    texts: tuple[str, ...]
    found: bool = False


@dataclass(frozen=True)
class Commands:
    """Lines for a terminal; ``why`` says what is missing without them."""

    kind: ClassVar = "commands"
    lines: tuple[str, ...]
    why: str = ""


@dataclass(frozen=True)
class Table:
    """A table as readers see it; ``frame`` is what its CSV file holds, if that file has no other source.

    ``marks`` are the ``data-…`` attributes of each row. A ``sortable`` table sorts by a click on a heading,
    and the page's address can select its rows.
    """

    kind: ClassVar = "table"
    shown: Shown
    frame: pl.DataFrame | None = None
    anchor: str = ""
    marks: tuple[Mapping[str, str], ...] = ()
    sortable: bool = False


@dataclass(frozen=True)
class Statement:
    """A judged statement; ``words`` and ``lines`` (pairs of a label and a text) say more about it.

    ``is_name``: ``text`` names what is judged, and is no sentence. ``note``: what the verdict is not about.
    """

    kind: ClassVar = "statement"
    name: str
    verdict: str
    text: str
    words: tuple[str, ...] = ()
    lines: tuple[tuple[str, str], ...] = ()
    anchor: str = ""
    is_name: bool = False
    note: str = ""


@dataclass(frozen=True)
class Facts:
    """Names, each with its text or texts. ``prose``: a text is a paragraph."""

    kind: ClassVar = "facts"
    pairs: tuple[tuple[str, str | tuple[str, ...]], ...]
    prose: bool = False


@dataclass(frozen=True)
class Lines:
    """A list; each line has a name and a text, one of which may be empty."""

    kind: ClassVar = "lines"
    lines: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Section:
    """A part of a page under a heading; within another section it is a detail.

    ``aside`` stands behind the heading. ``folded``: closed at first, unless ``opened``. ``network`` is the
    name of the network that it is about, for the page's filters.
    """

    kind: ClassVar = "section"
    heading: str
    anchor: str
    pieces: Sequence[Piece]
    folded: bool = False
    opened: bool = False
    aside: str = ""
    network: str = ""


Piece = Words | Commands | Table | Figure | Statement | Facts | Lines | Section
_Kind = TypeVar("_Kind")


def every(kind: type[_Kind], sections: Sequence[Piece]) -> Iterator[_Kind]:
    """Every piece of ``kind`` within the sections, in the page's order."""
    for one in sections:
        if isinstance(one, kind):
            yield one
        if isinstance(one, Section):
            yield from every(kind, one.pieces)


def link(text: str, address: str) -> markupsafe.Markup:
    """A link."""
    return markupsafe.Markup('<a href="{}">{}</a>').format(address, text)


def code(text: str) -> markupsafe.Markup:
    """Text as code."""
    return markupsafe.Markup("<code>{}</code>").format(text)


def joined(*parts: str, by: str = "") -> markupsafe.Markup:
    """The parts one after another; plain text among them is escaped."""
    return markupsafe.Markup(by).join(parts)  # noqa: S704 — join escapes what is plain
