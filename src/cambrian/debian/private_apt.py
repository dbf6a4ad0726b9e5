"""apt with its own lists, cache and sources: it uses the machine's mirror without changing the machine's apt.

Works for any user. The machine's ``Acquire`` settings (proxies, certificates) apply;
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
    """apt failed; the text is apt's message."""


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
            # as root, apt would change to a user who cannot write to our cache
            "APT::Sandbox::User": "root",
            # only the package lists: no translations, no software-centre data
            "Acquire::Languages": "none",
            "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled": "false",
            "Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled": "false",
            # sources.list changes between suites; keep the lists of all suites
            "APT::Get::List-Cleanup": "false",
        }
        kept = [line for line in kept if not line.startswith(tuple(own))]
        return "\n".join([*kept, *(f'{name} "{value}";' for name, value in own.items())]) + "\n"

    def select(self, mirror: str, *suites: str) -> None:
        """Use "main" of these suites from now on, with the lists of their last update."""
        lines = [f"deb [signed-by={KEYRING}] {mirror} {suite} main\n" for suite in suites]
        self._sources.write_text("".join(lines))

    def update(self, mirror: str, *suites: str) -> None:
        """Select suites and download their lists. Raises :class:`AptError`."""
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
        """Download one package into ``folder``; apt checks its hash. ``on_bytes`` gets the bytes so far.

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
            raise AptError(errors.strip() or f"apt-get download wrote no {package.name} package")
        return found[0]

    def download_with_dependencies(self, names: Sequence[str], suite: str) -> list[Path]:
        """Download ``names`` (or name=version) and all dependencies, as for a machine without packages.

        Among several selected suites, ``suite`` is preferred. The files are in our cache until the
        caller moves or deletes them. Raises :class:`AptError`.
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
    """Whether the Debian version ``left`` is later than ``right``, by dpkg's order."""
    return subprocess.run(["dpkg", "--compare-versions", left, "gt", right], check=False).returncode == 0
