"""Reads a guest's files into columns, or gives the reason why there are none."""

from __future__ import annotations

import errno
import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from cambrian.metrics.columns import PACKETS
from cambrian.pages import site
from cambrian.stacks import catalogue
from cambrian.study.model import Trial
from cambrian.study.queues import ONE_QUEUE
from cambrian.testbed.contract import GuestReport
from cambrian.trace import endpoint_log, kernel_tcp, objects, packets, qlog, schema
from cambrian.trace.endpoint_events import Programs
from cambrian.trace.packets import TraceError
from cambrian.trial import seating
from cambrian.trial.boot import Ended

#: a manifest's transport_trace → the words for where the program must write
_PROMISES = {"log": "the file {transport_log}", "qlog": "the files below the folder {qlog}"}


class Unreadable(ValueError):
    """The guest's files cannot be judged; ``reasons`` say why."""

    def __init__(self, *reasons: str) -> None:
        super().__init__("; ".join(reasons))
        self.reasons = reasons


def no_columns() -> dict[str, pl.DataFrame]:
    """Empty columns, for a trial whose files cannot be judged."""
    return {"packets": pl.DataFrame(schema=PACKETS), "transport": schema.empty()}


def report_of(ended: Ended, raw: Path) -> GuestReport:
    """The report of a guest that ended normally.

    Raises:
        Unreadable: it was killed, left no report, or its testbed failed.
    """
    if ended.cut_off:
        raise Unreadable(ended.cut_off, *_last_words(raw))
    if ended.report is None:
        raise Unreadable(f"the guest ended without a report; its last line: {_last_line(ended.console)}")
    if "crash" in ended.report:
        last = ended.report["crash"].strip().splitlines()[-1]
        if os.strerror(errno.ENOMEM) in last:
            raise Unreadable(f"a program of the trial used all of the guest's memory: {last}")
        raise Unreadable(f"the testbed failed in the guest: {last}")
    return ended.report


def columns(
    trial: Trial, report: GuestReport, programs: Programs
) -> tuple[dict[str, pl.DataFrame], list[str]]:
    """``packets`` and ``transport``, with page loads also ``objects`` and ``page_loads``; and notes.

    Raises:
        cambrian.trace.packets.TraceError: a file does not have the expected format.
    """
    by_position = packets.read(
        programs.folder / "capture.bin",
        zero_ns=report["zero_ns"],
        end_ns=report["end_ns"],
        in_order=trial.network.queue in ONE_QUEUE,
        is_empty=_is_empty(trial, report),
    )
    seen = seating.flow_numbers(by_position, trial)
    transport, notes = _transport(trial, report, programs.folder, seen)
    return {"packets": seen, "transport": transport} | _pages(trial, report, programs), notes


def _is_empty(trial: Trial, report: GuestReport) -> bool:
    """Do the kernel's counters show that the bottleneck held no packet at the end?

    A link that follows a trace holds its queue in a program, which the kernel does not count.
    """
    counted = report["counters"]["bottleneck"]
    return trial.network.trace_file is None and bool(counted) and counted[0]["backlog_packets"] == 0


def _pages(trial: Trial, report: GuestReport, programs: Programs) -> dict[str, pl.DataFrame]:
    """``objects`` and ``page_loads`` of the flows that load pages; empty if there are none."""
    parts: dict[str, list[pl.DataFrame]] = {"objects": [], "page_loads": []}
    zero_ns = report["zero_ns"]
    for number, flow in enumerate(trial.flows):
        if flow.page is not None:
            events = programs[f"flow{number}.receiver"].events
            expected = site.resources(flow.page)
            with written_by_a_program(f"the events of flow{number}.receiver"):
                parts["objects"].append(objects.objects(number, expected, events, zero_ns=zero_ns))
                parts["page_loads"].append(
                    objects.page_load(number, flow.page.name, flow.client, events, zero_ns=zero_ns)
                )
    return {name: pl.concat(frames) for name, frames in parts.items() if frames}


