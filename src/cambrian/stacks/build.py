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
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from filelock import FileLock

from cambrian import paths, progress
from cambrian.command import CommandFailed, MissingTool
from cambrian.stacks import kinds, toolchain
from cambrian.stacks.built import Built, program, program_there
from cambrian.stacks.catalogue import Stack
from cambrian.stacks.manifest import ManifestError

if TYPE_CHECKING:
    from hashlib import _Hash as Hash

State = Literal["built", "missing", "unbuildable"]


@dataclass(frozen=True)
class Status:
    """What is there of a stack, and how to get the rest."""

    state: State
    detail: str
    remedy: str | None


#: folders that tools leave among sources
_NOT_SOURCE = {"__pycache__", "target"}


def _tool(stack: Stack, *, fetch: bool = True) -> toolchain.Toolchain | None:
    match stack.manifest.build.kind:
        case "cargo":
            return toolchain.cargo()
        case "go":
            return toolchain.go(fetch=fetch)
        case "make":
            return toolchain.cc()
        case "maven":
            # it fetches and does not compile: its version is no part of the build
            toolchain.maven()
            return None
        case _:
            return None


def _add(digest: Hash, path: Path, name: str) -> None:
    digest.update(f"{name}\0{path.stat().st_size}\0".encode())
    digest.update(path.read_bytes())


def _content(stack: Stack) -> bytes:
    """A hash of all that a stack's build comes from.

    That is every file in its folder, names included (tests and notes too, for simplicity), or of a
    stack that is one TOML file this file and what it names; the manifest's further ``sources``;
    and for a program that is there already, the program.
    """
    digest = hashlib.sha256()
    wanted = stack.manifest.build
    if stack.alone:
        named = [file.template for side in stack.sides() for file in side.files]
        _add(digest, stack.file, stack.file.name)
        for name in [*named, *filter(None, (wanted.lock, wanted.tools))]:
            _add(digest, stack.folder / name, name)
    else:
        _add_folder(digest, stack.folder)
    for source in wanted.sources:
        path = stack.folder / source
        if path.is_dir():
            _add_folder(digest, path)
        elif path.is_file():
            _add(digest, path, source)
        else:
            raise ManifestError(f"{stack.file}: build.sources: there is no {path}")
    if wanted.kind == "none":
        _add(digest, program_there(stack), "program")
    return digest.digest()


def _add_folder(digest: Hash, folder: Path) -> None:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not _NOT_SOURCE.intersection(path.relative_to(folder).parts):
            _add(digest, path, str(path.relative_to(folder)))


def _name(stack: Stack) -> str:
    """The build's folder but for the compiler's part: a stack and a hash of its source."""
    return f"{stack.name}-{hashlib.sha256(_content(stack)).hexdigest()[:12]}"


def _home(stack: Stack, tool: toolchain.Toolchain | None) -> Path:
    compiler = hashlib.sha256((tool.version if tool else "none").encode()).hexdigest()[:8]
    return paths.cache() / "stacks" / f"{_name(stack)}-{compiler}"


def _any_home(stack: Stack) -> Path | None:
    """A build of this source by whatever compiler: to run one, none is needed."""
    found = sorted((paths.cache() / "stacks").glob(f"{_name(stack)}-*/build.json"))
    return found[0].parent if found else None


def _built(stack: Stack, home: Path) -> Built:
    return Built(stack, home, home / program(stack), json.loads((home / "build.json").read_text())["sha256"])


def status(stack: Stack) -> Status:
    """Is the stack built, for this source and compiler? Builds nothing, fetches nothing."""
    remedy = f"cambrian stacks build {stack.name}"
    try:
        home = _home(stack, _tool(stack, fetch=False))
    except MissingTool as missing:
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
        MissingTool: no compiler for it, with the remedy.
        cambrian.command.CommandFailed: the build failed, with its last lines.
    """
    try:
        home = _home(stack, _tool(stack))
    except MissingTool:
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


def _sha256(folder: Path, binary: Path) -> str:
    """Of the program; of one that brings its libraries along, of the list of these as well."""
    digest = hashlib.sha256(binary.read_bytes())
    for record in sorted(folder.glob("*.fetched")):
        digest.update(record.read_bytes())
    return digest.hexdigest()


def _perhaps_missing(packages: Sequence[str]) -> str:
    """Which of the packages that a build needs are not installed, as a remedy; "" if none or unknown."""
    if not packages or shutil.which("dpkg-query") is None:
        return ""
    ask = ["dpkg-query", "--show", "--showformat", "${db:Status-Status} ${Package}\\n", *packages]
    answer = subprocess.run(ask, capture_output=True, text=True, check=False).stdout
    there = {line.partition(" ")[2] for line in answer.splitlines() if line.startswith("installed ")}
    missing = [name for name in packages if name not in there]
    return f"\nperhaps for want of Debian packages: apt-get install {' '.join(missing)}" if missing else ""


def _build(stack: Stack, home: Path) -> None:
    wanted = stack.manifest.build
    log = home.with_suffix(".log")
    log.unlink(missing_ok=True)
    fresh = Path(tempfile.mkdtemp(dir=home.parent, prefix=f"{stack.name}.new-"))
    fresh.chmod(0o755)
    began = time.monotonic()
    try:
        with progress.step(f"build {stack.name}", total=float(wanted.seconds)) as step:
            try:
                kinds.make(stack, fresh, log, step)
            except CommandFailed as failed:
                raise CommandFailed(f"{failed}{_perhaps_missing(wanted.debian_packages)}") from failed
        binary = fresh / program(stack)
        if not binary.is_file():
            raise FileNotFoundError(f"the build of {stack.name} left no {wanted.binary}; log: {log}")
        facts = {
            "stack": stack.name,
            "version": stack.manifest.version,
            "sha256": _sha256(fresh, binary),
            "seconds": round(time.monotonic() - began),
        }
        (fresh / "build.json").write_text(json.dumps(facts, indent=1))
        shutil.rmtree(home, ignore_errors=True)
        fresh.rename(home)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
