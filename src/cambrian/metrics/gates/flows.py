"""Gates on one flow: its end, its controller, its programs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
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
    arrivals_ns: npt.NDArray[np.int64],
    lifetime_ns: tuple[int, int],
    rtt_ns: int,
    *,
    complete: bool,
    retransmitted_ns: Sequence[int] = (),
) -> Gate:
    """A flow that was not done must have sent until near the end.

    ``arrivals_ns``: when its packets came to the bottleneck, in order. ``lifetime_ns``: its
    start and the trial's end. It may be silent for the last tenth of it: a starved flow backs
    off for seconds, a dead one never returns. ``retransmitted_ns``: when the sender says that
    it retransmitted, in order. A retransmission timer waits twice as long each time (RFC 6298,
    section 5.5), so a sender that ended by retransmitting, and whose next attempt is due after
    the end, is not dead either. That attempt may have been lost before the bottleneck or have
    come to it, within ``rtt_ns``, and been dropped there.
    """
    name = "premature end"
    start_ns, end_ns = lifetime_ns
    latest_ok = end_ns - SILENCE_ALLOWED * (end_ns - start_ns)
    expected = f"after {latest_ok / NS_PER_S:.3f} s, or complete"
    if not arrivals_ns.size:
        return Gate(name, False, None, expected, f"{name}: {label} never sent a packet")
    last_arrival_ns = int(arrivals_ns[-1])
    last_s = last_arrival_ns / NS_PER_S
    text = f"{name}: {label} sent its last packet at {last_s:.3f} s of {end_ns / NS_PER_S:.3f} s"
    if complete:
        return Gate(name, True, last_s, expected, f"{text}, complete")
    if last_arrival_ns < latest_ok and retransmitted_ns and last_arrival_ns - retransmitted_ns[-1] <= rtt_ns:
        tried_ns = retransmitted_ns[-1]
        earlier_ns = arrivals_ns[: np.searchsorted(arrivals_ns, tried_ns, side="right")]
        before_ns = max(start_ns, *earlier_ns[-1:].tolist(), *retransmitted_ns[-2:-1])
        text += f", and retransmitted in vain until {tried_ns / NS_PER_S:.3f} s"
        due_ns = tried_ns + 2 * (tried_ns - before_ns)
        return Gate(name, tried_ns >= latest_ok or due_ns >= end_ns, last_s, expected, text)
    return Gate(name, last_arrival_ns >= latest_ok, last_s, expected, text)


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
