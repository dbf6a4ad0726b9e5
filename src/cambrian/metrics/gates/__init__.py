"""Validity gates: are this trial's figures reliable?

A gate compares a measured value with the configured one. It passes (True), fails (False: the trial is
invalid, kept with its reason and never averaged), or is inconclusive (None: it does not apply, or lacks data;
the verdict has a note). :func:`trial_gates` runs all.
"""

from cambrian.metrics.gates.capture import capture_gate, offload_gate
from cambrian.metrics.gates.ends import ENDED_EARLY, Closing, FlowEnd, Life, Outcome, flow_end
from cambrian.metrics.gates.flows import (
    cca_gate,
    completion_gate,
    endpoint_gate,
    premature_gate,
    window_use_gate,
)
from cambrian.metrics.gates.link import Limit, buffer_gate, rate_gate, rtt_gate, saturation_gate
from cambrian.metrics.gates.trial import FlowFacts, TrialFacts, exemptions, flow_ends, trial_gates
from cambrian.metrics.gates.verdict import Gate, Verdict, skipped, verdict

__all__ = [
    "ENDED_EARLY",
    "Closing",
    "FlowEnd",
    "FlowFacts",
    "Gate",
    "Life",
    "Limit",
    "Outcome",
    "TrialFacts",
    "Verdict",
    "buffer_gate",
    "capture_gate",
    "cca_gate",
    "completion_gate",
    "endpoint_gate",
    "exemptions",
    "flow_end",
    "flow_ends",
    "offload_gate",
    "premature_gate",
    "rate_gate",
    "rtt_gate",
    "saturation_gate",
    "skipped",
    "trial_gates",
    "verdict",
    "window_use_gate",
]
