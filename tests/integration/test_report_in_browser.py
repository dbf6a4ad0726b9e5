"""The report as a reader uses it: in the installed Chromium, from disk, with mouse and keyboard."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from cambrian.store.results import Results
from tests.unit import report_results

AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"
ROW = "tcp cubic with TLS"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return report_results.report(report_results.KNOBS, tmp_path_factory.mktemp("report"), with_files=True)


@dataclass
class Reader:
    """A page, and what went wrong in it."""

    page: Page
    address: str
    faults: list[str] = field(default_factory=list)

    def visit(self, view: str = "") -> Page:
        self.page.goto(f"{self.address}{view}")
        return self.page

    @property
    def asked(self) -> dict[str, str]:
        """What the address asks for."""
        return {name: values[0] for name, values in parse_qs(self.page.url.partition("#")[2]).items()}


@pytest.fixture(
    params=[("light", 1280), pytest.param(("dark", 390), marks=pytest.mark.long)],
    ids=lambda param: "-".join(map(str, param)),
)
def reader(request: pytest.FixtureRequest, chromium: Browser, made: Path) -> Iterator[Reader]:
    """Fails the test after it if the page asked for anything but its own files, or reported an error."""
    theme, width = request.param
    context = chromium.new_context(viewport={"width": width, "height": 800}, color_scheme=theme)
    page = context.new_page()
    page.set_default_timeout(30_000)
    reading = Reader(page, made.as_uri())

    def watch(route: Route) -> None:
        if not route.request.url.startswith((made.parent.as_uri() + "/", "data:", "blob:")):
            reading.faults.append(f"asked for {route.request.url}")
        route.continue_()

    page.route("**/*", watch)
    page.on("console", lambda message: reading.faults.append(message.text))
    page.on("pageerror", lambda error: reading.faults.append(str(error)))
    page.on("requestfailed", lambda asked: reading.faults.append(f"failed: {asked.url}"))
    yield reading
    context.close()
    assert not reading.faults


def open_cell(page: Page) -> None:
    page.get_by_role("row", name=ROW).locator("a[data-open]").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    expect(page.locator(".series canvas")).to_have_count(5)


def narrow(page: Page) -> bool:
    return (page.viewport_size or {"width": 0})["width"] < 500


def fits(page: Page) -> None:
    """The page does not scroll sideways."""
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_from_the_answer_to_single_packets_and_back(reader: Reader) -> None:
    page = reader.visit()
    expect(page.locator(".answer, .lead").first).to_be_in_viewport()
    fits(page)
    open_cell(page)
    dialog = page.get_by_role("dialog")
    # the envelopes by Vega, each with its points
    expect(dialog.locator(".envelopes .chart svg")).to_have_count(3)
    assert dialog.evaluate("one => one.scrollWidth <= one.clientWidth")

    over = page.locator(".series .u-over").first
    over.scroll_into_view_if_needed()
    box = over.bounding_box()
    assert box
    left, middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(left, middle)
    readouts = [one.text_content() or "" for one in page.locator(".series .values").all()]
    throughput, *others = [text.partition(" s:")[0] for text in readouts[:4]]
    assert len(set(others)) == 1 and others[0], readouts  # one cursor for all panels
    # throughput may have longer steps, so that each has some packets
    said = page.get_by_role("dialog").get_by_role("status").text_content() or ""
    assert "Step shown: " in said
    longer = re.search(r", of throughput (\S+) ms; ", said)
    near_s = float(longer[1]) / 1000 if longer else 0
    assert float(throughput) == pytest.approx(float(others[0]), rel=0, abs=near_s)

    finest = re.search(
        r"finest: (\S+ ms)", page.get_by_role("dialog").get_by_role("status").text_content() or ""
    )
    assert finest
    for _ in range(3):
        page.mouse.move(left, middle)
        page.mouse.down()
        page.mouse.move(left + 20, middle, steps=4)
        page.mouse.up()
        page.wait_for_timeout(100)
    expect(page.get_by_role("dialog").get_by_role("status")).to_contain_text(
        re.compile(rf"Step shown: {finest[1]}(, of throughput \S+ m?s)?;")
    )
    assert 0 < float(reader.asked["to"]) - float(reader.asked["from"]) < 0.1

    page.mouse.dblclick(left, middle)
    page.wait_for_function("!location.hash.includes('from=')")
    page.go_back()
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert "open" not in reader.asked


def test_no_line_is_drawn_over_a_figure(reader: Reader) -> None:
    """With more networks than fit beside each other, a cell keeps room for both."""
    page = reader.visit()
    apart = page.evaluate(
        """() => {
          for (const row of document.querySelectorAll('.matrix tr'))
            for (let more = 0; more < 5; more++) row.append(row.lastElementChild.cloneNode(true));
          const cells = [...document.querySelectorAll('.matrix td > a')];
          return cells.map(cell => {
            const [figure, line] = ['.figure', '.lines'].map(one => cell.querySelector(one));
            const words = document.createRange();
            figure.textContent = '100.0 Mbps';
            words.selectNodeContents(figure);
            const [text, lines] = [words, line].map(one => one.getBoundingClientRect());
            return text.right <= lines.left || text.bottom <= lines.top;
          });
        }"""
    )
    assert len(apart) >= 12 and all(apart)
    fits(page)


def test_a_link_shows_the_same_and_escape_closes(reader: Reader, made: Path) -> None:
    results = Results(report_results.KNOBS)
    group = report_results.group(results.study(), ROW)
    trial = group["trials"][2]
    page = reader.visit(f"#open={group['key'].replace('+', '%2B')}&trial={trial}&from=1&to=2&all=1")
    expect(page.locator(".series canvas")).to_have_count(5)
    expect(page.get_by_role("dialog").locator("code")).to_have_text(
        f"cambrian trial trials/{trial}.json --out again"
    )
    assert (made.parent / "trials" / f"{trial}.json").is_file()
    expect(page.get_by_role("checkbox", name="All seeds as ribbons")).to_be_checked()
    expect(page.get_by_role("dialog").get_by_role("status")).to_contain_text(
        f"all {len(group['trials'])} trials"
    )
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


@pytest.mark.long
def test_the_keyboard_stays_in_an_open_cell(reader: Reader) -> None:
    page = reader.visit("")
    page.locator(".matrix a[data-open]").first.click()
    dialog = page.get_by_role("dialog")
    expect(page.locator(".series canvas")).to_have_count(5)
    for key in ("Shift+Tab", "Shift+Tab", "Tab", "Tab", "Tab"):
        page.keyboard.press(key)
        # the browser's own controls come after the last element
        assert page.evaluate("document.activeElement === document.body") or dialog.evaluate(
            "one => one.contains(document.activeElement)"
        )
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)


@pytest.mark.long
def test_a_panel_shows_what_the_trial_measured(reader: Reader) -> None:
    """The mean of the drawn throughput is the mean of the packets that left the link."""
    results = Results(report_results.KNOBS)
    trial = report_results.group(results.study(), ROW)["trials"][0]
    page = reader.visit()
    open_cell(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="Throughput as CSV").click()
    head, *rows = Path(download.value.path()).read_text().splitlines()
    assert head == f"time_s,{ROW} (Mbps),tcp cubic (Mbps)"
    packets = results.trial(trial).packets
    end_s = float(results.trial(trial).manifest["trial"]["duration_s"])
    for flow in (0, 1):
        drawn = sum(float(row.split(",")[1 + flow]) for row in rows) / len(rows)
        left = packets.filter(outcome="departed", flow=flow)
        assert drawn == pytest.approx(float(left["size_bytes"].sum()) * 8e-6 / end_s, rel=0.01)
    with page.expect_download() as download:
        page.get_by_role("button", name="Congestion window as SVG").click()
    assert Path(download.value.path()).read_text().startswith("<svg")


@pytest.mark.long
def test_a_figure_is_saved_whole(reader: Reader, made: Path) -> None:
    page = reader.visit()
    figure = page.locator("figure[data-name]").first
    name = figure.get_attribute("data-name")
    saved: dict[str, bytes] = {}
    for kind in ("SVG", "PNG", "CSV"):
        with page.expect_download() as download:
            figure.get_by_role("button", name=f": {kind}").click()
        assert download.value.suggested_filename == f"{name}.{kind.lower()}"
        saved[kind] = Path(download.value.path()).read_bytes()
    panels = figure.locator(".panel").count()
    assert saved["SVG"].startswith(b"<svg") and saved["SVG"].count(b"mark-group role-scope") >= panels
    assert saved["PNG"].startswith(b"\x89PNG")
    # the figure's own file has the same points
    head, *rows = csv.reader(saved["CSV"].decode().splitlines())
    assert {row[head.index("panel")] for row in rows} == {
        panel.get_attribute("aria-label") for panel in figure.locator(".panel").all()
    }
    written = (made.parent / "figures" / f"{name}.csv").read_text().splitlines()
    assert len(rows) >= len(written) - 1


@pytest.mark.long
def test_keyboard_alone_opens_zooms_and_closes(reader: Reader) -> None:
    page = reader.visit()
    page.get_by_role("row", name=ROW).locator("a[data-open]").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Close")).to_be_focused()
    expect(page.locator(".series canvas")).to_have_count(5)
    page.get_by_role("button", name="Zoom in").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    page.wait_for_function("location.hash.includes('from=')")
    length = float(reader.asked["to"]) - float(reader.asked["from"])
    page.get_by_role("button", name="Later").press("Enter")
    assert float(reader.asked["to"]) - float(reader.asked["from"]) == pytest.approx(length, abs=1e-4)
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


@pytest.mark.long
def test_filters_hold_for_cell_and_explore(reader: Reader) -> None:
    page = reader.visit()
    page.get_by_label("seed", exact=True).select_option("2")
    expect(page.locator(".filters output")).to_contain_text("of all seeds")
    open_cell(page)
    expect(page.locator(".seeds input:checked")).to_have_count(1)
    assert (page.locator(".seeds label:has(:checked)").text_content() or "").startswith("2")
    page.keyboard.press("Escape")
    page.get_by_role("link", name="Explore").click()
    expect(page.locator("#explore tbody tr").first).to_be_visible()
    assert set(page.locator("#explore tbody tr td:nth-child(2)").all_text_contents()) == {"2"}


@pytest.mark.long
def test_explore(reader: Reader) -> None:
    page = reader.visit()
    page.get_by_role("link", name="Explore").click()
    expect(page.locator("#explore canvas")).to_have_count(1)
    expect(page.locator(".matrix")).to_be_hidden()
    fits(page)
    page.get_by_label("Across (x)").select_option("contestant")
    page.get_by_label("Up (y)").select_option("share_percent")
    expect(page.locator("#explore > p")).to_contain_text("24 points: share_percent (%) over contestant")
    expect(page.locator("#explore > p")).to_contain_text("95 % intervals")
    assert {"x": "contestant", "y": "share_percent"}.items() <= reader.asked.items()
    page.get_by_role("button", name="share_percent").click()
    # the page sorts after the address has changed, so the heading says when it is done
    expect(page.locator("#explore thead th", has_text="share_percent ↑")).to_be_visible()
    assert reader.asked["sort"] == "share_percent"
    column = page.locator("#explore thead th").all_text_contents().index("share_percent ↑")
    values = page.locator(f"#explore tbody td:nth-child({column + 1})").all_text_contents()
    assert len(values) == 24
    assert [float(value) for value in values] == sorted(float(value) for value in values)
    assert page.get_by_role("button", name="share_percent").get_attribute("title")

    trial = page.locator("#explore tbody a").first
    name = trial.text_content()
    trial.click()
    expect(page.get_by_role("dialog").locator("code")).to_contain_text(str(name))
    page.go_back()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.locator("#explore canvas")).to_be_visible()
    page.go_back()


@pytest.mark.long
def test_explore_is_drawn_once_the_pointer_is_on_its_link(reader: Reader) -> None:
    page = reader.visit()
    page.get_by_label("seed", exact=True).select_option("2")
    page.get_by_role("link", name="Explore").hover()
    canvas = page.locator("#explore canvas")
    expect(canvas).to_have_count(1)
    expect(canvas).to_be_hidden()
    assert "view" not in reader.asked
    canvas.evaluate("one => { one.id = 'ahead' }")
    page.get_by_role("link", name="Explore").click()
    # the chart that was ready, and not one drawn anew
    expect(page.locator("#explore canvas#ahead")).to_be_visible()
    fits(page)
    # nor does its new width draw it again
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    expect(page.locator("#explore canvas#ahead")).to_be_visible()


def test_a_cell_s_data_come_once_the_pointer_is_on_it(reader: Reader) -> None:
    page = reader.visit()
    data = page.locator('script[src^="data/"]')
    expect(data).to_have_count(0)
    page.locator(".matrix a[data-open]").first.hover()
    expect(data).to_have_count(1)
    page.locator(".matrix a[data-open]").first.click()
    expect(page.locator(".series canvas").first).to_be_visible()
    # the same trial, read once
    expect(data).to_have_count(1)


@pytest.mark.long
def test_a_touch_screen_whose_drag_scrolls_is_told_of_the_buttons(chromium: Browser, made: Path) -> None:
    context = chromium.new_context(viewport={"width": 390, "height": 800}, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.goto(made.as_uri())
    open_cell(page)
    status = page.get_by_role("dialog").get_by_role("status")
    expect(status).to_contain_text("The buttons + and − zoom.")
    expect(status).not_to_contain_text("Drag to zoom")
    context.close()


@pytest.mark.long
@pytest.mark.parametrize("view", ["", "#view=explore", "#open"])
def test_nothing_serious_for_a_reader_with_a_screen_reader(reader: Reader, view: str) -> None:
    if not AXE.is_file():
        pytest.skip("axe-core is missing; remedy: make lint, which needs npm")
    page = reader.visit("" if view == "#open" else view)
    if view == "#open":
        open_cell(page)
    if view == "#view=explore":
        expect(page.locator("#explore canvas")).to_have_count(1)
    page.evaluate(AXE.read_text())
    found: dict[str, Any] = page.evaluate("axe.run()")
    serious = [
        {"rule": one["id"], "at": [node["target"] for node in one["nodes"]][:3], "help": one["help"]}
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
    ]
    assert not serious, json.dumps(serious, indent=1)
