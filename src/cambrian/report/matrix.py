"""The matrix at the top of a page: a row each contestant, a column each network, a state each cell.

A cell's state sums up what the page compares with the reference, or with the standard, on its network: the
findings that the verdict comes from. So a cell is different only if the verdict differs, and a conformant
contestant has no cell that is different or inconclusive.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import polars as pl
from markupsafe import Markup

from cambrian.measure import quantities
from cambrian.measure.trial import TrialMeasures
from cambrian.report import blocks, collect, judged, layout, sides
from cambrian.report.collect import Collected
from cambrian.report.series import Timeline
from cambrian.report.tables import flows, page_loads, rows

DIFFERENT, OPEN, EQUIVALENT = "different", "inconclusive", "equivalent"
#: state → its glyph; the first state that a cell's findings have is the cell's
GLYPHS = {DIFFERENT: "≠", OPEN: "?", EQUIVALENT: "≈"}
#: a verdict that accuses nobody → its state
_OF_VERDICTS = {"conformant": EQUIVALENT, OPEN: OPEN}
#: a cell's figure → what it is in words, and as text
_FIGURES: Mapping[str, tuple[str, Callable[[float], str]]] = {
    "share_percent": ("mean share of throughput", lambda value: f"{layout.number(value, 0)} %"),
    "throughput_mbps": ("mean throughput", lambda value: f"{layout.number(value, 1)} Mbps"),
    "plt_ms": ("mean page load time", lambda value: f"{layout.number(value / 1000, 2)} s"),
}
#: what a glyph compares
_CONTESTANTS = "the verdict’s evidence on that network (parameters, plausibility, envelope, probes, harm)"
_SPLITS, _LOADS = "the split, compared with an even one", "the load, compared with the base contestant’s"
#: most points of a small line, and its size
_POINTS, _WIDTH, _HEIGHT = 48, 96, 24
_SVG = Markup('<svg class="lines" viewBox="0 0 {} {}" preserveAspectRatio="none" aria-hidden="true">{}</svg>')
_LINE = Markup('<polyline class="{}" points="{}"/>')
#: row or contestant, network
Place = tuple[str, str]


@dataclass(frozen=True)
class Cell:
    """A row on one network. ``state`` is empty if nothing is judged. ``by_seed``: the figure of each seed.

    ``more_seeds`` may settle an inconclusive cell; None if no number is known. ``lines`` is an SVG, and
    ``beside``: it has the line of a flow beside the cell's own. ``group`` is the key of the group that ran.
    """

    network: str
    group: str
    state: str
    figure: str
    by_seed: Mapping[int, str]
    more_seeds: int | None
    lines: Markup
    beside: bool = False


@dataclass(frozen=True)
class Row:
    """``players``: contestant → its stack and CCA. ``verdict``, ``state``: empty if the row is not judged.

    ``off``: a parameter that is off, with its value, and how many more there are; empty without one.
    """

    name: str
    players: Mapping[str, tuple[str, str]]
    verdict: str
    state: str
    cells: dict[str, Cell]
    off: str = ""


@dataclass(frozen=True)
class _Finding:
    """``more_seeds`` would settle it, as ``settles_as``; None if unknown. ``row`` or contestant."""

    row: str
    network: str
    state: str
    more_seeds: int | None = None
    settles_as: str | None = None


@dataclass(frozen=True)
class Matrix:
    """The rows, and in words: what a cell's figure is, and what its glyph compares.

    Both are empty if no cell has one.
    """

    figure: str
    glyph: str
    rows: tuple[Row, ...]

    @property
    def cells(self) -> list[tuple[Row, Cell]]:
        """Every cell with its row."""
        return [(row, cell) for row in self.rows for cell in row.cells.values()]

    @property
    def beside(self) -> bool:
        """Has a cell the line of a flow beside its own?"""
        return any(cell.beside for _, cell in self.cells)

    @property
    def drawn(self) -> bool:
        """Has a cell a line?"""
        return any(cell.lines for _, cell in self.cells)

    @property
    def players(self) -> dict[str, tuple[str, str]]:
        """Contestant → its stack and CCA."""
        return {name: one for row in self.rows for name, one in row.players.items()}

    @property
    def filters(self) -> dict[str, list[str]]:
        """What a reader can filter by → its values; a filter with one value is left out."""
        seeds = sorted({seed for _, cell in self.cells for seed in cell.by_seed})
        return filters(self.players, [cell.network for _, cell in self.cells], seeds)


def filters(
    players: Mapping[str, tuple[str, str]], networks: Iterable[str], seeds: Iterable[int] = ()
) -> dict[str, list[str]]:
    """What a reader can filter by → its values; a filter with one value is left out.

    ``players``: contestant → its stack and CCA.
    """
    found = {
        "stack": [stack for stack, _ in players.values()],
        "cca": [cca for _, cca in players.values()],
        "network": networks,
        "seed": [str(seed) for seed in seeds],
    }
    return {name: [*once] for name, values in found.items() if len(once := dict.fromkeys(values)) > 1}


def combined(states: Iterable[str]) -> str:
    """The state of a cell with these findings; empty without one."""
    found = set(states)
    return next((state for state in GLYPHS if state in found), "")


def of_parameters(overall: str, statuses: Collection[str], *, located: bool) -> str:
    """The state of a contestant's parameters on one network; empty if none is judged there.

    ``overall`` is the verdict's, ``statuses`` are the network's. ``located``: one is off on some network.
    """
    if "off" in statuses:
        return DIFFERENT
    if overall != DIFFERENT:
        return overall if statuses and overall in GLYPHS else ""
    if not located:
        return OPEN
    return combined({EQUIVALENT, *statuses}) if statuses else ""


def of_verdict(verdict: Mapping[str, Any]) -> str:
    """The state of a row of the table of verdicts; empty if the contestant is not judged."""
    return DIFFERENT if verdict["differs"] else _OF_VERDICTS.get(verdict["verdict"], "")


def matrix(
    collected: Collected, frames: Mapping[str, pl.DataFrame], timelines: Mapping[str, Timeline]
) -> Matrix:
    """The page's matrix: pairs in a ``pairwise`` study, page loads where pages load, else contestants.

    ``timelines``: trial's identity → its series.
    """
    cells = _own(collected)
    loads, pairs = any(cell.page for cell in cells), collected.design == "pairwise"
    trials = [trial for cell in cells for trial in cell.trials if len(cell.names) > 1]
    shared = any(trial.flows[0]["share_percent"] is not None for trial in trials)
    figure = "plt_ms" if loads else "share_percent" if shared else "throughput_mbps"
    words = _FIGURES[figure][0]
    findings: dict[Place, list[_Finding]] = defaultdict(list)
    for one in _of_rows(frames) if loads or pairs else _of_contestants(collected, frames):
        findings[one.row, one.network].append(one)
    verdicts = {} if loads or pairs else {row["contestant"]: row for row in rows.each(frames.get("verdicts"))}
    tops: dict[str, float] = defaultdict(lambda: 1e-9)
    for cell in cells:
        tops[cell.network.name] = max(tops[cell.network.name], _top(cell, timelines))
    made: dict[str, Row] = {}
    ran: set[str] = set()
    for cell in cells:
        for flow in range(len(cell.names) if cell.design == "flows" else 1):
            name, network = row_name(cell, flow), cell.network.name
            here = findings[name if loads or pairs else cell.names[flow], network]
            # a line-up that has not run shows nothing of a contestant that ran in others
            shows = cell.trials or cell.design != "flows"
            state = combined(one.state for one in here) if shows else ""
            # a flow alone in its line-up has all of the throughput, whatever that is
            mine = "throughput_mbps" if figure == "share_percent" and len(cell.names) == 1 else figure
            text = _FIGURES[mine][1]
            values = blocks.by_seed(cell, partial(_value, flow=flow, name=mine))
            late = mine == "plt_ms" and cell.late_loads(flow)
            mean = None if late else rows.mean(list(values.values()))
            ran |= {name} if cell.trials else set()
            lines = _lines(cell, flow, tops[network], timelines)
            if name not in made:
                verdict = verdicts.get(cell.names[flow], {"verdict": "", "differs": False})
                players = _players(cell, flow, collected)
                off = _first_off(verdict.get("off_measured") or "")
                made[name] = Row(name, players, verdict["verdict"], of_verdict(verdict), {}, off)
            made[name].cells[network] = Cell(
                network=network,
                group=cell.key,
                state=state,
                figure=layout.NOTHING if mean is None else text(mean),
                by_seed={seed: text(value) for seed, value in values.items()},
                more_seeds=_more_seeds(here) if state == OPEN else None,
                lines=lines,
                beside=bool(lines) and len(cell.names) == 2,
            )
    glyph = _LOADS if loads else _SPLITS if pairs else _CONTESTANTS
    shown = [cell for row in made.values() for cell in row.cells.values()]
    if not any(cell.state for cell in shown):
        glyph = ""
    # without a valid trial nothing tells which figure the cells would have
    what = words + (" of the first one" if pairs else "") if any(cell.by_seed for cell in shown) else ""
    # a study that has run in part begins with what is known
    ordered = sorted(made.values(), key=lambda row: row.name not in ran)
    return Matrix(what, glyph, tuple(ordered))


def _first_off(measured: str) -> str:
    """``initial window 32 packets, and 1 more`` of the verdict's column ``off_measured``."""
    first, *more = measured.split("; ")
    return f"{first}, and {len(more)} more" if more else first


