"""Conditions on columns keep the rows that they name, and say what does not fit."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from cambrian.effects.errors import EffectError
from cambrian.effects.model import EffectSpec
from cambrian.effects.where import matching

FRAME = pl.DataFrame(
    {
        "row": [0, 1, 2, 3],
        "loss": [0.0, 0.5, 2.0, None],
        "name": ["a", "b", None, "a"],
        "trace": [True, False, False, None],
    }
)


@pytest.mark.parametrize(
    ("where", "kept"),
    [
        ({}, [0, 1, 2, 3]),
        ({"loss": 0.5}, [1]),
        ({"loss": 2}, [2]),
        ({"loss": [0, 2]}, [0, 2]),
        ({"loss": {"at_least": 0.5}}, [1, 2]),
        ({"loss": {"above": 0.5}}, [2]),
        ({"loss": {"at_most": 0.5}}, [0, 1]),
        ({"loss": {"below": 0.5}}, [0]),
        ({"loss": {"above": 0, "below": 2}}, [1]),
        ({"loss": {"not": 0}}, [1, 2, 3]),
        ({"loss": {"not": [0, 2]}}, [1, 3]),
        ({"loss": {"given": True}}, [0, 1, 2]),
        ({"name": {"given": False}}, [2]),
        ({"name": "a", "loss": {"given": True}}, [0]),
        ({"name": {"not": "a"}}, [1, 2]),
        ({"trace": True}, [0]),
        ({"trace": False}, [1, 2]),
    ],
)
def test_rows_that_meet_all_conditions(where: dict[str, Any], kept: list[int]) -> None:
    spec = EffectSpec.model_validate({"part": "p", "quantity": "x", "where": where})
    assert matching(FRAME, spec.where)["row"].to_list() == kept


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ({"los": 1}, "no column los; did you mean loss"),
        ({"name": 1}, "name holds string"),
        ({"loss": "1"}, "loss holds float64"),
        ({"loss": True}, "loss holds float64"),
        ({"name": {"above": 1}}, "holds no numbers"),
    ],
)
def test_what_does_not_fit_the_frame(where: dict[str, Any], said: str) -> None:
    spec = EffectSpec.model_validate({"part": "p", "quantity": "x", "where": where})
    with pytest.raises(EffectError, match=said):
        matching(FRAME, spec.where)
