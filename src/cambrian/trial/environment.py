"""The software that a trial runs, with a hash of each part for the trial's identity."""

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
from cambrian.trial.wall import OWN_ETC, Wall

#: packages whose code, with their imports, decides the content of a trial's files: the code that runs and
#: judges a trial, and the code in the guest (facts from ``*.toml`` are part of the trial's description)
PACKAGES = ("cambrian.trial", "cambrian.testbed")
#: these read manifests or word errors: the content of a manifest is part of its stack's hash, and a trial
#: whose description has an error never runs
WITHOUT = frozenset(
    {
        "cambrian.stacks.unavailable",
        "cambrian.study.hints",
        "cambrian.study.offered",
        "cambrian.study.toml_file",
    }
)
#: certificates that every endpoint presents and trusts. The key is RSA, so all signatures, and with them
#: handshakes, have one length. An ECDSA signature's is random, and OpenSSL mixes addresses of its memory into
#: its random numbers; they follow from the code that it chooses for the processor.
CERTIFICATES = Path(__file__).resolve().parents[1] / "testbed" / "certs"


@dataclass(frozen=True)
class Native:
    """The folder of the testbed's compiled programs, and a hash of their sources and compiler."""

    folder: Path
    sha256: str


@dataclass(frozen=True)
class Environment:
    """The kernel, the testbed's programs and the stacks, all built (:func:`cambrian.run.prepare.ensure`).

    ``seccomp``: guests can run programs by seccomp on this machine. Otherwise they use
    ptrace: the same results, more slowly. ``testbed`` is :func:`testbed_hash` at the start
    of a run, so that an edit during the run does not change the identities. ``wall`` is what stands around
    each guest.
    """

    kernel: Kernel
    seccomp: bool
    native: Native
    builds: Mapping[str, Built]
    testbed: str
    wall: Wall

    def hashes(self, stacks: list[str]) -> dict[str, str]:
        """Software that decides a trial's bytes: name → hash or version."""
        return {
            "kernel": self.kernel.sha256,
            "native": self.native.sha256,
            "testbed": self.testbed,
            "python": platform.python_version(),
            "pyroute2": version("pyroute2"),
            "wall": self.wall.name,
        } | {
            f"stack {name}": f"{self.builds[name].sha256} {self.builds[name].folder.name}" for name in stacks
        }


@cache
def testbed_hash() -> str:
    """SHA-256 of the code that carries out and judges a trial, and of the testbed's other files."""
    digest = hashlib.sha256(source.fingerprint(*PACKAGES, facts=False, without=WITHOUT).encode())
    for path in (*sorted(CERTIFICATES.iterdir()), *sorted(OWN_ETC.iterdir())):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()
