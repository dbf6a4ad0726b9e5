"""Runs trials for the self-test: in temporary folders, on all cores, with or without other load."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cambrian.run import pool, prepare
from cambrian.run.local import Cores
from cambrian.stacks import catalogue
from cambrian.store.results import Results, TrialResult
from cambrian.study.model import Contestant, Flow, Network, Trial
from cambrian.trial import carry_out
from cambrian.trial.environment import Environment

#: a busy loop that ends after 300 s, even if this process is killed
_BUSY = "import time\nend = time.monotonic() + 300\nwhile time.monotonic() < end: pass"
#: the quickstart's contestants and their kernel references
CONTESTANTS = {
    "tcp": ("cubic", "reno", "bbr"),
    "quinn": ("cubic", "reno", "bbr"),
    "quic-go": ("cubic", "reno"),
    "google-quiche": ("cubic", "bbr", "bbr2"),
}


class BenchError(RuntimeError):
    """A trial of the self-test could not run, or is invalid."""


def flow(stack: str, cca: str, start_ms: float = 0.0) -> Flow:
    """An endless flow."""
    return Flow(contestant=Contestant(stack=stack, cca=cca), start_ms=start_ms)


def trial(network: Network, *flows: Flow, duration_s: float, seed: int = 1) -> Trial:
    """A trial in virtual time."""
    return Trial(network=network, flows=flows, duration_s=duration_s, seed=seed)


@contextmanager
def busy_cores() -> Iterator[None]:
    """Keep every core busy with a loop while the body runs."""
    loops = [
        subprocess.Popen([sys.executable, "-c", f"import os\nos.sched_setaffinity(0, {{{core}}})\n{_BUSY}"])
        for core in pool.cores()
    ]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


@dataclass(frozen=True)
class Bench:
    """A temporary folder, the software that trials need, and a trial's CPU seconds (None: the default)."""

    folder: Path
    made: Environment
    jobs: int
    cpu_limit_s: float | None = None

    def run(self, trials: Sequence[Trial], place: str = "first") -> list[TrialResult]:
        """Run all trials in the folder ``place``; returns their results in the given order.

        Raises:
            BenchError: a trial could not run, or is invalid.
        """
        ran = self.run_any(trials, place)
        for item, result in zip(trials, ran, strict=True):
            if not result.verdict["valid"]:
                names = " + ".join(flow.contestant.name for flow in item.flows)
                raise BenchError(f"{names}: {'; '.join(result.verdict['reasons'])}")
        return ran

    def run_any(self, trials: Sequence[Trial], place: str = "first") -> list[TrialResult]:
        """As :meth:`run`, also for trials that are invalid.

        Raises:
            BenchError: a trial could not run.
        """
        results = Results(self.folder / place)
        cores = Cores(self.jobs)
        for finished in pool.run(trials, self.made, results, engine=cores, cpu_limit_s=self.cpu_limit_s):
            if finished.outcome is None:
                raise BenchError(f"a trial could not run: {finished.error}")
        return [results.trial(carry_out.trial_id(item, self.made)) for item in trials]


@contextmanager
def bench(
    jobs: int, stacks: Iterable[str] = CONTESTANTS, cpu_limit_s: float | None = None
) -> Iterator[Bench]:
    """A bench with these stacks built, and a temporary folder that is deleted at the end."""
    made = prepare.ensure(set(stacks) & set(catalogue.load()))
    with tempfile.TemporaryDirectory(
        prefix="cambrian-selftest-", dir=os.environ.get("TMPDIR", "/tmp")
    ) as name:
        yield Bench(Path(name), made, jobs, cpu_limit_s)


def packets_sha256(result: TrialResult) -> str:
    """The hash of a trial's packet trace."""
    return str(result.manifest["packets_sha256"])
