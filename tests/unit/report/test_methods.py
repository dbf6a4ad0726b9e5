"""The pages' texts about methods, and the sections that hold them."""

from __future__ import annotations

import string
from typing import get_args

import markupsafe
import pytest

from cambrian.report import methods, tables
from cambrian.report.layout import Shown
from cambrian.report.page import environment
from cambrian.report.sections import (
    Commands,
    Facts,
    Lines,
    Section,
    Statement,
    Table,
    Words,
    every,
    joined,
    link,
)
from cambrian.study.model import Design

#: what each page fills in
WORDS = {
    "study": {"measured_interval", "least_floor"},
    "suite": set(),
    "comparison": {"level", "parameter", "seeds", "trials"},
}


@pytest.mark.parametrize("page", get_args(methods.Page))
def test_a_text_leaves_open_what_its_page_fills_in(page: methods.Page) -> None:
    texts = [one.text for one in methods.methods() if one.page == page]
    named = {name for text in texts for _, name, _, _ in string.Formatter().parse(text) if name}
    assert texts and named == WORDS[page]


def test_a_text_is_about_designs_and_tables_that_there_are() -> None:
    known = {*tables.kinds()}
    for one in methods.methods():
        assert set(one.designs) <= set(get_args(Design))
        assert one.table is None or one.table in known
        assert "\n" not in one.text and "  " not in one.text


def test_a_page_has_the_texts_of_its_design_and_tables() -> None:
    words = dict.fromkeys(WORDS["study"], "x")
    solo = {name for name, _ in methods.of("study", design="solo", **words).pairs}
    pairs = {name for name, _ in methods.of("study", design="pairwise", **words).pairs}
    stopped = {name for name, _ in methods.of("study", design="solo", tables=["stopping"], **words).pairs}
    assert pairs - solo == {"More seeds to settle it", "Harm", "Uneven splits"}
    assert stopped - solo == {"Number of trials"}


def test_every_kind_of_piece_is_shown_and_plain_text_is_escaped() -> None:
    inner = Section("In<ner", "", (Lines((("na<me", "te<xt"),)),), folded=True)
    said = Statement("n", "doesn't hold", "te<xt", ("wo<rds",), (("la<bel", "li<ne"),))
    pieces = (Words(("wo<rds",)), Commands(("ru<n",), "No<t"), said, Facts((("na<me", ("a<", "b<")),)), inner)
    whole = Section("He<ad", "head", pieces, folded=True, aside="a<side", network="ne<t")
    template = environment().from_string('{% from "pieces.html.j2" import section %}{{ section(one) }}')
    text = template.render(one=whole)
    for word in ("wo", "ru", "No", "te", "la", "li", "na", "a", "b", "In", "He", "ne"):
        assert f"{word}&lt;" in text, word
    assert "doesn&#39;t hold" in text and "doesnt-hold" in text
    assert [one.heading for one in every(Section, [whole])] == ["He<ad", "In<ner"]


def test_a_closed_table_of_one_row_has_one_row() -> None:
    template = environment().from_string('{% from "pieces.html.j2" import table %}{{ table(one) }}')
    for count, said in ((1, "T: 1 row<"), (2, "T: 2 rows<")):
        shown = Shown("T", ("a",), (False,), (("1",),) * count, "", folded=True)
        assert said in template.render(one=Table(shown))


def test_a_link_escapes_its_text() -> None:
    assert joined("a<", link("b<", "#c")) == markupsafe.Markup('a&lt;<a href="#c">b&lt;</a>')
