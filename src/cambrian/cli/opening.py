"""The command that shows results in a browser."""

from __future__ import annotations

import os
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cambrian import parallel
from cambrian.cli.reading import make_report
from cambrian.cli.shared import check_folder, err, fail

if TYPE_CHECKING:
    from cambrian.serve.places import Place

commands = typer.Typer()


@commands.command("open")
def open_results(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[DIR]...",
            help="Results of `cambrian run`: studies or suites. Default: the only one in results/.",
        ),
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port on 127.0.0.1; 0: a free one.")] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in this desktop's browser.")
    ] = True,
) -> None:
    """Show results in a browser: the report, the progress of a run, and SQL over every packet.

    It makes a report that is missing or out of date, prints the address, and serves this machine only, until
    Ctrl-C. While a run is in progress, a bar counts its trials; a button makes the report again with the new
    ones. The page SQL has examples, and takes any query of DuckDB that only reads. Two folders of one study
    have a page that compares them.
    """
    import asyncio

    from cambrian.serve import places, server

    for folder in folders or ():
        check_folder(folder)
    found = places.find(folders or [places.alone(Path("results"))])
    for place in found:
        _make_if_stale(place)
    parallel.end_kept()

    def ready(address: str) -> None:
        print(address, flush=True)
        err.print("Ctrl-C ends it", markup=False)
        if browser and (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
            webbrowser.open(address)

    try:
        number = asyncio.run(server.serve(found, port, ready))
    except OSError as error:
        fail(f"port {port}: {error.strerror}; remedy: another --port, or none")
    # as shells have it
    raise typer.Exit(128 + number)


def _make_if_stale(place: Place) -> None:
    from cambrian.report.evidence import Evidence
    from cambrian.serve.progress import Progress
    from cambrian.store import check

    state = Progress(place).state()
    if not state.finished:
        if not state.running:
            fail(f"{place.folder} holds no finished trial yet; remedy: cambrian run")
        # the page says so, and the bar offers the report when a trial has finished
        return
    kept = place.is_suite or Evidence(place.folder).kept()
    if not state.stale and kept:
        return
    if place.page.is_file() and not os.access(place.report, os.W_OK):
        what = (
            "its report is out of date, and is shown as it is"
            if state.stale
            else "its report is current, but the page SQL lacks its observations and tables"
        )
        line = f"{place.report} cannot be written to: {what}"
        err.print(line, markup=False)
    else:
        with check.blamed(place.folder):
            make_report(place.folder)
