"""``solo = true``: a pairwise study that also runs each contestant alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from cambrian.study.errors import StudyError
from cambrian.study.expand import expand
from cambrian.study.load import parse_study
from cambrian.study.model import Group, Study

TEXT = """
name = "s"
title = "t"
design = "{design}"
solo = {solo}
seeds = 2
start_spread_ms = 500
[[network]]
rate_mbps = 20
rtt_ms = 50
buffer_bdp = 1
[[contestant]]
stack = "tcp"
cca = ["cubic", "reno"]
"""


def study(design: str = "pairwise", solo: str = "true") -> Study:
    text = TEXT.format(design=design, solo=solo)
    return parse_study(text, "s.toml", Path(), {"tcp": ["cubic", "reno"]}, lambda _, cca: cca)


def groups(solo: str, only: str | None = None) -> list[Group]:
    return expand(study(solo=solo), reference_of=lambda _, cca: cca, only=only)


def test_each_contestant_runs_alone_too() -> None:
    found = [(group.key.split("/")[1], group.design, len(group.trials[0].flows)) for group in groups("true")]
    assert found == [
        ("tcp-cubic", "solo", 1),
        ("tcp-reno", "solo", 1),
        ("tcp-cubic+tcp-cubic", "pairwise", 2),
        ("tcp-cubic+tcp-reno", "pairwise", 2),
        ("tcp-reno+tcp-reno", "pairwise", 2),
        ("placebo-tcp-cubic+tcp-cubic", "pairwise", 2),
        ("placebo-tcp-reno+tcp-reno", "pairwise", 2),
    ]


def test_pairs_are_the_same_with_and_without() -> None:
    with_solo, without = groups("true"), groups("false")
    assert with_solo[2:] == without


def test_a_contestant_alone_has_either_position_of_a_pair() -> None:
    alone, _, pair, *_ = groups("true")
    assert [trial.positions for trial in alone.trials[:2]] == [(0,), (1,)]
    # at each position it starts as a flow of a pair does there
    for one, both in zip(alone.trials, pair.trials, strict=True):
        assert (one.seed, one.positions[0]) == (both.seed, both.positions[0])
        assert one.flows[0].start_ms == both.flows[0].start_ms


def test_only_keeps_a_contestants_own() -> None:
    kept = [group.key.split("/")[1] for group in groups("true", only="tcp reno")]
    assert kept == ["tcp-reno", "tcp-cubic+tcp-reno", "tcp-reno+tcp-reno", "placebo-tcp-reno+tcp-reno"]


@pytest.mark.parametrize("design", ["solo", "versus-reference"])
def test_other_designs_take_no_solo(design: str) -> None:
    with pytest.raises(StudyError, match=r"takes no solo") as caught:
        study(design)
    assert caught.value.line == 5
    assert study(design, "false").solo is False
