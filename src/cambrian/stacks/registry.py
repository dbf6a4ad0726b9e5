"""The releases of a stack's package, as its registry lists them.

The registries' own clients ask, so the user's configuration counts (mirrors, proxies, other registries).
The answer is kept in the cache, and used again if no registry can be reached.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from cambrian import paths
from cambrian.command import CommandFailed, clean_environment
from cambrian.stacks import releases, toolchain
from cambrian.stacks.catalogue import Stack
from cambrian.stacks.manifest import ManifestError
from cambrian.store import writing

_LIMIT_S = 120
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True)
class Release:
    """One release. ``date``: ``2026-09-30``, "" if the registry does not say. ``yanked``: withdrawn."""

    version: str
    date: str
    yanked: bool


def package(stack: Stack) -> str:
    """The package whose releases a stack has.

    Raises:
        ManifestError: it has none.
    """
    wanted = stack.manifest.releases
    if wanted is None:
        raise ManifestError(
            f'{stack.file}: {stack.name} has one version: its manifest has no table "releases"\n'
            "  remedy: name a stack with releases (docs/how-to/compare-releases.md)"
        )
    return wanted.package


def listed(stack: Stack) -> list[Release]:
    """The releases of a stack's package, oldest first; of the last answer if no registry answers.

    Raises:
        ManifestError: the stack has no releases.
        MissingTool: the registry's client is missing.
        CommandFailed: the registry does not answer, and never did.
    """
    return _listed(stack.manifest.build.kind, package(stack))


@cache
def _listed(kind: str, name: str) -> list[Release]:
    kept = paths.cache() / "releases" / f"{kind}-{_NOT_IN_A_NAME.sub('-', name)}.json"
    try:
        found = _ASK[kind](name)
    except CommandFailed as failed:
        try:
            known = [Release(**one) for one in json.loads(kept.read_bytes())]
        except (FileNotFoundError, TypeError, ValueError):
            # never kept, or cut off by a power cut
            raise failed from None
        print(f"cambrian: releases of {name} as last listed: {failed}", file=sys.stderr)
        return known
    kept.parent.mkdir(parents=True, exist_ok=True)
    writing.write_json(kept, [asdict(one) for one in found])
    return found


def matching(stack: Stack, pattern: str) -> list[str]:
    """The releases that match a pattern, oldest first, without withdrawn ones.

    Raises:
        ManifestError: a limit of the pattern is no version.
        Errors of :func:`listed`.
    """
    known = listed(stack)
    try:
        return [
            one.version
            for one in known
            if releases.matches(pattern, one.version) and (not one.yanked or pattern == one.version)
        ]
    except ValueError as error:
        raise ManifestError(
            f'"{releases.joined(stack.name, pattern)}" names no release\n'
            '  remedy: give a release, a pattern such as "0.11.*", or limits such as ">=0.57, <0.64"'
        ) from error


def expanded(stack: Stack, pattern: str) -> list[str]:
    """``STACK@RELEASE`` of each release that matches, oldest first.

    Raises:
        ManifestError: none matches; the text has the newest releases.
        Errors of :func:`matching`.
    """
    found = matching(stack, pattern)
    if not found:
        newest = ", ".join(one.version for one in listed(stack)[:-6:-1])
        raise ManifestError(
            f"no release of {package(stack)} matches {pattern}\n"
            f"  remedy: the newest are {newest}; cambrian stacks versions {stack.name} lists all"
        )
    return [releases.joined(stack.name, one) for one in found]


def _sorted(found: Iterable[Release]) -> list[Release]:
    by_version = {one.version: one for one in found if releases.is_exact(one.version)}
    return [by_version[version] for version in releases.ordered(by_version)]


def _asked(argv: list[str], environment: Mapping[str, str], folder: Path | None = None) -> str:
    """The answer of a registry's client."""
    try:
        answer = subprocess.run(
            argv,
            cwd=folder,
            env=clean_environment(environment),
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise CommandFailed(f"{' '.join(argv)}\ngave no answer within {_LIMIT_S} s") from None
    if answer.returncode:
        raise CommandFailed(f"{' '.join(argv)}\nended with status {answer.returncode}:\n{answer.stderr}")
    return answer.stdout


def _cargo(name: str) -> list[Release]:
    """By cargo: it has no command that lists releases, but keeps the index entry of each crate it looks up.

    Its folder has the user's configuration and nothing else, so the entry is fresh and the only one.
    """
    tool = toolchain.cargo()
    known = {**os.environ, **tool.environment}
    home = Path(known.get("CARGO_HOME") or Path.home() / ".cargo")
    with tempfile.TemporaryDirectory(prefix="cambrian-releases-") as place:
        own, project = Path(place) / "home", Path(place) / "project"
        (project / "src").mkdir(parents=True)
        own.mkdir()
        for file in (path for path in home.glob("*") if path.is_file()):
            (own / file.name).symlink_to(file.resolve())
        (project / "src" / "lib.rs").touch()
        (project / "Cargo.toml").write_text('[package]\nname = "lists-releases"\nversion = "0.0.0"\n')
        argv = [str(tool.path), "add", "--dry-run", "--quiet", name]
        environment = tool.environment | {"CARGO_HOME": str(own)}
        _asked([*argv, "--manifest-path", str(project / "Cargo.toml")], environment)
        entries = [path for path in own.glob("registry/index/*/.cache/**/*") if path.name == name.lower()]
        found = [one for entry in entries for one in index_entry(entry.read_bytes())]
    if not found:
        raise CommandFailed(f"cargo's index has no entry for {name} that can be read")
    return _sorted(found)


def index_entry(content: bytes) -> list[Release]:
    """The releases in a file of cargo's index cache: lines of JSON between NUL bytes, one for each."""
    rows = [json.loads(part) for part in content.split(b"\0") if part.startswith(b"{")]
    return [Release(row["vers"], row.get("pubtime", "")[:10], bool(row["yanked"])) for row in rows]


def _go(name: str) -> list[Release]:
    """By the go command, outside of any module; a retracted release counts as withdrawn."""
    tool = toolchain.go()
    environment = tool.environment | {"GOFLAGS": "-mod=mod", "GO111MODULE": "on"}
    ask = [str(tool.path), "list", "-m", "-json"]
    with tempfile.TemporaryDirectory(prefix="cambrian-releases-") as place:

        def modules(*words: str) -> list[dict[str, Any]]:
            return list(_objects(_asked([*ask, *words], environment, Path(place))))

        offered = set(modules("-versions", name)[0].get("Versions", ()))
        every = modules("-versions", "-retracted", name)[0].get("Versions", ())
        if not every:
            raise CommandFailed(f"no registry of Go modules has a release of {name}")
        dated = {one["Version"]: one.get("Time", "") for one in modules(*(f"{name}@{one}" for one in every))}
    return _sorted(
        Release(version.removeprefix("v"), dated.get(version, "")[:10], version not in offered)
        for version in every
    )


def _objects(text: str) -> Iterable[dict[str, Any]]:
    """JSON objects, one after the other."""
    decoder = json.JSONDecoder()
    while text := text.lstrip():
        found, end = decoder.raw_decode(text)
        yield found
        text = text[end:]


_ASK: Mapping[str, Callable[[str], list[Release]]] = {"cargo": _cargo, "go": _go}
