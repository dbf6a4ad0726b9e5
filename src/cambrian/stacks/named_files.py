"""The files that a manifest names: do they exist, and can they be read?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from cambrian.stacks import built
from cambrian.stacks.catalogue import Stack
from cambrian.stacks.manifest import ManifestError, Place, fault
from cambrian.study import input_file
from cambrian.study.errors import StudyError

#: largest template of a configuration file
_MOST_BYTES = 2**20
#: kind of build → files of which the stack's folder must have one
_RECIPES: Mapping[str, tuple[str, ...]] = {
    "cargo": ("Cargo.toml",),
    "go": ("go.mod",),
    "make": ("Makefile", "makefile", "GNUmakefile"),
}


def named_paths(stack: Stack) -> Iterator[tuple[Place, str]]:
    """Each file or folder that the manifest names, as (place, path as written)."""
    wanted = stack.manifest.build
    for side in stack.sides():
        for file in side.files:
            yield ("files", "template"), file.template
    for key, name in (("lock", wanted.lock), ("tools", wanted.tools)):
        if name:
            yield ("build", key), name
    for name in wanted.sources:
        yield ("build", "sources"), name
    if wanted.kind == "none":
        yield ("build", "binary"), wanted.binary


def check(stack: Stack) -> None:
    """Check that every file that the manifest names exists, and that its build has a recipe.

    Raises:
        ManifestError: for the first that does not, with the line, the key and the remedy.
    """
    for place, name in named_paths(stack):
        path = stack.folder / name
        match place[-1]:
            case "binary":
                built.program_there(stack)
            case "template":
                template(stack, name)
            case kind if not (path.is_file() or (kind == "sources" and path.is_dir())):
                raise _absent(stack, place, f"there is no {path}")
    for place, program in _programs(stack):
        if not Path(program).exists():
            raise _absent(stack, place, f"there is no {program}")
    recipes = _RECIPES.get(stack.manifest.build.kind, ())
    if recipes and not any((stack.folder / name).is_file() for name in recipes):
        kind = stack.manifest.build.kind
        problem = f'kind "{kind}" needs a {recipes[0]} in {stack.folder}, and there is none'
        raise _absent(stack, ("build", "kind"), problem)


def _programs(stack: Stack) -> Iterator[tuple[Place, str]]:
    """The host's programs that the commands start by their paths, which are the same in a guest."""
    manifest = stack.manifest
    for side, role in (("server", manifest.server), ("client", manifest.client)):
        for program in role.command[:1] if role and not role.root else ():
            if Path(program).is_absolute() and "{" not in program:
                yield (side, "command"), program


def template(stack: Stack, name: str) -> str:
    """The text of one template.

    Raises:
        ManifestError: it cannot be read, or is not UTF-8 text.
    """
    path = stack.folder / name
    try:
        return input_file.read(path, "the template", "correct the path", _MOST_BYTES).decode()
    except UnicodeDecodeError as error:
        raise ManifestError(f"{path}: not UTF-8 text\n  remedy: save the file as UTF-8") from error
    except StudyError as error:
        raise ManifestError(f"{stack.file}: files.template: {error}") from error


def _absent(stack: Stack, place: Place, problem: str) -> ManifestError:
    return fault(stack.file, place, problem, "create it, or correct the manifest")
