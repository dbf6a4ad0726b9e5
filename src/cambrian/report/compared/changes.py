"""What a comparison shows first: a sentence, a matrix of contestants and networks, and cards."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import Literal

from cambrian.gate import differences
from cambrian.gate.differences import Compared, Difference, Fate
from cambrian.gate.snapshot import INVALID, Subject
from cambrian.metrics.parameters.definitions import PARAMETERS
from cambrian.report import cards, layout, matrix
from cambrian.report.compared.sides import Group, Side
from cambrian.report.words import counted

SAME: Literal["same"] = "same"
#: state → its glyph
GLYPHS = matrix.GLYPHS | {SAME: "="}
#: importance of a cell's state; a cell that cannot be compared comes before those without a change
_ORDER = (matrix.DIFFERENT, matrix.OPEN, "", matrix.EQUIVALENT, SAME)


#: a change below this part of its margin is shown as 0
_LEAST_PART = 1e-3
#: rank of a network without a cell
_LAST = (math.inf,)


@dataclass(frozen=True)
class Figure:
    """A compared figure, and whom and where it is about. ``row`` is the matrix's."""

    row: str
    subject: Subject
    found: Difference

    @property
    def who(self) -> str:
        """The contestant, with its rival."""
        beside = f" beside {self.subject.against}" if self.subject.against else ""
        return f"{self.row}{beside}"

    @property
    def values(self) -> str:
        """``9.4 → 3.1 Mbps``."""
        one = self.found
        unit = f" {one.unit}" if one.unit else ""
        return f"{one.before} → {one.after}{unit}"


@dataclass(frozen=True)
class Packets:
    """A trial of either side; ``fate`` is None if it is invalid on both for the same reason.

    ``lost``: in a few words, why its packets cannot be compared; empty if they can. ``why``: in full.
    """

    name: str
    group: Group | None
    fate: Fate | None
    lost: str = ""
    why: str = ""

    @property
    def is_lost(self) -> bool:
        """Can its packets not be compared?"""
        return bool(self.lost)


@dataclass(frozen=True)
class Cell:
    """A contestant on a network. ``state`` is empty if nothing could be compared there.

    ``anchor`` names the cell in addresses. ``change`` is the most important figure's name, ``values`` are its
    values before and after; both may be empty. ``rest`` is about the others.
    """

    anchor: str
    network: str
    state: str
    change: str
    values: str
    rest: str
    #: sorts by importance
    rank: tuple[float, ...]


@dataclass(frozen=True)
class Row:
    """A contestant; network → its cell."""

    name: str
    cells: Mapping[str, Cell]


@dataclass(frozen=True)
class Matrix:
    """The rows and the networks, those with the most important change first."""

    rows: tuple[Row, ...]
    networks: tuple[str, ...]


@dataclass(frozen=True)
class Changes:
    """Two sides, compared. The earlier side's trials have the later side's names."""

    before: Side
    after: Side
    compared: Compared

    @cached_property
    def players(self) -> dict[str, tuple[str, str]]:
        """Contestant of either side → its stack and CCA, in the later study's order."""
        return self.after.players | self.before.players

    def row(self, subject: Subject) -> str:
        """The matrix's row; with two contestants of one comparison: both."""
        old, new = self.before.label, self.after.label
        return f"{old} → {new}" if old != new else subject.contestant

    @cached_property
    def figures(self) -> list[Figure]:
        """All figures, the most important first; equal ones in the order of the study."""
        names = (*self.players, *self.after.networks, *self.before.networks)
        place = {name: number for number, name in reversed(list(enumerate(names)))}
        subjects = {**self.before.subjects, **self.after.subjects}
        found = [
            Figure(self.row(subject), subject, one)
            for one in self.compared.figures
            if (subject := subjects.get(one.place)) is not None
        ]

        def rank(one: Figure) -> tuple[float, ...]:
            *order, size = one.found.rank
            # two flows share a link: the change of one share is that of the other
            equal = (place.get(name, math.inf) for name in (one.subject.contestant, one.subject.network))
            return (*order, round(size, 6), *equal)

        return sorted(found, key=rank)

    @cached_property
    def packets(self) -> list[Packets]:
        """Every trial of both sides."""
        old, new = self.before.snapshot.packets, self.after.snapshot.packets
        return [self._packets(name, old.get(name), new.get(name, "")) for name in (new | old)]

    def _packets(self, name: str, old: str | None, new: str) -> Packets:
        group = self.after.group(name) or self.before.group(name)
        fate = differences.fate(old, new)
        was_invalid = old is not None and old.startswith(INVALID)
        if fate == "same" and was_invalid:
            return Packets(name, group, None, "invalid before and after", f"before and after {new}")
        if fate == "unknown":
            return Packets(name, group, fate, "only after", "only after")
        if fate == "lost":
            lost = ("invalid before and after" if was_invalid else "invalid after") if new else "only before"
            return Packets(name, group, fate, lost, new or lost)
        # an invalid trial has no packets that count, so there is nothing to compare with
        if was_invalid:
            return Packets(name, group, "unknown", "invalid before", f"before {old}")
        return Packets(name, group, fate)


