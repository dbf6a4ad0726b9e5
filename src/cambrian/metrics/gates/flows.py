"""Gates on one flow: its end, its controller, its programs."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from cambrian.metrics.columns import NS_PER_S
from cambrian.metrics.gates.verdict import Gate

#: Exit status by which an endpoint says "unsupported" (docs/endpoint-contract.md).
UNSUPPORTED = 127
#: Share of its lifetime that an unfinished flow may be silent at the end.
SILENCE_ALLOWED = 0.1
#: Share of samples with a half-empty window from which a limit is suspected.
IDLE_SHARE = 0.9


def premature_gate(
    label: str,
    packets: pl.DataFrame,
    lifetime_ns: tuple[int, int],
    rtt_ns: int,
    *,
    complete: bool,
    tries_ns: Sequence[int] = (),
) -> Gate:
    """A flow that was not done must have sent until near the end.

    ``packets`` are this flow's. ``lifetime_ns``: its start and the trial's end. It may be
    silent for the last tenth of it: a starved flow backs off for seconds, a dead one never
    returns. ``tries_ns``: when the sender says that it retransmitted or probed, in order, each
    time once. Its timer waits twice as long each time (RFC 6298, section 5.5; RFC 9002, section
    6.2.1), so a sender is not dead whose last act was a try that was lost, before the bottleneck
    or, within ``rtt_ns``, in its queue, and whose next one is due after the end. A try that came
    through and was not answered excuses nothing.
    """
    name = "premature end"
    start_ns, end_ns = lifetime_ns
    latest_ok = end_ns - SILENCE_ALLOWED * (end_ns - start_ns)
    expected = f"after {latest_ok / NS_PER_S:.3f} s, or complete"
    arrivals = packets.get_column("arrival_ns").drop_nulls().sort()
    if arrivals.is_empty():
        return Gate(name, False, None, expected, f"{name}: {label} never sent a packet")
    last_ns = arrivals[-1]
    text = f"{name}: {label} sent its last packet at {last_ns / NS_PER_S:.3f} s of {end_ns / NS_PER_S:.3f} s"
    sends_on = last_ns >= latest_ok
    if complete:
        text += ", complete"
    elif not sends_on and tries_ns and last_ns - tries_ns[-1] <= rtt_ns:
        tried_ns = tries_ns[-1]
        since = packets.filter(pl.col("arrival_ns") > tried_ns)
        if since.get_column("departure_ns").is_null().all():
            text += f", and tried in vain until {tried_ns / NS_PER_S:.3f} s"
            before_ns = max(start_ns, *arrivals.filter(arrivals <= tried_ns).tail(1), *tries_ns[-2:-1])
            sends_on = tried_ns >= latest_ok or tried_ns + 2 * (tried_ns - before_ns) >= end_ns
    return Gate(name, complete or sends_on, last_ns / NS_PER_S, expected, text)


def cca_gate(label: str, requested: str, confirmed: str | None) -> Gate:
    """The controller read back from the stack must be the one that was asked for."""
    name = "CCA"
    if confirmed is None:
        text = f"{name}: {label} was asked for {requested}; not confirmed, the stack offers no way"
        return Gate(name, None, None, requested, text)
    same = confirmed.casefold() == requested.casefold()
    text = f"{name}: {label} was asked for {requested} and runs {confirmed}"
    return Gate(name, same, confirmed, requested, text)


def endpoint_gate(
    label: str, exit_status: int | None, *, error: str | None = None, timed_out: bool = False
) -> Gate:
    """Both programs of a flow must have ended well.

    ``exit_status`` is the first that is not 0, or 0; None when none was collected.
    """
    name = "endpoint"
    if timed_out:
        return Gate(name, False, "timed out", 0, f"{name}: {label} did not end in time" + _because(error))
    if exit_status is None:
        text = f"{name}: {label} left no exit status{_because(error)}"
        return Gate(name, False if error else None, None, 0, text)
    if exit_status == UNSUPPORTED:
        return Gate(name, False, exit_status, 0, f"{name}: {label} does not support this{_because(error)}")
    ok = exit_status == 0 and not error
    text = f"{name}: {label} ended with status {exit_status}{_because(error)}"
    return Gate(name, ok, exit_status, 0, text)


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
    return Gate(name, None, share, IDLE_SHARE, f"{text}: perhaps limited by application or receiver")
