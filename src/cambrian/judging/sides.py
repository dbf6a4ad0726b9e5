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


#: each side in each state, in words
_CLAUSES: dict[str, dict[State, str]] = {
    "plausibility": {
        "different": "alone it does not do what the reference does",
        "equivalent": "alone it fills the link, loses and queues as the reference does",
        "inconclusive": "whether it differs from the reference alone is not settled",
        "not measured": "how the reference does alone was not measured beside it",
    },
    "behaviour": {
        "different": "it behaves differently from the reference",
        "equivalent": "it behaves as the reference does",
        "inconclusive": "whether its behaviour differs from the reference's is not settled",
        "not measured": "its behaviour against the reference was not measured",
    },
    "impact": {
        "different": "its impact on other flows is not the reference's",
        "equivalent": "its impact on other flows is the reference's",
        "inconclusive": "whether its impact on other flows differs from the reference's is not settled",
        "not measured": "its impact on other flows was not measured",
    },
}
#: clauses that differ come first, those that say least last
_ORDER: tuple[State, ...] = ("different", "inconclusive", "equivalent", "not measured")


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
    """The verdict in one sentence. ``title``: the algorithm's name."""
    clauses = [_parameters(title, sides)]
    for state in _ORDER:
        clauses += [_clause(name, side) for name, side in sides.others.items() if side.state == state]
    return "; ".join(clauses) + "."


def _parameters(title: str, sides: Sides) -> str:
    side = sides.parameters
    said = f": {'; '.join(side.findings)}" if side.findings else ""
    if side.state == "different":
        opening = f"Not {title} as the standard has it" if sides.algorithm else f"{title}, but off"
        return opening + said
    return {
        "equivalent": f"{title}, with every parameter that could be judged as it should be",
        "inconclusive": f"Whether its parameters are {title}'s is not settled{said}",
        "not measured": f"None of the parameters that make {title} could be judged{said}",
    }[side.state]


def _clause(name: str, side: Side) -> str:
    clause = _CLAUSES[name][side.state]
    return f"{clause} ({'; '.join(side.findings)})" if side.findings else clause
