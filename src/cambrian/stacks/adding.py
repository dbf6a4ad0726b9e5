"""Adds a user's stack to the configuration folder, where every study finds it, and removes it again."""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path

from cambrian import paths
from cambrian.stacks import catalogue, manifest, named_files, receivers, whole
from cambrian.stacks.catalogue import Stack
from cambrian.study import hints


class AddError(ValueError):
    """A stack that cannot be added or removed; the text says why and what to do."""


def new(name: str) -> str:
    """A manifest with comments for a stack of this name, to be filled in.

    Raises:
        AddError: a stack cannot have this name, or a stack of the catalogue has it.
    """
    if not re.fullmatch(manifest.NAME, name):
        raise AddError(f"no stack can be called {name!a}: use small letters, digits, dots and hyphens")
    if is_built_in(name):
        raise AddError(f"{name} is a stack of the catalogue: choose another name")
    return Path(__file__).with_name("new.toml").read_text().replace("NAME", name)


def add(path: Path) -> Stack:
    """Check ``path`` (``NAME.toml``, or ``NAME/manifest.toml`` with its folder) and copy it.

    It replaces what was added under this name before, of either form.

    Raises:
        manifest.ManifestError: the manifest has an error, the stack is not whole (:func:`whole.check`), it
            cannot use the client of the stack that it names, or an option does not take its default.
        AddError: it would replace a stack of the catalogue, it names a file that would not be found after
            the copy, or it cannot be copied.
    """
    if path.is_dir():
        path = path / "manifest.toml"
    path = path.absolute()
    stack = Stack(path, manifest.read(path))
    if is_built_in(stack.name):
        raise AddError(f'{path}: name: "{stack.name}" is a stack of the catalogue: choose another name')
    _check_lent(stack)
    _check_defaults(stack)
    _check_portable(stack)
    whole.check(stack)
    to = catalogue.own_folder()
    try:
        to.mkdir(parents=True, exist_ok=True)
        if stack.alone:
            kept = to / path.name
            shutil.copyfile(path, kept)
        else:
            kept = _copy_folder(path.parent, to) / path.name
        _delete(to / stack.name if stack.alone else to / f"{stack.name}.toml")
    except OSError as error:  # shutil.Error is one
        raise AddError(f"{path} cannot be copied to {to}: {error}") from error
    catalogue.load.cache_clear()
    return Stack(kept, manifest.read(kept))


def remove(name: str) -> list[Path]:
    """Delete a stack that :func:`add` has copied, even if its manifest has an error; returns what is deleted.

    Raises:
        AddError: it is a stack of the catalogue, or no stack of the configuration folder has this name.
    """
    own = catalogue.own_folder()
    known = catalogue.load()
    there: list[Path] = []
    if re.fullmatch(manifest.NAME, name):
        there = [path for path in (own / f"{name}.toml", own / name) if path.exists() or path.is_symlink()]
    if there:
        for path in there:
            _delete(path)
        catalogue.load.cache_clear()
        return there
    if is_built_in(name):
        raise AddError(f"{name} is a stack of the catalogue: only stacks that you added can be removed")
    if name in known or name in known.broken:
        file = known[name].file if name in known else known.broken[name].file
        raise AddError(f"{name} was not added, it is in {file}: delete that file instead")
    added = [one for one in [*known, *known.broken] if _is_own(one)]
    remedy = hints.for_name(name, added, "you added") if added else "you added none"
    raise AddError(f"there is no stack {name!a}; {remedy}")


def _delete(path: Path) -> None:
    """Delete a file or a folder, or nothing."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def is_built_in(name: str) -> bool:
    """Has the catalogue a stack of this name?"""
    return (paths.data() / "stacks" / name / "manifest.toml").is_file()


def _is_own(name: str) -> bool:
    known = catalogue.load()
    file = known[name].file if name in known else known.broken[name].file
    return file.is_relative_to(catalogue.own_folder())


def _check_lent(stack: Stack) -> None:
    """Check that the stack whose client receives is another one that exists, and that the two can talk."""
    client = stack.manifest.client
    if client is None or client.stack is None:
        return
    place = ("client", "stack")
    known = catalogue.load()
    # a stack of this name may have been added before
    others = [name for name in known if name != stack.name]
    if client.stack == stack.name or not (client.stack in known or client.stack in known.broken):
        remedy = hints.for_name(client.stack, others, "stacks are")
        raise manifest.fault(stack.file, place, f"there is no other stack {client.stack}", remedy)
    try:
        receivers.choose(stack)
    except receivers.NoReceiver as problem:
        remedy = "name a stack whose client fits, correct what they differ in, or give client.command instead"
        raise manifest.fault(stack.file, place, str(problem), remedy) from problem


def _check_defaults(stack: Stack) -> None:
    """Check that each option takes its own default; a text can also say what the default depends on."""
    for name, option in (stack.manifest.options or {}).items():
        default = option.default
        if default is not None and not isinstance(default, str) and not option.takes(default):
            shown = str(default).lower() if isinstance(default, bool) else f"{default:,}"
            problem = f"the option takes {option.values}, and {shown} is not among these"
            raise manifest.fault(
                stack.file, ("options", name, "default"), problem, "correct the default or the limits"
            )


def _check_portable(stack: Stack) -> None:
    """Check that the copy finds each file that the manifest names by a relative path.

    Of a single-file stack only this file is copied, of a folder only what is in it.
    """
    named = [*(name for _, name in named_files.named_paths(stack)), *stack.manifest.build.readable]
    left = [name for name in named if not Path(name).is_absolute()]
    if stack.alone and left:
        raise AddError(
            f"{stack.file}: {left[0]} is relative to the manifest: give its absolute path, or put all "
            f"files into a folder {stack.name}/ with the manifest as {stack.name}/manifest.toml and add that"
        )
    for name in left:
        if not (stack.folder / name).resolve().is_relative_to(stack.folder.resolve()):
            raise AddError(
                f"{stack.file}: {name} is outside the folder {stack.folder}, which is copied: give its "
                "absolute path, or put it into the folder"
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
