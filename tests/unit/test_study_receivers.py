"""A study's receivers: a grid of them, and those that cannot be."""

from __future__ import annotations

from pathlib import Path

import pytest

from cambrian.stacks import checks
from cambrian.study.errors import StudyError
from cambrian.study.load import parse_study

CATALOGUE = {"s2n-quic": ["cubic"], "quinn": ["cubic"], "tcp": ["cubic"]}
HEAD = 'name = "a"\ntitle = "a"\ndesign = "solo"\n[[network]]\nrate_mbps = 1\nrtt_ms = 10\nbuffer_bdp = 1\n'
CONTESTANT = '[[contestant]]\nstack = "s2n-quic"\ncca = "cubic"\nreceiver = '


def test_receivers_make_a_grid_and_are_named() -> None:
    text = HEAD + CONTESTANT + '["own", "reference", "quinn"]\n'
    study = parse_study(text, "a.toml", Path(), CATALOGUE, None, checks)
    names = [contestant.name for contestant in study.contestants]
    assert names == ["s2n-quic cubic", "s2n-quic cubic to reference", "s2n-quic cubic to quinn"]


@pytest.mark.parametrize(
    ("receiver", "said"), [("tcp", "receives over tcp"), ("quin", 'unknown stack "quin"')]
)
def test_one_that_cannot_be_is_named_with_its_line(receiver: str, said: str) -> None:
    with pytest.raises(StudyError, match=said) as caught:
        parse_study(HEAD + CONTESTANT + f'"{receiver}"\n', "a.toml", Path(), CATALOGUE, None, checks)
    assert (caught.value.line, caught.value.key) == (11, "receiver")
