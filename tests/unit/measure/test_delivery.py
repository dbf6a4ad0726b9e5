"""A receiver's reports of what it got."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from cambrian.measure import recovery


def test_a_report_without_a_time_or_a_number_is_left_out(tmp_path: Path) -> None:
    log = tmp_path / "flow0.receiver.out"
    log.write_text(
        '{"event": "progress", "time_ns": 105, "bytes": 7}\n'
        '{"event": "progress", "time_ns": 106, "bytes": null}\n'
        '{"event": "progress", "bytes": 9}\n'
    )
    result: Any = SimpleNamespace(log=lambda name: log)
    found = recovery._delivery(result, 0, {"zero_ns": 100, "end_ns": 50}, 0)
    assert found is not None
    assert found.time_ns.tolist() == [5]
