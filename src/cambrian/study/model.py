"""The data models: network, flow, contestant, trial, study.

Frozen, validated data with units in every name. This module uses no file, clock
or process. :mod:`cambrian.study.load` turns TOML into these models, and
:mod:`cambrian.study.expand` turns a :class:`Study` into :class:`Trial` objects.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

# mypy takes "as" for the wish that others import it from here
from cambrian.study.limits import FRAME_BYTES as FRAME_BYTES  # noqa: PLC0414
from cambrian.study.limits import (
    LARGEST_FLOW_BYTES,
    MOST_CHANGES,
    MOST_HANDOVERS,
    MOST_LISTED,
    AqmIntervalMs,
    AqmTargetMs,
    BufferBdp,
    BufferBytes,
    BufferPackets,
    DurationS,
    JitterMs,
    Line,
    LineupName,
    Name,
    OptionName,
    OptionValue,
    Percent,
    RateMbps,
    RttMs,
    Seeds,
    StartMs,
    StateChangePercent,
    Text,
    TimeS,
    Word,
    bdp_bytes,
    path_problem,
)
from cambrian.study.queues import AQMS, Queue

#: Flows that one trial can hold.
MOST_FLOWS = 64
#: Objects that a page can hold, and the smallest of them (a picture that decodes, and its padding).
MOST_OBJECTS = 1000
SMALLEST_OBJECT_BYTES = 400

#: shell style: ``*``, ``?``, ``[]``
Patterns = Annotated[tuple[Line, ...], Field(min_length=1, max_length=MOST_LISTED)]
Clock = Literal["virtual", "real", "host"]
Design = Literal["solo", "versus-reference", "pairwise", "flows"]
#: the browser, or a program that fetches like a browser and displays nothing
PageClient = Literal["chromium", "light"]
#: the measure of flow 0 that a stopping rule watches; the name has the unit
StoppingMeasure = Literal["throughput_mbps", "share_percent", "plt_ms"]
#: With fewer trials no two order statistics enclose a median with 95 % confidence.
FEWEST_FOR_A_MEDIAN = 6


class Frozen(BaseModel):
    """Immutable; an unknown key, an infinity or a NaN is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class BurstLoss(Frozen):
    """Gilbert–Elliott loss: two states, a loss probability in each.

    Parameters are netem's ``loss gemodel``: probabilities per packet in percent.
    """

    good_to_bad_percent: StateChangePercent
    bad_to_good_percent: StateChangePercent
    loss_in_bad_percent: Percent = 100.0
    loss_in_good_percent: Percent = 0.0


class Change(Frozen):
    """One step of a schedule: the new values from ``at_s`` seconds after the trial's start."""

    at_s: DurationS
    rate_mbps: RateMbps | None = None
    rtt_ms: RttMs | None = None
    #: random loss before the bottleneck, and on the return path
    loss_percent: Percent | None = None
    return_loss_percent: Percent | None = None
    #: the receivers get a new address, and keep the old address for this time
    handover_overlap_ms: StartMs | None = None

    @model_validator(mode="after")
    def _says_something(self) -> Change:
        if all(getattr(self, name) is None for name in Change.model_fields if name != "at_s"):
            raise ValueError(
                "this step changes nothing: name rate_mbps, rtt_ms, loss_percent, return_loss_percent "
                "or handover_overlap_ms"
            )
        return self

    @property
    def settled_s(self) -> float:
        """When the step is complete, in seconds after the trial's start."""
        return self.at_s + (self.handover_overlap_ms or 0) / 1e3


