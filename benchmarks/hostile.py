"""What can a hostile endpoint use, and what can it read? Each kind of attack in a trial of its own.

    .venv/bin/python benchmarks/hostile.py [--only NAME ...]

The programs of ``tests/misbehaving-stacks`` run one after another, each beside quinn, for 6 s of virtual
time. A row a program: seconds of wall clock and processor; the most memory that the trial's processes used at
one time (proportional set size, so that shared pages count once); the most disk that its folders used at one
time; the first reason of the trial's verdict. ``all`` tries everything that must be denied.

The trials run with a home folder of their own. A file in it and a variable of the environment have a secret
text. The exit status is 1 if a trial is valid, if the secret is in a file of the results, if the home folder
has changed, or if a process is left. Run it as root and as an ordinary user.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import secrets
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from cambrian import paths
from cambrian.study.model import Contestant, Flow, Network, Trial
from cambrian.trial import wall

PROGRAMS = Path(__file__).parents[1] / "tests" / "misbehaving-stacks"
NETWORK = Network(rate_mbps=20, rtt_ms=50, buffer_bdp=1)
DURATION_S = 6.0
#: how often memory and disk are looked at
EVERY_S = 0.2
#: how long processes may take to follow their parent
FOLLOW_S = 20.0
MIB = 2**20


def attacks() -> dict[str, Contestant]:
    """Name → contestant: all attacks of the program ``hostile``, then the other programs."""
    source = (PROGRAMS / "hostile" / "hostile.py").read_text()
    functions = re.findall(r"^(@must_be_denied\n)?def (\w+)\(\) -> None", source, re.MULTILINE)
    alone = [name for denied, name in functions if not denied and name not in ("everything", "ready", "main")]
    found = {
        name: Contestant(stack="hostile", cca="none", options={"attack": name}) for name in ("all", *alone)
    }
    others = sorted(file.parent.name for file in PROGRAMS.glob("*/manifest.toml"))
    return found | {name: Contestant(stack=name, cca="none") for name in others if name != "hostile"}


@dataclass
class Use:
    """What a run used at most, and its processes."""

    memory_bytes: int = 0
    disk_bytes: int = 0
    processor_s: dict[int, float] = field(default_factory=dict)
    seen: set[psutil.Process] = field(default_factory=set)

    def look(self, pid: int, folder: Path) -> None:
        """Measure the processes that descend from ``pid``, and the files below ``folder``."""
        with suppress(psutil.Error):
            now = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
            self.seen |= set(now)
            memory = 0
            for one in now:
                with suppress(psutil.Error):
                    memory += one.memory_full_info().pss
                    times = one.cpu_times()
                    self.processor_s[one.pid] = times.user + times.system
            self.memory_bytes = max(self.memory_bytes, memory)
        self.disk_bytes = max(self.disk_bytes, _used_bytes(folder))


def _used_bytes(folder: Path) -> int:
    used = 0
    for top, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                used += (Path(top) / name).lstat().st_blocks * 512
    return used


@dataclass(frozen=True)
class Row:
    """One attack's outcome."""

    verdict: str
    wall_s: float
    use: Use
    broken: list[str]


