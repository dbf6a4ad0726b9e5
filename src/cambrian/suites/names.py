"""The names that the trials of a suite's part can have, as its study says: its contestants, its networks…"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

from cambrian.command import CommandFailed, MissingTool
from cambrian.effects.model import OBSERVATIONS, Bounds, Condition, EffectSpec, Scalar, Where
from cambrian.stacks import catalogue
from cambrian.stacks.manifest import ManifestError
from cambrian.study import builtin, hints
from cambrian.study.errors import StudyError
from cambrian.study.expand import expand
from cambrian.study.model import Flow, Group
from cambrian.study.positions import Path as Place
from cambrian.suites import find
from cambrian.suites.plan import parts_of, study_of

#: conditions of an effect
_SIDES = ("where", "a", "b")


def names(part: str) -> Mapping[str, frozenset[str]]:
    """Column of the observations → the names that it can have in a part, such as "wpi/grid".

    Empty if they cannot be known: the part is none of a built-in suite's with its own contestants, or its
    study or one of its stacks has an error, which `cambrian run` shows.
    """
    files = sorted((builtin.folder() / part.partition("/")[0]).glob("*.toml"))
    # a process such as `cambrian open` or a notebook outlives a change of them
    return _names(part, tuple((file, file.stat().st_mtime_ns, file.stat().st_size) for file in files))


@cache
def _names(part: str, files: tuple[tuple[Path, int, int], ...]) -> Mapping[str, frozenset[str]]:
    """As :func:`names`; ``files``: the suite's, each with the time of its last change and its bytes."""
    del files
    try:
        suites, _ = find.suites_named(part.partition("/")[0])
        parts = (one for found in suites for one in parts_of(found, None, ()))
        study = next((study_of(one) for one in parts if one.place == part), None)
        if study is None:
            return {}
        once = study.model_copy(update={"seeds": 1, "stopping": None})
        groups = expand(once, reference_of=catalogue.reference_of)
    except (StudyError, ManifestError, CommandFailed, MissingTool, OSError):
        return {}
    found: dict[str, set[str]] = {}
    for group in groups:
        for flow in group.trials[0].flows:
            for column, name in _of_flow(group, flow).items():
                found.setdefault(column, set()).add(name)
    found["lineup"] = {lineup.name for lineup in study.lineups}
    return {column: frozenset(known) for column, known in found.items() if known}


def _of_flow(group: Group, flow: Flow) -> dict[str, str]:
    who = flow.contestant
    page = group.page or (flow.page.name if flow.page else None)
    return {
        "network": group.network,
        "contestant": who.name,
        "against": who.name,
        "stack": who.stack,
        "cca": who.cca,
        "receiver": who.receiver,
        **({"page": page} if page else {}),
    }


def wrong(named: Iterable[tuple[Place, EffectSpec]]) -> Iterator[tuple[Place, str, str]]:
    """Place, problem and remedy of each name in the conditions of an effect that no trial of its part has.

    ``named`` has the place of each effect's table in its file.
    """
    for place, spec in named:
        if spec.table == OBSERVATIONS:
            for side in _SIDES:
                yield from wrong_in((*place, side), getattr(spec, side) or {}, spec.part)


def wrong_in(place: Place, where: Where, part: str) -> Iterator[tuple[Place, str, str]]:
    """As :func:`wrong`, of conditions at ``place``."""
    for column, condition in where.items():
        known = names(part).get(column)
        if known is None:
            continue
        for steps, value in _values(condition):
            if isinstance(value, str) and value not in known:
                problem = f'no trial of {part} has {column} = "{value}"'
                yield (*place, column, *steps), problem, hints.for_name(value, known, "its study has")


def _values(condition: Condition) -> Iterator[tuple[Place, Scalar]]:
    """Each value of a condition, and the steps to it."""
    steps: Place = ()
    if isinstance(condition, Bounds):
        if condition.not_ is None:
            return
        condition, steps = condition.not_, ("not",)
    if not isinstance(condition, tuple):
        yield steps, condition
        return
    for number, value in enumerate(condition):
        yield (*steps, number), value
