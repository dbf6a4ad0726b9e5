"""Real trials: the kernel and the stacks are built (once, cached), guests boot, nothing is pretended."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, sync_playwright

from cambrian.command import MissingTool
from cambrian.pages import browser as installed
from cambrian.run import cores, pool, prepare
from cambrian.stacks import catalogue
from cambrian.store.results import Results, TrialResult
from cambrian.study.model import Contestant, Flow, Network, Trial
from cambrian.trial import carry_out, plan

MISBEHAVING = Path(__file__).parents[1] / "misbehaving-stacks"

RunTrials = Callable[..., list[TrialResult]]


# no session: unit tests in the same process have the project's own stacks
@pytest.fixture(scope="package", autouse=True)
def all_stacks() -> Iterator[None]:
    """The catalogue, with the stacks that misbehave on purpose."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CAMBRIAN_STACKS", str(MISBEHAVING))
        catalogue.load.cache_clear()
        yield
    catalogue.load.cache_clear()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """The installed Chromium."""
    try:
        program = installed.find().path
    except MissingTool as missing:
        pytest.skip(f"{missing.what}; remedy: {missing.remedy}")
    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=program)
        yield started
        started.close()


@pytest.fixture
def run_trials(tmp_path: Path) -> RunTrials:
    """Run trials one after the other, each afresh; returns their results in the order given.

    Each has a core of its own: with several processes of tests, it is tests that run side by side.
    """

    def run(
        trials: Sequence[Trial], place: str = "results", cpu_limit_s: float | None = None
    ) -> list[TrialResult]:
        made = prepare.ensure({name for trial in trials for name in plan.stack_names(trial)})
        results = Results(tmp_path / place)
        with own_core() as core:
            done = [carry_out.run(one, made, results, core=core, cpu_limit_s=cpu_limit_s) for one in trials]
        return [results.trial(one.trial_id) for one in done]

    return run


@contextmanager
def own_core() -> Iterator[int]:
    """A core that no run of another process has meanwhile.

    Where all are taken: by pytest-xdist's number of this process, gw0, gw1…; the first core without it.
    """
    number = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    held = cores.hold(1)
    try:
        yield (*held.cores, pool.cores()[number % len(pool.cores())])[0]
    finally:
        held.release()


def flow(stack: str, cca: str, **more: object) -> Flow:
    """An endless flow by default."""
    contestant = {key: more.pop(key) for key in ("tls", "options", "receiver") if key in more}
    return Flow.model_validate(
        {"contestant": Contestant.model_validate({"stack": stack, "cca": cca, **contestant}), **more}
    )


def duel(*flows: Flow, seconds: float = 6, seed: int = 1, **network: Any) -> Trial:
    """A trial, by default on 20 Mbps, 50 ms, 1 BDP."""
    shape = {"rate_mbps": 20, "rtt_ms": 50, "buffer_bdp": 1} | network
    return Trial(network=Network.model_validate(shape), flows=flows, duration_s=seconds, seed=seed)


def valid(result: TrialResult) -> TrialResult:
    """The result, which must be valid."""
    assert result.verdict["valid"], result.verdict["reasons"]
    return result
