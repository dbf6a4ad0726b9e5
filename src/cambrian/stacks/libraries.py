"""The shared libraries that a program names in its ELF header, without the system's.

The file is only read. The loader's own list would start code of a program that nobody trusts yet.
"""

from __future__ import annotations

import io
import os
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

#: folders whose files are the system's, except what is installed by hand below :data:`_BY_HAND`
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/dev", "/proc", "/sys")
_BY_HAND = "/usr/local"
#: where the loader looks without being told, and finds libraries that are not the system's
_LOOKED_IN = (Path("/usr/local/lib"), Path("/usr/local/lib/x86_64-linux-gnu"))
#: texts of the dynamic section, as pyelftools names them (elf(5): DT_NEEDED, DT_RPATH, DT_RUNPATH)
_NAMES = ("needed", "rpath", "runpath")


def is_system(path: Path) -> bool:
    """Is the file one of the system, which no stack's identity has?"""
    real = Path(os.path.realpath(path))
    return is_below(real, _SYSTEM) and not real.is_relative_to(_BY_HAND)


def is_below(path: Path, folders: Iterable[str]) -> bool:
    """Is it one of the folders, or in one of them?"""
    return any(path.is_relative_to(folder) for folder in folders)


def loaded(program: Path, named: Iterable[Path] = ()) -> list[Path]:
    """The libraries that ``program`` and its libraries name, at each place where the loader may find them.

    Empty for a program that is no ELF file. ``named``: further folders, as in ``LD_LIBRARY_PATH``.
    """
    # by real name: a library that names its folder by way of another folder has many names
    found: dict[str, Path] = {}
    waiting = [(program, (*named, *_LOOKED_IN))]
    while waiting:
        path, known = waiting.pop()
        wanted, own = _dynamic(path)
        folders = (*own, *known)
        for place in (folder / name for name in wanted for folder in folders):
            real = os.path.realpath(place)
            if real not in found and not is_system(place) and may_be_read(place):
                found[real] = place
                waiting.append((place, folders))
    return list(found.values())


def may_be_read(path: Path, *, folder: bool = False) -> bool:
    """Is it a file (or a folder) that this user may read? No program of this user's loads another one."""
    try:
        return (path.is_dir() if folder else path.is_file()) and os.access(path, os.R_OK)
    except OSError:
        # in a closed folder, or its name is too long
        return False


def _dynamic(path: Path) -> tuple[list[str], list[Path]]:
    """The libraries that an ELF file names, and the folders in which it has them looked for."""
    from elftools.common.exceptions import ELFError
    from elftools.elf.dynamic import DynamicSegment
    from elftools.elf.elffile import ELFFile

    found: dict[str, list[str]] = defaultdict(list)
    # in memory, so that no wrong offset is an error of the disk
    content = io.BytesIO(path.read_bytes())
    try:
        for segment in ELFFile(content).iter_segments("PT_DYNAMIC"):
            for tag in segment.iter_tags() if isinstance(segment, DynamicSegment) else ():
                for name in _NAMES:
                    if value := getattr(tag, name, None):
                        found[name].append(value)
    except (ELFError, AssertionError, ValueError, OverflowError):
        # no ELF file, or a damaged one, which does not start either
        return [], []
    folders = [part for text in (*found["rpath"], *found["runpath"]) for part in text.split(":") if part]
    # $ORIGIN is the folder of the file, by the name that started it or by its real name
    origins = dict.fromkeys((path.absolute().parent, path.resolve().parent))
    return found["needed"], [
        Path(folder.replace("${ORIGIN}", str(origin)).replace("$ORIGIN", str(origin)))
        for folder in folders
        for origin in origins
    ]
