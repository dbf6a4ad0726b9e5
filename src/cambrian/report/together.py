"""The answer of a study of flows that share a link: what each flow has."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from cambrian.report.collect import Cell, Collected
from cambrian.report.layout import joined, number
from cambrian.report.tables import rows
from cambrian.report.tables.flows import not_complete, row_name
from cambrian.study.model import Flow

#: flows that a sentence lists one by one
MOST_NAMED = 6


@dataclass(frozen=True)
class Entry:
    """Equal flows of one group. ``where``: its line-up and network, if the study has several.

    ``mbps``, ``share``, ``fair``: means over the flows, None without one; share and fair share in percent.
    ``ends``: what a flow of fixed size or a page load does at its end, in words; ``taken_s``: its mean time
    from its client's start on.
    ``reached``, ``tried``: how many of the trials' flows came to their end. Without a time if one did not.
    """

    where: str
    label: str
    count: int
    mbps: float | None
    share: float | None
    fair: float | None
    ends: str = ""
    taken_s: float | None = None
    reached: int = 0
    tried: int = 0

    def __str__(self) -> str:
        who = self.label if self.count == 1 else f"{self.count} flows of {self.label}, each"
        if not self.ends:
            share = f" ({number(self.share, 0)} %)" if self.share is not None else ""
            return f"{who} {number(self.mbps, 1)} Mbps{share}"
        if not self.reached:
            return f"{who} never {self.ends}"
        some = "" if self.reached == self.tried else f" in {self.reached} of {self.tried} cases"
        time = "" if self.taken_s is None else f", {number(self.taken_s, 2)} s after its start"
        return f"{who} {self.ends}{some}{time}"

    @property
    def name(self) -> str:
        """The flow with its line-up and network."""
        return f"{self.label}, {self.where}" if self.where else self.label


def answer(collected: Collected, frames: Mapping[str, pl.DataFrame]) -> str:
    """What each flow has, or the ranges if there are many flows; empty without a complete seed."""
    means = {(row["group"], row["flow"]): row for row in frames["flows"].iter_rows(named=True)}
    loads = frames.get("page_loads")
    for row in loads.iter_rows(named=True) if loads is not None else ():
        means[row["group"], row["flow"]] |= {"plt_ms": row["plt_ms"]}
    groups = [entries for cell in collected.cells if (entries := _entries(cell, collected, means))]
    everyone = [entry for entries in groups for entry in entries]
    if not everyone:
        return ""
    if len(everyone) > MOST_NAMED:
        return _ranges(everyone)
    parts = [
        ": ".join(filter(None, [entries[0].where, joined(list(map(str, entries)))])) for entries in groups
    ]
    kind = "Means" if any(entry.ends for entry in everyone) else "Mean throughput"
    return f"{kind}: {'; '.join(parts)}."


def named(cell: Cell, flow: int, collected: Collected) -> str:
    """A flow's name on the page, with its network if the study has several."""
    name = row_name(cell, flow)
    return f"{name} on {cell.network.name}" if len(collected.networks) > 1 else name


def _ranges(everyone: Sequence[Entry]) -> str:
    endless = [entry for entry in everyone if not entry.ends]
    fair = all(entry.fair is not None for entry in endless)
    what = "Mean throughput of endless flows" if len(endless) < len(everyone) else "Mean throughput"
    unit = " %" if fair else " Mbps"
    rates = sorted(endless, key=lambda entry: (entry.fair if fair else entry.mbps) or 0.0)
    timed = sorted(
        (entry for entry in everyone if entry.taken_s is not None), key=lambda entry: entry.taken_s or 0.0
    )
    parts = [
        ranged(
            f"{what} in percent of the fair share" if fair else what,
            [
                f"{number(entry.fair if fair else entry.mbps, 0 if fair else 1)}{unit} ({entry.name})"
                for entry in rates
            ],
        ),
        ranged(
            "Mean times of transfers and page loads",
            [f"{number(entry.taken_s, 2)} s ({entry.name})" for entry in timed],
        ),
    ]
    return " ".join(filter(None, parts))


