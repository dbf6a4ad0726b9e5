"""The events on an endpoint's standard output: one JSON line for each (docs/reference/endpoint-contract.md).

All readers of these lines are here: of a trial that has just ended (:class:`Programs`), and of one
that is stored (:meth:`EndpointEvents.of`, without its progress and objects).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: the contract's events. A program of another convention may log JSON of its own, which says nothing here
NAMES = ("ready", "cca", "connected", "progress", "done", "stats", "object", "load")
#: events that must have a time. A program of another convention seldom logs one of them with ``time_ns``
_TIMED = ("connected", "progress", "done")
#: events that a trial's manifest does not store, because there may be thousands
_MANY = ("progress", "object")
#: the types of the fields that are read, without None: a program that follows the contract cannot have others
_TYPES: Mapping[str, type] = {
    "time_ns": int,
    "bytes": int,
    "complete": bool,
    "error": str,
    "requested": str,
    "confirmed": str,
    "packets_sent": int,
    "packets_lost": int,
    "ptos": int,
    "rwnd_limited_us": int,
    "busy_us": int,
    "lost": int,
    "arrivals": int,
    "departures": int,
}
_WORDS: Mapping[type, str] = {int: "a whole number", str: "text", bool: "true or false"}
#: largest whole number of a field: the columns have 64 bits
_LARGEST = 2**63 - 1
#: most events that a manifest stores of a program, and the longest text of one
_MOST_KEPT = 1000
_LONGEST_TEXT = 2000
#: JSON can hold half of a surrogate pair, which no file or terminal takes
_HALF_PAIR = re.compile(r"\\u[dD][89a-fA-F]")


@dataclass(frozen=True)
class Done:
    """The endpoint's last event. ``complete``: all requested bytes arrived; ``error``: why it ended."""

    time_ns: int
    bytes: int
    complete: bool
    error: str | None


@dataclass(frozen=True)
class ReadBack:
    """The controllers that a sender read back from its stack, one for each connection."""

    names: tuple[str, ...]

    def name(self, requested: str | None = None) -> str | None:
        """The controller that ran: with several connections, one unlike ``requested`` if there is one.

        Capital and small letters are the same. None if the stack does not report it.
        """
        asked = None if requested is None else requested.casefold()
        differing = [name for name in self.names if asked is not None and name.casefold() != asked]
        return next(iter(differing or self.names), None)


@dataclass(frozen=True)
class EndpointEvents:
    """One endpoint's events, in order. Times are CLOCK_REALTIME, in nanoseconds.

    ``odd``: the first event whose fields do not have the contract's types, in words; empty if there is none,
    and for a program that does not follow the contract. Such events are left out.
    """

    events: Sequence[Mapping[str, Any]]
    odd: str = ""

    @classmethod
    def read(cls, path: Path) -> EndpointEvents:
        """The contract's lines of a program's standard output; other lines are ignored.

        Only a program that follows the contract can break it: another's log may have an "error" of any type.
        An event with a time of a wrong type follows it, too: a client may write no other.
        """
        events, odd, follows = [], "", False
        for event in _lines(path):
            follows = follows or _follows(event)
            if (wrong := _wrong_field(event)) is None:
                events.append(event)
            else:
                odd = odd or f"wrote an event with {wrong}"
        return cls(tuple(events), odd if follows else "")

    @classmethod
    def of(cls, manifest: Mapping[str, Any], name: str) -> EndpointEvents:
        """The events of a stored trial's program, such as ``flow0.sender``."""
        return cls(manifest["endpoints"].get(name, ()))

    def kind(self, *kinds: str) -> list[Mapping[str, Any]]:
        """The events of these kinds."""
        return [event for event in self.events if event.get("event") in kinds]

    def last(self, kind: str) -> Mapping[str, Any]:
        """The last event of a kind; empty if there is none."""
        events = self.kind(kind)
        return events[-1] if events else {}

    @property
    def done(self) -> Done | None:
        """The last event; None without one, or if it has no time."""
        event = self.last("done")
        if event.get("time_ns") is None:
            return None
        return Done(
            event["time_ns"], event.get("bytes") or 0, bool(event.get("complete")), event.get("error")
        )

    def complete_ns(self, zero_ns: int, end_ns: int) -> int | None:
        """When the receiver had all that it asked for, in ns since the trial's zero ``zero_ns``.

        None if it did not by the trial's end ``end_ns``, also since the zero: programs run on while the trial
        shuts down, and packets of that time are not recorded.
        """
        if (done := self.done) is None or not done.complete:
            return None
        complete_ns = done.time_ns - zero_ns
        return complete_ns if complete_ns <= end_ns else None

    @property
    def error(self) -> str | None:
        """Why the endpoint ended, by its last event, with or without a time."""
        text: str | None = self.last("done").get("error")
        return text

    @property
    def read_back(self) -> ReadBack:
        """The controllers that the stack named."""
        return ReadBack(
            tuple(str(event["confirmed"]) for event in self.kind("cca") if event.get("confirmed") is not None)
        )

    @property
    def follows(self) -> bool:
        """Does the program follow the contract? A log's line of the same name has no role or time."""
        return any(map(_follows, self.events))

    @property
    def connected(self) -> bool | None:
        """Whether the connection was made; None if the program does not follow the contract."""
        received = any(event.get("bytes") for event in self.kind("progress", "done"))
        return (received or bool(self.kind("connected"))) if self.follows else None

    def total(self, name: str) -> int | None:
        """A stack's own count over its connections; None if it has no counter, or counted no packet.

        None too with more counts than connections: such a program writes what it has counted so far, and a
        sum of those has each loss several times.
        """
        stats = [event for event in self.kind("stats") if event.get("packets_sent")]
        if len(stats) > max(len(self.kind("connected")), 1):
            return None
        counts = [event[name] for event in stats if event.get(name) is not None]
        return sum(counts) if counts else None

    def kept(self) -> list[Mapping[str, Any]]:
        """The events that a trial's manifest stores: of many, as many of the first as of the last."""
        events = [event for event in self.events if event.get("event") not in _MANY]
        half = _MOST_KEPT // 2
        return events if len(events) <= _MOST_KEPT else events[:half] + events[-half:]


