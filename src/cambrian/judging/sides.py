"""The sides that a contestant is judged from, and the one verdict that reconciles them.

Every sentence of a verdict follows from a side's state alone, so that no two can contradict:
a side is named once, by the state that it is in, and *conformant* is said only where its parameters
are as they should be and no other side is different or inconclusive.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

#: ``equivalent``: the interval lies inside the margin; ``different``: outside of it, by enough events and
#: trials; ``inconclusive``: neither; ``not measured``: nothing of it is in these results
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
#: the kinds that accuse
ACCUSING: frozenset[Kind] = frozenset(
    {"off by a parameter", "different algorithm", "behaves differently", "different impact"}
)


@dataclass(frozen=True)
class Side:
    """One side's state, and what it rests on, in sentences without a full stop."""

    state: State = "not measured"
    findings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Sides:
    """All of a contestant's.

    ``parameters``: against the standard. ``plausibility``: alone, its utilisation, loss and delay against
    the reference's. ``behaviour``: envelope and response against the reference. ``impact``: share, harm,
    starvation and loss against the placebo. ``algorithm``: are the parameters that differ those that make the
    algorithm what it is?
    """

    parameters: Side = Side()
    plausibility: Side = Side()
    behaviour: Side = Side()
    impact: Side = Side()
    algorithm: bool = False

    @property
    def others(self) -> dict[str, Side]:
        """All but the parameters, by name."""
        return {"plausibility": self.plausibility, "behaviour": self.behaviour, "impact": self.impact}


#: the sides but the parameters, in words
_NAMES = {
    "plausibility": "what it does alone",
    "behaviour": "its behaviour",
    "impact": "its impact on other flows",
}
#: how a sentence begins that says in which sides it is in a state; of those that differ each has its own
_OPENINGS: dict[State, str] = {
    "inconclusive": "Inconclusive",
    "equivalent": "Like the reference",
    "not measured": "Not measured",
}


def kind(sides: Sides) -> Kind:
    """The verdict in a word or two."""
    states = [side.state for side in sides.others.values()]
    if sides.parameters.state == "different":
        return "different algorithm" if sides.algorithm else "off by a parameter"
    if "different" in (sides.plausibility.state, sides.behaviour.state):
        return "behaves differently"
    if sides.impact.state == "different":
        return "different impact"
    if sides.parameters.state == "equivalent":
        return "inconclusive" if "inconclusive" in states else "conformant"
    if sides.parameters.state == "inconclusive" or any(state != "not measured" for state in states):
        return "inconclusive"
    return "not judged"


def headline(title: str, sides: Sides) -> str:
    """The verdict in a few short sentences: what differs first. ``title``: the algorithm's name."""
    said = [_parameters(title, sides)]
    others = sides.others
    said += [
        f"Unlike the reference: {_NAMES[name]}{_found(side)}"
        for name, side in others.items()
        if side.state == "different"
    ]
    for state, opening in _OPENINGS.items():
        names = [
            _NAMES[name] + (_in_brackets(side) if state == "inconclusive" else "")
            for name, side in others.items()
            if side.state == state
        ]
        if names:
            said.append(f"{opening}: {', '.join(names)}")
    return ". ".join(said) + "."


def _parameters(title: str, sides: Sides) -> str:
    side = sides.parameters
    return {
        "different": f"Not {title} as the standard has it" if sides.algorithm else f"{title}, but off",
        "equivalent": f"{title}, with every parameter that could be judged as it should be",
        "inconclusive": f"Whether its parameters are {title}'s is inconclusive",
        "not measured": f"None of the parameters that make {title} could be judged",
    }[side.state] + (_found(side) if side.state != "equivalent" else "")


def _found(side: Side) -> str:
    return f": {'; '.join(side.findings)}" if side.findings else ""


def _in_brackets(side: Side) -> str:
    return f" ({'; '.join(side.findings)})" if side.findings else ""
