"""What a guest may use up before it is ended: processor time, earned back by its clock's progress.

Never wall-clock time: on a loaded machine a trial takes longer and uses no more. A program that polls
without waiting is another matter. It uses the processor and keeps the guest's clock from moving, or lets
it creep: each read of the clock moves it by 256 ns, which makes a loop around ``poll`` with a timeout
of 0 cost about ten processor seconds a virtual second.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from cambrian.study import cost
from cambrian.study.model import Trial

#: processor seconds that each second of a guest's clock may cost; real trials cost 0.02 to 1
CPU_S_PER_S = 4.0
#: processor seconds that any guest may use besides
SPARE_S = 60.0
#: how many times its estimated processor time a trial may use besides: other machines are slower
PATIENCE = 4.0
#: a guest that used no processor time at all for so long hangs
HUNG_S = 300
#: a guest in real time ends by itself; so long after its trial's time, and as long again, something is wrong
REAL_SPARE_S = 180.0
REAL_RATIO = 2.0


@dataclass(frozen=True)
class Limits:
    """``spare_s`` and ``cpu_s_per_s`` are processor seconds, ``wall_s`` is the host's time.

    A guest is ended when it has used ``spare_s`` more than its clock has earned it. ``wall_s`` is None
    for a guest in virtual time; one in real time has the host's clock for its own.
    """

    spare_s: float
    cpu_s_per_s: float = 0.0
    wall_s: float | None = None


def of(trial: Trial, cpu_limit_s: float | None = None) -> Limits:
    """The limits of a trial. With ``cpu_limit_s`` it may use so many processor seconds in all."""
    wall_s = None
    if trial.clock == "real":
        wall_s = REAL_SPARE_S + REAL_RATIO * trial.duration_s
    if cpu_limit_s is not None:
        return Limits(cpu_limit_s, wall_s=wall_s)
    return Limits(SPARE_S + PATIENCE * cost.DEFAULT_SPEED.wall_s(trial), CPU_S_PER_S, wall_s)


def cpu_s(group: int) -> float:
    """Processor seconds that a process group has used so far, with those of its members that have ended.

    Of a group whose leader's children belong to it, as a guest's do: the leader has waited for the ended
    ones. A process that ends while this looks is missing from the sum until the next look.
    """
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            # the name, in parentheses, may hold anything
            fields = stat.read_text().rpartition(")")[2].split()
            if int(fields[2]) == group:
                ticks += sum(int(value) for value in fields[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")


class Account:
    """One guest's use of its limits, looked at once a second or so.

    ``duration_s`` is the trial's. ``reached_s`` is how far the guest's clock has come since its boot, None
    while, or where, that cannot be known. Without it a guest may use what a whole trial would earn it.
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
        """Take down what was used in all by now; the reason to end the guest, or None.

        ``step_s`` is the time from one look to the next. Looks are counted, not the clock read: when the
        machine sleeps or this process is held up, the guest is too.
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
                f"the trial is one of {self.duration_s:g} s"
            )
        if self.limits.wall_s is None and self._looks_without_use * step_s >= HUNG_S:
            return (
                f"the guest used no processor time for {HUNG_S} s{self._place()}: it hangs, or somebody "
                "has stopped its processes. Remedy: run the trial again; a guest that hangs again is a "
                "fault of the kernel or of the machine"
            )
        return None

    def _most_s(self) -> float:
        if self.reached_s is not None or self.limits.wall_s is not None:
            return self.limits.spare_s
        return self.limits.spare_s + self.limits.cpu_s_per_s * self.duration_s

    def _place(self) -> str:
        if self.limits.wall_s is not None:
            return ""
        if self.reached_s is None:
            return ", and how far its clock has come is not known"
        return (
            f", and its clock has come to {self.reached_s:.1f} s after boot "
            f"of a trial of {self.duration_s:g} s"
        )

    def _used_up(self) -> str:
        allowed = f"{self.limits.spare_s:.0f} s"
        if self.limits.cpu_s_per_s:
            allowed += f" and {self.limits.cpu_s_per_s:g} s for each second of its clock"
        return (
            f"the guest has used {self.used_s:.0f} s of processor time{self._place()} (allowed: {allowed}). "
            "Does a program poll without waiting (poll or select with a timeout of 0, a loop that watches "
            "memory)? Virtual time moves when all programs wait: have it wait for its sockets and timers. "
            "If it is only slow, allow it more: --cpu-limit SECONDS"
        )
