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


@commands.command()
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
    cpu_limit: Annotated[
        float | None,
        typer.Option(
            "--cpu-limit",
            min=1,
            help="Processor seconds that a trial may use in all; default: by how far its clock has come.",
        ),
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
    found, part = find.asked(study)
    if found:
        _run_suites(found, part, contestants or [], options, folder or Path("results"), dry_run=dry_run)
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
    found: list[Found],
    part: str | None,
    contestants: list[str],
    options: RunOptions,
    root: Path,
    *,
    dry_run: bool,
) -> None:
    from cambrian.suites import run as suite_run

    parts = suite_run.planned(found, part, contestants, options)
    if dry_run:
        suite_run.announce(found, parts, options, err)
        for one in parts:
            for group in one.groups:
                print(f"{one.part.place}: {group.key}  {len(group.trials)} trials")
        return
    command = options.command + "".join(f" --contestant {name}" for name in contestants)
    whole = suite_run.run(found, parts, options, root, command, err)
    print(root)
    if whole.errors:
        raise typer.Exit(1)


@commands.command()
def trial(
    description: Annotated[
        Path, typer.Argument(help='A trial as JSON (the "trial" of a manifest.json will do).')
    ],
    folder: Annotated[Path, typer.Option("--out", "-o", help="Results directory.")],
    core: Annotated[int | None, typer.Option(help="Pin the guest to this processor.")] = None,
    cpu_limit: Annotated[
        float | None,
        typer.Option("--cpu-limit", min=1, help="Processor seconds that the trial may use in all."),
    ] = None,
) -> None:
    """Run one trial and print its verdict."""
    from pydantic import ValidationError

    from cambrian.run import pool, prepare
    from cambrian.store.results import Results
    from cambrian.study.model import Trial
    from cambrian.trial import carry_out, plan

    try:
        asked = Trial.model_validate_json(description.read_text())
    except OSError as error:
        fail(f"{description}: {error.strerror}")
    except ValidationError as error:
        first = error.errors()[0]
        fail(f"{description}: {'.'.join(str(part) for part in first['loc']) or 'trial'}: {first['msg']}")
    made = prepare.ensure(set(plan.stack_names(asked)))
    results = Results(folder.absolute())
    outcome = carry_out.run(
        asked, made, results, core=pool.cores()[0] if core is None else core, cpu_limit_s=cpu_limit
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
