"""Page loads by real trials: each server, the browser and the light client."""

from __future__ import annotations

import json

import pytest

from cambrian.metrics.pageload import PageLoad, page_loads
from cambrian.selftest import pages
from cambrian.stacks import catalogue
from cambrian.store.results import TrialResult
from cambrian.study.model import Page, PageObjects, Trial
from tests.integration.conftest import RunTrials, duel, flow, valid

REPEATS = 2
SMALL = Page(objects=(PageObjects(count=30, size_bytes=4_000), PageObjects(count=1, size_bytes=200_000)))
#: quick to build; the others take minutes, and are tried with the slow tests
QUICK = ("google-quiche", "quic-go", "quinn", "tcp-h2")
SERVERS = [
    pytest.param(
        name, marks=() if name == "quinn" else pytest.mark.long if name in QUICK else pytest.mark.slow
    )
    for name, stack in sorted(catalogue.load().items())
    if stack.manifest.pages
]


def load_of(result: TrialResult) -> PageLoad:
    (load,) = page_loads(valid(result).objects, result.page_loads)
    return load


def loading(stack: str, **more: object) -> Trial:
    cca = next(iter(catalogue.load()[stack].manifest.ccas))
    return duel(flow(stack, cca, page=SMALL, **more), seconds=30, rate_mbps=10)


@pytest.mark.parametrize(
    "count", [pytest.param(1, marks=pytest.mark.long), pytest.param(None, marks=pytest.mark.slow)]
)
def test_chromium_loads_the_beta_studys_pages_the_same_each_time(
    run_trials: RunTrials, count: int | None
) -> None:
    trials = pages.trials()[:count]
    repeats = [run_trials(trials, f"repeat{number}") for number in range(REPEATS)]
    for results in zip(*repeats, strict=True):
        loads = [load_of(result) for result in results]
        assert loads[0].complete == loads[0].objects
        assert len(set(loads)) == 1
        assert len({result.manifest["packets_sha256"] for result in results}) == 1


@pytest.mark.parametrize("stack", SERVERS)
def test_each_server_serves_chromium_and_the_light_client(run_trials: RunTrials, stack: str) -> None:
    by_browser, by_light = (
        load_of(result) for result in run_trials([loading(stack), loading(stack, client="light")])
    )
    assert by_browser.complete == by_light.complete == 31
    assert by_browser.plt_ms == pytest.approx(by_light.plt_ms, rel=0.15)


@pytest.mark.long
def test_a_page_meets_other_traffic_and_keeps_a_netlog(run_trials: RunTrials) -> None:
    browsing = flow("quic-go", "cubic", page=SMALL, start_ms=2000, netlog=True)
    alone, crowded = run_trials(
        [duel(browsing, seconds=20), duel(browsing, flow("tcp", "cubic"), seconds=20)]
    )
    times = [page_loads(valid(result).objects, result.page_loads)[0].plt_ms for result in (alone, crowded)]
    assert times[0] is not None
    assert times[1] is not None
    assert times[0] < times[1]
    assert alone.page_loads["navigation_start_ns"][0] == pytest.approx(2_000_000_000, abs=1_000_000)
    assert json.loads((alone.folder / "logs" / "flow0.netlog.json").read_text())["events"]


def test_a_page_that_takes_too_long_makes_the_trial_invalid(run_trials: RunTrials) -> None:
    (result,) = run_trials([duel(flow("tcp-h2", "cubic", page=SMALL), seconds=1, rate_mbps=1)])
    assert not result.verdict["valid"]
    assert any("did not load its page" in reason for reason in result.verdict["reasons"])
