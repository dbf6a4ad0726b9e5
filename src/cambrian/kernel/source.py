"""Gets the kernel's source: the newest ``linux-source`` of the machine's mirror, or the user's tarball."""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from cambrian import paths, progress
from cambrian.debian import apt_sources
from cambrian.debian.private_apt import KEYRING, AptError, Package, PrivateApt, newer
from cambrian.kernel.model import KernelError, sha256_of

#: the first Linux version whose User-mode Linux has seccomp mode
MINIMUM = (6, 16)
NAME = r"linux-source-(\d+)\.(\d+)"


@dataclass(frozen=True)
class Source:
    """A kernel source archive on disk: a tarball, or a Debian package with a tarball."""

    name: str
    version: str
    archive: Path
    sha256: str


def from_tarball(path: Path) -> Source:
    """A tarball (``.tar``, ``.tar.xz``, ``.tar.gz``…) or a linux-source ``.deb`` that the user names."""
    if not path.is_file():
        raise KernelError(f"no kernel source at {path}: name a linux-*.tar.xz or a linux-source_*.deb")
    return Source(path.name, "", path, sha256_of(path))


def from_mirror(etc_apt: Path = Path("/etc/apt")) -> Source:
    """Download the newest ``linux-source-N.M`` >= 6.16 that the machine's Debian mirror offers.

    Searches the machine's release and its backports, then each later release, and
    takes the newest of the first release that has one. A later release's kernel is no better for
    us, its source changes daily, and its signing keys may be unknown here.
    Raises :class:`KernelError`.
    """
    if shutil.which("apt-get") is None or not KEYRING.is_file():
        raise _not_found(["no apt, or no Debian archive keyring"])
    apt = PrivateApt(paths.cache() / "apt")
    with progress.step("kernel source: searching the Debian mirror") as step:
        offer = _choose(apt, etc_apt, step)
        step.say(f"{offer.package.name} {offer.package.version} from {offer.suite}")
    return _fetch(apt, offer)


@dataclass(frozen=True)
class Offer:
    """A package, and the mirror and suite that have it."""

    package: Package
    mirror: str
    suite: str


def _choose(apt: PrivateApt, etc_apt: Path, step: progress.Step) -> Offer:
    codename = apt_sources.codename()
    try:
        groups = apt_sources.suites(codename)
    except ValueError as error:
        raise _not_found([str(error)]) from error
    mirrors = apt_sources.debian_mirrors(apt_sources.entries(etc_apt), codename)
    tried = [] if mirrors else [f'no archive with "main" of {codename} in {etc_apt}']
    for mirror in mirrors:
        for group in groups:
            offers: list[Offer] = []
            for suite in group:
                step.say(suite)
                try:
                    apt.update(mirror, suite)
                    found = [Offer(package, mirror, suite) for package in apt.versions(NAME)]
                except AptError as error:
                    tried.append(f"{suite}: {explain(str(error))}")
                    continue
                offers += [offer for offer in found if series(offer.package.name) >= MINIMUM]
                tried.append(f"{suite}: no linux-source >= {MINIMUM[0]}.{MINIMUM[1]}")
            if offers:
                return newest(offers)
    raise _not_found(tried)


def newest(offers: list[Offer]) -> Offer:
    """The offer with the highest N.M, then with the latest Debian version."""

    def order(left: Offer, right: Offer) -> int:
        mine, theirs = left.package, right.package
        if series(mine.name) != series(theirs.name):
            return 1 if series(mine.name) > series(theirs.name) else -1
        return newer(mine.version, theirs.version) - newer(theirs.version, mine.version)

    return max(offers, key=functools.cmp_to_key(order))


def series(name: str) -> tuple[int, int]:
    """(N, M) of a package name ``linux-source-N.M``; (0, 0) for another name."""
    found = re.fullmatch(NAME, name)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def version_numbers(text: str) -> tuple[int, ...]:
    """The numbers of a kernel version, for comparing: "7.3.4" → (7, 3, 4)."""
    return tuple(int(number) for number in re.findall(r"\d+", text))


def explain(message: str) -> str:
    """The reason why a suite's lists could not be downloaded, in one line, from apt's message."""
    if "NO_PUBKEY" in message or "not signed" in message:
        return f"signed with a key that {KEYRING} lacks: install a newer debian-archive-keyring"
    if "does not have a Release file" in message:
        return "not on this mirror"
    return message.splitlines()[-1] if message else "apt gave no reason"


def _not_found(tried: list[str]) -> KernelError:
    reasons = "".join(f"\n  {reason}" for reason in tried)
    return KernelError(
        f"no linux-source package >= {MINIMUM[0]}.{MINIMUM[1]} found:{reasons}\n"
        "Name a kernel tarball instead: CAMBRIAN_KERNEL_SOURCE=/path/to/linux-N.M.tar.xz"
    )


def _fetch(apt: PrivateApt, offer: Offer) -> Source:
    """The package's file in the cache. It is kept, because a rebuild needs only this file, and mirrors
    delete superseded versions; then the same kernel could not be built again."""
    package = offer.package
    target = paths.cache() / "kernel" / "source" / f"{package.name}_{package.sha256[:16]}.deb"
    if not target.is_file() or sha256_of(target) != package.sha256:
        arriving = target.with_suffix(".new")
        shutil.rmtree(arriving, ignore_errors=True)
        title = f"kernel source: {package.name} ({package.size_bytes / 1e6:.0f} MB)"
        apt.select(offer.mirror, offer.suite)
        try:
            with progress.step(title, total=package.size_bytes) as step:
                apt.download(package, arriving, step.reach).rename(target)
        except AptError as error:
            raise KernelError(f"cannot download {package.name} {package.version}: {error}") from error
        finally:
            shutil.rmtree(arriving, ignore_errors=True)
    return Source(package.name, package.version, target, sha256_of(target))


def unpack(source: Source, folder: Path) -> None:
    """Unpack the source's top folder into the new folder ``folder``. Raises :class:`KernelError`."""
    folder.mkdir(parents=True)
    untar = ["tar", "--extract", "--strip-components=1", "--no-same-owner", "--directory", str(folder)]
    if source.archive.suffix != ".deb":
        stages = [[*untar, "--file", str(source.archive)]]
    else:
        inner = ["tar", "--extract", "--to-stdout", "--wildcards", "./usr/src/linux-source-*.tar.xz"]
        stages = [["dpkg-deb", "--fsys-tarfile", str(source.archive)], inner, [*untar, "--xz"]]
    statuses = _pipe(stages)
    if any(statuses) or not (folder / "arch" / "um" / "Kconfig").is_file():
        raise KernelError(f"{source.archive} does not unpack to a Linux source tree with arch/um")


def _pipe(stages: list[list[str]]) -> list[int]:
    processes: list[subprocess.Popen[bytes]] = []
    previous = None
    for index, argv in enumerate(stages):
        last = index == len(stages) - 1
        process = subprocess.Popen(
            argv,
            stdin=previous if previous is not None else subprocess.DEVNULL,
            stdout=None if last else subprocess.PIPE,
        )
        if previous is not None:
            # close our end, so that the earlier program notices when the later one ends
            previous.close()
        previous = process.stdout
        processes.append(process)
    return [process.wait() for process in processes]
