"""A server that attacks instead of serving.

``hostile.py LOG WORK --set attack=NAME [--set canary=FILE]``. ``attack=all`` tries everything that must be
denied, and writes a JSON line for each to standard error: {"attack": …, "outcome": "denied: …" or "DONE: …"}.
Each other attack is a program that must not harm more than its own trial.
"""

import ctypes
import json
import os
import resource
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

LIBC = ctypes.CDLL(None, use_errno=True)
LOG, WORK = Path(sys.argv[1]), Path(sys.argv[2])
SETTINGS = dict(word.partition("=")[::2] for word in sys.argv[3:] if word != "--set")
OUT = Path("/run/cambrian/out")


#: attacks that must be denied: each returns what it could do
DENIED: list[Callable[[], str]] = []


class Denied(Exception):
    pass


def must_be_denied(attack: Callable[[], str]) -> Callable[[], str]:
    DENIED.append(attack)
    return attack


def call(name: str, *arguments: object) -> None:
    """A function of the C library; its failure is a denial."""
    ctypes.set_errno(0)
    if getattr(LIBC, name)(*arguments) < 0:
        raise Denied(f"{name}: {os.strerror(ctypes.get_errno())}")


def mount(source: str, target: Path, kind: str, flags: int = 0, data: bytes = b"") -> None:
    target.mkdir(parents=True, exist_ok=True)
    call("mount", source.encode(), str(target).encode(), kind.encode(), flags, data)


def processes() -> Iterator[tuple[int, int, str]]:
    """(pid, user, command line) of all others."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            words = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            yield int(entry.name), entry.stat().st_uid, words


def others() -> list[int]:
    """The process numbers of other users' programs, hidden from it: a signal tells whether one is there."""
    found = []
    for pid in range(2, 2000):
        try:
            os.kill(pid, 0)
        except PermissionError:
            found.append(pid)
        except ProcessLookupError:
            continue
    if not found:
        raise Denied("no process to attack")
    return found


@must_be_denied
def remount_root() -> str:
    call("mount", b"none", b"/", b"hostfs", 32, b"")  # MS_REMOUNT
    return "the guest's root is writable"


@must_be_denied
def mount_host() -> str:
    mount("none", WORK / "host", "hostfs", data=b"/")
    return f"mounted the host: {sorted((WORK / 'host').iterdir())}"


@must_be_denied
def write_root() -> str:
    Path("/etc/hostile").write_text("x")
    return "wrote below /etc"


@must_be_denied
def read_canary() -> str:
    return Path(SETTINGS["canary"]).read_text()


@must_be_denied
def read_home() -> str:
    found = [str(path) for path in Path("/root").iterdir()] + [str(path) for path in Path("/home").iterdir()]
    return f"listed {found}"


@must_be_denied
def read_shadow() -> str:
    return Path("/etc/shadow").read_text()[:20]


@must_be_denied
def read_environment_of_init() -> str:
    return Path("/proc/1/environ").read_bytes()[:60].decode(errors="replace")


@must_be_denied
def forge_capture() -> str:
    (OUT / "capture.bin").write_bytes(b"\0" * 2800)
    return "overwrote the capture"


@must_be_denied
def forge_report() -> str:
    (OUT / "guest.json").write_text("{}")
    return "wrote the report"


@must_be_denied
def add_to_results() -> str:
    (OUT / "flow1.transport.csv").write_text("time_ns\n")
    return "wrote its rival's log"


@must_be_denied
def change_plan() -> str:
    with (OUT / "plan.json").open("a") as plan:
        plan.write(" ")
    return "wrote to the plan"


@must_be_denied
def rival_logs() -> str:
    folders = [path for path in Path("/run/cambrian/logs").iterdir() if "flow0" not in path.name]
    if not folders:
        raise Denied("no rival's folder")
    (folders[0] / "own" / "transport.csv").write_text("")
    return f"wrote below {folders[0]}"


@must_be_denied
def rival_work() -> str:
    folders = [path for path in Path("/run/cambrian/work").iterdir() if "flow1" in path.name]
    if not folders:
        raise Denied("no rival's folder")
    (folders[0] / "x").write_text("")
    return f"wrote below {folders[0]}"


