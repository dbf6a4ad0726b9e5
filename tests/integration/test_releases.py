"""A stack at a release: built, run, and the same from another cache; one that does not build says why."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cambrian import paths
from cambrian.command import CommandFailed
from cambrian.releases import ready
from cambrian.stacks import build, catalogue, pinned
from tests.integration.conftest import RunTrials, duel, flow, valid
from tests.integration.runs import cambrian, quickly

RELEASE, TOO_OLD = "quic-go@0.63.0", "quic-go@0.55.0"


def test_a_release_runs_as_itself_and_its_lock_lies_beside_it(run_trials: RunTrials) -> None:
    (result,) = run_trials([duel(flow(RELEASE, "reno"), seconds=3, rate_mbps=5)])
    assert valid(result).manifest["stacks"][RELEASE]["version"] == "0.63.0"
    built = build.ensure(catalogue.load()[RELEASE])
    assert built.folder.name.startswith(f"{RELEASE}-")
    assert len(json.loads((built.folder / "build.json").read_text())["lock_sha256"]) == 64
    assert "github.com/quic-go/quic-go v0.63.0" in (built.folder / "go.mod").read_text()


def test_another_cache_gives_the_same_build_by_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    stack = catalogue.load()[RELEASE]
    name = build.source_name(stack)
    for variable, folder in (("GOMODCACHE", "go/mod"), ("GOCACHE", "go/build")):
        monkeypatch.setenv(variable, str(paths.cache() / folder))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert pinned.find(stack) is None
    assert build.source_name(stack) == name
    assert list((tmp_path / "cambrian" / "releases").glob(f"{RELEASE}-*/quic-go/go.sum"))


def test_a_release_that_lacks_what_our_endpoint_uses_says_so() -> None:
    with pytest.raises(CommandFailed, match="qlogwriter"):
        build.ensure(catalogue.load()[TOO_OLD])
    status = build.status(catalogue.load()[TOO_OLD])
    assert status.state == "fails"
    assert "cannot find module providing package github.com/quic-go/quic-go/qlogwriter" in status.detail
    assert ready.why_not(TOO_OLD, "cubic") == f"does not build with this endpoint: {status.detail}"


@pytest.mark.long
def test_the_commands_list_releases_and_measure_them(tmp_path: Path) -> None:
    build.ensure(catalogue.load()[RELEASE])
    listed = cambrian(tmp_path, "stacks", "versions", "quic-go", "--json")
    assert listed.returncode == 0, listed.stderr
    rows = {row["name"]: row for row in json.loads(listed.stdout)}
    assert rows[RELEASE]["build"] == "built"
    assert rows[RELEASE]["date"] == "2026-09-22"
    words = ("--releases", "0.63.0", "--network", "clean", "--seeds", "1", "--jobs", "1", "--out", "history")
    study = tmp_path / "short.toml"
    study.write_text(
        'name = "short"\ntitle = "Short"\ndesign = "solo"\nduration_s = 6\nseeds = 1\n'
        '[[network]]\nname = "clean"\nrate_mbps = 5\nrtt_ms = 20\nbuffer_bdp = 1\n'
        '[[contestant]]\nstack = "quic-go"\ncca = "reno"\n'
    )
    made = cambrian(tmp_path, "history", "quic-go/reno", "short.toml", *words)
    assert made.returncode == 0, made.stderr
    assert "0.63.0" in made.stdout
    assert (tmp_path / "history" / "history.png").exists()
    assert "throughput_mbps" in (tmp_path / "history" / "history-figures.csv").read_text()


@pytest.mark.slow
def test_bisect_finds_the_release_in_which_quic_go_began_to_undo_spurious_losses(tmp_path: Path) -> None:
    (tmp_path / "reorder.toml").write_text(
        'name = "reorder"\ntitle = "Reordering"\ndesign = "solo"\nduration_s = 6\nseeds = 3\n'
        '[[network]]\nname = "reorder"\nrate_mbps = 5\nrtt_ms = 50\nbuffer_bdp = 2\nreorder_percent = 1\n'
        '[[contestant]]\nstack = "quic-go"\ncca = "reno"\n'
    )
    words = ("--good", "0.64.0", "--bad", "0.62.0", "--quantity", "throughput_mbps", "--out", "bisect")
    found = cambrian(tmp_path, "bisect", "quic-go/reno", "reorder.toml", *words)
    assert found.returncode == 0, found.stderr
    assert "The change is in github.com/quic-go/quic-go 0.64.0: 0.63.0 is the last" in found.stdout
    pair = ("--contestant", "quic-go@0.63.0/reno", "--contestant", "quic-go@0.64.0/reno", "--json")
    compared = json.loads(cambrian(tmp_path, "compare", "bisect", "bisect", *pair).stdout)
    assert {one["name"] for one in compared["figures"] if one["state"] == "different"} >= {"throughput_mbps"}


def test_wrong_words_are_errors_with_the_remedy(tmp_path: Path) -> None:
    for run, words, said in (
        (
            cambrian,
            ("bisect", "quic-go", "--good", "0.63.0", "--bad", "0.65.0"),
            "STACK/CCA, such as quic-go/reno",
        ),
        (quickly, ("bisect", "quic-go/reno", "--good", "0.63.9", "--bad", "0.65.0"), "did you mean 0.63.0"),
        (quickly, ("bisect", "tcp/reno", "--good", "1.0.0", "--bad", "2.0.0"), "one version"),
        (quickly, ("history", "quic-go/reno", "--quantity", "throughput"), "did you mean throughput_mbps"),
        (cambrian, ("stacks", "build", "quic-go@0.6"), "no stack quic-go@0.6"),
    ):
        ended = run(tmp_path, *words)
        assert ended.returncode == 2, ended.stdout
        assert said in ended.stderr