class Network(Frozen):
    """A dumbbell: sender links (delay, loss…), one bottleneck, receivers.

    ``rate_mbps`` counts frames (IP packet + 14 bytes), in units of 10^6 bit/s, as
    Linux's tbf does. Exactly one of ``rate_mbps`` and ``trace_file`` (a Mahimahi
    packet-delivery trace) sets the bottleneck. Exactly one of ``buffer_bdp``,
    ``buffer_bytes`` and ``buffer_packets`` sets its buffer; ``buffer_bdp`` counts
    ``rate_mbps × rtt_ms`` (for a trace, its mean rate).
    """

    name: Line = ""
    rate_mbps: RateMbps | None = None
    trace_file: Word | None = None
    rtt_ms: RttMs
    #: share of the round trip that lies on the forward path
    forward_delay_percent: Percent = 50.0
    buffer_bdp: BufferBdp | None = None
    buffer_bytes: BufferBytes | None = None
    buffer_packets: BufferPackets | None = None
    queue: Queue = "droptail"
    ecn: bool = False
    #: parameters of the AQM; None: the kernel's default
    aqm_target_ms: AqmTargetMs | None = None
    aqm_interval_ms: AqmIntervalMs | None = None
    #: random loss before the bottleneck, forward and on the return path
    loss_percent: Percent = 0.0
    return_loss_percent: Percent = 0.0
    burst_loss: BurstLoss | None = None
    #: exactly every n-th packet of each sender is lost, as the controllers' formulas assume
    loss_every_packets: Annotated[int, Field(ge=2, le=65_535)] | None = None
    jitter_ms: JitterMs = 0.0
    #: this share of packets skips the forward delay, and so overtakes other packets
    reorder_percent: Percent = 0.0
    duplicate_percent: Percent = 0.0
    #: senders' kernels build large packets and cut them just before the link: segmentation offload
    offload: bool = False
    schedule: Annotated[tuple[Change, ...], Field(max_length=MOST_CHANGES)] = ()

    @model_validator(mode="after")
    def _consistent(self) -> Network:
        if (self.rate_mbps is None) == (self.trace_file is None):
            raise ValueError("the bottleneck needs one rate: give exactly one of rate_mbps and trace_file")
        buffers = [self.buffer_bdp, self.buffer_bytes, self.buffer_packets]
        if sum(value is not None for value in buffers) != 1:
            raise ValueError(
                "the bottleneck needs one buffer size: "
                "give exactly one of buffer_bdp, buffer_bytes and buffer_packets"
            )
        if self.loss_percent and self.burst_loss:
            raise ValueError("forward loss has one kind: give loss_percent or burst_loss, not both")
        if self.trace_file and self.queue != "droptail":
            raise ValueError('a trace_file link has a drop-tail queue: set queue = "droptail"')
        if self.trace_file and self.changes("rate_mbps"):
            raise ValueError("a trace_file link takes its rate from the trace: no rate_mbps in schedule")
        self._check_queue()
        self._check_offload()
        self._check_losses()
        if self.burst_loss and self.changes("loss_percent"):
            raise ValueError("burst_loss applies to the whole trial: remove loss_percent from schedule")
        handovers = [change for change in self.schedule if change.handover_overlap_ms is not None]
        if self.trace_file and handovers:
            raise ValueError("a trace_file link keeps its addresses: no handover_overlap_ms in schedule")
        if len(handovers) > MOST_HANDOVERS:
            raise ValueError(
                f"{len(handovers):,} handovers need as many addresses, and a trial has {MOST_HANDOVERS}: "
                "give fewer steps with handover_overlap_ms"
            )
        if any(later.at_s <= earlier.settled_s for earlier, later in pairwise(handovers)):
            raise ValueError(
                "a handover begins before the previous one ends: "
                "give a later at_s or a smaller handover_overlap_ms"
            )
        times = [change.at_s for change in self.schedule]
        if times != sorted(times):
            raise ValueError("the schedule goes back in time: put its steps in order of at_s")
        if self.rate_mbps is not None and (problem := self.path_problem(self.rate_mbps)):
            raise ValueError(problem)
        return self

    def changes(self, key: str) -> bool:
        """Does a step of the schedule set this key?"""
        return any(getattr(change, key) is not None for change in self.schedule)

    @property
    def path(self) -> tuple[object, ...]:
        """Rate, round trip and buffer: what two networks must share to be one path for a contestant."""
        buffer = self.buffer_bdp, self.buffer_bytes, self.buffer_packets
        return self.rate_mbps, self.trace_file, self.rtt_ms, *buffer

    def lost_spans_s(self, key: Literal["loss_percent", "return_loss_percent"]) -> list[tuple[float, float]]:
        """(from, to) while this key is 100 %: everything is lost. The last one may have no end (inf)."""
        steps = [(0.0, getattr(self, key))]
        steps += [
            (step.at_s, percent) for step in self.schedule if (percent := getattr(step, key)) is not None
        ]
        # a step that repeats the value before it begins nothing
        begins = [one for before, one in pairwise([(0.0, None), *steps]) if one[1] != before[1]]
        ends_s = [*(at_s for at_s, _ in begins[1:]), math.inf]
        return [
            (at_s, end_s) for (at_s, percent), end_s in zip(begins, ends_s, strict=True) if percent == 100
        ]

    def most(self, key: Literal["rate_mbps", "rtt_ms"], *values: float) -> float:
        """The largest of these values and those of the schedule's steps."""
        steps: list[float | None] = [getattr(change, key) for change in self.schedule]
        return max(*values, *(value for value in steps if value is not None), 0.0)

    def path_problem(self, rate_mbps: float, rtts_ms: Sequence[float] = ()) -> str | None:
        """``problem: remedy`` if the guest has not enough memory for the full path and its buffer.

        ``rate_mbps`` is the bottleneck's rate at the start, ``rtts_ms`` has the flows' own round trips.
        """
        if self.buffer_bytes is not None:
            key, buffer_bytes = "buffer_bytes", float(self.buffer_bytes)
        elif self.buffer_packets is not None:
            key, buffer_bytes = "buffer_packets", float(self.buffer_packets * FRAME_BYTES)
        else:
            key, buffer_bytes = "buffer_bdp", (self.buffer_bdp or 0) * bdp_bytes(rate_mbps, self.rtt_ms)
        most = bdp_bytes(self.most("rate_mbps", rate_mbps), self.most("rtt_ms", self.rtt_ms, *rtts_ms))
        return path_problem(key, buffer_bytes, most)

    def _check_offload(self) -> None:
        if not self.offload:
            return
        keys = ("loss_percent", "burst_loss", "loss_every_packets", "jitter_ms", "reorder_percent")
        given = [key for key in (*keys, "duplicate_percent") if getattr(self, key)]
        if any(change.loss_percent for change in self.schedule):
            given.append("schedule")
        if given:
            raise ValueError(
                f"{given[0]} applies to large packets, before they are cut, and would hit many at once: "
                f"remove offload or {given[0]}"
            )

    def _check_losses(self) -> None:
        for key in ("loss_percent", "return_loss_percent"):
            if getattr(self, key) == 100 and not self.changes(key):
                raise ValueError(
                    f"{key} = 100 loses every packet of the trial: "
                    "give less, or a step of schedule with it for an outage"
                )
        if self.burst_loss and (
            self.burst_loss.loss_in_bad_percent == self.burst_loss.loss_in_good_percent == 100
        ):
            raise ValueError(
                "this burst_loss loses every packet of the trial: give loss_in_good_percent below 100"
            )
        if self.burst_loss and not (
            self.burst_loss.loss_in_bad_percent or self.burst_loss.loss_in_good_percent
        ):
            raise ValueError("this burst_loss loses nothing: give loss_in_bad_percent above 0, or remove it")
        if self.reorder_percent == 100:
            raise ValueError(
                "with reorder_percent = 100 every packet skips the delay, and none overtakes: give less"
            )
        if self.reorder_percent and not self.forward_delay_percent:
            raise ValueError(
                "reorder_percent lets packets skip the forward delay, and there is none: "
                "give forward_delay_percent above 0"
            )

    def _check_queue(self) -> None:
        knobs = [key for key in ("aqm_target_ms", "aqm_interval_ms") if getattr(self, key) is not None]
        aqm = AQMS.get(self.queue)
        if aqm is None:
            if self.ecn:
                raise ValueError("drop-tail cannot mark: ecn = true needs an AQM queue")
            if knobs:
                raise ValueError("drop-tail has no aqm_target_ms or aqm_interval_ms: name an AQM as queue")
            return
        if self.ecn and aqm.ecn == "never":
            marking = ", ".join(name for name, kind in AQMS.items() if kind.ecn != "never")
            raise ValueError(f"{self.queue} does not mark: ecn = true needs one of {marking}")
        for key in knobs:
            if key not in aqm.knobs:
                raise ValueError(f"{self.queue} has no {key}: remove it")


