"""apt with lists, cache and sources of its own: it asks the machine's mirror, and leaves its apt as it is.

Works for any user. The machine's ``Acquire`` settings (proxies, certificates) still hold;
its hooks do not run.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")


class AptError(RuntimeError):
    """apt said no; the text is what it said."""


@dataclass(frozen=True)
class Package:
    """One version of one package that the lists offer."""

    name: str
    version: str
    size_bytes: int
    sha256: str


class PrivateApt:
    """An apt of our own below ``root`` (created as needed)."""

    def __init__(self, root: Path) -> None:
        self._root = root
        for folder in ("lists/partial", "cache/archives/partial", "etc"):
            (root / folder).mkdir(parents=True, exist_ok=True)
        (root / "status").touch()
        self._sources = root / "etc" / "sources.list"
        self._config = root / "etc" / "apt.conf"
        self._config.write_text(self._settings())

    def _settings(self) -> str:
        machine = subprocess.run(["apt-config", "dump"], capture_output=True, text=True, check=True).stdout
        kept = [line for line in machine.splitlines() if line.startswith("Acquire::")]
        own = {
            "Dir::Etc::main": "/dev/null",
            "Dir::Etc::parts": "/dev/null",
            "Dir::Etc::sourcelist": self._sources,
            "Dir::Etc::sourceparts": "/dev/null",
            "Dir::Etc::preferences": "/dev/null",
            "Dir::Etc::preferencesparts": "/dev/null",
            "Dir::State": self._root,
            "Dir::State::lists": self._root / "lists",
            "Dir::State::status": self._root / "status",
            "Dir::Cache": self._root / "cache",
            # As root, apt would drop to a user who cannot write below our cache.
            "APT::Sandbox::User": "root",
            # Only the package lists: no translations, no software-centre data.
            "Acquire::Languages": "none",
            "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled": "false",
            "Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled": "false",
            # Several suites take turns in sources.list; each one's lists stay.
            "APT::Get::List-Cleanup": "false",
        }
        kept = [line for line in kept if not line.startswith(tuple(own))]
        return "\n".join([*kept, *(f'{name} "{value}";' for name, value in own.items())]) + "\n"

    def select(self, mirror: str, *suites: str) -> None:
        """From here on, speak of these suites' "main", as their lists were last fetched."""
        lines = [f"deb [signed-by={KEYRING}] {mirror} {suite} main\n" for suite in suites]
        self._sources.write_text("".join(lines))

    def update(self, mirror: str, *suites: str) -> None:
        """Select suites and fetch their lists anew. Raises :class:`AptError`."""
        self.select(mirror, *suites)
        self._apt("apt-get", "-q", "--error-on=any", "update")

    def versions(self, pattern: str) -> list[Package]:
        """Packages whose whole name matches ``pattern``, every version that the lists offer."""
        names = self._apt("apt-cache", "pkgnames").split()
        wanted = [name for name in names if re.fullmatch(pattern, name)]
        if not wanted:
            return []
        return list(parse_records(self._apt("apt-cache", "show", "--all-versions", *wanted)))

    def download(self, package: Package, folder: Path, on_bytes: Callable[[int], None]) -> Path:
        """Fetch one package into ``folder``; apt checks its hash. ``on_bytes`` gets the bytes so far.

        Raises :class:`AptError`.
        """
        folder.mkdir(parents=True, exist_ok=True)
        process = subprocess.Popen(
            ["apt-get", "-q", "download", f"{package.name}={package.version}"],
            cwd=folder,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            while process.poll() is None:
                on_bytes(sum(path.stat().st_size for path in folder.glob(f"{package.name}_*.deb*")))
                try:
                    process.wait(0.5)
                except subprocess.TimeoutExpired:
                    continue
        finally:
            process.kill()
            _, errors = process.communicate()
        found = sorted(folder.glob(f"{package.name}_*.deb"))
        if process.returncode or len(found) != 1:
            raise AptError(errors.strip() or f"apt-get download left no {package.name} package")
        return found[0]

    def download_with_dependencies(self, names: Sequence[str], suite: str) -> list[Path]:
        """Fetch ``names`` (or name=version) and all that they depend on, as for an empty machine.

        Where several suites are selected, ``suite`` is preferred. The files lie in our cache, for the
        caller to take. Raises :class:`AptError`.
        """
        archives = self._root / "cache" / "archives"
        for left in archives.glob("*.deb"):
            left.unlink()
        argv = ["apt-get", "-q", "--assume-yes", "--download-only", "--no-install-recommends"]
        self._apt(*argv, "--target-release", suite, "install", *names)
        return sorted(archives.glob("*.deb"))

    def _environment(self) -> dict[str, str]:
        return os.environ | {"APT_CONFIG": str(self._config), "LC_ALL": "C"}

    def _apt(self, *argv: str) -> str:
        answer = subprocess.run(
            argv,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if answer.returncode:
            raise AptError(answer.stderr.strip() or f"{argv[0]} ended with status {answer.returncode}")
        return answer.stdout


def parse_records(text: str) -> list[Package]:
    """Packages of ``apt-cache show``'s records."""
    found = []
    for record in text.split("\n\n"):
        fields = dict(re.findall(r"^(Package|Version|Size|SHA256): (.*)$", record, re.MULTILINE))
        if len(fields) == 4:
            found.append(Package(fields["Package"], fields["Version"], int(fields["Size"]), fields["SHA256"]))
    return found


def newer(left: str, right: str) -> bool:
    """Whether one Debian version is later than another, as dpkg sees it."""
    return subprocess.run(["dpkg", "--compare-versions", left, "gt", right], check=False).returncode == 0
