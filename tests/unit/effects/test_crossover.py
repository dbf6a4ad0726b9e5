"""Where one side begins to stay ahead, against hand-made cells."""

from __future__ import annotations

import polars as pl
import pytest

from cambrian.effects.crossover import crossovers
from cambrian.effects.errors import EffectError, UndefinedError
from cambrian.effects.model import Bounds, EffectSpec
from tests.unit.effects.frames import frame

SPEC = EffectSpec.model_validate(
    {
        "part": "p",
        "quantity": "x",
        "cell": ["rate", "loss"],
        "a": {"contestant": "a"},
        "b": {"contestant": "b"},
    }
)


def made(ratios: dict[tuple[int, float], list[float]]) -> pl.DataFrame:
    """(rate, loss) → a's values; b has 10 throughout."""
    rows = []
    for (rate, loss), values in ratios.items():
        at = {"rate": rate, "loss": loss}
        rows += [(at, "a", values), (at, "b", [10.0] * len(values))]
    return frame(rows)


def test_the_smallest_value_from_which_on_it_stays_ahead() -> None:
    ahead, behind = [12.0] * 4, [8.0] * 4
    found = crossovers(
        made(
            {
                (5, 0.0): ahead,  # ahead, then not: no crossover yet
                (5, 1.0): behind,
                (5, 2.0): ahead,
                (5, 5.0): ahead,
                (100, 0.0): ahead,
                (100, 5.0): ahead,
                (200, 0.0): ahead,
                (200, 5.0): behind,
            }
        ),
        SPEC,
        "loss",
        1.0,
    )
    assert found["rate"].to_list() == [5, 100, 200]
    assert found["crossover"].to_list() == [2.0, 0.0, None]
    # no spread, no width
    assert found["low"].to_list() == found["high"].to_list() == [2.0, 0.0, None]
    assert found["values"].to_list() == [4, 2, 2]
    assert found["most"].to_list() == [5.0, 5.0, 5.0]


def test_an_effect_that_may_be_on_either_side_widens_the_interval() -> None:
    found = crossovers(
        made(
            {
                (5, 0.0): [5.0, 5.1, 4.9, 5.0],
                (5, 1.0): [12.0, 9.0, 12.5, 7.5],
                (5, 2.0): [15.0, 15.1, 14.9, 15.0],
            }
        ),
        SPEC,
        "loss",
        1.0,
    )
    assert found.row(0, named=True) | {"rate": 5} == {
        "rate": 5,
        "crossover": 1.0,
        "low": 1.0,
        "high": 2.0,
        "has_interval": True,
        "least": 0.0,
        "most": 2.0,
        "values": 3,
    }


def test_two_seeds_have_no_interval() -> None:
    found = crossovers(made({(5, 0.0): [8.0, 9.0], (5, 1.0): [12.0, 13.0]}), SPEC, "loss", 1.0)
    assert found["crossover"].to_list() == [1.0]
    assert not found["has_interval"][0]
    assert found["low"][0] is None


def test_all_of_the_cell_may_be_along() -> None:
    one = SPEC.model_copy(update={"cell": ("loss",)})
    found = crossovers(made({(5, 0.0): [8.0] * 3, (5, 1.0): [12.0] * 3}), one, "loss", 1.0)
    assert found["crossover"].to_list() == [1.0]


def test_a_cell_without_a_value_of_along_has_no_place_among_the_others() -> None:
    """It was the smallest value, and a crossover at it was none."""
    cells = made({(5, 0.0): [12.0] * 3, (5, 1.0): [13.0] * 3})
    absent = cells.with_columns(loss=pl.when(pl.col("loss") > 0).then("loss"))
    with pytest.raises(EffectError, match=r"no value in 1 of 2 cells: .*where = { loss = { given = true } }"):
        crossovers(absent, SPEC, "loss", 1.0)
    given = SPEC.model_copy(update={"where": {"loss": Bounds(given=True)}})
    assert crossovers(absent, given, "loss", 1.0)["crossover"].to_list() == [1.0]


@pytest.mark.parametrize("along", ["rtt", "contestant"])
def test_along_is_a_number_of_the_cell(along: str) -> None:
    with pytest.raises(EffectError, match="must be one of"):
        crossovers(made({(5, 0.0): [1.0]}), SPEC, along, 1.0)


def test_an_effect_that_is_not_defined_is_no_place() -> None:
    """A ratio to 0 at the largest loss made it "never", with the interval "2"."""
    rows = []
    for loss, ours, theirs in ((1.0, 8.0, 10.0), (2.0, 12.0, 10.0), (4.0, 12.0, 0.0)):
        at = {"rate": 5, "loss": loss}
        rows += [(at, "a", [ours] * 4), (at, "b", [theirs] * 4)]
    found = crossovers(frame(rows), SPEC, "loss", 1.0)
    assert found.select("crossover", "low", "high", "most", "values").rows() == [(2.0, 2.0, 2.0, 2.0, 2)]
    nothing = [({"rate": 9, "loss": loss}, who, [0.0] * 4) for loss in (1.0, 2.0) for who in "ab"]
    found = crossovers(frame(rows + nothing), SPEC, "loss", 1.0)
    shown = ("rate", "crossover", "has_interval", "least", "values")
    assert found.select(shown).rows() == [(5, 2.0, True, 1.0, 2), (9, None, False, None, 0)]
    undefined = frame([(at, who, [0.0] * 4) for who in "ab"])
    with pytest.raises(UndefinedError, match="no cell has an effect"):
        crossovers(undefined, SPEC, "loss", 1.0)
