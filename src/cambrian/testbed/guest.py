"""The guest's first and only program: carry out one trial's plan, then power off.

Run by the kernel as init: ``python -I -S guest.py``, with CAMBRIAN_SOURCE,
CAMBRIAN_SITE_PACKAGES and CAMBRIAN_OUT in its environment (words of the kernel's command
line). Everything it learns goes to the results folder, mounted at ``/run/cambrian/out``: the
programs' output, the capture's records, the kernel's traces, and ``guest.json``, whose
absence means that the guest died.
"""

from __future__ import annotations

import importlib.util
import json
import os
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from cambrian.testbed.contract import CapturePlan, ChangePlan, GuestReport, Plan, ProgramPlan
    from cambrian.testbed.dumbbell import Dumbbell
    from cambrian.testbed.lateness import Lateness
    from cambrian.testbed.processes import Prepared, Process

OUT = Path("/run/cambrian/out")
SOURCE, SITE_PACKAGES = "/run/cambrian/source", "/run/cambrian/site-packages"
#: place of code in the guest → the variable that holds the host's folder
CODE = {SOURCE: "CAMBRIAN_SOURCE", SITE_PACKAGES: "CAMBRIAN_SITE_PACKAGES"}
#: least quiet time before each stage of a trial, and the grid on which servers start
LEAD_NS = 100_000_000
SECOND_NS = 1_000_000_000
#: how near to a point in time select brings us
NEAR_NS = 1_000_000
#: as near where each wait's lateness is measured: two such waits
MEASURED_NS = 20_000_000


def mount_system() -> None:
    """The guest's own file systems, and the host's folders of code and results at fixed places."""
    from cambrian.testbed import system

    # a program sees its own processes only: it cannot act by who its rival is
    system.mount("none", "/proc", "proc", data="hidepid=invisible")
    for target, kind in (("/sys", "sysfs"), ("/tmp", "tmpfs"), ("/run", "tmpfs")):
        system.mount("none", target, kind)
    if not os.path.ismount("/dev"):
        # a kernel with DEVTMPFS_MOUNT has done so itself
        system.mount("none", "/dev", "devtmpfs")
    system.mount("none", "/dev/shm", "tmpfs")
    Path("/run/netns").mkdir()
    if Path("/etc/resolv.conf").exists():
        # the host's name servers are out of reach: a query would meet the router, whose answer would
        # leave through the bottleneck
        Path("/run/resolv.conf").write_text("")
        system.bind_file("/run/resolv.conf", "/etc/resolv.conf", create=False)
    system.mount("none", str(OUT), "hostfs", data=os.environ["CAMBRIAN_OUT"])
    for place in (SOURCE, SITE_PACKAGES):
        flags = system.MS_RDONLY | system.MS_NOSUID | system.MS_NODEV
        system.mount("none", place, "hostfs", flags, data=os.environ[CODE[place]])


def mount_programs(mounts: dict[str, str]) -> None:
    """The plan's other folders (place → the host's folder), read-only."""
    from cambrian.testbed import system

    for place, folder in mounts.items():
        flags = system.MS_RDONLY | system.MS_NOSUID | system.MS_NODEV
        system.mount("none", place, "hostfs", flags, data=folder)


def name_interpreter() -> None:
    """This Python by a name that is the same on every machine, for endpoints that are written in it."""
    Path("/run/cambrian/python").symlink_to(Path("/proc/self/exe").readlink())


def check_kernel_settings(settings: dict[str, int]) -> None:
    """The kernel passes over parameters that it does not know: read each back.

    Raises:
        RuntimeError: one is not there, or has another value.
    """
    for name, value in settings.items():
        module, _, parameter = name.partition(".")
        path = Path(f"/sys/module/{module}/parameters/{parameter}")
        found = path.read_text().strip() if path.exists() else "no such parameter"
        if found != str(value):
            raise RuntimeError(f"kernel setting {name} = {value}: the kernel has {found}")


