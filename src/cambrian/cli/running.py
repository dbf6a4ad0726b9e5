"""Commands that run trials: a study, a suite, one trial."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cambrian.cli.shared import Clock, CpuLimitOption, JobsOption, Profile, check_folder, err, fail

if TYPE_CHECKING:
    from cambrian.run.study import RunOptions, Summary
    from cambrian.suites.find import SuiteFolder


commands = typer.Typer()
#: more shards than trials make no sense
_MOST_SHARDS = 1_000_000


class Unwanted(StrEnum):
    """Outcomes that can end `cambrian run` with exit status 1."""

    invalid = "invalid"


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
        Clock,
        typer.Option(
            help="virtual (exact and fast), real (a guest in real time), or host (this machine's own kernel)."
        ),
    ] = Clock.virtual,
    only: Annotated[
        list[str] | None,
        typer.Option(
            help="Run only groups or contestants that match, such as 'quinn*' or '*/bbr*'; may be repeated."
        ),
    ] = None,
    cpu_limit: CpuLimitOption = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would run and what it costs, and exit.")
    ] = False,
    contestants: Annotated[
        list[str] | None,
        typer.Option(
            "--contestant",
            metavar="STACK/CCA",
            help="Take this contestant instead of the study's or the suite's own; may be repeated. Its stack "
            "may be in the folder stacks/ here.",
        ),
    ] = None,
    trust: Annotated[
        bool,
        typer.Option(
            "--trust",
            help="Build the stacks in the folder stacks/ beside the study (and here, with --contestant), and "
            "run them even without a wall around guests: with your rights.",
        ),
    ] = False,
    fail_on: Annotated[
        Unwanted | None, typer.Option(help="End with exit status 1 if any trial of the study is invalid.")
    ] = None,
    shard: Annotated[
        str | None,
        typer.Option(
            "--shard",
            metavar="I/N",
            help="Run only part I of N, for a CI matrix or a batch queue; `cambrian merge` joins them.",
        ),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            "--cluster",
            metavar="WHERE",
            help="Run on a Dask cluster: local, local:N (N workers here), tcp://HOST:PORT or tls://HOST:PORT "
            "(a scheduler with workers of `cambrian worker`), or a TOML file that describes a cluster.",
        ),
    ] = None,
) -> None:
    """Run a study, or a paper's whole suite of studies; trials that have results are not run again.

    Exit status 0 if every trial ran; 1 if a trial could not run or, with --fail-on invalid, is invalid.
    """
    from cambrian.run import study as studies
    from cambrian.run.scheduler import counted_trials
    from cambrian.suites import find

    options = studies.RunOptions(
        study,
        profile.value if profile else None,
        seed,
        clock.value,
        ",".join(only) if only else None,
        jobs,
        cpu_limit,
        trust,
        _shard(shard) if shard else None,
        contestants=tuple(contestants or ()),
    )
    if cluster and (jobs or clock is not Clock.virtual):
        fail("--cluster runs a trial on each worker, in virtual time: leave --jobs and --clock out")
    if cluster and dry_run:
        from cambrian.cluster import deploy

        deploy.check(cluster)
    suites, part = find.suites_named(study)
    if dry_run and not suites:
        asked, groups = studies.expanded(options)
        groups = options.mine(groups)
        place = folder or Path("results") / asked.name
        studies.announce(options, asked, groups, place, err)
        studies.tell_kept(options, [(groups, place)], err)
        for group in groups:
            least, most = group.least_trials, len(group.trials)
            print(f"{group.key}  {'' if least == most else f'{least} to '}{counted_trials(most)}")
        return
    with _on(cluster if not dry_run else None, options) as options:
        if suites:
            folder = folder or Path("results")
            summary = _run_suites(suites, part, options, folder, dry_run=dry_run)
        else:
            folder, summary = studies.run(options, folder, err)
            print(folder)
    end(summary, fail_on)


def end(summary: Summary, fail_on: Unwanted | None) -> None:
    """End the command with the exit status of a run: nothing happens for status 0."""
    if summary.errors or (summary.invalid and fail_on is Unwanted.invalid):
        raise typer.Exit(1)


@contextmanager
def _on(cluster: str | None, options: RunOptions) -> Iterator[RunOptions]:
    """The options of a run on a cluster, which is there as long as the block lasts; the same without one."""
    if cluster is None:
        yield options
        return
    from cambrian.cluster import deploy

    with deploy.opened(cluster) as found:
        yield replace(options, cluster=found, jobs=max(1, found.places()))


def _shard(text: str) -> tuple[int, int]:
    number, _, shards = text.partition("/")
    # Python reads no number of thousands of digits
    if not all(re.fullmatch("[0-9]{1,20}", part) for part in (number, shards)):
        fail(f"--shard {text}: give two whole numbers, such as --shard 2/5")
    if not 1 <= int(number) <= int(shards) <= _MOST_SHARDS:
        fail(f"--shard {text}: the first number is from 1 to the second, which is at most {_MOST_SHARDS:,}")
    return int(number), int(shards)


@commands.command()
def worker(
    address: Annotated[
        str, typer.Argument(help="Dask's scheduler: tcp://HOST:PORT or tls://HOST:PORT.", metavar="ADDRESS")
    ],
    jobs: Annotated[
        int,
        typer.Option(
            "--jobs", "-j", min=0, help="Workers, each with a core; 0: one per core, if memory permits."
        ),
    ] = 0,
    authority: Annotated[
        Path | None,
        typer.Option(
            "--tls-ca-file",
            help="For tls://: the certificate authority, as PEM.",
        ),
    ] = None,
    certificate: Annotated[
        Path | None,
        typer.Option("--tls-cert", help="For tls://: the worker's certificate, as PEM."),
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option("--tls-key", help="For tls://: the key of the certificate, as PEM."),
    ] = None,
) -> None:
    """Offer this machine's cores to `cambrian run --cluster ADDRESS`, until the scheduler ends or Ctrl-C."""
    from cambrian.cluster import serve

    if authority and certificate and key:
        serve.serve(address, jobs, (authority, certificate, key))
    if authority or certificate or key:
        fail("give --tls-ca-file, --tls-cert and --tls-key together")
    serve.serve(address, jobs, None)


