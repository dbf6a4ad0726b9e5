"""The page's tables: each as a frame for its CSV, and as the page shows it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict

import polars as pl

from cambrian.gate.quantities import MARGINS
from cambrian.gate.snapshot import group_of
from cambrian.measure import quantities
from cambrian.report import layout, matrix
from cambrian.report.compared import changes as first
from cambrian.report.compared.changes import Changes, Figure
from cambrian.report.compared.settings import Setting
from cambrian.report.layout import Column, Shown

_WORDS = ("Contestant", "Network", "Figure", "State")
_NUMBERS = ("Before", "After", "Change [95 % interval]", "Margin", "p (Holm)", "Seeds or trials")
_JUDGED = {True: "better", False: "worse", None: ""}


def figures(changes: Changes) -> tuple[pl.DataFrame, Shown]:
    """Every figure, parameter and probe, the most important first."""
    rows = [
        {"contestant": one.row, "network": one.subject.network, "against": one.subject.against}
        | {name: value for name, value in asdict(one.found).items() if name != "place"}
        for one in changes.figures
    ]
    shown = Shown(
        caption="All figures, parameters and probes",
        headings=(*_WORDS, *_NUMBERS, "Note"),
        numbers=(*(False for _ in _WORDS), *(True for _ in _NUMBERS), False),
        rows=tuple(_cells(one) for one in changes.figures),
        csv="figures.csv",
        keyed=True,
    )
    return pl.DataFrame(rows, infer_schema_length=None), shown


def _cells(one: Figure) -> tuple[str, ...]:
    found = one.found
    looks = "looks different" if found.looks and found.state == matrix.OPEN else ""
    p = "" if found.p_holm is None else layout.p_text(found.p_holm)
    numbers = (found.before, found.after, first.change(found), first.margin(found), p, first.behind(found))
    note = "; ".join(word for word in (_JUDGED[found.better], looks, found.why) if word)
    words = (one.who, one.subject.network, found.title, found.state)
    return (*words, *(cell or layout.NOTHING for cell in numbers), note)


def packets(changes: Changes) -> tuple[pl.DataFrame, Shown]:
    """The trials of each group by what became of their packets; the CSV has each trial."""
    groups: dict[str, Counter[str]] = {}
    rows = []
    for one in changes.packets:
        fate = "not compared" if one.is_lost else str(one.fate)
        network = one.group.network if one.group else None
        rows.append({"trial": one.name, "network": network, "packets": fate, "why": one.why})
        groups.setdefault(group_of(one.name), Counter())[fate] += 1
    columns = ("Group", "Trials", "Same packets", "Other packets", "Not compared")
    shown = Shown(
        caption="Trials by their packets; the CSV has each trial",
        headings=columns,
        numbers=(False, True, True, True, True),
        rows=tuple(
            (key, str(fates.total()), *(str(fates[fate]) for fate in (first.SAME, "changed", "not compared")))
            for key, fates in groups.items()
        ),
        csv="packets.csv",
        folded=True,
    )
    return pl.DataFrame(rows, infer_schema_length=None), shown


def settings(found: Sequence[Setting]) -> tuple[pl.DataFrame, Shown]:
    """Software and settings of both sides, those that differ first."""
    columns = (
        layout.text("name", "What"),
        layout.text("of", "Of"),
        layout.text("before", "Before"),
        layout.text("after", "After"),
        Column("", lambda row: "different" if row["differs"] else "the same", number=False),
    )
    ordered = sorted(found, key=lambda one: not one.differs)
    rows = [asdict(one) | {"of": one.of or "study", "differs": one.differs} for one in ordered]
    frame = pl.DataFrame(rows)
    return frame, layout.shown(
        frame, columns, "Software of both sides, and settings that differ", "settings.csv"
    )


def margins() -> tuple[pl.DataFrame, Shown]:
    """The margin of each figure by seed."""
    columns = (
        layout.text("title", "Figure by seed"),
        Column(
            "Part of the earlier mean", lambda row: f"{row['part']:.0%}" if row["part"] else layout.NOTHING
        ),
        Column("At least", lambda row: f"{row['least']:g} {row['unit']}".strip()),
        layout.text("why", "Reason"),
    )
    rows = [asdict(one) | {"unit": quantities.ALL[name].unit} for name, one in MARGINS.items()]
    frame = pl.DataFrame(rows)
    caption = "Margins: the largest change without practical effect; the larger of two limits counts"
    return frame, layout.shown(frame, columns, caption, "margins.csv")
