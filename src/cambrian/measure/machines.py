"""The state machine of each flow of a trial."""

from __future__ import annotations

from cambrian.measure import flow_ends
from cambrian.metrics.states.machine import Machine, machine
from cambrian.store.results import TrialResult
from cambrian.study.model import Trial


def flow_machines(result: TrialResult, trial: Trial) -> tuple[Machine | None, ...]:
    """The state machine of each flow; None if its stack exports no states, and no window that shows them.

    The last state holds until the flow's end: a log goes on after it, because a sender repeats the packets
    that close the connection.
    """
    undisturbed = len(trial.flows) == 1 and not (trial.network.schedule or trial.network.trace_file)
    return tuple(
        machine(
            result.transport,
            number,
            flow.contestant.cca,
            flow_ends.end_ns(result, number),
            undisturbed=undisturbed,
        )
        for number, flow in enumerate(trial.flows)
    )
