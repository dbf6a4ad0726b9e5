"""The CPU time and disk space that a guest may use before it is killed.

Each second of the guest's clock allows more CPU time.

The limit is not wall time: on a loaded machine a trial takes longer but uses the same CPU time. The limit
is for programs that poll without waiting. They use the CPU and stop the guest's clock, or slow it
down: each read of the clock advances it by 256 ns, so a loop around ``poll`` with a timeout
of 0 costs about ten CPU seconds per virtual second.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from cambrian.study import cost
from cambrian.study.model import FRAME_BYTES, Trial
from cambrian.study.tracefile import read_trace

#: CPU seconds that each second of a guest's clock allows; real trials use 0.02 to 1
CPU_S_PER_S = 4.0
#: CPU seconds that every guest may use in addition
SPARE_S = 60.0
#: multiple of its estimated CPU time that a trial may use in addition, for slower machines
PATIENCE = 4.0
#: a guest that uses no CPU time for this long hangs
HUNG_S = 300
#: disk space of a trial: ``DISK_BYTES``, and a share of what its link can carry: the capture has 48 bytes for
#: a packet, and an endpoint that logs each acknowledgement writes 4 % of what it sends. With raw captures,
#: also four times what the link can carry.
DISK_BYTES = 2 * 2**30
LOGS_SHARE = 0.2
RAW_SHARE = 4
#: a guest in real time is killed after ``REAL_SPARE_S`` plus ``REAL_RATIO`` times its duration
REAL_SPARE_S = 180.0
REAL_RATIO = 2.0


@dataclass(frozen=True)
class Limits:
    """``spare_s`` and ``cpu_s_per_s`` are CPU seconds, ``wall_s`` is seconds of the host's clock.

    ``disk_bytes``: bytes that the guest may leave on the disk.

    A guest is killed when it has used ``spare_s`` more than its clock's progress allows. ``wall_s`` is None
    for a guest in virtual time; a guest in real time uses the host's clock.
    """

    spare_s: float
    cpu_s_per_s: float = 0.0
    wall_s: float | None = None
    disk_bytes: int = DISK_BYTES


def capacity_bytes(trial: Trial) -> float:
    """Bytes that the trial's link can carry: at its highest rate, or by its trace."""
    network = trial.network
    if network.trace_file is None:
        return network.most("rate_mbps", network.rate_mbps or 0.0) * 1e6 / 8 * trial.duration_s
    trace = read_trace(network.trace_file)
    rounds, left_ms = divmod(trial.duration_s * 1000, trace.period_ms)
    return FRAME_BYTES * (rounds * len(trace.times_ms) + bisect_right(trace.times_ms, left_ms))


def limits_of(trial: Trial, cpu_limit_s: float | None = None) -> Limits:
    """The limits of a trial; ``cpu_limit_s`` is a fixed limit in CPU seconds instead of the default."""
    wall_s = None
    if trial.clock != "virtual":
        wall_s = REAL_SPARE_S + REAL_RATIO * trial.duration_s
    share = LOGS_SHARE + (RAW_SHARE if trial.raw_capture else 0)
    disk_bytes = DISK_BYTES + round(share * capacity_bytes(trial))
    if cpu_limit_s is not None:
        return Limits(cpu_limit_s, wall_s=wall_s, disk_bytes=disk_bytes)
    spare_s = SPARE_S + PATIENCE * cost.DEFAULT_SPEED.wall_s(trial)
    return Limits(spare_s, CPU_S_PER_S, wall_s, disk_bytes)


