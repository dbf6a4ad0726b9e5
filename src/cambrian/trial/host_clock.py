"""Whether trials can run on this host's own kernel (``--clock host``): tried, not guessed."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from functools import cache
from pathlib import Path

from cambrian.kernel.model import Features, Kernel, KernelError
from cambrian.trial import boot, wall

#: as long as the try may take
_TRY_S = 30
#: what is missing → the command that may bring it
_REMEDIES = {
    "netem": "modprobe sch_netem, or a kernel with CONFIG_NET_SCH_NETEM",
    "tbf": "modprobe sch_tbf, or a kernel with CONFIG_NET_SCH_TBF",
    "veth": "modprobe veth, or a kernel with CONFIG_VETH",
    "packet sockets": "modprobe af_packet, or a kernel with CONFIG_PACKET",
}
_OTHER_REMEDY = "allow user namespaces (sysctl kernel.unprivileged_userns_clone=1), or be root"


@cache
def problems() -> dict[str, str]:
    """What this host lacks for ``--clock host`` → the reason and the remedy; empty if it can.

    A small network of namespaces is built behind the wall and removed.
    """
    around = wall.installed()
    if around.program is None:
        return {"wall": around.why}
    argv = wall.host_command(
        around, boot.host_agent("--check"), readable=boot.host_folders(), out=None, status=None
    )
    try:
        answer = subprocess.run(
            argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_TRY_S, check=False
        )
        refused: dict[str, str] = json.loads(answer.stdout)
    except (OSError, subprocess.SubprocessError) as error:
        return {"namespaces": f"{error}; remedy: {_OTHER_REMEDY}"}
    except ValueError:
        said = answer.stderr.strip().splitlines()[-1:] or [f"exit status {answer.returncode}"]
        return {"namespaces": f"{said[0]}; remedy: {_OTHER_REMEDY}"}
    return {name: f"{why}; remedy: {_REMEDIES.get(name, _OTHER_REMEDY)}" for name, why in refused.items()}


def kernel() -> Kernel:
    """This host's kernel, as a trial's manifest names it.

    Raises:
        KernelError: it cannot carry out trials.
    """
    if lacks := problems():
        raise KernelError(
            "; ".join(f"--clock host: this host has no {name}: {why}" for name, why in lacks.items())
        )
    system = os.uname()
    identity = hashlib.sha256(f"{system.release} {system.version}".encode()).hexdigest()
    nothing = Features(seccomp=False, seed=False, vdso_clock=False, tsc=False)
    return Kernel(Path("/"), system.release, "host", identity, nothing)