def answer(changes: Changes) -> str:
    """The one sentence that says what changed."""
    figures, trials = changes.figures, changes.packets
    different = [one for one in figures if one.found.state == matrix.DIFFERENT]
    if different:
        first = different[0]
        share = f"{len(different)} of {counted(len(figures), 'figure')}"
        where = f"{first.found.title} of {first.who} on {first.subject.network}"
        if len(different) == 1:
            return f"{share} is different: {where}, {first.values}."
        return f"{share} are different; the largest: {where}, {first.values}."
    compared = [one for one in trials if not one.is_lost]
    missing = len(trials) - len(compared)
    all_trials = counted(len(trials), "trial")
    rest = f"; {missing} of {all_trials} cannot be compared" if missing else ""
    if compared and all(one.fate == SAME for one in compared):
        if not missing:
            return f"Nothing changed: the packets of all {all_trials} are the same."
        others = f"the other {missing if missing > 1 else 'one'} cannot be compared"
        return f"The packets of {len(compared)} of {all_trials} are the same; {others}."
    if not figures:
        return f"No figure can be compared: the two folders have none in common{rest}."
    if not compared:
        # other seeds, for example
        rest = "; the two folders have no valid trial in common"
    open_ = [one for one in figures if one.found.state == matrix.OPEN]
    gaps = len(changes.compared.gaps)
    lack = f"; {counted(gaps, 'figure')} {'lacks' if gaps == 1 else 'lack'} seeds now" if gaps else ""
    if not open_:
        all_ = f"all {len(figures)} figures are" if len(figures) > 1 else "the only figure is"
        packets = "packets changed, and " if compared else ""
        return f"No figure is different: {packets}{all_} equivalent{lack}{rest}."
    looks = sum(one.found.looks for one in open_)
    verb = "is" if len(open_) == 1 else "are"
    seems = f", and {looks} of them {'looks' if looks == 1 else 'look'} different" if looks else ""
    return f"No figure is different; {len(open_)} of {len(figures)} {verb} inconclusive{seems}{lack}{rest}."


def table(changes: Changes) -> Matrix:
    """The matrix: a row each contestant, a column each network."""
    figures: dict[tuple[str, str], list[Figure]] = defaultdict(list)
    trials: dict[tuple[str, str], list[Packets]] = defaultdict(list)
    for one in changes.figures:
        figures[one.row, one.subject.network].append(one)
    for trial in changes.packets:
        for place in _places(trial, changes):
            trials[place].append(trial)
    names = list(dict.fromkeys(changes.row(Subject("", name)) for name in changes.players))
    networks = list(dict.fromkeys((*changes.after.networks, *changes.before.networks)))
    number = count(1)
    rows = [
        Row(
            name,
            {
                network: cell(f"c{next(number)}", network, figures[name, network], trials[name, network])
                for network in networks
                if figures[name, network] or trials[name, network]
            },
        )
        for name in names
    ]
    rows = [row for row in rows if row.cells]
    first = {
        network: min((row.cells[network].rank for row in rows if network in row.cells), default=_LAST)
        for network in networks
    }
    return Matrix(
        rows=tuple(sorted(rows, key=lambda row: min(one.rank for one in row.cells.values()))),
        networks=tuple(sorted(networks, key=lambda network: first[network])),
    )


def _places(trial: Packets, changes: Changes) -> Iterator[tuple[str, str]]:
    """The cells that a trial belongs to."""
    if trial.group is None or trial.group.is_placebo:
        return
    for name in dict.fromkeys(trial.group.names):
        if name in changes.players:
            yield changes.row(Subject(trial.group.network, name)), trial.group.network


def cell(anchor: str, network: str, figures: Sequence[Figure], trials: Sequence[Packets]) -> Cell:
    """The cell of these figures (the most important first) and trials."""
    state = _state(figures, trials)
    shown = [one for one in figures if one.found.state == state]
    first = shown[0] if state in (matrix.DIFFERENT, matrix.OPEN) else None
    size = first.found.rank[-1] if first else 0.0
    return Cell(
        anchor=anchor,
        network=network,
        state=state,
        change=first.found.title if first else "",
        values=first.values if first else "",
        rest=_rest(state, len(shown), len(figures), trials),
        # what looks different comes before what does not
        rank=(_ORDER.index(state), *(first.found.rank[:2] if first else (0, 0)), size),
    )


