"""Commands that read results: reports, tables, verdicts, claims."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from cambrian.cli.shared import (
    JsonOption,
    MarkdownOption,
    err,
    fail,
    one_format,
    out,
    reads_results,
    writing_to,
)

if TYPE_CHECKING:
    import polars as pl

    from cambrian.report.collect import Collected

commands = typer.Typer()
#: characters of a line that goes to a pipe: no table of ours is wider
WIDEST = 100_000


class Unwanted(StrEnum):
    """Verdicts that can end `cambrian verdicts` with exit status 1."""

    different = "different"
    inconclusive = "inconclusive"


@commands.command()
@reads_results("folder")
def report(
    folder: Annotated[Path, typer.Argument(help="A results directory that `cambrian run` made.")],
    to: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="A new or empty folder, or one with an earlier report. Default: FOLDER/report.",
        ),
    ] = None,
    parts: Annotated[
        bool, typer.Option("--parts/--no-parts", help="For a suite: also make the report of each part.")
    ] = True,
    figures: Annotated[
        bool,
        typer.Option(
            "--figures",
            help="Also write each figure to figures/: PNG, SVG, CSV, and PDF for a paper.",
        ),
    ] = False,
) -> None:
    """Make the report: one HTML page, and beside it its figures, its tables as CSV, and its trials over time.

    The page saves each figure as SVG, PNG or CSV. For a suite's results (results/wpi): a page of published
    and measured values, and each part's report.
    """
    print(make_report(folder, to, parts=parts, figures=figures))


def make_report(folder: Path, to: Path | None = None, *, parts: bool = True, figures: bool = False) -> Path:
    """What ``cambrian report`` does; returns the page's path."""
    from cambrian.report import page, study_page
    from cambrian.report.evidence import Evidence
    from cambrian.report.suite import page as suite_page
    from cambrian.report.suite import ran
    from cambrian.store import check

    # measuring takes minutes, so folders are checked before it
    page.check(to or folder / "report")
    if not ran.is_suite(folder):
        check.require_study(folder)
        # its tables are kept for `cambrian table`
        with writing_to(to or folder / "report"):
            found = Evidence(folder.absolute()).collected()
            return study_page.write(*found, to or folder / "report", with_files=figures)
    suite = ran.read(folder.absolute())
    reported = [part for part in suite.parts if part.trials] if parts else []
    for part in reported:
        page.check(part.folder / "report")
    evidence = Evidence(suite.folder.parent)
    for number, part in enumerate(reported, 1):
        err.print(f"report {number} of {len(reported)}: {part.place}", markup=False)
        # this keeps the frames that the suite's page uses, so each trial is measured once
        name = part.folder.relative_to(evidence.root).as_posix()
        with writing_to(part.folder / "report"):
            study_page.write(*evidence.collected(name), part.folder / "report", with_files=figures)
    err.print(f"report of the suite: {suite.suite.name}", markup=False)
    with writing_to(to or folder / "report"):
        return suite_page.write(suite, to or folder / "report", with_files=figures)


@commands.command()
@reads_results("results")
def atlas(
    results: Annotated[Path, typer.Argument(help="The folder with the suites' results.")] = Path("results"),
    to: Annotated[
        Path, typer.Option("--out", "-o", help="A new or empty folder, or one with an earlier atlas.")
    ] = Path("docs/results/atlas"),
) -> None:
    """Write every suite's findings as Markdown with PNG figures, a page of all histories, and an index."""
    from cambrian.report.suite import atlas as suites_atlas

    def tell(done: int, total: int, name: str) -> None:
        err.print(f"atlas: {name} ({done} of {total} suites done)", markup=False, highlight=False)

    with writing_to(to):
        print(suites_atlas.make(results.absolute(), to, tell))


