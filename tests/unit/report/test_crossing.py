"""A crossover table's words."""

from __future__ import annotations

import polars as pl

from cambrian.report.sections import Table, every
from cambrian.report.suite import tables
from cambrian.report.suite.sections import Crossover

SPEC = Crossover.model_validate(
    {
        "part": "p",
        "quantity": "x",
        "cell": ["rate_mbps"],
        "a": {"side": "quic"},
        "b": {"side": "tcp"},
        "along": "loss_percent",
        "title": "Ahead from",
    }
)


def made(rate_mbps: float, at: dict[float, float], tcp: float = 1.0) -> list[dict[str, object]]:
    """Three seeds of (loss → QUIC's figure)."""
    return [
        {"trial": f"{rate_mbps}/{loss}/{side}/{seed}", "seed": seed, "rate_mbps": rate_mbps,
         "loss_percent": loss, "side": side, "x": quic if side == "quic" else tcp}
        for loss, quic in at.items()
        for side in ("quic", "tcp")
        for seed in (1, 2, 3)
    ]  # fmt: skip


def test_each_row_says_from_where_on_and_of_how_many_values() -> None:
    frame = pl.DataFrame(
        made(5.0, {0.0: 0.9, 1.0: 1.2, 2.5: 1.3})
        + made(20.0, {0.0: 1.1, 1.0: 1.2})
        + made(100.0, {0.0: 1.1, 1.0: 0.9})
        # a ratio to 0 is no effect
        + made(200.0, {0.0: 1.1, 1.0: 0.9}, tcp=0.0)
    )
    (table,) = every(Table, tables.crossovers(frame, SPEC, "name", {}))
    shown = table.shown
    assert shown.headings == ("Rate (Mbps)", "Ahead from", "95 %", "Measured")
    assert shown.rows == (
        ("5", "1", "1", "3 from 0 to 2.5"),
        ("20", "0 (smallest)", "0", "2 from 0 to 1"),
        ("100", "never", "never", "2 from 0 to 1"),
        ("200", "–", "–", "none has an effect"),
    )
