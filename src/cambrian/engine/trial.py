"""One trial, from its description to its results folder."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

import cambrian
from cambrian.engine import guest, judge, limits, page_loads, plan, seating
from cambrian.engine.environment import Environment
from cambrian.metrics.columns import PACKETS
from cambrian.pages import browser, site
from cambrian.stacks import catalogue
from cambrian.store.results import Results, write_json
from cambrian.study import identity
from cambrian.study.model import ONE_QUEUE, Trial
from cambrian.testbed.contract import GuestReport, Plan
from cambrian.trace import endpoint_log, kernel_tcp, objects, packets, qlog, schema
from cambrian.trace.endpoint_events import EndpointEvents
from cambrian.trace.packets import TraceError

#: files of the guest that stay, under logs/
_LOG_SUFFIXES = {".out", ".err"}


@dataclass(frozen=True)
class Outcome:
    """What became of one trial, in a few words."""

    trial_id: str
    valid: bool
    reasons: tuple[str, ...]
    wall_s: float
    speed: float


def trial_id(trial: Trial, environment: Environment) -> str:
    """The trial's identity in this environment."""
    return identity.trial_id(trial, _hashes(trial, environment))


def _hashes(trial: Trial, environment: Environment) -> dict[str, str]:
    """What the trial runs: thing → hash."""
    found = environment.hashes(plan.stack_names(trial))
    return found | {"browser": browser.find().identity} if page_loads.uses_browser(trial) else found


def run(
    trial: Trial,
    environment: Environment,
    results: Results,
    *,
    core: int | None = None,
    cpu_limit_s: float | None = None,
) -> Outcome:
    """Run one trial and keep its results, valid or not.

    ``core`` pins the guest; ``cpu_limit_s`` is how many processor seconds the guest may use in
    all (default: :func:`cambrian.engine.limits.of`).

    Raises:
        PlanError, ValueError: the trial cannot be carried out as it stands.
    """
    name = trial_id(trial, environment)
    with results.new_trial(name) as folder:
        raw = folder / "raw"
        raw.mkdir()
        asked = plan.make(seating.seated(trial), environment.builds, environment.native)
        ended = guest.run(
            environment.kernel,
            asked,
            raw,
            seed=trial.seed,
            clock=trial.clock,
            allowed=limits.of(trial, cpu_limit_s),
            core=core,
            seccomp=environment.seccomp,
        )
        made = seating.kept_plan(asked, trial)
        if ended.report is not None:
            ended = replace(ended, report=seating.kept_report(ended.report, trial))
        seating.rename_files(raw, trial)
        seen, verdict = _read(trial, made, ended, raw)
        for kind, frame in seen.items():
            frame.write_parquet(folder / f"{kind}.parquet")
        manifest = _manifest(trial, name, environment, made, ended)
        manifest["packets_sha256"] = packets.fingerprint(seen["packets"])
        manifest["endpoints"] = _events(raw)
        write_json(folder / "manifest.json", manifest)
        _tidy(folder, raw, keep=trial.raw_capture, console=ended.console)
        write_json(folder / "verdict.json", verdict)
    return Outcome(name, verdict["valid"], tuple(verdict["reasons"]), ended.wall_s, manifest["speed"])


def _read(
    trial: Trial, made: Plan, ended: guest.Ended, raw: Path
) -> tuple[dict[str, pl.DataFrame], dict[str, Any]]:
    """Columns by their file's name, and verdict; a guest that failed gives none and says why."""
    nothing = {"packets": pl.DataFrame(schema=PACKETS), "transport": schema.empty()}
    report = ended.report
    if ended.cut_off:
        return nothing, judge.invalid(ended.cut_off, *_last_words(raw))
    if report is None:
        return nothing, judge.invalid(
            f"the guest ended without a report; its last words: {_last_line(ended.console)}"
        )
    if "crash" in report:
        return nothing, judge.invalid(
            f"the testbed failed in the guest: {report['crash'].strip().splitlines()[-1]}"
        )
    try:
        by_position = packets.read(
            raw / "capture.bin",
            zero_ns=report["zero_ns"],
            end_ns=report["end_ns"],
            in_order=trial.network.queue in ONE_QUEUE,
        )
        seen = seating.flow_numbers(by_position, trial)
        columns = {"packets": seen, "transport": _transport(trial, report, raw, seen)} | _pages(
            trial, report, raw
        )
    except TraceError as error:
        lost = judge.capture_lost(raw)
        return nothing, judge.invalid(f"{error} (the capture lost {lost} packets)" if lost else str(error))
    return columns, judge.judge(trial, made, report, raw, columns)


