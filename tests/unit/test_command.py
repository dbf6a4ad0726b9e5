"""A test of the machine that something outside kills says nothing about the machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from cambrian.command import Killed, tried
from cambrian.trial import wall


def program(path: Path, body: str) -> Path:
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


def test_a_killed_test_is_repeated(tmp_path: Path) -> None:
    once = program(
        tmp_path / "once", f"[ -e {tmp_path}/seen ] || {{ touch {tmp_path}/seen; kill -9 $$; }}; echo well"
    )
    assert tried([str(once)], limit_s=10) == (0, "well\n")


def test_a_test_that_is_killed_each_time_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(Killed, match="killed 3 times by something outside"):
        tried([str(program(tmp_path / "always", "kill -9 $$"))], limit_s=10)


def test_a_refusal_is_an_answer(tmp_path: Path) -> None:
    refuses = program(tmp_path / "refuses", "echo no >&2; exit 1")
    assert tried([str(refuses)], limit_s=10) == (1, "no\n")


@pytest.mark.parametrize(("body", "stands"), [("exit 0", True), ("echo no namespaces; exit 1", False)])
def test_only_an_answer_decides_about_the_wall(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, *, stands: bool
) -> None:
    program(tmp_path / "bwrap", body)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    wall.find.cache_clear()
    try:
        assert (wall.find().program is not None) == stands
    finally:
        wall.find.cache_clear()


def test_a_run_does_not_go_on_without_the_wall_because_its_test_was_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path / "bwrap", "kill -9 $$")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    wall.find.cache_clear()
    with pytest.raises(Killed):
        wall.find()
    wall.find.cache_clear()
