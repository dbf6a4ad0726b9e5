"""The files that a manifest names: do they exist, and can they be read?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cambrian.stacks import built
from cambrian.stacks.catalogue import Stack
from cambrian.stacks.manifest import ManifestError
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


def named_paths(stack: Stack) -> Iterator[tuple[str, str]]:
    """Each file or folder that the manifest names, as (key, path as written)."""
    wanted = stack.manifest.build
    for side in stack.sides():
        for file in side.files:
            yield "files.template", file.template
    for key, name in (("lock", wanted.lock), ("tools", wanted.tools)):
        if name:
            yield f"build.{key}", name
    for name in wanted.sources:
        yield "build.sources", name
    if wanted.kind == "none":
        yield "build.binary", wanted.binary


def check(stack: Stack) -> None:
    """Check that every file that the manifest names exists, and that its build has a recipe.

    Raises:
        ManifestError: for the first that does not, with the key and the remedy.
    """
    for key, name in named_paths(stack):
        path = stack.folder / name
        if key == "build.binary":
            built.program_there(stack)
        elif key == "files.template":
            template(stack, name)
        elif not (path.is_file() or (key == "build.sources" and path.is_dir())):
            raise ManifestError(_absent(stack, key, f"there is no {path}"))
    recipes = _RECIPES.get(stack.manifest.build.kind, ())
    if recipes and not any((stack.folder / name).is_file() for name in recipes):
        kind = stack.manifest.build.kind
        problem = f'kind "{kind}" needs a {recipes[0]} in {stack.folder}, and there is none'
        raise ManifestError(_absent(stack, "build.kind", problem))


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


def _absent(stack: Stack, key: str, problem: str) -> str:
    return f"{stack.file}: {key}: {problem}\n  remedy: create it, or correct the manifest"
