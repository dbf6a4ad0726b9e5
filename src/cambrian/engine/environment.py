"""What a trial runs, and the hash of each: its part in the trial's identity."""

from __future__ import annotations

import compileall
import hashlib
import platform
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path

from cambrian.engine import native
from cambrian.engine.native import Native
from cambrian.kernel import host, locate
from cambrian.kernel.model import Kernel
from cambrian.stacks import build, catalogue
from cambrian.stacks.build import Built

PACKAGE = Path(__file__).resolve().parents[1]
#: whose code decides what a trial's files say
_ROOMS = ("testbed", "engine", "pages", "trace", "metrics/gates")


@dataclass(frozen=True)
class Environment:
    """The kernel, the testbed's programs and the stacks, all built.

    ``seccomp``: may guests use the fast way of running programs here? Without it they use
    ptrace: the same results, more slowly. ``testbed`` is :func:`testbed_hash` as it was in the
    beginning, so that an edit under way does not give one run's trials two identities.
    """

    kernel: Kernel
    seccomp: bool
    native: Native
    builds: Mapping[str, Built]
    testbed: str

    def hashes(self, stacks: list[str]) -> dict[str, str]:
        """What decides a trial's bytes: thing → hash or version."""
        return {
            "kernel": self.kernel.sha256,
            "native": self.native.sha256,
            "testbed": self.testbed,
            "python": platform.python_version(),
            "pyroute2": version("pyroute2"),
        } | {
            f"stack {name}": f"{self.builds[name].sha256} {self.builds[name].folder.name}" for name in stacks
        }


@cache
def testbed_hash() -> str:
    """SHA-256 over the code that carries out and reads a trial."""
    digest = hashlib.sha256()
    for room in _ROOMS:
        for path in sorted((PACKAGE / room).rglob("*.py")):
            digest.update(f"{path.relative_to(PACKAGE)}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def ensure(stacks: set[str]) -> Environment:
    """Everything that these stacks' trials need; builds what is missing, with progress.

    Raises:
        cambrian.kernel.model.KernelError, cambrian.stacks.toolchain.MissingTool,
        cambrian.command.CommandFailed: something cannot be had; the text has the remedy.
    """
    loaded = catalogue.load()
    # the guest cannot write bytecode: without it every boot would compile the testbed anew, and
    # whether a boot compiles anything moves its trial by ticks of the guest's clock
    compileall.compile_file(PACKAGE / "__init__.py", quiet=2)
    compileall.compile_dir(PACKAGE / "testbed", quiet=2)
    kernel = locate.ensure()
    programs = native.ensure()
    seccomp = host.seccomp(kernel)
    if not seccomp.works:
        print(f"cambrian: guests run by ptrace, two to four times slower: {seccomp.said}", file=sys.stderr)
    built = {name: build.ensure(loaded[name]) for name in sorted(stacks)}
    return Environment(kernel, seccomp.works, programs, built, testbed_hash())
