"""Ten questions that a newcomer asks, each answered by the pages after at most three clicks."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import polars as pl
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from cambrian.report.evidence import Evidence
from cambrian.store.results import Results
from tests.integration import kept
from tests.integration.runs import quickly

pytestmark = pytest.mark.long

MOST_CLICKS = 3
STUDY = """
name = "release"
title = "Who fills a shallow and a deep buffer?"
design = "versus-reference"
duration_s = 6
seeds = 4
start_spread_ms = 200
[[network]]
name = "shallow"
rate_mbps = 4
rtt_ms = 20
buffer_bdp = 0.5
[[network]]
name = "deep"
rate_mbps = 4
rtt_ms = 20
buffer_bdp = {deep}
[[contestant]]
stack = "tcp"
cca = "bbr"
options = {{ max_pacing_rate_bytes_per_s = 125000 }}
label = "bbr paced"
"""
PACED = "bbr paced"


@dataclass(frozen=True)
class Made:
    """Results before and after a change, the report of the later ones, and the comparison."""

    folder: Path

    @property
    def report(self) -> Path:
        return self.folder / "after" / "report" / "index.html"

    @property
    def comparison(self) -> Path:
        return self.folder / "compared" / "index.html"

    @cached_property
    def observed(self) -> pl.DataFrame:
        frame = Evidence(self.folder / "after").frame()
        assert frame is not None
        return frame

    def mean(self, contestant: str, network: str, quantity: str) -> float:
        """A contestant's own figure on a network, beside its reference."""
        rows = self.observed.filter(contestant=contestant, network=network, flow=0, placebo=False)
        value = rows.group_by("seed").agg(pl.col(quantity).mean())[quantity].mean()
        assert isinstance(value, float)
        return value


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder = tmp_path_factory.mktemp("questions")
    kept.run(STUDY.format(deep=2), folder / "before")
    # the trials of the other network are the same
    shutil.copytree(folder / "before", folder / "after")
    kept.run(STUDY.format(deep=8), folder / "after")
    for command in (("report", "after"), ("compare", "before", "after", "--page", "compared")):
        done = quickly(folder, *command)
        assert done.returncode == 0, done.stderr
    return Made(folder)


class Newcomer:
    """A reader of a page who counts clicks."""

    def __init__(self, page: Page, made: Made) -> None:
        self.page, self.made, self.clicks = page, made, 0

    def click(self, target: Locator) -> None:
        self.clicks += 1
        target.click()

    def sees(self, target: Locator, text: str) -> None:
        expect(target).to_contain_text(text)
        expect(target).to_be_in_viewport()


def fairness(one: Newcomer) -> None:
    """Does a paced BBR share its link fairly?"""
    share = one.made.mean(PACED, "deep", "share_percent")
    cell = one.page.get_by_role("row", name=PACED).locator('td[data-network="deep"]')
    one.sees(cell, f"{share:.0f} %")


def shallow(one: Newcomer) -> None:
    """How much does BBR drop in shallow buffers, compared with deep ones?"""
    one.click(one.page.get_by_role("link", name="Across networks"))
    lost = [one.made.mean(PACED, network, "queue_loss_percent") for network in ("shallow", "deep")]
    panel = one.page.locator("figure", has_text="Packets dropped by the queue").locator(".panel")
    words = panel.get_attribute("aria-label") or ""
    assert f"{PACED} {lost[0]:.3g} at 0.5 to {lost[1]:.3g} at 8" in words
    expect(panel.locator("svg")).to_be_visible()


def what_changed(one: Newcomer) -> None:
    """What changed since the last release?"""
    one.page.goto(one.made.comparison.as_uri())
    one.sees(one.page.locator(".answer"), "different")
    one.sees(one.page.locator(".answer"), "deep")


def why(one: Newcomer) -> None:
    """Why is a contestant's verdict what it is?"""
    one.click(one.page.locator(".matrix").get_by_role("link", name=PACED))
    one.sees(one.page.locator("details.verdict[open] p").first, "Not measured")


def how_sure(one: Newcomer) -> None:
    """How sure is the largest difference?"""
    card = one.page.locator(".findings li").first
    one.sees(card, PACED)
    expect(card).to_contain_text(re.compile(r"\[.+, .+\] (points|ms), 4 seeds, p (<|=) 0\.\d+ corrected"))


def over_time(one: Newcomer) -> None:
    """What did the queue do over time?"""
    one.click(one.page.get_by_role("row", name=PACED).locator("a[data-open]").first)
    expect(one.page.locator(".series canvas")).to_have_count(5)


def other_seed(one: Newcomer) -> None:
    """Was it the same with another seed?"""
    one.click(one.page.get_by_role("row", name=PACED).locator("a[data-open]").first)
    one.click(one.page.locator(".seeds label").last)
    one.page.wait_for_function("location.hash.includes('trial=')")
    trial = one.page.url.partition("trial=")[2].partition("&")[0]
    manifest = Results(one.made.folder / "after").trial(trial).manifest
    assert manifest["trial"]["seed"] == 4


def repeat(one: Newcomer) -> None:
    """How do I run one of these trials again?"""
    one.click(one.page.get_by_role("link", name="Repeat it").first)
    one.sees(one.page.locator("#repeat pre").last, "cambrian trial trials/")


def longest_wait(one: Newcomer) -> None:
    """Which flow waits longest in the queue?"""
    one.click(one.page.get_by_role("link", name="Explore").first)
    heading = one.page.get_by_role("button", name="delay_p50_ms")
    one.click(heading)
    one.click(one.page.get_by_role("button", name="delay_p50_ms ↑"))
    most = one.made.observed["delay_p50_ms"].max()
    assert isinstance(most, float)
    one.sees(one.page.locator("#explore tbody tr").first, f"{float(f'{most:.6g}'):g}")


def versions(one: Newcomer) -> None:
    """Which kernel ran?"""
    one.click(one.page.get_by_role("link", name="What ran"))
    kernel = str(one.made.observed["kernel_version"][0])
    one.sees(one.page.locator("#ran dl"), kernel)


QUESTIONS: Sequence[Callable[[Newcomer], None]] = (
    fairness, shallow, what_changed, why, how_sure, over_time, other_seed, repeat, longest_wait, versions,
)  # fmt: skip


def test_each_answer_is_at_most_three_clicks_away(chromium: Browser, made: Made) -> None:
    """One test for all questions: two workers of pytest would each make the results."""
    for question in QUESTIONS:
        page = chromium.new_page(viewport={"width": 1280, "height": 800})
        page.set_default_timeout(30_000)
        page.goto(made.report.as_uri())
        newcomer = Newcomer(page, made)
        try:
            question(newcomer)
            assert newcomer.clicks <= MOST_CLICKS
        except BaseException as error:
            error.add_note(f"the question: {question.__doc__}")
            raise
        page.close()
