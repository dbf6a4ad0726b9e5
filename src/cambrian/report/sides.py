"""The sides of a verdict that tables hold: a contestant's behaviour and its impact on other flows.

*Behaviour* is what the performance envelopes and the probes say, *impact* what the table of harm says of
what it does to its reference, beyond what the reference does to itself. Each row of those tables has a
state; a side is different where one row is, and equivalent where all are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

import polars as pl

from cambrian.judging.sides import Side, State
from cambrian.report import layout
from cambrian.report.tables import harm
from cambrian.report.tables.rows import Row
from cambrian.stats.states import SAME

#: tables that the sides are made of
TABLES = ("conformance", "harm", "probes")
#: what a row says, as the state of a side; anything else says nothing
_STATES: Mapping[str, State] = {
    "different": "different",
    harm.MORE: "different",
    harm.LESS: "different",
    "equivalent": "equivalent",
    # seeds that add no variation are one replicate, and one replicate settles nothing
    SAME: "inconclusive",
    "inconclusive": "inconclusive",
}
#: service → what more and less harm to it than the victim's own kind does is called
_EFFECTS = {
    "throughput, Mbps": ("it leaves {victim} less throughput", "it leaves {victim} more throughput"),
    "delay p95, ms": ("it makes {victim} wait longer", "it makes {victim} wait less"),
    "queue loss, %": ("it makes {victim} lose more packets", "it makes {victim} lose fewer packets"),
}
#: contestant, state, and what is said of it
_Said = tuple[str, State, str]


def behaviour(frames: Mapping[str, pl.DataFrame]) -> dict[str, Side]:
    """Contestant → what envelopes and probes say of it; those of which they say nothing are absent."""
    return _sides([*_envelopes(frames.get("conformance")), *_probes(frames.get("probes"))])


def impact(frames: Mapping[str, pl.DataFrame]) -> dict[str, Side]:
    """Contestant → what it does to its reference's service, in a ``versus-reference`` study."""
    judged = frames.get("conformance")
    if judged is None:
        return {}
    references = dict(judged.select("contestant", "reference").iter_rows())
    return _sides(_harms(frames.get("harm"), references))


def _sides(said: list[_Said] | Iterator[_Said]) -> dict[str, Side]:
    by_contestant: dict[str, list[tuple[State, str]]] = defaultdict(list)
    for contestant, state, text in said:
        by_contestant[contestant].append((state, text))
    return {contestant: _together(found) for contestant, found in by_contestant.items()}


def _together(found: list[tuple[State, str]]) -> Side:
    for state in ("different", "inconclusive"):
        texts = tuple(text for one, text in found if one == state)
        if texts:
            return Side(state, texts if state == "different" else ())
    return Side("equivalent")


def _rows(frame: pl.DataFrame | None, column: str) -> Iterator[tuple[Row, State]]:
    """The rows that say something, each with its state."""
    for row in frame.iter_rows(named=True) if frame is not None else ():
        if row[column] in _STATES:
            yield row, _STATES[row[column]]


def _envelopes(frame: pl.DataFrame | None) -> Iterator[_Said]:
    for row, state in _rows(frame, "verdict"):
        short = layout.interval(row, "deficit", 2)
        yield (
            row["contestant"],
            state,
            f"its performance envelope is not {row['reference']}'s on {row['network']} "
            f"(conformance {layout.number(row['conformance'], 2)}, {short} less than {row['reference']} has "
            "with itself)",
        )


def _probes(frame: pl.DataFrame | None) -> Iterator[_Said]:
    for row, state in _rows(frame, "state"):
        yield row["contestant"], state, row["text"]


def _harms(frame: pl.DataFrame | None, references: Mapping[str, str]) -> Iterator[_Said]:
    for row, state in _rows(frame, "verdict"):
        if references.get(row["by"]) != row["victim"]:
            continue
        more, less = _EFFECTS[row["service"]]
        effect = (more if row["verdict"] == harm.MORE else less).format(victim=row["victim"])
        yield (
            row["by"],
            state,
            f"{effect} than {row['victim']} itself would on {row['network']} "
            f"(harm beyond its own kind {layout.interval(row, 'excess', 2)})",
        )
