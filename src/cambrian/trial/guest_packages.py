"""The only Python package that a guest sees: pyroute2.

Python lists each folder that it imports from, and pyroute2 looks up its own version, which reads the name of
every package in the same folder. With a checkout's environment this shifted trials by ticks of the guest's
clock: the same trial gave other bytes after the test tools had been installed. A separate
folder in the cache has the same content for every checkout.
"""

from __future__ import annotations

import compileall
import shutil
import sys
import tempfile
from functools import cache
from importlib import metadata
from pathlib import Path, PurePath
from py_compile import PycInvalidationMode

from cambrian import paths

PACKAGE = "pyroute2"
#: of its description, what pyroute2 reads: its version. pip's notes about an installation differ by checkout
_DESCRIPTION = ".dist-info"
_KEPT = "METADATA"


@cache
def ensure() -> Path:
    """The folder with pyroute2; created atomically on first use.

    Raises:
        FileNotFoundError: pyroute2's installation has no list of its files.
    """
    package = metadata.distribution(PACKAGE)
    name = f"{PACKAGE}-{package.version}-{sys.implementation.cache_tag}-{_KEPT.lower()}"
    folder = paths.cache() / "guest-packages" / name
    if folder.is_dir():
        return folder
    if not package.files:
        raise FileNotFoundError(f"{PACKAGE} lists no files; remedy: make setup")
    folder.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{PACKAGE}-"))
    try:
        # only its owner can read mkdtemp's folder, but a guest's programs may run as other users
        fresh.chmod(0o755)
        for file in package.files:
            if _is_wanted(file):
                target = fresh / file
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(str(file.locate()), target)
        # the guest cannot write bytecode; by hash, so that times of files have no effect
        compileall.compile_dir(fresh, quiet=2, invalidation_mode=PycInvalidationMode.UNCHECKED_HASH)
        try:
            fresh.rename(folder)
        except OSError:
            # another process was first
            if not folder.is_dir():
                raise
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return folder


def _is_wanted(file: PurePath) -> bool:
    # paths outside of the packages' folder (programs) start with ..
    if file.parts[0] == ".." or file.suffix == ".pyc":
        return False
    return not file.parts[0].endswith(_DESCRIPTION) or file.name == _KEPT
