"""Finds this version's kernel, or builds it.

Order: ``CAMBRIAN_KERNEL`` (a built binary), then a cached kernel with
this version's fragment and patches (and from ``CAMBRIAN_KERNEL_SOURCE``'s tarball, if set),
then such a kernel of the Python package ``cambrian-kernel``.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from filelock import FileLock, Timeout

from cambrian import progress
from cambrian.kernel import recipe, source
from cambrian.kernel.build import TOOLS, build, cached_kernels, load
from cambrian.kernel.model import Features, Kernel, KernelError, sha256_of
from cambrian.kernel.recipe import Recipe
from cambrian.stacks import toolchain


def find(*, wanted: Recipe | None = None, archive: Path | None = None) -> Kernel | None:
    """The built kernel, or None. Only reads files: no network, no apt, no compiler.

    A kernel fits if its fragment and patches are those of ``wanted``. Among several of the cache (from
    several sources or compilers) the latest Linux is taken, then the newest build. A package that is
    installed later does not replace them, because that would change the identity of every trial.
    Raises :class:`KernelError` if a named binary or archive does not exist.
    """
    named = os.environ.get("CAMBRIAN_KERNEL")
    if named:
        return from_binary(Path(named))
    archive = archive or _named_archive()
    digest = (wanted or recipe.current()).digest
    source_sha256 = source.from_tarball(archive).sha256 if archive else None
    for folder in (cached_kernels(), installed_kernels()):
        fitting = [
            (source.version_numbers(str(manifest["version"])), home.stat().st_mtime, home)
            for home, manifest in _manifests(folder)
            if manifest.get("recipe") == digest and source_sha256 in (None, manifest.get("source_sha256"))
        ]
        if fitting:
            return load(max(fitting)[2])
    return None


def installed_kernels() -> Path:
    """The folder of the package ``cambrian-kernel``, with one folder per kernel as in the cache.

    It need not exist.
    """
    package = find_spec("cambrian_kernel")
    return Path(package.origin).parent if package and package.origin else Path("/nonexistent")


def ensure(*, wanted: Recipe | None = None, archive: Path | None = None) -> Kernel:
    """The kernel; builds it if there is none (minutes; progress on standard error).

    ``archive`` is a source tarball or linux-source package, like ``CAMBRIAN_KERNEL_SOURCE``;
    None downloads from the Debian mirror. Raises :class:`KernelError`, :class:`MissingTool` and the errors of
    :func:`cambrian.kernel.build.build`.
    """
    found = find(wanted=wanted, archive=archive)
    if found:
        return found
    cached_kernels().mkdir(parents=True, exist_ok=True)
    with _lock():
        # another process may have built it while this one waited
        found = find(wanted=wanted, archive=archive)
        if found:
            return found
        # first of all: without them nothing is worth a download
        toolchain.require("the kernel", TOOLS)
        archive = archive or _named_archive()
        kernel_source = source.from_tarball(archive) if archive else source.from_mirror()
        return build(kernel_source, wanted or recipe.current())


@contextmanager
def _lock() -> Iterator[None]:
    lock = FileLock(cached_kernels() / ".lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        with progress.step("kernel: waiting for another process to build it"):
            lock.acquire()
    try:
        yield
    finally:
        lock.release()


def stale(wanted: Recipe | None = None) -> list[Path]:
    """Cached kernels with other fragments or patches than this version's."""
    digest = (wanted or recipe.current()).digest
    return [home for home, manifest in _manifests(cached_kernels()) if manifest.get("recipe") != digest]


def from_binary(path: Path) -> Kernel:
    """A kernel that the user built. Raises :class:`KernelError` if it is not a User-mode Linux."""
    try:
        argv = [str(path), "--version"]
        answer = subprocess.run(argv, capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.SubprocessError) as error:
        raise KernelError(f"CAMBRIAN_KERNEL={path} does not run: {error}") from error
    words = answer.stdout.split()
    if answer.returncode or not words or not words[-1][:1].isdigit():
        raise KernelError(
            f"CAMBRIAN_KERNEL={path} is not a User-mode Linux: --version prints {answer.stdout!r}"
        )
    return Kernel(path.absolute(), words[-1], "", sha256_of(path), Features.of(path))


def _named_archive() -> Path | None:
    named = os.environ.get("CAMBRIAN_KERNEL_SOURCE")
    return Path(named) if named else None


def _manifests(folder: Path) -> list[tuple[Path, dict[str, object]]]:
    manifests = []
    for path in sorted(folder.glob("*/manifest.json")):
        try:
            manifest = json.loads(path.read_text())
        except (OSError, ValueError):
            continue
        if isinstance(manifest, dict):
            manifests.append((path.parent, manifest))
    return manifests