def cpu_s(pid: int) -> float:
    """CPU seconds that a process and its descendants have used so far, including their ended children.

    A process that ends during this call is missing from the sum until the next call.
    """
    ticks: dict[int, int] = {}
    children: dict[int, list[int]] = {}
    # not Path.glob: it fails if a process ends while it looks
    for number in (int(folder.name) for folder in Path("/proc").iterdir() if folder.name.isdecimal()):
        with suppress(OSError):
            # the name in parentheses may contain spaces and parentheses
            fields = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
            children.setdefault(int(fields[1]), []).append(number)
            ticks[number] = sum(int(value) for value in fields[11:15])
    total, family = 0, [pid]
    while family:
        one = family.pop()
        total += ticks.get(one, 0)
        family += children.get(one, ())
    return total / os.sysconf("SC_CLK_TCK")


class Account:
    """One guest's use of its limits, updated about once a second.

    ``duration_s`` is the trial's. ``reached_s`` is the guest's clock since its boot, None
    if it is unknown; then the guest may use the CPU time that a whole trial allows.
    """

    def __init__(self, limits: Limits, duration_s: float) -> None:
        self.limits = limits
        self.duration_s = duration_s
        self.used_s = 0.0
        self.reached_s: float | None = None
        self._behind_s = 0.0
        self._looks_without_use = 0
        self._looks = 0

    def look(self, used_s: float, reached_s: float | None, step_s: float) -> str | None:
        """Record the CPU time used so far; returns the reason to kill the guest, or None.

        ``step_s`` is the interval of the calls. Calls are counted instead of reading a clock: when the
        machine sleeps or this process is delayed, so is the guest.
        """
        self._looks += 1
        self._looks_without_use = 0 if used_s > self.used_s else self._looks_without_use + 1
        earned_s = 0.0
        if reached_s is not None:
            earned_s = self.limits.cpu_s_per_s * max(reached_s - (self.reached_s or 0.0), 0.0)
            self.reached_s = max(reached_s, self.reached_s or 0.0)
        self._behind_s = max(self._behind_s + max(used_s - self.used_s, 0.0) - earned_s, 0.0)
        self.used_s = max(used_s, self.used_s)
        if self._behind_s > self._most_s():
            return self._used_up()
        if self.limits.wall_s is not None and self._looks * step_s > self.limits.wall_s:
            return (
                f"the guest ran in real time and had not ended after {self.limits.wall_s:.0f} s; "
                f"the trial's duration is {self.duration_s:g} s"
            )
        if self.limits.wall_s is None and self._looks_without_use * step_s >= HUNG_S:
            return (
                f"the guest used no CPU time for {HUNG_S} s{self._place()}: it hangs, or its "
                "processes were stopped. Remedy: run the trial again; if it hangs again, the kernel or "
                "the machine has a fault"
            )
        return None

    def disk(self, used_bytes: int) -> str | None:
        """The reason to kill the guest for what it has written, or None."""
        if used_bytes <= self.limits.disk_bytes:
            return None
        return (
            f"the guest has written {used_bytes / 2**20:.0f} MiB{self._place()} "
            f"(allowed: {self.limits.disk_bytes / 2**20:.0f} MiB). Does a program write without end?"
        )

    def _most_s(self) -> float:
        if self.reached_s is not None or self.limits.wall_s is not None:
            return self.limits.spare_s
        return self.limits.spare_s + self.limits.cpu_s_per_s * self.duration_s

    def _place(self) -> str:
        if self.limits.wall_s is not None:
            return ""
        if self.reached_s is None:
            return ", and the position of its clock is unknown"
        return (
            f", and its clock has come to {self.reached_s:.1f} s after boot "
            f"of a trial of {self.duration_s:g} s"
        )

    def _used_up(self) -> str:
        allowed = f"{self.limits.spare_s:.0f} s"
        if self.limits.cpu_s_per_s:
            allowed += f" and {self.limits.cpu_s_per_s:g} s for each second of its clock"
        return (
            f"the guest has used {self.used_s:.0f} s of CPU time{self._place()} (allowed: {allowed}). "
            "Does a program poll without waiting (poll or select with a timeout of 0, a loop that watches "
            "memory)? Virtual time advances when all programs wait: make it wait for its sockets and timers. "
            "If it is only slow, allow more: --cpu-limit SECONDS"
        )
