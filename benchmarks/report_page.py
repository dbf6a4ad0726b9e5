"""How large is a report, how fast does it open, and how fast does it answer?

    .venv/bin/python benchmarks/report_page.py RESULTS [--repeats N]

RESULTS is a results directory; a report of 1,000 trials is the measure (`cambrian run clean-alone`). The
report is made if it is missing. The installed Chromium opens it from disk, 1280 by 800 pixels. Prints the
size of the page and of its whole folder, and the medians of: the time until the first screen stands (the
browser's largest contentful paint), and the time from an input until what it asks for is painted, for
filters, a cell, a zoom, Explore and an axis. The exit status is 1 if a limit is passed: 2 s and 1 MB for the
first screen, 20 MB for the folder, 100 ms for an input.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from pathlib import Path

from playwright.sync_api import Page, sync_playwright
from rich.console import Console
from rich.table import Table

from cambrian.cli.reading import make_report
from cambrian.pages import browser as installed
from cambrian.store.results import Results

MOST_OPEN_MS, MOST_INPUT_MS = 2_000.0, 100.0
MOST_PAGE_BYTES, MOST_FOLDER_BYTES = 10**6, 20 * 10**6
#: the largest contentful paint so far, after the browser has had time for all of them
_PAINTED = """() => new Promise(done => new PerformanceObserver(list =>
  done(list.getEntries().at(-1).startTime)).observe({type: "largest-contentful-paint", buffered: true}))"""
#: runs an input, and waits for the frame after the one in which the page shows what it asks for
_ANSWERED = """async ([act, shown]) => {
  const frame = () => new Promise(done => requestAnimationFrame(done));
  const isShown = new Function(`return ${shown}`);
  const from = performance.now();
  (new Function(act))();
  while (!isShown()) await frame();
  await frame();
  return performance.now() - from;
}"""
#: input → what a reader does, and what the page shows then, as scripts
INPUTS = {
    "choose in a filter": (
        "const one = document.querySelector('.filters select'); one.selectedIndex = 1;"
        "one.dispatchEvent(new Event('change'))",
        "location.hash.includes(document.querySelector('.filters select').name + '=')",
    ),
    "show all again": ("location.hash = '#all'", "document.querySelector('.filters select').value === ''"),
    "open a cell": (
        "document.querySelector('.matrix a[data-open]').click()",
        "document.querySelectorAll('.series canvas').length === 5",
    ),
    "zoom in": ("document.querySelector('.zoom button').click()", "location.hash.includes('from=')"),
    "close the cell": (
        "[...document.querySelectorAll('dialog button')].find(one => one.textContent === 'Close').click()",
        "!location.hash.includes('open=')",
    ),
    "Explore": (
        "document.querySelector('.tabs a[href=\"#view=explore\"]').click()",
        # the pointer on the link had it drawn, hidden
        "document.querySelector('#explore canvas')?.offsetWidth > 0",
    ),
    "another axis": (
        "location.hash = '#view=explore&x=queue_loss_percent'",
        "document.querySelector('#explore canvas') !== null"
        " && document.querySelector('#explore > p').textContent.includes('over queue_loss_percent')",
    ),
}
#: input → the link that it clicks: a pointer is on a link before it clicks, and then the page loads ahead
HOVERED = {"open a cell": ".matrix a[data-open]", "Explore": '.tabs a[href="#view=explore"]'}


def opened(page: Page, address: str) -> float:
    """Milliseconds until the first screen stands."""
    page.goto("about:blank")
    page.goto(address)
    page.wait_for_timeout(500)
    return float(page.evaluate(_PAINTED))


def measure(report: Path, repeats: int) -> dict[str, float]:
    """Name → median in milliseconds."""
    found: dict[str, list[float]] = {}
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=installed.find().path)
        for _ in range(repeats):
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            found.setdefault("first screen", []).append(opened(page, report.as_uri()))
            for name, pair in INPUTS.items():
                if name in HOVERED:
                    page.hover(f"{HOVERED[name]} >> nth=0")
                    page.wait_for_timeout(100)
                found.setdefault(name, []).append(float(page.evaluate(_ANSWERED, list(pair))))
                # the next input finds an idle page with its data
                page.wait_for_timeout(1_500)
            page.close()
        browser.close()
    return {name: statistics.median(values) for name, values in found.items()}


def main() -> None:
    """Print sizes and times beside their limits."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("results", type=Path)
    parser.add_argument("--repeats", type=int, default=5)
    asked = parser.parse_args()
    report = (asked.results / "report" / "index.html").absolute()
    if not report.is_file():
        make_report(asked.results)
    trials = sum(len(group["trials"]) for group in Results(asked.results).study()["groups"])
    folder_bytes = sum(path.stat().st_size for path in report.parent.rglob("*") if path.is_file())
    rows = [
        ("page, MB", report.stat().st_size / 1e6, MOST_PAGE_BYTES / 1e6),
        ("whole folder, MB", folder_bytes / 1e6, MOST_FOLDER_BYTES / 1e6),
    ]
    for name, value_ms in measure(report, asked.repeats).items():
        rows.append((f"{name}, ms", value_ms, MOST_OPEN_MS if name == "first screen" else MOST_INPUT_MS))
    table = Table(title=f"{asked.results}: {trials:,} trials, medians of {asked.repeats}")
    for heading in ("what", "measured", "limit"):
        table.add_column(heading, justify="left" if heading == "what" else "right")
    for name, value, limit in rows:
        table.add_row(name, f"{value:.3g}", f"{limit:g}")
    Console().print(table)
    sys.exit(any(value > limit for _, value, limit in rows))


if __name__ == "__main__":
    main()
