"""A kernel: its binary, its source and its features."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from pathlib import Path


class KernelError(RuntimeError):
    """No kernel can be found or built; the text says why and what to do."""


@dataclass(frozen=True)
class Features:
    """Features of a kernel binary that an unpatched or old User-mode Linux lacks."""

    #: the fast user-space switch (Linux >= 6.16); without it, ptrace
    seccomp: bool
    #: ``cambrian.seed=``: randomness as a pure function of a seed
    seed: bool
    #: ``cambrian.vdso_clock=``: clock reads answered from a shared page
    vdso_clock: bool
    #: ``cambrian.tsc=``: RDTSC in programs gives virtual time instead of the host's
    tsc: bool

    @classmethod
    def of(cls, binary: Path) -> Features:
        """The features of a binary, by the parameter names in it (stripping keeps them)."""
        content = binary.read_bytes()
        return cls(
            seccomp=b"seccomp=<on/auto/off>" in content,
            seed=b"cambrian.seed" in content,
            vdso_clock=b"cambrian.vdso_clock" in content,
            tsc=b"cambrian.tsc" in content,
        )


@dataclass(frozen=True)
class Kernel:
    """A bootable kernel. ``sha256`` of the binary is its part in a trial's identity."""

    path: Path
    version: str
    #: name of the folder in the cache; empty for the user's own binary
    key: str
    sha256: str
    features: Features


@dataclass(frozen=True)
class Manifest:
    """The content of a cached kernel's ``manifest.json``: what it was built from."""

    version: str
    source: str
    source_version: str
    source_sha256: str
    recipe: str
    config_sha256: str
    fragment_lost: tuple[str, ...]
    patches: dict[str, str]
    compiler: str
    binary_sha256: str
    features: Features
    objects: int
    build_seconds: int

    def as_json(self) -> dict[str, object]:
        """Plain data for json.dump."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, object]) -> Manifest:
        """The inverse of :meth:`as_json`. Raises TypeError or KeyError for another version's file."""
        fields: dict[str, object] = dict(data)
        fields["features"] = Features(**fields["features"])  # type: ignore[arg-type]
        fields["fragment_lost"] = tuple(fields["fragment_lost"])  # type: ignore[arg-type]
        return cls(**fields)  # type: ignore[arg-type]


def sha256_of(path: Path) -> str:
    """Hexadecimal SHA-256 of a file's content."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
