"""``cambrian interop``: which stack's client can fetch from which stack's server.

Each pair with a common protocol transfers data for a fixed time over a clean path.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rich.console import Console
from rich.table import Table

from cambrian.metrics.throughput import total_throughput_mbps
from cambrian.run import pool, prepare
from cambrian.run.local import Cores
from cambrian.stacks import receivers
from cambrian.stacks.catalogue import Stack
from cambrian.store.results import Results, TrialResult
from cambrian.study.model import Contestant, Flow, Network, Trial
from cambrian.trial import plan

NETWORK = Network(rate_mbps=20, rtt_ms=20, buffer_bdp=2)
DURATION_S = 5.0
#: smallest share of the bottleneck's rate, from the first second on: shows clients that limit the sender
ENOUGH = 0.9
_NS = 1_000_000_000

State = Literal["works", "slow", "fails", "no protocol in common"]


@dataclass(frozen=True)
class Cell:
    """One sender and one receiver."""

    sender: str
    receiver: str
    state: State
    alpn: str = ""
    mbps: float | None = None
    detail: str = ""


def run(stacks: Sequence[Stack], *, jobs: int, console: Console) -> list[Cell]:
    """A cell for each ordered pair of ``stacks``: the sender's first CCA, the receiver's client."""
    cells: dict[tuple[str, str], Cell] = {}
    trials: dict[str, Trial] = {}
    pairs: dict[str, tuple[str, str, str]] = {}
    for sender in stacks:
        for receiver in stacks:
            pair = sender.name, receiver.name
            try:
                chosen = receivers.choose(sender, receiver.name)
            except receivers.NoReceiver as none:
                cells[pair] = Cell(*pair, "no protocol in common", detail=str(none))
                continue
            label = f"{sender.name} → {receiver.name}"
            pairs[label] = (*pair, chosen.alpn)
            trials[label] = _trial(sender, receiver.name)
    made = prepare.ensure({name for trial in trials.values() for name in plan.stack_names(trial)})
    with tempfile.TemporaryDirectory(prefix="cambrian-interop-") as folder:
        results = Results(Path(folder))
        for label, finished in pool.run_with_progress(
            trials, made, results, engine=Cores(jobs), console=console
        ):
            sender_name, receiver_name, alpn = pairs[label]
            pair = sender_name, receiver_name
            if finished.outcome is None:
                cells[pair] = Cell(*pair, "fails", alpn, detail=str(finished.error))
                continue
            result = results.trial(finished.outcome.trial_id)
            cells[pair] = _judge(pair, alpn, finished.outcome.reasons, result)
    return [cells[sender.name, receiver.name] for sender in stacks for receiver in stacks]


def _trial(sender: Stack, receiver: str) -> Trial:
    cca = next(iter(sender.manifest.ccas))
    flow = Flow(contestant=Contestant(stack=sender.name, cca=cca, receiver=receiver))
    return Trial(network=NETWORK, flows=(flow,), duration_s=DURATION_S)


def _judge(pair: tuple[str, str], alpn: str, reasons: tuple[str, ...], result: TrialResult) -> Cell:
    packets, report = result.packets, result.manifest["guest"] or {}
    end_ns = report.get("end_ns", 0)
    idle = all(reason.startswith("saturation") for reason in reasons)
    if end_ns <= _NS or packets.height == 0 or not idle:
        return Cell(*pair, "fails", alpn, detail="; ".join(reasons))
    mbps = total_throughput_mbps(packets, _NS, end_ns)
    rate_mbps = NETWORK.rate_mbps or 0.0
    state: State = "works" if mbps >= ENOUGH * rate_mbps else "slow"
    return Cell(*pair, state, alpn, mbps, "; ".join(reasons))


def _text(cell: Cell) -> str:
    match cell.state:
        case "works":
            return cell.alpn or "works"
        case "slow":
            return f"{cell.mbps:.1f} Mbps"
        case "fails":
            return "FAILS"
        case _:
            return "·"


def matrix(cells: Sequence[Cell]) -> Table:
    """A row for each sender, a column for each receiver: ALPN, a low rate, FAILS, or · for no common one."""
    tried = {cell.receiver for cell in cells if cell.state != "no protocol in common"}
    able = [name for name in dict.fromkeys(cell.receiver for cell in cells) if name in tried]
    table = Table("sender \\ receiver", *able)
    by_pair = {(cell.sender, cell.receiver): cell for cell in cells}
    for sender in dict.fromkeys(cell.sender for cell in cells):
        table.add_row(sender, *(_text(by_pair[sender, receiver]) for receiver in able))
    return table
