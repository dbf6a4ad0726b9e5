"""What a network's configuration says of its path."""

from __future__ import annotations

from typing import Any

import pytest

from cambrian.judging.flow_traces import changing, is_steady
from cambrian.study.model import Change, Network


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, ""),
        ({"loss_percent": 1}, ""),
        ({"rate_mbps": None, "trace_file": "saw.trace"}, "the link's rate follows a trace"),
        ({"schedule": (Change(at_s=1, rate_mbps=5),)}, "the link's rate changes"),
        ({"schedule": (Change(at_s=1, rtt_ms=20),)}, "the path's delay changes"),
        ({"jitter_ms": 2}, "the path's delay changes"),
        ({"reorder_percent": 1}, "the path reorders packets"),
        (
            {"duplicate_percent": 1, "schedule": (Change(at_s=1, rate_mbps=5),)},
            "the link's rate changes and the path duplicates packets",
        ),
    ],
)
def test_only_what_is_true_of_the_path_is_said(settings: dict[str, Any], said: str) -> None:
    network = Network(**({"rate_mbps": 10, "rtt_ms": 50, "buffer_bdp": 1} | settings))
    assert changing(network) == said
    assert is_steady(network) == (not said)
