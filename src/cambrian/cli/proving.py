"""Commands that check the laboratory itself: the installation, its accuracy, and the judge."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from cambrian.cli.shared import (
    CpuLimitOption,
    JobsOption,
    JsonOption,
    MarkdownOption,
    Profile,
    StackNames,
    at_a_time,
    check_folder,
    err,
    fail,
    one_format,
    out,
    stacks_named,
)

commands = typer.Typer()


@commands.command()
def doctor(
    folder: Annotated[
        Path | None,
        typer.Argument(help="A results directory, or a folder of them. Default: check this machine."),
    ] = None,
    mend: Annotated[
        bool,
        typer.Option(
            "--mend",
            help="Move damaged trials, and what is no trial in trials/, to FOLDER/damaged; remove what can "
            "be made again.",
        ),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """List what is present, missing or stale on this machine, or damaged in results, and the remedy for each.

    With FOLDER: reads every file of the results, computes every hash, and lists damaged, missing, foreign
    and temporary files. Exit status 0 if all is whole, 1 if something is wrong or still missing.
    Without --mend it changes nothing.
    """
    from cambrian.doctor import report as doctor_report
    from cambrian.doctor.checks import run_checks

    if folder is not None:
        _check_results(folder, mend=mend, as_json=as_json)
        return
    if mend:
        fail("--mend is for results: cambrian doctor FOLDER --mend")
    checks = run_checks()
    doctor_report.render(checks, as_json)
    if doctor_report.failed(checks):
        raise typer.Exit(1)


def _check_results(folder: Path, *, mend: bool, as_json: bool) -> None:
    from cambrian.doctor import store, store_report

    check_folder(folder)
    reports = store.examine(folder.absolute(), mend=mend)
    store_report.render(reports, as_json, out)
    if not all(report.whole for report in reports):
        raise typer.Exit(1)


@commands.command()
def selftest(
    as_json: JsonOption = False,
    only: Annotated[
        str | None, typer.Option(help="Run only parts whose name matches, such as 'link' or 'c*'.")
    ] = None,
    jobs: JobsOption = 0,
    renew: Annotated[
        bool,
        typer.Option(
            "--update-hashes",
            help="Only make the packets and hashes that the check 'shipped' compares with, on this machine.",
        ),
    ] = False,
    cpu_limit: CpuLimitOption = None,
) -> None:
    """Measure whether this installation can be trusted; exit status 1 if any check fails."""
    from fnmatch import filter as matching

    from cambrian.selftest import PARTS, update_hashes
    from cambrian.selftest import run as run_selftest
    from cambrian.study import hints

    if renew:
        if not update_hashes(at_a_time(jobs)):
            raise typer.Exit(1)
        return
    if only is not None and not matching(PARTS, only):
        fail(f"--only {only}: no such part of the self-test; {hints.for_name(only, PARTS, 'its parts are')}")
    if not run_selftest(as_json=as_json, only=only, jobs=at_a_time(jobs), cpu_limit_s=cpu_limit):
        raise typer.Exit(1)


@commands.command()
def corpus(
    folder: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder of the two results directories. Default: results."),
    ] = None,
    profile: Annotated[
        Profile | None,
        typer.Option(help="quick: one or two trials each (minutes). Default: the full studies."),
    ] = None,
    jobs: JobsOption = 0,
    as_json: JsonOption = False,
    markdown: MarkdownOption = False,
) -> None:
    """Test the judge: plant faults in the lab stack, and count the faults that the judge names correctly.

    Runs the studies fault-corpus (wrong parameters) and fault-behaviour (faults other than parameters);
    trials that are in their results directories are not run again. Compares the verdicts with the answer key.
    Exit status 1 if fewer than 90 % of the exercised faults of either study are named (in the first study a
    fault counts once for each network), if more than 5 % of the first study's clean controllers are accused
    on any network, if any clean controller of the second study is accused, or if a controller has no valid
    trial on one of its networks.
    """
    from dataclasses import asdict

    from cambrian.proof import corpus as proof
    from cambrian.proof import corpus_table, faults, misbehaviour_table, misbehaviours
    from cambrian.run import study as studies
    from cambrian.store.results import Results

    one_format(json=as_json, markdown=markdown)
    place = folder or Path("results")
    errors = False
    for study in (proof.STUDY, misbehaviours.STUDY):
        options = studies.RunOptions(study, profile.value if profile else None, jobs=jobs)
        errors |= bool(studies.run(options, place / study, err)[1].errors)
    key = faults.key()
    parameters = proof.score(Results(place / proof.STUDY), key)
    behaviour = misbehaviours.score(Results(place / misbehaviours.STUDY), key)
    if as_json:
        scores = {"parameters": asdict(parameters), "behaviour": asdict(behaviour)}
        print(json.dumps(scores, indent=1, default=lambda model: model.model_dump()))
    elif markdown:
        print(corpus_table.markdown(parameters), misbehaviour_table.markdown(behaviour), sep="\n", end="")
    else:
        out.print(corpus_table.terminal(parameters))
        out.print(misbehaviour_table.terminal(behaviour))
    for line in (*corpus_table.summary(parameters), *misbehaviour_table.summary(behaviour)):
        err.print(line, markup=False)
    if errors or not (parameters.passes and behaviour.passes):
        raise typer.Exit(1)


@commands.command()
def interop(names: StackNames = None, as_json: JsonOption = False, jobs: JobsOption = 0) -> None:
    """Test every stack's server with every stack's client, and print the matrix."""
    from dataclasses import asdict

    from cambrian.proof import interop as proof

    cells = proof.run(stacks_named(names), jobs=at_a_time(jobs), console=err)
    if as_json:
        print(json.dumps([asdict(cell) for cell in cells], indent=1))
    else:
        out.print(proof.matrix(cells))
    bad = [cell for cell in cells if cell.state in ("slow", "fails")]
    for cell in bad:
        err.print(f"{cell.sender} → {cell.receiver}: {cell.state}: {cell.detail}", markup=False)
    if any(cell.state == "fails" for cell in cells):
        raise typer.Exit(1)