def _pages(trial: Trial, report: GuestReport, raw: Path) -> dict[str, pl.DataFrame]:
    """``objects`` and ``page_loads`` of the flows that load pages; nothing if there are none."""
    parts: dict[str, list[pl.DataFrame]] = {"objects": [], "page_loads": []}
    zero_ns = report["zero_ns"]
    for number, flow in enumerate(trial.flows):
        if flow.page is not None:
            said = EndpointEvents.read(raw / f"flow{number}.receiver.out").events
            expected = site.resources(flow.page)
            parts["objects"].append(objects.objects(number, expected, said, zero_ns=zero_ns))
            parts["page_loads"].append(
                objects.page_load(number, flow.page.name, flow.client, said, zero_ns=zero_ns)
            )
    return {name: pl.concat(frames) for name, frames in parts.items() if frames}


def _qlogs(
    trial: Trial, number: int, report: GuestReport, raw: Path, seen: pl.DataFrame
) -> list[pl.DataFrame]:
    """One flow's qlogs, where its stack says that it exports them."""
    stack = catalogue.load()[trial.flows[number].contestant.stack]
    if stack.manifest.transport_trace != "qlog":
        return []
    rtt_ms = trial.flows[number].base_rtt_ms(trial.network)
    forward_ns = round(rtt_ms * trial.network.forward_delay_percent / 100 * 1e6)
    first = seen.filter(pl.col("flow") == number).get_column("arrival_ns").min()
    return [
        qlog.read(
            path,
            number,
            zero_ns=report["zero_ns"],
            end_ns=report["end_ns"],
            realtime_minus_monotonic_ns=report["realtime_minus_monotonic_ns"],
            # a server's first packet answers the one with which its connection begins
            began_ns=(first if isinstance(first, int) else 0) - forward_ns,
        )
        for path in sorted((raw / f"flow{number}.qlog").glob("*"))
    ]


def _transport(trial: Trial, report: GuestReport, raw: Path, seen: pl.DataFrame) -> pl.DataFrame:
    span = {"zero_ns": report["zero_ns"], "end_ns": report["end_ns"]}
    parts = [schema.empty()]
    if (raw / "trace.bin").exists():
        offset = report["realtime_minus_monotonic_ns"]
        by_position = kernel_tcp.read(raw, **span, realtime_minus_monotonic_ns=offset)
        parts.append(seating.flow_numbers(by_position, trial))
    for number in range(len(trial.flows)):
        parts += _qlogs(trial, number, report, raw, seen)
        log = raw / f"flow{number}.transport.csv"
        if log.exists():
            parts.append(endpoint_log.read(log, number, **span))
    return pl.concat(parts).sort("time_ns", maintain_order=True)


def _last_line(text: str) -> str:
    """The line that says what went wrong: above a kernel's call trace, if there is one."""
    lines = [line for line in text.partition("Kernel panic")[0].splitlines() if line.strip()]
    return lines[-1] if lines else "none"


def _last_words(raw: Path) -> list[str]:
    """What the programs of a guest that was cut off had to say."""
    words = []
    for path in sorted(raw.glob("flow*.err")):
        text = path.read_text(errors="replace").strip()
        if text:
            words.append(f"{path.stem} said: {text.splitlines()[-1]}")
    return words


def _manifest(
    trial: Trial, name: str, environment: Environment, made: Plan, ended: guest.Ended
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
        "environment": _hashes(trial, environment),
        "kernel": {"version": kernel.version, "sha256": kernel.sha256, "key": kernel.key},
        "stacks": stacks,
        "network": {"links": made["links"], "bottleneck": made["bottleneck"], "tcp_ecn": made["tcp_ecn"]},
        "guest": ended.report,
        "wall_s": round(ended.wall_s, 3),
        "cpu_s": round(ended.cpu_s, 3),
        "speed": round(virtual_s / ended.wall_s, 2),
    }


def _events(raw: Path) -> dict[str, list[Mapping[str, Any]]]:
    """The endpoints' events but for their progress and objects: name → events."""
    return {path.stem: EndpointEvents.read(path).kept() for path in sorted(raw.glob("flow*.out"))}


def _tidy(folder: Path, raw: Path, *, keep: bool, console: str) -> None:
    """Logs stay; captures and kernel traces only where the study asked for them."""
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
