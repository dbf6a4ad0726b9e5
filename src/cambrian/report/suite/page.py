"""A suite's page from its results: blocks, rendered as one self-contained HTML file."""

from __future__ import annotations

import os
from pathlib import Path

from cambrian.claims.frames import CachedFrames
from cambrian.report import page
from cambrian.report.evidence import Evidence
from cambrian.report.figures.figure import config
from cambrian.report.suite import build
from cambrian.report.suite.blocks import Block
from cambrian.report.suite.build import Subject
from cambrian.report.suite.ran import Part, Ran
from cambrian.report.suite.sections import sections
from cambrian.report.words import counted

METHODS = (
    (
        "Published figures",
        "As printed; published/ has the table and row of each. Their intervals are Student’s 95 %, "
        "from the printed SD and number of runs, if known. We compare our figures with them; they are no "
        "expected values.",
    ),
    (
        "Measured figures",
        "The unit of replication is the seed. Its value for a side is the mean of its trials, and a "
        "cell’s figure is the mean over its seeds. Brackets are 95 % jackknife intervals: each seed is left "
        "out once, of all cells together. With fewer than three seeds there is no interval. Throughput "
        "counts frames at the bottleneck, payload throughput counts the payload of UDP or TCP in them.",
    ),
    (
        "Different, equivalent, inconclusive",
        "Cells are compared by t over seeds, paired if both sides have the same seeds, or else Welch’s; "
        "Benjamini–Hochberg over the cells of a figure, 5 %. Equivalent: the whole interval lies within a "
        "margin (1 %, or 5 points of a share). Inconclusive: neither. Comparisons of measured with "
        "published cells are not corrected: among many cells, some 95 % intervals miss by chance.",
    ),
)


def blocks(ran: Ran) -> list[Block]:
    """The suite's sections with their content.

    Raises:
        StudyError: a section is wrong, or does not fit its data.
    """
    found = sections(ran.file, ran.contestants)
    profile = ran.record.get("profile")
    subject = Subject(ran.suite.name, ran.file.path, ran.suite.paper, profile, ran.prefixes)
    return build.blocks(subject, found, CachedFrames(Evidence(ran.folder.parent)))


def write(ran: Ran, out: Path, *, with_files: bool = False) -> Path:
    """Write ``out``/index.html with its figures and tables; return the page's path.

    ``with_files``: figures as PNG, SVG and CSV, too.

    Raises:
        StudyError: as :func:`blocks`.
    """
    page_blocks = blocks(ran)
    page.prepare(out, "figures", "tables")
    for block in page_blocks:
        for one in block.content.tables:
            one.frame.write_csv(out / "tables" / one.shown.csv)
        for figure in block.content.figures:
            page.draw(figure, out / "figures", with_files=with_files)
    index = out / "index.html"
    index.write_text(
        page.environment()
        .get_template("suite.html.j2")
        .render(
            suite=ran.suite,
            what_ran=what_ran(ran),
            blocks=page_blocks,
            parts=[_shown(part, out) for part in ran.parts],
            methods=METHODS,
            command=ran.record["command"],
            profile=ran.record.get("profile"),
            kernels=ran.kernels,
            sha256=ran.sha256,
            style=page.style(),
            script=page.asset("page.js"),
            themes=page.as_json({theme: config(theme) for theme in ("light", "dark")}),
        ),
        encoding="utf-8",
    )
    return index


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
    absent = [name for name in ran.suite.parts if name not in {part.folder.name for part in ran.parts}]
    return [text] + ([f"Parts that have not run: {', '.join(absent)}."] if absent else [])


def _shown(part: Part, out: Path) -> dict[str, object]:
    """The part for the page, with a link to its own report if it has one."""
    report = part.folder / "report" / "index.html"
    return {
        "place": part.place,
        "title": part.title,
        "valid": f"{part.valid:,}",
        "invalid": f"{part.invalid:,}",
        "missing": f"{part.missing:,}",
        "reasons": part.reasons,
        "report": Path(os.path.relpath(report, out)).as_posix() if report.is_file() else "",
    }
