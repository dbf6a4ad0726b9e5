"""A pytest plugin: the fixture ``cambrian_trial`` runs one trial in a test (docs/how-to/gate-a-ci.md).

::

    def test_share_beside_kernel_cubic(cambrian_trial):
        trial = cambrian_trial("quinn/cubic", "tcp/cubic", rate_mbps=10, rtt_ms=50, buffer_bdp=1)
        trial.assert_between("share_percent", 40, 60)

A trial is exact, so such a test is never flaky. Its results are kept in ``--cambrian-out``, and it runs again
only if the stack, the trial or Cambrian changed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pytest

if TYPE_CHECKING:
    from cambrian.measure.figures import Figures
    from cambrian.store.results import Results, TrialResult
    from cambrian.study.model import Trial
    from cambrian.trial.environment import Environment

_OPTION = "--cambrian-out"
#: where pytest-xdist says which of its processes this is: ``gw0``, ``gw1``…
_WORKER = "PYTEST_XDIST_WORKER"


class RunTrial(Protocol):
    """The fixture: ``stack/cca`` of each flow, then the network by the keys of ``[[network]]``."""

    def __call__(
        self,
        *contestants: str,
        duration_s: float = 30,
        seed: int = 1,
        starts_ms: Sequence[float] = (),
        **network: Any,
    ) -> FinishedTrial:
        """Run the trial, or take its kept results.

        ``starts_ms``: the start of each flow; by default flow n starts at n × 500 ms.

        Raises:
            ValueError: a key or value of the network is wrong.
            StudyError: no such contestant.
        """


@dataclass(frozen=True)
class FinishedTrial:
    """A trial that ran, with assertions whose errors say what was measured."""

    result: TrialResult

    @property
    def valid(self) -> bool:
        """Did the trial pass all checks?"""
        return bool(self.result.verdict["valid"])

    @property
    def packets_sha256(self) -> str:
        """The hash of all packets at the bottleneck."""
        return str(self.result.manifest["packets_sha256"])

    def value(self, quantity: str, flow: int = 0) -> Any:
        """A quantity of one flow (see ``cambrian quantities``); None if the trial has none.

        Fails if the trial is invalid.

        Raises:
            ValueError: there is no such quantity.
        """
        __tracebackhide__ = True
        self.assert_valid()
        return self._figures.value(quantity, flow)

    def assert_valid(self) -> None:
        """Fail with the reasons if the trial is invalid."""
        __tracebackhide__ = True
        if not self.valid:
            pytest.fail(f"the trial is invalid: {'; '.join(self.result.verdict['reasons'])}\n{self._where()}")

    def assert_between(self, quantity: str, low: float, high: float, flow: int = 0) -> None:
        """Fail if the trial is invalid, or the quantity is not from ``low`` to ``high``."""
        __tracebackhide__ = True
        self.assert_valid()
        value = self.value(quantity, flow)
        if value is None or not low <= value <= high:
            contestant = self.result.manifest["trial"]["flows"][flow]["contestant"]
            name = f"{contestant['stack']} {contestant['cca']}"
            shown = "not measured" if value is None else f"{value:.6g}"
            expected = f"expected {low:g} to {high:g}"
            pytest.fail(f"{quantity} of flow {flow} ({name}) is {shown}; {expected}\n{self._where()}")

    def assert_same_packets(self, sha256: str) -> None:
        """Fail if the packets are not those of this hash, or of a hash that begins so."""
        __tracebackhide__ = True
        self.assert_valid()
        if not sha256 or not self.packets_sha256.startswith(sha256):
            pytest.fail(f"the packets differ: {self.packets_sha256}, expected {sha256}\n{self._where()}")

    @cached_property
    def _figures(self) -> Figures:
        """Measured once, however many quantities a test asks for."""
        from cambrian.measure.figures import Figures

        return Figures(self.result)

    def _where(self) -> str:
        return f"results: {self.result.folder}"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option for the results folder."""
    parser.getgroup("cambrian").addoption(
        _OPTION,
        type=Path,
        default=Path("results/pytest"),
        help="Folder for the results of trials that tests run (default: results/pytest).",
    )


def _core() -> int:
    """The processor of this process's guests: one for each process of pytest-xdist, if there are enough."""
    from cambrian.run import pool

    known = pool.cores()
    return known[int(os.environ.get(_WORKER, "").removeprefix("gw") or 0) % len(known)]


def _carry_out(trial: Trial, made: Environment, results: Results) -> None:
    """Run a trial that has no results; as in every run, again if the host disturbs it."""
    from cambrian.run import one, pool
    from cambrian.trial.boot import Disturbed

    for tries in range(1, pool.TRIES + 1):
        try:
            one.run(trial, made, results, core=_core())
        except Disturbed:
            if tries == pool.TRIES:
                raise
        else:
            return


@pytest.fixture(scope="session")
def cambrian_trial(pytestconfig: pytest.Config) -> Iterator[RunTrial]:
    """Run one trial in virtual time; see :class:`RunTrial`.

    Stacks in the folder ``stacks/`` of the project are built and run: they are the project's own.
    """
    from cambrian.run import prepare
    from cambrian.run.study import look_in
    from cambrian.stacks import checks
    from cambrian.store import check
    from cambrian.store.results import Results
    from cambrian.study.model import Contestant, Flow, Network, Trial
    from cambrian.trial import carry_out, plan

    look_in([pytestconfig.rootpath / "stacks"])
    # processes of pytest-xdist must not share a folder
    worker = os.environ.get(_WORKER, "")
    results = Results((pytestconfig.rootpath / pytestconfig.getoption(_OPTION) / worker).absolute())

    def run(
        *contestants: str,
        duration_s: float = 30,
        seed: int = 1,
        starts_ms: Sequence[float] = (),
        **network: Any,
    ) -> FinishedTrial:
        for name in contestants:
            checks.check_named(name)
        parted = [name.split("/") for name in contestants]
        starts = starts_ms or [500.0 * number for number in range(len(parted))]
        flows = tuple(
            Flow(contestant=Contestant(stack=stack, cca=cca), start_ms=start)
            for (stack, cca), start in zip(parted, starts, strict=True)
        )
        trial = Trial(network=Network(**network), flows=flows, duration_s=duration_s, seed=seed)
        made = prepare.ensure(set(plan.stack_names(trial)))
        name = carry_out.trial_id(trial, made)
        if not results.has(name):
            _carry_out(trial, made, results)
        return FinishedTrial(results.checked(name))

    with results.alone():
        check.note_no_study(results, "pytest")
        yield run
