"""Commands that read results: reports, tables, verdicts, claims."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from cambrian.cli.shared import JsonOption, MarkdownOption, err, fail, out

commands = typer.Typer()


@commands.command()
def report(
    folder: Annotated[Path, typer.Argument(help="A results directory that `cambrian run` made.")],
    to: Annotated[Path | None, typer.Option("--out", "-o", help="Where to. Default: DIR/report.")] = None,
    parts: Annotated[
        bool, typer.Option("--parts/--no-parts", help="Of a suite: make each part's own report, too.")
    ] = True,
) -> None:
    """Make the report: one HTML page, each figure as PNG and SVG, the tables as CSV.

    Of a suite's results (results/wpi): the page with published beside measured, and each part's report.
    """
    from cambrian.report import page
    from cambrian.report.evidence import Evidence
    from cambrian.report.suite import page as suite_page
    from cambrian.report.suite import ran
    from cambrian.store.results import Results

    if not ran.is_suite(folder):
        Results(folder).study()
        whole = folder.absolute()
        # its tables are kept for `cambrian table`
        print(page.write(*Evidence(whole.parent).collected(whole.name), to or folder / "report"))
        return
    found = ran.read(folder.absolute())
    own = [part for part in found.parts if part.trials] if parts else []
    evidence = Evidence(found.folder.parent)
    for number, part in enumerate(own, 1):
        err.print(f"report {number} of {len(own)}: {part.place}", markup=False)
        # measured once: the suite's page is of the frames that this keeps
        name = part.folder.relative_to(evidence.root).as_posix()
        page.write(*evidence.collected(name), part.folder / "report")
    err.print(f"the suite's page: {found.suite.name}", markup=False)
    print(suite_page.write(found, to or folder / "report"))


@commands.command()
def atlas(
    results: Annotated[Path, typer.Argument(help="The folder with the suites' results.")] = Path("results"),
    to: Annotated[Path, typer.Option("--out", "-o", help="Where to.")] = Path("docs/results/atlas"),
) -> None:
    """Write every suite's findings as Markdown with PNG figures, and an index of what ran."""
    from cambrian.report.suite import atlas as suites_atlas

    def tell(done: int, total: int, name: str) -> None:
        err.print(f"atlas: {name} ({done} of {total} suites done)", markup=False, highlight=False)

    print(suites_atlas.make(results.absolute(), to, tell))


@commands.command()
def quantities(
    pattern: Annotated[str | None, typer.Argument(help="Only these, such as 'delay*'; default: all.")] = None,
    markdown: MarkdownOption = False,
) -> None:
    """List every figure that is measured of a flow: its name, unit and meaning.

    These are the columns of a study's observations, which claims and charts name.
    """
    from fnmatch import fnmatchcase

    from rich.table import Table

    from cambrian.measure import quantities as registry
    from cambrian.measure.reference import page
    from cambrian.study import hints

    if markdown:
        print(page(), end="")
        return
    kept = [one for one in registry.ALL.values() if fnmatchcase(one.name, pattern or "*")]
    if not kept:
        near = hints.nearest(pattern or "", list(registry.ALL))
        meant = f"did you mean {near}? " if near else ""
        fail(f"no quantity is called {pattern}; {meant}`cambrian quantities` lists them all")
    shown = Table("Quantity", "Unit", "Of", "Meaning")
    for one in kept:
        shown.add_row(one.name, one.unit, one.level, one.meaning)
    out.print(shown)