@commands.command()
def merge(
    shards: Annotated[
        list[Path],
        typer.Argument(help="The results of all shards of one study or suite.", metavar="SHARD..."),
    ],
    folder: Annotated[Path, typer.Option("--out", "-o", help="Folder for the joined results.")],
) -> None:
    """Join the results of `cambrian run --shard I/N`; checks every file and hash, and keeps the shards."""
    from itertools import count

    from cambrian.gate import snapshot
    from cambrian.progress import step
    from cambrian.store import merge as merging
    from cambrian.store.results import Results

    for shard in shards:
        check_folder(shard)
    places = merging.places(shards)
    if not places:
        fail(f"no study.json in {', '.join(map(str, shards))}: give results of `cambrian run --shard I/N`")
    parts = {
        place: [Results(shard / place) for shard in shards if (shard / place / "study.json").exists()]
        for place in places
    }
    total = sum(map(merging.count, parts.values()))
    done = count(1)
    absent: list[str] = []
    for place, ours in parts.items():
        # what the last study.json shows must not leave the others joined
        merging.checked(ours, Results(folder / place))
    with step("merge", total=float(total)) as progress:
        for place, ours in parts.items():
            absent += merging.merge(ours, Results(folder / place), lambda: progress.reach(next(done)))
    merging.copy_suites(shards, folder)
    for name, where in snapshot.mixed([shard for ours in parts.values() for shard in ours]).items():
        those = "; ".join(f"{made} in {', '.join(map(str, folders))}" for made, folders in where.items())
        err.print(f"the shards' trials differ in {name}: {those}", markup=False)
    without = f", {len(absent)} of them without results: run their shards again" if absent else ""
    err.print(f"{total} trials of {len(shards)} folders{without}", markup=False)
    print(folder)


def _run_suites(
    suites: list[SuiteFolder],
    part: str | None,
    options: RunOptions,
    root: Path,
    *,
    dry_run: bool,
) -> Summary:
    from cambrian.report.suite import checked
    from cambrian.run import study as studies
    from cambrian.run.scheduler import counted_trials
    from cambrian.study.errors import StudyError
    from cambrian.suites import run as suite_run

    # a fault of the page is to be known before hours of trials
    try:
        checked.check_all(suites)
    except StudyError as error:
        if part is None:
            raise
        # one part's trials need no page
        err.print(f"the page of {suites[0].suite.name} cannot be made yet: {error}")
    planned = suite_run.planned(suites, part, options)
    if dry_run:
        planned = [replace(plan, groups=options.mine(plan.groups)) for plan in planned]
        suite_run.announce(suites, planned, options, root, err)
        studies.tell_kept(options, [(plan.groups, root / plan.part.place) for plan in planned], err)
        for plan in planned:
            for group in plan.groups:
                print(f"{plan.part.place}: {group.key}  {counted_trials(len(group.trials))}")
        return studies.Summary()
    summary = suite_run.run(suites, planned, options, root, err)
    print(root)
    return summary


@commands.command()
def trial(
    description: Annotated[
        Path, typer.Argument(help="A trial as a JSON file, such as report/trials/ID.json of a report.")
    ],
    folder: Annotated[Path, typer.Option("--out", "-o", help="Results directory.")],
    core: Annotated[int | None, typer.Option(help="Pin the guest to this CPU core.")] = None,
    cpu_limit: Annotated[
        float | None,
        typer.Option("--cpu-limit", min=1, help="CPU seconds that the trial may use."),
    ] = None,
) -> None:
    """Run one trial and print its verdict."""
    from cambrian.run import one, pool, prepare
    from cambrian.stacks import checks
    from cambrian.store import check
    from cambrian.store.results import Results
    from cambrian.study import trial_file
    from cambrian.trial import plan

    asked = trial_file.read(description)
    for number, flow in enumerate(asked.flows):
        if wrong := checks.problem(flow.contestant):
            fail(f"{description}: flows.{number}.contestant: {wrong}")
    made = prepare.ensure(set(plan.stack_names(asked)), asked.clock)
    results = Results(folder.absolute())
    # a run into the same folder would remove the trial's temporary folder
    with results.alone():
        check.note_no_study(results, "cambrian trial")
        outcome = one.run(
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
