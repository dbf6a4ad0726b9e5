"""What must hold: one small file for each property, or for properties of one kind.

Each file has ``PROPERTIES``. A property is broken if all seeds break it and kernel TCP with the same
algorithm keeps it in the same situation. So a property is about what a network allows, never about taste.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from cambrian.hunt.situation import Situation
from cambrian.measure.figures import Figures


def _only(situation: Situation) -> tuple[Situation, ...]:
    return (situation,)


@dataclass(frozen=True)
class Property:
    """One property.

    ``says``: what must hold, in a sentence. ``source``: where that comes from. ``applies``: the situations in
    which it must hold. ``variants``: the networks that are run, by default the situation alone. ``excess``:
    from the figures of one seed on each network, how far it is broken: above 0 is broken, 1 is far beyond.
    ``shows``: what was measured, in words. ``rival``: the contestant runs beside kernel TCP.
    """

    name: str
    says: str
    source: str
    applies: Callable[[Situation], bool]
    excess: Callable[[Sequence[Figures], Situation], float]
    shows: Callable[[Sequence[Figures], Situation], str]
    variants: Callable[[Situation], tuple[Situation, ...]] = _only
    rival: bool = False


@cache
def all_properties() -> dict[str, Property]:
    """Name → property, in the order of the files' names."""
    modules = sorted(found.name for found in pkgutil.iter_modules(__path__))
    found = (importlib.import_module(f"{__name__}.{name}").PROPERTIES for name in modules)
    return {one.name: one for several in found for one in several}
