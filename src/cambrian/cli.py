"""The command line: one thin front over the rooms."""

from __future__ import annotations

import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer
from rich.console import Console
from rich.table import Table

from cambrian import __version__

if TYPE_CHECKING:
    from cambrian.engine.conduct import Order
    from cambrian.stacks.catalogue import Stack
    from cambrian.suites.find import Found

app = typer.Typer(
    name="cambrian",
    help="A laboratory for congestion control: real QUIC stacks and kernel TCP over netem, in virtual time.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
kernel_app = typer.Typer(
    help="The virtual-time kernel: what is there, and building it.", no_args_is_help=True
)
stacks_app = typer.Typer(help="The stacks: what there is, and building them.", invoke_without_command=True)
app.add_typer(kernel_app, name="kernel")
app.add_typer(stacks_app, name="stacks")

out = Console()
err = Console(stderr=True, highlight=False)


class Profile(StrEnum):
    """How much of a study to run."""

    quick = "quick"
    full = "full"


class Clock(StrEnum):
    """Whose seconds count."""

    virtual = "virtual"
    real = "real"


def fail(message: str, status: int = 2) -> NoReturn:
    """One clear error, no traceback."""
    err.print(f"cambrian: {message}", markup=False, soft_wrap=True)
    raise typer.Exit(status)


JobsOption = Annotated[int, typer.Option("--jobs", "-j", min=0, help="Trials at a time; 0 is one a core.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for programs instead of a table.")]


StackNames = Annotated[list[str] | None, typer.Argument(help="Stacks; default: all.")]


def _version(wanted: bool) -> None:
    if wanted:
        print(__version__)
        raise typer.Exit


@app.callback()
def front(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print it and end.")
    ] = False,
) -> None:
    """A laboratory for congestion control: real QUIC stacks and kernel TCP over netem, in virtual time."""
    del version


@app.command()
def run(
    study: Annotated[
        str,
        typer.Argument(
            help="A built-in study's name (see `cambrian studies`), a TOML file, a suite such as wpi, "
            "a part of one such as wpi/grid, or all: every suite."
        ),
    ],
    folder: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Results directory. Default: results/STUDY; of suites, results."),
    ] = None,
    jobs: JobsOption = 0,
    profile: Annotated[
        Profile | None, typer.Option(help="quick or full; default: the study as it is written.")
    ] = None,
    seed: Annotated[int, typer.Option(help="First seed; the others follow it.")] = 1,
    clock: Annotated[
        Clock, typer.Option(help="virtual (exact and fast) or real (for comparison).")
    ] = Clock.virtual,
    only: Annotated[
        list[str] | None,
        typer.Option(
            help="Only groups or contestants that match, such as 'quinn*' or '*/bbr*'; may be repeated."
        ),
    ] = None,
    wall_limit: Annotated[
        float | None, typer.Option("--wall-limit", min=1, help="Seconds of real time that a trial may take.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would run and what it costs, and end.")
    ] = False,
    contestants: Annotated[
        list[str] | None,
        typer.Option("--contestant", help="STACK/CCA to run a suite for that is about one, such as rfc9743."),
    ] = None,
) -> None:
    """Run a study, or a paper's whole suite of them; what is there already is not run again."""
    from cambrian.engine import conduct
    from cambrian.suites import find

    order = conduct.Order(
        study,
        profile.value if profile else None,
        seed,
        clock.value,
        ",".join(only) if only else None,
        jobs,
        wall_limit,
    )
    found, part = find.asked(study)
    if found:
        _run_suites(found, part, contestants or [], order, folder or Path("results"), dry_run=dry_run)
        return
    if contestants:
        fail("--contestant is for suites that are about one contestant, such as rfc9743")
    if dry_run:
        asked, groups = conduct.expanded(order)
        conduct.announce(order, asked, groups, err)
        for group in groups:
            least, most = group.least_trials, len(group.trials)
            print(f"{group.key}  {most if least == most else f'{least} to {most}'} trials")
        return
    folder, summary = conduct.conduct(order, folder, err)
    print(folder)
    if summary.errors:
        raise typer.Exit(1)


def _run_suites(
    found: list[Found], part: str | None, contestants: list[str], order: Order, root: Path, *, dry_run: bool
) -> None:
    from cambrian.suites import conduct

    parts = conduct.planned(found, part, contestants, order)
    if dry_run:
        conduct.announce(found, parts, order, err)
        for one in parts:
            for group in one.groups:
                print(f"{one.part.place}: {group.key}  {len(group.trials)} trials")
        return
    command = order.command + "".join(f" --contestant {name}" for name in contestants)
    whole = conduct.conduct(found, parts, order, root, command, err)
    print(root)
    if whole.errors:
        raise typer.Exit(1)


