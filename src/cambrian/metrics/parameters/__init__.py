"""Parameters of a congestion controller, estimated from traces alone; each file has one estimator.

Files with ``estimate(trace)`` are found automatically. It takes a
:class:`~cambrian.metrics.parameters.flow_trace.FlowTrace` and yields
:class:`~cambrian.metrics.parameters.estimate.Estimate` and
:class:`~cambrian.metrics.parameters.estimate.Missing`; their parameters are defined in
:mod:`~cambrian.metrics.parameters.definitions`.
"""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType

from cambrian.metrics.parameters.estimate import Estimate, Missing
from cambrian.metrics.parameters.flow_trace import FlowTrace


def kinds() -> list[ModuleType]:
    """The modules of this package that estimate something, by name."""
    names = sorted(found.name for found in pkgutil.iter_modules(__path__))
    modules = [importlib.import_module(f"{__name__}.{name}") for name in names]
    return [module for module in modules if hasattr(module, "estimate")]


def estimate_all(trace: FlowTrace) -> list[Estimate | Missing]:
    """All estimates of one flow of one trial, by all estimators."""
    return [found for kind in kinds() for found in kind.estimate(trace)]
