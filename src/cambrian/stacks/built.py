"""A stack's built program, and its path in a guest."""

from __future__ import annotations

import stat
from dataclasses import dataclass
from pathlib import Path

from cambrian.stacks.catalogue import Stack
from cambrian.stacks.manifest import ManifestError, fault

#: folders that the guest has of its own, so that it cannot see the host's programs below them
HIDDEN = ("/tmp", "/run", "/dev", "/proc", "/sys")
#: those in which the guest can mount a folder of the host; ``cambrian`` in them belongs to the testbed
SHOWABLE = ("/tmp", "/run")
_OWN = "cambrian"


@dataclass(frozen=True)
class Built:
    """A stack's program, ready to run."""

    stack: Stack
    folder: Path
    binary: Path
    sha256: str


def program(stack: Stack) -> str:
    """The built program's path inside its build's folder."""
    wanted = stack.manifest.build
    return Path(wanted.binary).name if wanted.kind == "none" else wanted.binary


def program_there(stack: Stack) -> Path:
    """The program of a stack of kind "none"; relative to its manifest, or absolute.

    Raises:
        ManifestError: it does not exist, or a guest cannot see its folder.
    """
    path = stack.folder / stack.manifest.build.binary
    if not path.is_file():
        raise _binary(stack, f"there is no {path}", "build the program there, or correct the path")
    for name in _names(path):
        hidden = next((place for place in HIDDEN if name.is_relative_to(place)), None)
        if hidden is None:
            continue
        if hidden not in SHOWABLE or name.relative_to(hidden).parts[0] == _OWN:
            problem = f"{name} is below {hidden}, but the guest has its own {hidden}"
            raise _binary(stack, problem, "move it to another folder")
        if name.parent == Path(hidden):
            remedy = f"move it to a folder there, such as {hidden}/{stack.name}/{name.name}"
            problem = f"the guest has its own {hidden} and can only mount folders in it"
            raise _binary(stack, problem, remedy)
    return path


def _binary(stack: Stack, problem: str, remedy: str) -> ManifestError:
    return fault(stack.file, ("build", "binary"), problem, remedy)


def shown_folders(stack: Stack) -> dict[str, str]:
    """Folders that the guest must mount for a program of kind "none": folder in the guest → on the host.

    For a program below /tmp or /run the guest mounts the whole first folder there, because its
    libraries may be beside it; the program has the same path in the guest.
    """
    if stack.manifest.build.kind != "none":
        return {}
    tops = [
        Path(place) / name.relative_to(place).parts[0]
        for name in _names(program_there(stack))
        for place in SHOWABLE
        if name.is_relative_to(place)
    ]
    return {str(top): str(top) for top in tops}


def readable(stack: Stack) -> list[Path]:
    """Files and folders of the host that a guest sees at their own paths, for a program of kind "none".

    These are the program's folder (if that is a home folder, the program alone) and ``build.readable``.

    Raises:
        ManifestError: one of ``build.readable`` does not exist, or other users may not run the program.
    """
    wanted = stack.manifest.build
    if wanted.kind != "none":
        return []
    home = Path.home()
    names = _names(program_there(stack))
    # a program that an interpreter runs need not be executable itself
    for path, rights in ((names[1], stat.S_IXOTH | stat.S_IROTH), (names[1].parent, stat.S_IXOTH)):
        if not path.stat().st_mode & rights:
            problem = (
                f"inside a guest the program runs as a user without privileges, and {path} is closed to "
                "other users"
            )
            raise _binary(stack, problem, f"chmod o+rx {path}")
    found = [name if home.is_relative_to(name.parent) else name.parent for name in names]
    for text in wanted.readable:
        path = (stack.folder / text).absolute()
        if not path.exists():
            remedy = "create it, or correct the path"
            raise fault(stack.file, ("build", "readable"), f"there is no {path}", remedy)
        found += [path, path.resolve()]
    return list(dict.fromkeys(found))


def _names(path: Path) -> tuple[Path, Path]:
    """A program's path as given, and its real path without symbolic links."""
    return path.absolute(), path.resolve()
