"""A flow's figures, from a committed trial whose counters are changed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import polars as pl
import pytest

from cambrian.measure.flow_window import TrialWindow
from cambrian.measure.measuring import flow_measures
from cambrian.store.results import TrialResult
from cambrian.study.model import Trial
from tests.unit import report_results


def test_periodic_losses_are_random_loss_as_the_link_counts_them(tmp_path: Path) -> None:
    source = sorted((report_results.KNOBS / "trials").iterdir())[0]
    folder = Path(shutil.copytree(source, tmp_path / source.name))
    manifest = json.loads((folder / "manifest.json").read_text())
    trial = Trial.model_validate(manifest["trial"])
    manifest["trial"]["network"]["loss_every_packets"] = 50
    for flow in manifest["guest"]["counters"]["flows"]:
        (netem,) = flow["forward"]
        came = netem["sent_packets"] + netem["backlog_packets"] + netem["dropped_packets"]
        # 10 periods of 50 packets, and netem, named last, gets what is left of them
        netem["sent_packets"] -= came - 490
        flow["forward"].insert(0, {**netem, "kind": "clsact", "sent_packets": 500})
    (folder / "manifest.json").write_text(json.dumps(manifest))
    result = TrialResult(folder)
    measured = flow_measures(TrialWindow(result, trial, (0, manifest["guest"]["end_ns"]), [], []))
    for found, count in zip(measured, result.link_counts("forward"), strict=True):
        assert found["random_loss_percent"] == pytest.approx(100 * 10 / 500)
        assert count == (500, 10)


def test_delays_are_of_the_flows_own_packets() -> None:
    folder = sorted((report_results.KNOBS / "trials").iterdir())[0]
    result = TrialResult(folder)
    trial = Trial.model_validate(result.manifest["trial"])
    end_ns = result.manifest["guest"]["end_ns"]
    for number, found in enumerate(flow_measures(TrialWindow(result, trial, (0, end_ns), [], []))):
        mine = result.packets.filter(
            (pl.col("flow") == number) & (pl.col("outcome") == "departed") & (pl.col("departure_ns") < end_ns)
        )
        waited_ms = (mine["departure_ns"] - mine["arrival_ns"]).cast(pl.Float64) / 1e6
        assert found["delay_mean_ms"] == pytest.approx(waited_ms.mean())
        assert found["delay_max_ms"] == pytest.approx(waited_ms.max())
        assert found["delay_p50_ms"] <= found["delay_p99_ms"] <= found["delay_max_ms"]
