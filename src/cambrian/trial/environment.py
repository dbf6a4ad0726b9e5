"""What a trial runs, and the hash of each: its part in the trial's identity."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path

from cambrian import source
from cambrian.kernel.model import Kernel
from cambrian.stacks.built import Built

#: whose code, with all of this package that it imports, decides what a trial's files say: what carries a
#: trial out and judges it, and what runs in the guest (lists of facts, ``*.toml``, reach it by its own words)
ROOMS = ("cambrian.trial", "cambrian.testbed")
#: reads manifests, and words what is wrong with them: what a manifest says is part of its stack's hash
WITHOUT = frozenset({"cambrian.study.toml_file"})
#: what every endpoint shows and trusts; the size of a handshake depends on it
CERTIFICATES = Path(__file__).resolve().parents[1] / "testbed" / "certs"


@dataclass(frozen=True)
class Native:
    """The folder that holds the testbed's own built programs, and a hash of what they were made from."""

    folder: Path
    sha256: str


@dataclass(frozen=True)
class Environment:
    """The kernel, the testbed's programs and the stacks, all built (:func:`cambrian.run.prepare.ensure`).

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
    """SHA-256 over the code that carries out and judges a trial, and the certificates in it."""
    digest = hashlib.sha256(source.fingerprint(*ROOMS, facts=False, without=WITHOUT).encode())
    for path in sorted(CERTIFICATES.iterdir()):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()