class Programs:
    """The output of all programs of a trial in ``folder``; each program's is read once, on first use."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._events: dict[str, EndpointEvents] = {}

    def __getitem__(self, name: str) -> EndpointEvents:
        """The events of a program such as ``flow0.sender``; empty if it wrote nothing."""
        if name not in self._events:
            self._events[name] = EndpointEvents.read(self.folder / f"{name}.out")
        return self._events[name]

    def kept(self) -> dict[str, list[Mapping[str, Any]]]:
        """The events of each endpoint that a trial's manifest stores."""
        return {path.stem: self[path.stem].kept() for path in sorted(self.folder.glob("flow*.out"))}

    def odd(self) -> dict[str, str]:
        """Program → the fault of its events, for programs with a fault."""
        names = [path.stem for path in sorted(self.folder.glob("*.out"))]
        return {name: self[name].odd for name in names if self[name].odd}

    def complaint(self, name: str, lines: int) -> str | None:
        """The last ``lines`` of a program's standard error, joined by " / "; None if it is empty."""
        path = self.folder / f"{name}.err"
        text = path.read_text(errors="replace").strip().splitlines() if path.exists() else []
        return " / ".join(line[:_LONGEST_TEXT] for line in text[-lines:]) or None


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    if not path.exists():
        return
    with path.open(errors="replace") as file:
        for line in file:
            try:
                event = json.loads(line)
                if _HALF_PAIR.search(line):
                    text = json.dumps(event, ensure_ascii=False)
                    event = json.loads(text.encode(errors="replace"))
            except (ValueError, RecursionError):
                continue
            if isinstance(event, dict) and event.get("event") in NAMES:
                yield event


def _follows(event: Mapping[str, Any]) -> bool:
    """Does only a program that follows the contract write such an event?"""
    if event.get("event") == "ready":
        return bool(event.get("role"))
    return event.get("event") in _TIMED and event.get("time_ns") is not None


def _wrong_field(event: Mapping[str, Any]) -> str | None:
    """The first field that does not have the contract's type, in words; None if all have."""
    for name, kind in _TYPES.items():
        value = event.get(name)
        if value is None:
            continue
        # isinstance would take true for a whole number
        if type(value) is not kind:
            return f"{name} = {json.dumps(value)[:80]}, which must be {_WORDS[kind]}"
        if isinstance(value, int) and abs(value) > _LARGEST:
            return f"{name} of {value.bit_length()} bits, more than 63"
        if isinstance(value, int) and value < 0:
            return f"{name} = {value}, which must not be negative"
        if isinstance(value, str) and len(value) > _LONGEST_TEXT:
            return f"{name} of {len(value)} characters, more than {_LONGEST_TEXT}"
    sent, lost = event.get("packets_sent"), event.get("packets_lost")
    if sent is not None and lost is not None and lost > sent:
        return f"packets_lost = {lost:,} of packets_sent = {sent:,}"
    return None
