"""The Python code that a guest sees, in folders of the cache: the testbed's own, and pyroute2.

Python lists each folder that it imports from, and pyroute2 looks up its own version, which reads the name of
every package in the same folder. With a checkout's environment this shifted trials by ticks of the guest's
clock: the same trial gave other bytes after the test tools had been installed. A separate
folder in the cache has the same content for every installation.

A guest cannot write bytecode. Without it every boot would compile, which shifts trials too, and the folder of
an installation may have none and be read-only.
"""

from __future__ import annotations

import errno
import hashlib
import marshal
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from importlib import metadata
from importlib.util import cache_from_source
from pathlib import Path, PurePath

from cambrian import paths

PACKAGE = "pyroute2"
#: of its description, what pyroute2 reads: its version. pip's notes about an installation differ by checkout
_DESCRIPTION = ".dist-info"
_KEPT = "METADATA"
#: of a file of bytecode, before its code (PEP 552)
_HEADER_BYTES = 16
#: a disk with less space than this is full
_FULL_BYTES = 2**20
#: this package
_OWN = Path(__file__).resolve().parents[1]


@cache
def ensure() -> Path:
    """The folder with pyroute2; created atomically on first use.

    Raises:
        FileNotFoundError: pyroute2's installation has no list of its files.
    """
    package = metadata.distribution(PACKAGE)
    name = f"{PACKAGE}-{package.version}-{sys.implementation.cache_tag}-{_KEPT.lower()}"
    if not package.files:
        raise FileNotFoundError(f"{PACKAGE} lists no files; remedy: install it again with pip")
    return _folder(name, {file: Path(str(file.locate())) for file in package.files if _is_wanted(file)})


@cache
def testbed() -> Path:
    """The folder with the code of :mod:`cambrian.testbed`; created atomically on first use."""
    files: dict[PurePath, Path] = {
        path.relative_to(_OWN.parent): path
        for path in (_OWN / "__init__.py", *sorted((_OWN / "testbed").rglob("*.py")))
    }
    digest = hashlib.sha256()
    for name, path in files.items():
        content = path.read_bytes()
        digest.update(f"{name} {len(content)}\n".encode() + content)
    return _folder(f"testbed-{digest.hexdigest()[:16]}-{sys.implementation.cache_tag}", files)


def _folder(name: str, files: Mapping[PurePath, Path]) -> Path:
    """The folder of the cache with copies of ``files`` (place → file), and their bytecode."""
    folder = paths.cache() / "guest-packages" / name
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{name}-"))
    try:
        for place, file in files.items():
            target = fresh / place
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)
        _compile(fresh)
        # a guest's programs may run as other users
        for path in (fresh, *fresh.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        try:
            fresh.rename(folder)
        except OSError:
            # another process was first
            if not folder.is_dir():
                raise
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return folder


def _compile(folder: Path) -> None:
    """Compile all files below ``folder``: the same bytes whatever the folder's name and the files' times are.

    A process of its own: bytecode also notes which strings the process that compiles has in use.

    Raises:
        OSError: not all bytecode is there, as on a full disk.
    """
    argv = [sys.executable, "-I", "-S", "-m", "compileall", "-qq", "--invalidation-mode", "unchecked-hash"]
    subprocess.run([*argv, "-s", str(folder), str(folder)], check=False)
    sources = list(folder.rglob("*.py"))
    lacking = sum(not _is_whole(Path(cache_from_source(source))) for source in sources)
    if lacking:
        full = shutil.disk_usage(folder).free < _FULL_BYTES
        why = f"{lacking} of {len(sources)} files could not be compiled"
        number = errno.ENOSPC if full else errno.EIO
        raise OSError(number, os.strerror(number) if full else why, str(folder.parent))


def _is_whole(bytecode: Path) -> bool:
    """Python does not notice if only a part of it could be written."""
    try:
        marshal.loads(bytecode.read_bytes()[_HEADER_BYTES:])  # noqa: S302
    except (OSError, ValueError, EOFError, TypeError):
        return False
    return True


def _is_wanted(file: PurePath) -> bool:
    # paths outside of the packages' folder (programs) start with ..
    if file.parts[0] == ".." or file.suffix == ".pyc":
        return False
    return not file.parts[0].endswith(_DESCRIPTION) or file.name == _KEPT
