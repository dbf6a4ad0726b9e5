"""Which controller a contestant is judged as: its stack's word, kept with the results."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from cambrian.stacks import catalogue
from cambrian.study.model import Contestant


@dataclass(frozen=True)
class Family:
    """``reference``: the kernel CCA that it is judged against. ``protocol``: quic or tcp."""

    reference: str
    protocol: str


def of(stack: str, cca: str) -> Family | None:
    """By the stack's manifest; None where the stack is unknown here, or the kernel has no such CCA."""
    known = catalogue.load().get(stack)
    entry = known.manifest.ccas.get(cca) if known else None
    if known is None or entry is None or entry.reference is None:
        return None
    return Family(entry.reference, known.manifest.protocol)


def record(contestants: Iterable[Contestant]) -> dict[str, dict[str, str]]:
    """What ``study.json`` keeps: ``STACK CCA`` → its family, so that a report needs no manifests."""
    found = {_key(one.stack, one.cca): of(one.stack, one.cca) for one in contestants}
    return {name: asdict(family) for name, family in found.items() if family is not None}


def recorded(study: dict[str, Any], contestant: Contestant) -> Family | None:
    """A contestant's family by ``study.json``, or by its manifest where an older one does not say."""
    kept = study.get("families", {}).get(_key(contestant.stack, contestant.cca))
    return Family(**kept) if kept else of(contestant.stack, contestant.cca)


def _key(stack: str, cca: str) -> str:
    return f"{stack} {cca}"
