"""One verdict out of all sides: over the whole space of their states, no two statements contradict."""

from __future__ import annotations

import itertools
from typing import get_args

import pytest

from cambrian.judging import sides
from cambrian.judging.sides import ACCUSING, Side, Sides, State

STATES: tuple[State, ...] = get_args(State)


def _side(number: int, state: State) -> Side:
    return Side(state, (f"finding {number}",))


#: every combination of the four sides' states, and of which parameters differ: 4⁴ × 2
SPACE = [
    Sides(_side(0, one), _side(1, two), _side(2, three), _side(3, four), algorithm)
    for one, two, three, four in itertools.product(STATES, repeat=4)
    for algorithm in (False, True)
]
#: what a clause says that claims likeness, whichever side it is of
LIKE = {
    "parameters": "as it should be",
    "plausibility": "alone it fills the link, loses and queues as the reference does",
    "behaviour": "it behaves as the reference does",
    "impact": "its impact on other flows is the reference's",
}
UNLIKE = {
    "parameters": ("as the standard has it", "but off"),
    "plausibility": ("alone it does not do what the reference does",),
    "behaviour": ("it behaves differently from the reference",),
    "impact": ("its impact on other flows is not the reference's",),
}


def all_sides(one: Sides) -> dict[str, Side]:
    return {"parameters": one.parameters, **one.others}


@pytest.mark.parametrize("one", SPACE)
def test_the_kind_follows_from_every_side(one: Sides) -> None:
    states = {name: side.state for name, side in all_sides(one).items()}
    kind = sides.kind(one)
    differing = [name for name, state in states.items() if state == "different"]
    assert (kind in ACCUSING) == bool(differing), "accused if, and only if, a side differs"
    if kind == "conformant":
        assert states["parameters"] == "equivalent"
        assert not {"different", "inconclusive"} & set(states.values())
    if "inconclusive" in states.values():
        assert kind == "inconclusive" or differing
    if kind == "not judged":
        assert set(states.values()) == {"not measured"}
    if kind in ("off by a parameter", "different algorithm"):
        assert states["parameters"] == "different"
        assert (kind == "different algorithm") == one.algorithm


@pytest.mark.parametrize("one", SPACE)
def test_the_headline_says_of_each_side_what_its_state_is(one: Sides) -> None:
    text = sides.headline("CUBIC", one)
    assert text.endswith(".")
    assert text.count(".") == 1, "one sentence"
    for name, side in all_sides(one).items():
        assert (LIKE[name] in text) == (side.state == "equivalent")
        assert any(word in text for word in UNLIKE[name]) == (side.state == "different")
    unsettled = sum(side.state == "inconclusive" for side in all_sides(one).values())
    assert text.count("is not settled") == unsettled
    # what is found of a side that differs, or is open, is said
    for number, side in enumerate(all_sides(one).values()):
        if side.state in ("different", "inconclusive"):
            assert f"finding {number}" in text


def test_what_differs_is_said_first() -> None:
    one = Sides(
        Side("equivalent"), Side("equivalent"), Side("not measured"), Side("different", ("harm 0.4",))
    )
    text = sides.headline("CUBIC", one)
    assert text.index("harm 0.4") < text.index("alone it fills") < text.index("was not measured")