@must_be_denied
def kill_init() -> str:
    os.kill(1, signal.SIGINT)
    return "signalled init"


@must_be_denied
def kill_others() -> str:
    """The capture, its rival, the threads of the kernel."""
    for pid in others():
        with suppress(PermissionError):
            os.kill(pid, signal.SIGKILL)
            return f"killed {pid}"
    raise Denied("may signal none of them")


@must_be_denied
def see_rival() -> str:
    others = [words for _, user, words in processes() if user != os.getuid()]
    if not others:
        raise Denied("sees its own processes only")
    return f"saw {others}"


@must_be_denied
def shared_folder() -> str:
    for folder in (Path("/tmp"), Path("/dev/shm")):
        # a stack whose own folder is below /tmp sees it there, read-only
        found = [path for path in folder.iterdir() if not os.statvfs(path).f_flag & os.ST_RDONLY]
        if found or folder.stat().st_uid != os.getuid():
            return f"{folder} is not its own: {found}"
    raise Denied("/tmp and /dev/shm are its own")


@must_be_denied
def trace_others() -> str:
    for pid in others():
        with suppress(OSError), Path(f"/proc/{pid}/mem").open("rb") as memory:
            memory.read(1)
            return f"opened the memory of {pid}"
    raise Denied("may open none of them")


@must_be_denied
def power_off() -> str:
    call("reboot", 0x4321FEDC)
    return "powered off"


@must_be_denied
def system_request() -> str:
    Path("/proc/sysrq-trigger").write_text("o")
    return "asked for a power-off"


@must_be_denied
def set_clock() -> str:
    call("clock_settime", 0, struct.pack("qq", 0, 0))
    return "set the clock"


@must_be_denied
def other_namespace() -> str:
    there = os.open("/run/netns/router", os.O_RDONLY)
    call("setns", there, 0x40000000)
    return "entered the router"


@must_be_denied
def own_user_namespace() -> str:
    call("unshare", 0x10000000)
    mount("none", WORK / "own-host", "hostfs", data=b"/")
    return "mounted in a user namespace"


@must_be_denied
def raw_packets() -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW) as raw:
        raw.sendto(b"x" * 40, ("10.0.1.2", 0))
    return "sent raw packets"


@must_be_denied
def packet_socket() -> str:
    socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)).close()
    return "opened a packet socket"


@must_be_denied
def rival_address() -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("10.0.1.2", 4433))
    return "took its rival's address"


@must_be_denied
def change_link() -> str:
    """An RTM_NEWQDISC of a pfifo in the place of its own link's netem."""
    index = next(number for number, name in socket.if_nameindex() if name != "lo")
    kind = struct.pack("HH", 4 + 6, 1) + b"pfifo\0\0\0"
    body = struct.pack("BxxxiIII", 0, index, 0x10000, 0xFFFFFFFF, 0) + kind
    head = struct.pack("IHHII", 16 + len(body), 36, 0x1 | 0x4 | 0x100 | 0x400, 1, 0)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as netlink:
        netlink.send(head + body)
        code = struct.unpack("i", netlink.recv(4096)[16:20])[0]
    if code:
        raise Denied(os.strerror(-code))
    return "changed its link"


@must_be_denied
def set_knob() -> str:
    Path("/proc/sys/net/ipv4/tcp_ecn").write_text("1")
    return "set a sysctl"


