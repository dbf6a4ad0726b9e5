"""Who holds which core."""

from __future__ import annotations

from pathlib import Path

import pytest

from cambrian import paths
from cambrian.run import cores


def test_two_runs_hold_different_cores(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(cores, "cores", lambda: [0, 2, 5])
    monkeypatch.setattr(paths, "cache", lambda: tmp_path)
    one, other = cores.hold(1), cores.hold(5)
    assert one.cores == (0,)
    assert other.cores == (2, 5)
    assert cores.hold(1).cores == ()
    one.release()
    assert cores.hold(2).cores == (0,)
