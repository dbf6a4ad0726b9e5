"""The fault corpus: its answer key, and how it is scored."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pydantic import ValidationError

from cambrian.judging import findings, references
from cambrian.judging.findings import Finding
from cambrian.metrics import envelope
from cambrian.metrics.parameters.definitions import PARAMETERS
from cambrian.proof import corpus_table, faults, floor
from cambrian.proof.corpus import CleanCell, FaultCell, Score
from cambrian.proof.faults import Clean, Fault
from cambrian.proof.floor import Behaviour
from cambrian.proof.groups import without_trial
from cambrian.stacks import catalogue
from cambrian.store.results import Results
from cambrian.study import builtin, load
from tests.unit import report_results
from tests.unit.judging.test_findings import measured

BETA_06 = Fault(preset="cubic-beta-0.6", clean="cubic", parameter="beta", truth=0.6)


def found(value: float, half: float = 0.01) -> Finding:
    return findings.judge("n", measured("beta", value, half), references.for_family("cubic")["beta"])


def test_the_key_names_presets_and_parameters_that_exist() -> None:
    key = faults.key()
    presets = catalogue.load()[faults.LAB].manifest.ccas
    for fault in key.fault:
        assert {fault.preset, fault.clean, fault.isolated} <= set(presets)
        assert fault.parameter in PARAMETERS
        if fault.words is not None:
            assert fault.words in PARAMETERS[fault.parameter].kinds


def test_the_study_runs_every_preset_of_the_key_and_every_clean_controller() -> None:
    def contestants(name: str) -> set[str]:
        study = load.load_study(builtin.find_study(name), catalogue.ccas(), catalogue.reference_of)
        return {contestant.name for contestant in study.contestants}

    names, key = contestants("fault-corpus"), faults.key()
    assert {f"{faults.LAB} {name}" for fault in key.fault for name in (fault.preset, fault.isolated)} <= names
    assert {clean.contestant for clean in key.clean} <= names | contestants("fault-behaviour")


def test_every_preset_of_the_lab_is_a_fault_or_clean() -> None:
    key = faults.key()
    planted = {fault.preset for fault in key.fault} | {fault.preset for fault in key.misbehaviour}
    known = planted | {one.contestant.split()[1] for one in key.clean}
    # by the corpus' round trip of 50 ms it is gquic-cubic-n2 to the packet
    same = {"gquic-cubic-n2-beta-by-rtt"}
    # what another is compared with: no fault, and too slow to be called clean
    held_back = {"reno-send-buffer"}
    assert set(catalogue.load()[faults.LAB].manifest.ccas) == known | same | held_back


@pytest.mark.parametrize(
    ("value", "half", "named"),
    [
        (0.6, 0.01, True),
        (0.62, 0.01, False),  # off, but the truth is outside
        (0.65, 0.2, False),  # holds the truth, and the clean value too
    ],
)
def test_named_means_off_with_the_truth_inside(value: float, half: float, named: bool) -> None:
    assert BETA_06.is_named_by(found(value, half)) is named


def test_one_truth_a_fault() -> None:
    with pytest.raises(ValidationError, match="one of truth, words and above"):
        Fault(preset="a", clean="b", parameter="beta")


def test_a_clean_controller_may_choose_only_where_it_is_said() -> None:
    cap = findings.judge(
        "n", measured("max_window_packets", 107, 1), references.for_family("cubic")["max_window_packets"]
    )
    assert Clean(contestant="x", family="cubic").is_accused_by(cap)
    assert not Clean(contestant="x", family="cubic", choices=True).is_accused_by(cap)
    assert Clean(contestant="x", family="cubic", choices=True).is_accused_by(found(0.6))


def score(named: int, missed: int, idle: int, quiet: int, accused: int) -> Score:
    cells = [FaultCell(BETA_06, "n", "named", "0.600 ± 0.010 (off)")] * named
    cells += [FaultCell(BETA_06, "n", "missed", "no estimate")] * missed
    cells += [FaultCell(BETA_06, "n", "not exercised", "the same packets as without it")] * idle
    clean = [CleanCell(f"quiet {number}", "n", 5, ()) for number in range(quiet)]
    clean += [CleanCell(f"accused {number}", "n", 5, (found(0.6),)) for number in range(accused)]
    return Score(tuple(cells), tuple(clean))


def test_the_bars() -> None:
    assert score(9, 1, 5, 19, 1).passes
    assert not score(8, 1, 5, 19, 1).passes
    assert not score(9, 1, 0, 18, 1).passes
    assert not score(0, 0, 5, 19, 0).passes, "nothing exercised proves nothing"
    assert not score(1, 0, 0, 0, 0).passes, "no clean controller"


def test_a_clean_controller_that_is_accused_on_one_network_is_accused() -> None:
    """One of nine is 11 %, also if it is quiet on its three other networks."""
    clean = [
        CleanCell(f"controller {number}", network, 5, (found(0.6),) if (number, network) == (0, "a") else ())
        for number in range(9)
        for network in "abcd"
    ]
    one = replace(score(1, 0, 0, 0, 0), clean=tuple(clean))
    assert one.accused == {"controller 0"} and one.quiet == 35
    assert not one.passes
    assert replace(one, clean=tuple(clean[1:])).passes


def test_a_group_without_a_valid_trial_fails_the_corpus(tmp_path: Path) -> None:
    def other_verdict(path: Path) -> None:
        verdict = json.loads(path.read_text())
        path.write_text(json.dumps(verdict | {"valid": False, "reasons": ["x"]}))

    results = Results(report_results.copy(tmp_path))
    assert without_trial(results) == ()
    first = results.study()["groups"][0]
    for name in first["trials"]:
        other_verdict(results.trial(name).folder / "verdict.json")
    shutil.rmtree(results.trial(results.study()["groups"][1]["trials"][0]).folder)
    absent = without_trial(results)
    assert absent == (f"{first['subject']} on {first['network']}",)
    one = replace(score(9, 1, 5, 19, 1), absent=absent)
    assert not one.passes
    assert f"fails: groups without a valid trial: {absent[0]}" in corpus_table.summary(one)


def test_the_summary_counts_and_names_the_accused() -> None:
    first, second, accused = corpus_table.summary(score(9, 1, 5, 19, 1))
    assert first.startswith("9 of 10 faults on a network are named")
    assert "5 are not exercised" in first
    assert second.startswith("19 of 20 clean controllers are accused on no network (95.0 %): 19 of 20 cases")
    assert "accused 0 on n: multiplicative decrease β is 0.600" in accused


def behaviour(throughput_mbps: float, start_bytes: float, spread: float = 0.1) -> Behaviour:
    points = np.array(
        [[throughput_mbps + spread * (n % 5), 10 + n // 5] for n in range(25)], dtype=np.float64
    )
    return Behaviour(envelope.from_points(points), (start_bytes, 0.0, 5.0))


def test_a_fault_leaves_the_floor_by_its_envelope_or_by_its_start() -> None:
    cleans = {seed: behaviour(10 + 0.05 * seed, 1e6 + 5000 * seed) for seed in (1, 2, 3)}
    same = {seed: behaviour(10 + 0.05 * seed, 1e6 + 5000 * seed) for seed in (4, 5, 6)}
    elsewhere = {seed: behaviour(14, 1e6 + 5000 * seed) for seed in (1, 2, 3)}
    sooner = {seed: behaviour(10 + 0.05 * seed, 2e6) for seed in (1, 2, 3)}
    assert floor.outside({1: cleans[2], 2: cleans[3], 3: cleans[1]}, cleans) == ()
    assert floor.outside(elsewhere, cleans) == ("envelope",)
    assert floor.outside(sooner, cleans) == ("start",)
    assert floor.outside(same, {1: cleans[1], 2: cleans[2]}) is None, "two trials make no floor"