class Cpu(Frozen):
    """A slow CPU: the virtual time that a program's work takes on it. Other programs are not delayed.

    All other work of the program takes no time, as on every other CPU.
    """

    #: for each datagram (UDP), or each full segment of bytes (TCP), read from a socket
    per_packet_us: Annotated[float, Field(ge=0, le=1_000_000)] = 0.0
    #: for each system call
    per_syscall_us: Annotated[float, Field(ge=0, le=1_000_000)] = 0.0

    @model_validator(mode="after")
    def _costs_something(self) -> Cpu:
        if not (self.per_packet_us or self.per_syscall_us):
            raise ValueError("this CPU is not slow: give per_packet_us or per_syscall_us")
        return self


class Contestant(Frozen):
    """One implementation: a stack, a congestion controller, and its options."""

    stack: Word
    cca: Word
    receiver: Word = "own"
    #: a slow CPU of the receiving program, such as a phone's; None: not slow
    receiver_cpu: Cpu | None = None
    tls: bool = False
    options: dict[OptionName, OptionValue] = {}
    #: name in reports; default: "stack cca", with the receiver if it is not the stack's own
    label: Line = ""

    @property
    def name(self) -> str:
        """Label for tables and plots."""
        to = "" if self.receiver == "own" else f" to {self.receiver}"
        return self.label or f"{self.stack} {self.cca}{to}"


