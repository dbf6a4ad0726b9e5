"""Builds a stack's program on demand and caches it by content.

The key has a hash of the stack's folder and a hash of the compiler's version. So an edit or a
new compiler causes a new build, and installations share equal builds. Without a
compiler, a build of the same source by another compiler is used. A build appears
in the cache atomically.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from filelock import FileLock

from cambrian import paths, progress
from cambrian.command import CommandFailed, MissingTool
from cambrian.stacks import kinds, libraries, named_files, pinned, sources, toolchain, whole
from cambrian.stacks.built import HIDDEN, Built, program, program_there, shown_folders
from cambrian.stacks.catalogue import Broken, Stack
from cambrian.stacks.manifest import ManifestError

if TYPE_CHECKING:
    from hashlib import _Hash as Hash

#: the first call of make leaves its files, the next changes none
_MOST_BUILDS = 3
#: files that change during each, by name
_MOST_NAMED = 3

#: what separates paths in a word of a command and in a variable of an environment
_BETWEEN_PATHS = re.compile(r"[=:,\s]")

State = Literal["built", "missing", "unbuildable", "broken", "fails"]


@dataclass(frozen=True)
class Status:
    """Whether a stack is built, and how to build it."""

    state: State
    detail: str
    remedy: str | None


def _tool(stack: Stack, *, fetch: bool = True) -> toolchain.Toolchain | None:
    match stack.manifest.build.kind:
        case "cargo":
            return toolchain.cargo()
        case "go":
            return toolchain.go(fetch=fetch)
        case "make":
            return toolchain.cc()
        case "maven":
            # Maven only downloads, so its version has no effect on the build
            toolchain.maven()
            return None
        case _:
            return None


def _add(digest: Hash, path: Path, name: str) -> None:
    digest.update(f"{name}\0{path.stat().st_size}\0".encode())
    digest.update(path.read_bytes())


def _content(stack: Stack) -> bytes:
    """A hash of all inputs of a stack's build.

    These are all sources in its folder with their names (tests and notes too, for simplicity), or for a
    single-file stack the TOML file and the files that it names; the manifest's ``sources``;
    and for a stack of kind "none", the program, what its commands name, and the libraries of these.
    """
    digest = hashlib.sha256()
    for path, name in _inputs(stack):
        _add(digest, path, name)
    return digest.digest()


def _inputs(stack: Stack) -> Iterator[tuple[Path, str]]:
    """Each input of a stack's build, and its name in the hash."""
    named_files.check(stack)
    stated = list(_stated(stack))
    yield from stated
    if stack.manifest.build.kind == "none":
        given = {path.resolve() for path, _ in stated}
        yield from (one for one in _run_there(stack) if one[0].resolve() not in given)


def _stated(stack: Stack) -> Iterator[tuple[Path, str]]:
    """The inputs that are in the stack's folder or that ``[build]`` names."""
    wanted = stack.manifest.build
    if stack.alone:
        named = [file.template for side in stack.sides() for file in side.files]
        yield stack.file, stack.file.name
        for name in [*named, *filter(None, (wanted.lock, wanted.tools))]:
            yield stack.folder / name, name
    else:
        yield from sources.of_folder(stack.folder)
    for source in wanted.sources:
        path = stack.folder / source
        if path.is_dir():
            yield from sources.of_folder(path)
        else:
            yield path, source
    if wanted.kind == "none":
        yield program_there(stack), "program"


def _run_there(stack: Stack) -> Iterator[tuple[Path, str]]:
    """What a stack of kind "none" also runs where it is: files that its commands name, and libraries."""
    texts = [
        text
        for side in stack.sides()
        for words in (*side.command, *side.environment.values())
        for text in _BETWEEN_PATHS.split(words)
        if text.startswith("/")
    ]
    # what a guest has of its own, such as /tmp, it does not see of the host
    shown = tuple(shown_folders(stack))
    named = [
        path
        for path in dict.fromkeys(map(Path, texts))
        if not libraries.is_below(path, HIDDEN) or libraries.is_below(path, shown)
    ]
    files = [path for path in named if not libraries.is_system(path) and libraries.may_be_read(path)]
    yield from ((path, str(path)) for path in files)
    folders = [path for path in named if libraries.may_be_read(path, folder=True)]
    programs = (program_there(stack), *files)
    for path in dict.fromkeys(path for one in programs for path in libraries.loaded(one, folders)):
        yield path, f"library {path.name}"


def _hashes(stack: Stack) -> dict[Path, bytes]:
    """A hash of each input, to name those that change during a build."""
    return {path: hashlib.sha256(path.read_bytes()).digest() for path, _ in _inputs(stack)}


