"""Whom the programs of a trial run as: each endpoint is a user of its own, without privileges.

The guest's root decides what the results are: it writes the capture and the report, and sets links and
queues. An endpoint can reach none of it, nor its rival: it owns its working folder and, if it writes logs,
one folder of the results, in which only it can write.
"""

from __future__ import annotations

import os
import resource
from pathlib import Path

from cambrian.testbed import system

#: the agent's place of the results folder
RESULTS = "/run/cambrian/out"
#: folder of the guest → below it ``NAME/own``, a folder of the results for the program NAME
LOGS = "/run/cambrian/logs"
#: a program's folder in the results: its name, and this
LOGS_SUFFIX = ".logs"
#: ``testbed/native/run_as.c``
_RUN_AS = "/run/cambrian/native/run_as"
#: most processes and threads of one user; a browser and a Java machine have some hundreds
_MOST_PROCESSES = 1024


def logs_folder(name: str) -> str:
    """The guest's path of the folder in which the program may write."""
    return f"{LOGS}/{name}/own"


def prepare() -> None:
    """No program can start processes without end; all may choose the kernel's controllers."""
    # root, who starts the programs, is exempt
    resource.setrlimit(resource.RLIMIT_NPROC, (_MOST_PROCESSES, _MOST_PROCESSES))
    available = Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text()
    system.write("/proc/sys/net/ipv4/tcp_allowed_congestion_control", available)


def give(folder: Path, user: int | None) -> None:
    """Make the program's user the owner of a folder and all that is in it; no other user can enter it."""
    if user is None:
        return
    give_alone(folder, user)
    for place, folders, files in os.walk(folder):
        for name in (*folders, *files):
            os.chown(Path(place) / name, user, user, follow_symlinks=False)


def give_alone(folder: Path, user: int) -> None:
    """As :func:`give`, without what is in the folder."""
    os.chown(folder, user, user)
    folder.chmod(0o700)


def give_logs(name: str, user: int | None) -> None:
    """Mount the program's folder of the results where no other user can reach it."""
    place = Path(logs_folder(name))
    out = os.environ.get("CAMBRIAN_OUT")
    if out is None:
        # no guest: the results folder is mounted already
        system.mount(f"{RESULTS}/{name}{LOGS_SUFFIX}", str(place), "none", system.MS_BIND)
    else:
        flags = system.MS_NOSUID | system.MS_NODEV
        system.mount("none", str(place), "hostfs", flags, data=f"{out}/{name}{LOGS_SUFFIX}")
    if user is not None:
        give_alone(place.parent, user)


def open_to_all(folder: Path) -> None:
    """Let the program write to a folder that the host's user owns."""
    folder.chmod(0o777)


def command(argv: list[str], user: int | None) -> list[str]:
    """``argv``, to run as ``user`` without privileges (None: as root)."""
    return argv if user is None else [_RUN_AS, str(user), *argv]
