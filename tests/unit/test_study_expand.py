"""Designs, seeds, offsets, profiles and --only."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cambrian.study import draw
from cambrian.study.draw import start_offset_ms, uniform
from cambrian.study.errors import StudyError
from cambrian.study.expand import expand, select
from cambrian.study.load import parse_study
from cambrian.study.model import Contestant, Cpu, Group, Study

CATALOGUE = {"tcp": ["cubic", "reno", "bbr"], "quinn": ["cubic", "reno", "bbr"], "quic-go": ["cubic", "reno"]}


def study_of(design: str, contestants: str, extra: str = "") -> Study:
    text = f"""\
name = "x"
title = "X"
design = "{design}"
seeds = 3
start_spread_ms = 500
{extra}
[[network]]
rate_mbps = [20, 100]
rtt_ms = 50
buffer_bdp = 1
{contestants}
[profile.quick]
seeds = 1
duration_s = 10
networks = ["20*"]
"""
    return parse_study(text, "x.toml", Path(), CATALOGUE)


THREE = """
[[contestant]]
stack = "quinn"
cca = ["cubic", "reno"]
[[contestant]]
stack = "quic-go"
cca = "cubic"
"""


def same_cca(stack: str, cca: str) -> str | None:
    return cca


LINE_UPS = """
[[lineup]]
name = "alone"
flows = [{ stack = "quinn", cca = "cubic" }]
[[lineup]]
name = "against-3"
flows = [{ stack = "quinn", cca = "cubic" }, { stack = "tcp", cca = "cubic", count = 3, start_ms = 100 }]
"""


def keys(groups: list[Group]) -> list[str]:
    return [group.key for group in groups]


def test_solo() -> None:
    groups = expand(study_of("solo", THREE), reference_of=same_cca)
    assert keys(groups)[:4] == [
        "20mbps-50ms-1bdp/quinn-cubic",
        "20mbps-50ms-1bdp/quinn-reno",
        "20mbps-50ms-1bdp/quic-go-cubic",
        "100mbps-50ms-1bdp/quinn-cubic",
    ]
    assert len(groups) == 6
    assert all(len(trial.flows) == 1 for group in groups for trial in group.trials)
    assert all(group.reference is None for group in groups)


def test_versus_reference_has_each_noise_floor_once_per_network() -> None:
    groups = expand(study_of("versus-reference", THREE), reference_of=same_cca)
    assert keys(groups)[:5] == [
        "20mbps-50ms-1bdp/tcp-cubic+tcp-cubic",
        "20mbps-50ms-1bdp/tcp-reno+tcp-reno",
        "20mbps-50ms-1bdp/placebo-tcp-cubic+tcp-cubic",
        "20mbps-50ms-1bdp/placebo-tcp-reno+tcp-reno",
        "20mbps-50ms-1bdp/quinn-cubic+tcp-cubic",
    ]
    assert len(groups) == 14
    for group in groups:
        for trial in group.trials:
            test, reference = (flow.contestant for flow in trial.flows)
            assert (test.name, reference.name) == (group.subject, group.reference)
            assert reference == Contestant(stack="tcp", cca=test.cca)


def test_the_reference_as_a_contestant_is_its_own_noise_floor() -> None:
    study = study_of("versus-reference", '[[contestant]]\nstack = "tcp"\ncca = "cubic"\n')
    assert keys(expand(study, reference_of=same_cca)) == [
        "20mbps-50ms-1bdp/tcp-cubic+tcp-cubic",
        "20mbps-50ms-1bdp/placebo-tcp-cubic+tcp-cubic",
        "100mbps-50ms-1bdp/tcp-cubic+tcp-cubic",
        "100mbps-50ms-1bdp/placebo-tcp-cubic+tcp-cubic",
    ]


def test_a_placebo_is_another_sample_of_the_noise_floor_on_the_same_seeds() -> None:
    study = study_of("versus-reference", '[[contestant]]\nstack = "tcp"\ncca = "cubic"\n')
    floor, placebo, *_ = expand(study, reference_of=same_cca)
    assert (placebo.placebo, placebo.subject, placebo.reference) == (True, "placebo (tcp cubic)", "tcp cubic")
    assert [trial.seed for trial in placebo.trials] == [trial.seed for trial in floor.trials]
    assert [trial.positions for trial in placebo.trials[:2]] == [(2, 3), (3, 2)]
    for one, other in zip(placebo.trials, floor.trials, strict=True):
        # the same contestants, and other offsets
        assert [f.contestant.cca for f in one.flows] == [f.contestant.cca for f in other.flows]
        assert {f.start_ms for f in one.flows}.isdisjoint({f.start_ms for f in other.flows})


def test_a_contestant_without_a_reference_is_refused() -> None:
    with pytest.raises(StudyError, match="quinn cubic: has no kernel reference"):
        expand(study_of("versus-reference", THREE), reference_of=lambda stack, cca: None)


def test_pairwise_has_every_unordered_pair_and_each_with_itself() -> None:
    groups = expand(study_of("pairwise", THREE), reference_of=same_cca)
    assert [key.partition("/")[2] for key in keys(groups)[:6]] == [
        "quinn-cubic+quinn-cubic",
        "quinn-cubic+quinn-reno",
        "quinn-cubic+quic-go-cubic",
        "quinn-reno+quinn-reno",
        "quinn-reno+quic-go-cubic",
        "quic-go-cubic+quic-go-cubic",
    ]
    assert len(groups) == 12


FLOWS = """
[[flow]]
stack = "tcp"
cca = "cubic"
[[flow]]
stack = "quinn"
cca = "bbr"
start_ms = 5000
"""


def test_flows_keep_their_start_and_add_the_draw() -> None:
    groups = expand(study_of("flows", FLOWS), reference_of=same_cca)
    assert keys(groups) == ["20mbps-50ms-1bdp/flows", "100mbps-50ms-1bdp/flows"]
    assert groups[0].subject == "tcp cubic + quinn bbr"
    for trial in groups[0].trials:
        assert 0 <= trial.flows[0].start_ms <= 500
        assert trial.flows[1].start_ms == 5000 + start_offset_ms("x", trial.seed, 1, 500)


def test_the_same_seed_has_the_same_offsets_in_every_group() -> None:
    groups = expand(study_of("versus-reference", THREE), seed_base=7, reference_of=same_cca)
    offsets = {
        tuple(tuple(flow.start_ms for flow in trial.flows) for trial in group.trials)
        for group in groups
        if not group.placebo
    }
    assert len(offsets) == 1
    # three seeds, each in both orders
    assert len(set(next(iter(offsets)))) == 6
    assert all([trial.seed for trial in group.trials] == [7, 7, 8, 8, 9, 9] for group in groups)


def test_a_seed_has_the_offsets_of_two_flows_both_ways() -> None:
    group = expand(study_of("versus-reference", THREE), reference_of=same_cca)[0]
    assert group.orders == 2
    for one, other in zip(group.trials[::2], group.trials[1::2], strict=True):
        assert (one.seed, one.positions, other.positions) == (other.seed, (0, 1), (1, 0))
        assert [flow.start_ms for flow in one.flows] == [flow.start_ms for flow in reversed(other.flows)]


def test_flows_that_start_apart_keep_their_positions() -> None:
    assert draw.orders([0, 5000], 500) == [(0, 1)]
    assert draw.orders([0, 5000, 5200], 500) == [(0, 1, 2), (0, 2, 1)]
    # by way of the flow between them the first and the last may change places
    assert len(draw.orders([0, 400, 800], 500)) == 3
    # at one moment the position decides who is first
    assert draw.orders([0, 0], 0) == [(0, 1), (1, 0)]


@given(st.lists(st.tuples(st.integers(0, 2).map(float), st.integers(1, 6)), min_size=1, max_size=4))
def test_every_entry_has_each_of_its_positions_equally_often(entries: list[tuple[float, int]]) -> None:
    starts_ms = [start_ms for start_ms, count in entries for _ in range(count)]
    found = draw.orders(starts_ms, 0.5, [count for _, count in entries])
    flow = 0
    for start_ms, count in entries:
        times = Counter(positions[flow + number] for positions in found for number in range(count))
        # all positions of the flows that start at this moment, each as often
        alike = [number for number, other_ms in enumerate(starts_ms) if other_ms == start_ms]
        assert sorted(times) == alike
        assert len(set(times.values())) == 1
        flow += count


def test_flows_that_are_alike_take_few_turns() -> None:
    assert len(draw.orders([0] * 30, 500, [10, 20])) == 3
    assert len(draw.orders([0] * 9, 500, [1, 8])) == 9
    assert len(draw.orders([0] * 8, 500, [8])) == 1


@given(st.lists(st.integers(0, 3).map(float), min_size=1, max_size=7), st.floats(0, 3))
def test_every_flow_has_each_of_its_positions_equally_often(starts_ms: list[float], spread_ms: float) -> None:
    found = draw.orders(starts_ms, spread_ms)
    assert found[0] == tuple(range(len(starts_ms)))
    assert len(set(found)) == len(found)
    assert all(sorted(positions) == sorted(found[0]) for positions in found)
    for flow in range(len(starts_ms)):
        times = Counter(positions[flow] for positions in found)
        assert len(set(times.values())) == 1
        # and the flows that it meets have the same positions as often
        for other in range(len(starts_ms)):
            if abs(starts_ms[other] - starts_ms[flow]) <= spread_ms:
                assert Counter(positions[other] for positions in found) == times


def test_draws_look_uniform_and_independent() -> None:
    draws = [[uniform("x", seed, position) for seed in range(2000)] for position in (0, 1)]
    for series in draws:
        assert sum(series) / 2000 == pytest.approx(0.5, abs=0.03)  # 4.6 standard errors
        tenths = [sum(tenth / 10 <= draw < (tenth + 1) / 10 for draw in series) for tenth in range(10)]
        assert max(abs(count - 200) for count in tenths) < 67  # 5 standard deviations
    covariance = sum((a - 0.5) * (b - 0.5) for a, b in zip(*draws, strict=True)) / 2000
    assert abs(covariance) < 0.01


@given(st.text(max_size=9), st.integers(0, 2**63 - 1), st.integers(0, 63), st.floats(0, 1e6))
def test_offsets_stay_in_their_spread(study: str, seed: int, position: int, spread_ms: float) -> None:
    assert 0 <= start_offset_ms(study, seed, position, spread_ms) <= spread_ms + 0.0005


def test_a_draw_never_changes() -> None:
    """Published results depend on these numbers."""
    assert start_offset_ms("quickstart", 1, 0, 1000) == 598.487


def test_profiles_change_seeds_duration_and_networks() -> None:
    study = study_of("solo", THREE)
    quick = expand(study, profile="quick", reference_of=same_cca)
    assert len(quick) == 3
    assert all(len(group.trials) == 1 and group.trials[0].duration_s == 10 for group in quick)
    assert expand(study, profile="full", reference_of=same_cca) == expand(study, reference_of=same_cca)


def test_a_missing_or_unknown_profile_is_refused() -> None:
    study = study_of("solo", THREE)
    with pytest.raises(StudyError, match="give quick or full"):
        expand(study, profile="fast", reference_of=same_cca)
    with pytest.raises(StudyError, match="no quick profile"):
        expand(study.model_copy(update={"profiles": {}}), profile="quick", reference_of=same_cca)


def test_clock_and_seed_base_reach_the_trials() -> None:
    groups = expand(study_of("solo", THREE), seed_base=100, clock="real", reference_of=same_cca)
    assert groups[0].trials[2].clock == "real"
    assert groups[0].trials[2].seed == 102


def test_a_slow_processor_is_a_model_in_virtual_time() -> None:
    slow = '[[contestant]]\nstack = "tcp"\ncca = "cubic"\nreceiver_cpu = { per_packet_us = 60 }\n'
    study = study_of("solo", slow)
    groups = expand(study, reference_of=same_cca)
    assert groups[0].trials[0].flows[0].contestant.receiver_cpu == Cpu(per_packet_us=60)
    with pytest.raises(StudyError, match=r"virtual time[^$]*remove --clock"):
        expand(study, clock="real", reference_of=same_cca)


def test_a_page_needs_a_guest_in_a_flow_too() -> None:
    loading = '[[flow]]\nstack = "quic-go"\ncca = "cubic"\npage = "beta-small"\n'
    with pytest.raises(StudyError, match=r"page loads need a guest[^$]*remove page from the study"):
        expand(study_of("flows", loading), clock="host", reference_of=same_cca)


@pytest.mark.parametrize("seed_base", [-1, 2**63 - 1, 2**63])
def test_a_seed_out_of_range_is_refused(seed_base: int) -> None:
    with pytest.raises(StudyError, match="--seed"):
        expand(study_of("solo", THREE), seed_base=seed_base, reference_of=same_cca)


def test_only_keeps_the_noise_floor_and_placebo_of_what_it_keeps() -> None:
    study = study_of("versus-reference", THREE)
    assert keys(expand(study, only="quic-go cubic", reference_of=same_cca)) == [
        "20mbps-50ms-1bdp/tcp-cubic+tcp-cubic",
        "20mbps-50ms-1bdp/placebo-tcp-cubic+tcp-cubic",
        "20mbps-50ms-1bdp/quic-go-cubic+tcp-cubic",
        "100mbps-50ms-1bdp/tcp-cubic+tcp-cubic",
        "100mbps-50ms-1bdp/placebo-tcp-cubic+tcp-cubic",
        "100mbps-50ms-1bdp/quic-go-cubic+tcp-cubic",
    ]
    assert keys(expand(study, only="100*/quinn-reno*", reference_of=same_cca)) == [
        "100mbps-50ms-1bdp/tcp-reno+tcp-reno",
        "100mbps-50ms-1bdp/placebo-tcp-reno+tcp-reno",
        "100mbps-50ms-1bdp/quinn-reno+tcp-reno",
    ]


def test_only_finds_either_one_of_a_pair() -> None:
    groups = expand(study_of("pairwise", THREE), reference_of=same_cca)
    assert len(select(groups, "quic-go*")) == 6


def test_only_takes_several_patterns() -> None:
    groups = expand(study_of("solo", THREE), reference_of=same_cca)
    both = keys(select(groups, "quic-go*,100*/quinn-reno"))
    assert both == [key for key in keys(groups) if "/quic-go" in key or key == "100mbps-50ms-1bdp/quinn-reno"]
    assert len(both) == 3


def test_a_label_in_full_is_no_pattern() -> None:
    quinn = '[[contestant]]\nstack = "quinn"\ncca = "{cca}"\nlabel = "{label}"\n'
    labels = {"quinn cubic, no pacing": "cubic", "quinn [tuned]": "reno", "quinn cubic": "cubic"}
    named = "".join(quinn.format(label=label, cca=cca) for label, cca in labels.items())
    study = study_of("solo", named + '[profile.full]\ncontestants = ["quinn [tuned]"]\n')

    def kept(only: str | None = None, profile: str | None = None) -> list[str]:
        groups = expand(study, only=only, profile=profile, reference_of=same_cca)
        return list(dict.fromkeys(one.subject for one in groups))

    assert kept(only="quinn cubic, no pacing") == ["quinn cubic, no pacing"]
    assert kept(only="quinn [tuned],quinn cubic, no pacing") == ["quinn cubic, no pacing", "quinn [tuned]"]
    assert kept(only="quinn cubic") == ["quinn cubic"]
    assert kept(profile="full") == ["quinn [tuned]"]


def test_only_that_matches_nothing_says_what_there_is() -> None:
    with pytest.raises(StudyError, match="no match among 6 groups") as caught:
        expand(study_of("solo", THREE), only="msquic*", reference_of=same_cca)
    assert "quic-go cubic" in caught.value.remedy


def test_each_line_up_meets_on_each_network() -> None:
    groups = expand(study_of("flows", LINE_UPS), reference_of=same_cca)
    assert keys(groups) == [
        f"{rate}mbps-50ms-1bdp/{name}" for rate in (20, 100) for name in ("alone", "against-3")
    ]
    flows = groups[1].trials[0].flows
    assert [flow.contestant.name for flow in flows] == ["quinn cubic", *["tcp cubic"] * 3]
    assert groups[1].subject == "against-3"
    assert len({flow.start_ms for flow in flows}) == 4, "each flow draws its own offset"
    assert all(flow.start_ms >= 100 for flow in flows[1:])


def test_a_profile_keeps_part_of_what_would_run() -> None:
    text = LINE_UPS + '[profile.full]\nlineups = ["a*-3"]'
    groups = expand(study_of("flows", text), profile="full", reference_of=same_cca)
    assert {group.subject for group in groups} == {"against-3"}
    text = THREE + '[profile.full]\ncontestants = ["quinn *"]'
    groups = expand(study_of("solo", text), profile="full", reference_of=same_cca)
    assert {group.subject for group in groups} == {"quinn cubic", "quinn reno"}
