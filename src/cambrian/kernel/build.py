"""Builds a kernel from a source and a recipe; it appears in the cache atomically."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from cambrian import paths, progress
from cambrian.command import clean_environment, run
from cambrian.kernel import configure, patch, source
from cambrian.kernel.model import Features, Kernel, KernelError, Manifest, sha256_of
from cambrian.kernel.recipe import Recipe, key
from cambrian.stacks import toolchain

#: objects that our fragment compiles in linux-source 7.3, for the ETA
EXPECTED_OBJECTS = 847
#: programs of the build → their Debian packages
TOOLS = {
    "make": "make",
    "flex": "flex",
    "bison": "bison",
    "bc": "bc",
    "patch": "patch",
    "perl": "perl-base",
    "xz": "xz-utils",
    "dpkg-deb": "dpkg",
}
#: free space for the source tree and its objects during a build
NEEDED_BYTES = 4 * 10**9


def cached_kernels() -> Path:
    """The folder with one folder per kernel, named by its key."""
    return paths.cache() / "kernel"


def build(kernel_source: source.Source, recipe: Recipe) -> Kernel:
    """The kernel of this source and recipe, from the cache or built now (minutes).

    The caller must hold the cache's lock. Raises :class:`KernelError`,
    :class:`cambrian.command.CommandFailed` or :class:`MissingTool`.
    """
    compiler = toolchain.cc()
    name = key(recipe, kernel_source.sha256, compiler.version)
    home = cached_kernels() / name
    if (home / "manifest.json").is_file():
        return load(home)
    _check_space(cached_kernels())
    log = cached_kernels() / f"build-{name}.log"
    log.unlink(missing_ok=True)
    # this process holds the lock, so these folders are from killed builds
    for leftover in cached_kernels().glob("build-*/"):
        shutil.rmtree(leftover, ignore_errors=True)
    work = Path(tempfile.mkdtemp(prefix=f"build-{name}-", dir=cached_kernels()))
    try:
        made = _make(kernel_source, recipe, compiler, work / "linux-source", log)
        ready = work / "ready"
        ready.mkdir()
        shutil.copy2(made.binary, ready / "linux")
        shutil.copy2(made.config, ready / "config")
        (ready / "manifest.json").write_text(json.dumps(made.manifest.as_json(), indent=2) + "\n")
        log.replace(ready / "build.log")
        # mkdtemp's folder is private; a cached kernel may be shared
        ready.chmod(0o755)
        ready.rename(home)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return load(home)


def load(home: Path) -> Kernel:
    """The kernel in one folder of the cache. Raises :class:`KernelError` if a file is missing or changed."""
    try:
        manifest = Manifest.from_json(json.loads((home / "manifest.json").read_text()))
        found = sha256_of(home / "linux")
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise KernelError(
            f"the cached kernel {home} cannot be read ({error}); remedy: rm -r {home}"
        ) from error
    if found != manifest.binary_sha256:
        raise KernelError(
            f"the cached kernel {home}/linux has changed since it was built; remedy: rm -r {home}"
        )
    return Kernel(home / "linux", manifest.version, home.name, found, manifest.features)


@dataclass(frozen=True)
class _Made:
    binary: Path
    config: Path
    manifest: Manifest


def _make(
    kernel_source: source.Source, recipe: Recipe, compiler: toolchain.Toolchain, tree: Path, log: Path
) -> _Made:
    began = time.monotonic()
    environment = _environment()
    with progress.step("kernel: unpacking and configuring") as step:
        source.unpack(kernel_source, tree)
        step.say("patching")
        patch.apply(tree, recipe.patches, log=log, environment=environment)
        step.say("configuring")
        lost = configure.configure(tree, recipe.fragment, log=log, environment=environment)
        if lost:
            step.say(f"options that this kernel source lacks: {', '.join(lost)}")
    objects = _compile(tree, log, environment)
    binary = tree / "linux"
    run(["strip", "--strip-all", str(binary)], log=log, environment=environment)
    manifest = Manifest(
        version=_version(tree),
        source=kernel_source.name,
        source_version=kernel_source.version,
        source_sha256=kernel_source.sha256,
        recipe=recipe.digest,
        config_sha256=sha256_of(tree / ".config"),
        fragment_lost=lost,
        patches={path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in recipe.patches},
        compiler=compiler.version,
        binary_sha256=sha256_of(binary),
        features=Features.of(binary),
        objects=objects,
        build_seconds=round(time.monotonic() - began),
    )
    return _Made(binary, tree / ".config", manifest)


def _compile(tree: Path, log: Path, environment: dict[str, str]) -> int:
    jobs = len(os.sched_getaffinity(0))
    objects = 0
    with progress.step(f"kernel: compiling with {jobs} jobs", total=EXPECTED_OBJECTS) as step:

        def count(line: str) -> None:
            nonlocal objects
            if line.startswith(("  CC ", "  AS ")):
                objects += 1
                step.reach(objects)

        make = [*configure.MAKE, f"-j{jobs}", "linux"]
        run(make, cwd=tree, log=log, environment=environment, on_line=count)
    return objects


def _environment() -> dict[str, str]:
    # no date, place or user in the binary, so that the same inputs give the same bytes
    return clean_environment(
        {
            "KBUILD_BUILD_TIMESTAMP": "Thu Jan  1 00:00:00 UTC 1970",
            "KBUILD_BUILD_USER": "cambrian",
            "KBUILD_BUILD_HOST": "cambrian",
            "KBUILD_BUILD_VERSION": "1",
            "SOURCE_DATE_EPOCH": "0",
            "LOCALVERSION": "",
        }
    )


def _version(tree: Path) -> str:
    return (tree / "include" / "config" / "kernel.release").read_text().strip()


def _check_space(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(folder).free
    if free < NEEDED_BYTES:
        raise KernelError(
            f"building a kernel needs {NEEDED_BYTES / 1e9:.0f} GB in {folder}, but only {free / 1e9:.1f} GB "
            "are free: free some space, or set CAMBRIAN_CACHE to another folder"
        )