@commands.command()
def table(
    folder: Annotated[Path, typer.Argument(help="A results directory that `cambrian run` made.")],
    name: Annotated[
        str | None, typer.Argument(help="Which table; without one, those that there are.")
    ] = None,
    columns: Annotated[str | None, typer.Option(help="Only these, such as network,contestant,ratio.")] = None,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV with every digit.")] = False,
    markdown: MarkdownOption = False,
) -> None:
    """Print a table of the report: conformance, noise_floor, pairwise, parameters, states…"""
    from cambrian.report import printed
    from cambrian.report.evidence import Evidence
    from cambrian.store.results import Results
    from cambrian.study import hints

    Results(folder).study()
    frames = Evidence(folder.absolute().parent).tables(folder.absolute().name)
    if not frames:
        fail(f"{folder} holds no trial yet: let `cambrian run` finish one")
    if name is None:
        for known, frame in frames.items():
            print(f"{known}  {frame.height} rows")
        return
    if name not in frames:
        fail(f"{folder} has no table {name}; {hints.for_name(name, frames, 'its tables are')}")
    try:
        wanted = printed.chosen(frames[name], columns)
    except KeyError as error:
        fail(f"table {name}: {error.args[0]}")
    if as_csv:
        print(frames[name].select(wanted).write_csv(), end="")
    elif markdown:
        print(printed.markdown(frames[name], wanted), end="")
    else:
        out.print(printed.terminal(frames[name], wanted))


@commands.command()
def verdicts(
    folder: Annotated[Path, typer.Argument(help="A results directory that `cambrian run` made.")],
    as_json: JsonOption = False,
) -> None:
    """Say of each contestant whether it conforms, what differs and what is not settled."""
    from cambrian.report import collect, probed, tables, words
    from cambrian.store.results import Results

    collected = collect.collect(Results(folder))
    frames = tables.some_tables(collected, ["verdicts", "parameters", "probes"])
    found = frames.get("verdicts")
    if found is None:
        fail(f"{folder} holds no valid trial of a contestant that is judged against a kernel CCA", 1)
    if as_json:
        rows = {kind: frames[kind].to_dicts() if kind in frames else [] for kind in ("parameters", "probes")}
        for one in (verdicts := found.to_dicts()):
            for kind, all_rows in rows.items():
                one[kind] = [row for row in all_rows if row["contestant"] == one["contestant"]]
        print(json.dumps(verdicts, indent=1))
        return
    for sentence in words.placebo_differs(collected, found):
        out.print(sentence, markup=False, soft_wrap=True, highlight=False)
    behaviour = probed.behaviour(collected)
    for one in found.to_dicts():
        out.print(f"[bold]{one['contestant']}[/bold]: {one['verdict']}")
        out.print(f"  {one['text']}", markup=False, soft_wrap=True, highlight=False)
        if one["evidence"]:
            out.print(f"  Evidence: {one['evidence']}.", markup=False, soft_wrap=True, highlight=False)
        if (side := behaviour.get(one["contestant"])) is not None:
            out.print(f"  Probes: {side.counts}.", markup=False, soft_wrap=True, highlight=False)


@commands.command()
def claims(
    results: Annotated[Path, typer.Option(help="The folder with the suites' results.")] = Path("results"),
    paper: Annotated[
        str | None, typer.Option(help="Only this paper's: wpi, beta, quicbench, long-look, loss-recovery.")
    ] = None,
    as_json: JsonOption = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
) -> None:
    """Judge the papers' claims by our results: holds, doesn't hold, inconclusive, not run."""
    from cambrian.claims import contradictions, listing, load, verdicts
    from cambrian.claims.frames import Remembered
    from cambrian.report.evidence import Evidence
    from cambrian.study import hints

    ledger = load.load()
    papers = {claim.paper for claim in ledger.claims}
    if paper is not None and paper not in papers:
        fail(f"no paper {paper}; {hints.for_name(paper, papers, 'they are')}")
    frames = Remembered(Evidence(results))
    asked = [claim for claim in ledger.claims if paper in {None, claim.paper}]
    judged = [verdicts.judge(claim, frames) for claim in asked]
    names = {claim.id for claim in asked}
    explained = [
        contradictions.explain(one, frames) for one in ledger.contradictions if names & set(one.claims)
    ]
    if as_json:
        print(json.dumps(listing.records(judged, explained), indent=1, ensure_ascii=False))
    elif markdown:
        print(listing.markdown(judged, explained), end="")
    else:
        listing.terminal(out, judged, explained)