@must_be_denied
def set_user_file() -> str:
    answer = subprocess.run(
        ["/usr/bin/su", "-c", "id"], check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    if "uid=0" not in answer.stdout:
        raise Denied(answer.stderr.strip()[-60:] or "su fails")
    return answer.stdout


@must_be_denied
def become_root() -> str:
    call("setresuid", 0, 0, 0)
    return "became root"


@must_be_denied
def load_module() -> str:
    call("syscall", 175, b"", 0, b"")
    return "loaded a module"


@must_be_denied
def connect_to_host() -> str:
    for address in ("127.0.0.1", "10.0.2.2", "192.168.0.1"):
        with socket.socket() as sock:
            sock.settimeout(0.2)
            if sock.connect_ex((address, 22)) == 0:
                return f"connected to {address}"
    raise Denied("no host answers")


@must_be_denied
def device_node() -> str:
    os.mknod(WORK / "memory", 0o020666, os.makedev(1, 1))
    return "made a device"


def everything() -> None:
    for attack in DENIED:
        try:
            outcome = f"DONE: {attack()}"
        except (Denied, OSError, ValueError, LookupError) as error:
            outcome = f"denied: {error}"
        print(json.dumps({"attack": attack.__name__, "outcome": outcome}), file=sys.stderr, flush=True)


# attacks that harm their own trial only


def ready() -> None:
    print('{"event": "ready"}', flush=True)


def forks() -> None:
    ready()
    while True:
        try:
            os.fork()
        except OSError:
            time.sleep(0.01)


def eats_memory() -> None:
    ready()
    hoard = []
    while True:
        hoard.append(bytearray(os.urandom(1 << 20)))
        time.sleep(0.001)


def floods_stdout() -> None:
    ready()
    line = '{"event": "progress", "time_ns": 1, "bytes": 1}\n' * 20000
    while True:
        sys.stdout.write(line)
        time.sleep(0.001)


def floods_log() -> None:
    ready()
    with LOG.open("wb") as log:
        while True:
            log.write(b"x" * (1 << 24))
            time.sleep(0.001)


def many_files() -> None:
    ready()
    for number in range(10**6):
        (LOG.parent / str(number)).touch()
        if number % 1000 == 0:
            time.sleep(0.001)


def fifo() -> None:
    os.mkfifo(LOG)
    ready()
    time.sleep(1000)


def endless_link() -> None:
    LOG.symlink_to("/dev/zero")
    ready()
    time.sleep(1000)


def private_link() -> None:
    LOG.symlink_to(SETTINGS["canary"])
    ready()
    time.sleep(1000)


def deep_folders() -> None:
    folder = LOG.parent / "qlog"
    for _ in range(50):
        folder = folder / "x"
    folder.mkdir(parents=True)
    ready()
    time.sleep(1000)


def sparse_log() -> None:
    with LOG.open("wb") as log:
        log.truncate(1 << 42)
    ready()
    time.sleep(1000)


def deep_json() -> None:
    print("[" * 100_000, flush=True)
    ready()
    time.sleep(1000)


def no_object() -> None:
    print('"event"\n[1]\n{"event": ["ready"]}', flush=True)
    ready()
    time.sleep(1000)


def wrong_types() -> None:
    ready()
    print('{"event": "done", "time_ns": "soon", "bytes": {}, "complete": 1, "error": 7}', flush=True)
    time.sleep(1000)


def large_number() -> None:
    ready()
    print('{"event": "done", "time_ns": 1e400, "bytes": 1}', flush=True)
    print('{"event": "done", "time_ns": %s, "bytes": 1}' % ("9" * 4000), flush=True)
    time.sleep(1000)


def wrong_log() -> None:
    LOG.write_text("time_ns,event\nNaN,inf\n" + "\0" * 1000)
    ready()
    time.sleep(1000)


def lies() -> None:
    ready()
    print('{"event": "cca", "requested": "none", "confirmed": "bbr", "how": "x"}', flush=True)
    time.sleep(1000)


def floods_rival() -> None:
    ready()
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    while True:
        for port in range(1024, 65000, 997):
            sock.sendto(b"x" * 1200, ("10.1.0.2", port))
        time.sleep(0.02)


def stops() -> None:
    ready()
    os.kill(os.getpid(), signal.SIGSTOP)


def threads() -> None:
    ready()
    resource.setrlimit(resource.RLIMIT_STACK, (1 << 16, 1 << 16))
    while True:
        try:
            threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
        except RuntimeError:
            time.sleep(0.01)


def main() -> None:
    name = SETTINGS.get("attack", "all")
    if name == "all":
        ready()
        # its rival runs by then
        time.sleep(2)
        everything()
        time.sleep(1000)
    globals()[name.replace("-", "_")]()


main()
