"""The page of `cambrian compare` from two real stores, in the installed Chromium, from disk."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.integration import kept
from tests.integration.runs import cambrian

pytestmark = pytest.mark.long

AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"
#: a comparison beside other work on the machine
PATIENCE_MS = 240_000
#: two networks, and the buffer of the second one
STUDY = """
name = "small"
title = "Two controllers alone"
design = "solo"
duration_s = 6
seeds = 4
start_spread_ms = 200
[[network]]
name = "steady"
rate_mbps = 2
rtt_ms = 20
buffer_bdp = 2
[[network]]
name = "moved"
rate_mbps = 2
rtt_ms = 20
buffer_bdp = {buffer_bdp}
[[contestant]]
stack = "tcp"
cca = ["cubic", "reno"]
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page from two stores: the buffer of one network grew."""
    folder = tmp_path_factory.mktemp("stores")
    kept.run(STUDY.format(buffer_bdp=2), folder / "before")
    # the trials of the other network are the same
    shutil.copytree(folder / "before", folder / "after")
    kept.run(STUDY.format(buffer_bdp=8), folder / "after")
    compared = cambrian(folder, "compare", "before", "after", "--page", "page", "--json")
    assert compared.returncode == 0, compared.stderr
    found = json.loads(compared.stdout)
    assert (found["same"], found["changed"]) == (8, 8)
    return folder / "page" / "index.html"


@pytest.fixture(params=[("light", 1280), ("dark", 390)], ids=lambda param: "-".join(map(str, param)))
def page(request: pytest.FixtureRequest, chromium: Browser, made: Path) -> Iterator[Page]:
    """The page; the test fails if it reports an error or asks for anything."""
    theme, width = request.param
    page = chromium.new_page(viewport={"width": width, "height": 800}, color_scheme=theme)
    page.set_default_timeout(60_000)
    faults: list[str] = []
    page.on("console", lambda message: faults.append(message.text))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("request", lambda asked: faults.extend({asked.url.partition("#")[0]} - {made.as_uri()}))
    page.goto(made.as_uri())
    yield page
    if folder := os.environ.get("CAMBRIAN_SHOTS"):
        page.screenshot(path=f"{folder}/compared-{width}.png")
    page.close()
    assert not faults


def rows(page: Page) -> list[list[str]]:
    """The texts of the visible rows of all figures."""
    found: list[list[str]] = page.evaluate(
        "[...document.querySelectorAll('#figures tbody tr')].filter((row) => !row.hidden)"
        ".map((row) => [...row.cells].map((cell) => cell.textContent))"
    )
    return found


def test_from_the_answer_to_the_rows_of_a_cell(page: Page) -> None:
    answer = page.locator(".answer")
    expect(answer).to_be_in_viewport()
    expect(answer).to_contain_text("queueing delay of tcp ")
    expect(answer).to_contain_text("on moved")
    expect(page.locator(".lead").first).to_contain_text("moved: buffer_bdp 2.0 → 8.0")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    # the changed network comes first; the other one has the same packets
    assert page.locator(".matrix thead th").all_text_contents() == ["Contestant", "moved", "steady"]
    expect(page.locator(".matrix td[data-network=steady] .glyph.same")).to_have_count(2)
    expect(page.locator(".matrix td[data-network=moved] .glyph.different")).to_have_count(2)
    expect(page.locator(".findings li").first).to_contain_text("on moved")

    every = rows(page)
    assert every[0][3] == "different"
    cell = page.get_by_role("row", name="tcp reno").first.locator("td[data-network=moved] a")
    cell.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#figures")).to_have_attribute("open", "")
    expect(page.get_by_role("status").filter(has_text="figures of tcp reno on moved")).to_be_in_viewport()
    mine = rows(page)
    assert {tuple(row[:2]) for row in mine} == {("tcp reno", "moved")}
    assert mine == [row for row in every if tuple(row[:2]) == ("tcp reno", "moved")]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("link", name="Show all").click()
    expect(page.locator(".only")).to_be_empty()
    assert rows(page) == every


def test_filters_and_headings(page: Page) -> None:
    every = rows(page)
    page.get_by_label("cca", exact=True).select_option("cubic")
    page.get_by_label("network", exact=True).select_option("steady")
    expect(page.locator(".matrix tbody tr:visible")).to_have_count(1)
    assert "network=steady" in page.url
    assert {tuple(row[:2]) for row in rows(page)} == {("tcp cubic", "steady")}
    page.goto(page.url.partition("#")[0] + "#at=figures")
    if (page.viewport_size or {"width": 0})["width"] < 500:
        # on a phone a row is a card, without headings
        return
    # the page sorts after the address has changed, so the heading says when it is done
    heading = page.locator("#figures th", has=page.get_by_role("button", name="Before"))
    heading.get_by_role("button").click()
    expect(heading).to_have_attribute("aria-sort", "ascending")
    assert "sort=Before" in page.url
    numbers = [float(row[4].split()[0]) for row in rows(page) if row[4][0].isdigit()]
    assert len(numbers) > 10 and numbers == sorted(numbers)
    heading.get_by_role("button").click()
    expect(heading).to_have_attribute("aria-sort", "descending")
    heading.get_by_role("button").click()
    expect(heading).to_have_attribute("aria-sort", "none")
    assert rows(page) == every


def test_nothing_serious_for_a_reader_with_a_screen_reader(page: Page) -> None:
    if not AXE.is_file():
        pytest.skip("axe-core is missing; remedy: make lint, which needs npm")
    page.goto(page.url + "#at=figures")
    page.evaluate(AXE.read_text())
    found: dict[str, Any] = page.evaluate("axe.run()")
    serious = [
        json.dumps([one["id"], [node["target"] for node in one["nodes"]][:3]])
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
    ]
    assert not serious


@pytest.fixture
def address(made: Path, tmp_path: Path) -> Iterator[str]:
    """`cambrian open` serves the two stores; its cache is empty."""
    argv = [sys.executable, "-m", "cambrian", "open", "before", "after", "--no-browser"]
    known = os.environ | {"CAMBRIAN_CACHE": str(tmp_path)}
    with subprocess.Popen(
        argv, cwd=made.parents[1], env=known, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as command:
        assert command.stdout
        yield command.stdout.readline().strip()
        command.send_signal(signal.SIGINT)
        assert command.wait(timeout=60) == 128 + signal.SIGINT


def test_open_makes_the_comparison_of_two_folders(
    chromium: Browser, address: str, made: Path, tmp_path: Path
) -> None:
    page = chromium.new_page(viewport={"width": 1280, "height": 800})
    page.goto(address)
    page.get_by_role("link", name="Compare before with after").click()
    expect(page.locator(".answer")).to_contain_text("queueing delay of tcp ", timeout=PATIENCE_MS)
    bar = page.get_by_role("complementary", name="Progress")
    # the two networks of the earlier study are equal, and share their trials
    expect(bar.get_by_role("status")).to_have_text("24 of 24 trials finished")
    expect(bar.get_by_role("link")).to_have_count(0)
    (kept,) = tmp_path.glob("compared/*/report/index.html")
    assert kept.read_text() == made.read_text()
    page.close()