@app.command()
def trial(
    description: Annotated[
        Path, typer.Argument(help='A trial as JSON (the "trial" of a manifest.json will do).')
    ],
    folder: Annotated[Path, typer.Option("--out", "-o", help="Results directory.")],
    core: Annotated[int | None, typer.Option(help="Pin the guest to this processor.")] = None,
    wall_limit: Annotated[
        float | None, typer.Option("--wall-limit", min=1, help="Seconds of real time.")
    ] = None,
) -> None:
    """Run one trial and print its verdict."""
    from pydantic import ValidationError

    from cambrian.engine import environment, plan, pool
    from cambrian.engine import trial as one_trial
    from cambrian.store.results import Results
    from cambrian.study.model import Trial

    try:
        asked = Trial.model_validate_json(description.read_text())
    except OSError as error:
        fail(f"{description}: {error.strerror}")
    except ValidationError as error:
        first = error.errors()[0]
        fail(f"{description}: {'.'.join(str(part) for part in first['loc']) or 'trial'}: {first['msg']}")
    made = environment.ensure(set(plan.stack_names(asked)))
    results = Results(folder.absolute())
    outcome = one_trial.run(
        asked, made, results, core=pool.cores()[0] if core is None else core, limit_s=wall_limit
    )
    found = results.trial(outcome.trial_id)
    print(
        json.dumps(
            {
                "folder": str(found.folder),
                "packets_sha256": found.manifest["packets_sha256"],
                **found.verdict,
            },
            indent=1,
        )
    )
    if not outcome.valid:
        raise typer.Exit(1)


@app.command()
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

    if not ran.is_suite(folder):
        print(page.make(folder, to or folder / "report"))
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


@app.command()
def atlas(
    results: Annotated[Path, typer.Argument(help="The folder with the suites' results.")] = Path("results"),
    to: Annotated[Path, typer.Option("--out", "-o", help="Where to.")] = Path("docs/atlas"),
) -> None:
    """Write every suite's findings as Markdown with PNG figures, and an index of what ran."""
    from cambrian.report.suite import atlas as suites_atlas

    def tell(done: int, total: int, name: str) -> None:
        err.print(f"atlas: {name} ({done} of {total} suites done)", markup=False, highlight=False)

    print(suites_atlas.make(results.absolute(), to, tell))


@app.command()
def studies(as_json: JsonOption = False) -> None:
    """List the built-in studies, and the suites with their parts."""
    from cambrian.study import builtin
    from cambrian.suites import find

    found = builtin.builtin_studies()
    suites = [one.suite for one in find.suites()]
    if as_json:
        listed = [{"name": item.name, "title": item.title, "description": item.description} for item in found]
        print(json.dumps(listed + [suite.model_dump(mode="json") for suite in suites]))
        return
    table = Table("study", "what it asks")
    for item in found:
        table.add_row(item.name, item.title)
    out.print(table)
    table = Table("suite", "what it asks", "parts")
    for suite in suites:
        table.add_row(suite.name, suite.title, ", ".join(suite.parts))
    out.print(table)


@app.command()
def doctor(as_json: JsonOption = False) -> None:
    """Say what is present, missing or stale here, and the remedy for each."""
    from cambrian.doctor import report as doctor_report
    from cambrian.doctor.checks import run_checks

    checks = run_checks()
    doctor_report.render(checks, as_json)
    if doctor_report.failed(checks):
        raise typer.Exit(1)


@app.command()
def selftest(
    as_json: JsonOption = False,
    only: Annotated[str | None, typer.Option(help="Only checks whose name matches, such as 'rtt*'.")] = None,
    jobs: JobsOption = 0,
) -> None:
    """Answer "can I trust this installation?" by measuring it; exit status 1 if any check misses."""
    from cambrian.engine import pool
    from cambrian.selftest import run as run_selftest

    if not run_selftest(as_json=as_json, only=only, jobs=jobs or len(pool.cores())):
        raise typer.Exit(1)


@kernel_app.command("build")
def kernel_build(
    source: Annotated[
        Path | None, typer.Option(help="A kernel source tarball; default: newest of the Debian mirror.")
    ] = None,
) -> None:
    """Build the kernel if it is not there yet, and print its path."""
    from cambrian.kernel import locate

    print(locate.ensure(archive=source).path)


@kernel_app.command("show")
def kernel_show() -> None:
    """Print what the kernel is and what it can do."""
    from dataclasses import asdict

    from cambrian.kernel import locate

    found = locate.find()
    if found is None:
        fail("no kernel is built yet; remedy: cambrian kernel build", 1)
    print(json.dumps(asdict(found), indent=1, default=str))


