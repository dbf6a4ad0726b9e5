"""What a stack *is*: the contents of ``stacks/NAME/manifest.toml``, validated."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from math import isfinite
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from cambrian import paths
from cambrian.stacks import releases, template
from cambrian.study import hints
from cambrian.study.errors import StudyError
from cambrian.study.toml_file import TomlFile

#: keys and indices to a value of a manifest: ("server", "command", 0)
Place = tuple[str | int, ...]
#: kernel TCP: the reference for all other stacks
REFERENCE_STACK = "tcp"
#: names of stacks
NAME = r"^[a-z0-9][a-z0-9.-]*$"
#: kinds of builds whose package has releases in a registry
RELEASED = ("cargo", "go")


class ManifestError(ValueError):
    """A manifest that cannot be used; the text names the file, the key and what is wrong."""


class Frozen(BaseModel):
    """Immutable; an unknown key, an infinity or a NaN is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Cca(Frozen):
    """One congestion controller of a stack."""

    #: the kernel CCA that it is judged against; None where the kernel has no counterpart
    reference: str | None = None
    #: without marks of an AQM it is another algorithm
    needs_ecn: bool = False
    #: extra template words
    values: dict[str, str] = {}
    notes: str = ""
    #: what ``stacks test`` finds and why it lies in the stack: test ("capacity", "loss", "confirmed") → cause
    causes: dict[Literal["capacity", "loss", "confirmed"], str] = {}


class Option(Frozen):
    """One option of a stack's sender, which a contestant's ``options`` set. Units are in its name."""

    type: Literal["boolean", "integer", "number", "word", "text"]
    #: of an integer or a number, both included
    minimum: float | int | None = None
    maximum: float | int | None = None
    #: the values of a word; what an integer or a number may be instead
    words: tuple[str, ...] = ()
    #: the stack's own value, or in words what it depends on
    default: bool | int | float | str | None = None
    #: patterns of the CCAs that have it; empty: all
    ccas: tuple[str, ...] = ()
    meaning: str
    source: str = ""

    @model_validator(mode="after")
    def _limits_suit_the_type(self) -> Option:
        if self.type == "word" and not self.words:
            raise ValueError('type "word" needs words: give them')
        if self.type in ("boolean", "word", "text") and (self.minimum, self.maximum) != (None, None):
            raise ValueError("only an integer or a number has limits: remove minimum and maximum")
        if self.minimum is not None and self.maximum is not None and self.minimum > self.maximum:
            raise ValueError(f"minimum = {self.minimum:,} is above maximum = {self.maximum:,}: exchange them")
        return self

    def belongs_to(self, cca: str) -> bool:
        """Has this CCA the option?"""
        return not self.ccas or any(fnmatchcase(cca, pattern) for pattern in self.ccas)

    def takes(self, value: bool | int | float | str) -> bool:
        """Can it have this value?"""
        if value in self.words and isinstance(value, str):
            return True
        match self.type:
            case "boolean":
                return isinstance(value, bool)
            case "word":
                return False
            case "text":
                return isinstance(value, str)
        if isinstance(value, (bool, str)) or not isfinite(value):
            return False
        if self.type == "integer" and value != int(value):
            return False
        low, high = self.minimum, self.maximum
        return (low is None or value >= low) and (high is None or value <= high)

    @property
    def values(self) -> str:
        """What it takes, in words."""
        words = " or ".join(f'"{word}"' for word in self.words)
        match self.type:
            case "boolean":
                return "true or false"
            case "word":
                return words
            case "text":
                return "a text"
        kind = "a whole number" if self.type == "integer" else "a number"
        low, high = self.minimum, self.maximum
        limits = f" from {low:,}" if low is not None else ""
        limits += f"{' to' if limits else ' up to'} {high:,}" if high is not None else ""
        return f"{kind}{limits}" + (f", or {words}" if words else "")


class Build(Frozen):
    """How the stack's program comes into being."""

    kind: Literal["cargo", "go", "make", "pypi", "python", "maven", "debian", "none"]
    #: the program, relative to the build's output folder (kind "none": to the manifest, or absolute)
    binary: str
    #: about how long it takes on two cores, for the ETA
    seconds: Annotated[int, Field(ge=0, le=86_400)] = 60
    debian_packages: tuple[str, ...] = ()
    #: further files and folders, relative to the manifest or absolute, that are part of the identity
    sources: tuple[str, ...] = ()
    #: kind "none": files and folders that the program reads besides its own folder, relative to the manifest
    #: or absolute; a guest sees nothing else of the host's but the system's programs
    readable: tuple[str, ...] = ()
    #: lock file of PyPI wheels that the build needs (cmake, libclang); the word ``{tools}``
    tools: str | None = None
    environment: dict[str, str] = {}
    #: the lock file (kinds "pypi", "python": requirements with hashes; "maven": coordinates with hashes)
    lock: str | None = None
    #: a Debian suite, and packages of it (name or name=version) to unpack with all that they
    #: depend on into ``{dir}/root``
    suite: str | None = None
    packages: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _whole(self) -> Build:
        if self.kind in ("pypi", "python", "maven") and self.lock is None:
            raise ValueError(f'kind "{self.kind}" needs lock, the file that pins what is fetched: give it')
        if self.kind == "debian" and not self.packages:
            raise ValueError('kind "debian" needs packages: give packages and suite')
        if self.readable and self.kind != "none":
            raise ValueError('readable is for kind "none": remove it')
        if bool(self.packages) != (self.suite is not None):
            raise ValueError("packages and suite go together: give both or neither")
        return self

    @property
    def expected_s(self) -> int:
        """``seconds``, and 0 of a program that is there."""
        return 0 if self.kind == "none" else self.seconds


