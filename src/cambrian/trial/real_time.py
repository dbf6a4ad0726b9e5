"""Whether a machine kept up with a trial in real time, by how late it woke a waiting program."""

from __future__ import annotations

from cambrian.testbed.contract import GuestReport

#: mean lateness: a tenth of each wait (:data:`cambrian.testbed.lateness.STEP_NS`)
MEAN_LATE_MS = 1.0
#: one pause: some round trips of a usual path, and half of a sender's smallest time-out
WORST_LATE_MS = 100.0


def behind(report: GuestReport) -> str | None:
    """How far a guest in real time fell behind its clock; None if the machine kept up.

    The figures come from waits that have no part in the network. So a wrong link, queue or clock of the
    testbed does not change them.
    """
    lateness = report.get("lateness")
    if lateness is None:
        return None
    mean_ms, worst_ms = lateness["mean_ns"] / 1e6, lateness["worst_ns"] / 1e6
    if lateness["waits"] and mean_ms <= MEAN_LATE_MS and worst_ms <= WORST_LATE_MS:
        return None
    return (
        f"real time: this machine woke a waiting program {mean_ms:.1f} ms late on average and "
        f"{worst_ms:.0f} ms at worst (allowed: {MEAN_LATE_MS:g} and {WORST_LATE_MS:g} ms)"
    )
