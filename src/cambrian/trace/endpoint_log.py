"""An endpoint's transport log (the contract's CSV) → ``transport``."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import polars as pl

from cambrian.trace import schema
from cambrian.trace.packets import TraceError

#: header of the log (docs/reference/endpoint-contract.md)
HEAD = [name for name in schema.TRANSPORT if name != "flow"]


#: programs start at most so long before a trial's zero, and end at most so long after its end
_AROUND_NS = 60_000_000_000


class Log(NamedTuple):
    """The rows between the trial's zero and its end, and how many rows are of no time near it."""

    rows: pl.DataFrame
    outside: int


def read(path: Path, flow: int, *, zero_ns: int, end_ns: int) -> Log:
    """One flow's transport trace.

    A last line cut short by an endpoint that was killed is left out.

    Raises:
        TraceError: other columns than the contract's, or a value that is not a number.
    """
    text = path.read_bytes()
    whole = text[: text.rfind(b"\n") + 1]
    if not whole:
        return Log(schema.empty(), 0)
    first = whole[: whole.find(b"\n")].decode(errors="replace").strip()
    if first != ",".join(HEAD):
        raise TraceError(f"{path.name}: its first line is {first[:200]!r}, not {','.join(HEAD)!r}")
    kinds = {name: kind for name, kind in schema.TRANSPORT.items() if name in HEAD}
    # a number of any size; all that count are exact
    wide = kinds | dict.fromkeys(schema.NUMBERS, pl.Float64)
    try:
        frame = pl.read_csv(whole, schema=wide)
    except pl.exceptions.PolarsError as error:
        # further lines are advice on polars
        problem = str(error).partition("\n")[0]
        raise TraceError(f"{path.name}: a line is not as the contract says: {problem}") from error
    frame = schema.checked(frame, path.name).cast(pl.Schema(kinds))
    frame = frame.with_columns(flow=pl.lit(flow, pl.UInt16), time_ns=pl.col("time_ns") - zero_ns)
    time_ns = pl.col("time_ns")
    rows = frame.filter(time_ns.is_between(0, end_ns, closed="left"))
    around = frame.filter(time_ns.is_between(-_AROUND_NS, end_ns + _AROUND_NS))
    return Log(rows.select(schema.TRANSPORT.keys()), frame.height - around.height)