def run(contestant: Contestant, folder: Path) -> Row:
    """Run the trial of one attacker in ``folder`` and look for what it did outside."""
    text = f"canary-{secrets.token_hex(16)}"
    home, out, temporary = (folder / name for name in ("home", "out", "tmp"))
    for place in (home, temporary):
        place.mkdir(parents=True)
    canary = home / "secret"
    canary.write_text(text)
    canary.chmod(0o600)
    if contestant.stack == "hostile":
        options = {**dict(contestant.options), "canary": str(canary)}
        contestant = contestant.model_copy(update={"options": options})
    rival = Contestant(stack="quinn", cca="cubic")
    flows = (Flow(contestant=contestant), Flow(contestant=rival))
    description = folder / "trial.json"
    description.write_text(
        Trial(network=NETWORK, flows=flows, duration_s=DURATION_S, seed=1).model_dump_json()
    )
    own = {"HOME": str(home), "TMPDIR": str(temporary), "SECRET": text}
    own |= {"CAMBRIAN_CACHE": str(paths.cache()), "CAMBRIAN_STACKS": str(PROGRAMS)}
    tools = {"RUSTUP_HOME": ".rustup", "CARGO_HOME": ".cargo"}
    own |= {name: os.environ.get(name, str(Path.home() / place)) for name, place in tools.items()}
    began = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-m", "cambrian", "trial", str(description), "--out", str(out)],
        env=os.environ | own,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    said: list[str] = []
    assert process.stdout is not None
    reader = threading.Thread(target=said.extend, args=(process.stdout,))
    reader.start()
    use = Use()
    while process.poll() is None:
        use.look(process.pid, folder)
        time.sleep(EVERY_S)
    took_s = time.monotonic() - began
    reader.join()
    broken = [f"the process {name} is left" for name in _left(use)]
    verdicts = [json.loads(file.read_text()) for file in out.rglob("verdict.json")]
    if len(verdicts) != 1:
        broken.append(f"{len(verdicts)} trials kept: {' '.join(said[-3:]).strip()}")
    verdict: dict[str, Any] = verdicts[0] if verdicts else {"valid": False, "reasons": ["no trial"]}
    if verdict["valid"]:
        broken.append("the trial is valid")
    broken += [f"the secret is in {file.name}" for file in _having(text, out)]
    if canary.read_text() != text or [file.name for file in home.iterdir()] != [canary.name]:
        broken.append("the home folder has changed")
    return Row("valid" if verdict["valid"] else verdict["reasons"][0], took_s, use, broken)


def _having(text: str, folder: Path) -> Iterator[Path]:
    """The files that have ``text`` in them."""
    for file in (one for one in folder.rglob("*") if one.is_file() and not one.is_symlink()):
        if text.encode() in file.read_bytes():
            yield file


def _left(use: Use) -> list[str]:
    """The processes that are still there, after a while."""
    deadline = time.monotonic() + FOLLOW_S
    while (alive := [one for one in use.seen if one.is_running()]) and time.monotonic() < deadline:
        time.sleep(0.2)
    names = []
    for one in alive:
        with suppress(psutil.Error):
            names.append(f"{one.pid} ({one.name()})")
    return names


def main() -> None:
    """Print a row an attack."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", action="append", metavar="NAME", choices=list(attacks()))
    asked = parser.parse_args()
    if (found := wall.find()).program is None:
        raise SystemExit(f"no wall here: {found.why}")
    chosen = {name: one for name, one in attacks().items() if asked.only is None or name in asked.only}
    print(f"as {'root' if os.geteuid() == 0 else 'an ordinary user'}, {len(chosen)} kinds\n")
    print("| attack | wall s | processor s | memory MiB | disk MiB | verdict |", "|---" * 6 + "|", sep="\n")
    wrong = 0
    for name, contestant in chosen.items():
        with tempfile.TemporaryDirectory(prefix="cambrian-hostile-", dir=os.environ.get("TMPDIR")) as folder:
            row = run(contestant, Path(folder))
        use = row.use
        verdict = " ".join(row.verdict.split()).replace("|", "\\|")
        words = "; ".join([*(f"BROKEN: {each}" for each in row.broken), verdict])
        numbers = (sum(use.processor_s.values()), use.memory_bytes / MIB, use.disk_bytes / MIB)
        print(
            f"| {name} | {row.wall_s:.1f} |",
            " | ".join(f"{value:.0f}" for value in numbers),
            f"| {words[:160]} |",
            flush=True,
        )
        wrong += bool(row.broken)
    print(f"\n{wrong} of {len(chosen)} broken")
    raise SystemExit(1 if wrong else 0)


if __name__ == "__main__":
    main()
