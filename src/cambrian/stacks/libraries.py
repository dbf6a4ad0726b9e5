"""The shared libraries that a program names in its ELF header, without the system's.

The file is only read. The loader's own list would start code of a program that nobody trusts yet.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from pathlib import Path

#: folders whose files are the system's, except what is installed by hand below :data:`_BY_HAND`
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/dev", "/proc", "/sys")
_BY_HAND = "/usr/local"
#: where the loader looks without being told, and finds libraries that are not the system's
_LOOKED_IN = (Path("/usr/local/lib"), Path("/usr/local/lib/x86_64-linux-gnu"))
_ELF64 = b"\x7fELF\x02\x01"
#: types of a program header, and tags of the dynamic section (elf(5))
_LOAD, _DYNAMIC = 1, 2
_END, _NEEDED, _STRINGS, _RPATH, _RUNPATH = 0, 1, 5, 15, 29


def is_system(path: Path) -> bool:
    """Is the file one of the system, which no stack's identity has?"""
    real = path.resolve()
    return not real.is_relative_to(_BY_HAND) and any(real.is_relative_to(folder) for folder in _SYSTEM)


def loaded(program: Path, named: Iterable[Path] = ()) -> list[Path]:
    """The libraries that ``program`` and its libraries name, at each place where the loader may find them.

    Empty for a program that is no ELF file of 64 bits. ``named``: further folders, as in ``LD_LIBRARY_PATH``.
    """
    found: dict[Path, None] = {}
    waiting = [(program, (*named, *_LOOKED_IN))]
    while waiting:
        path, known = waiting.pop()
        wanted, own = _dynamic(path)
        folders = (*own, *known)
        for place in (folder / name for name in wanted for folder in folders):
            if place not in found and not is_system(place) and place.is_file():
                found[place] = None
                waiting.append((place, folders))
    return list(found)


def _dynamic(path: Path) -> tuple[list[str], list[Path]]:
    """The libraries that an ELF file names, and the folders in which it has them looked for."""
    raw = path.read_bytes()
    if not raw.startswith(_ELF64):
        return [], []
    try:
        return _parsed(raw, path)
    except (struct.error, ValueError):
        # damaged, so that it does not start either
        return [], []


def _parsed(raw: bytes, path: Path) -> tuple[list[str], list[Path]]:
    (at,) = struct.unpack_from("<Q", raw, 32)
    size, count = struct.unpack_from("<HH", raw, 54)
    # type, flags, offset in the file, address, physical address, size in the file, size in memory, alignment
    headers = [struct.unpack_from("<IIQQQQQQ", raw, at + number * size) for number in range(count)]
    tags: list[tuple[int, int]] = []
    for kind, _, offset, _, _, length, *_ in headers:
        if kind == _DYNAMIC:
            tags += struct.iter_unpack("<qQ", raw[offset : offset + length // 16 * 16])
    if (_END, 0) in tags:
        tags = tags[: tags.index((_END, 0))]
    address = dict(tags).get(_STRINGS, 0)
    strings = next(
        (
            address - start + offset
            for kind, _, offset, start, _, length, *_ in headers
            if kind == _LOAD and start <= address < start + length
        ),
        0,
    )

    def texts(*wanted: int) -> list[str]:
        starts = [strings + value for tag, value in tags if tag in wanted]
        return [raw[start : raw.index(b"\0", start)].decode(errors="surrogateescape") for start in starts]

    folders = [folder for text in texts(_RPATH, _RUNPATH) for folder in text.split(":") if folder]
    # $ORIGIN is the folder of the file, by the name that started it or by its real name
    origins = dict.fromkeys((path.absolute().parent, path.resolve().parent))
    return texts(_NEEDED), [
        Path(folder.replace("${ORIGIN}", str(origin)).replace("$ORIGIN", str(origin)))
        for folder in folders
        for origin in origins
    ]
