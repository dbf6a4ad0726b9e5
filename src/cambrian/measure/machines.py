"""The state machine of each flow of a trial."""

from __future__ import annotations

import polars as pl

from cambrian.metrics.columns import NS_PER_S
from cambrian.metrics.states.machine import Machine, machine
from cambrian.store.results import TrialResult
from cambrian.study.model import Trial


def flow_machines(result: TrialResult, trial: Trial) -> tuple[Machine | None, ...]:
    """The state machine of each flow; None if its stack exports neither states nor a window.

    The last state holds until the trial's end; for a flow of fixed size, until its last row; for a flow that
    ended early, until its end.
    """
    transport = result.transport
    ends_ns = dict(transport.group_by("flow").agg(pl.col("time_ns").max()).iter_rows())
    whole_ns: int = result.manifest["guest"]["end_ns"]
    return tuple(
        machine(
            transport,
            number,
            flow.contestant.cca,
            ends_ns.get(number, whole_ns)
            if flow.size_bytes or flow.page
            else min(whole_ns, _ended_ns(result, number) or whole_ns),
        )
        for number, flow in enumerate(trial.flows)
    )


def _ended_ns(result: TrialResult, number: int) -> int | None:
    ended_s = result.flow_end(number).get("ended_s")
    return None if ended_s is None else round(ended_s * NS_PER_S)
