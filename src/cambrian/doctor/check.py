"""The result of one check."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

#: ok; missing: trials cannot run without it; stale: built from other sources than this
#: version's; warn: trials run, but more slowly or with limits
State = Literal["ok", "missing", "stale", "warn"]


@dataclass(frozen=True)
class Check:
    """One check: its state, a description, and one command that fixes it ("" if ok)."""

    name: str
    state: State
    found: str
    remedy: str = ""
