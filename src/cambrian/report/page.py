"""The report: an HTML page and, in folders beside it, its figures, its tables and its trials over time.

The page needs no server and no network. It holds what the first screen shows; it loads all else from the
files beside it when a reader wants it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata, resources
from pathlib import Path
from typing import Any

import jinja2
import markupsafe
import polars as pl
import vl_convert

from cambrian.report import (
    across,
    cards,
    explore,
    layout,
    matrix,
    notes,
    probed,
    provenance,
    tables,
    timelines,
    words,
)
from cambrian.report.collect import Collected
from cambrian.report.conformance import seed_pairs
from cambrian.report.figures import all_figures, colours
from cambrian.report.figures.figure import Figure, config
from cambrian.report.layout import Shown
from cambrian.report.observations import observations
from cambrian.report.series import Timeline

#: most rows of a list that the page shows; its CSV has all
MOST_ROWS = 200
_OF_VEGA = (
    "figures/vega.js contains Vega, Vega-Lite and Vega-Embed (BSD-3-Clause, University of Washington "
    "Interactive Data Lab) and the libraries that they use, as vl-convert bundles them. vl-convert:"
)


@dataclass(frozen=True)
class Section:
    """One network's section of the page."""

    network: provenance.NetworkFacts
    tables: tuple[Shown, ...]
    figures: tuple[Figure, ...]
    opened: bool


def write(
    collected: Collected, frames: dict[str, pl.DataFrame], out: Path, *, with_files: bool = False
) -> Path:
    """Write the report of ``collected`` with the tables ``frames`` to ``out``; return the page's path.

    ``out`` gets ``index.html``, ``licences.txt``, ``figures/NAME.js``, ``tables/NAME.csv``,
    ``data/NAME.js`` (:mod:`cambrian.report.timelines`) and ``trials/ID.json`` (each trial's description, for
    ``cambrian trial``); with ``with_files`` also ``figures/NAME.{png,svg,csv}``.
    """
    prepare(out, "figures", "tables", "data", "trials")
    for manifest in collected.manifests:
        description = json.dumps(manifest["trial"], indent=1) + "\n"
        (out / "trials" / f"{manifest['id']}.json").write_text(description)
    for name, frame in frames.items():
        frame.write_csv(out / "tables" / f"{name}.csv")
    over_time = timelines.of(collected)
    timelines.write(collected, over_time, out / "data")
    observed = observations(collected)
    timelines.script(out / "data" / "explore.js", explore.data(observed, frames))
    shown = list(all_figures(collected))
    known, inks = [network.name for network in collected.networks], colours.palette(collected)
    overall = across.figures(observed, known, collected.design, inks)
    for figure in (*shown, *overall):
        draw(figure, out / "figures", with_files=with_files)
    page = out / "index.html"
    page.write_text(_render(collected, frames, shown, overall, over_time), encoding="utf-8")
    return page


def prepare(out: Path, *folders: str) -> None:
    """Make ``out`` with these folders, empty, and with what a page needs beside it."""
    for name in folders:
        (out / name).mkdir(parents=True, exist_ok=True)
        # files of an earlier report must not mix with this one's
        for old in (out / name).iterdir():
            old.unlink()
    if "figures" in folders:
        (out / "figures" / "vega.js").write_text(vega_bundle(), encoding="utf-8")
    (out / "licences.txt").write_text(licences(), encoding="utf-8")


def draw(figure: Figure, folder: Path, *, with_files: bool) -> None:
    """Write what the page needs to draw the figure; with ``with_files`` also its PNG, SVG and CSV."""
    specs = [panel.spec() for panel in figure.panels]
    timelines.script(folder / f"{figure.name}.js", specs)
    if with_files:
        figure.save(folder, specs)


