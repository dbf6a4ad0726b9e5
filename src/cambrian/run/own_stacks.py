"""What a user should know of stacks that are not the catalogue's, before any command runs them."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from cambrian import paths
from cambrian.stacks import adding, catalogue, receivers, releases

#: the lines that this process has given out
_told: set[str] = set()


def lines(names: Iterable[str]) -> list[str]:
    """A line for each thing to know of these stacks; the caller shows them."""
    found = list(_lines(names))
    _told.update(found)
    return found


def tell(names: Iterable[str]) -> None:
    """Print the lines that nobody has been shown yet, on standard error."""
    before = _told.copy()
    for line in lines(names):
        if line not in before:
            print(f"cambrian: {line}", file=sys.stderr)


def _lines(names: Iterable[str]) -> Iterator[str]:
    """Stacks in the place of others, and programs that start others, which no identity has."""
    for name in sorted({releases.split(name)[0] for name in names}):
        stack = catalogue.load()[name]
        if adding.is_built_in(name) and not stack.file.is_relative_to(paths.data() / "stacks"):
            receives = name in receivers.REFERENCES.values()
            also = ', also as the receiver of others (receiver = "reference")' if receives else ""
            yield f"{name} here is {stack.file}, in the place of the catalogue's{also}"
        other = stack.folder / name / "manifest.toml"
        if stack.alone and other.is_file():
            yield f"{name} here is {stack.file}; {other} has the same name and is not used"
        wanted = stack.manifest.build
        if wanted.kind == "none" and not wanted.sources and _is_script(stack.folder / wanted.binary):
            yield (
                f"{name}: {wanted.binary} is a script: after a change of a program that it starts, trials "
                "keep their old results; remedy: name that program in sources of [build]"
            )


def _is_script(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(2) == b"#!"
