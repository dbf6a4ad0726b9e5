"""Chooses the compilers for endpoints and the kernel.

A toolchain on PATH is used if it is new enough; otherwise the
Go from the pinned ``requirements/go.txt``, which is only in the cache and not on PATH.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from cambrian import paths
from cambrian.command import MissingTool
from cambrian.debian import apt_sources
from cambrian.stacks import wheels

MINIMUM_CARGO = (1, 85)
MINIMUM_GO = (1, 26)
MINIMUM_CC = (8, 1)


@dataclass(frozen=True)
class Toolchain:
    """A compiler driver: its path, the version that it prints, and variables for its environment."""

    name: str
    path: Path
    version: str
    environment: dict[str, str] = field(default_factory=dict)


def cargo() -> Toolchain:
    """Rust's cargo >= 1.85 with its rustc. Raises :class:`MissingTool`."""
    # Debian 12's own cargo is too old; the one for its browsers is not
    packages = "cargo-web rustc-web" if apt_sources.codename() == "bookworm" else "cargo rustc"
    remedy = f"apt-get install -y {packages}"
    found = _on_path("cargo", ["--version"], MINIMUM_CARGO)
    if found is None:
        raise MissingTool("no cargo >= 1.85 on PATH", remedy)
    compiler = _on_path("rustc", ["--version"], MINIMUM_CARGO)
    if compiler is None:
        raise MissingTool("no rustc >= 1.85 on PATH", remedy)
    # the compiler decides the binary, so its version is included
    return Toolchain("cargo", found[0], f"{found[1]}; {compiler[1]}", _unless_set(CARGO_HOME="cargo"))


def cc() -> Toolchain:
    """gcc >= 8.1 (the kernel's requirement). Raises :class:`MissingTool`."""
    found = _on_path("gcc", ["--version"], MINIMUM_CC)
    if found is None:
        raise MissingTool("no gcc >= 8.1 on PATH", "apt-get install -y gcc")
    return Toolchain("gcc", *found)


def require(what: str, tools: Mapping[str, str]) -> None:
    """Check that ``tools`` (program → its Debian package) and the C library's headers are installed.

    ``what`` cannot be built without them. Raises :class:`MissingTool`.
    """
    lacking = {tool: package for tool, package in tools.items() if shutil.which(tool) is None}
    asked = [str(cc().path), "-E", "-x", "c", "-"]
    if subprocess.run(asked, input=b"#include <stdio.h>\n", capture_output=True, check=False).returncode:
        lacking["stdio.h"] = "libc6-dev"
    if lacking:
        raise MissingTool(
            f"{what} cannot be built without {', '.join(lacking)}",
            f"apt-get install -y {' '.join(lacking.values())}",
        )


def maven() -> Path:
    """Maven's program. Raises :class:`MissingTool`."""
    found = shutil.which("mvn")
    if found is None:
        raise MissingTool("no mvn (Apache Maven) on PATH", "apt-get install maven")
    return Path(found)


def cc_include() -> str:
    """The folder of gcc's headers (stddef.h…), for a libclang without headers.

    Raises :class:`MissingTool`.
    """
    answer = subprocess.run(
        [str(cc().path), "-print-file-name=include"], capture_output=True, text=True, check=True
    )
    return answer.stdout.strip()


def go(*, fetch: bool = True) -> Toolchain:
    """Go >= 1.26: from PATH, else the pinned one from the cache, else (``fetch``) downloaded now.

    GOTOOLCHAIN=local prevents the go command from downloading another compiler.
    Raises :class:`MissingTool`, or :class:`cambrian.command.CommandFailed` if the download fails.
    """
    pinned = {"GOTOOLCHAIN": "local", **_unless_set(GOMODCACHE="go/mod", GOCACHE="go/build")}
    found = _on_path("go", ["version"], MINIMUM_GO)
    if found is not None:
        return Toolchain("go", *found, pinned)
    lock = paths.data() / "requirements" / "go.txt"
    home = paths.cache() / "toolchains" / f"go-{hashlib.sha256(lock.read_bytes()).hexdigest()[:16]}"
    if not home.is_dir():
        if not fetch:
            raise MissingTool("no go >= 1.26 on PATH or in the cache", "cambrian stacks build quic-go")
        wheels.install_once(lock, home, home.with_name(f"{home.name}.log"))
    root = home / "go"
    version = _version_text(root / "bin" / "go", ["version"])
    if version is None:
        raise MissingTool(f"{root / 'bin' / 'go'} does not run", f"rm -r {home}")
    return Toolchain("go", root / "bin" / "go", version, pinned | {"GOROOT": str(root)})


def _unless_set(**folders: str) -> dict[str, str]:
    """Variables that put downloads and intermediate results into our cache, unless the user has set them.

    With a ``~/.cargo`` CARGO_HOME is not changed, because that folder may have settings for cargo.
    """
    own = {name: str(paths.cache() / folder) for name, folder in folders.items() if not os.environ.get(name)}
    if (Path.home() / ".cargo").is_dir():
        own.pop("CARGO_HOME", None)
    return own


def _on_path(name: str, question: list[str], minimum: tuple[int, int]) -> tuple[Path, str] | None:
    where = shutil.which(name)
    if where is None:
        return None
    text = _version_text(Path(where), question)
    if text is None or parse_version(text) < minimum:
        return None
    return Path(where), text


def _version_text(program: Path, question: list[str]) -> str | None:
    environment = os.environ | {"LC_ALL": "C", "GOTOOLCHAIN": "local"}
    try:
        answer = subprocess.run(
            [str(program), *question], capture_output=True, text=True, env=environment, timeout=60, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout.partition("\n")[0].strip()


def parse_version(text: str) -> tuple[int, int]:
    """Major and minor version from a ``--version`` line; (0, 0) if it has none.

    Brackets are skipped: gcc's first has the packager ("gcc (Debian 12.2.0-14) 12.2.0").
    """
    numbers = re.search(r"(\d+)\.(\d+)", re.sub(r"\([^)]*\)", "", text))
    return (int(numbers[1]), int(numbers[2])) if numbers else (0, 0)
