"""The wall around a guest: its host process sees only what the trial needs.

A guest is a host process with the user's rights, and its root is the host's file tree. A program that takes
over the guest's kernel has these rights. So bubblewrap runs the guest in namespaces of its own, without
capabilities: the file tree has the system's programs, the trial's stacks and the trial's results folder, and
nothing else; only the results folder is writable; there is no network device, and no process but the guest's
own. The paths inside do not depend on the machine's.

Source: bwrap(1), and docs/explanation/security.md.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from cambrian.command import Killed, tried
from cambrian.stacks.built import HIDDEN
from cambrian.testbed.users import RESULTS

PACKAGE = "bubblewrap"
REMEDY = f"apt-get install {PACKAGE}"
#: folder inside the wall for all that is not the system's
HOME = Path("/cambrian")
#: the guest's kernel and its results folder inside the wall
KERNEL = HOME / "linux"
OUT = HOME / "out"
#: the results folder where the trial runs on the host's own kernel: the agent's place of it
HOST_OUT = Path(RESULTS)
#: what starts a program there without any capability, whoever it is
UNPRIVILEGED = (
    "/usr/bin/setpriv",
    "--bounding-set=-all",
    "--inh-caps=-all",
    "--ambient-caps=-all",
    "--no-new-privs",
)
#: system folders: shown read-only where they exist; merged ones are links
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
#: configuration that programs need to start. The host's passwd and its relatives are not shown
_ETC = (
    "alternatives",
    "chromium",
    "chromium.d",
    "fonts",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "mime.types",
    "os-release",
    "protocols",
    "services",
    "ssl/certs",
    "ssl/openssl.cnf",
)
#: passwd, group, hosts and nsswitch.conf of every guest
OWN_ETC = Path(__file__).resolve().parents[1] / "testbed" / "etc"
#: without it the browser makes its own, in seconds
_FONT_CACHE = "/var/cache/fontconfig"
#: folders that the guest mounts over, and those that it mounts in
_PLACES = ("/proc", "/sys", "/run", "/var")
#: as long as one try of bubblewrap may take
_TRY_S = 20


@dataclass(frozen=True)
class Wall:
    """What stands around a guest: ``program`` is bubblewrap's, None without a wall; then ``why`` says why."""

    program: str | None
    why: str = ""

    @property
    def name(self) -> str:
        """The wall's part in a trial's identity and manifest."""
        return PACKAGE if self.program else "none"


def installed() -> Wall:
    """The wall that is installed, untried."""
    program = shutil.which("bwrap")
    return Wall(program, "" if program else f"bubblewrap is not installed; remedy: {REMEDY}")


@cache
def find() -> Wall:
    """The wall that this machine offers; tried once.

    Raises:
        Killed: something outside killed the test, or it took too long.
    """
    around = installed()
    if (program := around.program) is None:
        return around
    command = [program, *_namespaces(), *_tree({}), "--", "/bin/true"]
    try:
        status, said = tried(command, limit_s=_TRY_S)
    except OSError as error:
        return Wall(None, f"bubblewrap fails: {error}")
    except subprocess.TimeoutExpired as error:
        # a slow machine may have the wall: it must not run without it
        raise Killed(f"bubblewrap gave no answer within {_TRY_S} s; remedy: run the command again") from error
    if status:
        lines = said.strip().splitlines()[-1:] or [f"exit status {status}"]
        return Wall(
            None,
            f"bubblewrap fails: {lines[0]}; remedy: allow user namespaces "
            "(sysctl kernel.unprivileged_userns_clone=1, or a container that permits them)",
        )
    return around


def command(
    wall: Wall, argv: Sequence[str], *, readable: Mapping[Path, Path], out: Path, status: int
) -> list[str]:
    """``argv`` behind the wall.

    Parameters:
        readable: path inside → path of the host, shown read-only.
        out: the folder of the host that becomes :data:`OUT`, writable.
        status: file descriptor that bubblewrap writes its child's process number to.
    """
    assert wall.program is not None
    words = [wall.program, *_namespaces(), *_tree(readable), "--bind", str(out), str(OUT)]
    words += ["--remount-ro", "/"]
    return [*words, "--json-status-fd", str(status), "--as-pid-1", "--", *argv]


def host_command(
    wall: Wall, argv: Sequence[str], *, readable: Mapping[Path, Path], out: Path | None, status: int | None
) -> list[str]:
    """``argv`` on the host's own kernel, as root of namespaces of its own.

    Its capabilities hold in these namespaces only. They are what the testbed needs to make networks and
    mounts; what it starts has none of them (:data:`UNPRIVILEGED`). As in :func:`command` otherwise; ``out``
    becomes :data:`HOST_OUT`, and None shows no results folder.
    """
    assert wall.program is not None
    words = [wall.program, *_shared_namespaces(), "--uid", "0", "--gid", "0", "--cap-add", "ALL"]
    words += [*_system_tree({}), *_devices(), "--proc", "/proc", "--tmpfs", "/run", *_shown(readable)]
    if out is not None:
        words += ["--bind", str(out), str(HOST_OUT)]
    if status is not None:
        words += ["--json-status-fd", str(status)]
    return [*words, "--as-pid-1", "--", *argv]


