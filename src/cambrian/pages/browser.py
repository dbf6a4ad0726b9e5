"""Finds the installed Chromium: its program (instead of a distribution's wrapper), version and hash."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from cambrian import paths
from cambrian.command import MissingTool

#: commands that start Chromium or Chrome, in order of preference
COMMANDS = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
#: paths of the programs that the wrappers of packages start
_BEHIND_WRAPPERS = (
    "/usr/lib/chromium/chromium",
    "/usr/lib/chromium-browser/chromium-browser",
    "/opt/google/chrome/chrome",
)
_ELF = b"\x7fELF"
REMEDY = "apt-get install chromium"


@dataclass(frozen=True)
class Browser:
    """The program that loads pages; ``identity`` is its part in a trial's identity."""

    path: Path
    version: str
    sha256: str

    @property
    def identity(self) -> str:
        """Version and hash."""
        return f"{self.version} {self.sha256}"


def _is_program(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(_ELF)) == _ELF
    except OSError:
        return False


def _program() -> Path:
    named = [Path(found).resolve() for name in COMMANDS if (found := shutil.which(name))]
    beside = [path.with_name(name) for path in named for name in ("chrome", "chromium")]
    candidates = named + beside + ([Path(text) for text in _BEHIND_WRAPPERS] if named else [])
    program = next((path for path in candidates if _is_program(path)), None)
    if program is None:
        what = 'no Chromium on PATH to load pages (client = "light" does not need it)'
        raise MissingTool(what, REMEDY)
    return program


def _version(path: Path) -> str:
    text = subprocess.run([path, "--version"], capture_output=True, text=True, check=False, timeout=60).stdout
    numbers = re.search(r"\d+(\.\d+)+", text)
    if numbers is None:
        raise MissingTool(f"{path} --version prints no version", REMEDY)
    return numbers[0]


@cache
def find() -> Browser:
    """The browser on this machine.

    Its hash takes a second to compute; the cache keeps it until the program changes.

    Raises:
        MissingTool: no browser is installed.
    """
    path = _program()
    state = path.stat()
    stamp = [str(path), state.st_size, state.st_mtime_ns]
    note = paths.cache() / "browser.json"
    try:
        kept = json.loads(note.read_text())
        if kept["stamp"] == stamp:
            return Browser(path, kept["version"], kept["sha256"])
    except (OSError, ValueError, KeyError):
        pass
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    version = _version(path)
    note.parent.mkdir(parents=True, exist_ok=True)
    partial = note.with_suffix(f".{digest[:8]}")
    partial.write_text(json.dumps({"stamp": stamp, "version": version, "sha256": digest}))
    partial.rename(note)
    return Browser(path, version, digest)
