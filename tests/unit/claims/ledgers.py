"""A small ledger, and observations that judge it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from cambrian.claims.model import Claim, ClaimTest
from tests.unit.effects.frames import frame

TEST: dict[str, Any] = {
    "says": "a over b",
    "part": "suite/part",
    "quantity": "x",
    "cell": ["rate"],
    "a": {"contestant": "a"},
    "b": {"contestant": "b"},
    "expect": {"above": 1},
    "unit": "×",
}


def ratio(value: float, seeds: int = 3) -> pl.DataFrame:
    """Two cells in which a is ``value`` times b, give or take 1 %."""
    spread = [0.99, 1.0, 1.01, 1.0, 0.99][:seeds]
    return frame(
        [
            ({"rate": rate}, side, [level * rate * one for one in order])
            for rate in (4.0, 8.0)
            for side, level, order in (("a", value, spread), ("b", 1.0, spread[::-1]))
        ]
    )


def claim_test(**keys: Any) -> ClaimTest:
    """The test above, with other keys."""
    return ClaimTest.model_validate({**TEST, **keys})


def claim(*tests: ClaimTest, **keys: Any) -> Claim:
    """A claim that these tests judge."""
    base = {"id": "paper-claim", "paper": "paper", "text": "A is above b.", "source": "p. 1", "figure": "2"}
    return Claim.model_validate({**base, **keys, "test": tests})


class Folder:
    """Frames by part, as a results folder has them."""

    def __init__(self, parts: Mapping[str, pl.DataFrame]) -> None:
        self.parts = parts

    def frame(self, part: str, table: str = "observations") -> pl.DataFrame | None:
        """The part's observations."""
        assert table == "observations"
        return self.parts.get(part)
