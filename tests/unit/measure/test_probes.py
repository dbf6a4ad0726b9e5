"""What a trial's probes know of its flow."""

from __future__ import annotations

from dataclasses import replace

from cambrian.judging.families import Family
from cambrian.measure import measuring, recovery
from cambrian.metrics.recovery import FalseLosses
from cambrian.probes.figures import Figure
from cambrian.store.results import TrialResult
from cambrian.study.model import Trial
from tests.unit import report_results


def test_probes_know_how_many_packets_the_sender_declared_lost() -> None:
    result = TrialResult(min((report_results.KNOBS / "trials").iterdir()))
    both = Trial.model_validate(result.manifest["trial"])
    network = both.network.model_copy(update={"name": "20mbps-50ms-1bdp"})
    trial = both.model_copy(update={"flows": both.flows[:1], "network": network})
    recovered, *_ = recovery.flow_recoveries(result, both)
    assert recovered is not None
    count = FalseLosses(declared=120, dropped=20, estimate=100, low=70, high=100)
    tcp = Family("cubic", "tcp")
    known = replace(recovered, false_losses=count)
    found = measuring._probes(result, trial, (tcp, tcp), known)["false-losses"]
    assert found == Figure(70.0, 120)
    assert not isinstance(measuring._probes(result, trial, (tcp, tcp), None)["false-losses"], Figure)
