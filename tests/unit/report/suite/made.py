"""Evidence whose figures are known, and a suite of one part that shows it."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from cambrian.report.suite.build import Subject
from cambrian.study.toml_file import TomlFile

#: contestant → payload Mbps by loss; the seeds lie around it
FIGURES = {"quic": {0.0: 3.9, 1.0: 3.5, 2.0: 1.5}, "tcp": {0.0: 3.8, 1.0: 1.4, 2.0: 1.0}}
SPREAD = (-0.02, 0.0, 0.01, 0.01)


def observations(rate_mbps: float = 4.0, rtt_ms: float = 100.0) -> pl.DataFrame:
    """Lone flows, four seeds a cell."""
    return pl.DataFrame(
        [
            {
                "trial": f"{who}-{loss}-{seed}",
                "seed": seed,
                "contestant": who,
                "stack": "tcp" if who == "tcp" else "quinn",
                "cca": "cubic",
                "flows": 1,
                "rate_mbps": rate_mbps,
                "rtt_ms": rtt_ms,
                "loss_percent": loss,
                "payload_mbps": mean + SPREAD[seed - 1] * (2 if who == "tcp" else 1),
                "plt_ms": None,
            }
            for who, by_loss in FIGURES.items()
            for loss, mean in by_loss.items()
            for seed in range(1, 5)
        ],
        schema_overrides={"plt_ms": pl.Float64},
    )


class Frames:
    """One part was run, the others weren't."""

    def __init__(self, frame: pl.DataFrame | None = None) -> None:
        self._frame = observations() if frame is None else frame

    def frame(self, part: str, table: str = "observations") -> pl.DataFrame | None:
        return self._frame if (part, table) == ("made/grid", "observations") else None


def subject(folder: Path) -> Subject:
    return Subject("made", folder / "suite.toml", None, "quick", {"made": {}})


def section(folder: Path, text: str) -> TomlFile:
    """A suite.toml whose section's keys begin in line 3."""
    path = folder / "suite.toml"
    path.write_text(f'[[section]]\nheading = "What was found"\n{text}')
    return TomlFile(path, "docs/reference/suites.md")


HEAT = """
[section.heat]
part = "made/grid"
quantity = "payload_mbps"
a = { contestant = "quic" }
b = { contestant = "tcp" }
effect = "ratio"
title = "QUIC / TCP"
x = "loss_percent"
y = "rate_mbps"
"""

LINES = """
[section.lines]
part = "made/grid"
quantity = "payload_mbps"
title = "Payload throughput (Mbps)"
x = "loss_percent"
colour = "contestant"
panel = "rtt_ms"
"""
