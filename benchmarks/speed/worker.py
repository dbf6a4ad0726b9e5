"""Runs trials for ``benchmarks.speed`` with the Cambrian of the Python that runs this file.

It is a program of its own, so that another checkout's Python can run it: it imports nothing but ``cambrian``.
Tasks come as lines of JSON on standard input, answers leave on standard output.
"""

from __future__ import annotations

import cProfile
import io
import json
import os
import pstats
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from cambrian.run import prepare
from cambrian.store.results import Results, TrialResult
from cambrian.study.model import Trial
from cambrian.trial import carry_out
from cambrian.trial.environment import Environment

#: functions of a profile, the longest first
PROFILED = 12


class Worker:
    """One core, the software that it runs, and the long trial that is measured again and again."""

    def __init__(self, core: int) -> None:
        self._core = core
        self._made: Environment | None = None
        self._folder = tempfile.TemporaryDirectory(prefix="cambrian-bench-")
        self._long: Path | None = None

    @property
    def tasks(self) -> dict[str, Callable[[dict[str, Any]], dict[str, Any]]]:
        """Name → what answers it."""
        return {"prepare": self.prepare, "trial": self.trial, "metrics": self.metrics}

    def prepare(self, task: dict[str, Any]) -> dict[str, Any]:
        """Build what is missing, on all cores; then stay on one."""
        self._made = prepare.ensure(set(task["stacks"]))
        os.sched_setaffinity(0, {self._core})
        return {}

    def trial(self, task: dict[str, Any]) -> dict[str, Any]:
        """Run a trial: seconds from the plan to the finished folder, and what its manifest says."""
        with tempfile.TemporaryDirectory(prefix="cambrian-bench-") as folder:
            began = time.perf_counter()
            result, reasons = self._run(Trial.model_validate(task["trial"]), Path(folder))
            wall_s = time.perf_counter() - began
            manifest = result.manifest
        return {"wall_s": wall_s, "reasons": reasons, "manifest": manifest}

    def metrics(self, task: dict[str, Any]) -> dict[str, Any]:
        """Read a trial and compute all its metrics: seconds of both; the trial runs the first time."""
        # older checkouts have them elsewhere, and can still run trials
        from cambrian.judging import families
        from cambrian.measure import measuring

        asked = Trial.model_validate(task["trial"])
        if self._long is None:
            result, reasons = self._run(asked, Path(self._folder.name))
            if reasons:
                raise RuntimeError("; ".join(reasons))
            self._long = result.folder
        known = [families.family_of(flow.contestant.stack, flow.contestant.cca) for flow in asked.flows]
        trial = TrialResult(self._long)
        began = time.perf_counter()
        packets, rows = trial.packets.height, trial.transport.height
        read_s = time.perf_counter() - began
        began = time.perf_counter()
        measuring.measure(trial, with_envelope=True, families=known)
        metrics_s = time.perf_counter() - began
        answer: dict[str, Any] = {"packets": packets, "rows": rows, "read_s": read_s, "metrics_s": metrics_s}
        if task["profile"]:
            profile = cProfile.Profile()
            again = TrialResult(self._long)
            profile.runcall(measuring.measure, again, with_envelope=True, families=known)
            text = io.StringIO()
            pstats.Stats(profile, stream=text).sort_stats("cumulative").print_stats("cambrian", PROFILED)
            answer["profile"] = text.getvalue()
        return answer

    def _run(self, trial: Trial, folder: Path) -> tuple[TrialResult, list[str]]:
        """The trial's result, and why it is not valid."""
        if self._made is None:
            raise RuntimeError("nothing is prepared")
        results = Results(folder)
        outcome = carry_out.run(trial, self._made, results, core=self._core)
        return results.trial(outcome.trial_id), list(outcome.reasons)


def main() -> None:
    """Answer until standard input ends."""
    worker = Worker(int(sys.argv[1]))
    answers = os.fdopen(os.dup(1), "w")
    # what a library prints is no answer
    os.dup2(2, 1)
    with suppress(KeyboardInterrupt):
        for line in sys.stdin:
            task = json.loads(line)
            try:
                answer = worker.tasks[task["do"]](task)
            except Exception as error:
                answer = {"error": f"{type(error).__name__}: {error}"}
            print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
