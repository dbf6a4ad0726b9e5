"""What a user should know before a study runs: what is built first, and what its results cannot show."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from cambrian.kernel import locate
from cambrian.probes.effects import FEWEST_TRIALS
from cambrian.probes.judge import is_random
from cambrian.run import own_stacks, prepare
from cambrian.stacks import build, catalogue, checks, whole
from cambrian.stats.jackknife import FEWEST_SEEDS
from cambrian.study.cost import DEFAULT_SPEED, carried_bytes, estimate, rough_time
from cambrian.study.limits import FRAME_BYTES, bdp_bytes
from cambrian.study.model import Group, Network, Trial
from cambrian.study.queues import AQMS
from cambrian.study.tracefile import mean_rate_mbps

#: of a packet at the bottleneck, in packets.parquet and transport.parquet; measured: 7.6 bytes for one flow
#: of quinn's CUBIC at 20 Mbps
_STORED_BYTES_PER_PACKET = 8.0
#: with ``raw_capture``: whole packets, before and after the bottleneck, and the guest's records of each;
#: measured: 3,850 bytes for one flow of kernel TCP at 20 Mbps
_RAW_BYTES_PER_PACKET = 3900.0
#: results below this size are not worth a line
_LARGE_BYTES = 1e9
#: in which a flow's first data arrive: its handshake, its request, and the way to its receiver
_FEWEST_ROUND_TRIPS = 3
#: in which a flow is expected to leave slow start (:attr:`Trial.warmup_ns`); a shorter interval after them
#: is worth a line
_WARM_ROUND_TRIPS = 20
#: networks with a small buffer that are named
_SHOWN = 3
#: how long the kernel's build takes on two cores
_KERNEL_S = 360.0


def notes(groups: Sequence[Group], folder: Path, building: Iterable[str], *, kernel: bool) -> list[str]:
    """A line for each thing to know before the groups run with results in ``folder``.

    ``building``: stacks that this machine must build if it lacks them; ``kernel``: the guests' kernel too.

    Raises:
        ManifestError: one of the stacks is not whole (:func:`cambrian.stacks.whole.check`).
    """
    building = list(building)
    for name in building:
        whole.check(catalogue.load()[name])
    found = [to_build(building, kernel=kernel), _few_seeds(groups), _same_seeds(groups)]
    found += [_never_complete(groups), _too_late(groups), _steps_cut(groups), _cannot_follow(groups)]
    found += [_little_measured(groups), _marks_anyway(groups), *_unfit(groups)]
    found += own_stacks.lines(building)
    return [line for line in (*found, *_small_buffers(groups), _disk(groups, folder)) if line]


def guessed_time(groups: Sequence[Group], jobs: int) -> str:
    """How long the groups may take if stacks whose speed is not known are slow; empty if all are known."""
    flows = (flow for group in groups for flow in group.trials[0].flows if group.trials[0].clock == "virtual")
    stacks = {flow.contestant.stack for flow in flows}
    known = DEFAULT_SPEED.ratios
    unknown = sorted(name for name in stacks if name.partition("@")[0] not in known)
    if not unknown:
        return ""
    slow = replace(DEFAULT_SPEED, other=min(known.values()))
    guess, longest = (rough_time(estimate(groups, each, jobs=jobs).wall_s) for each in (DEFAULT_SPEED, slow))
    # a page's time is that of its client, and a short trial's that of its boot
    if guess == longest:
        return ""
    return (
        f"the speed of {' and '.join(unknown)} is not known, so the time above is a guess; "
        f"at the speed of the slowest stack here it is about {longest}"
    )


def to_build(stacks: Iterable[str], *, kernel: bool) -> str:
    """What this machine builds before it can run these stacks, with times; empty if all is there."""
    loaded = catalogue.load()
    waiting = [("the kernel", _KERNEL_S)] if kernel and locate.find() is None else []
    waiting += [
        (name, float(expected_s))
        for name in sorted(stacks)
        # a program that is there takes no time
        if (expected_s := loaded[name].manifest.build.expected_s)
        and build.status(loaded[name]).state in ("missing", "fails")
    ]
    listed = ", ".join(f"{name} (about {rough_time(seconds)})" for name, seconds in waiting)
    return f"builds first: {listed}" if listed else ""


def all_built(stacks: Iterable[str], *, kernel: bool) -> bool:
    """Does this machine have everything that trials of these stacks run?"""
    if kernel and locate.find() is None:
        return False
    loaded = [catalogue.load()[name] for name in stacks]
    # a program that is there needs no build
    wanted = (stack for stack in loaded if stack.manifest.build.kind != "none")
    return all(build.status(stack).state == "built" for stack in wanted) and prepare.native_home()[0].is_dir()


def _few_seeds(groups: Sequence[Group]) -> str:
    seeds = min((len(group.trials) // group.orders for group in groups), default=FEWEST_SEEDS)
    if seeds >= FEWEST_SEEDS:
        return ""
    few = "1 seed" if seeds == 1 else f"{seeds} seeds"
    # probes without randomness and plausibility compare trials one by one, not means with an interval
    judged = (
        "only parameters, which have many events in a trial,"
        if seeds < FEWEST_TRIALS
        else "parameters, plausibility, and probes on networks without randomness"
    )
    return (
        f"{few}: comparisons of means have no interval and stay inconclusive; {judged} can be judged; "
        f"remedy: seeds = {FEWEST_SEEDS} or more"
    )


def _same_seeds(groups: Sequence[Group]) -> str:
    """Seeds that differ in nothing that moves a packet, except perhaps the programs' own random numbers."""
    if not any(_are_alike(group) for group in groups):
        return ""
    return (
        "start_spread_ms is 0 and a network has no random losses or delays, so its seeds may give the same "
        "packets, and then show no variation; remedy: start_spread_ms = 1000"
    )


