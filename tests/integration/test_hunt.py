"""`cambrian hunt` on real trials: what it finds repeats from the study that it writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from cambrian.hunt.properties import all_properties
from cambrian.hunt.trials import Runner
from cambrian.store.results import Results
from tests.integration import runs
from tests.integration.runs import cambrian, quickly
from tests.unit.hunt.corpus import HUNTED


@pytest.mark.long
def test_quinns_bbr_floods_a_queue_and_its_study_repeats_it(tmp_path: Path) -> None:
    found = cambrian(
        tmp_path, "hunt", "quinn/bbr", "--property", "no-flood", "--budget", "30s", "--out", "hunt"
    )
    assert found.returncode == 1, found.stdout + found.stderr
    assert "quinn/bbr breaks no-flood" in found.stdout
    study = tmp_path / "hunt" / "hunted-quinn-bbr-no-flood.toml"
    assert study.read_text().startswith("# quinn/bbr breaks no-flood")
    again = quickly(tmp_path, "run", study, "--profile", "quick", "--out", "again", "--jobs", "1")
    assert again.returncode == 0, again.stderr
    names = [trial for group in Results(tmp_path / "again").study()["groups"] for trial in group["trials"]]
    hunted = runs.hashes(tmp_path / "hunt")
    # the contestant's and the kernel's
    assert len(names) == 2
    assert {name: hunted[name] for name in names} == runs.hashes(tmp_path / "again")


def test_a_counterexample_of_the_corpus_is_still_one(tmp_path: Path) -> None:
    contestant, broken, place = HUNTED["quinn-bbr-no-flood"]
    with Runner(contestant, tmp_path, 1) as runner:
        evidence = runner.evidence(all_properties()[broken], place, 1)
    assert evidence.is_broken, f"mended, it seems: {evidence.shows[0]}"


def test_wrong_words_are_errors_with_the_remedy(tmp_path: Path) -> None:
    for words, said in (
        (("quinn/bbr", "--property", "no-floods"), "did you mean no-flood"),
        (("quinn/bbr", "--budget", "10"), "such as 10min"),
        (("quin/bbr",), "did you mean quinn"),
    ):
        ended = quickly(tmp_path, "hunt", *words)
        assert ended.returncode == 2 and said in ended.stderr, ended.stderr
