"""The self-test measures whether this installation can be trusted.

Each module measures one property with real trials and returns :class:`~cambrian.selftest.check.Check`
rows: ``link`` (RTT, rate, buffer, loss as configured), ``determinism`` (the same bytes under
any load), ``shipped`` (the packets of other machines), ``controllers`` (a flow runs the requested CCA),
``theory`` (kernel Reno and CUBIC against their formulas), ``clocks`` (virtual against real).
"""

from __future__ import annotations

from cambrian.selftest.runner import PARTS, run, update_hashes

__all__ = ["PARTS", "run", "update_hashes"]