def _qlogs(
    trial: Trial, number: int, report: GuestReport, raw: Path, seen: pl.DataFrame
) -> list[pl.DataFrame]:
    """One flow's qlogs, if its stack exports them."""
    stack = catalogue.load()[trial.flows[number].contestant.stack]
    if stack.manifest.transport_trace != "qlog":
        return []
    rtt_ms = trial.flows[number].base_rtt_ms(trial.network)
    forward_ns = round(rtt_ms * trial.network.forward_delay_percent / 100 * 1e6)
    first = seen.filter(pl.col("flow") == number).get_column("arrival_ns").min()
    return [
        qlog.read(
            path,
            number,
            zero_ns=report["zero_ns"],
            end_ns=report["end_ns"],
            realtime_minus_monotonic_ns=report["realtime_minus_monotonic_ns"],
            # a server's first packet answers the first packet of its connection
            began_ns=(first if isinstance(first, int) else 0) - forward_ns,
        )
        for path in sorted((raw / f"flow{number}.qlog").rglob("*"))
        if path.is_file()
    ]


def _transport(
    trial: Trial, report: GuestReport, raw: Path, seen: pl.DataFrame
) -> tuple[pl.DataFrame, list[str]]:
    """The transport trace of all flows, and notes on logs whose rows were left out."""
    notes: dict[int, str] = {}
    span = {"zero_ns": report["zero_ns"], "end_ns": report["end_ns"]}
    parts = [schema.empty()]
    if (raw / "trace.bin").exists():
        offset = report["realtime_minus_monotonic_ns"]
        by_position = kernel_tcp.read(raw, **span, realtime_minus_monotonic_ns=offset)
        parts.append(seating.flow_numbers(by_position, trial))
    for number in range(len(trial.flows)):
        with written_by_a_program(f"the log of flow{number}.sender"):
            parts += _qlogs(trial, number, report, raw, seen)
            log = raw / f"flow{number}.transport.csv"
            if log.exists():
                rows, outside = endpoint_log.read(log, number, **span)
                parts.append(rows)
                if outside > rows.height:
                    notes[number] = (
                        f"transport log: {outside:,} of {outside + rows.height:,} rows of "
                        f"flow{number}.sender were left out, because their times are outside the trial; "
                        "time_ns must be CLOCK_REALTIME in nanoseconds"
                    )
    whole = pl.concat(parts).sort("time_ns", maintain_order=True)
    return whole, [*notes.values(), *_promised(trial, whole, seen, besides=notes)]


def _promised(
    trial: Trial, transport: pl.DataFrame, seen: pl.DataFrame, *, besides: Collection[int]
) -> list[str]:
    """Notes on flows, ``besides`` these, that sent packets and have no row of the log that they promise."""
    silent = set(seen.get_column("flow").unique()) - set(transport.get_column("flow").unique()) - {*besides}
    notes = []
    for number in sorted(silent):
        flow = trial.flows[number]
        promised = catalogue.load()[flow.contestant.stack].manifest.transport_trace
        if promised in _PROMISES and flow.page is None:
            notes.append(
                f"transport log: no row of flow{number}.sender was found, though {flow.contestant.stack} has "
                f'transport_trace = "{promised}"; it is read from {_PROMISES[promised]}'
            )
    return notes


@contextmanager
def written_by_a_program(what: str) -> Iterator[None]:
    """Turn an error of reading what an endpoint wrote into the reason of an invalid trial."""
    try:
        yield
    except TraceError:
        raise
    except (
        pl.exceptions.PolarsError,
        ArithmeticError,
        LookupError,
        RecursionError,
        TypeError,
        ValueError,
    ) as error:
        raise TraceError(f"{what} cannot be read: {type(error).__name__}: {str(error)[:200]}") from error


def _last_line(text: str) -> str:
    """The last line before a kernel panic, or the last line: it has the error."""
    lines = [line for line in text.partition("Kernel panic")[0].splitlines() if line.strip()]
    return lines[-1] if lines else "none"


def _last_words(raw: Path) -> list[str]:
    """The last line of standard error of each program in a guest that was killed."""
    names = [path.stem for path in sorted(raw.glob("flow*.err"))]
    said = [(name, Programs(raw).complaint(name, 1)) for name in names]
    return [f"{name} said: {text}" for name, text in said if text]
