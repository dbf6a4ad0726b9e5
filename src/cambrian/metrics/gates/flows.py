"""Gates on one flow: its end, its controller, its programs."""

from __future__ import annotations

import signal

import polars as pl

from cambrian.metrics.columns import NS_PER_S
from cambrian.metrics.gates.ends import ENDED_EARLY, FlowEnd
from cambrian.metrics.gates.verdict import Gate, skipped

#: Exit status by which an endpoint says "unsupported" (docs/reference/endpoint-contract.md).
UNSUPPORTED = 127
#: Share of samples with a half-empty window from which a limit is suspected.
IDLE_SHARE = 0.9


def premature_gate(label: str, end: FlowEnd) -> Gate:
    """A flow lasts until the trial's end, or completes, or has a cause in the network for its early end."""
    name = "premature end"
    if end.outcome == "failed":
        return skipped(name, f"a program of {label} failed")
    ok = False if not end.counts else None if end.outcome in ENDED_EARLY else True
    return Gate(name, ok, end.outcome, "ran or finished", f"{name}: {label} {end.text}")


def completion_gate(label: str, packets: pl.DataFrame, size_bytes: int, complete_ns: int | None) -> Gate:
    """A receiver that says that it has everything must have got as many bytes through the bottleneck.

    ``packets`` are this flow's. They are larger than what they carry, so a true word cannot fail.
    """
    name = "completion"
    if complete_ns is None:
        return skipped(name, f"{label} was not complete")
    came = int(packets.filter(pl.col("departure_ns") <= complete_ns).get_column("size_bytes").sum())
    text = (
        f"{name}: the receiver of {label} said at {complete_ns / NS_PER_S:.3f} s that it has all "
        f"{size_bytes:,} bytes; packets of {came:,} bytes had left the bottleneck by then"
    )
    return Gate(name, came >= size_bytes, came, size_bytes, text)


def cca_gate(label: str, requested: str, confirmed: str | None) -> Gate:
    """The controller read back from the stack must be the one that was asked for."""
    name = "CCA"
    if confirmed is None:
        text = f"{name}: {label} was asked for {requested}; not confirmed, because the stack cannot report it"
        return Gate(name, None, None, requested, text)
    same = confirmed.casefold() == requested.casefold()
    text = f"{name}: {label} was asked for {requested} and runs {confirmed}"
    return Gate(name, same, confirmed, requested, text)


def endpoint_gate(label: str, exit_status: int | None, *, error: str | None = None) -> Gate:
    """Both programs of a flow must exit with status 0, or report why their connection ended.

    ``exit_status``: the first that is not 0, else 0; None if none was collected. ``error``: the fault of
    a program.
    """
    name = "endpoint"
    if exit_status is None:
        text = f"{name}: {label} left no exit status{_because(error)}"
        return Gate(name, False if error else None, None, 0, text)
    if exit_status == UNSUPPORTED:
        return Gate(name, False, exit_status, 0, f"{name}: {label} does not support this{_because(error)}")
    ok = exit_status == 0 and not error
    text = f"{name}: {label} {_ended_with(exit_status)}{_because(error)}"
    return Gate(name, ok, exit_status, 0, text)


def _ended_with(status: int) -> str:
    """How a program ended, in words: a negative status is a signal's number."""
    if status >= 0:
        return f"ended with status {status}"
    known = {number.value for number in signal.Signals}
    by = signal.Signals(-status).name if -status in known else f"signal {-status}"
    # the kernel kills with it what uses more memory than there is
    return f"was killed by {by}" + (", perhaps because memory ran out" if by == "SIGKILL" else "")


def _because(error: str | None) -> str:
    return f" ({error})" if error else ""


def window_use_gate(label: str, transport: pl.DataFrame, t0_ns: int, t1_ns: int) -> Gate:
    """Suspicion that a flow was limited by its application or receiver, not by its window.

    ``transport`` holds this flow's rows; of those in [t0_ns, t1_ns) it counts the ones with
    less than half of cwnd in flight. Never fails a trial: a rate-based controller may leave
    its window half empty by design. It notes the suspicion when nine tenths are so.
    """
    name = "window use"
    samples = transport.filter(
        pl.col("time_ns").is_between(t0_ns, t1_ns, closed="left")
        & (pl.col("cwnd_bytes") > 0)
        & pl.col("in_flight_bytes").is_not_null()
    )
    if samples.height == 0:
        return Gate(name, None, None, IDLE_SHARE, f"{name}: {label} reports no cwnd and bytes in flight")
    idle = samples.filter(pl.col("in_flight_bytes").cast(pl.Int64) * 2 < pl.col("cwnd_bytes")).height
    share = idle / samples.height
    text = f"{name}: {label} had less than half of cwnd in flight in {share:.0%} of its samples"
    if share < IDLE_SHARE:
        return Gate(name, True, share, IDLE_SHARE, text)
    return Gate(name, None, share, IDLE_SHARE, f"{text}: possibly limited by application or receiver")
