"""The self-test: can this installation be trusted?

Each module measures one thing with real trials and returns :class:`~cambrian.selftest.check.Check`
rows: ``link`` (RTT, rate, buffer, loss as configured), ``determinism`` (the same bytes
whatever the machine does), ``controllers`` (a flow runs the CCA that it was asked for),
``theory`` (kernel Reno and CUBIC against their formulas), ``clocks`` (virtual against real).
"""

from __future__ import annotations

from cambrian.selftest.runner import run

__all__ = ["run"]
