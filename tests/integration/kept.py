"""Trials that are the material of a test about pages: kept in the cache for the next run of the tests."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
import time
from pathlib import Path

from cambrian import paths
from cambrian.run import prepare
from cambrian.store.results import Results
from cambrian.study.reference import REFERENCE_STACK
from tests.integration.runs import quickly

#: what no run of the tests has used for so long is removed
_MOST_AGE_S = 30 * 86_400


def run(study: str, out: Path) -> None:
    """Run a study of kernel TCP, given as TOML, into the folder ``out``, which may have some of its trials.

    Trials of an earlier run of the tests are taken from the cache, if the study, the kernel and all code that
    decides a trial's identity are the same. The command checks each identity, and runs what is not there.
    """
    software = prepare.ensure({REFERENCE_STACK}).hashes([REFERENCE_STACK])
    named_by = json.dumps([study, software], sort_keys=True).encode()
    home = paths.cache() / "tests" / hashlib.sha256(named_by).hexdigest()[:16]
    home.mkdir(parents=True, exist_ok=True)
    os.utime(home)
    for old in home.parent.iterdir():
        if old.stat().st_mtime < time.time() - _MOST_AGE_S:
            shutil.rmtree(old, ignore_errors=True)
    for trial in home.glob("[!.]*"):
        shutil.copytree(trial, out / "trials" / trial.name, dirs_exist_ok=True)
    place = out.with_suffix(".toml")
    place.write_text(study)
    ran = quickly(out.parent, "run", place.name, "--out", out.name, "--jobs", "1")
    assert ran.returncode == 0, ran.stderr
    for group in Results(out).study()["groups"]:
        for name in group["trials"]:
            _keep(out / "trials" / name, home)


def _keep(trial: Path, home: Path) -> None:
    """Copy a trial into a folder of the cache, where it appears whole or not at all."""
    if (home / trial.name).is_dir():
        return
    fresh = Path(tempfile.mkdtemp(dir=home, prefix=".new-"))
    try:
        shutil.copytree(trial, fresh / trial.name)
        try:
            (fresh / trial.name).rename(home / trial.name)
        except OSError:
            # another process was faster; its trial is the same
            if not (home / trial.name).is_dir():
                raise
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