class File(Frozen):
    """A file rendered for one run: a template in the stack's folder, and its name in ``{work}``."""

    template: str
    to: str


class Role(Frozen):
    """How to run one side."""

    command: tuple[str, ...] = ()
    environment: dict[str, str] = {}
    files: tuple[File, ...] = ()
    #: run it with ``{dir}/root`` as its root folder
    root: bool = False
    #: exit statuses that it may have after SIGTERM, or after its peer's end at the trial's end
    stop_statuses: tuple[Annotated[int, Field(ge=-64, le=255)], ...] = (0,)


class Server(Role):
    """The sender's side."""

    ready: Literal["json", "udp", "tcp"] = "json"
    #: what a client must ask for, where the server does not know ``/N``
    path: str | None = None


class Client(Role):
    """The receiver's side; ``stack`` alone lends another stack's."""

    stack: str | None = None
    #: added to the command for a server with a ``path`` (the word ``{path}``)
    path_arguments: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _own_or_lent(self) -> Client:
        if not self.command and not self.stack:
            raise ValueError("a client needs a program: give command, or the stack whose client it is")
        return self


class Pages(Frozen):
    """How the stack's server serves a folder of files to a browser, and its client loads a page of them."""

    #: "h3" over QUIC, "h2" over TLS and TCP
    alpn: Literal["h3", "h2"]
    #: added to the server's command when its flow loads a page (the word ``{www}``: the folder)
    server: tuple[str, ...] = ()
    #: added to the client's command, where the client can load a page and report its objects
    client: tuple[str, ...] = ()


class Difference(Frozen):
    """What differs in some releases: ``releases`` are limits such as ">=0.57, <0.65"."""

    releases: str
    #: a folder of the stack, whose files take the place of the stack's own
    files: str | None = None
    #: features of the stack's own Cargo package that are on
    features: tuple[str, ...] = ()
    #: CCAs that these releases have besides
    ccas: dict[str, Cca] = {}
    #: in the place of the manifest's
    notes: tuple[str, ...] | None = None

    @field_validator("releases")
    @classmethod
    def _can_be_read(cls, text: str) -> str:
        releases.matches(text, "0.0.0")
        return text


class Releases(Frozen):
    """The package whose releases ``STACK@RELEASE`` names; the build's kind says in which registry."""

    package: str
    #: files in which the manifest's version is replaced by the release
    version_in: tuple[str, ...] = ()
    different: tuple[Difference, ...] = ()

    def differences(self, release: str) -> list[Difference]:
        """Those that apply to a release."""
        return [one for one in self.different if releases.matches(one.releases, release)]


class Manifest(Frozen):
    """One stack, as its manifest states it."""

    name: Annotated[str, Field(pattern=NAME, max_length=100)]
    title: str = ""
    version: str = "unknown"
    licence: str = "unknown"
    language: str = "unknown"
    homepage: str = ""
    protocol: Annotated[
        Literal["quic", "tcp"],
        Field(description='"tcp", or "quic" for QUIC and any other transport over UDP'),
    ] = "quic"
    #: how its programs are called: by these templates, or as the QUIC interop runner does
    convention: Literal["template", "interop-runner"] = "template"
    alpns: tuple[str, ...] = ()
    cca_readback: bool = False
    transport_trace: Literal["log", "qlog", "tcp_probe", "none"] = "none"
    #: why the same seed may not give the same bytes; empty: it does
    nondeterministic: str = ""
    notes: tuple[str, ...] = ()
    ccas: Annotated[dict[str, Cca], Field(min_length=1)]
    #: what ``--set`` sets; absent: not known, so that a study may give any
    options: dict[str, Option] | None = None
    build: Build
    server: Server
    client: Client | None = None
    #: absent: the stack serves no pages
    pages: Pages | None = None
    #: absent: the stack has no releases besides its own
    releases: Releases | None = None

    def at(self, release: str) -> Manifest:
        """The manifest of one release of the stack's package."""
        assert self.releases is not None
        differences = self.releases.differences(release)
        notes = [one.notes for one in differences if one.notes is not None]
        changed = {
            "name": releases.joined(self.name, release),
            "title": f"{self.title or self.name}, {self.releases.package} {release}",
            "version": release,
            "ccas": self.ccas | {name: cca for one in differences for name, cca in one.ccas.items()},
            "notes": notes[-1] if notes else self.notes,
        }
        return self.model_copy(update=changed)

    @model_validator(mode="after")
    def _pinnable(self) -> Manifest:
        if self.releases is not None and self.build.kind not in RELEASED:
            kinds = " or ".join(f'"{kind}"' for kind in RELEASED)
            raise ValueError(f"releases are for a build of kind {kinds}: remove [releases]")
        return self

    @model_validator(mode="after")
    def _runnable(self) -> Manifest:
        if not self.server.command:
            if "command" in self.server.model_fields_set:
                raise ValueError("server.command is empty: give the program and its arguments")
            raise ValueError("server.command is missing: add it below [server]")
        said = [*self.server.command, *self.server.environment.values()]
        told = self.convention == "interop-runner" or any("{qlog}" in text for text in said)
        if self.transport_trace == "qlog" and not told:
            raise ValueError(
                'transport_trace = "qlog": tell the server to write below {qlog}, a folder of the trial\'s'
            )
        return self


