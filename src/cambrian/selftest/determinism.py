"""Checks that a trial gives the same bytes under load, in another folder, and for another user."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import cambrian
from cambrian import paths
from cambrian.selftest.bench import CONTESTANTS, Bench, busy_cores, flow, packets_sha256, trial
from cambrian.selftest.check import Check
from cambrian.stacks import catalogue
from cambrian.study.model import Network, Trial

NETWORK = Network(rate_mbps=20, rtt_ms=50, buffer_bdp=1)
DURATION_S = 8
#: repeats with idle cores, and with all cores busy
IDLE, BUSY = 3, 2
#: as nobody, in a user namespace: the program has another user id and no privileges, but can
#: read a checkout and a cache that only their owner may read; bubblewrap needs the group
AS_OTHER_USER = ("unshare", "--user", "--map-user=65534", "--map-group=65534")


def _duels() -> list[Trial]:
    known = catalogue.load()
    return [
        trial(
            NETWORK,
            flow(stack, cca),
            flow("tcp", known[stack].manifest.ccas[cca].reference or "cubic", 500),
            duration_s=DURATION_S,
            seed=7,
        )
        for stack, ccas in CONTESTANTS.items()
        if stack in known
        for cca in ccas
    ]


def checks(bench: Bench) -> Iterator[Check]:
    """One row per contestant, and one for another folder and user."""
    duels = _duels()
    hashes: list[list[str]] = [[] for _ in duels]
    for repeat in range(IDLE):
        for number, result in enumerate(bench.run(duels, f"idle{repeat}")):
            hashes[number].append(packets_sha256(result))
    with busy_cores():
        for repeat in range(BUSY):
            for number, result in enumerate(bench.run(duels, f"busy{repeat}")):
                hashes[number].append(packets_sha256(result))
    for duel, seen in zip(duels, hashes, strict=True):
        name = duel.flows[0].contestant.name
        yield Check(
            f"determinism: {name}",
            f"one packet trace in {IDLE} idle and {BUSY} busy runs",
            f"{len(set(seen))} ({seen[0][:12]})",
            len(set(seen)) == 1,
        )
    yield from _elsewhere(bench, duels, [seen[0] for seen in hashes])


def _elsewhere(bench: Bench, duels: list[Trial], expected: list[str]) -> Iterator[Check]:
    """Repeat each duel from another checkout in another folder, with another user id and environment."""
    name = "determinism: other checkout, other user"
    wanted = "the same packet traces"
    # without the wall of the expected trials the packets would be others
    program = bench.made.wall.program
    walled = [program, "--ro-bind", "/", "/", "--unshare-user", "--"] if program else []
    if subprocess.run([*AS_OTHER_USER, *walled, "true"], capture_output=True, check=False).returncode:
        missing = "user namespaces, or none within them"
        yield Check(name, wanted, f"not checked: this machine does not allow {missing}", None)
        return
    folder = bench.folder / "elsewhere" / "a-folder" / "of-another-name"
    folder.mkdir(parents=True)
    _copy_checkout(folder / "checkout")
    differing = []
    for duel, hash_before in zip(duels, expected, strict=True):
        seen = _as_other_user(duel, folder)
        if seen != hash_before:
            differing.append(f"{duel.flows[0].contestant.name}: {seen[:60]}")
    yield Check(
        name,
        wanted,
        f"{len(duels) - len(differing)} of {len(duels)} the same {'; '.join(differing)}".strip(),
        not differing,
    )


def _copy_checkout(to: Path) -> None:
    """Copy the code, and the data that a trial needs, to the places that they have in a checkout."""
    code = Path(cambrian.__file__).parent
    shutil.copytree(code, to / "src" / "cambrian", ignore=shutil.ignore_patterns("__pycache__", "share"))
    for folder in ("stacks", "kernel", "studies"):
        shutil.copytree(paths.data() / folder, to / folder, ignore=shutil.ignore_patterns("__pycache__"))


def _other_environment(home: Path) -> dict[str, str]:
    """The other user's environment: few variables, with the other checkout and the same cache."""
    kept = {
        name: os.environ[name]
        for name in ("PATH", "CAMBRIAN_KERNEL", "CAMBRIAN_STACKS")
        if name in os.environ
    }
    tools = {
        name: os.environ.get(name, str(Path.home() / folder))
        for name, folder in (("RUSTUP_HOME", ".rustup"), ("CARGO_HOME", ".cargo"))
    }
    return (
        kept
        | tools
        | {
            "HOME": str(home),
            "CAMBRIAN_CACHE": str(paths.cache()),
            "PYTHONPATH": str(home.parent / "checkout" / "src"),
        }
    )


def _as_other_user(duel: Trial, folder: Path) -> str:
    """Packet hash of ``cambrian trial`` run as nobody; if it fails, its last line of standard error."""
    description = folder / "trial.json"
    description.write_text(duel.model_dump_json())
    home = folder / "home"
    home.mkdir(exist_ok=True)
    results = home / "results"
    shutil.rmtree(results, ignore_errors=True)
    answer = subprocess.run(
        [*AS_OTHER_USER, sys.executable, "-m", "cambrian", "trial", str(description), "--out", str(results)],
        cwd=home,
        env=_other_environment(home),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    try:
        return str(json.loads(answer.stdout)["packets_sha256"])
    except (ValueError, KeyError):
        return (answer.stderr.strip().splitlines() or [f"status {answer.returncode}"])[-1]