class PageObjects(Frozen):
    """Images of one size."""

    count: Annotated[int, Field(gt=0, le=MOST_OBJECTS)]
    size_bytes: Annotated[int, Field(ge=SMALLEST_OBJECT_BYTES, le=10_000_000)]
    #: each image is requested this long after all earlier ones have arrived; None: at once with them
    after_ms: Annotated[float, Field(gt=0, le=600_000)] | None = None


class Page(Frozen):
    """A web page: a document with these images, in this order."""

    name: Name = "page"
    objects: Annotated[tuple[PageObjects, ...], Field(min_length=1, max_length=MOST_OBJECTS)]

    @model_validator(mode="after")
    def _not_too_many(self) -> Page:
        if self.count > MOST_OBJECTS:
            raise ValueError(f"objects adds up to {self.count:,}: a page can hold {MOST_OBJECTS:,}")
        return self

    @property
    def count(self) -> int:
        """Images on the page."""
        return sum(group.count for group in self.objects)

    @property
    def pauses(self) -> bool:
        """Are some images requested later than others?"""
        return any(group.after_ms is not None for group in self.objects)

    @property
    def size_bytes(self) -> int:
        """Bytes of all images, without the document."""
        return sum(group.count * group.size_bytes for group in self.objects)


class PageLoads(Frozen):
    """``[page_load]``: every contestant loads each of these pages, each in separate trials."""

    pages: Annotated[tuple[Page, ...], Field(min_length=1, max_length=MOST_LISTED)]
    client: PageClient = "chromium"
    #: keep the browser's network log (it is large)
    netlog: bool = False


