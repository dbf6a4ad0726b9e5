"""What a worker must have before it may carry out a trial of a run, and how it finds that in its cache."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from cambrian import paths, source
from cambrian.cluster import parcels
from cambrian.command import CommandFailed, MissingTool
from cambrian.kernel import host
from cambrian.kernel.model import Kernel
from cambrian.stacks import build, catalogue
from cambrian.stacks.built import Built, program
from cambrian.stacks.manifest import ManifestError
from cambrian.trial import guest_packages, wall
from cambrian.trial.environment import Environment, Native, testbed_hash


class Refused(RuntimeError):
    """A worker cannot carry out this run's trials; the text says why."""


@dataclass(frozen=True)
class Part:
    """A folder of the cache: its kind and name there, and the address of its content.

    ``files``: the files that count; all if there are none.
    """

    kind: str
    name: str
    digest: str
    files: tuple[str, ...] = ()

    @classmethod
    def of(cls, kind: str, folder: Path, name: str = "", files: tuple[str, ...] = ()) -> Part:
        """The part in a folder of this machine."""
        return cls(kind, name or folder.name, parcels.digest(folder, files), files)

    @property
    def received(self) -> Path:
        """Its place in the cache of a worker that got it from the coordinator."""
        return paths.cache() / "received" / self.digest / self.name

    def find(self) -> Path | None:
        """Its folder in this machine's cache, if the content there is the same."""
        for folder in (paths.cache() / self.kind / self.name, self.received):
            try:
                if parcels.digest(folder, self.files) == self.digest:
                    return folder
            except OSError:
                continue
        return None


@dataclass(frozen=True)
class Needed:
    """What the workers of one run must have.

    ``topic`` names the run. ``hashes`` are those of :meth:`Environment.hashes`; ``code`` and ``packages`` are
    hashes of this package with all that it imports, and of the guest's Python package. ``stacks``: name →
    part and its hash.
    """

    topic: str
    code: str
    packages: str
    hashes: Mapping[str, str]
    kernel: Kernel
    kernel_part: Part
    native: Part
    native_sha256: str
    stacks: Mapping[str, tuple[Part, str]]
    cpu_limit_s: float | None

    def parts(self) -> list[Part]:
        """All of its parts."""
        return [self.kernel_part, self.native, *(part for part, _ in self.stacks.values())]

    def environment(self, folders: Mapping[str, Path]) -> Environment:
        """What trials run on this machine; ``folders``: digest → folder of each part.

        Raises:
            Refused: it differs from the coordinator's.
        """
        own = catalogue.load()
        for name, (part, _) in self.stacks.items():
            try:
                same = part.name.startswith(f"{build.source_name(own[name])}-")
            except (KeyError, ManifestError, OSError, CommandFailed, MissingTool):
                same = False
            if not same:
                raise Refused(f"it has no stack {name} with the coordinator's manifest and sources")
        kernel = replace(self.kernel, path=folders[self.kernel_part.digest] / self.kernel_part.files[0])
        builds = {}
        for name, (part, sha256) in self.stacks.items():
            home = folders[part.digest]
            builds[name] = Built(own[name], home, home / program(own[name]), sha256)
        made = Environment(
            kernel,
            host.seccomp(kernel).works,
            Native(folders[self.native.digest], self.native_sha256),
            builds,
            testbed_hash(),
            wall.find(),
        )
        mine = made.hashes(list(builds))
        for name, wanted in self.hashes.items():
            if mine.get(name) != wanted:
                raise Refused(f"its {name} is {mine.get(name)}, the coordinator's {wanted}")
        return made

    def check_code(self) -> None:
        """Compare what a worker has of its own, before anything is sent.

        Raises:
            Refused: it differs from the coordinator's.
        """
        if _code() != self.code:
            raise Refused("its code differs from the coordinator's")
        if _packages() != self.packages:
            raise Refused(f"its {guest_packages.PACKAGE} differs from the coordinator's")


def of(made: Environment, cpu_limit_s: float | None) -> tuple[Needed, dict[str, Path]]:
    """What the workers of a run in this environment need; and digest → folder of each part here."""
    binary = made.kernel.path
    kernel = Part.of("kernel", binary.parent, made.kernel.key or made.kernel.sha256[:16], (binary.name,))
    native = Part.of("native", made.native.folder)
    stacks = {name: (Part.of("stacks", one.folder), one.sha256) for name, one in made.builds.items()}
    folders = {kernel.digest: binary.parent, native.digest: made.native.folder}
    folders |= {stacks[name][0].digest: one.folder for name, one in made.builds.items()}
    needed = Needed(
        topic=f"cambrian-{uuid.uuid4().hex[:12]}",
        code=_code(),
        packages=_packages(),
        hashes=made.hashes(list(made.builds)),
        kernel=made.kernel,
        kernel_part=kernel,
        native=native,
        native_sha256=made.native.sha256,
        stacks=stacks,
        cpu_limit_s=cpu_limit_s,
    )
    return needed, folders


def _code() -> str:
    return source.fingerprint("cambrian.cluster")


def _packages() -> str:
    return parcels.digest(guest_packages.ensure())
