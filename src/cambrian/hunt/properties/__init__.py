"""What must hold: one small file for each property, or for properties of one kind.

Each file has ``PROPERTIES``. A property is broken if all seeds break it and kernel TCP with the same
algorithm keeps it, with room, in the same situation. So a property is about what a network allows, never
about taste.
"""

from __future__ import annotations

import importlib
import math
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from cambrian.hunt.situation import Situation
from cambrian.measure.figures import Figures

#: a figure of one trial; None where the trial does not show it
Figure = Callable[[Figures, Situation], float | None]


def mbps(one: Figures) -> float:
    """The contestant's throughput, 0 if it has none."""
    return float(one.value("throughput_mbps") or 0.0)


def _only(situation: Situation) -> tuple[Situation, ...]:
    return (situation,)


@dataclass(frozen=True)
class Property:
    """One property.

    ``says``: what must hold, in a sentence. ``source``: where that comes from. ``applies``: the situations in
    which it must hold. ``variants``: the networks that are run, by default the situation alone. ``excess``:
    from the figures of one seed on each network, how far it is broken: above 0 is broken, 1 is far beyond,
    NaN if the trials do not show it. ``shows``: what was measured, in words. ``families``: algorithms of
    kernel TCP that it holds for; all if empty. ``beside_kernel``: it is about the kernel's controller of the
    same algorithm, so it says nothing about a generation that the kernel lacks. ``with_kernel``: the figures
    of a seed are the contestant's and then those of kernel TCP in its place, on each network.
    """

    name: str
    says: str
    source: str
    applies: Callable[[Situation], bool]
    excess: Callable[[Sequence[Figures], Situation], float]
    shows: Callable[[Sequence[Figures], Situation], str]
    variants: Callable[[Situation], tuple[Situation, ...]] = _only
    families: tuple[str, ...] = ()
    beside_kernel: bool = False
    with_kernel: bool = False

    @property
    def is_relation(self) -> bool:
        """Does it compare two networks?"""
        return len(self.variants(Situation())) > 1


def bounded(
    name: str,
    *,
    says: str,
    source: str,
    applies: Callable[[Situation], bool],
    figure: Figure,
    shows: str,
    least: float | None = None,
    most: float | Callable[[Situation], float] | None = None,
    families: tuple[str, ...] = (),
    beside_kernel: bool = False,
) -> Property:
    """A property of one figure with a bound: give ``least`` or ``most``.

    ``says`` and ``shows`` may name the bound as ``{least}`` or ``{most}``; ``shows`` names the figure as
    ``{value:.0f}`` and the situation's bound as ``{bound:.0f}``.
    """

    def bound(situation: Situation) -> float:
        if least is not None:
            return least
        return most(situation) if callable(most) else float(most or 0.0)

    def excess(trials: Sequence[Figures], situation: Situation) -> float:
        value = figure(trials[0], situation)
        if value is None:
            return math.nan
        part = value / bound(situation)
        return 1 - part if least is not None else part - 1

    def words(trials: Sequence[Figures], situation: Situation) -> str:
        value = figure(trials[0], situation)
        if value is None:
            return "the trial does not show it"
        return shows.format(value=value, bound=bound(situation))

    text = says.format(least=least, most=None if callable(most) else most)
    return Property(
        name, text, source, applies, excess, words, families=families, beside_kernel=beside_kernel
    )


@cache
def all_properties() -> dict[str, Property]:
    """Name → property, in the order of the files' names."""
    modules = sorted(found.name for found in pkgutil.iter_modules(__path__))
    found = (importlib.import_module(f"{__name__}.{name}").PROPERTIES for name in modules)
    return {one.name: one for several in found for one in several}
