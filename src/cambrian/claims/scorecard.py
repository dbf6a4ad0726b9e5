"""A scorecard: criteria with tests, judged for one contestant at a time.

The file has ``[[criterion]]`` tables: ``id``, ``text``, ``source`` and ``[[criterion.test]]``s with the keys
of a claim's test; ``part`` is relative to the contestant's own folder. Text in ``where``, ``a`` and ``b`` may
have placeholders such as ``$CONTESTANT``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from cambrian.claims.frames import CachedFrames, Frames
from cambrian.claims.model import ClaimTest, Verdict
from cambrian.claims.verdicts import Finding, combined, run
from cambrian.effects.model import Bounds, Condition, Name, Scalar, Where
from cambrian.study.model import Frozen
from cambrian.study.toml_file import TomlFile
from cambrian.suites import find, names

Met = Literal["met", "not met", "inconclusive", "not run"]
_MET: dict[Verdict, Met] = {
    "holds": "met",
    "doesn't hold": "not met",
    "inconclusive": "inconclusive",
    "not run": "not run",
}


class Criterion(Frozen):
    """One requirement, and the section of the document that states it."""

    id: Name
    text: Name
    source: Name
    tests: Annotated[tuple[ClaimTest, ...], Field(alias="test", min_length=1)]


@dataclass(frozen=True)
class Row:
    """One test of one criterion. ``low`` and ``high`` are None without an interval, ``figure`` without data.

    ``verdict`` is this test's, ``of_criterion`` that of all tests of the criterion. ``threshold`` is the
    expected region, such as "at least 90". ``note``: what the test lists and no trial has.
    """

    criterion: str
    text: str
    source: str
    of_criterion: Met
    verdict: Met
    figure: float | None
    low: float | None
    high: float | None
    unit: str
    threshold: str
    says: str
    trials: int
    reason: str
    note: str


@dataclass(frozen=True)
class Scorecard:
    """All criteria of a file, in its order."""

    criteria: tuple[Criterion, ...]

    def score(self, frames: Frames, prefix: str, placeholders: Mapping[str, str] | None = None) -> list[Row]:
        """One row for each test, for the contestant with parts below ``prefix`` ("rfc9743/quinn-cubic").

        ``placeholders``, such as ``{"$STACK": "quinn", "$CCA": "cubic"}``, are replaced in the text of
        conditions.
        """
        remembered = CachedFrames(frames)
        rows = []
        for criterion in self.criteria:
            tests = [_placed(test, prefix, placeholders or {}) for test in criterion.tests]
            results = [run(test, remembered) for test in tests]
            whole = _MET[combined(result.verdict for result in results)]
            rows += [_row(criterion, whole, result) for result in results]
        return rows


def load(path: Path) -> Scorecard:
    """Read a scorecard file.

    Raises:
        StudyError: a criterion has a fault; with file, line, criterion, key and remedy.
    """
    return _read(path)[1]


def placeholders(stack: str, cca: str) -> dict[str, str]:
    """What stands in a condition for a contestant: ``$CONTESTANT`` is its name in tables, "quinn cubic"."""
    return {"$STACK": stack, "$CCA": cca, "$CONTESTANT": f"{stack} {cca}"}


def check(path: Path, prefix: str, filled: Mapping[str, str]) -> None:
    """Check that the parts and the names of a scorecard file are there; arguments as in ``score``.

    Raises:
        StudyError: as :func:`load`, and for a part or a name that is not there.
    """
    file, card = _read(path)
    tests = [
        (("criterion", index, "test", number), _placed(test, prefix, filled))
        for index, criterion in enumerate(card.criteria)
        for number, test in enumerate(criterion.tests)
    ]
    file.refuse(find.wrong_parts(((*place, "part"), test.part) for place, test in tests))
    file.refuse(names.wrong(tests))


def _read(path: Path) -> tuple[TomlFile, Scorecard]:
    file = TomlFile(path, "docs/reference/claims.md")
    file.check_keys(["criterion"])
    criteria = file.tables("criterion", Criterion)
    file.unique("criterion", "id")
    return file, Scorecard(criteria)


def _row(criterion: Criterion, whole: Met, result: Finding) -> Row:
    found = result.estimate
    return Row(
        criterion=criterion.id,
        text=criterion.text,
        source=criterion.source,
        of_criterion=whole,
        verdict=_MET[result.verdict],
        figure=found.estimate if found else None,
        low=found.low if found else None,
        high=found.high if found else None,
        unit=result.test.unit,
        threshold=str(result.test.expect),
        says=result.test.says,
        trials=found.trials if found else 0,
        reason=result.reason,
        note=result.note,
    )


def _placed(test: ClaimTest, prefix: str, placeholders: Mapping[str, str]) -> ClaimTest:
    return test.model_copy(
        update={
            "part": f"{prefix}/{test.part}",
            "where": _filled(test.where, placeholders),
            "a": _filled(test.a, placeholders),
            "b": None if test.b is None else _filled(test.b, placeholders),
        }
    )


def _filled(where: Where, placeholders: Mapping[str, str]) -> Where:
    def text(value: Scalar) -> Scalar:
        if isinstance(value, str):
            # longest first: $CCA must not replace the start of $CCA_LABEL
            for name in sorted(placeholders, key=len, reverse=True):
                value = value.replace(name, placeholders[name])
        return value

    def fill(condition: Scalar | tuple[Scalar, ...]) -> Scalar | tuple[Scalar, ...]:
        return tuple(map(text, condition)) if isinstance(condition, tuple) else text(condition)

    def filled(condition: Condition) -> Condition:
        if not isinstance(condition, Bounds):
            return fill(condition)
        if condition.not_ is None:
            return condition
        return condition.model_copy(update={"not_": fill(condition.not_)})

    return {column: filled(condition) for column, condition in where.items()}
