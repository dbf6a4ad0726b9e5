"""What a finding card says of its interval."""

from __future__ import annotations

import pytest

from cambrian.report import cards


@pytest.mark.parametrize(
    ("low", "high", "null", "shown"),
    [
        (5.1, 24.9, 0.0, "15.0 [5.1, 24.9]"),
        (0.3, 24.3, 0.0, "12.3 [0.3, 24.3]"),
        (-24.3, -0.3, 0.0, "−12.3 [−24.3, −0.3]"),
        (0.03, 2.43, 0.0, "1.23 [0.03, 2.43]"),
        (0.00004, 0.026, 0.0, "0.01302 [0.00004, 0.02600]"),
        (50.3, 73.7, 50.0, "62.0 [50.3, 73.7]"),
        (52.3, 73.7, 50.0, "63 [52, 74]"),
    ],
)
def test_a_certain_difference_does_not_touch_none_as_printed(
    low: float, high: float, null: float, shown: str
) -> None:
    row = {"x": (low + high) / 2, "x_low": low, "x_high": high, "seeds": 5}
    assert cards._sure("Share", row, "x", " %", 0.04, null=null).startswith(f"Share {shown} %, 5 seeds")
