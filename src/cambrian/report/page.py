"""A page of the report: one HTML file that needs no server and no network, with its files beside it.

The page holds what the first screen shows; it loads all else from the files beside it when a reader wants it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata, resources
from pathlib import Path
from typing import Any

import jinja2
import markupsafe
import vl_convert

from cambrian.report import output_folder, timelines
from cambrian.report.figures.figure import Figure, config
from cambrian.report.kept import kept
from cambrian.report.sections import Section, every

#: most rows of a list that the page shows; its CSV has all
MOST_ROWS = 200
INDEX = "index.html"
#: also the mark of a folder that has a page
_LICENCES = "licences.txt"
_OF_VEGA = (
    "figures/vega.js contains Vega, Vega-Lite and Vega-Embed (BSD-3-Clause, University of Washington "
    "Interactive Data Lab) and the libraries that they use, as vl-convert bundles them. vl-convert:"
)


@dataclass(frozen=True)
class Page:
    """A page: its head, its first screen and its sections.

    ``about``: what the page is, and of what, such as ``("Cambrian report", "study", "quickstart")``.
    ``answer`` is the sentence that answers the question, ``warnings`` stand below it. ``first`` is the
    template of the first screen with its ``context``. ``explore``: it has the view "Explore". ``tables``:
    names of the CSV files. ``data``: identity → what the page's script reads.
    """

    about: tuple[str, str, str]
    title: str
    sections: Sequence[Section]
    answer: str = ""
    warnings: tuple[str, ...] = ()
    leads: tuple[str, ...] = ()
    first: str = ""
    context: Mapping[str, Any] = field(default_factory=dict)
    explore: bool = False
    tables: tuple[str, ...] = ()
    data: Mapping[str, object] = field(default_factory=dict)


def write(page: Page, out: Path, *, with_files: bool = False) -> Path:
    """Write ``out``/index.html and the figures of the page's sections; return the former's path.

    :func:`prepare` has made the folders. ``with_files``: figures as PNG, SVG and CSV, too.
    """
    data = dict(page.data)
    figures = list(every(Figure, page.sections))
    assert len({one.name for one in figures}) == len(figures), "one figure would show the data of another"
    for figure in figures:
        draw(figure, out / "figures", with_files=with_files)
    # Explore draws with them too
    if figures or page.explore:
        data["themes"] = {theme: config(theme) for theme in ("light", "dark")}
    index = out / INDEX
    text = (
        environment()
        .get_template("page.html.j2")
        .render(
            page=page,
            data={name: as_json(one) for name, one in data.items()},
            style=style(),
            script=asset("page.js"),
            **page.context,
        )
    )
    index.write_text(text, encoding="utf-8")
    return index


def check(out: Path) -> None:
    """Refuse to write a page to a folder that has other files than an earlier page's.

    Raises:
        FileExistsError: it has such files.
    """
    output_folder.check(out, _LICENCES, licences().partition("\n")[0])


def prepare(out: Path, *folders: str) -> None:
    """Make ``out`` with these folders, without an earlier page's files, and with what a page needs beside it.

    Raises:
        FileExistsError: as :func:`check`.
    """
    check(out)
    out.mkdir(parents=True, exist_ok=True)
    # first: by this file the folder of an interrupted report is known as a report's
    (out / _LICENCES).write_text(licences(), encoding="utf-8")
    # then the page, which is written last: one without its files would pass for a whole report
    (out / INDEX).unlink(missing_ok=True)
    for name in folders:
        output_folder.empty(out / name)
    if "figures" in folders:
        (out / "figures" / "vega.js").write_text(vega_bundle(), encoding="utf-8")


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


@cache
def vega_bundle() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script, from vl-convert, which also draws the files."""
    snippet = "window.vegaEmbed = vegaEmbed;"
    key = hashlib.sha256(f"{metadata.version('vl-convert-python')}\0{snippet}".encode()).hexdigest()
    (bundle,) = kept(_bundle, [(key, snippet)], what="bundles made")
    return f'(() => {{"use strict";{bundle}}})();\n'


def _bundle(key: str, task: str) -> str:
    del key
    return str(vl_convert.javascript_bundle(task))


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
