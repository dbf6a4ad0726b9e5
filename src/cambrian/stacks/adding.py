"""Copies a user's stack to the configuration folder, where every study finds it, after a check."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from cambrian import paths
from cambrian.stacks import built, catalogue, manifest
from cambrian.stacks.catalogue import Stack


class AddError(ValueError):
    """A stack that cannot be added; the text says why and what to do."""


def add(path: Path) -> Stack:
    """Check ``path`` (``NAME.toml``, or ``NAME/manifest.toml`` with its folder) and copy it.

    Raises:
        manifest.ManifestError: the manifest has an error.
        AddError: it would replace a stack of the catalogue, or it names something that does not exist.
    """
    if path.is_dir():
        path = path / "manifest.toml"
    path = path.absolute()
    stack = Stack(path, manifest.read(path))
    if (paths.repository() / "stacks" / stack.name).is_dir():
        raise AddError(f'{path}: name: "{stack.name}" is a stack of the catalogue: choose another name')
    _check_lent(stack)
    to = catalogue.own_folder()
    to.mkdir(parents=True, exist_ok=True)
    if stack.alone:
        _check_portable(stack)
        kept = to / path.name
        shutil.copyfile(path, kept)
    else:
        kept = _copy_folder(path.parent, to) / path.name
    catalogue.load.cache_clear()
    return Stack(kept, manifest.read(kept))


def _check_lent(stack: Stack) -> None:
    client = stack.manifest.client
    if client is not None and client.stack is not None and client.stack not in catalogue.load():
        known = ", ".join(catalogue.load())
        raise AddError(
            f'{stack.file}: client.stack: there is no stack "{client.stack}"; the stacks are: {known}'
        )
    if stack.manifest.build.kind == "none":
        built.program_there(stack)


def _check_portable(stack: Stack) -> None:
    """Check that a single-file stack names no other file by a relative path; only this file is copied."""
    wanted = stack.manifest.build
    beside = [file.template for side in stack.sides() for file in side.files]
    beside += [name for name in (wanted.lock, wanted.tools, *wanted.sources) if name]
    if wanted.kind == "none":
        beside.append(wanted.binary)
    left = [name for name in beside if not Path(name).is_absolute()]
    if left:
        raise AddError(
            f"{stack.file}: {left[0]} is relative to the manifest: give its absolute path, or put all "
            f"files into a folder {stack.name}/ with the manifest as {stack.name}/manifest.toml and add that"
        )


def _copy_folder(folder: Path, to: Path) -> Path:
    """Copy a folder atomically."""
    with tempfile.TemporaryDirectory(dir=to, prefix=".new-") as fresh:
        copied = Path(fresh) / folder.name
        shutil.copytree(folder, copied, symlinks=True)
        kept = to / folder.name
        shutil.rmtree(kept, ignore_errors=True)
        copied.rename(kept)
    return kept