def _are_alike(group: Group) -> bool:
    starts = {tuple(sorted(flow.start_ms for flow in trial.flows)) for trial in group.trials}
    several = len(group.trials) > group.orders
    return several and len(starts) == 1 and group.page is None and not is_random(group.trials[0].network)


def _never_complete(groups: Sequence[Group]) -> str:
    """Flows with a size, or a page, that the link cannot carry together until the end of the trial."""
    for group in groups:
        trial = group.trials[0]
        sized = [(flow, flow.page.size_bytes if flow.page else flow.size_bytes) for flow in trial.flows]
        # of flows that share their end, those from some start on are the ones that can be too many
        for start_ms in sorted({flow.start_ms for flow, size_bytes in sized if size_bytes}, reverse=True):
            late = [(flow, size) for flow, size in sized if size and flow.start_ms >= start_ms]
            needed_bytes = sum(size for _, size in late)
            can_bytes = carried_bytes(trial, start_ms / 1e3)
            if needed_bytes >= can_bytes:
                names = " and ".join(
                    f"the page {flow.page.name} of {flow.contestant.name}"
                    if flow.page
                    else flow.contestant.name
                    for flow, _ in late[:_SHOWN]
                )
                more = f" and {len(late) - _SHOWN} more flows" if len(late) > _SHOWN else ""
                every = "all " if len(late) > 1 else ""
                left_s = trial.duration_s - start_ms / 1e3
                return (
                    f"{group.network}: {names}{more} cannot {every}complete: {needed_bytes:,} bytes, "
                    f"and the link carries {can_bytes:,.0f} in the last {_short(left_s)} s of the trial; "
                    "remedy: a longer duration_s"
                )
    return ""


def _too_late(groups: Sequence[Group]) -> str:
    """Flows with so little time that nothing of them may arrive."""
    for group in groups:
        for trial in group.trials:
            for flow in trial.flows:
                left_ms = trial.duration_s * 1e3 - flow.start_ms
                rtt_ms = flow.base_rtt_ms(trial.network)
                if left_ms < _FEWEST_ROUND_TRIPS * rtt_ms:
                    return (
                        f"{group.network}: {flow.contestant.name} starts {_short(left_ms)} ms before the "
                        f"trial's end, and a connection and its first data take {_FEWEST_ROUND_TRIPS} round "
                        f"trips of {rtt_ms:g} ms, so nothing may arrive and the trial be invalid; remedy: an "
                        "earlier start_ms, a smaller start_spread_ms or a longer duration_s"
                    )
    return ""


def _little_measured(groups: Sequence[Group]) -> str:
    """The network that leaves least after the warm-up (:meth:`Trial.measured_ns`), if that is little."""
    found = [(group, line) for group in groups if (line := _measured(group))]
    if not found:
        return ""
    worst, line = min(found, key=lambda one: min(_left_s(one[0])))
    networks = len({group.network for group, _ in found})
    more = f" (one of {networks} such networks)" if networks > 1 else ""
    return f"{worst.network}{more}: {line}; remedy: a longer duration_s, or measured_from_s"


def _left_s(group: Group) -> list[float]:
    return [trial.duration_s - trial.warmup_ns / 1e9 for trial in group.trials]


def _measured(group: Group) -> str:
    """How much of its trials is measured, if that is little; empty for flows that end by themselves."""
    trial = group.trials[0]
    endless = [flow for flow in trial.flows if not flow.size_bytes and flow.page is None]
    if group.measured_from_s is not None or not endless:
        return ""
    warm_s = _WARM_ROUND_TRIPS * max(flow.base_rtt_ms(trial.network) for flow in endless) / 1e3
    left_s = _left_s(group)
    whole, short_s = sum(one <= 0 for one in left_s), [one for one in left_s if 0 < one < warm_s]
    parts = []
    if short_s:
        parts.append(f"{len(short_s)} of {len(left_s)} have {_short(max(short_s))} s left or less")
    if whole:
        parts.append(f"{whole} of {len(left_s)} end before and are measured from 0 s, with slow start")
    if not parts:
        return ""
    return (
        f"throughput, sharing and delay are measured from {_WARM_ROUND_TRIPS} round trips "
        f"({_short(warm_s)} s) after the last flow's start, and trials end after {trial.duration_s:g} s: "
        f"{', and '.join(parts)}"
    )


