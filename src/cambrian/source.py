"""Finds and hashes the code behind a trial or a figure: modules, and all modules of this package they import.

A module that imports by name at run time (``import_module``) counts with the whole package that it is in.
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
    """SHA-256 of the files of ``modules`` (a package means all its modules) and of all modules they import.

    With ``facts``, the TOML files beside a module count too. Modules in ``without`` and modules that only
    they import do not count. Computed once per process.
    """
    digest = hashlib.sha256()
    for path in files(modules, facts=facts, without=without):
        digest.update(path.relative_to(_FOLDER).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def files(modules: Iterable[str], *, facts: bool = True, without: Collection[str] = ()) -> list[Path]:
    """The files that :func:`fingerprint` hashes, sorted."""
    waiting = [name for module in modules for name in _within(module)]
    paths: dict[str, Path] = {}
    while waiting:
        name = waiting.pop()
        path = _file(name)
        if path is None or name in paths or name in without:
            continue
        paths[name] = path
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        waiting += _imports(path, package)
        waiting += [name.rpartition(".")[0]] if "." in name else []
    counted = set(paths.values())
    if facts:
        packages = {path.parent for path in paths.values()} - {_FOLDER}
        counted |= {fact for folder in packages for fact in folder.glob("*.toml")}
    return sorted(counted)


def _within(module: str) -> list[str]:
    path = _file(module)
    if path is None:
        raise ModuleNotFoundError(f"no module {module} in {_PACKAGE}")
    if path.name != "__init__.py":
        return [module]
    inside = (file.relative_to(path.parent).with_suffix("").parts for file in path.parent.rglob("*.py"))
    return [module, *(".".join([module, *parts]) for parts in inside if parts[-1] != "__init__")]


def _file(module: str) -> Path | None:
    """A module's file; None if ``module`` is not a module of this package."""
    first, *rest = module.split(".")
    if first != _PACKAGE:
        return None
    place = _FOLDER.joinpath(*rest)
    known = (place / "__init__.py", place.with_name(f"{place.name}.py"))
    return next((path for path in known if path.is_file()), None)


@cache
def _imports(path: Path, package: str) -> tuple[str, ...]:
    """All names that a file of ``package`` imports and that could be modules; imports use full names."""
    return tuple(_imported(path, package))


def _imported(path: Path, package: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Attribute) and node.attr == "import_module":
            yield from _within(package)
