"""Charts, one kind in each file. A file with ``ORDER`` and ``figures(collected)`` is found automatically."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from types import ModuleType

from cambrian.report.collect import Collected
from cambrian.report.figures.figure import Figure


def kinds() -> list[ModuleType]:
    """The modules of this package that draw figures, in the order of the page."""
    names = [found.name for found in pkgutil.iter_modules(__path__)]
    modules = [importlib.import_module(f"{__name__}.{name}") for name in names]
    return sorted(
        (module for module in modules if hasattr(module, "figures")), key=lambda module: module.ORDER
    )


def all_figures(collected: Collected) -> Iterator[Figure]:
    """Every figure that this study has, network by network within each kind."""
    for module in kinds():
        yield from module.figures(collected)