@stacks_app.callback()
def stacks(context: typer.Context, as_json: JsonOption = False) -> None:
    """List the stacks: versions, congestion controllers, what each confirms and exports."""
    if context.invoked_subcommand is None:
        from cambrian.stacks import listing

        listing.show(out, as_json=as_json)


@stacks_app.command("build")
def stacks_build(names: StackNames = None) -> None:
    """Build stacks that are not built yet, and print where each lies."""
    from cambrian.stacks import build

    for stack in _stacks(names):
        print(f"{stack.name}  {build.ensure(stack).binary}")


@stacks_app.command("test")
def stacks_test(
    names: StackNames = None,
    as_json: JsonOption = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print a Markdown table.")] = False,
    jobs: JobsOption = 0,
) -> None:
    """Try each controller of a stack: throughput, loss, the same bytes twice, and that it runs as asked.

    Each transfers alone over 20 Mbps and 50 ms for 20 s, twice over a clean path and once with
    1 % of random loss. Exit status 1 if anything misses that no cause in the manifest explains.
    """
    from cambrian.engine import pool
    from cambrian.proof import rows, stacks, table

    found = stacks.run(_stacks(names), jobs=jobs or len(pool.cores()), console=err)
    if as_json:
        print(json.dumps([row.record() for row in found], indent=1))
    elif markdown:
        print(table.markdown(found), end="")
    else:
        out.print(table.terminal(found))
        for remark in table.remarks(found):
            out.print(remark, markup=False, soft_wrap=True)
    err.print(rows.summary(found), markup=False)
    if not all(row.ok for row in found):
        raise typer.Exit(1)


@stacks_app.command("add")
def stacks_add(
    manifest: Annotated[Path, typer.Argument(help="A stack's TOML file (docs/bring-your-own-stack.md).")],
    test: Annotated[bool, typer.Option("--test/--no-test", help="Try it at once.")] = True,
) -> None:
    """Check a stack's manifest and keep it in your configuration, so that every study knows it."""
    from cambrian.stacks import adding

    added = adding.add(manifest)
    err.print(f"{added.name} is kept in {added.file}", markup=False, soft_wrap=True)
    if test:
        stacks_test([added.name])


@app.command()
def interop(names: StackNames = None, as_json: JsonOption = False, jobs: JobsOption = 0) -> None:
    """Try every stack's server with every stack's client, and print the matrix."""
    from dataclasses import asdict

    from cambrian.engine import pool
    from cambrian.proof import interop as proof

    cells = proof.run(_stacks(names), jobs=jobs or len(pool.cores()), console=err)
    if as_json:
        print(json.dumps([asdict(cell) for cell in cells], indent=1))
    else:
        out.print(proof.matrix(cells))
    bad = [cell for cell in cells if cell.state in ("slow", "fails")]
    for cell in bad:
        err.print(f"{cell.sender} → {cell.receiver}: {cell.state}: {cell.detail}", markup=False)
    if any(cell.state == "fails" for cell in cells):
        raise typer.Exit(1)


@app.command()
def table(
    folder: Annotated[Path, typer.Argument(help="A results directory that `cambrian run` made.")],
    name: Annotated[
        str | None, typer.Argument(help="Which table; without one, those that there are.")
    ] = None,
    columns: Annotated[str | None, typer.Option(help="Only these, such as network,contestant,ratio.")] = None,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV with every digit.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print a Markdown table.")] = False,
) -> None:
    """Print a table of the report: conformance, noise_floor, pairwise, parameters, states…"""
    from cambrian.report import printed, tables
    from cambrian.report.collect import collect
    from cambrian.store.results import Results
    from cambrian.study import hints

    frames = tables.all_tables(collect(Results(folder)))
    if name is None:
        for known, frame in frames.items():
            print(f"{known}  {frame.height} rows")
        return
    if name not in frames:
        fail(f"{folder} has no table {name}; {hints.for_name(name, frames, 'table')}")
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


