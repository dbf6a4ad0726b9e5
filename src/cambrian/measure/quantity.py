"""The type of a quantity: one row of the registry (:mod:`cambrian.measure.quantities`)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

if TYPE_CHECKING:
    from cambrian.measure.flow_window import FlowWindow
    from cambrian.measure.trial import TrialMeasures

Level = Literal["study", "network", "flow", "trial"]
#: of whom a quantity is, in words
LEVELS: dict[Level, str] = {
    "study": "the study",
    "network": "the network",
    "flow": "the flow",
    "trial": "the trial",
}
#: a name's ending → its unit; the longest endings first
_UNITS = {
    "_packets_per_s": "packets/s",
    "_rises_per_s": "1/s",
    "_percent": "%",
    "_packets": "packets",
    "_bytes": "bytes",
    "_mbps": "Mbps",
    "_bdp": "BDP",
    "_ms": "ms",
    "_us": "µs",
    "_s": "s",
}
FLOAT, INTEGER, TEXT, TRUTH = pl.Float64(), pl.Int64(), pl.String(), pl.Boolean()


@dataclass(frozen=True)
class Quantity:
    """One column of the observations, with its unit at the name's end.

    ``meaning`` is one line; ``formula`` names the section of docs/reference/metrics.md that defines it.
    ``heading`` and ``digits`` are for pages.

    ``window`` takes the figure from a flow's own packets and traces, once per trial. ``trial`` computes it
    from a measured trial (with the former, if there are both). A quantity with neither is a
    fact of the study, which the report fills in.

    ``ends``: the least and the largest possible value in a trial of so many flows. They decide the scale of
    an interval. Nothing that is counted or measured is below 0, unless it is a difference.

    ``of_complete``: only transfers and page loads that were complete at the trial's end have it, the fastest
    ones. So a group in which another one was not has no mean (column ``not_complete``).
    """

    name: str
    meaning: str
    dtype: pl.DataType = FLOAT
    level: Level = "flow"
    heading: str = ""
    digits: int = 1
    formula: str = ""
    window: Callable[[FlowWindow], Any] | None = None
    trial: Callable[[TrialMeasures, int], Any] | None = None
    ends: Callable[[int], tuple[float, float]] = lambda _: (0.0, math.inf)
    of_complete: bool = False

    @property
    def unit(self) -> str:
        """The unit by the name's ending; empty for a count, an index or a word."""
        return next((unit for ending, unit in _UNITS.items() if self.name.endswith(ending)), "")

    def value(self, trial: TrialMeasures, number: int) -> Any:
        """The figure of one flow of a measured trial; None if it has none."""
        if self.trial is not None:
            return self.trial(trial, number)
        return trial.flows[number][self.name] if self.window is not None else None


def percent(share: float | None) -> float | None:
    """A share in [0, 1] as percent; None for NaN and None."""
    return None if share is None else finite(100 * share)


def of_hundred(flows: int) -> tuple[float, float]:
    """The ends of a part of a whole, in percent."""
    del flows
    return 0.0, 100.0


def of_difference(flows: int) -> tuple[float, float]:
    """The ends of a difference of two figures."""
    del flows
    return -math.inf, math.inf


def finite(value: float | None) -> float | None:
    """``value``; None for NaN and infinities."""
    return value if value is not None and math.isfinite(value) else None
