"""Loss recovery of committed trials: which facts come from where."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cambrian.measure import recovery
from cambrian.metrics.recovery import FlowRecovery
from cambrian.report import tables
from cambrian.report.collect import collect
from cambrian.report.tables import recovery as recovery_table
from cambrian.store.results import Results, TrialResult
from cambrian.study.model import Trial
from tests.unit import report_results


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A trial of two kernel TCP flows over a drop-tail queue."""
    trials = sorted((report_results.KNOBS / "trials").iterdir())
    return Path(shutil.copytree(trials[0], tmp_path / trials[0].name))


def manifest(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "manifest.json").read_text())
    return found


def of(folder: Path, changed: dict[str, Any]) -> tuple[FlowRecovery | None, ...]:
    (folder / "manifest.json").write_text(json.dumps(changed))
    return recovery.flow_recoveries(TrialResult(folder), Trial.model_validate(changed["trial"]))


def test_the_kernels_counter_says_what_was_retransmitted(folder: Path) -> None:
    changed = manifest(folder)
    for flow in changed["guest"]["counters"]["flows"]:
        flow["snmp"] = {"Tcp": {"OutSegs": 900, "RetransSegs": 100}}
    for number, found in enumerate(of(folder, changed)):
        assert found is not None and found.false_losses is not None
        drops = TrialResult(folder).packets.filter(flow=number, outcome="dropped").height
        assert found.false_losses.declared == 100
        assert found.false_losses.dropped == drops == found.episodes.drops.sum()
        assert found.false_losses.estimate == 100 - drops
        # counted at the trial's end: no drop of later can be among them
        assert found.false_losses.low == 100 - drops


def test_a_stacks_own_count_stands_unless_it_counted_no_packet(folder: Path) -> None:
    changed = manifest(folder)
    stats = {"event": "stats", "packets_sent": 900, "packets_lost": 70, "ptos": 2}
    changed["endpoints"] = {"flow0.sender": [stats], "flow1.sender": [stats | {"packets_sent": 0}]}
    first, second = of(folder, changed)
    assert first is not None and first.false_losses is not None
    assert (first.false_losses.declared, first.timeouts) == (70, 2)
    assert second is not None and second.false_losses is None


def test_reports_after_the_end_do_not_count(folder: Path) -> None:
    changed = manifest(folder)
    zero_ns, end_ns = changed["guest"]["zero_ns"], changed["guest"]["end_ns"]
    lines = [
        {"event": "progress", "time_ns": zero_ns + end_ns // 2, "bytes": 1000},
        {"event": "progress", "time_ns": zero_ns + end_ns + 1, "bytes": 10**9},
    ]
    (folder / "logs").mkdir(exist_ok=True)
    log = folder / "logs" / "flow0.receiver.out"
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    first, second = of(folder, changed)
    assert first is not None and first.redundancy is not None
    assert first.redundancy.until_ns == end_ns // 2
    assert second is not None and second.redundancy is None


@pytest.mark.parametrize(
    "change", [{"duplicate_percent": 1.0}, {"schedule": [{"at_s": 1.0, "rtt_ms": 30.0}]}]
)
def test_where_no_figure_holds_none_is_given(folder: Path, change: dict[str, Any]) -> None:
    changed = manifest(folder)
    changed["trial"]["network"] |= change
    assert of(folder, changed) == (None, None)


@pytest.mark.parametrize("at", ["old address", "slow socket"])
def test_packets_lost_behind_the_queue_are_no_spurious_losses(folder: Path, at: str) -> None:
    """As 300 packets that a handover lost: "300 false losses, 2 % delivered twice"."""
    changed = manifest(folder)
    changed["endpoints"] = {"flow0.sender": [{"event": "stats", "packets_sent": 900, "packets_lost": 70}]}
    zero_ns = changed["guest"]["zero_ns"]
    (folder / "logs").mkdir(exist_ok=True)
    progress = {"event": "progress", "time_ns": zero_ns + changed["guest"]["end_ns"] // 2, "bytes": 1000}
    (folder / "logs" / "flow0.receiver.out").write_text(json.dumps(progress))
    known = of(folder, changed)[0]
    assert known is not None and known.false_losses is not None and known.redundancy is not None
    if at == "old address":
        changed["trial"]["network"]["schedule"] = [{"at_s": 1.0, "handover_overlap_ms": 0.0}]
    else:
        changed["trial"]["flows"][0]["contestant"]["receiver_cpu"] = {"per_packet_us": 500.0}
    found = of(folder, changed)[0]
    assert found is not None and found.false_losses is None and found.redundancy is None


def test_a_seed_with_an_invalid_trial_does_not_count() -> None:
    """Of seed 3 one order alone is valid: the flow that starts first there would count once more."""
    whole = collect(Results(report_results.KNOBS), judged=False)
    cells = []
    for one in whole.cells:
        first, second, third = one.trials
        trials = (first, replace(first, id="1b"), second, replace(second, id="2b"), third)
        cells.append(replace(one, trials=trials, orders=2))
    frame = recovery_table.table(replace(whole, cells=tuple(cells)))
    assert frame is not None
    for one, row in zip(whole.cells, frame.filter(flow=0).to_dicts(), strict=True):
        counts = [trial.recoveries[0].episodes.count for trial in one.trials[:2] if trial.recoveries[0]]
        assert row["trials"] == 4
        assert row["episodes"] == pytest.approx(sum(counts) / len(counts))


def test_a_row_a_flow_with_means_over_trials() -> None:
    collected = collect(Results(report_results.KNOBS))
    frame = recovery_table.table(collected)
    assert frame is not None
    assert frame.height == sum(len(cell.names) for cell in collected.cells)
    for cell, row in zip(collected.cells, frame.filter(flow=0).to_dicts(), strict=True):
        counts = [trial.recoveries[0].episodes.count for trial in cell.trials if trial.recoveries[0]]
        assert row["episodes"] == pytest.approx(sum(counts) / len(counts))
        # the oldest results say nothing of what was retransmitted
        assert row["declared_packets"] is None
    shown = tables.shown("recovery", frame, collected)
    assert shown is not None
    assert "Loss episodes at the queue" in shown.headings
