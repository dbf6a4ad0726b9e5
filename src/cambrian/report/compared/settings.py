"""What differs between two sides besides their results: software, settings, contestants and networks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cambrian.report.collect import everybody
from cambrian.report.compared.sides import Side
from cambrian.study.model import Study

#: what a setting of software is of
SOFTWARE = "software"
_ABSENT = "not set"
#: parts of a study that say nothing about its trials, or that have names of their own
_LEFT_OUT = ("name", "title", "description", "profiles", "networks", "contestants", "flows", "lineups")


@dataclass(frozen=True)
class Setting:
    """One fact of both sides. ``of`` is a network, a contestant, or empty for the whole study."""

    of: str
    name: str
    before: str
    after: str

    @property
    def differs(self) -> bool:
        """Do the sides differ in it?"""
        return self.before != self.after

    @property
    def short(self) -> str:
        """The change in a few words; of software: its version, or that it is another build of it."""
        both = self.before, self.after
        old, new = (one if one == _ABSENT else one.rpartition(" ")[0] or one for one in both)
        if self.of == SOFTWARE:
            return f"{self.name} {old} → {new}" if old != new else f"{self.name} {new}, another build"
        return f"{f'{self.of}: ' if self.of else ''}{self.name} {self.before} → {self.after}"


def names(before: Path, after: Path) -> tuple[str, str]:
    """Names of two folders: the last parts of their paths, as many as make them different."""
    one, two = before.absolute().parts, after.absolute().parts
    depth = next((depth for depth in range(1, max(len(one), len(two))) if one[-depth:] != two[-depth:]), 1)
    return "/".join(one[-depth:]), "/".join(two[-depth:])


def software(before: Side, after: Side) -> list[Setting]:
    """Cambrian, testbed, kernel and stacks of both sides, each with its version and hash."""
    return list(_both(SOFTWARE, before.snapshot.made_with, after.snapshot.made_with))


def settings(before: Study, after: Study) -> list[Setting]:
    """The settings that differ between two studies, of networks and contestants that both have."""
    found = list(_both("", _flat(_whole(before)), _flat(_whole(after))))
    for old, new in (
        (_by_name(before.networks), _by_name(after.networks)),
        (_by_name(everybody(before)), _by_name(everybody(after))),
    ):
        for name in (name for name in old if name in new):
            found += _both(name, _flat(old[name]), _flat(new[name]))
    return [one for one in found if one.differs]


def only(before: Side, after: Side) -> list[str]:
    """Sentences on contestants and networks that one side lacks."""
    one, two = names(before.folder, after.folder)
    kinds = [("network", before.networks, after.networks)]
    if before.label is None:
        kinds.append(("contestant", list(before.players), list(after.players)))
    return [
        f"Only {where} has the {kind}{'' if len(lacking) == 1 else 's'} {', '.join(lacking)}."
        for kind, old, new in kinds
        for where, mine, other in ((one, old, new), (two, new, old))
        if (lacking := [name for name in mine if name not in other])
    ]


def _whole(study: Study) -> dict[str, Any]:
    # studies with other names have other starts, and so other packets
    name = {"study name (start offsets depend on it)": study.name}
    return name | study.model_dump(mode="json", exclude=set(_LEFT_OUT))


def _by_name(those: Iterable[Any]) -> dict[str, dict[str, Any]]:
    return {one.name: one.model_dump(mode="json", exclude={"name", "label"}) for one in those}


def _both(of: str, old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[Setting]:
    for name in (*new, *(name for name in old if name not in new)):
        yield Setting(of, name, old.get(name, _ABSENT), new.get(name, _ABSENT))


def _flat(value: Mapping[str, Any], within: str = "") -> dict[str, str]:
    """Nested tables as one: ``{"a": {"b": 1}}`` → ``{"a.b": "1"}``; what is not set is left out."""
    found: dict[str, str] = {}
    for name, one in value.items():
        if isinstance(one, Mapping):
            found |= _flat(one, f"{within}{name}.")
        elif one is not None:
            found[f"{within}{name}"] = str(one)
    return found
