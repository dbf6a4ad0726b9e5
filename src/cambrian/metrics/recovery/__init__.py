"""Loss recovery of one flow: spurious losses, reaction times, and the end of the flow.

Reads ``packets`` (:data:`cambrian.metrics.columns.PACKETS`) and ``transport``
(:data:`cambrian.trace.schema.TRANSPORT`) of that flow alone, and counters of the trial. The true losses are
known exactly: queue drops from the capture, random losses from the link's counters.
"""

from cambrian.metrics.recovery.episodes import Episodes, episodes
from cambrian.metrics.recovery.false_losses import FalseLosses, false_losses
from cambrian.metrics.recovery.flow import FlowFacts, FlowRecovery, flow_recovery
from cambrian.metrics.recovery.redundancy import Delivery, Redundancy, redundancy
from cambrian.metrics.recovery.tail import Tail, tail
from cambrian.metrics.recovery.timeouts import timeouts

__all__ = [
    "Delivery",
    "Episodes",
    "FalseLosses",
    "FlowFacts",
    "FlowRecovery",
    "Redundancy",
    "Tail",
    "episodes",
    "false_losses",
    "flow_recovery",
    "redundancy",
    "tail",
    "timeouts",
]
