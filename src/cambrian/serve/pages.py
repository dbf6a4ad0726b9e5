"""The pages around a report, in the report's style; the report's own file stays as it is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

import jinja2

from cambrian.report import page
from cambrian.serve import sql
from cambrian.serve.places import Comparison, Place

#: the report's own policy, for readers from a disk: it permits no request, and the bar asks for the progress
_POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>\n?')
_END = "</body>"


def with_bar(html: str, place: Place) -> str:
    """A report's page with the bar. The server sends the policy as a header instead."""
    before, end, after = _POLICY.sub("", html, count=1).rpartition(_END)
    return f"{before}{_render('bar.html.j2', place=place)}{end}{after}"


def nothing_yet(place: Place) -> str:
    """The page of a study without a finished trial, or of a comparison that is not made yet."""
    return with_bar(_render("nothing.html.j2", place=place), place)


def queries(place: Place) -> str:
    """The page for SQL."""
    return _render(
        "sql.html.j2",
        place=place,
        examples=sql.EXAMPLES,
        most_rows=sql.MOST_ROWS,
        limit_s=round(sql.TIME_LIMIT_S),
    )


def index(places: Sequence[Place], comparisons: Sequence[Comparison]) -> str:
    """Links to all places and comparisons."""
    return _render("index.html.j2", places=places, comparisons=comparisons)


def error(status: int, words: str) -> str:
    """A page for an address that cannot be shown."""
    return _render("error.html.j2", status=status, words=words)


@cache
def assets() -> dict[str, tuple[str, str]]:
    """Name below ``/-/`` → the type and the text of a file that the pages load."""
    own = _environment().loader
    assert own is not None
    style = own.get_source(_environment(), "serve.css")[0]
    return {
        "pages.css": ("text/css", f"{page.style()}{style}"),
        "bar.css": ("text/css", style),
        "bar.js": ("text/javascript", str(page.asset("bar.js"))),
        "sql.js": ("text/javascript", str(page.asset("sql.js"))),
    }


def _render(name: str, **given: object) -> str:
    text = _environment().get_template(name).render(**given)
    # a folder's name can be any bytes
    return text.encode(errors="surrogateescape").decode(errors="replace")


@cache
def _environment() -> jinja2.Environment:
    return page.environment().overlay(loader=jinja2.PackageLoader("cambrian.serve"))
