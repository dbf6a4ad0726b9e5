"""An endpoint's transport log (the contract's CSV) → ``transport``."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from cambrian.trace import schema
from cambrian.trace.packets import TraceError

#: header of the log (docs/reference/endpoint-contract.md)
HEAD = [name for name in schema.TRANSPORT if name != "flow"]


def read(path: Path, flow: int, *, zero_ns: int, end_ns: int) -> pl.DataFrame:
    """One flow's transport trace, between the trial's zero and its end.

    A last line cut short by an endpoint that was killed is left out.

    Raises:
        TraceError: other columns than the contract's, or a value that is not a number.
    """
    text = path.read_bytes()
    whole = text[: text.rfind(b"\n") + 1]
    if not whole:
        return schema.empty()
    kinds = {name: kind for name, kind in schema.TRANSPORT.items() if name in HEAD}
    try:
        frame = pl.read_csv(whole, schema=kinds)
    except pl.exceptions.PolarsError as error:
        raise TraceError(f"{path.name}: not the contract's columns ({','.join(HEAD)}): {error}") from error
    first = whole[: whole.find(b"\n")].decode(errors="replace").strip()
    if first != ",".join(HEAD):
        raise TraceError(f"{path.name}: its first line is {first!r}, not {','.join(HEAD)!r}")
    frame = schema.checked(frame, path.name).with_columns(
        flow=pl.lit(flow, pl.UInt16), time_ns=pl.col("time_ns") - zero_ns
    )
    return frame.filter(pl.col("time_ns").is_between(0, end_ns, closed="left")).select(
        schema.TRANSPORT.keys()
    )