def source_name(stack: Stack) -> str:
    """The name of the build's folder without the compiler's part: the stack and a hash of its source.

    At a release the source is the pinned copy, with its lock; it is made if it is missing.
    """
    return _name_of(pinned.ensure(stack))


def _name_of(source: Stack) -> str:
    return f"{source.name}-{hashlib.sha256(_content(source)).hexdigest()[:12]}"


def _home(stack: Stack, tool: toolchain.Toolchain | None) -> Path:
    made_by = tool.version if tool else "none"
    if stack.manifest.build.kind == "none":
        # the build is a link to the program, and the same program may be in several places
        made_by = str(program_there(stack).absolute())
    return paths.cache() / "stacks" / f"{_name_of(stack)}-{hashlib.sha256(made_by.encode()).hexdigest()[:8]}"


def _any_home(stack: Stack) -> Path | None:
    """A build of this source by any compiler: running it needs no compiler."""
    found = sorted((paths.cache() / "stacks").glob(f"{_name_of(stack)}-*/build.json"))
    return next((one.parent for one in found if _facts(one.parent)), None)


def _facts(home: Path) -> dict[str, Any]:
    """What ``build.json`` says; empty without a build or a cache, or if a power cut cut the file off."""
    try:
        found = json.loads((home / "build.json").read_bytes())
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return {}
    return found if isinstance(found, dict) and "sha256" in found else {}


def _built(stack: Stack, home: Path) -> Built | None:
    """The build in ``home``; None if there is none."""
    facts = _facts(home)
    return Built(stack, home, home / program(stack), facts["sha256"]) if facts else None


def status(stack: Stack) -> Status:
    """Whether the stack is built for this source and compiler. Builds and downloads nothing.

    "broken": the stack is not whole (:func:`cambrian.stacks.whole.check`). "fails": this release did not
    build here with this source and compiler; ``detail`` is the compiler's first error.
    """
    remedy = f"cambrian stacks build {stack.name}"
    try:
        whole.check(stack)
    except ManifestError as error:
        return Status("broken", str(error), Broken(stack.name, stack.file, str(error)).remedy)
    source = pinned.find(stack)
    if source is None and (why := pinned.failure(stack)):
        return Status("fails", why, f"{remedy} tries again")
    if source is None:
        return Status("missing", f"about {stack.manifest.build.expected_s} s to build", remedy)
    try:
        home = _home(source, _tool(source, fetch=False))
    except MissingTool as missing:
        other = _any_home(source)
        if other is not None:
            return Status("built", str(other), None)
        return Status("unbuildable", missing.what, missing.remedy)
    if _facts(home):
        return Status("built", str(home), None)
    if (failure := _failure(home)).exists():
        return Status("fails", failure.read_text(), f"{remedy} tries again")
    return Status("missing", f"about {stack.manifest.build.expected_s} s to build", remedy)


def is_as_built(built: Built) -> bool:
    """Are the program, the manifest and the files of a stack of kind "none" still those of its identity?

    A guest reads them where they are, when a trial starts. All other programs are copies in the cache.
    """
    stack = built.stack
    try:
        return stack.manifest.build.kind != "none" or built.folder.name.startswith(f"{_name_of(stack)}-")
    except (ManifestError, OSError):
        # gone, perhaps for a moment
        return False


def changes(built: Built) -> str:
    """The inputs of a stack of kind "none" that are no longer those of its build, by name; "" if unknown."""
    try:
        # the cache may have been emptied meanwhile
        before = _facts(built.folder).get("inputs", {})
    except OSError:
        return ""
    try:
        after = _texts(_hashes(built.stack))
    except (ManifestError, OSError) as error:
        return str(error).splitlines()[0]
    return _shown([path for path in before | after if before.get(path) != after.get(path)]) if before else ""


def _texts(hashes: Mapping[Path, bytes]) -> dict[str, str]:
    return {str(path): digest.hex() for path, digest in hashes.items()}


def _shown(changed: Iterable[object]) -> str:
    """The first few of these paths, in words."""
    names = sorted(map(str, changed))
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more


def ensure(stack: Stack) -> Built:
    """The built stack; builds it if necessary, with progress.

    make may leave files in the source's folder, which are inputs of its next call: it is called again until a
    call changes none. The program is then filed as a build of what it left there.

    Raises:
        MissingTool: no compiler for it, with the remedy.
        cambrian.command.CommandFailed: the build failed, with its last lines, or the source changed.
    """
    source = pinned.ensure(stack)
    for _ in range(_MOST_BUILDS if source.manifest.build.kind == "make" else 1):
        home = _home_here(source)
        if found := _built(stack, home):
            return found
        home.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{home}.lock"):
            if not _facts(home):
                changed = _build(source, home)
            if found := _built(stack, home):
                return found
    names = _shown(changed) or source.folder
    if source.manifest.build.kind == "make":
        when, remedy = f"at each of {_MOST_BUILDS} calls of make", "remedy: let make write below $(OUT)"
    else:
        when, remedy = "while it was built", "the program may be of both; remedy: run the command again"
    raise CommandFailed(f"the source of {stack.name} changed {when}: {names}; {remedy}")


