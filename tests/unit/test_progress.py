"""Progress of long steps, where standard error is no terminal."""

import io

import pytest
from rich.console import Console

from cambrian import progress


@pytest.mark.parametrize(
    ("done", "line"),
    [(5, "50% after 0:00, about 0:00 left"), (11, "still at work after 0:00, longer than expected")],
)
def test_a_step_beyond_its_estimate_gives_no_eta(
    done: float, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "PLAIN_INTERVAL_S", 0.0)
    shown = io.StringIO()
    with progress.step("build x", total=10, console=Console(file=shown)) as step:
        step.reach(done)
    assert f"build x: {line}" in shown.getvalue()
