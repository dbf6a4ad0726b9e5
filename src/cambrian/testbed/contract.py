"""Types of the JSON files between host and guest: the plan for the guest, and the guest's report.

``plan.json`` is a :class:`Plan`, ``guest.json`` a :class:`GuestReport`. Times are nanoseconds; the
docstrings say which of them count from the trial's zero. Only types: the guest does not run it.
"""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict


class RootPlan(TypedDict):
    """A program's own root folder: ``tree`` is mirrored, the other fields add to it (path → content)."""

    tree: str
    folders: NotRequired[list[str]]
    copies: NotRequired[dict[str, str]]
    sparse: NotRequired[dict[str, int]]
    links: NotRequired[dict[str, str]]
    texts: NotRequired[dict[str, str]]


class CpuPlan(TypedDict):
    """The time that work takes on a slow CPU."""

    per_packet_ns: int
    per_syscall_ns: int


class EarlyPlan(TypedDict):
    """A program that starts before the trial's zero, and begins its work on SIGUSR1."""

    ready_timeout_s: float


class ProgramPlan(TypedDict):
    """One program: its command line, its whole environment, its working folder with files.

    ``files``: name → text. ``sparse``: name → bytes of a file of zeros. ``folders``: folders to create.
    ``ready``: how it shows that it is ready ("json": its event; "udp", "tcp": its ``port`` is open).
    ``stop_statuses``: its exit statuses after SIGTERM, or after its peer's end. ``user``: the guest's user
    that it runs as, without privileges; without it, root. ``logs``: it may write to a folder of its own of
    the results (:func:`cambrian.testbed.users.logs_folder`).
    """

    argv: list[str]
    environment: dict[str, str]
    work: str
    ready: NotRequired[str]
    port: NotRequired[int]
    files: NotRequired[dict[str, str]]
    sparse: NotRequired[dict[str, int]]
    folders: NotRequired[list[str]]
    stop_statuses: NotRequired[list[int]]
    root: NotRequired[RootPlan]
    cpu: NotRequired[CpuPlan]
    user: NotRequired[int]
    logs: NotRequired[bool]
    early: NotRequired[EarlyPlan]


class CapturePlan(ProgramPlan):
    """The capture; ``trace_tcp``: with the kernel's TCP trace points."""

    trace_tcp: bool


class FlowPlan(TypedDict):
    """One flow's programs. ``start_ns``: since the trial's zero. ``size_bytes``: 0 never ends."""

    start_ns: int
    size_bytes: int
    sender: ProgramPlan
    receiver: ProgramPlan


class LinkPlan(TypedDict):
    """One flow's own link: netem's parameters, both ways; ``offload``: the sender may build large packets."""

    forward: dict[str, Any]
    back: dict[str, Any]
    loss_every_packets: int | None
    offload: bool


class TbfPlan(TypedDict):
    """The bottleneck's token bucket."""

    rate_bps: float
    burst_bytes: int
    limit_bytes: int


class AqmPlan(TypedDict):
    """The queue inside the bucket, and its parameters with the names of the kernel's qdisc."""

    kind: str
    parameters: dict[str, Any]


class BottleneckPlan(TypedDict):
    """A bucket with a queue inside (None: drop-tail), or the program that plays a trace."""

    limit_bytes: int
    tbf: NotRequired[TbfPlan]
    aqm: NotRequired[AqmPlan | None]
    tracelink: NotRequired[ProgramPlan]


class ChangePlan(TypedDict):
    """One step of the schedule, ``at_ns`` since the trial's zero; missing fields change nothing."""

    at_ns: int
    tbf: NotRequired[TbfPlan]
    links: NotRequired[list[LinkPlan]]
    receivers_arrive: NotRequired[int]
    receivers_leave: NotRequired[int]


class Plan(TypedDict):
    """The guest's plan. ``links`` and ``flows`` are in order of position.

    ``mounts``: place in the guest → folder, or before the boot also file, of the host.
    ``real_time``: the guest's clock is the host's, and its lateness is measured.
    """

    mounts: dict[str, str]
    memory_mb: int
    kernel_settings: dict[str, int]
    real_time: bool
    duration_ns: int
    tcp_ecn: str
    links: list[LinkPlan]
    bottleneck: BottleneckPlan
    schedule: list[ChangePlan]
    flows: list[FlowPlan]
    capture: CapturePlan


class QdiscCounters(TypedDict):
    """The kernel's counters of one queueing discipline. A parent's drops include its child's."""

    kind: str
    handle: str
    sent_packets: int
    sent_bytes: int
    dropped_packets: int
    backlog_packets: int
    backlog_bytes: int


class HostCounters(TypedDict):
    """``/proc/net/snmp`` of a namespace: protocol → counter → value."""

    snmp: dict[str, dict[str, int]]


class FlowCounters(HostCounters):
    """A sender's host, and its link both ways."""

    forward: list[QdiscCounters]
    back: list[QdiscCounters]


class Counters(TypedDict):
    """All counters of a trial, at its end; ``flows`` in order of position."""

    bottleneck: list[QdiscCounters]
    flows: list[FlowCounters]
    receiver: HostCounters


class KernelEntries(TypedDict):
    """How often a user's programs entered the guest's kernel.

    ``calls``: number of a system call → how many there were, and how many of them returned an error.
    ``page_faults``: of all kinds. ``traps``: RDTSC, and faults that were the program's end.
    """

    calls: dict[str, tuple[int, int]]
    page_faults: int
    traps: int


class ProcessReport(TypedDict):
    """One program's life. ``status``: as waitpid's, decoded; a signal's is negative. Times since zero.

    ``stopped``: it still ran when it was told to end, after the trial's end.
    ``kernel_entries``: of the program and all that it started, if it ran as a user of its own in a guest.
    """

    status: int | None
    started_ns: int
    ended_ns: int | None
    stopped: bool
    kernel_entries: NotRequired[KernelEntries]


class LatenessReport(TypedDict):
    """How late a waiting program was woken in real time: number of waits, mean and worst lateness."""

    waits: int
    mean_ns: int
    worst_ns: int


class GuestReport(TypedDict):
    """The report of a guest.

    ``zero_ns``: the trial's zero, CLOCK_REALTIME. ``end_ns``: since zero. ``counted_ns``: when the
    counters had been read, since zero. ``base_rtt_ns``: measured, one per
    flow. ``problems``: errors of programs, or a "note: …". ``killed``: programs that did not end on
    SIGTERM. ``lateness``: of a guest in real time. A guest that failed has ``crash``, a traceback, and only
    some of the other fields.
    """

    kernel: str
    zero_ns: int
    end_ns: int
    realtime_minus_monotonic_ns: int
    base_rtt_ns: list[int | None]
    counters: Counters
    counted_ns: int
    processes: dict[str, ProcessReport]
    problems: list[str]
    killed: list[str]
    lateness: NotRequired[LatenessReport]
    crash: NotRequired[str]
