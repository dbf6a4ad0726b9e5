"""Runs one trial, from its description to its results folder."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

import cambrian
from cambrian.pages import browser
from cambrian.stacks.built import readable
from cambrian.store import writing
from cambrian.store.results import Results, write_json
from cambrian.study import identity
from cambrian.study.model import Trial
from cambrian.testbed.contract import Plan
from cambrian.trace import packets
from cambrian.trace.endpoint_events import Programs
from cambrian.trace.packets import TraceError
from cambrian.trial import boot, limits, page_loads, plan, read, seating, validate
from cambrian.trial.environment import Environment

#: files of the guest that are kept, in logs/
_LOG_SUFFIXES = {".out", ".err"}


@dataclass(frozen=True)
class Outcome:
    """The result of one trial, in short: ``speed`` is virtual seconds per wall second."""

    trial_id: str
    valid: bool
    reasons: tuple[str, ...]
    wall_s: float
    speed: float


def trial_id(trial: Trial, environment: Environment) -> str:
    """The trial's identity in this environment."""
    return identity.trial_id(trial, hashes(trial, environment))


def hashes(trial: Trial, environment: Environment) -> dict[str, str]:
    """The software that the trial runs: name → hash."""
    hashes = environment.hashes(plan.stack_names(trial))
    return hashes | {"browser": browser.find().identity} if page_loads.uses_browser(trial) else hashes


def run(
    trial: Trial,
    environment: Environment,
    results: Results,
    *,
    core: int | None = None,
    cpu_limit_s: float | None = None,
    before_kept: Callable[[], None] = lambda: None,
) -> Outcome:
    """Run one trial and keep its results, valid or not.

    ``core`` pins the guest; ``cpu_limit_s`` is the number of CPU seconds that the guest may use
    (default: :func:`cambrian.trial.limits.limits_of`). ``before_kept`` is called when all results are there,
    before they get the trial's name: if it raises an error, none are kept.

    Raises:
        PlanError, ValueError: the trial cannot run.
        cambrian.trial.boot.Disturbed: the host ended the guest; the trial has no result.
    """
    name = trial_id(trial, environment)
    with results.new_trial(name) as folder:
        # the guest mounts it, whose working folder is another
        raw = folder.absolute() / "raw"
        asked = plan.make(seating.seated(trial), environment.builds, environment.native)
        ended = _booted(trial, asked, raw, environment, core, cpu_limit_s)
        # a window of unusual size overflows the capture's ring: the same packets, and a larger ring
        while validate.capture_lost(Programs(raw)) and (ring_kib := plan.larger_ring_kib(asked)):
            shutil.rmtree(raw)
            asked = plan.make(
                seating.seated(trial), environment.builds, environment.native, least_ring_kib=ring_kib
            )
            ended = _booted(trial, asked, raw, environment, core, cpu_limit_s)
        made = seating.kept_plan(asked, trial)
        ended = replace(
            ended,
            report=ended.report and seating.kept_report(ended.report, trial),
            removed=seating.renamed(ended.removed, trial),
            unread=seating.renamed(ended.unread, trial),
        )
        seating.rename_files(raw, trial)
        programs = Programs(raw)
        columns, verdict = _judged(trial, made, ended, programs)
        for kind, frame in columns.items():
            writing.write_parquet(folder / f"{kind}.parquet", frame)
        manifest = _manifest(trial, name, environment, made, ended)
        manifest["packets_sha256"] = packets.fingerprint(columns["packets"])
        manifest["endpoints"] = programs.kept()
        write_json(folder / "manifest.json", manifest)
        _tidy(folder, raw, keep=trial.raw_capture, console=ended.console)
        write_json(folder / "verdict.json", verdict)
        before_kept()
    return Outcome(name, verdict["valid"], tuple(verdict["reasons"]), ended.wall_s, manifest["speed"])


def _booted(
    trial: Trial,
    asked: Plan,
    raw: Path,
    environment: Environment,
    core: int | None,
    cpu_limit_s: float | None,
) -> boot.Ended:
    """Run the plan's guest, which leaves its files in the new folder ``raw``."""
    raw.mkdir()
    stacks = (environment.builds[name].stack for name in plan.stack_names(trial))
    return boot.run(
        environment.kernel,
        asked,
        raw,
        seed=trial.seed,
        clock=trial.clock,
        allowed=limits.limits_of(trial, cpu_limit_s),
        core=core,
        seccomp=environment.seccomp,
        around=environment.wall,
        shown=[path for stack in stacks for path in readable(stack)],
    )


def _judged(
    trial: Trial, made: Plan, ended: boot.Ended, programs: Programs
) -> tuple[dict[str, pl.DataFrame], dict[str, Any]]:
    """Columns by file name, and the verdict; a failed guest gives empty columns and the reasons."""
    try:
        report = read.report_of(ended, programs.folder)
        columns, notes = read.columns(trial, report, programs)
    except read.Unreadable as error:
        return read.no_columns(), validate.invalid(*ended.removed, *error.reasons)
    except TraceError as error:
        lost = validate.capture_lost(programs)
        return read.no_columns(), validate.invalid(
            f"{error} (the capture lost {lost} packets)" if lost else str(error), *ended.removed
        )
    if ended.removed:
        return columns, validate.invalid(*ended.removed)
    return columns, validate.judge(trial, made, report, programs, columns, [*ended.unread, *notes])


def _manifest(
    trial: Trial, name: str, environment: Environment, made: Plan, ended: boot.Ended
) -> dict[str, Any]:
    kernel = environment.kernel
    stacks = {
        stack: {
            "version": environment.builds[stack].stack.manifest.version,
            "sha256": environment.builds[stack].sha256,
        }
        for stack in plan.stack_names(trial)
    }
    virtual_s = ended.report["end_ns"] / 1e9 if ended.report and "end_ns" in ended.report else 0.0
    return {
        "id": name,
        "cambrian": cambrian.__version__,
        "trial": trial.model_dump(mode="json"),
        "environment": hashes(trial, environment),
        "kernel": {"version": kernel.version, "sha256": kernel.sha256, "key": kernel.key},
        "stacks": stacks,
        "network": {"links": made["links"], "bottleneck": made["bottleneck"], "tcp_ecn": made["tcp_ecn"]},
        "guest": ended.report,
        "wall": environment.wall.name,
        "wall_s": round(ended.wall_s, 3),
        "cpu_s": round(ended.cpu_s, 3),
        "speed": round(virtual_s / ended.wall_s, 2),
    }


def _tidy(folder: Path, raw: Path, *, keep: bool, console: str) -> None:
    """Keep logs; keep captures and kernel traces only if the study asks for them."""
    logs = folder / "logs"
    logs.mkdir()
    for path in raw.iterdir():
        wanted = path.suffix in _LOG_SUFFIXES or path.name.endswith(page_loads.NETLOG_SUFFIX)
        if wanted and path.stat().st_size:
            path.rename(logs / path.name)
    if console:
        (logs / "console").write_text(console + "\n")
    (raw / "plan.json").rename(folder / "plan.json")
    if not keep:
        shutil.rmtree(raw)
