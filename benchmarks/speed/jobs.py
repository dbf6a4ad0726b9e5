"""What is to be done, in which order, and what was found.

A part of the measurement is a list of jobs, one for each row of its table. A part with samples does its jobs
several times. Each job runs on all sides before the next, and the sides take turns in going first: whatever
changes on the machine while it is measured meets all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.speed.sides import Side

#: quantity → its samples in a list, or what must be the same in every run
Row = dict[str, Any]
#: part → row → what was found
Found = dict[str, dict[str, Row]]


@dataclass(frozen=True)
class Asked:
    """What the command line asks for; no contestants: each part's own."""

    contestants: tuple[str, ...] = ()
    quick: bool = False
    repeats: int | None = None
    profile: bool = False


@dataclass(frozen=True)
class Job:
    """One run of one row; ``expected_s`` is for the time left, ``stacks`` are what it needs."""

    row: str
    expected_s: float
    stacks: frozenset[str]
    work: Callable[[Side], Row]


@dataclass(frozen=True)
class Part:
    """A part of the measurement: ``repeats`` of its jobs in a full and in a quick run."""

    about: str
    jobs: Callable[[Asked], Sequence[Job]]
    repeats: tuple[int, int] = (1, 1)
    #: the same on every machine
    exact: bool = False

    def rounds(self, asked: Asked) -> int:
        """How often its jobs are done."""
        full, quick = self.repeats
        if self.exact:
            return 1
        return asked.repeats or (quick if asked.quick else full)


@dataclass(frozen=True)
class Turn:
    """One job on one side."""

    part: str
    job: Job
    side: Side


def turns(parts: Mapping[str, Part], asked: Asked, sides: Sequence[Side]) -> Iterator[Turn]:
    """All that is to be done, in order."""
    for name, part in parts.items():
        jobs = part.jobs(asked)
        for number in range(part.rounds(asked)):
            order = sides if number % 2 == 0 else list(reversed(sides))
            for job in jobs:
                for side in order:
                    yield Turn(name, job, side)


def enter(found: Found, turn: Turn, row: Row) -> list[str]:
    """Add what a turn found; a sentence for each quantity that must be the same and is not."""
    kept = found.setdefault(turn.part, {}).setdefault(turn.job.row, {})
    wrong = []
    for quantity, value in row.items():
        if isinstance(value, list):
            kept.setdefault(quantity, []).extend(value)
        elif kept.setdefault(quantity, value) != value:
            wrong.append(
                f"{turn.part}, {turn.job.row}, {turn.side.name}: {quantity} is {value}, and was "
                f"{kept[quantity]} in a run before"
            )
    return wrong