class Flow(Frozen):
    """One contestant in one trial."""

    contestant: Contestant
    start_ms: StartMs = 0.0
    #: bytes to carry; 0 runs until the trial ends
    size_bytes: Annotated[int, Field(ge=0, le=LARGEST_FLOW_BYTES)] = 0
    #: this flow's round trip; None: the network's
    rtt_ms: RttMs | None = None
    #: instead of bytes: a page to load once, and its client
    page: Page | None = None
    client: PageClient = "chromium"
    netlog: bool = False

    def base_rtt_ms(self, network: Network) -> float:
        """This flow's round trip without queueing: its own, or the network's."""
        return self.rtt_ms or network.rtt_ms

    @model_validator(mode="after")
    def _carries_one_thing(self) -> Flow:
        if self.page is not None and self.size_bytes:
            raise ValueError("a flow carries bytes or loads a page: give size_bytes or page, not both")
        if self.page is not None and self.contestant.receiver != "own":
            raise ValueError("a page is loaded by client: remove receiver or page")
        if self.page is None and self.client == "light":
            raise ValueError("client is the program that loads a page: give a page, or remove client")
        if self.page is not None and self.page.pauses and self.client != "light":
            raise ValueError(
                'a browser requests all images at once: give client = "light", or remove after_ms'
            )
        if self.netlog and (self.page is None or self.client != "chromium"):
            raise ValueError(
                'netlog is the browser\'s log: give a page and client = "chromium", or remove netlog'
            )
        return self


class Lineup(Frozen):
    """The flows of one trial, with a name; a study can have several line-ups."""

    name: LineupName
    flows: Annotated[tuple[Flow, ...], Field(min_length=1, max_length=MOST_FLOWS)]
    #: number of equal flows of each entry in the file (``count``)
    counts: tuple[int, ...] = ()


def clock_problem(clock: Clock, *, slow_receiver: bool, trace: bool, page: bool) -> str | None:
    """What cannot run on this clock (a slow receiver, a trace-driven link, a page); None if all can."""
    if clock != "virtual" and slow_receiver:
        return "receiver_cpu is a model in virtual time"
    if clock == "host" and trace:
        return "a trace-driven link needs a guest"
    if clock == "host" and page:
        return "page loads need a guest"
    return None


