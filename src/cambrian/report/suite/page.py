"""A suite's page from its results."""

from __future__ import annotations

import os
from pathlib import Path

from cambrian.claims.frames import CachedFrames
from cambrian.report import methods, page, study_page
from cambrian.report.evidence import Evidence, key_of
from cambrian.report.layout import NOTHING, Shown
from cambrian.report.page import Page
from cambrian.report.sections import Commands, Lines, Section, Table, Words, code, every, joined, link
from cambrian.report.suite import build
from cambrian.report.suite.build import Subject
from cambrian.report.suite.ran import Part, Ran
from cambrian.report.suite.sections import sections
from cambrian.report.words import counted
from cambrian.store.results import Results

_PARTS = "Each part is one study. Its report lists all networks, trials, versions and hashes."


def sections_of(ran: Ran) -> list[Section]:
    """The suite's own sections with their content.

    Raises:
        StudyError: a section is wrong, or does not fit its data.
    """
    found = sections(ran.file, ran.contestants)
    profile = ran.record.get("profile")
    subject = Subject(ran.suite.name, ran.file.path, ran.suite.paper, profile, ran.prefixes)
    return build.built(subject, found, CachedFrames(Evidence(ran.folder.parent)))


def write(ran: Ran, out: Path, *, with_files: bool = False) -> Path:
    """Write ``out``/index.html with its figures, tables and made-from.txt; return the page's path.

    ``with_files``: figures as PNG, SVG and CSV, too.

    Raises:
        StudyError: as :func:`sections_of`.
    """
    # first: a trial that finishes meanwhile is one that the page may lack
    keys = [key_of(Results(part.folder)) for part in ran.parts if part.trials]
    own = sections_of(ran)
    page.prepare(out, "figures", "tables")
    for one in every(Table, own):
        if one.frame is not None:
            one.frame.write_csv(out / "tables" / one.shown.csv)
    description = (ran.suite.description or "").strip()
    made = Page(
        about=("Cambrian report", "suite", ran.suite.name),
        title=ran.suite.title,
        leads=(*((description,) if description else ()), *what_ran(ran)),
        sections=(
            *own,
            _parts(ran, out),
            Section("Methods", "methods", (methods.of("suite"),)),
            _repeat(ran),
        ),
    )
    (out / study_page.MADE_FROM).write_text("".join(f"{key}\n" for key in keys))
    return page.write(made, out, with_files=with_files)


def what_ran(ran: Ran) -> list[str]:
    """How much of the suite has run, in words."""
    trials, valid = sum(part.trials for part in ran.parts), sum(part.valid for part in ran.parts)
    missing = sum(part.missing for part in ran.parts)
    if not trials:
        return ["No part of this suite has run yet."]
    text = f"{counted(trials, 'trial')} in {counted(len(ran.parts), 'part')}: {valid:,} valid"
    text += (
        f", {trials - valid:,} invalid (in no average and no figure)" if trials > valid else ", none invalid"
    )
    text += f"; {counted(missing, 'trial')} not run yet." if missing else "."
    return [text] + ([f"Parts that have not run: {', '.join(ran.absent)}."] if ran.absent else [])


def _parts(ran: Ran, out: Path) -> Section:
    """The suite's parts, and why their invalid trials are invalid."""
    headings = ("Part", "Question", "Valid trials", "Invalid", "Not run")
    rows = tuple(
        (_place(part, out), part.title, f"{part.valid:,}", f"{part.invalid:,}", f"{part.missing:,}")
        for part in ran.parts
    )
    table = Shown("Parts of the suite", headings, (False, False, True, True, True), rows, csv="")
    reasons = [
        Section(
            f"{part.place}: {part.invalid} invalid, with reasons",
            "",
            (Lines(tuple(("", reason) for reason in part.reasons)),),
            folded=True,
        )
        for part in ran.parts
        if part.reasons
    ]
    return Section("Parts", "parts", (Words((_PARTS,)), Table(table), *reasons))


def _place(part: Part, out: Path) -> str:
    """The part's name, with a link to its own report if it has one."""
    report = part.folder / "report" / "index.html"
    if not report.is_file():
        return part.place
    return link(part.place, Path(os.path.relpath(report, out)).as_posix())


def _repeat(ran: Ran) -> Section:
    facts = joined(
        f"Profile {ran.record.get('profile') or 'as written'}; kernel {', '.join(ran.kernels) or NOTHING}. "
        "SHA-256 of the sorted list of all trials’ packet hashes: ",
        code(ran.sha256),
    )
    return Section("Repeat it", "repeat", (Commands(ran.commands), Words((facts,))))
