"""Unpacks Debian packages with their dependencies into a folder: a small root file system.

For programs and libraries of Debian that the machine may not have. The packages' scripts do not
run, so nothing is configured or installed. Requested packages can be pinned
(``name=version``); their dependencies have the suite's current versions, which are recorded.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from filelock import FileLock

from cambrian import paths
from cambrian.debian import apt_sources
from cambrian.debian.private_apt import AptError, PrivateApt

SOURCES = Path("/etc/apt")
_USERS = {
    "passwd": "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
    "group": "root:x:0:\nnogroup:x:65534:\n",
}


def unpack(names: Sequence[str], suite: str, to: Path, *, log: Path, say: Callable[[str], None]) -> list[str]:
    """Download ``names`` of ``suite`` and unpack them and their dependencies into ``to``.

    Without recommended packages. Returns "name version sha256" of each package, sorted by name.
    Raises :class:`AptError` if no mirror has them; the text says what was tried.
    """
    home = paths.cache() / "apt-stacks" / suite
    home.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{home}.lock"):
        apt = PrivateApt(home)
        archives = _fetch(apt, names, suite, say)
        to.mkdir(parents=True)
        say(f"unpacking {len(archives)} packages")
        with log.open("ab") as sink:
            for archive in archives:
                subprocess.run(
                    ["dpkg-deb", "--extract", str(archive), str(to)], stdout=sink, stderr=sink, check=True
                )
        _add_users(to)
        records = [_record(archive) for archive in archives]
        for archive in archives:
            archive.unlink()
    return sorted(records)


def _add_users(root: Path) -> None:
    """Add the users that the packages' scripts would create and that programs need."""
    for name, lines in _USERS.items():
        path = root / "etc" / name
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            path.write_text(lines)


def _record(archive: Path) -> str:
    fields = ["dpkg-deb", "--showformat", "${Package} ${Version}", "--show", str(archive)]
    named = subprocess.run(fields, capture_output=True, text=True, check=True).stdout
    digest = subprocess.run(["sha256sum", str(archive)], capture_output=True, text=True, check=True).stdout
    return f"{named} {digest.split()[0]}"


def _fetch(apt: PrivateApt, names: Sequence[str], suite: str, say: Callable[[str], None]) -> list[Path]:
    release = suite.partition("-")[0]
    codename = apt_sources.codename()
    tried = []
    for mirror in apt_sources.debian_mirrors(apt_sources.entries(SOURCES), codename):
        try:
            say(f"lists of {suite}")
            apt.update(mirror, *dict.fromkeys((release, suite)))
            say(f"fetching {', '.join(names)}")
            return apt.download_with_dependencies(names, suite)
        except AptError as error:
            tried.append(str(error))
    reasons = "; ".join(tried) or "this machine's apt sources have no Debian mirror"
    raise AptError(f"cannot download {', '.join(names)} of Debian {suite}: {reasons}")