def row_name(cell: collect.Cell, flow: int) -> str:
    """The row of a flow of a group."""
    if cell.design == "versus-reference":
        return cell.subject
    return cell.title if cell.design == "pairwise" else flows.row_name(cell, flow)


def _own(collected: Collected) -> list[collect.Cell]:
    """The groups of the matrix: no placebo, and nobody beside itself if there is anything else."""
    cells = [cell for cell in collected.cells if cell.design == collected.design and not cell.is_placebo]
    return [cell for cell in cells if cell.reference != cell.subject] or cells


def _players(cell: collect.Cell, flow: int, collected: Collected) -> dict[str, tuple[str, str]]:
    known = {one.name: one for one in collect.everybody(collected.study)}
    names = cell.names if cell.design == "pairwise" else (cell.names[flow],)
    return {name: (known[name].stack, known[name].cca) for name in names if name in known}


def _value(trial: TrialMeasures, flow: int, name: str) -> float | None:
    value: float | None = quantities.ALL[name].value(trial, flow) if name in quantities.ALL else None
    return page_loads.plt_ms(trial, flow) if name == "plt_ms" else value


def _more_seeds(findings: Iterable[_Finding]) -> int | None:
    """Seeds that may settle an inconclusive cell: one difference is enough, else all must be equivalent."""
    # without a state, the number is what an interval still needs, and settles nothing
    unsettled = [
        one if one.settles_as else replace(one, more_seeds=None) for one in findings if one.state == OPEN
    ]
    if differing := [one.more_seeds for one in unsettled if one.more_seeds and one.settles_as == DIFFERENT]:
        return min(differing)
    numbers = [one.more_seeds for one in unsettled]
    return None if None in numbers else max(filter(None, numbers), default=None)


