"""A suite by the command line: its cost first, its parts' results in their places, nothing run twice."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.integration.runs import cambrian, quickly

PART = "wpi/grid"
#: three trials of half a second each
ONLY = "4mbps-25ms-0loss/tcp-cubic"


@pytest.mark.long
def test_a_part_runs_into_its_place_and_is_kept(tmp_path: Path) -> None:
    words = ("run", "wpi", "--profile", "quick", "--only", ONLY, "-j", "1")
    first = quickly(tmp_path, *words)
    assert first.returncode == 0, first.stderr
    study = json.loads((tmp_path / "results" / PART / "study.json").read_text())
    assert study["command"].startswith("cambrian run wpi/grid --profile quick")
    names = study["groups"][0]["trials"]
    hashes = [_hash(tmp_path, name) for name in names]
    assert len(set(hashes)) == 3
    again = quickly(tmp_path, *words)
    assert "0 trials run" in again.stderr
    assert "3 kept" in again.stderr
    assert [_hash(tmp_path, name) for name in names] == hashes

    reported = cambrian(tmp_path, "report", "results/wpi")
    assert reported.returncode == 0, reported.stderr
    assert reported.stdout.strip().endswith("results/wpi/report/index.html")
    part = tmp_path / "results" / PART
    assert (part / "report" / "index.html").is_file()
    # what the part's report measured is kept, and so not measured again for the suite's page
    assert {path.name for path in part.glob("frames/*/*")} == {"observations", "tables"}


def test_all_suites_say_what_they_cost_and_run_nothing(tmp_path: Path) -> None:
    answer = quickly(tmp_path, "run", "all", "--profile", "quick", "--dry-run")
    assert answer.returncode == 0, answer.stderr
    assert "in total" in answer.stderr
    assert "wpi/grid: " in answer.stderr
    assert not (tmp_path / "results").exists()


def test_only_may_be_repeated(tmp_path: Path) -> None:
    once = ["--only", "msquic*"]
    trials = []
    for only in (once, [*once, "--only", "tcp reno"]):
        answer = quickly(tmp_path, "run", "quicbench/pairs", "--dry-run", *only)
        said = re.search(r"quicbench/pairs: ([\d,]+) trials", answer.stderr)
        assert said, answer.stderr
        trials.append(int(said[1].replace(",", "")))
    # msquic against each of the twelve, itself among them, and the kernel's Reno against eleven more and its
    # placebo; behind four buffers, with five seeds in both orders
    assert trials == [12 * 4 * 5 * 2, (12 + 11 + 1) * 4 * 5 * 2]


def test_a_pattern_that_matches_nothing_anywhere(tmp_path: Path) -> None:
    answer = quickly(tmp_path, "run", "wpi", "--only", "nothing*")
    assert answer.returncode == 2
    assert "Traceback" not in answer.stderr
    assert "--only" in answer.stderr


def _hash(folder: Path, trial: str) -> str:
    manifest = folder / "results" / PART / "trials" / trial / "manifest.json"
    return str(json.loads(manifest.read_text())["packets_sha256"])