def as_json(value: object) -> markupsafe.Markup:
    """JSON that can stand in a <script> element."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return markupsafe.Markup(text.replace("<", "\\u003c"))  # noqa: S704 — no markup can be left in it


def _render(
    collected: Collected,
    frames: dict[str, pl.DataFrame],
    figures: list[Figure],
    overall: Sequence[Figure],
    over_time: dict[str, Timeline],
) -> str:
    facts = {fact.name: fact for fact in provenance.networks(collected)}
    sections = [
        Section(
            network=facts[network.name],
            tables=tables.on(network, collected, frames),
            figures=tuple(one for one in figures if one.network == network.name),
            opened=len(collected.networks) == 1,
        )
        for network in collected.networks
    ]
    gathered = notes.gathered(frames["notes"])
    shown = matrix.matrix(collected, frames, over_time)
    verdicts = frames["verdicts"].to_dicts() if "verdicts" in frames else []
    return (
        environment()
        .get_template("page.html.j2")
        .render(
            study=collected.study,
            design=collected.design,
            what_ran=words.what_ran(collected),
            measured_interval=words.measured_interval(collected),
            answer=words.answer(collected, frames),
            matrix=shown,
            glyphs=matrix.GLYPHS,
            cards=cards.cards(collected, frames, shown),
            nothing=cards.nothing(shown, frames.get("verdicts")),
            contestants=as_json(shown.players),
            groups=as_json(timelines.groups(collected)),
            kinds=as_json(timelines.kinds()),
            placebo=words.placebo_differs(collected, frames.get("verdicts"), frames.get("harm")),
            placebo_holds=words.placebo_holds(collected),
            controls=words.controls(collected),
            verdicts=verdicts,
            verdict_ids={one["contestant"]: f"verdict-{number}" for number, one in enumerate(verdicts, 1)},
            verdicts_shown=any(row.verdict for row in shown.rows),
            behaviour=probed.behaviour(collected),
            anchors={section.network.name: f"network-{number}" for number, section in enumerate(sections, 1)},
            sections=sections,
            across=overall,
            invalid=layout.invalid(frames["invalid"].head(MOST_ROWS)),
            invalid_count=frames["invalid"].height,
            notes=gathered[:MOST_ROWS],
            notes_count=len(gathered),
            facts=provenance.facts(collected),
            traces=layout.traces(frames["traces"].head(MOST_ROWS)),
            traces_count=frames["traces"].height,
            command=collected.raw["command"],
            example=_example(collected),
            csv_names=list(frames),
            most_rows=MOST_ROWS,
            least_floor=seed_pairs.LEAST_FLOOR,
            style=style(),
            script=asset("page.js"),
            themes=as_json({theme: config(theme) for theme in ("light", "dark")}),
        )
    )


def _example(collected: Collected) -> dict[str, Any]:
    """A trial that a reader may repeat: the first valid one, or the first."""
    records = [record for cell in collected.cells for record in cell.records]
    chosen = next((record for record in records if record.valid), records[0])
    return {"id": chosen.id, "packets_sha256": chosen.packets_sha256}


@cache
def vega_bundle() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script, from vl-convert, which also draws the files."""
    bundle = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return f'(() => {{"use strict";{bundle}}})();\n'


@cache
def licences() -> str:
    """The licences of the libraries in the page's script and in the bundle of Vega."""
    vega = [
        path.locate()
        for path in metadata.files("vl-convert-python") or ()
        if "licenses" in path.parts and path.suffix == ""
    ]
    vega_texts = [Path(str(path)).read_text(encoding="utf-8").strip() for path in vega]
    return "\n\n".join([str(asset("page.licences.txt")).strip(), _OF_VEGA, *vega_texts]) + "\n"


def asset(name: str) -> markupsafe.Markup:
    """The text of a file beside the templates, for inclusion in the page."""
    return markupsafe.Markup(resources.files(__package__).joinpath("templates", name).read_text())  # noqa: S704


def style() -> markupsafe.Markup:
    """The page's style and that of the libraries in its script."""
    return asset("page.css") + asset("style.css")


def environment() -> jinja2.Environment:
    """Jinja's environment for the templates of pages."""
    return jinja2.Environment(
        loader=jinja2.PackageLoader("cambrian.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
