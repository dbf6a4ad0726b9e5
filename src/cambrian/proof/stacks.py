"""``cambrian stacks test``: real trials of each stack's controllers, one flow alone.

Each implementation runs twice over a clean path, which shows its throughput, its read-back CCA and whether
the same seed gives the same packets, and once with random loss, as does kernel TCP. One whose first trial
carries nothing is not tried again.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import polars as pl
from rich.console import Console

from cambrian.command import CommandFailed, MissingTool
from cambrian.debian.private_apt import AptError
from cambrian.metrics.gates import ENDED_EARLY
from cambrian.metrics.throughput import total_throughput_mbps
from cambrian.metrics.utilisation import capacity_bits, utilisation
from cambrian.proof.rows import NOTHING_WITH_LOSS, Row
from cambrian.run import pool, prepare
from cambrian.run.local import Cores
from cambrian.stacks import build, catalogue, receivers, whole
from cambrian.stacks.catalogue import Stack
from cambrian.stacks.manifest import ManifestError
from cambrian.store import check
from cambrian.store.results import Results, TrialResult
from cambrian.study.model import Contestant, Flow, Network, Trial
from cambrian.study.reference import REFERENCE_STACK
from cambrian.trace.endpoint_events import EndpointEvents
from cambrian.trial import plan
from cambrian.trial.environment import Environment

RATE_MBPS, RTT_MS = 20.0, 50.0
CLEAN = Network(rate_mbps=RATE_MBPS, rtt_ms=RTT_MS, buffer_bdp=1)
LOSSY = Network(rate_mbps=RATE_MBPS, rtt_ms=RTT_MS, buffer_bdp=1, loss_percent=1)
DURATION_S = 20.0
#: slow start is over by then
SETTLED_S = 5.0
_NS = 1_000_000_000
#: the trial with random loss, in words, and how failures of it alone begin
_LOSS = "1 % loss"
_OF_LOSS = (_LOSS, NOTHING_WITH_LOSS)
#: the validity gate → the test whose cause excuses it
_CAUSE_OF = {"saturation": "capacity", "CCA": "confirmed"}


def run(stacks: Sequence[Stack], *, jobs: int, console: Console, keep: Path | None = None) -> list[Row]:
    """Build and test ``stacks``; a row for each of their CCAs, in order.

    The rows of a stack that cannot be built have the reason. ``keep``: a folder in which the trials stay.
    """
    unbuilt = {stack.name: problem for stack in stacks if (problem := _build(stack))}
    built = [stack for stack in stacks if stack.name not in unbuilt]
    found: dict[tuple[str, str], Row] = {}
    if built:
        clean = _trials([(stack.name, cca) for stack in built for cca in stack.manifest.ccas], CLEAN)
        needed = {name for trial in clean.values() for name in plan.stack_names(trial)}
        made = prepare.ensure(needed | {REFERENCE_STACK})
        with _folder(keep) as folder:
            first = _run(clean, made, folder / "first", "clean", jobs, console)
            going = {key: trial for key, trial in clean.items() if _carried(first[key])}
            second = _run(going, made, folder / "second", "clean again", jobs, console)
            kernel = [(REFERENCE_STACK, cca) for cca in _references(going)]
            lossy = _run(_trials([*going, *kernel], LOSSY), made, folder / "loss", _LOSS, jobs, console)
            for stack in built:
                for cca in stack.manifest.ccas:
                    key = (stack.name, cca)
                    beside = lossy.get((REFERENCE_STACK, catalogue.reference_of(*key) or ""))
                    found[key] = _row(
                        stack, cca, first[key], second.get(key), lossy.get(key), beside, kept=keep is not None
                    )
    return [
        found.get((stack.name, cca)) or _empty(stack, cca, f"not built: {unbuilt[stack.name]}")
        for stack in stacks
        for cca in stack.manifest.ccas
    ]


@contextmanager
def _folder(keep: Path | None) -> Iterator[Path]:
    """``keep``, or a temporary folder."""
    if keep is not None:
        yield keep.absolute()
        return
    with tempfile.TemporaryDirectory(prefix="cambrian-proof-") as name:
        yield Path(name)


def _references(keys: Mapping[tuple[str, str], Trial]) -> list[str]:
    """The kernel CCAs that these implementations are compared with, each once."""
    named = (catalogue.reference_of(*key) for key in keys)
    return list(dict.fromkeys(cca for cca in named if cca is not None))


def _carried(outcome: TrialResult | str) -> bool:
    """Did the flow of a first trial carry anything, to its end?"""
    return not isinstance(outcome, str) and bool(_settled(outcome) and _mbps(outcome))


def _build(stack: Stack) -> str | None:
    """Build a stack and its receiver's stack; the reason if that fails, else None."""
    try:
        for one in (stack, receivers.choose(stack).stack):
            whole.check(one)
            build.ensure(one)
    except (MissingTool, CommandFailed, AptError, ManifestError, FileNotFoundError, ValueError) as error:
        return str(error)
    return None


