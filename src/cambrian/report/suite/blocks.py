"""The model of a suite's page, shared by HTML and Markdown."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from cambrian.report.figures.figure import Figure
from cambrian.report.layout import Shown


@dataclass(frozen=True)
class Tabled:
    """A table as readers see it, and the frame of its CSV file."""

    shown: Shown
    frame: pl.DataFrame


@dataclass(frozen=True)
class Entry:
    """A judged statement; ``lines`` are pairs of a label and a text."""

    name: str
    verdict: str
    text: str
    lines: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Content:
    """The content of a section: words from the data, figures, tables, judged statements.

    ``not_run`` says what is missing, and ``commands`` run it.
    """

    words: tuple[str, ...] = ()
    figures: tuple[Figure, ...] = ()
    tables: tuple[Tabled, ...] = ()
    entries: tuple[Entry, ...] = ()
    not_run: str = ""
    commands: tuple[str, ...] = ()


@dataclass(frozen=True)
class Block:
    """A section of the page: ``words`` are the suite's own, ``content`` comes from data."""

    heading: str
    anchor: str
    words: tuple[str, ...]
    content: Content
