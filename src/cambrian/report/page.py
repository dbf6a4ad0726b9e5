"""The report: one self-contained HTML page, its figures as PNG and SVG, its tables as CSV."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import jinja2
import markupsafe
import polars as pl
import vl_convert

from cambrian.report import cards, layout, matrix, notes, probed, provenance, tables, words
from cambrian.report.collect import Collected
from cambrian.report.conformance import seed_pairs
from cambrian.report.figures import all_figures
from cambrian.report.figures.figure import Figure, config
from cambrian.report.layout import Shown

#: most rows of a list that the page shows; its CSV has all
MOST_ROWS = 200


@dataclass(frozen=True)
class ShownFigure:
    """A figure for the template: ``panels`` are pairs of Vega-Lite text and alternative text."""

    figure: Figure
    panels: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Section:
    """One network's section of the page."""

    network: provenance.NetworkFacts
    tables: tuple[Shown, ...]
    figures: tuple[ShownFigure, ...]
    opened: bool


def write(collected: Collected, frames: dict[str, pl.DataFrame], out: Path) -> Path:
    """Write the report of ``collected`` with the tables ``frames`` to ``out``; return the page's path.

    ``out`` gets ``index.html``, ``figures/NAME.{png,svg,csv}``, ``tables/NAME.csv`` and
    ``trials/ID.json`` (each trial's description, for ``cambrian trial``).
    """
    for name in ("figures", "tables", "trials"):
        (out / name).mkdir(parents=True, exist_ok=True)
        # files of an earlier report must not mix with this one's
        for old in (out / name).iterdir():
            old.unlink()
    for manifest in collected.manifests:
        description = json.dumps(manifest["trial"], indent=1) + "\n"
        (out / "trials" / f"{manifest['id']}.json").write_text(description)
    for name, frame in frames.items():
        frame.write_csv(out / "tables" / f"{name}.csv")
    shown = [drawn(figure, out / "figures") for figure in all_figures(collected)]
    page = out / "index.html"
    page.write_text(_render(collected, frames, shown), encoding="utf-8")
    return page


def drawn(figure: Figure, folder: Path) -> ShownFigure:
    """The figure for the template; its files are written to ``folder``."""
    specs = [panel.spec() for panel in figure.panels]
    texts = tuple(as_json(spec) for spec in specs)
    figure.save(folder, specs)
    return ShownFigure(figure, tuple(zip(texts, (panel.alt for panel in figure.panels), strict=True)))


def as_json(value: object) -> markupsafe.Markup:
    """JSON that can stand in a <script> element."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return markupsafe.Markup(text.replace("<", "\\u003c"))  # noqa: S704 — no markup can be left in it


def _render(collected: Collected, frames: dict[str, pl.DataFrame], figures: list[ShownFigure]) -> str:
    facts = {fact.name: fact for fact in provenance.networks(collected)}
    sections = [
        Section(
            network=facts[network.name],
            tables=tables.on(network, collected, frames),
            figures=tuple(one for one in figures if one.figure.network == network.name),
            opened=len(collected.networks) == 1,
        )
        for network in collected.networks
    ]
    gathered = notes.gathered(frames["notes"])
    shown = matrix.matrix(collected, frames)
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
            placebo=words.placebo_differs(collected, frames.get("verdicts"), frames.get("harm")),
            placebo_holds=words.placebo_holds(collected),
            controls=words.controls(collected),
            verdicts=verdicts,
            verdict_ids={one["contestant"]: f"verdict-{number}" for number, one in enumerate(verdicts, 1)},
            verdicts_shown=any(row.verdict for row in shown.rows),
            behaviour=probed.behaviour(collected),
            anchors={section.network.name: f"network-{number}" for number, section in enumerate(sections, 1)},
            sections=sections,
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
            style=asset("style.css"),
            script=asset("page.js"),
            vega=vega_bundle(),
            themes=as_json({theme: config(theme) for theme in ("light", "dark")}),
        )
    )


def _example(collected: Collected) -> dict[str, Any]:
    """A trial that a reader may repeat: the first valid one, or the first."""
    records = [record for cell in collected.cells for record in cell.records]
    chosen = next((record for record in records if record.valid), records[0])
    return {"id": chosen.id, "packets_sha256": chosen.packets_sha256}


@cache
def vega_bundle() -> markupsafe.Markup:
    """Vega, Vega-Lite and Vega-Embed as one script, from vl-convert: the page loads nothing."""
    bundle = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    # this text in a string of the bundle would end the element
    return markupsafe.Markup(bundle.replace("</script", "<\\/script"))  # noqa: S704


def asset(name: str) -> markupsafe.Markup:
    """The text of a file beside the templates, for inclusion in the page."""
    return markupsafe.Markup(resources.files(__package__).joinpath("templates", name).read_text())  # noqa: S704


def environment() -> jinja2.Environment:
    """Jinja's environment for the templates of pages."""
    return jinja2.Environment(
        loader=jinja2.PackageLoader("cambrian.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
