"""How the page shows a table: chosen columns with headings and units, numbers as text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

Row = dict[str, Any]
#: rows of a table that a page shows without being asked
MOST_OPEN_ROWS = 30
#: where there is nothing to show
NOTHING = "–"


@dataclass(frozen=True)
class Column:
    """A column of the page: what stands above it, and how a row fills it."""

    heading: str
    show: Callable[[Row], str]
    #: numbers stand right-aligned
    number: bool = True


@dataclass(frozen=True)
class Shown:
    """A table as the page has it; the first column names the row. ``csv`` is the file with all figures."""

    caption: str
    headings: tuple[str, ...]
    numbers: tuple[bool, ...]
    rows: tuple[tuple[str, ...], ...]
    csv: str

    @property
    def is_long(self) -> bool:
        """Too long to stand open between a reader and what comes next."""
        return len(self.rows) > MOST_OPEN_ROWS


def shown(frame: pl.DataFrame, columns: Sequence[Column], caption: str, csv: str) -> Shown:
    """``frame`` through ``columns``."""
    return Shown(
        caption=caption,
        headings=tuple(column.heading for column in columns),
        numbers=tuple(column.number for column in columns),
        rows=tuple(tuple(column.show(row) for column in columns) for row in frame.to_dicts()),
        csv=csv,
    )


def number(value: float | None, digits: int) -> str:
    """A fixed number of decimals, a true minus; a dash for nothing."""
    if value is None:
        return NOTHING
    text = f"{value:.{digits}f}"
    return text.replace("-", "−") if float(text) else text.lstrip("-")


def interval(row: Row, name: str, digits: int) -> str:
    """``0.83 [0.71, 0.90]``, or the estimate alone where there is no interval."""
    if row[name] is None:
        return NOTHING
    estimate = number(row[name], digits)
    if row[f"{name}_low"] is None:
        return estimate
    return f"{estimate} [{number(row[f'{name}_low'], digits)}, {number(row[f'{name}_high'], digits)}]"


def _text(name: str, heading: str) -> Column:
    return Column(heading, lambda row: NOTHING if row[name] is None else str(row[name]), number=False)


def _plain(name: str, heading: str, digits: int) -> Column:
    return Column(heading, lambda row: number(row[name], digits))


def _interval(name: str, heading: str, digits: int) -> Column:
    return Column(heading, lambda row: interval(row, name, digits))


def _floor(row: Row) -> str:
    if row["floor_mean"] is None:
        return NOTHING
    if row["floor_pairs"] == 1:
        return number(row["floor_mean"], 2)
    ends = f"{number(row['floor_lowest'], 2)}–{number(row['floor_highest'], 2)}"
    return f"{number(row['floor_mean'], 2)} ({ends})"


def _delays(row: Row) -> str:
    if row["delay_p50_ms"] is None:
        return NOTHING
    return " / ".join(number(row[f"delay_{name}_ms"], 1) for name in ("p50", "p95", "p99"))


def _trials(row: Row) -> str:
    """The contestant's trials, and the reference's where they are not as many."""
    tests, references = row["trials"], row["reference_trials"]
    return str(tests) if tests == references else f"{tests} (reference {references})"


def _cca(row: Row) -> str:
    if row["cca_requested"] is None:
        return NOTHING
    return str(row["cca_confirmed"]) if row["cca_confirmed"] else f"{row['cca_requested']}, not confirmed"


_CONFORMANCE = (
    Column("Contestant", lambda row: f"{row['contestant']} against {row['reference']}", number=False),
    Column("Trials", _trials),
    _interval("conformance", "Conformance", 2),
    Column("Noise floor, mean (range)", _floor),
    _interval("deficit", "Short of the floor by", 2),
    _text("verdict", "Noise floor"),
    _interval("deviation", "Deviation, raw units", 1),
    _interval("deviation_sd", "Deviation, in SDs", 1),
    _interval("delta_throughput_mbps", "Δ throughput, Mbps", 1),
    _interval("delta_delay_ms", "Δ delay, ms", 1),
)

_TRIALS = Column("Trials", lambda row: str(row["trials"]))
_THROUGHPUT = _interval("throughput_mbps", "Throughput, Mbps", 1)
_SHARE = _interval("share_percent", "Share of throughput, %", 0)
_DELAY_AND_LOSS = (
    Column("Queueing delay, ms: p50 / p95 / p99", _delays),
    _plain("queue_loss_percent", "Queue loss, %", 2),
    _plain("random_loss_percent", "Random loss, %", 2),
    _plain("utilisation_percent", "Utilisation of the link, %", 1),
)
_JAIN = _plain("jain", "Jain’s index", 3)
_COMPLETION = _plain("completion_s", "Completion, s", 2)
_CCA = Column("CCA read back", _cca, number=False)

_RATIOS = (
    _text("x", "x"),
    _text("y", "against y"),
    _TRIALS,
    _interval("ratio", "Throughput ratio Tx / (Tx + Ty)", 2),
)

_INVALID = (
    _text("group", "Group"),
    Column("Seed", lambda row: str(row["seed"])),
    _text("reasons", "Why"),
    _text("trial", "Trial"),
)

_TRACES = (
    _text("trial", "Trial"),
    _text("group", "Group"),
    Column("Seed", lambda row: str(row["seed"])),
    Column("Valid", lambda row: "yes" if row["valid"] else "no", number=False),
    _text("packets_sha256", "SHA-256 of the packet trace"),
)


def conformance(frame: pl.DataFrame) -> Shown:
    """Conformance and deviation on one network."""
    caption = "Likeness to the reference, by performance envelopes; in brackets 95 % intervals"
    return shown(frame, _CONFORMANCE, caption, "conformance.csv")


def behaviour(frame: pl.DataFrame, names: Sequence[str]) -> Shown:
    """Throughput, sharing, delay and loss on one network; ``names`` are the rows'.

    Columns that have nothing to say here (shares of a flow alone, completion of endless
    flows) are left out.
    """
    columns = [Column("Flow", lambda row: str(row["name"]), number=False), _TRIALS, _THROUGHPUT]
    shared = frame["group"].n_unique() < frame.height or frame["share_percent"].min() != 100
    sized = frame["completion_s"].is_not_null().any()
    if shared and not sized:
        columns.append(_SHARE)
    columns += _DELAY_AND_LOSS
    if shared and not sized:
        columns.append(_JAIN)
    if sized:
        columns.append(_COMPLETION)
    columns.append(_CCA)
    caption = "Throughput, queueing delay and loss, means over trials; in brackets 95 % intervals"
    return shown(frame.with_columns(pl.Series("name", names, dtype=pl.String)), columns, caption, "flows.csv")


def ratios(frame: pl.DataFrame) -> Shown:
    """Throughput ratios of the pairs on one network."""
    return shown(frame, _RATIOS, "Throughput ratio of every pair; in brackets 95 % intervals", "pairwise.csv")


def invalid(frame: pl.DataFrame) -> Shown:
    """The trials that count for nothing, and why."""
    return shown(frame, _INVALID, "Invalid trials: kept, shown here, in no average", "invalid.csv")


def traces(frame: pl.DataFrame) -> Shown:
    """What a repetition has to reproduce."""
    return shown(frame, _TRACES, "Packet traces", "traces.csv")
