"""Installs PyPI wheels from a lock with hashes: libraries of stacks, and tools of builds."""

from __future__ import annotations

import compileall
import hashlib
import py_compile
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from filelock import FileLock

from cambrian import paths
from cambrian.command import run

#: the machine of the wheels for another Python than this one
_PLATFORMS = (
    "manylinux_2_34_x86_64",
    "manylinux_2_28_x86_64",
    "manylinux_2_17_x86_64",
    "manylinux2014_x86_64",
)


def install(
    lock: Path,
    to: Path,
    log: Path,
    *,
    on_tick: Callable[[float], None] | None = None,
    python: str | None = None,
) -> None:
    """Install the wheels of ``lock`` into ``to``, for this Python or the version ``python`` (such as 3.11).

    Raises:
        cambrian.command.CommandFailed: a wheel cannot be had, or its hash is wrong.
    """
    pip = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--no-compile"]
    pip += ["--only-binary", ":all:", "--require-hashes", "--no-deps"]
    if python is not None:
        pip += ["--implementation", "cp", "--python-version", python]
        pip += [word for platform in _PLATFORMS for word in ("--platform", platform)]
    run([*pip, "--target", str(to), "--requirement", str(lock)], log=log, on_tick=on_tick)


def tools(lock: Path, log: Path) -> Path:
    """The folder with the tools of ``lock``, downloaded once for all stacks; programs are in ``bin``."""
    home = paths.cache() / "tools" / hashlib.sha256(lock.read_bytes()).hexdigest()[:16]
    install_once(lock, home, log)
    return home


def install_once(lock: Path, home: Path, log: Path) -> None:
    """Install the wheels of ``lock`` as the folder ``home``, atomically, unless it exists."""
    home.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{home}.lock"):
        if not home.is_dir():
            fresh = home.with_name(f"{home.name}.new")
            shutil.rmtree(fresh, ignore_errors=True)
            install(lock, fresh, log)
            fresh.rename(home)


def compile_all(folder: Path) -> None:
    """Compile all Python files below ``folder``; the bytecode does not depend on the files' times."""
    compileall.compile_dir(
        folder, quiet=2, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH, stripdir=folder
    )


def compile_by(root: Path, python: Path, folder: Path, log: Path) -> None:
    """:func:`compile_all` by a Python of Debian packages that are unpacked at ``root``."""
    libraries = ":".join(str(root / place) for place in ("lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu"))
    argv = [str(root / "lib64/ld-linux-x86-64.so.2"), "--library-path", libraries, str(python), "-S", "-m"]
    argv += ["compileall", "-qq", "--invalidation-mode", "unchecked-hash", "-s", str(folder), str(folder)]
    run(argv, log=log, environment={"PYTHONHOME": str(root / "usr")})
