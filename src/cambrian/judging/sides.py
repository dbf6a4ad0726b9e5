"""The four sides of a judgement, and the one verdict that follows from them.

Each sentence of a verdict follows from one side's state, so that no two sentences contradict each other. A
contestant is *conformant* only if its parameters are as they should be and no other side is different or
inconclusive. If several sides are different, the verdict names all of them, in a fixed order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

#: ``equivalent``: the interval lies inside the margin; ``different``: outside, with enough events and
#: trials; ``inconclusive``: neither; ``not measured``: these results have no data for it
State = Literal["different", "equivalent", "inconclusive", "not measured"]
Kind = Literal[
    "conformant",
    "off by a parameter",
    "different algorithm",
    "behaves differently",
    "different impact",
    "inconclusive",
    "not judged",
]


@dataclass(frozen=True)
class Side:
    """One side's state and its evidence, in sentences without a full stop."""

    state: State = "not measured"
    findings: tuple[str, ...] = ()


def without(side: Side, networks: Sequence[str]) -> Side:
    """The side, of a contestant without a valid trial on ``networks``, which would have shown it.

    What is not known there may be a difference, so the side is not equivalent.
    """
    if side.state != "equivalent" or not networks:
        return side
    return Side("inconclusive", (f"not judged on {', '.join(networks)}",))


@dataclass(frozen=True)
class Sides:
    """All sides of one contestant.

    ``parameters``: compared with the standard. ``plausibility``: utilisation, loss and delay alone, compared
    with the reference. ``behaviour``: envelope and probes, compared with the reference. ``impact``: share,
    harm, starvation and loss, compared with the placebo. ``algorithm``: do the parameters that differ make it
    another algorithm?
    """

    parameters: Side = Side()
    plausibility: Side = Side()
    behaviour: Side = Side()
    impact: Side = Side()
    algorithm: bool = False

    @property
    def differ(self) -> bool:
        """Is any side different?"""
        return any(side.state == "different" for side in (self.parameters, *self.others.values()))

    @property
    def others(self) -> dict[str, Side]:
        """The other three sides, by name."""
        return {"plausibility": self.plausibility, "behaviour": self.behaviour, "impact": self.impact}


#: the other sides, in words
_NAMES = {
    "plausibility": "plausibility of a flow alone",
    "behaviour": "behaviour",
    "impact": "impact on other flows",
}
#: how the sentence begins that lists the sides in one state; each different side has a sentence of its own
_OPENINGS: dict[State, str] = {
    "inconclusive": "Inconclusive",
    "equivalent": "Like the reference",
    "not measured": "Not measured",
}


def kinds(sides: Sides) -> tuple[Kind, ...]:
    """The verdict in a few words: all differences in a fixed order, or the one kind that means none."""
    return _differences(sides) or (_without_difference(sides),)


def _differences(sides: Sides) -> tuple[Kind, ...]:
    parameters: Kind = "different algorithm" if sides.algorithm else "off by a parameter"
    applies: dict[Kind, bool] = {
        parameters: sides.parameters.state == "different",
        "behaves differently": "different" in (sides.plausibility.state, sides.behaviour.state),
        "different impact": sides.impact.state == "different",
    }
    return tuple(kind for kind, does in applies.items() if does)


def _without_difference(sides: Sides) -> Kind:
    states = [side.state for side in sides.others.values()]
    if sides.parameters.state == "equivalent":
        return "inconclusive" if "inconclusive" in states else "conformant"
    if sides.parameters.state == "inconclusive" or any(state != "not measured" for state in states):
        return "inconclusive"
    return "not judged"


def headline(title: str, sides: Sides) -> str:
    """The verdict in a few short sentences, differences first. ``title``: the algorithm's name."""
    sentences = [_parameters(title, sides)]
    others = sides.others
    sentences += [
        f"Unlike the reference: {_NAMES[name]}{_evidence(side)}"
        for name, side in others.items()
        if side.state == "different"
    ]
    for state, opening in _OPENINGS.items():
        names = [_NAMES[name] + _in_brackets(side) for name, side in others.items() if side.state == state]
        if names:
            sentences.append(f"{opening}: {', '.join(names)}")
    return ". ".join(sentences) + "."


def _parameters(title: str, sides: Sides) -> str:
    side = sides.parameters
    return {
        "different": f"Not the {title} of the standard" if sides.algorithm else f"{title}, but off",
        "equivalent": f"{title}: every parameter that could be judged is as it should be",
        "inconclusive": f"{title}'s parameters are inconclusive",
        "not measured": f"{title}'s core parameters could not be judged",
    }[side.state] + (_evidence(side) if side.state != "equivalent" else "")


def _evidence(side: Side) -> str:
    return f": {'; '.join(side.findings)}" if side.findings else ""


def _in_brackets(side: Side) -> str:
    return f" ({'; '.join(side.findings)})" if side.findings else ""
