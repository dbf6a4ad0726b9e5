"""Stacks that the catalogue does not know come in by a manifest alone: those of the documentation's page."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

from cambrian.proof import stacks as proof
from cambrian.stacks import build, catalogue
from tests.integration.conftest import MISBEHAVING, RunTrials, duel, flow

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "add-a-stack.md"
RUNNER = Path(__file__).parents[1] / "interop-runner" / "run_endpoint.sh"


def _manifests() -> dict[str, str]:
    """Name → manifest, for each whole manifest on the page."""
    blocks = re.findall(r"```toml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    return {match[1]: block for block in blocks if (match := re.match(r'name = "(.*?)"', block))}


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of the user's, known to the catalogue."""
    folder = tmp_path / "stacks"
    folder.mkdir()
    for name in ("gtls", "iperf3"):
        (folder / f"{name}.toml").write_text(_manifests()[name])
    # below the tests' temporary folder, which is below /tmp: the guest has a /tmp of its own
    script = tmp_path / "mystack" / RUNNER.name
    script.parent.mkdir()
    shutil.copy2(RUNNER, script)
    runner = _manifests()["mystack"].replace("/opt/mystack/run_endpoint.sh", str(script))
    quinn = build.ensure(catalogue.load()["quinn"]).binary
    for side in ("server", "client"):
        runner = runner.replace(
            f"[{side}]", f'[{side}]\nenvironment = {{ QUINN = "{quinn}", CCA = "{{cca}}" }}'
        )
    runner = runner.replace('environment = { MYSTACK_CC = "{cca}" }\n', "")
    # the script starts a program in another folder
    runner = runner.replace("[build]", f'[build]\nreadable = ["{quinn.parent}"]')
    (folder / "mystack.toml").write_text(runner)
    monkeypatch.setenv("CAMBRIAN_STACKS", f"{MISBEHAVING}:{folder}")
    catalogue.load.cache_clear()
    yield folder
    catalogue.load.cache_clear()


@pytest.mark.parametrize("name", ["gtls", "iperf3", "mystack"])
def test_the_page_s_manifests_are_short(name: str) -> None:
    assert len([line for line in _manifests()[name].splitlines() if line.strip()]) <= 22


def test_another_library_s_example_server_runs_by_manifest_alone(own: Path, run_trials: RunTrials) -> None:
    trial = duel(flow("gtls", "cubic"), flow("tcp", "cubic"), seconds=8)
    first, *_ = run_trials([trial], "first")
    second, *_ = run_trials([trial], "second")
    assert first.verdict["valid"], first.verdict["reasons"]
    assert first.manifest["packets_sha256"] == second.manifest["packets_sha256"]
    # its qlog became a transport trace in the trial's own time
    mine = first.transport.filter(first.transport["flow"] == 0)
    assert mine.height > 100
    assert mine["cwnd_bytes"].max() > mine["cwnd_bytes"].min()  # type: ignore[operator]
    assert 7e9 < mine["time_ns"].max() <= 8e9  # type: ignore[operator]


def test_what_is_wrong_with_such_a_stack_is_found(own: Path, run_trials: RunTrials) -> None:
    path = own / "gtls.toml"
    path.write_text(path.read_text().replace(' "--max-gso-dgrams=1",', ""))
    catalogue.load.cache_clear()
    (result,) = run_trials([duel(flow("gtls", "cubic"))])
    assert "switch UDP segmentation offload off" in "; ".join(result.verdict["reasons"])


@pytest.mark.long
def test_stacks_test_tries_every_controller(own: Path) -> None:
    rows = proof.run([catalogue.load()["iperf3"]], jobs=2, console=Console(stderr=True))
    assert [row.cca for row in rows] == ["cubic", "reno"]
    assert all(row.ok for row in rows), [row.misses for row in rows]
    assert rows[0].hashes != rows[1].hashes


@pytest.mark.parametrize(
    ("sender", "receiver"), [("mystack", "own"), ("mystack", "quic-go"), ("quinn", "mystack")]
)
def test_the_interop_runner_s_convention(
    own: Path, run_trials: RunTrials, sender: str, receiver: str
) -> None:
    (result,) = run_trials([duel(flow(sender, "cubic", receiver=receiver))])
    assert result.verdict["valid"], result.verdict["reasons"]
