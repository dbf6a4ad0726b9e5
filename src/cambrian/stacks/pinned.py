"""The source of a stack at one release: a copy of its own source, with its package pinned.

::

    CACHE/releases/STACK@RELEASE-HASH/STACK/      the stack's folder, pinned, with its lock
    CACHE/releases/STACK@RELEASE-HASH/shared/…    folders that it names in build.sources

``HASH`` covers the copy before its lock is made. Every package keeps the version of the stack's own lock,
unless the release needs another one. The lock is part of the copy, and so of the build's identity.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import tomlkit

from cambrian import paths
from cambrian.command import CommandFailed, clean_environment, run
from cambrian.stacks import named_files, toolchain
from cambrian.stacks.catalogue import Stack
from cambrian.stacks.manifest import ManifestError, Releases

#: folders that tools create among sources
NOT_SOURCE = frozenset({"__pycache__", "target"})
#: files that say which versions a build used, kept beside it
LOCKS = ("Cargo.lock", "go.mod", "go.sum")
#: in the copy, in the manifest's place: what the build takes from the manifest
_RECIPE = "build.json"
#: what go and cargo say of a release that lacks what our endpoint uses, or that does not exist
_NO_LOCK = re.compile(
    r"^.*cannot find module providing package.*$|^.*does not contain package.*$|^.*unknown revision.*$"
    r"|^package `[^`]+` depends on .*$|^error: no matching package .*$",
    re.MULTILINE,
)
#: what they say where no registry answered: then a package that they lack may exist
_NOT_ASKED = re.compile(r"offline mode|GOPROXY=off|dial tcp")
_DEPENDENCIES = ("dependencies", "dev-dependencies", "build-dependencies")


def find(stack: Stack) -> Stack | None:
    """The stack with its own source: itself, or at a release the copy; None if that is not made yet."""
    if stack.release is None:
        return stack
    home = _home(stack)
    return _at(stack, home) if home.is_dir() else None


def ensure(stack: Stack) -> Stack:
    """As :func:`find`; makes the copy if it is missing, for which the registry is asked.

    Raises:
        ManifestError: the stack's source does not name the package.
        MissingTool, CommandFailed: its lock cannot be made, such as for a release that does not exist.
    """
    found = find(stack)
    if found is not None:
        return found
    home = _home(stack)
    home.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=home.parent, prefix=f"{stack.name}.new-") as place:
        fresh = Path(place) / "copy"
        _copy(stack, fresh)
        log = Path(f"{home}.log")
        log.unlink(missing_ok=True)
        try:
            _lock(stack, fresh / stack.folder.name, log)
        except CommandFailed:
            if said := why_no_lock(log.read_text(errors="replace")):
                _failure(home).write_text(said)
            raise
        if not home.is_dir():
            fresh.rename(home)
    return _at(stack, home)


def failure(stack: Stack) -> str | None:
    """Why no lock can be made for a release: it lacks a package or a feature that our endpoint uses."""
    path = _failure(_home(stack)) if stack.release is not None else None
    return path.read_text() if path is not None and path.exists() else None


def why_no_lock(log: str) -> str | None:
    """The line of a failed lock that says what the release lacks; None if it failed for another reason."""
    found = None if _NOT_ASKED.search(log) else _NO_LOCK.search(log)
    return " ".join(found[0].split()) if found else None


def _failure(home: Path) -> Path:
    return Path(f"{home}.failed")


def _at(stack: Stack, home: Path) -> Stack:
    return replace(stack, file=home / stack.folder.name / "manifest.toml")


def _home(stack: Stack) -> Path:
    with tempfile.TemporaryDirectory(prefix="cambrian-pinned-") as place:
        fresh = Path(place) / "copy"
        _copy(stack, fresh)
        digest = hashlib.sha256()
        for path in sorted(path for path in fresh.rglob("*") if path.is_file()):
            digest.update(f"{path.relative_to(fresh)}\0{path.stat().st_size}\0".encode() + path.read_bytes())
    return paths.cache() / "releases" / f"{stack.name}-{digest.hexdigest()[:12]}"


def _releases(stack: Stack) -> tuple[Releases, str]:
    wanted, release = stack.manifest.releases, stack.release
    assert wanted is not None
    assert release is not None
    return wanted, release


def _copy(stack: Stack, to: Path) -> None:
    """Copy the stack's source, and pin its package."""
    named_files.check(stack)
    wanted, release = _releases(stack)
    for source in (stack.folder, *(stack.folder / name for name in stack.manifest.build.sources)):
        _copy_one(stack, source.resolve(), to)
    folder = to / stack.folder.name
    (folder / "manifest.toml").unlink()
    features: list[str] = []
    for difference in wanted.differences(release):
        features += difference.features
        if difference.files is not None:
            shutil.copytree(folder / difference.files, folder, dirs_exist_ok=True)
    for name in {difference.files for difference in wanted.different} - {None}:
        shutil.rmtree(folder / str(name))
    for name in wanted.version_in:
        _state_version(stack, folder / name, release)
    if stack.manifest.build.kind == "cargo":
        pinned = sum(pin_crate(path, wanted.package, release) for path in _manifests(to))
        if not pinned:
            raise ManifestError(f"{stack.file}: releases.package: no Cargo.toml depends on {wanted.package}")
        _add_features(folder / "Cargo.toml", features)
    recipe = {"build": stack.manifest.build.model_dump(mode="json"), "release": release}
    (folder / _RECIPE).write_text(json.dumps(recipe, indent=1, sort_keys=True) + "\n")