def _of_rows(frames: Mapping[str, pl.DataFrame]) -> Iterator[_Finding]:
    """The findings about pairs and page loads."""
    for row in rows.each(frames.get("pairwise")):
        name, state = f"{row['x']} + {row['y']}", sides.STATES.get(row["split"], "")
        yield _Finding(name, row["network"], state, row["more_seeds"], row["settles_as"])
    for row in rows.each(frames.get("page_changes")):
        state = sides.STATES.get(row["state"], "")
        yield _Finding(f"{row['contestant']} · {row['page']}", row["network"], state)


def _of_contestants(collected: Collected, frames: Mapping[str, pl.DataFrame]) -> Iterator[_Finding]:
    """The findings that verdicts come from."""
    for one in sides.findings(frames):
        yield _Finding(one.contestant, one.network, one.state, one.more_seeds, one.settles_as)
    statuses: dict[Place, set[str]] = defaultdict(set)
    for row in rows.each(frames.get("parameters")):
        statuses[row["contestant"], row["network"]] |= {row["status"]} - {None, "not judged"}
    for verdict in rows.each(frames.get("verdicts")):
        name, overall, located = verdict["contestant"], verdict["parameters"], bool(verdict["off"])
        for network in (one.name for one in collected.networks):
            yield _Finding(name, network, of_parameters(overall, statuses[name, network], located=located))
            alone = judged.plausible(collected, name, verdict["judged_as"], network)
            yield _Finding(name, network, alone.state)


def _first(cell: collect.Cell, timelines: Mapping[str, Timeline]) -> tuple[tuple[float, ...], ...]:
    """Each flow's throughput over time in the first valid trial; empty without one."""
    first = timelines.get(cell.trials[0].id) if cell.trials else None
    return first.coarse_mbps if first else ()


def _top(cell: collect.Cell, timelines: Mapping[str, Timeline]) -> float:
    """The largest throughput of a group's lines."""
    return max((max(flow, default=0.0) for flow in _first(cell, timelines)), default=0.0)


def _lines(cell: collect.Cell, flow: int, top: float, timelines: Mapping[str, Timeline]) -> Markup:
    """Throughput over time in the first valid trial, up to ``top``: the flow, and the flow beside it."""
    mbps = _first(cell, timelines)
    if not mbps:
        return Markup()
    wanted = [("its", 1 - flow)] * (len(cell.names) == 2) + [("mine", flow)]
    length = cell.trials[0].shown_s / cell.shown_s
    paths = [_LINE.format(kind, _path(mbps[number], top, length)) for kind, number in wanted]
    return _SVG.format(_WIDTH, _HEIGHT, Markup().join(paths))


def _path(mbps: tuple[float, ...], top: float, length: float) -> str:
    """The points of a line as long as ``length`` of the width; each is the mean of neighbouring steps."""
    size = max(-(-len(mbps) // _POINTS), 1)
    parts = [mbps[start : start + size] for start in range(0, len(mbps), size)]
    middles = [(size * number + len(part) / 2) / len(mbps) for number, part in enumerate(parts)]
    return " ".join(
        f"{_WIDTH * length * middle:.0f},{(_HEIGHT - 1) * (1 - sum(part) / len(part) / top) + 0.5:.1f}"
        for middle, part in zip(middles, parts, strict=True)
    )
