"""Builds everything that trials run, cached by content: kernel, stacks, the testbed's programs."""

from __future__ import annotations

import hashlib
import shutil
import sys
import tempfile
from pathlib import Path

from filelock import FileLock

from cambrian import paths
from cambrian.command import clean_environment, run
from cambrian.kernel import host, locate
from cambrian.kernel.model import Kernel
from cambrian.run import own_stacks
from cambrian.stacks import build, catalogue, toolchain, whole
from cambrian.study.model import Clock
from cambrian.trial import host_clock, wall
from cambrian.trial.environment import Environment, Native, testbed_hash

PACKAGE = Path(__file__).resolve().parents[1]
_SOURCES = PACKAGE / "testbed" / "native"
_PROGRAMS = ("capture", "run_as", "tracelink")


def ensure(stacks: set[str], clock: Clock = "virtual") -> Environment:
    """Everything that trials of these stacks need on this clock; builds missing parts, with progress.

    What a user should know of own stacks is printed, if no line has said it yet.

    Raises:
        cambrian.stacks.manifest.ManifestError: a stack is not whole (:func:`cambrian.stacks.whole.check`).
        cambrian.kernel.model.KernelError, cambrian.command.MissingTool,
        cambrian.command.CommandFailed: a part cannot be built; the text has the remedy.
    """
    loaded = catalogue.load()
    for name in sorted(stacks):
        whole.check(loaded[name])
    own_stacks.tell(stacks)
    # first of all: what cannot run needs no builds
    kernel = host_clock.kernel() if clock == "host" else locate.ensure()
    programs = native()
    by_seccomp = clock != "host" and _by_seccomp(kernel)
    built = {name: build.ensure(loaded[name]) for name in sorted(stacks)}
    # for the host's own kernel the whole wall has been tried
    around = wall.installed() if clock == "host" else wall.find()
    if around.program is None:
        print(f"cambrian: guests run without a wall around them: {around.why}", file=sys.stderr)
    return Environment(kernel, by_seccomp, programs, built, testbed_hash(), around)


def _by_seccomp(kernel: Kernel) -> bool:
    seccomp = host.seccomp(kernel)
    if not seccomp.works:
        print(f"cambrian: guests use ptrace, two to four times slower: {seccomp.said}", file=sys.stderr)
    return seccomp.works


def native() -> Native:
    """The testbed's programs (capture, trace-driven link); compiles them if needed (seconds).

    Raises:
        MissingTool: no C compiler, or what belongs to it.
        cambrian.command.CommandFailed: the compilation failed.
    """
    home, sha256 = native_home()
    home.parent.mkdir(parents=True, exist_ok=True)
    if not home.is_dir():
        with FileLock(f"{home}.lock"):
            if not home.is_dir():
                _compile(home)
    return Native(home, sha256)


def native_home() -> tuple[Path, str]:
    """The folder of the testbed's programs, if they are compiled, and the hash of their sources and compiler.

    Raises:
        MissingTool: no C compiler.
    """
    tool = toolchain.cc()
    digest = hashlib.sha256(f"{tool.version} {_PROGRAMS}".encode())
    for source in sorted(path for path in _SOURCES.iterdir() if path.is_file()):
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    return paths.cache() / "native" / digest.hexdigest()[:16], digest.hexdigest()


def _compile(home: Path) -> None:
    toolchain.require("the testbed's programs", {"make": "make"})
    fresh = Path(tempfile.mkdtemp(dir=home.parent, prefix="new-"))
    fresh.chmod(0o755)
    try:
        argv = ["make", "-C", str(_SOURCES), f"OUT={fresh}", *(str(fresh / name) for name in _PROGRAMS)]
        run(argv, log=home.with_suffix(".log"), environment=clean_environment())
        fresh.rename(home)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