def check_open(paths: Iterable[Path]) -> None:
    """Check that root may enter the folders on the way to ``paths`` inside the wall too.

    There root has no right over the folders of other users, which are often closed: a home folder, say. An
    ordinary user has the same rights on both sides.

    Raises:
        PermissionError: a folder is closed; the text says which, and what to do.
    """
    if os.geteuid() != 0:
        return
    groups = {os.getegid(), *os.getgroups()}
    for folder in sorted({parent for path in paths for parent in path.resolve().parents}):
        state = folder.stat()
        own = stat.S_IXUSR if state.st_uid == 0 else stat.S_IXGRP if state.st_gid in groups else stat.S_IXOTH
        if not state.st_mode & own:
            raise PermissionError(
                f"{folder}: it belongs to another user and is closed, and inside the wall root may not enter "
                f"it; remedy: run Cambrian as its owner, or chmod o+x {folder}"
            )


def child(line: bytes) -> int | None:
    """The process number of the guest's kernel on the host, from bubblewrap's first status line."""
    try:
        number = json.loads(line).get("child-pid")
    except (ValueError, AttributeError):
        return None
    return number if isinstance(number, int) else None


def interpreter_folders() -> list[Path]:
    """Where this Python is."""
    return [Path(sys.base_prefix).resolve()]


def not_of_the_system(paths: Sequence[Path]) -> list[Path]:
    """The paths that the guest does not see anyway."""
    return [path for path in paths if not any(path.is_relative_to(system) for system in _SYSTEM)]


def place(path: Path) -> Path:
    """The path inside the wall of a path that the guest sees under its own name.

    The guest has its own /tmp and /run, and mounts the folders that it must see there from :data:`HOME`.
    """
    return HOME / path.relative_to("/") if any(path.is_relative_to(own) for own in HIDDEN) else path


def _namespaces() -> list[str]:
    return [*_shared_namespaces(), "--disable-userns", "--cap-drop", "ALL"]


def _shared_namespaces() -> list[str]:
    return [
        "--unshare-user",
        "--unshare-pid",
        "--unshare-net",
        # a kernel without these has nothing to share
        *(["--unshare-ipc"] if Path("/proc/self/ns/ipc").exists() else []),
        "--unshare-uts",
        "--unshare-cgroup-try",
        "--hostname",
        "cambrian",
        "--die-with-parent",
        "--new-session",
        "--clearenv",
        "--setenv",
        "PATH",
        "/usr/bin:/bin",
        "--setenv",
        "LC_ALL",
        "C",
    ]


def _tree(readable: Mapping[Path, Path]) -> list[str]:
    # User-mode Linux looks for its own program there and starts it again without randomised addresses. A real
    # /proc would show it the memory of its own processes as files
    own_program = ["--dir", "/proc/self", "--symlink", str(KERNEL), "/proc/self/exe"]
    return [*_system_tree(readable), "--dev", "/dev", *own_program, *_shown(readable)]


def _devices() -> list[str]:
    """Those that need no driver. A trial uses no terminal."""
    words = ["--tmpfs", "/dev"]
    for name in ("null", "zero", "full", "random", "urandom"):
        words += ["--dev-bind", f"/dev/{name}", f"/dev/{name}"]
    return [*words, "--perms", "1777", "--tmpfs", "/dev/shm"]


def _shown(readable: Mapping[Path, Path]) -> list[str]:
    return [
        word
        for inside, path in readable.items()
        for word in ("--ro-bind", os.fspath(path), os.fspath(inside))
    ]


def _system_tree(readable: Mapping[Path, Path]) -> list[str]:
    words = [word for folder in _parents(readable) for word in ("--dir", str(folder))]
    for place in _SYSTEM:
        path = Path(place)
        if path.is_symlink():
            words += ["--symlink", str(path.readlink()), place]
        elif path.is_dir():
            words += ["--ro-bind", place, place]
    for name in _ETC:
        words += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    for file in sorted(OWN_ETC.iterdir()):
        words += ["--ro-bind", str(file), f"/etc/{file.name}"]
    words += ["--perms", "1777", "--tmpfs", "/tmp"]
    for place in _PLACES:
        words += ["--dir", place]
    words += ["--ro-bind-try", _FONT_CACHE, _FONT_CACHE]
    return words


def _parents(readable: Mapping[Path, Path]) -> list[Path]:
    """Folders to make first: those that bubblewrap makes by itself can be entered by root alone."""
    places = [*readable, OUT, *(Path("/etc") / name for name in _ETC), Path(_FONT_CACHE)]
    return sorted({parent for place in places for parent in place.parents if parent != Path("/")})
