"""Shards, joined, are what one run of the whole study leaves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.integration.runs import cambrian, hashes, quickly

pytestmark = pytest.mark.long

STUDY = """
name = "shards"
title = "Five short groups"
design = "solo"
duration_s = 3
seeds = 1
[[network]]
rate_mbps = 10
rtt_ms = 40
buffer_bdp = [0.5, 1, 2, 3, 5]
[[contestant]]
stack = "tcp"
cca = "reno"
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study in three shards, and run whole."""
    place = tmp_path_factory.mktemp("shards")
    (place / "study.toml").write_text(STUDY)
    for number in (1, 2, 3):
        words = ("--shard", f"{number}/3", "--out", f"shard-{number}", "--jobs", "1")
        answer = quickly(place, "run", "study.toml", *words)
        assert answer.returncode == 0, answer.stderr
    # forks of one process have one order of sets; by another, study.json must be the same
    assert cambrian(place, "run", "study.toml", "--out", "whole").returncode == 0
    return place


def test_joined_shards_are_the_whole(folder: Path) -> None:
    assert [len(hashes(folder / f"shard-{number}")) for number in (1, 2, 3)] == [2, 2, 1]
    # in any order
    answer = cambrian(folder, "merge", "shard-3", "shard-1", "shard-2", "--out", "joined")
    assert (answer.returncode, answer.stdout) == (0, "joined\n"), answer.stderr
    assert hashes(folder / "joined") == hashes(folder / "whole")
    assert json.loads((folder / "joined/study.json").read_text()) == json.loads(
        (folder / "whole/study.json").read_text()
    )
    # once more changes nothing
    assert quickly(folder, "merge", "shard-3", "shard-1", "shard-2", "--out", "joined").returncode == 0
    assert hashes(folder / "joined") == hashes(folder / "whole")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("merge", "shard-1", "shard-2", "--out", "x"), "no results of shard 3/3"),
        (("merge", "whole", "--out", "x"), "of a whole run, not of a shard"),
        (("merge", "nowhere", "--out", "x"), "nowhere: no such folder"),
        (("run", "study.toml", "--shard", "4/3"), "--shard 4/3: the first number is from 1 to the second"),
        (("run", "study.toml", "--shard", "two"), "--shard two: give two whole numbers"),
    ],
)
def test_what_cannot_be_joined_is_said(folder: Path, words: tuple[str, ...], said: str) -> None:
    answer = quickly(folder, *words)
    assert answer.returncode == 2
    assert said in answer.stderr
    assert "Traceback" not in answer.stderr


def test_a_damaged_shard_and_another_result_of_a_trial_are_refused(folder: Path) -> None:
    joined = folder / "again"
    quickly(folder, "merge", "shard-1", "shard-2", "shard-3", "--out", joined)
    place = next((folder / "shard-2/trials").iterdir()) / "manifest.json"
    text = place.read_text()
    try:
        place.write_text(text.replace('"packets_sha256": "', '"packets_sha256": "0')[:-1])
        answer = quickly(folder, "merge", "shard-1", "shard-2", "shard-3", "--out", "y")
        assert answer.returncode == 2
        assert str(place.parent.name) in answer.stderr
    finally:
        place.write_text(text)