@commands.command()
def quantities(
    pattern: Annotated[
        str | None, typer.Argument(help="Only quantities that match, such as 'delay*'; default: all.")
    ] = None,
    markdown: MarkdownOption = False,
) -> None:
    """List every quantity that is measured for a flow: its name, unit and meaning.

    These are the columns of a study's observations; claims and charts use the same names.
    """
    from fnmatch import fnmatchcase

    from rich.table import Column, Table

    from cambrian.measure import quantities as registry
    from cambrian.measure.reference import page
    from cambrian.study import hints

    if markdown:
        print(page(), end="")
        return
    matching = [quantity for quantity in registry.ALL.values() if fnmatchcase(quantity.name, pattern or "*")]
    if not matching:
        near = hints.nearest(pattern or "", list(registry.ALL))
        meant = f"did you mean {near}? " if near else ""
        fail(f"no quantity matches {pattern}; {meant}`cambrian quantities` lists them all")
    shown = Table(Column("Quantity", overflow="fold"), "Unit", "Of", "Meaning")
    for quantity in matching:
        shown.add_row(quantity.name, quantity.unit, quantity.level, quantity.meaning)
    out.print(shown)


@commands.command()
@reads_results("folder")
def table(
    folder: Annotated[Path, typer.Argument(help="A results directory that `cambrian run` made.")],
    name: Annotated[str | None, typer.Argument(help="Name of the table. Default: list the tables.")] = None,
    columns: Annotated[
        str | None, typer.Option(help="Only these columns, such as network,contestant,ratio.")
    ] = None,
    wide: Annotated[
        bool, typer.Option("--wide", help="All columns that have a value, also on a terminal.")
    ] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV with all digits.")] = False,
    markdown: MarkdownOption = False,
) -> None:
    """Print a table of the report: conformance, noise_floor, pairwise, parameters, states…

    It has the few most useful columns; --wide and --markdown print all that have a value, --csv prints all.
    Columns without room on a terminal follow below; a pipe gets one wide table.
    """
    from cambrian.report import printed, tables
    from cambrian.report.evidence import Evidence
    from cambrian.store import check
    from cambrian.study import hints

    one_format(csv=as_csv, markdown=markdown)
    check.require_study(folder)
    _check_name(name)
    frames = Evidence(folder.absolute()).tables()
    if not frames:
        fail(f"{folder} holds no finished trial yet; remedy: cambrian run")
    if name is None:
        for known, frame in frames.items():
            print(f"{known}  {frame.height} rows")
        return
    if name not in frames:
        fail(f"{folder} has no table {name}; {hints.for_name(name, frames, 'its tables are')}")
    asked = tuple(column.strip() for column in columns.split(",")) if columns else ()
    # a table without rows may lack columns
    if not frames[name].height:
        if as_csv:
            print(frames[name].write_csv(), end="")
        else:
            print("no rows")
        return
    if not (asked or wide or as_csv or markdown):
        asked = tables.kinds()[name].printed
    try:
        wanted = frames[name].columns if as_csv and not asked else printed.chosen(frames[name], asked)
    except KeyError as error:
        fail(f"table {name}: {error.args[0]}")
    if as_csv:
        print(frames[name].select(wanted).write_csv(), end="")
    elif markdown:
        print(printed.markdown(frames[name], wanted), end="")
    else:
        _print_table(frames[name], wanted)


def _check_name(name: str | None) -> None:
    """End the command if no study has this table: to make all of a big study's takes many minutes."""
    from cambrian.report import tables
    from cambrian.study import hints

    known = list(tables.kinds())
    if name is not None and name not in known:
        fail(f"no table {name}; {hints.for_name(name, known, 'tables are')}")


def _print_table(frame: pl.DataFrame, columns: Sequence[str]) -> None:
    from cambrian.report import printed

    # a pipe has no width
    width = out.width if out.is_terminal or "COLUMNS" in os.environ else None
    console = out if width else Console(width=WIDEST, markup=False, emoji=False)
    for block in printed.terminal(frame, columns, width):
        console.print(block)


