"""What a check *is*."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

#: ok; missing: a trial cannot run without it; stale: there, but of other sources than this
#: checkout's; warn: trials run, less well.
State = Literal["ok", "missing", "stale", "warn"]


@dataclass(frozen=True)
class Check:
    """One thing looked at: its state, what was found, and one command that mends it ("" when ok)."""

    name: str
    state: State
    found: str
    remedy: str = ""
