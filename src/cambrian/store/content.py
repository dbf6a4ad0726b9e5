"""The content of a results directory, to compare two of them: equal studies leave equal content."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from cambrian.store import sums

#: what a manifest says about the machine's speed
_TIMES = ("wall_s", "cpu_s", "speed")


def content(folder: Path) -> dict[str, str]:
    """Path → SHA-256 of ``study.json`` and of every file of every finished trial.

    Of a manifest, all but the times that the trial took on this machine; they and the files' hashes
    (``SHA256SUMS``) are all that differs between two runs of the same trial.
    """
    trials = (path for path in (folder / "trials").glob("*") if not path.name.startswith("."))
    files = [
        path for trial in trials for path in trial.rglob("*") if path.is_file() and path.name != sums.NAME
    ]
    return {
        path.relative_to(folder).as_posix(): _hash(path) for path in sorted([folder / "study.json", *files])
    }


def _hash(path: Path) -> str:
    content = path.read_bytes()
    if path.name == "manifest.json":
        manifest = json.loads(content)
        content = json.dumps({key: value for key, value in manifest.items() if key not in _TIMES}).encode()
    return hashlib.sha256(content).hexdigest()
