"""What a stack *is*: the contents of ``stacks/NAME/manifest.toml``, validated."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError


class ManifestError(ValueError):
    """A manifest that cannot be used; the text names the file, the key and what is wrong."""


class Frozen(BaseModel):
    """Immutable, and an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Cca(Frozen):
    """One congestion controller of a stack."""

    #: the kernel CCA that it is judged against; None where the kernel has no counterpart
    reference: str | None = None
    #: extra template words
    values: dict[str, str] = {}
    notes: str = ""


class Build(Frozen):
    """How the stack's program comes into being."""

    kind: Literal["cargo", "go", "make", "pypi", "none"]
    #: the program, relative to the build's output folder (absolute for kind "none")
    binary: str
    #: about how long it takes on two cores, for the ETA
    seconds: Annotated[int, Field(ge=0)] = 60
    debian_packages: tuple[str, ...] = ()
    #: kind "pypi": the lock file (requirement with hashes) in the stack's folder
    lock: str | None = None


class File(Frozen):
    """A file rendered for one run: a template in the stack's folder, and its name in ``{work}``."""

    template: str
    to: str


class Role(Frozen):
    """How to run one side."""

    command: tuple[str, ...] = ()
    environment: dict[str, str] = {}
    files: tuple[File, ...] = ()


class Server(Role):
    """The sender's side."""

    ready: Literal["json", "udp", "tcp"] = "json"


class Client(Role):
    """The receiver's side; ``stack`` lends another stack's."""

    stack: str | None = None


class Manifest(Frozen):
    """One stack, as its manifest states it."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9.-]*$")]
    title: str
    version: str
    licence: str
    language: str
    homepage: str = ""
    protocol: Literal["quic", "tcp"]
    alpns: tuple[str, ...] = ()
    cca_readback: bool
    transport_trace: Literal["log", "tcp_probe", "none"]
    notes: tuple[str, ...] = ()
    ccas: Annotated[dict[str, Cca], Field(min_length=1)]
    build: Build
    server: Server
    client: Client | None = None


def read(path: Path) -> Manifest:
    """Read and check one manifest.

    Raises:
        ManifestError: unreadable, not TOML, an unknown or missing key, or a wrong value.
    """
    try:
        manifest = Manifest.model_validate(tomllib.loads(path.read_text()))
    except OSError as error:
        raise ManifestError(f"{path}: {error.strerror}") from error
    except tomllib.TOMLDecodeError as error:
        raise ManifestError(f"{path}: not TOML: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"]) or "manifest"
        raise ManifestError(
            f"{path}: {key}: {first['msg']} (see docs/endpoint-contract.md, Manifests)"
        ) from error
    if manifest.name != path.parent.name:
        raise ManifestError(f'{path}: name: is "{manifest.name}", but the folder is "{path.parent.name}"')
    return manifest
