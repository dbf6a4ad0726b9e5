"""A paper's folder and an observations frame whose figures are known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

TABLE = """\
rate,delay,who,mbps,sd,runs,faster,most,source
4,25,q,3.9,0.1,5,yes,4,"Table 1, row 1"
4,25,t,3.0,,,no,5,"Table 1, row 2"
8,25,q,7.0,0.2,9,yes,,"Table 1, row 3"
8,,t,2.0,0.5,2,,,"Table 1, row 4"
"""

HEAD = """\
[[comparison]]
name = "alone"
title = "One flow alone"
source = "Table 1"
files = ["table.csv"]
match = { rate = "rate_mbps", delay = "rtt_ms" }
unit = "Mbps"
"""

SIDES = """
side_column = "who"
[comparison.sides]
q = { contestant = "quic" }
t = { contestant = "tcp" }
"""

MEASURED = """
[comparison.measured]
part = "made/grid"
quantity = "throughput_mbps"
"""


def paper(folder: Path, comparisons: str, table: str = TABLE) -> Path:
    """A folder with comparisons.toml and its table."""
    (folder / "table.csv").write_text(table)
    (folder / "comparisons.toml").write_text(comparisons)
    return folder


def observations(rows: list[tuple[str, float, float, list[float]]], **more: Any) -> pl.DataFrame:
    """``rows`` are contestant, rate, RTT and each seed's throughput."""
    found = [
        {
            "trial": f"{who}-{rate}-{rtt}-{seed}",
            "seed": seed,
            "contestant": who,
            "stack": "tcp" if who == "tcp" else "other",
            "flows": 1,
            "rate_mbps": rate,
            "rtt_ms": rtt,
            "loss_percent": 1.0,
            "throughput_mbps": mbps,
            **more,
        }
        for who, rate, rtt, figures in rows
        for seed, mbps in enumerate(figures, 1)
    ]
    return pl.DataFrame(found)