@app.command()
def verdicts(
    folder: Annotated[Path, typer.Argument(help="A results directory that `cambrian run` made.")],
    as_json: JsonOption = False,
) -> None:
    """Say of each contestant: conformant, off by a parameter (which), or another algorithm."""
    from cambrian.report import collect
    from cambrian.report.tables import parameters as parameters_table
    from cambrian.report.tables import verdicts as verdicts_table
    from cambrian.store.results import Results

    collected = collect.collect(Results(folder))
    found, parameters = verdicts_table.table(collected), parameters_table.table(collected)
    if found is None or parameters is None:
        fail(f"{folder} holds no valid trial of a contestant that is judged against a kernel CCA", 1)
    if as_json:
        rows = parameters.to_dicts()
        for one in (verdicts := found.to_dicts()):
            one["parameters"] = [row for row in rows if row["contestant"] == one["contestant"]]
        print(json.dumps(verdicts, indent=1))
        return
    for one in found.to_dicts():
        out.print(f"[bold]{one['contestant']}[/bold]: {one['verdict']}")
        out.print(f"  {one['text']}", markup=False, soft_wrap=True, highlight=False)
        if one["evidence"]:
            out.print(f"  Evidence: {one['evidence']}.", markup=False, soft_wrap=True, highlight=False)


@app.command()
def claims(
    results: Annotated[Path, typer.Option(help="The folder with the suites' results.")] = Path("results"),
    paper: Annotated[
        str | None, typer.Option(help="Only this paper's: wpi, beta, quicbench, long-look, loss-recovery.")
    ] = None,
    as_json: JsonOption = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
) -> None:
    """Judge the papers' claims by our results: holds, doesn't hold, not significant, not run."""
    from cambrian.claims import contradictions, listing, load, verdicts
    from cambrian.claims.frames import Remembered
    from cambrian.report.evidence import Evidence
    from cambrian.study import hints

    ledger = load.load()
    papers = {claim.paper for claim in ledger.claims}
    if paper is not None and paper not in papers:
        fail(f"no paper {paper}; {hints.for_name(paper, papers, 'papers')}")
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


@app.command()
def corpus(
    folder: Annotated[
        Path | None, typer.Option("--out", "-o", help="Results directory. Default: results/fault-corpus.")
    ] = None,
    profile: Annotated[
        Profile | None, typer.Option(help="quick (one trial each, minutes) or the study as it is written.")
    ] = None,
    jobs: JobsOption = 0,
    as_json: JsonOption = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print a Markdown table.")] = False,
) -> None:
    """Prove the judge: plant faults in the lab stack, and count those that are named rightly.

    Runs the study fault-corpus (what its results directory holds is not run again), estimates
    every parameter from the traces, and compares with the answer key. Exit status 1 if fewer than
    90 % of the exercised faults are named, or more than 5 % of the clean controllers accused.
    """
    from dataclasses import asdict

    from cambrian.engine import conduct
    from cambrian.proof import corpus as proof
    from cambrian.proof import corpus_table, faults
    from cambrian.store.results import Results

    order = conduct.Order(proof.STUDY, profile.value if profile else None, jobs=jobs)
    folder, summary = conduct.conduct(order, folder, err)
    score = proof.score(Results(folder), faults.key())
    if as_json:
        print(json.dumps(asdict(score), indent=1, default=lambda model: model.model_dump()))
    elif markdown:
        print(corpus_table.markdown(score), end="")
    else:
        out.print(corpus_table.terminal(score))
    for line in corpus_table.summary(score):
        err.print(line, markup=False, soft_wrap=True)
    if summary.errors or not score.passes:
        raise typer.Exit(1)


def _stacks(names: list[str] | None) -> list[Stack]:
    """The stacks of these names, in that order; all for none."""
    from cambrian.stacks import catalogue
    from cambrian.study import hints

    known = catalogue.load()
    for name in names or ():
        if name not in known:
            fail(f"no stack {name}; {hints.for_name(name, known, 'stack')}")
    return [known[name] for name in names or known]


def main() -> None:
    """Entry point: expected failures become one line and an exit status."""
    from cambrian.command import CommandFailed
    from cambrian.debian.private_apt import AptError
    from cambrian.engine.guest import GuestError
    from cambrian.engine.plan import PlanError
    from cambrian.kernel.model import KernelError
    from cambrian.stacks.adding import AddError
    from cambrian.stacks.manifest import ManifestError
    from cambrian.stacks.receivers import NoReceiver
    from cambrian.stacks.toolchain import MissingTool
    from cambrian.study.errors import StudyError

    try:
        app()
    except KeyboardInterrupt:
        err.print("cambrian: interrupted; what was finished is kept", markup=False)
        sys.exit(130)
    except (
        StudyError,
        ManifestError,
        PlanError,
        GuestError,
        KernelError,
        MissingTool,
        CommandFailed,
        AptError,
        NoReceiver,
        AddError,
    ) as error:
        err.print(f"cambrian: {error}", markup=False, soft_wrap=True)
        sys.exit(2)
    except FileNotFoundError as error:
        err.print(f"cambrian: {error}", markup=False, soft_wrap=True)
        sys.exit(2)