def _state(figures: Iterable[Figure], trials: Sequence[Packets]) -> str:
    states = {one.found.state for one in figures}
    if matrix.DIFFERENT in states:
        return matrix.DIFFERENT
    # a trial that is invalid on both sides is in no figure
    if {one.fate for one in trials} - {None} == {SAME}:
        return SAME
    return next((state for state in GLYPHS if state in states), "")


def _rest(state: str, shown: int, figures: int, trials: Sequence[Packets]) -> str:
    """What a cell says besides its most important figure."""
    lost = sum(one.is_lost for one in trials)
    without = f"; {lost} of {counted(len(trials), 'trial')} not compared" if lost else ""
    if state == SAME:
        return f"same packets in {counted(sum(one.fate == SAME for one in trials), 'trial')}{without}"
    if not state:
        return f"no figure can be compared{without}"
    if state == matrix.EQUIVALENT:
        packets = ", other packets" if any(one.fate == "changed" for one in trials) else ""
        return f"{counted(figures, 'figure')} equivalent{packets}{without}"
    return f"{shown} of {counted(figures, 'figure')} {state}{without}"


@dataclass(frozen=True)
class Card:
    """A figure that is different; ``also`` are other networks where it is different for this contestant."""

    figure: Figure
    also: tuple[str, ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """How sure the change is, and where else it is seen."""
        return sure(self.figure.found), f"Also on {', '.join(self.also)}" if self.also else ""


def largest(figures: Sequence[Figure]) -> list[Card]:
    """The cards: the largest different figures, each contestant's quantity once."""
    different = [one for one in figures if one.found.state == matrix.DIFFERENT]
    # one of two shares of a link says both
    shares = {(one.subject.network, one.found.name, _pair(one)): one for one in reversed(different)}
    kept = [one for one in different if shares[one.subject.network, one.found.name, _pair(one)] is one]
    networks: dict[tuple[str, str], list[Figure]] = defaultdict(list)
    for one in kept:
        networks[one.row, one.found.name].append(one)
    return [Card(first, _others(first, rest)) for first, *rest in networks.values()][: cards.MOST]


def _others(first: Figure, rest: Sequence[Figure]) -> tuple[str, ...]:
    """The networks of ``rest`` besides that of ``first``."""
    named = (one.subject.network for one in rest if one.subject.network != first.subject.network)
    return tuple(dict.fromkeys(named))


def _pair(one: Figure) -> frozenset[str | None]:
    return frozenset((one.subject.contestant, one.subject.against))


def sure(one: Difference) -> str:
    """How sure a change is: its interval, margin, p and seeds."""
    parts = [f"Change {change(one)}", f"margin {_size(one, one.margin)}"] if one.change is not None else []
    if one.p_holm is not None:
        parts.append(layout.p_words(one.p_holm))
    elif one.change is None:
        parts.append("Another kind")
    elif one.low == one.high:
        parts.append("the same change in every seed")
    return ", ".join([*parts, *filter(None, [behind(one)])])


def behind(one: Difference) -> str:
    """What is behind a comparison: ``5 seeds``; of a parameter ``1 trial``; empty without any."""
    return counted(one.seeds, "trial" if _is_parameter(one) else "seed") if one.seeds else ""


def change(one: Difference) -> str:
    """``−6.4 Mbps [−6.6, −6.3]``; ``× 0.71 [0.62, 0.80]`` for a ratio; empty without one."""
    if one.change is None:
        return ""
    between = one.low is not None and one.high is not None and one.low != one.high
    interval = f" [{_signed(one, one.low)}, {_signed(one, one.high)}]" if between else ""
    unit = f" {one.unit_of_change}" if one.unit else ""
    return f"{'× ' if one.ratio else ''}{_signed(one, one.change)}{unit}{interval}"


def _signed(one: Difference, value: float | None) -> str:
    if value is None:
        return ""
    if one.ratio:
        return f"{math.exp(value):.3g}"
    # far below the margin the digits are those of rounding
    is_nothing = abs(value) <= _LEAST_PART * (one.margin or 0.0)
    return "0" if is_nothing else f"{value:+.3g}".replace("-", "−")


def _size(one: Difference, value: float | None) -> str:
    """A margin: ``0.5 Mbps``, or ``× 1.25`` of a ratio."""
    if value is None:
        return ""
    unit = f" {one.unit_of_change}" if one.unit else ""
    return f"× {math.exp(value):.3g}" if one.ratio else f"{value:.3g}{unit}"


def margin(one: Difference) -> str:
    """The margin with its unit; empty without one."""
    return _size(one, one.margin)


def _is_parameter(one: Difference) -> bool:
    return one.name in PARAMETERS
