"""One verdict out of all sides: over the whole space of their states, no two statements contradict."""

from __future__ import annotations

import itertools
from typing import get_args

import pytest

from cambrian.judging import sides
from cambrian.judging.sides import Kind, Side, Sides, State

STATES: tuple[State, ...] = get_args(State)


def _side(number: int, state: State) -> Side:
    return Side(state, (f"finding {number}",))


#: every combination of the four sides' states, and of which parameters differ: 4⁴ × 2
SPACE = [
    Sides(_side(0, one), _side(1, two), _side(2, three), _side(3, four), algorithm)
    for one, two, three, four in itertools.product(STATES, repeat=4)
    for algorithm in (False, True)
]
#: kind that accuses → the sides that it is about
ABOUT = {
    "off by a parameter": {"parameters"},
    "different algorithm": {"parameters"},
    "behaves differently": {"plausibility", "behaviour"},
    "different impact": {"impact"},
}
ORDER = get_args(Kind)
NAMES = {
    "plausibility": "plausibility of a flow alone",
    "behaviour": "behaviour",
    "impact": "impact on other flows",
}
OPENINGS = {
    "different": "Unlike the reference",
    "inconclusive": "Inconclusive",
    "equivalent": "Like the reference",
    "not measured": "Not measured",
}
#: how the sentence on the parameters begins or goes on, by their state
PARAMETERS = {
    "different": ("Not the CUBIC of the standard", "CUBIC, but off"),
    "inconclusive": ("CUBIC's parameters are inconclusive",),
    "equivalent": ("CUBIC: every parameter that could be judged is as it should be",),
    "not measured": ("CUBIC's core parameters could not be judged",),
}


def all_sides(one: Sides) -> dict[str, Side]:
    return {"parameters": one.parameters, **one.others}


@pytest.mark.parametrize("one", SPACE)
def test_the_kind_follows_from_every_side(one: Sides) -> None:
    states = {name: side.state for name, side in all_sides(one).items()}
    kinds = sides.kinds(one)
    differing = {name for name, state in states.items() if state == "different"}
    said = {kind: ABOUT[kind] for kind in kinds if kind in ABOUT}
    assert one.differ == bool(differing) == bool(said), "accused if, and only if, a side differs"
    assert differing <= {name for names in said.values() for name in names}, "and of every side that differs"
    assert all(differing & names for names in said.values()), "and of no other"
    assert [kind for kind in ORDER if kind in kinds] == list(kinds), "in a fixed order"
    if said:
        assert len(said) == len(kinds), "no verdict accuses and says that there is nothing to accuse"
    else:
        assert len(kinds) == 1
    if "conformant" in kinds:
        assert states["parameters"] == "equivalent"
        assert not {"different", "inconclusive"} & set(states.values())
    if "inconclusive" in states.values():
        assert kinds == ("inconclusive",) or differing
    if "not judged" in kinds:
        assert set(states.values()) == {"not measured"}
    if "parameters" in differing:
        assert ("different algorithm" in kinds) == one.algorithm


@pytest.mark.parametrize("one", SPACE)
def test_the_headline_says_of_each_side_what_its_state_is_and_nothing_else(one: Sides) -> None:
    text = sides.headline("CUBIC", one)
    assert text.endswith(".")
    parameters, *sentences = text[:-1].split(". ")
    for state, openings in PARAMETERS.items():
        assert parameters.startswith(openings) == (one.parameters.state == state)
    for name, side in one.others.items():
        about = [sentence for sentence in sentences if NAMES[name] in sentence]
        assert [sentence.partition(":")[0] for sentence in about] == [OPENINGS[side.state]]
    # what is found of a side that differs, or is open, is said
    for number, side in enumerate(all_sides(one).values()):
        if side.state in ("different", "inconclusive"):
            assert f"finding {number}" in text


def test_what_differs_is_said_first() -> None:
    one = Sides(
        Side("equivalent"), Side("equivalent"), Side("not measured"), Side("different", ("harm 0.4",))
    )
    assert sides.headline("CUBIC", one) == (
        "CUBIC: every parameter that could be judged is as it should be. "
        "Unlike the reference: impact on other flows: harm 0.4. "
        "Like the reference: plausibility of a flow alone. Not measured: behaviour."
    )