def name_of(path: Path) -> str:
    """The name of the stack that ``NAME/manifest.toml`` or ``NAME.toml`` is for."""
    return path.parent.name if path.name == "manifest.toml" else path.stem


def fault(path: Path, place: Place, problem: str, remedy: str) -> ManifestError:
    """The error of a manifest that can be read, but not used: with the line of ``place``."""
    try:
        key = ".".join(step for step in place if isinstance(step, str))
        return ManifestError(str(_file(path).error(place, problem, remedy, key=key)))
    except StudyError as error:
        return ManifestError(str(error))


def _file(path: Path) -> TomlFile:
    return TomlFile(path, "docs/reference/endpoint-contract.md", called="the manifest")


def read(path: Path) -> Manifest:
    """Read and check one manifest: ``NAME/manifest.toml`` or ``NAME.toml``.

    Raises:
        ManifestError: unreadable, not TOML, an unknown or missing key, or a wrong value.
    """
    try:
        file = _file(path)
        manifest = file.build(Manifest, (), file.raw)
        file.refuse([*_wrong_references(manifest, path), *_wrong_words(manifest)])
    except StudyError as error:
        raise ManifestError(str(error)) from error
    named = name_of(path)
    if manifest.name != named:
        what = "folder" if path.name == "manifest.toml" else "file"
        problem = f'is "{manifest.name}", but the {what} is "{named}"'
        raise ManifestError(
            str(file.error(("name",), problem, f'write name = "{named}", or rename the {what}'))
        )
    return manifest


def _all_ccas(manifest: Manifest) -> Iterator[tuple[Place, Cca]]:
    """Every controller with its place, also of single releases."""
    different = manifest.releases.different if manifest.releases else ()
    tables: list[tuple[Place, dict[str, Cca]]] = [(("ccas",), manifest.ccas)]
    tables += [(("releases", "different", index, "ccas"), one.ccas) for index, one in enumerate(different)]
    for place, ccas in tables:
        for name, cca in ccas.items():
            yield (*place, name), cca


def _wrong_references(manifest: Manifest, path: Path) -> Iterator[tuple[Place, str, str]]:
    """References that kernel TCP does not have."""
    kernel = paths.data() / "stacks" / REFERENCE_STACK / "manifest.toml"
    known = frozenset(manifest.ccas) if path == kernel else _references(kernel)
    for place, cca in _all_ccas(manifest):
        if cca.reference is not None and cca.reference not in known:
            remedy = (
                f"{hints.for_name(cca.reference, known, 'the references are')}; without one, leave it out"
            )
            yield (*place, "reference"), f'the kernel has no CCA "{cca.reference}"', remedy


@cache
def _references(kernel: Path) -> frozenset[str]:
    return frozenset(read(kernel).ccas)


def _wrong_words(manifest: Manifest) -> Iterator[tuple[Place, str, str]]:
    """Words in braces that nothing replaces, which the program would get as they are."""
    known = template.WORDS.union(*(cca.values for _, cca in _all_ccas(manifest)))
    texts: list[tuple[Place, str]] = []
    for side, role in (("server", manifest.server), ("client", manifest.client)):
        if role is not None:
            texts += [((side, "command", index), text) for index, text in enumerate(role.command)]
            texts += [((side, "environment", name), text) for name, text in role.environment.items()]
    arguments = manifest.client.path_arguments if manifest.client else ()
    texts += [(("client", "path_arguments", index), text) for index, text in enumerate(arguments)]
    if manifest.pages is not None:
        for side, added in (("server", manifest.pages.server), ("client", manifest.pages.client)):
            texts += [(("pages", side, index), text) for index, text in enumerate(added)]
    for place, text in texts:
        if wrong := template.problem(text, known):
            yield (place, *wrong)