@commands.command()
@reads_results("folder")
def verdicts(
    folder: Annotated[Path, typer.Argument(help="A results directory that `cambrian run` made.")],
    as_json: JsonOption = False,
    fail_on: Annotated[
        list[Unwanted] | None,
        typer.Option(
            help="different: end with exit status 1 if a contestant is different. "
            "inconclusive: also if one is inconclusive or not judged. May be repeated."
        ),
    ] = None,
) -> None:
    """Print for each contestant whether it conforms, what differs and what is inconclusive.

    Exit status 0 for any verdicts, 1 if --fail-on names one of them or if no contestant can be judged.
    """
    from cambrian.report import collect, tables, words
    from cambrian.store.results import Results

    results = Results(folder)
    collected = collect.collect(results)
    if missing := words.missing(collected):
        err.print(f"{folder}: {words.missing_text(missing)}; remedy: cambrian run", markup=False)
    if others := results.unlisted():
        text = words.unlisted_text(others, collected.raw["command"])
        err.print(f"{folder}: {text}", markup=False)
    frames = tables.some_tables(collected, ["verdicts", "parameters", "probes"])
    frame = frames.get("verdicts")
    valid = [cell for cell in collected.cells if cell.trials]
    if frame is None and valid and all(cell.page for cell in valid):
        remedy = f"cambrian table {shlex.quote(str(folder))} page_loads"
        fail(f"{folder} holds page loads alone, and page loads are not judged; remedy: {remedy}", 1)
    if frame is None or not valid:
        fail(f"{folder} holds no valid trial of a contestant that is judged against a kernel CCA", 1)
    if as_json:
        rows = {kind: frames[kind].to_dicts() if kind in frames else [] for kind in ("parameters", "probes")}
        for verdict in (records := frame.to_dicts()):
            for kind, all_rows in rows.items():
                verdict[kind] = [row for row in all_rows if row["contestant"] == verdict["contestant"]]
        print(json.dumps(records, indent=1))
    else:
        _print_verdicts(collected, frame)
    if any(is_unwanted(verdict, fail_on or ()) for verdict in frame.to_dicts()):
        raise typer.Exit(1)


def is_unwanted(verdict: Mapping[str, Any], unwanted: Sequence[Unwanted]) -> bool:
    """Is a row of the table of verdicts one of these? With *inconclusive* only conformance is wanted."""
    state = "different" if verdict["differs"] else verdict["verdict"]
    return state in unwanted or (Unwanted.inconclusive in unwanted and state != "conformant")


def _print_verdicts(collected: Collected, frame: pl.DataFrame) -> None:
    from cambrian.report import probed, words

    for sentence in words.placebo_differs(collected, {"verdicts": frame}):
        out.print(sentence, markup=False, highlight=False)
    behaviour = probed.behaviour(collected)
    for verdict in frame.to_dicts():
        out.print(Text.assemble((verdict["contestant"], "bold"), f": {verdict['verdict']}"))
        out.print(f"  {verdict['text']}", markup=False, highlight=False)
        if verdict["evidence"]:
            out.print(f"  Evidence: {verdict['evidence']}.", markup=False, highlight=False)
        if (side := behaviour.get(verdict["contestant"])) is not None:
            out.print(f"  Probes: {side.counts}.", markup=False, highlight=False)


@commands.command()
@reads_results("results")
def claims(
    results: Annotated[Path, typer.Option(help="The folder with the suites' results.")] = Path("results"),
    paper: Annotated[
        str | None, typer.Option(help="Only one paper: wpi, beta, quicbench, long-look, loss-recovery.")
    ] = None,
    as_json: JsonOption = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
) -> None:
    """Judge the papers' claims with the results here: holds, doesn't hold, inconclusive, not run."""
    from cambrian.claims import contradictions, listing, load, verdicts
    from cambrian.claims.frames import CachedFrames
    from cambrian.report.evidence import Evidence
    from cambrian.study import hints

    ledger = load.load()
    papers = {claim.paper for claim in ledger.claims}
    if paper is not None and paper not in papers:
        fail(f"no paper {paper}; {hints.for_name(paper, papers, 'papers are')}")
    if results != Path("results") and not results.is_dir():
        fail(f"no folder {results}; remedy: name the folder with the suites' results")
    frames = CachedFrames(Evidence(results))
    asked = [claim for claim in ledger.claims if paper in {None, claim.paper}]
    judged = [verdicts.judge(claim, frames) for claim in asked]
    names = {claim.id for claim in asked}
    explained = [
        contradictions.explain(contradiction, frames)
        for contradiction in ledger.contradictions
        if names & set(contradiction.claims)
    ]
    if as_json:
        print(json.dumps(listing.records(judged, explained), indent=1, ensure_ascii=False))
    elif markdown:
        print(listing.markdown(judged, explained), end="")
    else:
        listing.terminal(out, judged, explained)
