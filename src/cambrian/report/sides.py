"""The sides of a verdict that come from tables: a contestant's behaviour and its impact on other flows.

*Behaviour* comes from the performance envelopes and the probes. *Impact* comes from the table of harm: the
contestant's harm to its reference, beyond the harm of the reference to itself. Each row of these tables has
a state. A side is different if one row is different, and equivalent if all rows are equivalent.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import polars as pl

from cambrian.judging.sides import Side, State
from cambrian.report import layout
from cambrian.report.tables import harm
from cambrian.report.tables.rows import Row, each
from cambrian.stats.states import SAME

#: value of a row → state of its side; rows with other values are ignored
STATES: Mapping[str, State] = {
    "different": "different",
    harm.MORE: "different",
    harm.LESS: "different",
    "equivalent": "equivalent",
    # equal seeds are one replicate, and one replicate is not enough
    SAME: "inconclusive",
    "inconclusive": "inconclusive",
}
#: the side of a contestant whose probes have no comparison with the reference
_BOUNDED = Side("not measured", ("within the absolute bounds, but not compared with the reference",))
#: service → the words for more and for less harm than that of the victim's own kind
_EFFECTS = {
    "throughput, Mbps": ("it leaves {victim} less throughput", "it leaves {victim} more throughput"),
    "delay p95, ms": ("it makes {victim} wait longer", "it makes {victim} wait less"),
    "queue loss, %": ("it makes {victim} lose more packets", "it makes {victim} lose fewer packets"),
}


@dataclass(frozen=True)
class Finding:
    """One row of ``table`` about a contestant.

    ``more_seeds`` would settle it, as ``settles_as``; None if unknown.
    ``unnamed``: several networks show this figure, and ``text`` does not say which one it is of.
    """

    contestant: str
    network: str
    state: State
    text: str
    table: str
    more_seeds: int | None
    settles_as: State | None = None
    unnamed: bool = False


def behaviour(frames: Mapping[str, pl.DataFrame]) -> dict[str, Side]:
    """Contestant → its side from envelopes and probes; contestants without either are absent."""
    bounded = {row["contestant"]: _BOUNDED for row, _ in _rows(frames.get("probes"), "state")}
    return _not_compared(frames.get("probes")) | bounded | _sides(_behaviour(frames))


def _not_compared(frame: pl.DataFrame | None) -> dict[str, Side]:
    """Contestant → the reason why most of its probes do not compare it."""
    reasons: dict[str, Counter[str]] = defaultdict(Counter)
    for row in each(frame):
        reasons[row["contestant"]][row["why"] or ""] += 1
    most = {name: whys.most_common(1)[0][0] for name, whys in reasons.items()}
    return {name: Side("not measured", (why,) if why else ()) for name, why in most.items()}


def impact(frames: Mapping[str, pl.DataFrame]) -> dict[str, Side]:
    """Contestant → its side from harm to its reference's service, in a ``versus-reference`` study."""
    return _sides(_impact(frames))


def findings(frames: Mapping[str, pl.DataFrame]) -> list[Finding]:
    """Everything that these two sides come from."""
    return _behaviour(frames) + _impact(frames)


def _behaviour(frames: Mapping[str, pl.DataFrame]) -> list[Finding]:
    return [*_envelopes(frames.get("conformance")), *_probes(frames.get("probes"))]


def _impact(frames: Mapping[str, pl.DataFrame]) -> list[Finding]:
    references = {row["contestant"]: row["reference"] for row in each(frames.get("conformance"))}
    return list(_harms(frames.get("harm"), references))


def _sides(rows: list[Finding]) -> dict[str, Side]:
    by_contestant: dict[str, dict[tuple[State, str], list[str]]] = defaultdict(lambda: defaultdict(list))
    for one in rows:
        by_contestant[one.contestant][one.state, one.text] += [one.network] * one.unnamed
    return {
        contestant: together(
            [
                (state, f"{text} ({', '.join(networks)})" if networks else text)
                for (state, text), networks in found.items()
            ]
        )
        for contestant, found in by_contestant.items()
    }


def together(rows: list[tuple[State, str]]) -> Side:
    """One side of all its findings: their states and texts."""
    for state in ("different", "inconclusive"):
        texts = tuple(text for row_state, text in rows if row_state == state)
        if texts:
            return Side(state, texts if state == "different" else ())
    return Side("equivalent")


def _rows(frame: pl.DataFrame | None, column: str) -> Iterator[tuple[Row, State]]:
    """The rows that have a state, with it."""
    for row in each(frame):
        if row[column] in STATES:
            yield row, STATES[row[column]]


def _envelopes(frame: pl.DataFrame | None) -> Iterator[Finding]:
    for row, state in _rows(frame, "verdict"):
        deficit = layout.interval(row, "deficit", 2)
        text = (
            f"its performance envelope differs from {row['reference']}'s on {row['network']} "
            f"(conformance {layout.number(row['conformance'], 2)}, {deficit} below the noise floor)"
        )
        yield _finding(row, row["contestant"], state, text, "conformance")


def _probes(frame: pl.DataFrame | None) -> Iterator[Finding]:
    shown: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row, _ in _rows(frame, "state"):
        shown[row["contestant"], row["probe"]].add(row["network"])
    for row, state in _rows(frame, "state"):
        # within a bound is not yet like the reference
        if row["compare"] == "bound" and state == "equivalent":
            continue
        unnamed = len(shown[row["contestant"], row["probe"]]) > 1
        yield _finding(row, row["contestant"], state, row["text"], "probes", unnamed=unnamed)


def _harms(frame: pl.DataFrame | None, references: Mapping[str, str]) -> Iterator[Finding]:
    for row, state in _rows(frame, "verdict"):
        if references.get(row["by"]) != row["victim"]:
            continue
        more, less = _EFFECTS[row["service"]]
        effect = (more if row["verdict"] == harm.MORE else less).format(victim=row["victim"])
        beyond = f"harm beyond its own kind {layout.interval(row, 'excess', 2)}"
        if row["excess_low"] is None:
            unit = row["service"].rpartition(", ")[2].replace("%", "percentage points")
            beyond = f"difference {layout.interval(row, 'difference', 2)} {unit}"
        text = f"{effect} than {row['victim']} itself does on {row['network']} ({beyond})"
        yield _finding(row, row["by"], state, text, "harm")


def _finding(row: Row, who: str, state: State, text: str, table: str, *, unnamed: bool = False) -> Finding:
    more, settles_as = row.get("more_seeds"), STATES.get(row.get("settles_as") or "")
    return Finding(who, row["network"], state, text, table, more, settles_as, unnamed)
