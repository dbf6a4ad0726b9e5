"""Reads a machine's apt sources: its Debian mirror and its release.

Reads both formats of sources.list(5): one line per entry, and deb822 stanzas. Pure
functions of texts and of a folder with the structure of /etc/apt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

#: Debian's releases in order, beginning with the oldest that has Python >= 3.11
RELEASES = ("bookworm", "trixie", "forky", "duke", "sid")
#: suite names that mean a release, which changes over time
ALIASES = ("stable", "testing", "unstable")


@dataclass(frozen=True)
class Entry:
    """One archive and one suite of it, binary packages only."""

    uri: str
    suite: str
    components: tuple[str, ...]


def entries(etc_apt: Path) -> list[Entry]:
    """All entries of ``sources.list`` and ``sources.list.d`` below ``etc_apt``, in apt's order."""
    found: list[Entry] = []
    parts = etc_apt / "sources.list.d"
    extra = sorted(parts.iterdir()) if parts.is_dir() else []
    for path in [etc_apt / "sources.list", *extra]:
        if not path.is_file():
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        if path.suffix == ".list":
            found += one_line(text)
        elif path.suffix == ".sources":
            found += deb822(text)
    return found


def one_line(text: str) -> Iterator[Entry]:
    """Entries of the ``deb [options] uri suite component…`` format."""
    for raw in text.splitlines():
        line = re.sub(r"\[[^]]*\]", " ", raw.partition("#")[0])
        words = line.split()
        if len(words) >= 3 and words[0] == "deb":
            yield Entry(words[1], words[2], tuple(words[3:]))


def deb822(text: str) -> Iterator[Entry]:
    """Entries of the stanza format; a stanza may name several archives and suites."""
    # comment lines can be inside a stanza, so they are removed before the text is split
    kept = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    for stanza in re.split(r"\n\s*\n", kept):
        fields = _fields(stanza)
        enabled = fields.get("enabled", "yes").lower() not in ("no", "false")
        if not enabled or "deb" not in fields.get("types", "").split():
            continue
        for uri in fields.get("uris", "").split():
            for suite in fields.get("suites", "").split():
                yield Entry(uri, suite, tuple(fields.get("components", "").split()))


def _fields(stanza: str) -> dict[str, str]:
    fields: dict[str, str] = {}
    name = ""
    for line in stanza.splitlines():
        if line[:1].isspace() and name:
            fields[name] += " " + line.strip()
        elif ":" in line:
            name, _, value = line.partition(":")
            name = name.strip().lower()
            fields[name] = value.strip()
    return fields


def debian_mirrors(all_entries: list[Entry], codename: str) -> list[str]:
    """URIs that are probably mirrors of the Debian archive, most probable first, each once.

    A mirror serves the machine's release with the component "main". Security archives
    have no ``linux-source`` of other suites. Third parties may use Debian's suite names,
    so paths ending in /debian come first; the archive's signature decides in the end.
    """
    wanted = {codename, *ALIASES}
    uris = [
        entry.uri.rstrip("/")
        for entry in all_entries
        if entry.suite in wanted
        and "main" in entry.components
        and "security" not in entry.uri
        and not entry.uri.startswith("cdrom:")
    ]
    return sorted(dict.fromkeys(uris), key=lambda uri: not uri.endswith("/debian"))


def codename() -> str:
    """The machine's Debian release; "sid" if it has no codename, as in unstable."""
    text = Path("/etc/os-release").read_text(encoding="utf-8")
    found = re.search(r'^VERSION_CODENAME="?([a-z]+)', text, re.MULTILINE)
    return found[1] if found else "sid"


def suites(codename: str) -> list[tuple[str, ...]]:
    """Suites to search, one group per release: the machine's with its backports, then each later release.

    Raises ValueError for an unknown release.
    """
    if codename not in RELEASES:
        raise ValueError(f"{codename!r} is not one of the Debian releases {', '.join(RELEASES)}")
    later = RELEASES[RELEASES.index(codename) :]
    return [(name,) if name == "sid" else (name, f"{name}-backports") for name in later]
