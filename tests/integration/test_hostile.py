"""A hostile endpoint harms no trial but its own: not its rival, not the results, not the host."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from cambrian.store.results import TrialResult
from cambrian.trial import wall
from tests.integration.conftest import MISBEHAVING, RunTrials, duel, flow

pytestmark = pytest.mark.skipif(wall.find().program is None, reason=f"no wall here: {wall.find().why}")

#: attack → a part of the reason that its trial is invalid
CONTAINED = {
    "fifo": "is no regular file but a pipe",
    "endless_link": "is no regular file but a symbolic link",
    "private_link": "is no regular file but a symbolic link",
    "sparse_log": "MiB, more than 1024 MiB",
    "deep_folders": "ended with status 1",
    "deep_json": "never sent a packet",
    "no_object": "never sent a packet",
    "wrong_types": 'wrote an event with time_ns = "soon"',
    "large_number": "which must be a whole number",
    "wrong_log": "its first line is 'time_ns,event', not",
    "lies": "was asked for none and runs bbr",
    "stops": "never sent a packet",
    "floods_rival": "never sent a packet",
}
#: attacks that use much time, memory or disk until they meet their limit
LARGE = {
    "floods_log": "MiB",
    "floods_stdout": "MiB",
    "many_files": "files",
    # the guest's kernel ends it
    "eats_memory": "was killed by SIGKILL",
    "threads": "never sent a packet",
    "forks": "",
}


@pytest.fixture
def canary() -> Iterator[tuple[Path, str]]:
    """A secret file in the home folder, and its text."""
    text = f"canary-{secrets.token_hex(16)}"
    path = Path.home() / f".cambrian-{text}"
    path.write_text(text)
    path.chmod(0o600)
    yield path, text
    path.unlink()


def attacked(run_trials: RunTrials, attack: str, canary: tuple[Path, str]) -> TrialResult:
    """The trial of an attacker beside quinn; the secret is in none of its files."""
    path, text = canary
    hostile = flow("hostile", "none", options={"attack": attack, "canary": str(path)})
    (result,) = run_trials([duel(hostile, flow("quinn", "cubic"))])
    for file in (one for one in result.folder.rglob("*") if one.is_file()):
        content = file.read_bytes().replace(path.name.encode(), b"")
        assert text.encode() not in content, file
    assert not result.verdict["valid"]
    return result


def test_what_would_change_a_result_or_reach_the_host_is_denied(
    run_trials: RunTrials, canary: tuple[Path, str]
) -> None:
    result = attacked(run_trials, "all", canary)
    lines = (result.folder / "logs" / "flow0.sender.err").read_text().splitlines()
    outcomes = {row["attack"]: row["outcome"] for row in map(json.loads, lines)}
    source = (MISBEHAVING / "hostile" / "hostile.py").read_text()
    assert set(outcomes) == set(re.findall(r"@must_be_denied\ndef (\w+)", source))
    assert len(outcomes) >= 30
    assert {name: text for name, text in outcomes.items() if not text.startswith("denied: ")} == {}
    # each attack was possible to try: its target was there
    missing = {name: text for name, text in outcomes.items() if "no rival" in text or "no process" in text}
    assert missing == {}
    # its rival's flow and the capture are whole
    gates = {gate["text"]: gate["ok"] for gate in result.verdict["gates"] if gate["name"] == "capture"}
    assert len(gates) == 3
    assert all(gates.values())
    assert result.packets.filter(flow=1).height > 1000


@pytest.mark.parametrize(("attack", "because"), CONTAINED.items())
def test_what_it_leaves_is_read_with_care(
    run_trials: RunTrials, canary: tuple[Path, str], attack: str, because: str
) -> None:
    result = attacked(run_trials, attack, canary)
    assert because in "; ".join(result.verdict["reasons"])


@pytest.mark.slow
@pytest.mark.parametrize(("attack", "because"), LARGE.items())
def test_what_it_uses_has_limits(
    run_trials: RunTrials, canary: tuple[Path, str], attack: str, because: str
) -> None:
    result = attacked(run_trials, attack, canary)
    assert because in "; ".join(result.verdict["reasons"])