def import_everything() -> None:
    """All of the testbed, from its fixed place and before anything is timed.

    The first modules came from where the host has them, which may be out of sight by now (a
    checkout below /tmp). A first import later on would cost its time then. pyroute2 reads
    /proc, which must be mounted. Of pyroute2 only what the testbed names is imported: the package itself
    imports its database, a shell and a web server, which takes a guest as long as its boot.
    """
    for name in [name for name in sys.modules if name.partition(".")[0] == "cambrian"]:
        del sys.modules[name]
    sys.path[:2] = [SOURCE, SITE_PACKAGES]
    found = importlib.util.find_spec("pyroute2")
    assert found is not None
    sys.modules["pyroute2"] = importlib.util.module_from_spec(found)
    from cambrian.testbed import counters, dumbbell, handover, probe, processes, roots, tracing, users

    del counters, dumbbell, handover, probe, processes, roots, tracing, users


def next_ns(grid_ns: int) -> int:
    """The next point of a grid on the guest's clock that is not too near.

    What came before may have taken some microseconds more or less, by the host's Python or the length of a
    path. That must not move the trial, or any timer that runs through it, against the kernel's tick.
    """
    return -(-(time.time_ns() + LEAD_NS) // grid_ns) * grid_ns


class Trial:
    """One trial in progress: its network, its programs and what went wrong."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.problems: list[str] = []
        self.processes: list[Process] = []
        self.senders: list[Prepared] = []
        self.receivers: list[Prepared] = []
        self.early: dict[int, Process] = {}
        self.begun = 0  # flows
        self.net: Dumbbell | None = None
        self.tracelink: Process | None = None
        self.lateness: Lateness | None = None
        # it fills up as the trial goes on
        self.report = cast("GuestReport", {"problems": self.problems})

    def build_network(self) -> None:
        """Hosts, links and bottleneck; then the measured base round trip of each flow."""
        from cambrian.testbed import addresses as at
        from cambrian.testbed import dumbbell, probe, processes

        self.net = dumbbell.build_hosts(self.plan["links"], self.plan["tcp_ecn"])
        bottleneck = self.plan["bottleneck"]
        if link := bottleneck.get("tracelink"):
            self.tracelink = processes.prepare("tracelink", link, None, OUT).start()
            if problem := processes.wait_ready(self.tracelink, link, None):
                raise RuntimeError(problem)
            dumbbell.add_trace_link(self.net)
        else:
            dumbbell.add_bottleneck(self.net, bottleneck)
        self.report["base_rtt_ns"] = [
            probe.base_rtt_ns(at.sender_namespace(flow)) for flow in range(len(self.plan["links"]))
        ]

    def prepare_programs(self) -> None:
        """All that the flows' programs need, so that within the trial they only start."""
        from cambrian.testbed import addresses as at
        from cambrian.testbed import processes

        for flow, spec in enumerate(self.plan["flows"]):
            namespace = at.sender_namespace(flow)
            self.senders.append(processes.prepare(f"flow{flow}.sender", spec["sender"], namespace, OUT))
            self.receivers.append(
                processes.prepare(f"flow{flow}.receiver", spec["receiver"], at.RECEIVER, OUT)
            )

    def start_capture(self) -> None:
        """The bottleneck's taps and, where a flow is kernel TCP, its trace points."""
        from cambrian.testbed import processes, tracing

        spec = self.plan["capture"]
        argv = list(spec["argv"])
        if spec["trace_tcp"]:
            if tracing.available():
                tracing.start(OUT)
                argv += ["--trace-pipe", str(tracing.PIPE), "--trace-out", str(OUT / "trace.bin")]
            else:
                self.problems.append(
                    "note: this kernel has no TCP trace points; no transport trace for kernel TCP"
                )
        started: CapturePlan = {**spec, "argv": argv}
        self.capture = processes.prepare("capture", started, None, OUT).start()
        if problem := processes.wait_ready(self.capture, spec, None):
            raise RuntimeError(problem)

    def start_servers(self) -> None:
        """All senders' programs listen before the trial's zero."""
        from cambrian.testbed import processes

        for sender in self.senders:
            self.wait_until(next_ns(LEAD_NS))
            server = sender.start()
            self.processes.append(server)
            self.ready(server, sender.spec, sender.namespace, processes.READY_TIMEOUT_S)

    def ready(self, process: Process, spec: ProgramPlan, namespace: str | None, timeout_s: float) -> None:
        """Wait until a program is ready; note it where it is not."""
        from cambrian.testbed import processes

        if problem := processes.wait_ready(process, spec, namespace, timeout_s):
            self.problems.append(problem)

    def start_early_clients(self) -> None:
        """Receivers that take long to start (a browser) are there, and idle, before the trial's zero."""
        for flow, spec in enumerate(self.plan["flows"]):
            if early := spec["receiver"].get("early"):
                self.start_receiver(flow)
                self.early[flow] = self.processes[-1]
                self.ready(self.early[flow], spec["receiver"], None, early["ready_timeout_s"])

    def start_client(self, flow: int) -> None:
        """A flow begins when its receiver's program does, or when a waiting one is told to."""
        self.begun += 1
        if flow not in self.early:
            self.start_receiver(flow)
        elif not self.early[flow].reap():
            # to it alone, and not to what it has started
            signal.pidfd_send_signal(self.early[flow].pidfd, signal.SIGUSR1)

    def start_receiver(self, flow: int) -> None:
        """Start a flow's receiving program."""
        self.processes.append(self.receivers[flow].start())

    def change_link(self, change: ChangePlan) -> None:
        """One step of the schedule; queues keep what they hold."""
        from cambrian.testbed import addresses as at
        from cambrian.testbed import handover

        assert self.net is not None
        if (number := change.get("receivers_arrive")) is not None:
            handover.arrive(self.net, number)
        if (number := change.get("receivers_leave")) is not None:
            handover.leave(self.net, number)
        if tbf := change.get("tbf"):
            index = self.net.router.index[at.BOTTLENECK_IF]
            self.net.router.netlink.tc("change", "tbf", index, handle="1:", **tbf)
        for flow, links in enumerate(change.get("links", ())):
            sender = self.net.senders[flow]
            sender.netlink.tc("change", "netem", sender.index[at.SENDER_IF], handle="1:", **links["forward"])
            back = self.net.router.index[at.link_if(flow)]
            self.net.router.netlink.tc("change", "netem", back, handle="1:", **links["back"])

    def timeline(self) -> list[tuple[int, Callable[[], None]]]:
        """(nanoseconds after zero, what to do), in order."""
        steps: list[tuple[int, Callable[[], None]]] = [
            (spec["start_ns"], partial(self.start_client, flow))
            for flow, spec in enumerate(self.plan["flows"])
        ]
        steps += [(change["at_ns"], partial(self.change_link, change)) for change in self.plan["schedule"]]
        return sorted(steps, key=lambda step: step[0])

    def all_received(self) -> bool:
        """Have all flows begun, and their receivers ended?"""
        receivers = [process for process in self.processes if process.name.endswith(".receiver")]
        return self.begun == len(self.plan["flows"]) and all(process.reap() for process in receivers)

    def wait_until(self, when_ns: int) -> bool:
        """Sleep until a time, noting programs that end; True if nothing is left to wait for."""
        from cambrian.testbed import system

        while (left_ns := when_ns - time.time_ns()) > 0:
            running = [process.pidfd for process in self.processes if process.status is None]
            if self.lateness is not None and left_ns > MEASURED_NS:
                self.lateness.wait(running)
            # the kernel may end a select late by a thousandth of its length: come near, then sleep
            elif left_ns > 2 * NEAR_NS:
                select.select(running, [], [], (left_ns - left_ns // 500 - NEAR_NS) / 1e9)
            else:
                system.sleep_until(when_ns)
            for process in self.processes:
                process.reap()
            if self.all_received():
                return True
        return False

    def play(self, zero_ns: int) -> bool:
        """Take each step at its time; True if all receivers have ended before the trial's end."""
        for after_ns, action in self.timeline():
            if self.wait_until(zero_ns + after_ns):
                return True
            action()
        return self.wait_until(zero_ns + self.plan["duration_ns"])

    def run(self) -> None:
        """From zero to the end, then stop everything and count."""
        from cambrian.testbed import counters, processes, tracing

        if self.plan["real_time"]:
            from cambrian.testbed.lateness import Lateness

            self.lateness = Lateness()
        zero_ns = next_ns(SECOND_NS)
        self.report["zero_ns"] = zero_ns
        self.report["realtime_minus_monotonic_ns"] = time.time_ns() - time.monotonic_ns()
        if self.tracelink is not None:
            self.wait_until(zero_ns)
            # the link's trace starts over at the trial's zero
            self.tracelink.signal(signal.SIGUSR1)
        early = self.play(zero_ns)
        self.report["end_ns"] = time.time_ns() - zero_ns if early else self.plan["duration_ns"]
        assert self.net is not None
        self.report["counters"] = counters.read(self.net)
        self.report["counted_ns"] = time.time_ns() - zero_ns
        if self.plan["capture"]["trace_tcp"] and tracing.available():
            tracing.stop()
        if self.lateness is not None:
            self.report["lateness"] = self.lateness.report()
        stubborn = processes.stop([self.capture], processes.CAPTURE_TIMEOUT_S)
        # receivers first: a sender that has gone first would look like a failed transfer
        receivers = [process for process in self.processes if process.name.endswith(".receiver")]
        stubborn += processes.stop(receivers)
        stubborn += processes.stop([process for process in self.processes if process not in receivers])
        if self.tracelink is not None:
            stubborn += processes.stop([self.tracelink])
            self.processes.append(self.tracelink)
        self.processes.append(self.capture)
        self.report["killed"] = stubborn
        self.report["processes"] = {
            process.name: {
                "status": process.status,
                "started_ns": process.started_ns - zero_ns,
                "ended_ns": None if process.ended_ns is None else process.ended_ns - zero_ns,
                "stopped": process.stopped,
            }
            for process in self.processes
        }
        self.count_kernel_entries()

    def count_kernel_entries(self) -> None:
        """What each endpoint has cost, whatever the machine: each is a user of its own."""
        from cambrian.testbed import counters

        entries = counters.kernel_entries()
        for flow, spec in enumerate(self.plan["flows"]):
            for side, program in (("sender", spec["sender"]), ("receiver", spec["receiver"])):
                report = self.report["processes"].get(f"flow{flow}.{side}")
                # without a user of its own it runs as root, whose entries are mostly this program's
                if report is not None and "user" in program and program["user"] in entries:
                    report["kernel_entries"] = entries[program["user"]]


def carry_out(
    before: Callable[[], None], prepare: Callable[[Plan], None], seal: Callable[[], None] = lambda: None
) -> None:
    """Carry out the plan of the results folder; whatever happens, leave a report.

    ``before`` makes the file system, ``prepare`` what the plan needs from the machine, and ``seal`` takes
    away what no program of the trial may reach, once the network stands. These differ between a guest and
    the host.
    """
    from cambrian.testbed import system

    report = cast("GuestReport", {})
    try:
        before()
        system.free_clock_reads()
        import_everything()
        plan: Plan = json.loads((OUT / "plan.json").read_text())
        prepare(plan)
        trial = Trial(plan)
        report = trial.report
        report["kernel"] = os.uname().release
        # from here on, everything has fixed paths and happens at fixed times
        trial.wait_until(next_ns(SECOND_NS))
        system.restart_randomness("network")
        trial.build_network()
        seal()
        trial.prepare_programs()
        trial.wait_until(next_ns(SECOND_NS))
        trial.start_capture()
        trial.start_servers()
        trial.start_early_clients()
        trial.run()
    except BaseException:
        report["crash"] = traceback.format_exc()
        print(report["crash"], file=sys.stderr, flush=True)
    finally:
        partial = OUT / "guest.json.part"
        partial.write_text(json.dumps(report))
        partial.rename(OUT / "guest.json")


def prepare_guest(plan: Plan) -> None:
    """The plan's programs and settings, and limits of the whole kernel: a guest has it for itself."""
    from cambrian.testbed import dumbbell, users

    mount_programs(plan["mounts"])
    name_interpreter()
    check_kernel_settings(plan["kernel_settings"])
    users.prepare()
    dumbbell.set_global_limits()


def main() -> None:
    """Init: carry out the plan and power off."""
    sys.path[:0] = [os.environ[name] for name in CODE.values()]
    from cambrian.testbed import system

    try:
        carry_out(mount_system, prepare_guest)
    finally:
        system.power_off()


if __name__ == "__main__":
    main()
