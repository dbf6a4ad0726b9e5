"""Makes a page's blocks from sections and evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from cambrian.claims.frames import Frames
from cambrian.effects.errors import EffectError, NoDataError
from cambrian.published import compare, load
from cambrian.report.charts import curves, heats, names
from cambrian.report.suite import beside, crossing, judged, rows
from cambrian.report.suite.blocks import Block, Content
from cambrian.report.suite.sections import Section
from cambrian.study import hints
from cambrian.study.errors import StudyError


@dataclass(frozen=True)
class Subject:
    """The suite of a page. ``file`` is its suite.toml, ``paper`` the folder of its tables, if it has one.

    ``prefixes`` maps the folder of each contestant's parts (``rfc9743/quinn-cubic``) to its
    placeholders; a suite without contestants has one prefix, its own name. ``profile`` is the
    profile that ran.
    """

    name: str
    file: Path
    paper: str | None
    profile: str | None
    prefixes: Mapping[str, Mapping[str, str]]

    def command(self, part: str) -> str:
        """The command that runs a part, such as "wpi/grid" or "rfc9743/quinn-cubic/droptail"."""
        prefix = max((one for one in self.prefixes if part.startswith(f"{one}/")), key=len, default=None)
        placeholders = self.prefixes[prefix] if prefix else {}
        asked = f"{self.name}/{part[len(prefix) + 1 :]}" if prefix and placeholders else part
        who = f" --contestant {placeholders['$STACK']}/{placeholders['$CCA']}" if placeholders else ""
        return f"cambrian run {asked}" + (f" --profile {self.profile}" if self.profile else "") + who


def blocks(subject: Subject, sections: Sequence[Section], frames: Frames) -> list[Block]:
    """Each section with its content; a section without data has the command that makes the data.

    Raises:
        StudyError: a section does not fit its data, or names something unknown.
    """
    return [_block(subject, section, number, frames) for number, section in enumerate(sections, 1)]


def _block(subject: Subject, section: Section, number: int, frames: Frames) -> Block:
    name = f"{number:02d}-{names.short_slug(section.heading)}"
    try:
        content = _content(subject, section, name, frames)
    except NoDataError as error:
        content = _nothing(subject, _part(subject, section), f"Not run: {error}.")
    except EffectError as error:
        raise StudyError(
            file=str(subject.file),
            key=f"section {number} ({section.heading})",
            problem=str(error),
            remedy="correct the section’s keys",
        ) from error
    words = tuple(" ".join(part.split()) for part in section.text.split("\n\n") if part.strip())
    return Block(section.heading, names.slug(section.heading), words, content)


def _content(subject: Subject, section: Section, name: str, frames: Frames) -> Content:
    if section.comparison is not None:
        return _comparison(subject, section, name, frames)
    if section.claims:
        if subject.paper is None:
            raise EffectError("claims need a paper, and this suite has none")
        wanted = section.claims if isinstance(section.claims, tuple) else ()
        return judged.claims(subject.paper, wanted, frames, str(subject.file))
    if section.scorecard is not None:
        card = judged.card(subject.file.parent / section.scorecard, subject.prefixes, frames, name)
        return replace(card, commands=(subject.command(subject.name),)) if card.not_run else card
    if section.part is None:
        return Content()
    frame = _frame(section, frames)
    if frame is None:
        return _nothing(subject, section.part, "Not run.")
    return _shown(section, frame, name)


def _shown(section: Section, frame: pl.DataFrame, name: str) -> Content:
    if section.heat is not None:
        figure, _ = heats.figure(frame, section.heat, name, section.labels)
        return Content(figures=(figure,))
    if section.lines is not None:
        return Content(figures=(curves.figure(frame, section.lines, name, section.labels),))
    if section.crossover is not None:
        return crossing.content(frame, section.crossover, name, section.labels)
    assert section.table is not None
    return rows.content(frame, section.table, name, section.heading, section.labels)


def _frame(section: Section, frames: Frames) -> pl.DataFrame | None:
    shown = section.heat or section.lines or section.crossover or section.table
    assert shown is not None
    return frames.frame(shown.part, shown.table)


def _comparison(subject: Subject, section: Section, name: str, frames: Frames) -> Content:
    paper = load.folder(subject.paper or "")
    known = load.comparisons(paper) if subject.paper else {}
    if section.comparison not in known:
        raise EffectError(
            f"no comparison {section.comparison}; "
            + hints.for_name(str(section.comparison), known, f"those of {paper.name} are")
        )
    comparison = known[section.comparison]
    frame = frames.frame(comparison.measured.part, comparison.measured.table)
    compared = compare.compare(comparison, paper, frame)
    content = beside.content(compared, frame, name, section.labels, with_theory=section.theory)
    if compared.ran:
        return content
    missing = _nothing(subject, comparison.measured.part, "Not run: no published cell has been measured.")
    return replace(content, not_run=missing.not_run, commands=missing.commands)


def _nothing(subject: Subject, part: str | None, why: str) -> Content:
    return Content(not_run=why, commands=(subject.command(part),) if part else ())


def _part(subject: Subject, section: Section) -> str | None:
    if section.comparison is not None and subject.paper:
        known = load.comparisons(load.folder(subject.paper))
        return known[section.comparison].measured.part if section.comparison in known else None
    return section.part
