"""The code that a trial or a figure comes from: a module, and all of this package that it imports.

A module that imports by name at run time (``import_module``) stands for all of the package that it is in.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from pathlib import Path

import cambrian

_PACKAGE = cambrian.__name__
_FOLDER = Path(cambrian.__file__).parent


@cache
def fingerprint(*modules: str, facts: bool = True, without: frozenset[str] = frozenset()) -> str:
    """SHA-256 of the files behind ``modules`` (a package stands for all that is in it) and their imports.

    With ``facts`` the lists beside a module (``*.toml``) count with it; ``without`` are modules that do not
    count, nor what they alone import. Found once a process.
    """
    digest = hashlib.sha256()
    for path in files(modules, facts=facts, without=without):
        digest.update(path.relative_to(_FOLDER).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def files(modules: Iterable[str], *, facts: bool = True, without: Collection[str] = ()) -> list[Path]:
    """Every file that counts, sorted."""
    waiting = [name for module in modules for name in _within(module)]
    found: dict[str, Path] = {}
    while waiting:
        name = waiting.pop()
        path = _file(name)
        if path is None or name in found or name in without:
            continue
        found[name] = path
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        waiting += _imports(path, package)
        waiting += [name.rpartition(".")[0]] if "." in name else []
    counted = set(found.values())
    if facts:
        rooms = {path.parent for path in found.values()} - {_FOLDER}
        counted |= {fact for room in rooms for fact in room.glob("*.toml")}
    return sorted(counted)


def _within(module: str) -> list[str]:
    path = _file(module)
    if path is None:
        raise ModuleNotFoundError(f"no module {module} in {_PACKAGE}")
    if path.name != "__init__.py":
        return [module]
    inside = (one.relative_to(path.parent).with_suffix("").parts for one in path.parent.rglob("*.py"))
    return [module, *(".".join([module, *parts]) for parts in inside if parts[-1] != "__init__")]


def _file(module: str) -> Path | None:
    """A module's file; None of what is no module of this package."""
    first, *rest = module.split(".")
    if first != _PACKAGE:
        return None
    place = _FOLDER.joinpath(*rest)
    known = (place / "__init__.py", place.with_name(f"{place.name}.py"))
    return next((path for path in known if path.is_file()), None)


def _imports(path: Path, package: str) -> Iterator[str]:
    """All that could be a module among what a file of ``package`` imports, which is by full names only."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Attribute) and node.attr == "import_module":
            yield from _within(package)
