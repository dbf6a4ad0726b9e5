"""Carry out one trial, and keep nothing of a stack that is no longer as it was built."""

from __future__ import annotations

from cambrian.run.pool import Changed
from cambrian.stacks import build
from cambrian.store.results import Results
from cambrian.study.model import Trial
from cambrian.trial import carry_out, plan
from cambrian.trial.carry_out import Outcome
from cambrian.trial.environment import Environment


def run(
    trial: Trial,
    environment: Environment,
    results: Results,
    *,
    core: int | None = None,
    cpu_limit_s: float | None = None,
) -> Outcome:
    """Run one trial and keep its results, valid or not; the arguments are those of :func:`carry_out.run`.

    Raises:
        Changed: a stack changed since it was built, so which program the trial had is unknown.
        PlanError, ValueError: the trial cannot run.
        cambrian.trial.boot.Disturbed: the host ended the guest; the trial has no result.
    """

    def be_as_built() -> None:
        for name in plan.stack_names(trial):
            if not build.is_as_built(environment.builds[name]):
                raise Changed(name, build.changes(environment.builds[name]))

    return carry_out.run(
        trial, environment, results, core=core, cpu_limit_s=cpu_limit_s, before_kept=be_as_built
    )
