"""A study's own stacks are built, or run without a wall, only if the user trusts them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cambrian.run import trust
from cambrian.stacks import catalogue
from cambrian.trial.wall import Wall

MANIFEST = """
name = "{name}"
title = "A stranger's stack"
version = "0"
licence = "Apache-2.0"
language = "C"
protocol = "quic"
cca_readback = false
transport_trace = "none"
[ccas.cubic]
reference = "cubic"
[build]
kind = "{kind}"
binary = "{binary}"
[server]
command = ["{{bin}}"]
ready = "json"
"""
WALL, NONE = Wall("/usr/bin/bwrap"), Wall(None, "bubblewrap is not installed")


@pytest.fixture
def beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with two stacks: one to build, one that is there."""
    monkeypatch.setenv("CAMBRIAN_STACKS", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "stacks"
    for name, kind, binary in (("stranger", "make", "server"), ("binary", "none", "/bin/sh")):
        (folder / name).mkdir(parents=True)
        (folder / name / "manifest.toml").write_text(MANIFEST.format(name=name, kind=kind, binary=binary))
    catalogue.look_in(folder)
    yield folder
    catalogue.load.cache_clear()


def test_a_build_needs_trust(beside: Path) -> None:
    with pytest.raises(trust.Untrusted) as error:
        trust.check(["tcp", "stranger"], beside, WALL)
    text = str(error.value)
    assert str(beside / "stranger" / "manifest.toml") in text
    assert "would be built here by make, with your rights" in text
    assert "--trust" in text


def test_the_receiver_of_a_stack_needs_trust_too(beside: Path) -> None:
    path = beside / "binary" / "manifest.toml"
    path.write_text(path.read_text() + '[client]\nstack = "stranger"\n')
    stranger = beside / "stranger" / "manifest.toml"
    stranger.write_text(stranger.read_text() + '[client]\ncommand = ["{bin}"]\n')
    catalogue.load.cache_clear()
    with pytest.raises(trust.Untrusted, match="would be built here by make"):
        trust.check(trust.with_receiver("binary"), beside, WALL)


def test_a_program_that_is_there_needs_a_wall(beside: Path) -> None:
    trust.check(["tcp", "binary"], beside, WALL)
    with pytest.raises(trust.Untrusted, match="without a wall: bubblewrap is not installed"):
        trust.check(["tcp", "binary"], beside, NONE)


def test_stacks_of_this_checkout_are_trusted(beside: Path) -> None:
    trust.check(["tcp", "quinn"], beside, NONE)
