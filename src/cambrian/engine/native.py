"""The testbed's own programs (capture, trace-driven link), built once and cached by content."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from cambrian import paths
from cambrian.command import clean_environment, run
from cambrian.stacks import toolchain

SOURCES = Path(__file__).resolve().parents[1] / "testbed" / "native"
PROGRAMS = ("capture", "tracelink")


@dataclass(frozen=True)
class Native:
    """The folder that holds the built programs, and a hash of what they were made from."""

    folder: Path
    sha256: str


def ensure() -> Native:
    """The built programs; compiles them first if need be (seconds).

    Raises:
        toolchain.MissingTool: no C compiler.
        cambrian.command.CommandFailed: they do not compile.
    """
    tool = toolchain.cc()
    digest = hashlib.sha256(f"{tool.version} {PROGRAMS}".encode())
    for source in sorted(path for path in SOURCES.iterdir() if path.is_file()):
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    home = paths.cache() / "native" / digest.hexdigest()[:16]
    home.parent.mkdir(parents=True, exist_ok=True)
    if not home.is_dir():
        with FileLock(f"{home}.lock"):
            if not home.is_dir():
                _build(home)
    return Native(home, digest.hexdigest())


def _build(home: Path) -> None:
    fresh = Path(tempfile.mkdtemp(dir=home.parent, prefix="new-"))
    fresh.chmod(0o755)
    try:
        argv = ["make", "-C", str(SOURCES), f"OUT={fresh}", *(str(fresh / name) for name in PROGRAMS)]
        run(argv, log=home.with_suffix(".log"), environment=clean_environment())
        fresh.rename(home)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
