"""Makes a page's sections from those of suite.toml and the evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from cambrian.claims.frames import Frames
from cambrian.effects.errors import EffectError, NoDataError, NotCompleteError, UndefinedError
from cambrian.effects.model import EffectSpec
from cambrian.effects.prepare import prepare
from cambrian.published import compare, load
from cambrian.report.charts import curves, heats, names
from cambrian.report.sections import Commands, Piece, Words
from cambrian.report.sections import Section as PageSection
from cambrian.report.suite import beside, judged, tables
from cambrian.report.suite.sections import Section
from cambrian.report.words import counted
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


def built(subject: Subject, sections: Sequence[Section], frames: Frames) -> list[PageSection]:
    """Each section for the page; a section without data has the command that makes the data.

    Raises:
        StudyError: a section does not fit its data, or names something unknown.
    """
    return [_section(subject, section, number, frames) for number, section in enumerate(sections, 1)]


def _section(subject: Subject, section: Section, number: int, frames: Frames) -> PageSection:
    name = f"{number:02d}-{names.short_slug(section.heading)}"
    try:
        content = _content(subject, section, name, frames)
    except (NotCompleteError, UndefinedError) as error:
        content = (Commands((), f"No figure: {error}."),)
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
    pieces = (Words(words), *content) if words else content
    return PageSection(section.heading, names.slug(section.heading), pieces)


def _content(subject: Subject, section: Section, name: str, frames: Frames) -> tuple[Piece, ...]:
    if section.comparison is not None:
        return _comparison(subject, section, name, frames)
    if section.claims:
        if subject.paper is None:
            raise EffectError("claims need a paper, and this suite has none")
        wanted = section.claims if isinstance(section.claims, tuple) else ()
        return judged.claims(subject.paper, wanted, frames, str(subject.file))
    if section.scorecard is not None:
        command = subject.command(subject.name)
        return judged.card(subject.file.parent / section.scorecard, subject.prefixes, frames, name, command)
    if section.part is None:
        return ()
    frame = _frame(section, frames)
    if frame is None:
        return _nothing(subject, section.part, "Not run.")
    return _shown(section, frame, name)


def _shown(section: Section, frame: pl.DataFrame, name: str) -> tuple[Piece, ...]:
    if section.heat is not None:
        return heats.figure(frame, section.heat, name, section.labels)[0], *_cut(frame, section.heat.spec)
    if section.lines is not None:
        return curves.figure(frame, section.lines, name, section.labels), *_cut(frame, section.lines.spec)
    if section.crossover is not None:
        found = tables.crossovers(frame, section.crossover, name, section.labels)
        return *found, *_cut(frame, section.crossover.spec)
    assert section.table is not None
    return tables.rows(frame, section.table, name, section.heading, section.labels)


def _cut(frame: pl.DataFrame, spec: EffectSpec) -> tuple[Piece, ...]:
    """Why a figure has no value in some cells, because transfers, page loads or seeds were not complete."""
    found = prepare(frame, spec)
    said = []
    if found.cells_cut:
        said.append(
            f"No value in {counted(found.cells_cut, 'cell')}: not all transfers or page loads there were "
            f"complete at their trial's end (not complete: {found.not_complete}), "
            "and the others are the fastest."
        )
    if found.cells_without_seed:
        cells = counted(found.cells_without_seed, "cell")
        said.append(f"No value in {cells}: no seed has a value in each group and trial there.")
    return (Words(tuple(said), found=True),) if said else ()


def _frame(section: Section, frames: Frames) -> pl.DataFrame | None:
    shown = section.heat or section.lines or section.crossover or section.table
    assert shown is not None
    return frames.frame(shown.part, shown.table)


def _comparison(subject: Subject, section: Section, name: str, frames: Frames) -> tuple[Piece, ...]:
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
    why = "Not run: no published cell has been measured."
    return *_nothing(subject, comparison.measured.part, why), *content


def _nothing(subject: Subject, part: str | None, why: str) -> tuple[Piece, ...]:
    return (Commands((subject.command(part),) if part else (), why),)


def _part(subject: Subject, section: Section) -> str | None:
    if section.comparison is not None and subject.paper:
        known = load.comparisons(load.folder(subject.paper))
        return known[section.comparison].measured.part if section.comparison in known else None
    return section.part
