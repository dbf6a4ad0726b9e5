"""Commands that run trials: a study, a suite, one trial."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cambrian.cli.shared import Clock, JobsOption, Profile, err, fail

if TYPE_CHECKING:
    from cambrian.run.study import RunOptions
    from cambrian.suites.find import Found


commands = typer.Typer()
#: largest description of a trial
_MOST_TRIAL_BYTES = 2**20


@commands.command()
def run(
    study: Annotated[
        str,
        typer.Argument(
            help="A built-in study's name (see `cambrian studies`), a TOML file, a suite such as wpi, "
            "a part of a suite such as wpi/grid, or all (every suite)."
        ),
    ],
    folder: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Results directory. Default: results/STUDY; for suites, results."),
    ] = None,
    jobs: JobsOption = 0,
    profile: Annotated[
        Profile | None, typer.Option(help="quick or full; default: the study as written.")
    ] = None,
    seed: Annotated[int, typer.Option(help="First seed; the other seeds count up from it.")] = 1,
    clock: Annotated[
        Clock, typer.Option(help="virtual (exact and fast) or real (for comparison).")
    ] = Clock.virtual,
    only: Annotated[
        list[str] | None,
        typer.Option(
            help="Run only groups or contestants that match, such as 'quinn*' or '*/bbr*'; may be repeated."
        ),
    ] = None,
    cpu_limit: Annotated[
        float | None,
        typer.Option(
            "--cpu-limit",
            min=1,
            help="CPU seconds that one trial may use. Default: a limit that grows with the trial's clock.",
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would run and what it costs, and exit.")
    ] = False,
    contestants: Annotated[
        list[str] | None,
        typer.Option("--contestant", help="STACK/CCA for a suite about one contestant, such as rfc9743."),
    ] = None,
) -> None:
    """Run a study, or a paper's whole suite of studies; trials that have results are not run again."""
    from cambrian.run import study as studies
    from cambrian.suites import find

    options = studies.RunOptions(
        study,
        profile.value if profile else None,
        seed,
        clock.value,
        ",".join(only) if only else None,
        jobs,
        cpu_limit,
    )
    suites, part = find.asked(study)
    if suites:
        _run_suites(suites, part, contestants or [], options, folder or Path("results"), dry_run=dry_run)
        return
    if contestants:
        fail("--contestant is for suites that are about one contestant, such as rfc9743")
    if dry_run:
        asked, groups = studies.expanded(options)
        studies.announce(options, asked, groups, err)
        for group in groups:
            least, most = group.least_trials, len(group.trials)
            print(f"{group.key}  {most if least == most else f'{least} to {most}'} trials")
        return
    folder, summary = studies.run(options, folder, err)
    print(folder)
    if summary.errors:
        raise typer.Exit(1)


def _run_suites(
    suites: list[Found],
    part: str | None,
    contestants: list[str],
    options: RunOptions,
    root: Path,
    *,
    dry_run: bool,
) -> None:
    from cambrian.suites import run as suite_run

    planned = suite_run.planned(suites, part, contestants, options)
    if dry_run:
        suite_run.announce(suites, planned, options, err)
        for plan in planned:
            for group in plan.groups:
                print(f"{plan.part.place}: {group.key}  {len(group.trials)} trials")
        return
    command = options.command + "".join(f" --contestant {name}" for name in contestants)
    summary = suite_run.run(suites, planned, options, root, command, err)
    print(root)
    if summary.errors:
        raise typer.Exit(1)


@commands.command()
def trial(
    description: Annotated[
        Path, typer.Argument(help='A trial as a JSON file, such as the "trial" of a manifest.json.')
    ],
    folder: Annotated[Path, typer.Option("--out", "-o", help="Results directory.")],
    core: Annotated[int | None, typer.Option(help="Pin the guest to this CPU core.")] = None,
    cpu_limit: Annotated[
        float | None,
        typer.Option("--cpu-limit", min=1, help="CPU seconds that the trial may use."),
    ] = None,
) -> None:
    """Run one trial and print its verdict."""
    from pydantic import ValidationError

    from cambrian.run import pool, prepare
    from cambrian.stacks import checks
    from cambrian.store.results import Results
    from cambrian.study import input_file
    from cambrian.study.model import Trial
    from cambrian.trial import carry_out, plan

    remedy = 'give a JSON file, such as the "trial" of a manifest.json'
    try:
        asked = Trial.model_validate_json(
            input_file.read(description, "the trial", remedy, _MOST_TRIAL_BYTES)
        )
    except ValidationError as error:
        first = error.errors()[0]
        fail(f"{description}: {'.'.join(str(part) for part in first['loc']) or 'trial'}: {first['msg']}")
    for number, flow in enumerate(asked.flows):
        if wrong := checks.problem(flow.contestant):
            fail(f"{description}: flows.{number}.contestant: {wrong}")
    made = prepare.ensure(set(plan.stack_names(asked)))
    results = Results(folder.absolute())
    # a run into the same folder would remove the trial's temporary folder
    with results.alone():
        outcome = carry_out.run(
            asked, made, results, core=pool.cores()[0] if core is None else core, cpu_limit_s=cpu_limit
        )
    result = results.trial(outcome.trial_id)
    print(
        json.dumps(
            {
                "folder": str(result.folder),
                "packets_sha256": result.manifest["packets_sha256"],
                **result.verdict,
            },
            indent=1,
        )
    )
    if not outcome.valid:
        raise typer.Exit(1)