def _steps_cut(groups: Sequence[Group]) -> str:
    """Steps of a schedule that a profile's shorter trials never reach."""
    for group in groups:
        trial = group.trials[0]
        late = [step.at_s for step in trial.network.schedule if step.at_s >= trial.duration_s]
        if late:
            return (
                f"{group.network}: {len(late)} of {len(trial.network.schedule)} steps never come: trials "
                f"end after {trial.duration_s:g} s, and the first of them is due at {late[0]:g} s"
            )
    return ""


def _cannot_follow(groups: Sequence[Group]) -> str:
    """Kernel TCP where the receivers get another address."""
    stacks = catalogue.load()
    moved = (group for group in groups if group.trials[0].network.changes("handover_overlap_ms"))
    flows = (flow.contestant for group in moved for flow in group.trials[0].flows)
    if not any(stacks[one.stack].manifest.protocol == "tcp" for one in flows):
        return ""
    return "a TCP connection cannot follow to another address: its flows end soon after handover_overlap_ms"


def _unfit(groups: Sequence[Group]) -> Iterator[str]:
    """Contestants that some networks do not suit; a study in which none does is refused."""
    networks: dict[str, set[str]] = {}
    wrong: dict[str, dict[str, str]] = {}
    for group in groups:
        trial = group.trials[0]
        for flow in trial.flows:
            name = flow.contestant.name
            networks.setdefault(name, set()).add(group.network)
            if found := checks.use_problem(flow.contestant, trial.network, page=flow.page is not None):
                wrong.setdefault(name, {})[group.network] = found[1]
    for name, problems in wrong.items():
        yield (
            f"{name}: {len(problems)} of {len(networks[name])} networks do not suit it, and its trials there "
            f"may be invalid: {next(iter(problems.values()))}; "
            "remedy: ecn = true on each network, or a study of its own"
        )


def _marks_anyway(groups: Sequence[Group]) -> str:
    """AQMs that mark packets whatever ``ecn`` says."""
    always = {
        network.queue
        for group in groups
        if not (network := group.trials[0].network).ecn
        and network.queue != "droptail"
        and AQMS[network.queue].ecn == "always"
    }
    if not always:
        return ""
    return (
        f"{' and '.join(sorted(always))}: packets of senders that support ECN are always marked; "
        "ecn = false only keeps kernel TCP from asking for it"
    )


def _small_buffers(groups: Sequence[Group]) -> Iterator[str]:
    """Buffers that are raised to one frame (:func:`cambrian.trial.links.buffer_bytes`)."""
    networks: dict[str, Network] = {group.network: group.trials[0].network for group in groups}
    lines = [line for name, network in networks.items() if (line := _small_buffer(name, network))]
    yield from lines[:_SHOWN]
    if len(lines) > _SHOWN:
        yield f"such buffers in {len(lines) - _SHOWN} more"


def _small_buffer(name: str, network: Network) -> str:
    if network.buffer_bdp is None:
        return ""
    wanted = network.buffer_bdp * bdp_bytes(mean_rate_mbps(network), network.rtt_ms)
    if wanted >= FRAME_BYTES:
        return ""
    real = FRAME_BYTES * network.buffer_bdp / wanted
    return (
        f"{name}: {network.buffer_bdp:g} BDP is less than a full frame; "
        f"the buffer has one frame, {FRAME_BYTES} bytes or {_short(real)} BDP"
    )


def _disk(groups: Sequence[Group], folder: Path) -> str:
    need = sum(_stored_bytes(group.trials[0]) * len(group.trials) for group in groups)
    if need < _LARGE_BYTES:
        return ""
    place = next(parent for parent in (folder, *folder.parents) if parent.exists())
    free = shutil.disk_usage(place).free
    line = f"results of up to about {need / 1e9:.0f} GB"
    return f"{line}, and {place} has {free / 1e9:.0f} GB free" if need > free else line


def _stored_bytes(trial: Trial) -> float:
    packet_bytes = _STORED_BYTES_PER_PACKET + (_RAW_BYTES_PER_PACKET if trial.raw_capture else 0.0)
    return carried_bytes(trial) / FRAME_BYTES * packet_bytes


def _short(value: float) -> str:
    """Three digits, without an exponent: 0.2, 12.5, 10,200."""
    return f"{value:.3g}" if value < 999.5 else f"{value:,.0f}"
