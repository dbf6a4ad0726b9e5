"""Makes the guest's plan: one JSON object with every command line and parameter."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from cambrian.stacks import catalogue, command, receivers
from cambrian.stacks.built import Built, program, shown_folders
from cambrian.stacks.manifest import Client, Role
from cambrian.stacks.receivers import Receiver
from cambrian.study import tracefile
from cambrian.study.limits import bdp_bytes
from cambrian.study.model import FRAME_BYTES, Flow, Trial
from cambrian.testbed import addresses as at
from cambrian.testbed import users
from cambrian.testbed.contract import BottleneckPlan, CapturePlan, FlowPlan, Plan, ProgramPlan
from cambrian.trial import baseline, interop_runner, limits, links, page_loads, remains
from cambrian.trial.environment import CERTIFICATES, Native

HOME = "/run/cambrian"
OUT = f"{HOME}/out"
#: the first user of the programs; each side of a flow has one of its own
_FIRST_USER = 20_000
#: the environment of a guest's program, without the variables of its manifest
BASE_ENVIRONMENT = {
    "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/tmp",
    "TMPDIR": "/tmp",
    "LANG": "C.UTF-8",
} | baseline.ENVIRONMENT
#: path in the guest of the Python that runs the guest's own programs
INTERPRETER = f"{HOME}/python"
#: size of an endless request (docs/reference/endpoint-contract.md)
ENDLESS_BYTES = 1_000_000_000_000
#: smallest receive buffer of a socket (larger if the path and its queue hold more); with a much larger
#: one Linux acknowledges nearly every packet for the first seconds
_RECEIVE_BUFFER_BYTES = 8 * 2**20
#: bytes of one captured packet in the capture's ring
_RING_BYTES_PER_PACKET = 256
#: smallest and largest ring; each used page of memory costs time in the guest
_RING_KIB = (256, 65536)
#: a ring that overflowed is tried again so many times as large
_RING_STEP = 16
#: a ring from this size on gets memory of its own
_LARGE_RING_KIB = 4096
#: size of a ring of whole packets in rings of records (``WHOLE_RINGS`` of testbed/native/capture.c)
_WHOLE_RINGS = 8


class PlanError(ValueError):
    """A trial that cannot run; the text says why."""


def stack_names(trial: Trial) -> list[str]:
    """Names of all stacks that the trial runs, senders and receivers, sorted.

    Raises:
        NoReceiver: no client can receive a flow, or a stack does not serve pages.
    """
    stacks = catalogue.load()
    names = set()
    for flow in trial.flows:
        sender = stacks[flow.contestant.stack]
        names.add(sender.name)
        if flow.page is None:
            names.add(receivers.choose(sender, flow.contestant.receiver).stack.name)
        elif flow.client == "light":
            names.add(page_loads.light_client(sender).stack.name)
        else:
            page_loads.served(sender)
    return sorted(names)


def _words(built: Built, trial: Trial, number: int, side: str, alpn: str, pipe_bytes: int) -> dict[str, str]:
    flow = trial.flows[number]
    folder = f"{HOME}/stacks/{built.stack.name}"
    sender = catalogue.load()[flow.contestant.stack].manifest
    return {
        "bin": f"{folder}/{program(built.stack)}",
        "dir": folder,
        "address": at.sender_address(number),
        "port": str(interop_runner.PORT if sender.convention == "interop-runner" else at.PORT),
        "cca": flow.contestant.cca,
        "cert": f"{HOME}/certs/cert.pem",
        "key": f"{HOME}/certs/key.pem",
        "work": f"{HOME}/work/flow{number}.{side}",
        "transport_log": f"{users.logs_folder(f'flow{number}.{side}')}/{remains.TRANSPORT_LOG}",
        "qlog": f"{users.logs_folder(f'flow{number}.{side}')}/{remains.QLOG}",
        "bytes": str(flow.size_bytes),
        "alpn": alpn,
        "path": sender.server.path or "",
        "python": INTERPRETER,
        "www": page_loads.folder(HOME, number) if flow.page else f"{HOME}/work/flow{number}.{side}",
        "seed": str(trial.seed),
        "receive_buffer_bytes": str(max(_RECEIVE_BUFFER_BYTES, 2 * pipe_bytes)),
    } | sender.ccas[flow.contestant.cca].values


def _flow(trial: Trial, number: int, builds: Mapping[str, Built], pipe_bytes: int) -> FlowPlan:
    flow = trial.flows[number]
    contestant = flow.contestant
    sender = builds[contestant.stack]
    chosen = _receiver(flow, sender)
    alpn = chosen.alpn if chosen else page_loads.served(sender.stack).alpn
    server = page_loads.server(sender.stack) if flow.page else sender.stack.manifest.server
    options: dict[str, object] = dict(contestant.options)
    shared: dict[str, object] = {}
    if contestant.tls:
        if sender.stack.manifest.protocol != "tcp":
            raise PlanError(f'"{contestant.stack}" always encrypts: tls = true is for stack "tcp"')
        shared["tls"] = True
    sides: dict[str, ProgramPlan] = {}
    programs: list[tuple[str, Built, Role, dict[str, object]]] = [
        ("sender", sender, server, options | shared)
    ]
    if chosen:
        client = chosen.client if flow.page else _with_path(chosen.client, sender)
        programs.append(("receiver", builds[chosen.stack.name], client, shared))
    else:
        sides["receiver"] = page_loads.browser_spec(trial, number, HOME, INTERPRETER, BASE_ENVIRONMENT)
    for side, built, how, settings in programs:
        words = _words(built, trial, number, side, alpn, pipe_bytes)
        spec = command.role(built, how, words, settings)
        sides[side] = {
            "argv": spec.argv,
            "environment": BASE_ENVIRONMENT | baseline.joined(spec.environment),
            "files": spec.files,
            "work": words["work"],
        }
        if side == "sender" and not flow.page and command.mentions(built, how, "www"):
            sides[side]["sparse"] = _bodies(trial, flow)
        if side == "sender" and built.stack.manifest.transport_trace == "qlog":
            sides[side]["folders"] = [words["qlog"]]
        sides[side]["stop_statuses"] = list(how.stop_statuses)
        if how.root:
            sides[side]["root"] = {"tree": f"{words['dir']}/root"}
        if built.stack.manifest.convention == "interop-runner":
            interop_runner.adapt(sides[side], side, words, _bodies(trial, flow))
    sides["sender"]["logs"] = True
    if trial.raw_capture:
        # one side's secrets decrypt both directions, and one client may serve many stacks
        sides["receiver"]["logs"] = True
        keys = f"{users.logs_folder(f'flow{number}.receiver')}/{remains.KEYS}"
        sides["receiver"]["environment"] = sides["receiver"]["environment"] | {"SSLKEYLOGFILE": keys}
    for offset, program_plan in enumerate((sides["sender"], sides["receiver"])):
        program_plan["user"] = _FIRST_USER + 2 * number + offset
    sides["sender"]["ready"] = sender.stack.manifest.server.ready
    if cpu := contestant.receiver_cpu:
        sides["receiver"]["cpu"] = {
            "per_packet_ns": round(cpu.per_packet_us * 1000),
            "per_syscall_ns": round(cpu.per_syscall_us * 1000),
        }
    return {
        "start_ns": round(flow.start_ms * 1e6),
        "size_bytes": flow.size_bytes,
        "sender": sides["sender"],
        "receiver": sides["receiver"],
    }


def _receiver(flow: Flow, sender: Built) -> Receiver | None:
    """The receiver of a flow; None for the browser."""
    if flow.page is None:
        return receivers.choose(sender.stack, flow.contestant.receiver)
    return page_loads.light_client(sender.stack) if flow.client == "light" else None


def _with_path(client: Client, sender: Built) -> Client:
    """The client, with the arguments for a path if this server needs one."""
    if sender.stack.manifest.server.path is None:
        return client
    return client.model_copy(update={"command": client.command + client.path_arguments})


def _bodies(trial: Trial, flow: Flow) -> dict[str, int]:
    """Name → bytes of the bodies that a flow may request: its size, or twice what the link can carry."""
    amount_bytes = flow.size_bytes or round(2 * limits.capacity_bytes(trial))
    return {str(name): amount_bytes for name in (amount_bytes, ENDLESS_BYTES)}


def make(
    trial: Trial, builds: Mapping[str, Built], native: Native, *, least_ring_kib: int = _RING_KIB[0]
) -> Plan:
    """The plan of ``trial``.

    Parameters:
        builds: stack name → its build, for each of :func:`stack_names`.
        native: the testbed's programs.
        least_ring_kib: smallest ring of the capture.

    Raises:
        PlanError: the trial cannot run.
    """
    network = trial.network
    rate_mbps = network.rate_mbps
    if rate_mbps is None:
        assert network.trace_file is not None
        rate_mbps = tracefile.read_trace(Path(network.trace_file)).mean_rate_mbps
    limit_bytes = links.buffer_bytes(network, rate_mbps)
    rtts_ms = [flow.base_rtt_ms(network) for flow in trial.flows]
    pipe_bytes = round(bdp_bytes(network.most("rate_mbps", rate_mbps), network.most("rtt_ms", *rtts_ms)))
    pipe_bytes += limit_bytes
    ring_kib = max(least_ring_kib, _ring_kib(trial, pipe_bytes))
    mounts = {f"{HOME}/native": str(native.folder), f"{HOME}/certs": str(CERTIFICATES)}
    # only this trial's stacks: other mounts could shift the trial by a tick of the guest's clock
    for name in stack_names(trial):
        mounts[f"{HOME}/stacks/{name}"] = str(builds[name].folder)
        mounts |= shown_folders(builds[name].stack)
    mounts |= page_loads.mounts(trial, HOME)
    bottleneck: BottleneckPlan = {"limit_bytes": limit_bytes}
    if network.trace_file:
        trace = Path(network.trace_file).absolute()
        # alone: what is beside it is nothing to an endpoint
        mounts[f"{HOME}/trace/{trace.name}"] = str(trace)
        argv = [
            f"{HOME}/native/tracelink",
            "--trace",
            f"{HOME}/trace/{trace.name}",
            "--buffer-bytes",
            str(limit_bytes),
        ]
        argv += ["--in-netns", at.namespace_path(at.ROUTER), "--tun-in", at.BOTTLENECK_IF]
        argv += ["--out-netns", at.namespace_path(at.RECEIVER), "--tun-out", at.RECEIVER_IF]
        bottleneck["tracelink"] = _program(argv, "tracelink")
    else:
        bottleneck["tbf"] = links.tbf(rate_mbps, limit_bytes, trial.clock)
        bottleneck["aqm"] = links.aqm(network, limit_bytes)
    return {
        "mounts": mounts,
        "memory_mb": page_loads.memory_mb(trial) + _rings_mb(trial, ring_kib),
        "kernel_settings": trial.kernel_settings,
        "real_time": trial.clock != "virtual",
        "duration_ns": round(trial.duration_s * 1e9),
        # 1: ask for ECN and grant it; 0: neither
        "tcp_ecn": "1" if network.ecn else "0",
        "links": [
            links.access(network, flow, position, trial.seed)
            for position, flow in zip(trial.positions, trial.flows, strict=True)
        ],
        "bottleneck": bottleneck,
        "schedule": links.schedule(trial, limit_bytes),
        "flows": [_flow(trial, number, builds, pipe_bytes) for number in range(len(trial.flows))],
        "capture": _capture(trial, ring_kib),
    }


def _program(argv: list[str], name: str) -> ProgramPlan:
    return {"argv": argv, "environment": BASE_ENVIRONMENT, "work": f"{HOME}/work/{name}", "ready": "json"}


def _ring_kib(trial: Trial, pipe_bytes: int) -> int:
    """Size of the ring in KiB: eight times the packets that the path and its queue hold.

    In virtual time a whole window can pass in one instant, before any program runs. A sender whose window is
    larger still needs a larger ring (:func:`larger_ring_kib`). In real time the reader may also be late, so
    the ring has its largest size.
    """
    smallest, largest = _RING_KIB
    if trial.clock != "virtual":
        return largest
    wanted = 8 * (pipe_bytes // FRAME_BYTES + 1) * _RING_BYTES_PER_PACKET // 1024
    return min(max(smallest, -(-wanted // 64) * 64), largest)


def larger_ring_kib(made: Plan) -> int | None:
    """The size of the ring to try after this plan's overflowed; None if it has the largest."""
    argv = made["capture"]["argv"]
    now = int(argv[argv.index("--ring-kib") + 1])
    return min(_RING_STEP * now, _RING_KIB[1]) if now < _RING_KIB[1] else None


def _rings_mb(trial: Trial, ring_kib: int) -> int:
    """Memory in MB of large rings on both sides of the bottleneck, and of a raw capture's whole packets."""
    rings = (_WHOLE_RINGS if trial.raw_capture else 0) + (1 if ring_kib >= _LARGE_RING_KIB else 0)
    return -(-2 * rings * ring_kib // 1024)


def _capture(trial: Trial, ring_kib: int) -> CapturePlan:
    argv = [f"{HOME}/native/capture", "--ring-kib", str(ring_kib)]
    argv += ["--router-ns", at.namespace_path(at.ROUTER), "--receiver-ns", at.namespace_path(at.RECEIVER)]
    argv += ["--receiver-if", at.RECEIVER_IF, "--out", f"{OUT}/capture.bin"]
    if trial.clock == "real":
        argv += ["--first"]
    if trial.raw_capture:
        argv += ["--pcap", f"{OUT}/bottleneck"]
    stacks = catalogue.load()
    kernel_tcp = any(
        stacks[flow.contestant.stack].manifest.transport_trace == "tcp_probe" for flow in trial.flows
    )
    return {**_program(argv, "capture"), "trace_tcp": kernel_tcp and trial.clock != "host"}
