"""Studies that load pages: how they are read, expanded and refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from cambrian.study.cost import DEFAULT_SPEED
from cambrian.study.errors import StudyError
from cambrian.study.expand import expand
from cambrian.study.identity import what_happens
from cambrian.study.load import parse_study
from cambrian.study.model import Study

CATALOGUE = {"tcp": ["cubic"], "tcp-h2": ["cubic"], "quic-go": ["cubic"]}
HEAD = """name = "pages"
title = "?"
design = "{design}"
[[network]]
rate_mbps = 5
rtt_ms = 50
buffer_bdp = 1
"""
CONTESTANTS = """[[contestant]]
stack = ["tcp-h2", "quic-go"]
cca = "cubic"
"""


def load(body: str, design: str = "solo") -> Study:
    return parse_study(HEAD.format(design=design) + body, "pages.toml", Path(), CATALOGUE)


def loading(table: str, design: str = "solo") -> Study:
    return load(f"{CONTESTANTS}[page_load]\n{table}", design)


def test_each_contestant_loads_each_page_in_groups_of_its_own() -> None:
    own = '{ name = "mine", objects = [{ count = 3, size_bytes = 1000 }] }'
    study = loading(f'pages = ["beta-small", {own}]\nclient = "light"')
    groups = expand(study, reference_of=lambda stack, cca: cca)
    assert [group.key for group in groups] == [
        "5mbps-50ms-1bdp/tcp-h2-cubic/beta-small",
        "5mbps-50ms-1bdp/tcp-h2-cubic/mine",
        "5mbps-50ms-1bdp/quic-go-cubic/beta-small",
        "5mbps-50ms-1bdp/quic-go-cubic/mine",
    ]
    (flow,) = groups[1].trials[0].flows
    assert (groups[1].page, flow.client) == ("mine", "light")
    assert flow.page is not None
    assert (flow.page.count, flow.page.size_bytes) == (3, 3000)


def test_both_flows_of_a_pair_load_the_page() -> None:
    groups = expand(loading('pages = ["beta-small"]', "pairwise"), reference_of=lambda stack, cca: cca)
    assert all(flow.page for group in groups for flow in group.trials[0].flows)


def test_a_listed_flow_may_load_a_page_beside_others() -> None:
    flows = '[[flow]]\nstack = "tcp"\ncca = "cubic"\n[[flow]]\nstack = "tcp-h2"\ncca = "cubic"\n'
    study = load(f'{flows}page = "beta-large"', "flows")
    assert [flow.page.name if flow.page else None for flow in study.flows] == [None, "beta-large"]


def test_a_pages_name_is_for_the_reader_only() -> None:
    named = [
        loading(f'pages = [{{ name = "{name}", objects = [{{ count = 3, size_bytes = 1000 }}] }}]')
        for name in ("one", "other")
    ]
    one, other = (expand(study, reference_of=lambda s, c: c)[0].trials[0] for study in named)
    assert one != other
    assert what_happens(one) == what_happens(other)


def test_a_page_costs_its_client_and_its_objects() -> None:
    by_client = [
        expand(loading(f'pages = ["beta-large"]\nclient = "{client}"'), reference_of=lambda s, c: c)
        for client in ("chromium", "light")
    ]
    chromium_s, light_s = (DEFAULT_SPEED.wall_s(groups[0].trials[0]) for groups in by_client)
    (flow,) = by_client[0][0].trials[0].flows
    assert flow.page is not None
    carried_s = flow.page.size_bytes * 8 / 20e6 / DEFAULT_SPEED.ratios[flow.contestant.stack]
    assert chromium_s == pytest.approx(DEFAULT_SPEED.boot_s + 3.5 + 161 * 0.02 + carried_s)
    assert light_s == pytest.approx(DEFAULT_SPEED.boot_s + 0.2 + 161 * 0.005 + carried_s)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            'pages = ["beta-smal"]',
            '12:10: pages: unknown page "beta-smal"\n    pages = ["beta-smal"]\n             ^\n'
            "  remedy: did you mean beta-small?",
        ),
        ("pages = []", "12:1: pages: an empty list is not possible"),
        ('client = "light"', '  remedy: add pages = ["beta-small"]'),
        (
            'client = "light"\npages = [{ objects = [{ count = 20, size_bytes = 500, after_ms = 10000 }] }]',
            "its images wait for 200 s in all",
        ),
        (
            'client = "light"\npages = [{ objects = [{ count = 2, size_bytes = 500, after_ms = 6000 }] }]\n'
            "[profile.quick]\nduration_s = 5",
            "the trial ends after 5 s in the profile quick",
        ),
        ('pages = ["beta-small"]\nclient = "firefox"', '13:1: client: "firefox" is not possible'),
        ("pages = [{ objects = [{ count = 2000, size_bytes = 500 }] }]", "count: 2000 is not possible"),
        (
            "pages = [{ objects = [{ count = 2, size_kb = 5 }] }]",
            "give size_bytes (bytes): size_bytes = 5000",
        ),
        ("pages = [{ objects = [{ count = 2, size_bytes = 10 }] }]", "size_bytes: 10 is not possible"),
        (
            "pages = [{ objects = [{ count = 600, size_bytes = 500 }, { count = 500, size_bytes = 500 }] }]",
            "objects adds up to 1,100",
        ),
        ('pages = ["beta-small", "beta-small"]', '12:24: pages: two pages are called "beta-small"'),
        (
            'pages = ["beta-small"]\nclient = "light"\nnetlog = true',
            "14:1: netlog: only chromium has a netlog",
        ),
        (
            "pages = [{ objects = [{ count = 2, size_bytes = 500, after_ms = 10 }] }]",
            "12:10: pages: a browser asks for all images at once: it cannot keep after_ms",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused(table: str, message: str) -> None:
    with pytest.raises(StudyError) as caught:
        loading(table)
    assert message in str(caught.value)


def test_a_page_that_a_profile_leaves_out_may_last_longer_than_its_trials() -> None:
    pages = (
        'client = "light"\npages = ["beta-small", '
        '{ name = "slow", objects = [{ count = 2, size_bytes = 500, after_ms = 6000 }] }]\n'
        "[profile.quick]\nduration_s = 5\n"
    )
    assert loading(f'{pages}pages = ["beta-*"]').profiles["quick"].duration_s == 5
    with pytest.raises(StudyError, match="the trial ends after 5 s in the profile quick"):
        loading(f'{pages}pages = ["slow"]')


@pytest.mark.parametrize("design", ["versus-reference", "flows"])
def test_other_designs_take_no_page_load(design: str) -> None:
    players = CONTESTANTS if design != "flows" else '[[flow]]\nstack = "tcp"\ncca = "cubic"\n'
    with pytest.raises(StudyError, match="page_load"):
        load(f'{players}[page_load]\npages = ["beta-small"]', design)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ('page = "beta"', 'unknown page "beta"'),
        ('client = "light"', "client is the program that loads a page"),
        ('page = "beta-small"\nsize_bytes = 4', "a flow carries bytes or loads a page"),
        ('page = "beta-small"\nreceiver = "quic-go"', "a page is loaded by client"),
        (
            "page = { objects = [{ count = 2, size_bytes = 500, after_ms = 10 }] }",
            "a browser requests all images at once",
        ),
    ],
)
def test_a_flow_carries_one_thing(keys: str, message: str) -> None:
    with pytest.raises(StudyError) as caught:
        load(f'[[flow]]\nstack = "tcp-h2"\ncca = "cubic"\n{keys}', "flows")
    assert message in str(caught.value)