def ranged(what: str, ordered: Sequence[str]) -> str:
    """A sentence with the least and the most; empty without one."""
    if len(ordered) < 2:
        return "".join(f"{what}: {one}." for one in ordered)
    return f"{what} ranged from {ordered[0]} to {ordered[-1]}."


def _entries(
    cell: Cell, collected: Collected, means: Mapping[tuple[str, int], Mapping[str, Any]]
) -> list[Entry]:
    """The entries of a group; without those that have no mean, for lack of a complete seed."""
    if not cell.trials:
        return []
    flows = _flows(cell, collected)
    alike: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for position, (name, flow) in enumerate(zip(cell.names, flows, strict=True)):
        page = flow.page.name if flow.page else None
        alike[name, flow.start_ms, flow.rtt_ms, flow.size_bytes, page].append(position)
    wheres = [cell.lineup] if cell.lineup else []
    wheres += [cell.network.name] if len(collected.networks) > 1 else []
    found = []
    for positions in alike.values():
        name, flow = cell.names[positions[0]], flows[positions[0]]
        own = _differing(
            flow, [other for called, other in zip(cell.names, flows, strict=True) if called == name]
        )
        mine = [means[cell.key, position] for position in positions]
        entry = Entry(
            where=" on ".join(wheres),
            label=f"{name} ({own})" if own else name,
            count=len(positions),
            mbps=rows.mean([row["throughput_mbps"] for row in mine]),
            share=rows.mean([row["share_percent"] for row in mine]) if len(cell.names) > 1 else None,
            fair=rows.mean([row["of_fair_percent"] for row in mine]),
            **_end(cell, flow, positions, mine),
        )
        if entry.mbps is not None or entry.ends:
            found.append(entry)
    return found


def _flows(cell: Cell, collected: Collected) -> tuple[Flow, ...]:
    """The group's flows as the study has them: a trial's starts have an offset of their own."""
    study = collected.study
    lineup = next((one.flows for one in study.lineups if one.name == cell.lineup), study.flows)
    return lineup if len(lineup) == len(cell.names) else cell.trials[0].trial.flows


def _differing(flow: Flow, others: Sequence[Flow]) -> str:
    """The settings by which a flow differs from others of its name, in words."""
    texts = []
    if any(other.rtt_ms != flow.rtt_ms for other in others):
        texts.append(f"RTT {flow.rtt_ms:g} ms" if flow.rtt_ms else "the network’s RTT")
    if any(other.start_ms != flow.start_ms for other in others):
        texts.append(f"from {flow.start_ms / 1000:g} s on")
    if any(other.size_bytes != flow.size_bytes for other in others):
        texts.append(f"{flow.size_bytes:,} bytes" if flow.size_bytes else "endless")
    if any(other.page != flow.page for other in others):
        texts.append(flow.page.name if flow.page else "no page")
    return ", ".join(texts)


def _end(
    cell: Cell, flow: Flow, positions: Sequence[int], mine: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """What :class:`Entry` has of flows of fixed size and page loads; empty for endless flows."""
    if flow.page is not None:
        mean_ms = _mean_of_all([row.get("plt_ms") for row in mine])
        ends, taken_s = f"loads {flow.page.name}", None if mean_ms is None else mean_ms / 1000
    elif flow.size_bytes:
        # what its user waits, handshake included; completion_s lacks what comes before its first packet
        ends, taken_s = "is complete", _mean_of_all([row["fetch_s"] for row in mine])
    else:
        return {}
    # a trial whose page was not loaded in time is invalid
    tried = sum(len(cell.trials) + cell.late_loads(position) for position in positions)
    failed = sum(not_complete(cell, position) or 0 for position in positions)
    return {"ends": ends, "taken_s": taken_s, "reached": tried - failed, "tried": tried}


def _mean_of_all(values: Sequence[float | None]) -> float | None:
    return None if None in values else rows.mean(values)
