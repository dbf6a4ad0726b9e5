"""States of a BBR that exports its window and flight and not its state, kernel TCP's first of all.

By what BBR does to them (draft-cardwell-iccrg-bbr-congestion-control-00; Linux's tcp_bbr.c): in ProbeBW the
window is near two BDP, so half of its usual value stands for the BDP.

* **Startup** goes on to the flight's first peak. Where its losses end that peak, it is in truth longer.
* **Drain** lasts from there until the flight has fallen to the BDP. Where that takes more than ten round
  trips another flow's queue hides it, and there is no Drain here.
* **ProbeRTT**, of version 1 only, is where the window is low for 80 to 1500 ms. Kernel TCP's is then four
  packets and afterwards at once what it was. Other stacks' is low at 0.45 of its usual value. Other flows and
  a changing rate make such windows, too, so then the trace cannot tell. Versions 2 and 3 keep half a BDP, and
  their other bounds shrink it likewise.
* **ProbeBW** is all else. The window does not show its phases.
"""

from __future__ import annotations

import numpy as np

from cambrian.metrics.columns import BoolArray
from cambrian.metrics.states.infer import lasting
from cambrian.metrics.states.rows import Rows
from cambrian.trace.kernel_tcp import MSS_BYTES

#: BBR's window gain in ProbeBW
_WINDOW_GAIN = 2.0
#: round trips that Drain takes at most
_DRAIN_ROUNDS = 10
#: this near the peak of the flight is still Startup; below, it has fallen
_AT_PEAK = 0.95
_FALLEN = 0.8
_PROBE_RTT_SHARE = 0.45
#: Linux's bbr_cwnd_min_target. After ProbeRTT the window is at once what it was; one that an acknowledgement
#: lets grow from four packets is at most twice as large
_PROBE_RTT_BYTES = 4 * MSS_BYTES
_GROWN = 2.0
#: 100 or 200 ms and the round trips to get down and up again; a window that is small for longer is small
_PROBE_RTT_NS = 80_000_000
_PROBE_RTT_MOST_NS = 1_500_000_000


def startup_and_drain(rows: Rows) -> tuple[int, int] | None:
    """Rows at which Drain and ProbeBW begin; None if the flight never falls from a peak of a BDP or more.

    Then the sender may be in Startup to the end, or something else limits it.
    """
    usual = _usual_bytes(rows)
    if not usual > 0:
        return None
    bdp_bytes = usual / _WINDOW_GAIN
    flight = np.nan_to_num(rows.in_flight_bytes)
    highest = np.maximum.accumulate(flight)
    # a small flight comes and goes with single ACKs
    fallen = np.flatnonzero((highest >= bdp_bytes) & (flight <= _FALLEN * highest))
    if not len(fallen):
        return None
    at_peak = np.flatnonzero(flight[: fallen[0]] >= _AT_PEAK * highest[fallen[0]])
    draining = int(at_peak[-1]) + 1
    latest_ns = rows.time_ns[draining] + _DRAIN_ROUNDS * rows.rtt_ns[draining]
    drained = np.flatnonzero(flight[draining : np.searchsorted(rows.time_ns, latest_ns)] <= bdp_bytes)
    return draining, draining + (int(drained[0]) if len(drained) else 0)


def probe_rtt(rows: Rows, probing: int) -> BoolArray:
    """Rows in which ProbeRTT holds the window down, after row ``probing``; shape (n,)."""
    return _low(rows, probing, _PROBE_RTT_SHARE * _usual_bytes(rows))


def kernel_probe_rtt(rows: Rows, probing: int) -> BoolArray | None:
    """The same of kernel TCP, by its own constant; None if another cause may have made its window so small.

    A timeout also leaves a few packets, from which the window grows. On a path of a few packets the window is
    always so small.
    """
    if not _usual_bytes(rows) > _GROWN * _PROBE_RTT_BYTES:
        return None
    found = _low(rows, probing, _PROBE_RTT_BYTES)
    after = np.flatnonzero(found[:-1] & ~found[1:]) + 1
    return found if (rows.cwnd_bytes[after] > _GROWN * _PROBE_RTT_BYTES).all() else None


def _low(rows: Rows, probing: int, most_bytes: float) -> BoolArray:
    """Rows after ``probing`` in which the window is at most this for as long as a ProbeRTT lasts."""
    low = rows.cwnd_bytes <= most_bytes
    low[:probing] = False
    return lasting(rows, low, least_ns=_PROBE_RTT_NS, most_ns=_PROBE_RTT_MOST_NS)


def _usual_bytes(rows: Rows) -> float:
    """BBR's usual window in bytes: the median without the first quarter of the rows."""
    settled = rows.cwnd_bytes[len(rows) // 4 :]
    known = settled[np.isfinite(settled)]
    return float(np.median(known)) if len(known) else float("nan")
