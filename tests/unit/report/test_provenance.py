"""What a page says of its networks."""

from __future__ import annotations

from typing import Any

import pytest

from cambrian.report import provenance
from tests.unit.report import made


@pytest.mark.parametrize(
    ("loss", "said"),
    [
        ({}, "none"),
        ({"loss_percent": 1}, "1 % at random"),
        ({"loss_every_packets": 2}, "exactly one of every 2 packets of each sender"),
        ({"return_loss_percent": 3}, "ACK path 3 % at random"),
    ],
)
def test_only_random_loss_is_called_random(loss: dict[str, Any], said: str) -> None:
    """A section began "random loss exactly every 1,500th packet"."""
    network = made.NETWORK.model_copy(update=loss)
    found = made.collected("solo", [made.cell("solo", ["x"], [made.trial(1, [9.0])], network)])
    assert provenance.networks(found)[0].loss == said
