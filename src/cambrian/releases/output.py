"""Show releases, a history and the result of a bisection."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

from cambrian.releases import chart, history
from cambrian.releases.bisect import Result
from cambrian.releases.history import History
from cambrian.releases.trials import Bench
from cambrian.stacks import build, catalogue, registry, releases
from cambrian.stacks.catalogue import Stack


def rows(stack: Stack) -> list[dict[str, object]]:
    """Every release, newest first, with the state of its build here."""
    found: list[dict[str, object]] = []
    for one in reversed(registry.listed(stack)):
        name = releases.joined(stack.name, one.version)
        status = build.status(catalogue.load()[name])
        detail = status.detail if status.state in ("fails", "unbuildable", "broken") else ""
        found.append(
            {
                "name": name,
                "version": one.version,
                "date": one.date,
                "yanked": one.yanked,
                "build": status.state,
                "why": detail,
            }
        )
    return found


def versions(stack: Stack, console: Console, *, as_json: bool) -> None:
    """Print :func:`rows`."""
    listed = rows(stack)
    if as_json:
        print(json.dumps(listed, indent=1))
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in ("release", "date"):
        table.add_column(column, no_wrap=True)
    table.add_column("build", overflow="fold")
    words = {"missing": "not tried", "fails": "does not build"}
    for row in listed:
        state = str(row["build"])
        text = words.get(state, state) + (f": {row['why']}" if row["why"] else "")
        withdrawn = " (yanked)" if row["yanked"] else ""
        table.add_row(f"{row['name']}{withdrawn}", str(row["date"]), text)
    console.print(table)
    text = f"{stack.name}@RELEASE is a release of {registry.package(stack)}."
    console.print(text, markup=False, highlight=False)


def show_history(found: History, console: Console) -> None:
    """Print a table for each network, with means over the seeds, and below them what changed and what failed.

    A table has one network. Its last column has only the sign of the release's change, which is of all
    networks, so that it fits 80 columns.
    """
    means, entries = history.means(found), found.entries
    for network in dict.fromkeys(network for network, _ in means):
        here = {name: by for (place, name), by in means.items() if place == network}
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=network, title_justify="left")
        for column in ("release", "date"):
            table.add_column(column, no_wrap=True)
        for name in here:
            table.add_column(chart.heading(name), justify="right")
        table.add_column("all")
        for entry in entries:
            release = entry.of.release
            values = [f"{by[release]:.3g}" if release in by else "–" for by in here.values()]
            table.add_row(release, entry.of.date, *values, entry.sign)
        console.print(table)
    legend = (
        "all: against the release before, on all networks together: = same packets, ≈ no figure different, "
        "? some look different without proof, ≠ some different, – no figures."
    )
    console.print(legend, markup=False, highlight=False)
    for entry in entries:
        if said := entry.of.why or entry.changes:
            line = f"{entry.of.release}: {said}"
            console.print(line, markup=False, highlight=False)


def write_history(found: History, folder: Path) -> list[Path]:
    """Write ``history-figures.csv`` (every figure), ``history.json`` for the atlas, and the chart's files."""
    folder.mkdir(parents=True, exist_ok=True)
    written = [folder / "history-figures.csv", folder / history.FILE]
    history.frame(found).write_csv(written[0])
    written[1].write_text(found.model_dump_json(exclude_none=True) + "\n", encoding="utf-8")
    drawn = chart.figure(found)
    if drawn is not None:
        written += drawn.save(folder, [panel.spec() for panel in drawn.panels])
    return written


def bisected(result: Result, bench: Bench, package: str) -> Iterator[str]:
    """The result of a bisection in lines: every release tried, the changed pair, commands to repeat."""
    ends, shown = result.ends, {result.ends.good: result.good_shows, result.ends.bad: result.bad_shows}
    tried = {one.release: one for one in result.tried}
    yield f"{bench.stack} {bench.cca}: {result.figure}"
    for release in ends.between:
        if release in shown:
            yield f"  {release}  {'good' if release == ends.good else 'bad'} (given): {shown[release]}"
        elif one := tried.get(release):
            same = f", with the packets of {one.same_packets}" if one.same_packets else ""
            yield f"  {release}  {one.words}: {one.shows}{same}"
    last, first = result.pair
    lies, is_in = ("lies", "is") if result.is_clear else ("may lie", "may be")
    if result.skipped:
        yield f"The change {lies} after {last} and not after {first}; skipped: {', '.join(result.skipped)}."
    else:
        yield f"The change {is_in} in {package} {first}: {last} is the last release before it."
    if not result.is_clear:
        yield (
            "These two do not differ clearly from each other, so it may also be in a release near them: "
            "give more --seeds."
        )
    neither = [one for one in result.tried if one.like == "neither"]
    if neither:
        counts = "counts as the end that it is nearer to"
        if not all(one.nearer for one in neither):
            # a kind has no distance from the ends
            newer = "bad" if result.ends.older_is_good else "good"
            counts += f", or, where nothing says which that is, as {newer}, the newer end"
        yield (
            f"A release that is like neither {counts}. It may have a change of its own: give it as --good or "
            "--bad to find that."
        )
    if result.others:
        yield f"Figures that differ most between good and bad: {result.others}"
    pair = [word for one in (last, first) for word in ("--contestant", bench.contestant(one))]
    yield f"Compare the pair: {shlex.join(['cambrian', 'compare', *[str(bench.folder)] * 2, *pair])}"
    options = bench.options
    more = ["--only", f"{bench.network}/*"] if bench.network != "*" else []
    more += ["--trust"] if options.trust else []
    # `cambrian run` takes the seeds from the study
    seeds = " with the study's own number of seeds" if options.seeds else ""
    yield f"Run the pair{seeds}: {shlex.join(['cambrian', 'run', options.study, *pair, *more])}"