class Trial(Frozen):
    """The smallest unit: one network, its flows, one seed, one clock.

    Flow ``i`` has position ``positions[i]`` of the testbed. The position decides the flow's address, the
    random losses of its links and the start of its programs. Two trials that differ only in ``positions``
    are one experiment with the flows' positions exchanged. A single flow may have another position
    than 0, with the random losses of that position.
    """

    network: Network
    flows: Annotated[tuple[Flow, ...], Field(min_length=1, max_length=MOST_FLOWS)]
    #: one for each flow; default: flow ``i`` has position ``i``
    positions: tuple[int, ...] = ()
    duration_s: DurationS
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 1
    clock: Clock = "virtual"
    raw_capture: bool = False
    #: parameters of the guest kernel's own modules, as on its command line:
    #: ``{"tcp_cubic.fast_convergence": 0}``
    kernel_settings: dict[
        Annotated[str, Field(pattern=r"^[a-z0-9_]+\.[a-z0-9_]+$")],
        Annotated[int, Field(ge=-(2**31), lt=2**31)],
    ] = {}

    @model_validator(mode="before")
    @classmethod
    def _every_flow_has_a_position(cls, data: Any) -> Any:
        if isinstance(data, dict) and data.get("flows") and not data.get("positions"):
            return data | {"positions": tuple(range(len(data["flows"])))}
        return data

    @model_validator(mode="after")
    def _positions_differ(self) -> Trial:
        fits = all(0 <= position < MOST_FLOWS for position in self.positions)
        if len(self.positions) != len(self.flows) or len(set(self.positions)) < len(self.flows) or not fits:
            raise ValueError(
                f"positions must hold one number from 0 to {MOST_FLOWS - 1} for each flow, all different: "
                "correct them, or remove them"
            )
        return self

    @model_validator(mode="after")
    def _path_fits(self) -> Trial:
        rtts_ms = [flow.rtt_ms for flow in self.flows if flow.rtt_ms is not None]
        if self.network.rate_mbps is not None and rtts_ms:
            problem = self.network.path_problem(self.network.rate_mbps, rtts_ms)
            if problem is not None:
                raise ValueError(problem)
        return self

    @model_validator(mode="after")
    def _clock_can(self) -> Trial:
        problem = clock_problem(
            self.clock,
            slow_receiver=any(flow.contestant.receiver_cpu for flow in self.flows),
            trace=self.network.trace_file is not None,
            page=any(flow.page for flow in self.flows),
        )
        if self.clock == "host" and self.kernel_settings:
            problem = "kernel_settings are for a guest's kernel: the host's own has other users"
        if problem:
            raise ValueError(f"{problem}: set another clock")
        return self

    @property
    def warmup_ns(self) -> int:
        """Time when the last endless flow is expected to have left slow start: its start plus 20 round trips.

        Flows of fixed size and page loads decide it only in a trial without an endless flow.
        """
        flows = self._endless or self.flows
        return round(1e6 * max(flow.start_ms + 20 * flow.base_rtt_ms(self.network) for flow in flows))

    @property
    def _endless(self) -> list[Flow]:
        return [flow for flow in self.flows if not flow.size_bytes and flow.page is None]

    def planned_end_ns(self, end_ns: int) -> int:
        """End of the measurement: ``end_ns`` (receivers ended); at least ``duration_s`` if a flow is endless.

        If an endless flow gave up, the guest ended too early: the flow's bytes count over the whole trial.
        """
        return max(end_ns, round(self.duration_s * 1e9)) if self._endless else end_ns

    def measured_ns(self, end_ns: int, measured_from_s: float | None = None) -> tuple[int, int]:
        """The measured interval: from ``measured_from_s`` to the trial's end, in ns of virtual time.

        The default of the start is ``warmup_ns``. If the trial ends before the start, the whole trial is
        measured. ``end_ns`` is the end of the guest's flows.
        """
        end_ns = self.planned_end_ns(end_ns)
        begin_ns = self.warmup_ns if measured_from_s is None else round(measured_from_s * 1e9)
        return (begin_ns, end_ns) if begin_ns < end_ns else (0, end_ns)


class Stopping(Frozen):
    """``[stopping]``: run each group's seeds in order until its median is precise enough.

    A group stops when the 95 % interval of the median of flow 0's measure, over the valid seeds, lies
    within ± the half-width, with at least ``min_seeds`` valid seeds. It always stops after ``max_seeds``
    (invalid seeds included). A seed's value is the mean over its trials, one
    for each order of the flows; a seed with an invalid trial is invalid. Exactly one half-width is
    given; its key decides the measure. The defaults are those of Prudentia.
    """

    min_seeds: Annotated[int, Field(ge=FEWEST_FOR_A_MEDIAN, le=10_000)] = 10
    max_seeds: Annotated[int, Field(ge=FEWEST_FOR_A_MEDIAN, le=10_000)] = 30
    #: throughput
    half_width_mbps: Annotated[float, Field(gt=0, le=10_000)] | None = None
    #: share of the throughput of all flows
    half_width_share_percent: Annotated[float, Field(gt=0, le=100)] | None = None
    #: page load time
    half_width_plt_ms: Annotated[float, Field(gt=0, le=36_000_000)] | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Stopping:
        if sum(width is not None for width in self._widths.values()) != 1:
            raise ValueError(
                "one measure decides: "
                "give exactly one of half_width_mbps, half_width_share_percent and half_width_plt_ms"
            )
        if self.min_seeds > self.max_seeds:
            raise ValueError(
                f"min_seeds = {self.min_seeds} is above max_seeds = {self.max_seeds}: give a larger max_seeds"
            )
        return self

    @property
    def _widths(self) -> dict[StoppingMeasure, float | None]:
        return {
            "throughput_mbps": self.half_width_mbps,
            "share_percent": self.half_width_share_percent,
            "plt_ms": self.half_width_plt_ms,
        }

    @property
    def measure(self) -> StoppingMeasure:
        """The measure that the rule watches."""
        return next(name for name, width in self._widths.items() if width is not None)

    @property
    def half_width(self) -> float:
        """Required half-width of the median's interval, in the measure's unit."""
        return next(width for width in self._widths.values() if width is not None)


