"""Drawings of state machines: each contestant's, with its reference's below."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import altair as alt
import polars as pl

from cambrian.metrics.states.pooled import Pooled, pooled
from cambrian.metrics.states.vocabulary import words
from cambrian.metrics.states.wording import percent
from cambrian.report import machine_pairs
from cambrian.report.collect import Cell, Collected
from cambrian.report.figures import colours
from cambrian.report.figures.figure import Figure, Panel, inline
from cambrian.report.figures.machine_graph import HEIGHT, graph, often, reach

#: height of a machine's name above it, in units of the machine's height
_HEAD = 0.14
_TEXT_PX = 10

_CAPTION = (
    "Discs: share of the time in each state. Ribbons: transitions, from the broad to the pointed end; "
    "numbers: transitions per trial. Means over trials; the contestant above, kernel TCP with the same CCA "
    "below. An inferred machine comes from the window, by the rules in docs/reference/metrics.md. A stack "
    "that exports neither states nor a window has no machine."
)
#: a contestant's name, its colour and its machine
_Arm = tuple[str, str, Pooled]


def figures(collected: Collected) -> Iterator[Figure]:
    """Designs ``solo`` and ``versus-reference``: a figure for each network, a panel for each contestant."""
    if collected.design not in ("solo", "versus-reference"):
        return
    palette = colours.palette(collected)
    for network in collected.networks:
        drawn = list(_arms(collected.on(network), collected, palette))
        if not drawn:
            continue
        machines = [machine for _, arms in drawn for *_, machine in arms]
        scene = _Scene.holding(machines, max(len(arms) for _, arms in drawn))
        yield Figure(
            name=f"states-{network.name}",
            network=network.name,
            heading="State machines",
            caption=_CAPTION,
            panels=tuple(
                Panel(
                    _chart(cell, arms, scene), _alt(network.name, arms), cell.key, data=_of_arms(cell, arms)
                )
                for cell, arms in drawn
            ),
            data=pl.concat([_of_arms(cell, arms) for cell, arms in drawn]),
            height=scene.height,
        )


@dataclass(frozen=True)
class _Scene:
    """Shared by all panels of a figure: y range of a machine, transitions of the broadest ribbon."""

    low: float
    high: float
    most: float
    arms: int

    @classmethod
    def holding(cls, machines: Sequence[Pooled], arms: int) -> _Scene:
        counts = [count for machine in machines for count in often(machine).values()]
        return cls(*reach(machines), max(counts, default=1.0), arms)

    @property
    def step(self) -> float:
        """Distance from one machine down to the next."""
        return self.high - self.low + _HEAD

    @property
    def lowest(self) -> float:
        return self.low - (self.arms - 1) * self.step

    @property
    def height(self) -> int:
        """Pixels."""
        return round(HEIGHT * self.arms * self.step)


def _arms(
    cells: Sequence[Cell], collected: Collected, palette: dict[str, str]
) -> Iterator[tuple[Cell, list[_Arm]]]:
    """Each group with flow 0's machine and its reference's. A reference that is compared has no own panel."""
    references = {cell.key: machine_pairs.reference_of(cell, collected) for cell in cells}
    beside = {one.key for one in references.values() if one is not None}
    for cell in cells:
        machines = machine_pairs.arm(cell)
        if not machines or cell.key in beside:
            continue
        arms = [(cell.subject, palette[cell.subject], pooled(list(machines.values())))]
        reference = references[cell.key]
        if reference is not None and (others := machine_pairs.arm(reference)):
            arms.append((reference.subject, colours.GREY, pooled(list(others.values()))))
        yield cell, arms


def _chart(cell: Cell, arms: Sequence[_Arm], scene: _Scene) -> alt.TopLevelMixin:
    lifts = [-scene.step * number for number in range(len(arms))]
    graphs = [graph(one, lift=lift, most=scene.most) for lift, (*_, one) in zip(lifts, arms, strict=True)]
    inks = [pl.lit(ink).alias("ink") for _, ink, _ in arms]

    def joined(frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
        return pl.concat([frame.with_columns(ink) for frame, ink in zip(frames, inks, strict=True)])

    heads = pl.DataFrame(
        {
            "x": 0.0,
            "y": [lift + scene.high + _HEAD / 2 for lift in lifts],
            "label": [f"{name}: {one.source}" for name, _, one in arms],
        }
    )
    ribbons = joined([one.ribbons.with_columns(arm=pl.lit(n)) for n, one in enumerate(graphs)])
    ink = alt.Color("ink:N", scale=None)
    layers = [
        _at(ribbons.with_columns(id=pl.format("{}-{}", "arm", "ribbon")).drop("arm", "ribbon"), scene)
        .mark_trail(opacity=0.55)
        .encode(
            size=alt.Size("breadth:Q", scale=None),
            order=alt.Order("point:Q"),
            detail=alt.Detail("id:N"),
            color=ink,
        ),
        _at(joined([one.discs for one in graphs]).drop("label"), scene)
        .mark_circle(opacity=1)
        .encode(size=alt.Size("area:Q", scale=None), color=ink, tooltip=alt.Tooltip("hint:N", title="State")),
        _at(joined([one.rates for one in graphs]).drop("ink"), scene)
        .mark_text(fontSize=_TEXT_PX - 1, fontStyle="italic")
        .encode(text=alt.Text("label:N")),
        _at(joined([one.discs for one in graphs]).drop("ink", "hint"), scene)
        .mark_text(
            fontSize=_TEXT_PX,
            lineBreak="|",
            baseline="top",
            dy=alt.ExprRef("sqrt(datum.area / PI) + 3"),
        )
        .encode(text=alt.Text("label:N")),
        _at(heads, scene)
        .mark_text(fontSize=_TEXT_PX + 1, fontWeight=600, align="left")
        .encode(text=alt.Text("label:N")),
    ]
    return alt.layer(*layers).properties(height=scene.height, title=cell.title)


def _at(frame: pl.DataFrame, scene: _Scene) -> alt.Chart:
    """A layer whose rows have a place in the panel."""
    texts = {name: "string" for name, kind in frame.schema.items() if kind == pl.String}
    return alt.Chart(inline(frame, **texts)).encode(
        x=alt.X("x:Q", axis=None, scale=alt.Scale(domain=[0, 1], nice=False)),
        y=alt.Y(
            "y:Q",
            axis=None,
            scale=alt.Scale(domain=[scene.lowest, scene.high + _HEAD], nice=False, zero=False),
        ),
    )


def _alt(network: str, arms: Sequence[_Arm]) -> str:
    parts = []
    for name, _, machine in arms:
        shares = ", ".join(f"{words(one.state)} {percent(one.share.estimate)}" for one in machine.states)
        parts.append(f"{name} ({machine.source}): {shares}, {len(machine.transitions)} kinds of transition.")
    return f"State machine, {network}. {' '.join(parts)}"


def _of_arms(cell: Cell, arms: Sequence[_Arm]) -> pl.DataFrame:
    return pl.concat([_data(cell, arm) for arm in arms])


def _data(cell: Cell, arm: _Arm) -> pl.DataFrame:
    """States (``to_state`` null) and transitions of one machine."""
    name, _, machine = arm
    rows = [
        {"state": one.state, "to_state": None, "share_percent": 100 * one.share.estimate}
        for one in machine.states
    ]
    ways = [
        {
            "state": rate.transition[0],
            "to_state": rate.transition[1],
            "count": rate.count,
            "per_s": rate.per_s,
        }
        for rate in machine.transitions
    ]
    frame = pl.DataFrame([*rows, *ways], schema=_DATA)
    place = {"group": cell.key, "contestant": name, "source": machine.source, "trials": machine.trials}
    return frame.select(*(pl.lit(value).alias(key) for key, value in place.items()), pl.all())


_DATA = {
    "state": pl.String,
    "to_state": pl.String,
    "share_percent": pl.Float64,
    "count": pl.Int64,
    "per_s": pl.Float64,
}