def _home_here(source: Stack) -> Path:
    """Where the build of this source is, or belongs; a compiler is fetched if it is needed."""
    try:
        return _home(source, _tool(source, fetch=False))
    except MissingTool:
        return _any_home(source) or _home(source, _tool(source))


def _failure(home: Path) -> Path:
    """The file with the first error of a release that did not build."""
    return Path(f"{home}.failed")


def _sha256(folder: Path, binary: Path) -> str:
    """SHA-256 of the program and of the lists of downloaded libraries, if there are any."""
    digest = hashlib.sha256(binary.read_bytes())
    for record in sorted(folder.glob("*.fetched")):
        digest.update(record.read_bytes())
    return digest.hexdigest()


def _perhaps_missing(packages: Sequence[str]) -> str:
    """A remedy with the packages of a build that are not installed; "" if none or unknown."""
    if not packages or shutil.which("dpkg-query") is None:
        return ""
    ask = ["dpkg-query", "--show", "--showformat", "${db:Status-Status} ${Package}\\n", *packages]
    answer = subprocess.run(ask, capture_output=True, text=True, check=False).stdout
    there = {line.partition(" ")[2] for line in answer.splitlines() if line.startswith("installed ")}
    missing = [name for name in packages if name not in there]
    return f"\nperhaps Debian packages are missing: apt-get install {' '.join(missing)}" if missing else ""


#: the first error of a compiler: cargo's with its place on the next lines, and Go's
_CARGO_ERROR = re.compile(
    r"^(error(?:\[E\d+\])?: .+)$(?:\n(?!error)[^\n]*){0,3}?\n\s*--> (\S+)", re.MULTILINE
)
_GO_ERROR = re.compile(r"^\S*\.go:\d+:\d+: .+$", re.MULTILINE)


def first_error(log: str) -> str | None:
    """The first error of a compiler in a build's log, in one line with its place; None if there is none."""
    if found := _CARGO_ERROR.search(log):
        return f"{found[1]} ({found[2]})"
    found = _GO_ERROR.search(log)
    return found[0] if found else None


def _keep_locks(stack: Stack, out: Path) -> str:
    """Copy the lock beside the program; its SHA-256 shows whether two builds have the same packages."""
    digest = hashlib.sha256()
    for path in (stack.folder / name for name in pinned.LOCKS):
        if path.is_file():
            shutil.copyfile(path, out / path.name)
            _add(digest, path, path.name)
    return digest.hexdigest()


def _build(stack: Stack, home: Path) -> list[Path]:
    """Build the stack, and file its program in ``home``; not if inputs changed meanwhile: it gives these."""
    wanted = stack.manifest.build
    before = _hashes(stack)
    # no with_suffix: names have dots
    log = Path(f"{home}.log")
    log.unlink(missing_ok=True)
    _failure(home).unlink(missing_ok=True)
    fresh = Path(tempfile.mkdtemp(dir=home.parent, prefix=f"{stack.name}.new-"))
    fresh.chmod(0o755)
    began = time.monotonic()
    try:
        with progress.step(f"build {stack.name}", total=float(wanted.expected_s)) as step:
            try:
                kinds.make(stack, fresh, log, step)
            except CommandFailed as failed:
                if stack.release is not None and (said := first_error(log.read_text(errors="replace"))):
                    # places in the source, wherever its copy lies
                    _failure(home).write_text(said.replace(f"{stack.folder.parent}/", ""))
                raise CommandFailed(f"{failed}{_perhaps_missing(wanted.debian_packages)}") from failed
        binary = fresh / program(stack)
        if not binary.is_file():
            raise FileNotFoundError(f"the build of {stack.name} made no {wanted.binary}; log: {log}")
        facts = {
            "stack": stack.name,
            "version": stack.manifest.version,
            "sha256": _sha256(fresh, binary),
            "seconds": round(time.monotonic() - began),
        }
        if wanted.kind == "none":
            facts["inputs"] = _texts(before)
        if stack.release is not None:
            facts["lock_sha256"] = _keep_locks(stack, fresh)
        if not home.name.startswith(f"{_name_of(stack)}-"):
            after = _hashes(stack)
            return [path for path in before | after if before.get(path) != after.get(path)]
        (fresh / "build.json").write_text(json.dumps(facts, indent=1))
        shutil.rmtree(home, ignore_errors=True)
        fresh.rename(home)
        return []
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
