"""A stack's program, ready to run, and where a guest sees it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from cambrian.stacks.catalogue import Stack
from cambrian.stacks.manifest import ManifestError

#: folders that are the guest's own, so that a program of the host's below them is out of its sight
HIDDEN = ("/tmp", "/run", "/dev", "/proc", "/sys")
#: of these, where the guest can show a folder of the host's; ``cambrian`` there is the testbed's own
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
        ManifestError: it is not there, or is where a guest cannot see it.
    """
    path = stack.folder / stack.manifest.build.binary
    key = f"{stack.file}: build.binary"
    if not path.is_file():
        raise ManifestError(f"{key}: there is no {path}")
    for name in _names(path):
        hidden = next((place for place in HIDDEN if name.is_relative_to(place)), None)
        if hidden is None:
            continue
        if hidden not in SHOWABLE or name.relative_to(hidden).parts[0] == _OWN:
            problem = f"is below {hidden}, which the guest has of its own: put it elsewhere"
            raise ManifestError(f"{key}: {name} {problem}")
        if name.parent == Path(hidden):
            remedy = f"put it into a folder of its own there, such as {hidden}/{stack.name}/{name.name}"
            raise ManifestError(
                f"{key}: the guest has a {hidden} of its own, and can show folders of it: {remedy}"
            )
    return path


def shown_folders(stack: Stack) -> dict[str, str]:
    """Folders that the guest must show for a program of kind "none": place → the host's folder.

    A program below the guest's own /tmp or /run comes with all of the first folder there, for its
    libraries may lie beside it, and has the same path in the guest.
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


def _names(path: Path) -> tuple[Path, Path]:
    """What a program is called, and where it really is."""
    return path.absolute(), path.resolve()
