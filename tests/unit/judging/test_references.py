"""The tolerances are as small as their comment says."""

from __future__ import annotations

import re
import tomllib

import pytest

from tests.unit.docs.pages import ROOT

TEXT = (ROOT / "src/cambrian/judging/references.toml").read_text(encoding="utf-8")
VALUES = tomllib.loads(TEXT)


def _cubic(beta: float, c: float) -> float:
    """Mean window up to a factor: RFC 9438, section 5.1."""
    return float((c * (3 + beta) / (1 - beta)) ** 0.25)


def _aimd(alpha: float, beta: float) -> float:
    return float((alpha * (1 + beta) / (1 - beta)) ** 0.5)


@pytest.mark.parametrize(
    ("family", "parameter", "window"),
    [
        ("cubic", "beta", lambda beta: _cubic(beta, 0.4)),
        ("cubic", "cubic_c", lambda c: _cubic(0.7, c)),
        ("cubic", "alpha", lambda alpha: _aimd(alpha, 0.7)),
        ("reno", "beta", lambda beta: _aimd(1.0, beta)),
        ("reno", "alpha", lambda alpha: _aimd(alpha, 0.5)),
    ],
)
def test_a_tolerance_hardly_changes_the_mean_window(family: str, parameter: str, window) -> None:  # type: ignore[no-untyped-def]
    said = re.search(r"each change the mean window by ([\d.]+) % or less", TEXT)
    assert said
    one = VALUES[family][parameter]
    for end in (one["value"] - one["tolerance"], one["value"] + one["tolerance"]):
        assert 100 * abs(window(end) / window(one["value"]) - 1) <= float(said[1])