def _trials(keys: Sequence[tuple[str, str]], network: Network) -> dict[tuple[str, str], Trial]:
    """(Stack, CCA) → its flow alone on ``network``."""
    return {
        (stack, cca): Trial(
            network=network,
            flows=(Flow(contestant=Contestant(stack=stack, cca=cca)),),
            duration_s=DURATION_S,
            seed=1,
        )
        for stack, cca in keys
    }


#: a trial's result, or why there is none
_Outcome = TrialResult | str


def _run(
    trials: Mapping[tuple[str, str], Trial],
    made: Environment,
    folder: Path,
    what: str,
    jobs: int,
    console: Console,
) -> dict[tuple[str, str], _Outcome]:
    results = Results(folder)
    labelled = {f"{stack} {cca}: {what}": key for key in trials for stack, cca in [key]}
    asked = {label: trials[key] for label, key in labelled.items()}
    found: dict[tuple[str, str], _Outcome] = {}
    with results.alone():
        check.note_no_study(results, "cambrian stacks test")
        for label, finished in pool.run_with_progress(
            asked, made, results, engine=Cores(jobs), console=console
        ):
            if finished.outcome is None:
                found[labelled[label]] = f"{what}: {finished.error}"
                continue
            result = results.trial(finished.outcome.trial_id)
            # read now: the folder is temporary
            _ = result.manifest, result.verdict, result.packets, result.transport
            found[labelled[label]] = result
    return found


def _row(
    stack: Stack,
    cca: str,
    first: _Outcome,
    second: _Outcome | None,
    lossy: _Outcome | None,
    kernel: _Outcome | None,
    *,
    kept: bool,
) -> Row:
    problems = []
    for what, outcome in (("clean", first), (_LOSS, lossy)):
        if outcome is None:
            problems.append(f"{what}: not tried, because the first trial carried nothing")
        elif isinstance(outcome, str):
            problems.append(outcome)
        elif not outcome.verdict["valid"] and not _explained(stack, cca, outcome):
            problems += [f"{what}: {reason}" for reason in outcome.verdict["reasons"]]
        elif (end := outcome.flow_end(0)) and end["outcome"] in ENDED_EARLY:
            # valid in a study, but a stack that works does not end early
            problems.append(f"{what}: {end['text']}")
    if isinstance(second, str):
        problems.append(second)
    manifest = stack.manifest
    row = Row(
        stack=stack.name,
        version=manifest.version,
        cca=cca,
        capacity_share=None if isinstance(first, str) else _capacity_share(first),
        loss_mbps=_mbps(lossy) if isinstance(lossy, TrialResult) else None,
        kernel_loss_mbps=_mbps(kernel) if isinstance(kernel, TrialResult) else None,
        hashes=tuple(
            str(one.manifest["packets_sha256"]) for one in (first, second) if isinstance(one, TrialResult)
        ),
        confirmed=None if isinstance(first, str) else _confirmed(first),
        trace=manifest.transport_trace,
        trace_rows=None if isinstance(first, str) else first.transport.filter(pl.col("flow") == 0).height,
        problems=tuple(problems),
        causes=tuple(manifest.ccas[cca].causes.items()),
        nondeterministic=manifest.nondeterministic,
    )
    # a row also fails by a bound, as that of the capacity, without a problem of a trial
    of_loss = all(text.startswith(_OF_LOSS) for text in row.misses)
    failed = lossy if lossy is not None and of_loss else first
    return (
        replace(row, logs=_logs(failed)) if kept and row.misses and isinstance(failed, TrialResult) else row
    )


def _logs(result: TrialResult) -> str:
    """The folder with the output of a trial's programs."""
    return str(result.log("flow0.sender.out").parent)


def _explained(stack: Stack, cca: str, outcome: TrialResult) -> bool:
    """Does the manifest explain each gate that failed?"""
    failed = {gate["name"] for gate in outcome.verdict["gates"] if gate["ok"] is False}
    causes = stack.manifest.ccas[cca].causes
    return bool(failed) and all(_CAUSE_OF.get(name) in causes for name in failed)


def _empty(stack: Stack, cca: str, problem: str) -> Row:
    return Row(stack=stack.name, version=stack.manifest.version, cca=cca, problems=(problem,))


def _span(result: TrialResult) -> tuple[int, int]:
    return round(SETTLED_S * _NS), int(result.manifest["guest"]["end_ns"])


def _settled(result: TrialResult) -> bool:
    report = result.manifest["guest"]
    return bool(report) and report.get("end_ns", 0) > SETTLED_S * _NS and result.packets.height > 0


def _capacity_share(result: TrialResult) -> float | None:
    if not _settled(result):
        return None
    t0_ns, t1_ns = _span(result)
    return utilisation(result.packets, capacity_bits([(0, RATE_MBPS)], t0_ns, t1_ns), t0_ns, t1_ns)


def _mbps(result: TrialResult) -> float | None:
    return total_throughput_mbps(result.packets, *_span(result)) if _settled(result) else None


def _confirmed(result: TrialResult) -> str | None:
    requested = result.manifest["trial"]["flows"][0]["contestant"]["cca"]
    return EndpointEvents.of(result.manifest, "flow0.sender").read_back.name(requested)
