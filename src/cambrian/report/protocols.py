"""What a contestant's flow runs over: QUIC or TCP."""

from __future__ import annotations

from typing import Any, cast

from cambrian.judging import families
from cambrian.metrics.payload import Protocol
from cambrian.stacks import catalogue
from cambrian.study.model import Contestant


def of(study: dict[str, Any], contestant: Contestant) -> Protocol | None:
    """By ``study.json``, or by its stack's manifest; None of a stack that is unknown here."""
    family = families.recorded(study, contestant)
    if family is not None:
        return cast("Protocol", family.protocol)
    known = catalogue.load().get(contestant.stack)
    return known.manifest.protocol if known else None
