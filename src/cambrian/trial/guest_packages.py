"""The Python packages that a guest sees: pyroute2, and nothing else.

Python lists each folder that it imports from, and pyroute2 asks for its own version, which reads the name of
every package beside it. In a checkout's own environment that moved trials by ticks of the guest's
clock, so that the same trial gave other bytes once the test tools had been installed. A folder of
its own in the cache has the same contents for every checkout.
"""

from __future__ import annotations

import compileall
import shutil
import sys
import tempfile
from functools import cache
from importlib import metadata
from pathlib import Path
from py_compile import PycInvalidationMode

from cambrian import paths

PACKAGE = "pyroute2"


@cache
def ensure() -> Path:
    """The folder; made on first use, whole or not at all.

    Raises:
        FileNotFoundError: pyroute2's installation does not say which files are its own.
    """
    found = metadata.distribution(PACKAGE)
    folder = paths.cache() / "guest-packages" / f"{PACKAGE}-{found.version}-{sys.implementation.cache_tag}"
    if folder.is_dir():
        return folder
    if not found.files:
        raise FileNotFoundError(f"{PACKAGE} lists no files; remedy: make setup")
    folder.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{PACKAGE}-"))
    try:
        # mkdtemp's folder is its owner's alone, and a guest's programs may run as other users
        fresh.chmod(0o755)
        for file in found.files:
            # what is outside of the packages' folder (programs) starts with ..
            if file.parts[0] != ".." and file.suffix != ".pyc":
                target = fresh / file
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(str(file.locate()), target)
        # the guest cannot write bytecode; by hash, so that no time of a file counts
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
