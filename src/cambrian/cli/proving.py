"""Commands that prove the laboratory itself: what is here, can it be trusted, is the judge right."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from cambrian.cli.shared import (
    JobsOption,
    JsonOption,
    MarkdownOption,
    Profile,
    StackNames,
    at_a_time,
    err,
    out,
    stacks_named,
)

commands = typer.Typer()


@commands.command()
def doctor(as_json: JsonOption = False) -> None:
    """Say what is present, missing or stale here, and the remedy for each."""
    from cambrian.doctor import report as doctor_report
    from cambrian.doctor.checks import run_checks

    checks = run_checks()
    doctor_report.render(checks, as_json)
    if doctor_report.failed(checks):
        raise typer.Exit(1)


@commands.command()
def selftest(
    as_json: JsonOption = False,
    only: Annotated[str | None, typer.Option(help="Only checks whose name matches, such as 'rtt*'.")] = None,
    jobs: JobsOption = 0,
) -> None:
    """Answer "can I trust this installation?" by measuring it; exit status 1 if any check misses."""
    from cambrian.selftest import run as run_selftest

    if not run_selftest(as_json=as_json, only=only, jobs=at_a_time(jobs)):
        raise typer.Exit(1)


@commands.command()
def corpus(
    folder: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Where the two results directories lie. Default: results."),
    ] = None,
    profile: Annotated[
        Profile | None, typer.Option(help="quick (a trial or two each, minutes) or the studies as written.")
    ] = None,
    jobs: JobsOption = 0,
    as_json: JsonOption = False,
    markdown: MarkdownOption = False,
) -> None:
    """Prove the judge: plant faults in the lab stack, and count those that are named rightly.

    Runs the studies fault-corpus (parameters that are set wrongly) and fault-behaviour (faults that
    are no parameter); what their results directories hold is not run again. Compares what is said of
    each with the answer key. Exit status 1 if fewer than 90 % of the exercised faults of either study are
    named, or if more than 5 % of the first study's clean controllers are accused, or any of the second's.
    """
    from dataclasses import asdict

    from cambrian.proof import corpus as proof
    from cambrian.proof import corpus_table, faults, misbehaviour_table, misbehaviours
    from cambrian.run import study as studies
    from cambrian.store.results import Results

    place = folder or Path("results")
    errors = False
    for study in (proof.STUDY, misbehaviours.STUDY):
        options = studies.RunOptions(study, profile.value if profile else None, jobs=jobs)
        errors |= bool(studies.run(options, place / study, err)[1].errors)
    key = faults.key()
    parameters = proof.score(Results(place / proof.STUDY), key)
    behaviour = misbehaviours.score(Results(place / misbehaviours.STUDY), key)
    if as_json:
        found = {"parameters": asdict(parameters), "behaviour": asdict(behaviour)}
        print(json.dumps(found, indent=1, default=lambda model: model.model_dump()))
    elif markdown:
        print(corpus_table.markdown(parameters), misbehaviour_table.markdown(behaviour), sep="\n", end="")
    else:
        out.print(corpus_table.terminal(parameters))
        out.print(misbehaviour_table.terminal(behaviour))
    for line in (*corpus_table.summary(parameters), *misbehaviour_table.summary(behaviour)):
        err.print(line, markup=False, soft_wrap=True)
    if errors or not (parameters.passes and behaviour.passes):
        raise typer.Exit(1)


@commands.command()
def interop(names: StackNames = None, as_json: JsonOption = False, jobs: JobsOption = 0) -> None:
    """Try every stack's server with every stack's client, and print the matrix."""
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
