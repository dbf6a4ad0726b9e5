"""`cambrian open` as a reader uses it: the command, a run that goes on, and the installed Chromium."""

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
from playwright.sync_api import Browser, Page, Route, expect

from cambrian.store.results import Results
from tests.unit import report_results

pytestmark = pytest.mark.long

AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"
#: a report beside other work on the machine
PATIENCE_MS = 240_000


def serious(page: Page) -> list[str]:
    if not AXE.is_file():
        pytest.skip("axe-core is missing; remedy: make lint, which needs npm")
    found: dict[str, Any] = page.evaluate(f"{AXE.read_text()}; axe.run()")
    return [
        json.dumps([one["id"], [node["target"] for node in one["nodes"]][:3]])
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
    ]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return report_results.copy(tmp_path)


@pytest.fixture
def address(folder: Path) -> Iterator[str]:
    """The command serves results that lack a trial."""
    shutil.move(next(iter((folder / "trials").iterdir())), folder / "later")
    argv = [sys.executable, "-m", "cambrian", "open", str(folder), "--no-browser"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as command:
        assert command.stdout
        yield command.stdout.readline().strip()
        command.send_signal(signal.SIGINT)
        assert command.wait(timeout=60) == 128 + signal.SIGINT


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    page = chromium.new_page(viewport={"width": 1280, "height": 800})
    page.set_default_timeout(30_000)
    yield page
    page.close()


def shown(page: Page, name: str) -> None:
    """The page fits a phone and a desktop, in light and dark, and has nothing serious for axe."""
    for theme, width in (("light", 1280), ("dark", 390)):
        page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert not serious(page)
        if folder := os.environ.get("CAMBRIAN_SHOTS"):
            page.screenshot(path=f"{folder}/{name}-{width}.png")


def test_a_run_is_followed_and_its_packets_are_queried(folder: Path, address: str, page: Page) -> None:
    faults: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: faults.append(message.text))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(address)
    bar = page.get_by_role("complementary", name="Progress")
    expect(bar.get_by_role("status")).to_have_text("11 of 12 trials finished")
    expect(bar.get_by_role("button")).to_have_count(0)

    with Results(folder).alone():
        shutil.move(folder / "later", folder / "trials" / _missing(folder))
        expect(bar.get_by_role("status")).to_contain_text("12 of 12 trials finished · running")
        shown(page, "report")
        bar.get_by_role("button", name="Show the new trial").focus()
        page.keyboard.press("Enter")
        expect(bar.get_by_role("status")).to_contain_text("making the report")
        expect(page.locator(".lead").first).to_contain_text("12", timeout=PATIENCE_MS)
    expect(bar.get_by_role("status")).to_have_text("12 of 12 trials finished", timeout=PATIENCE_MS)
    expect(bar.get_by_role("button")).to_have_count(0)

    held: list[Route] = []
    page.route("**/-/sql.js", lambda route: held.append(route))  # noqa: PLW0108 (Playwright marks its handlers)
    bar.get_by_role("link", name="SQL").click()
    expect(page.get_by_label("Example")).to_be_disabled()
    expect(page.get_by_role("button", name="Run")).to_be_disabled()
    while not held:
        page.wait_for_timeout(50)
    held[0].continue_()
    page.get_by_label("Example").select_option(label="Packets at the bottleneck, by their fate")
    page.get_by_label("Query").press("Control+Enter")
    expect(page.get_by_role("status")).to_contain_text("12 rows in", timeout=PATIENCE_MS)
    expect(page.get_by_role("cell", name="dropped").first).to_be_visible()
    shown(page, "sql")
    assert not faults
    assert all(one.startswith((address, "data:", "blob:")) for one in asked)

    page.get_by_label("Query").fill("SELECT * FROM read_csv('/etc/passwd')")
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_role("alert")).to_contain_text("Permission Error")
    page.get_by_label("Query").fill("SELECT 1 AS one")
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    assert Path(download.value.path()).read_text().split() == ["one", "1"]


def _missing(folder: Path) -> str:
    asked: set[str] = {name for group in Results(folder).study()["groups"] for name in group["trials"]}
    (name,) = (name for name in asked if not Results(folder).has(name))
    return name
