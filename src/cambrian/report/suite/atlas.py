"""The atlas: suites and histories of releases as Markdown with PNG figures, and an index of what ran."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import vl_convert

from cambrian.markdown import table_lines
from cambrian.releases import history
from cambrian.releases import section as release_section
from cambrian.report import methods, output_folder
from cambrian.report.figures.figure import Figure, rounded
from cambrian.report.sections import Section, Table, every
from cambrian.report.suite import markdown, page, ran
from cambrian.report.suite.ran import Ran

FIGURES, TABLES = "figures", "tables"
#: the folder in the results that has a folder for each history
HISTORIES = "history"
#: the page of all histories
RELEASES = "releases"
#: PNG pixels for each pixel of a chart; small, because the pictures are kept in a repository
SCALE = 1.5
#: the index's first line
_HEADING = "# Atlas"
_RELEASES = """\
Each release runs alone, with its own client as the receiver. If the command names no study, there are two
networks: `clean` (10 Mbps, 50 ms, 1 BDP), and `probe-response-1` (10 Mbps, 100 ms, 4 BDP, 1 % random loss).
A figure is "different" by the rule of `cambrian gate`: the change is larger than the margin, and proven
over the seeds and corrected for all releases. "?": a figure looks different, without proof. "=": a
release that sends the packets of the release before in all trials."""


def make(results: Path, out: Path, tell: Callable[[int, int, str], None]) -> Path:
    """Write a file for each suite in ``results``, one for all histories, and ``README.md``; return the last.

    ``tell`` is called with the number of finished pages, the number of all pages and the current page.
    Files of the same pages from an earlier atlas are replaced.

    Raises:
        FileNotFoundError: ``results`` has neither a suite nor a history.
        StudyError: a suite's section is wrong, or a history was damaged.
        FileExistsError: ``out`` has files, but no atlas.
    """
    folders = [path for path in sorted(results.glob("*")) if ran.is_suite(path)]
    histories = sorted(path.parent for path in (results / HISTORIES).glob(f"*/{history.FILE}"))
    if not (folders or histories):
        raise FileNotFoundError(f"{results} has no results of a suite: run one, such as `cambrian run wpi`")
    index = out / "README.md"
    output_folder.check(out, index.name, _HEADING)
    out.mkdir(parents=True, exist_ok=True)
    if not index.exists():
        # by this line the folder of an interrupted atlas is known as an atlas
        index.write_text(f"{_HEADING}\n", encoding="utf-8")
    pages = len(folders) + bool(histories)
    suites: list[Ran] = []
    for number, folder in enumerate(folders):
        tell(number, pages, folder.name)
        suites.append(one := ran.read(folder))
        sections = page.sections_of(one)
        _write(one.suite.name, sections, _page(one, sections, f"{one.suite.name}/"), out)
    releases: list[Section] = []
    if histories:
        tell(len(folders), pages, RELEASES)
        releases = [release_section.made(history.read(folder)) for folder in histories]
        _write(RELEASES, releases, _releases(releases), out)
    tell(pages, pages, "index")
    index.write_text("\n".join(_index(suites, releases)) + "\n", encoding="utf-8")
    return index


def _write(name: str, sections: Sequence[Section], lines: Iterator[str], out: Path) -> None:
    """Write one page, with its figures and tables."""
    for kind in (FIGURES, TABLES):
        folder = out / kind / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    for figure in every(Figure, sections):
        _draw(figure, out, f"{name}/")
    for table in every(Table, sections):
        if table.frame is not None:
            table.frame.write_csv(out / TABLES / name / table.shown.csv)
    (out / f"{name}.md").write_text("\n".join(lines), encoding="utf-8")


def _draw(figure: Figure, out: Path, prefix: str) -> None:
    svg = figure.svg([panel.spec() for panel in figure.panels])
    (out / FIGURES / f"{prefix}{figure.name}.png").write_bytes(vl_convert.svg_to_png(svg, scale=SCALE))
    rounded(figure.data).write_csv(out / TABLES / f"{prefix}{figure.name}-figure.csv")


def _page(suite: Ran, sections: Sequence[Section], prefix: str) -> Iterator[str]:
    yield f"# {suite.suite.title}"
    yield ""
    if suite.suite.description:
        yield " ".join(suite.suite.description.split())
        yield ""
    yield from _facts(suite)
    yield ""
    for section in sections:
        yield from markdown.section(section, FIGURES, TABLES, prefix)
    yield "## Methods"
    yield ""
    for name, words in methods.of("suite").pairs:
        yield from (f"**{name}.** {words}", "")


def _facts(suite: Ran) -> Iterator[str]:
    yield " ".join(page.what_ran(suite))
    yield ""
    yield from (f"- Command: `{command}`" for command in suite.commands)
    yield f"- Profile: {suite.record.get('profile') or 'as written'}"
    yield f"- Kernel: {', '.join(suite.kernels) or '–'}"
    yield f"- SHA-256 of the sorted packet hashes of all trials: `{suite.sha256}`"
    for part in suite.parts:
        text = f"- `{suite.suite.name}/{part.place}`: {part.title}: {part.valid:,} valid"
        text += f", {part.invalid:,} invalid" if part.invalid else ""
        yield text + (f", {part.missing:,} not run" if part.missing else "")
        yield from (f"  - {reason}" for reason in part.reasons)


def _releases(sections: Sequence[Section]) -> Iterator[str]:
    yield "# Releases"
    yield ""
    yield from (_RELEASES, "")
    for one in sections:
        yield from markdown.section(one, FIGURES, TABLES, f"{RELEASES}/")


def _index(suites: Sequence[Ran], releases: Sequence[Section]) -> Iterator[str]:
    yield _HEADING
    yield ""
    yield "The results of each suite's last run, with the published figures beside ours. Made by"
    yield "`cambrian atlas`; the same commands give the same packets, and so the same hash."
    yield "[Findings](../findings.md) explains the surprising results in plain words."
    if suites:
        yield from _suites(suites)
    if releases:
        yield ""
        yield f"[Releases]({RELEASES}.md): what changed from release to release of these contestants:"
        yield ", ".join(f"[{one.heading}]({RELEASES}.md#{one.anchor})" for one in releases) + "."


def _suites(suites: Sequence[Ran]) -> Iterator[str]:
    yield ""
    yield from table_lines(
        ["Suite", "Profile", "Valid trials", "Invalid", "Not run", "Command"],
        map(_suite, suites),
        [False, False, True, True, True, False],
    )
    yield ""
    yield from table_lines(
        ["Suite", "Kernel", "SHA-256 of the sorted packet hashes of its trials"],
        ([suite.suite.name, ", ".join(suite.kernels) or "–", f"`{suite.sha256}`"] for suite in suites),
    )


def _suite(suite: Ran) -> list[str]:
    valid, invalid, missing = (
        f"{sum(getattr(part, name) for part in suite.parts):,}" for name in ("valid", "invalid", "missing")
    )
    if suite.absent:
        missing = f"{'' if missing == '0' else f'{missing} and '}all of {', '.join(suite.absent)}"
    profile = suite.record.get("profile") or "as written"
    name = suite.suite.name
    commands = ", ".join(f"`{command}`" for command in suite.commands)
    return [f"[{name}]({name}.md): {suite.suite.title}", profile, valid, invalid, missing, commands]