def _copy_one(stack: Stack, source: Path, to: Path) -> None:
    beside = stack.folder.resolve().parent
    if not source.is_relative_to(beside):
        raise ManifestError(f"{stack.file}: build.sources: at a release, {source} must be below {beside}")
    copy = to / source.relative_to(beside)
    if source.is_dir():
        shutil.copytree(source, copy, ignore=shutil.ignore_patterns(*NOT_SOURCE), dirs_exist_ok=True)
    else:
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, copy)


def _state_version(stack: Stack, path: Path, release: str) -> None:
    text = path.read_text()
    if stack.instead_of not in text:
        raise ManifestError(f"{stack.file}: releases.version_in: {path.name} lacks {stack.instead_of}")
    path.write_text(text.replace(stack.instead_of, release))


def _manifests(root: Path) -> Iterator[Path]:
    yield from sorted(root.rglob("Cargo.toml"))


def pin_crate(path: Path, package: str, release: str) -> int:
    """Pin every dependency on a package in a Cargo.toml to one release; returns their number."""
    document = tomlkit.parse(path.read_text())
    count = 0
    for table, key, crate, _ in _dependencies(document):
        if crate == package:
            count += 1
            if isinstance(table[key], dict):
                table[key]["version"] = f"={release}"
            else:
                table[key] = f"={release}"
    if count:
        path.write_text(tomlkit.dumps(document))
    return count


def depended_on(lock: str, package: str, release: str) -> dict[str, str]:
    """The version of each crate that a release of a package depends on, by the text of a Cargo.lock."""
    locked = tomllib.loads(lock).get("package", [])
    for one in locked:
        if (one["name"], one["version"]) == (package, release):
            # an entry is "name", or "name version" where the lock has several versions
            named = [entry.split() for entry in one.get("dependencies", [])]
            only = {other["name"]: other["version"] for other in locked}
            return {entry[0]: entry[1] if len(entry) > 1 else only[entry[0]] for entry in named}
    return {}


def follow_pins(paths: Sequence[Path], crates: Mapping[str, str]) -> bool:
    """Pin what the source pins beside the package to what the package's release depends on.

    Such crates are parts of the package, as s2n-quic-core is of s2n-quic: another version has other types.

    Args:
        paths: Cargo.toml files.
        crates: versions by :func:`depended_on`.

    Returns:
        Whether a pin has changed.
    """
    changed = False
    for path in paths:
        for name, version in exact_pins(path).items():
            if crates.get(name, version) != version:
                pin_crate(path, name, crates[name])
                changed = True
    return changed


def exact_pins(path: Path) -> dict[str, str]:
    """The crates that a Cargo.toml wants at one version, with that version."""
    document = tomlkit.parse(path.read_text())
    wanted = ((crate, version) for _, _, crate, version in _dependencies(document))
    return {crate: version[1:].strip() for crate, version in wanted if version.startswith("=")}


def _dependencies(document: Mapping[str, Any]) -> Iterator[tuple[Any, str, str, str]]:
    """Each dependency of a Cargo.toml: the table that has it, its key there, its crate, its version."""
    for part in (document, *document.get("target", {}).values()):
        for kind in _DEPENDENCIES:
            table = part.get(kind, {})
            for key, wanted in list(table.items()):
                inside = isinstance(wanted, dict)
                crate = wanted.get("package", key) if inside else key
                yield table, key, str(crate), str(wanted.get("version", "") if inside else wanted)


def _add_features(path: Path, names: list[str]) -> None:
    """Switch features of the stack's own package on, by default."""
    if not names:
        return
    document = tomlkit.parse(path.read_text())
    features = document.setdefault("features", tomlkit.table())
    features["default"] = [*features.get("default", []), *names]
    path.write_text(tomlkit.dumps(document))


def _lock(stack: Stack, folder: Path, log: Path) -> None:
    """Choose the versions of all packages, and write them down."""
    wanted, release = _releases(stack)
    if stack.manifest.build.kind == "cargo":
        tool = toolchain.cargo()
        argv = [str(tool.path), "update", "--workspace", "--manifest-path", str(folder / "Cargo.toml")]
        run(argv, log=log, environment=clean_environment(tool.environment))
        crates = depended_on((folder / "Cargo.lock").read_text(), wanted.package, release)
        if follow_pins(list(_manifests(folder.parent)), crates):
            run(argv, log=log, environment=clean_environment(tool.environment))
        return
    tool = toolchain.go()
    environment = clean_environment(tool.environment | {"GOFLAGS": "-mod=mod"})
    # with ".", a package that the release lacks is an error; `go mod tidy` would take a newer release
    argv = [str(tool.path), "get", f"{wanted.package}@v{release}", "."]
    run(argv, cwd=folder, log=log, environment=environment)