class Group(Frozen):
    """Trials of one question on one network: for each seed, one trial in every order of the flows.

    ``trials`` has the seeds in order, and for each seed the trials of all ``orders`` of the flows.
    For the design ``versus-reference`` flow 0 is the contestant under test and flow 1
    the kernel reference that competes with it. A group whose two flows are both the
    reference is the noise floor, or with ``placebo`` the reference in the place of a contestant. For
    ``pairwise``, ``subject`` names flow 0 and ``reference`` flow 1; ``solo`` and
    ``flows`` have no reference. With ``stopping``, ``trials`` has the largest number of trials,
    in the order of running.
    """

    key: str
    design: Design
    network: str
    subject: str
    reference: str | None
    trials: tuple[Trial, ...]
    #: trials per seed: one for each order of the flows
    orders: int = 1
    #: name of the page that each flow loads, in a study of page loads
    page: str | None = None
    stopping: Stopping | None = None
    #: start of the measured interval, if the study gives it
    measured_from_s: float | None = None
    placebo: bool = False

    @property
    def least_trials(self) -> int:
        """Smallest number of trials that run."""
        return self.stopping.min_seeds * self.orders if self.stopping else len(self.trials)


class Profile(Frozen):
    """The changes that ``--profile`` makes.

    ``networks``, ``contestants``, ``lineups`` and ``pages`` are patterns for the names that are
    kept. ``seeds`` is the number of seeds of each group; it disables ``[stopping]``.
    """

    seeds: Seeds | None = None
    duration_s: DurationS | None = None
    networks: Patterns | None = None
    contestants: Patterns | None = None
    lineups: Patterns | None = None
    pages: Patterns | None = None


class Study(Frozen):
    """One question: networks, contestants, design and seeds, as in its file."""

    name: Name
    title: Line
    description: Text = ""
    design: Design = "versus-reference"
    duration_s: DurationS = 60.0
    #: each seed runs in every order of the flows that start together
    seeds: Seeds = 5
    #: start offsets are drawn uniformly from [0, start_spread_ms], one for each seed and position
    start_spread_ms: StartMs = 0.0
    #: start of the interval that throughput, sharing and delay are measured over; None:
    #: 20 round trips after the last endless flow's start
    measured_from_s: TimeS | None = None
    #: for design = "pairwise": also run each contestant alone, as the baseline of harm
    solo: bool = False
    networks: Annotated[tuple[Network, ...], Field(min_length=1)]
    contestants: tuple[Contestant, ...] = ()
    #: for design = "flows": the explicit list
    flows: Annotated[tuple[Flow, ...], Field(max_length=MOST_FLOWS)] = ()
    #: number of equal flows of each ``[[flow]]`` (``count``)
    counts: tuple[int, ...] = ()
    #: for design = "flows": several lists instead of one
    lineups: Annotated[tuple[Lineup, ...], Field(max_length=MOST_LISTED)] = ()
    page_load: PageLoads | None = None
    #: instead of ``seeds``
    stopping: Stopping | None = None
    profiles: dict[Literal["quick", "full"], Profile] = {}
    raw_capture: bool = False

    @property
    def every_flow(self) -> tuple[Flow, ...]:
        """The flows of ``[[flow]]`` and of every line-up."""
        return (*self.flows, *(flow for lineup in self.lineups for flow in lineup.flows))
