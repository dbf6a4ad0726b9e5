"""The built-in studies load, expand and cost what they should."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from cambrian.stacks import catalogue
from cambrian.study.builtin import builtin_studies, find_study
from cambrian.study.cost import estimate
from cambrian.study.errors import StudyError
from cambrian.study.expand import expand
from cambrian.study.load import load_study
from cambrian.study.model import Group

NAMES = [
    "after-loss",
    "aqm-tour",
    "clean-alone",
    "clean-duels",
    "clean-small",
    "duel-20",
    "envelope-imc22",
    "fault-behaviour",
    "fault-corpus",
    "fault-duels",
    "fingerprint",
    "harm",
    "join",
    "lab-conformance",
    "latecomer",
    "noise-floor",
    "page-load",
    "pairwise-imc22",
    "pauses",
    "quickstart",
    "rtt-unfairness",
    "weather",
    "widening",
]


def groups_of(name: str, profile: str | None = None) -> list[Group]:
    study = load_study(find_study(name), catalogue.ccas(), catalogue.reference_of)
    return expand(study, profile=profile, reference_of=catalogue.reference_of)


def test_all_are_listed_with_a_title() -> None:
    studies = builtin_studies()
    assert [study.name for study in studies] == NAMES
    assert all(study.title and study.description for study in studies)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("profile", [None, "quick", "full"])
def test_each_loads_and_expands(name: str, profile: str | None) -> None:
    study = load_study(find_study(name), catalogue.ccas(), catalogue.reference_of)
    assert study.name == name
    groups = groups_of(name, profile)
    assert max(Counter(group.key for group in groups).values()) == 1


def test_quickstart_fits_its_four_minutes() -> None:
    groups = groups_of("quickstart")
    judged = [group for group in groups if group.subject != group.reference and not group.placebo]
    assert len({group.subject for group in judged}) == 7
    assert estimate(groups, jobs=2).wall_s < 240


def test_envelope_is_quicbenchs_grid() -> None:
    groups = groups_of("envelope-imc22")
    assert len({group.network for group in groups}) == 16
    for group in groups:
        # five seeds, each in both orders
        assert (len(group.trials), group.orders, group.trials[0].duration_s) == (10, 2, 120)


def test_pairwise_is_quicbenchs_grid() -> None:
    networks = {trial.network for group in groups_of("pairwise-imc22") for trial in group.trials}
    assert {(network.rate_mbps, network.rtt_ms) for network in networks} == {(20, 50)}
    assert {network.buffer_bdp for network in networks} == {0.5, 1, 3, 5}


def test_the_duel_has_each_stack_against_itself() -> None:
    keys = {group.key for group in groups_of("duel-20")}
    assert {
        f"20mbps-50ms-1bdp/{stack}-cubic+{stack}-cubic"
        for stack in ("tcp", "quinn", "quic-go", "google-quiche")
    } < keys


def test_the_tour_visits_every_queue() -> None:
    queues = {trial.network.queue for group in groups_of("aqm-tour") for trial in group.trials}
    assert queues == {"droptail", "codel", "fq_codel", "pie", "fq_pie", "red", "cake", "dualpi2"}


def test_paths_and_unknown_names(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.touch()
    assert find_study(str(own)) == own
    with pytest.raises(StudyError, match="did you mean quickstart"):
        find_study("quick-start")
    with pytest.raises(StudyError, match="no such file"):
        find_study(str(tmp_path / "none.toml"))


def test_each_page_is_loaded_by_each_server() -> None:
    groups = groups_of("page-load")
    assert len(groups) == 2 * 3 * 3
    assert {(group.subject, group.page) for group in groups} == {
        (f"{stack} cubic", f"beta-{size}")
        for stack in ("google-quiche", "quic-go", "tcp-h2")
        for size in ("small", "medium", "large")
    }
