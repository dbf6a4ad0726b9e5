"""The pieces that builds share: commands with a log, progress in plain lines, compiler versions."""

from __future__ import annotations

import io
import time
from pathlib import Path

import pytest
from rich.console import Console

from cambrian import command, paths, progress
from cambrian.command import MissingTool
from cambrian.stacks import toolchain


def test_a_commands_lines_arrive_and_are_kept(tmp_path: Path) -> None:
    lines: list[str] = []
    log = tmp_path / "log"
    command.run(["printf", "one\ntwo\nthree"], log=log, on_line=lines.append)
    assert lines == ["one", "two", "three"]
    assert log.read_text().endswith("one\ntwo\nthree")


def test_a_failed_command_says_its_last_lines_and_its_log(tmp_path: Path) -> None:
    script = "i=0; while [ $i -lt 50 ]; do echo line $i; i=$((i+1)); done; exit 3"
    with pytest.raises(command.CommandFailed) as caught:
        command.run(["sh", "-c", script], log=tmp_path / "log")
    text = str(caught.value)
    assert "status 3" in text
    assert "line 49" in text
    assert "line 29\n" not in text
    assert str(tmp_path / "log") in text


def test_makes_own_flags_do_not_reach_a_build(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAKEFLAGS", "-j99")
    assert "MAKEFLAGS" not in command.clean_environment()


def test_plain_progress_has_a_start_an_eta_and_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    sink = io.StringIO()
    with progress.step("kernel", total=100, console=Console(file=sink, width=200)) as step:
        now[0] = 5
        step.reach(10)
        now[0] = 25
        step.reach(25)
    assert sink.getvalue().splitlines() == [
        "kernel: started",
        "kernel: 25% after 0:25, about 1:15 left",
        "kernel: done after 0:25",
    ]


def test_a_failed_step_says_so() -> None:
    sink = io.StringIO()
    with pytest.raises(RuntimeError), progress.step("kernel", console=Console(file=sink)):
        raise RuntimeError
    assert "kernel: failed" in sink.getvalue()


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("gcc (Debian 12.2.0-14+deb12u1) 12.4.0", (12, 4)),
        ("cargo 1.96.0 (30a34c682 2026-05-01)", (1, 96)),
        ("go version go1.26.6 linux/amd64", (1, 26)),
        ("nonsense", (0, 0)),
    ],
)
def test_versions_are_read_off_what_compilers_say(text: str, version: tuple[int, int]) -> None:
    assert toolchain.parse_version(text) == version


def test_a_missing_tool_comes_with_a_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CAMBRIAN_CACHE", str(tmp_path))
    for look in (toolchain.cargo, toolchain.cc, lambda: toolchain.go(fetch=False)):
        with pytest.raises(MissingTool) as caught:
            look()
        assert caught.value.remedy


def test_what_a_build_needs_is_looked_for_first() -> None:
    toolchain.require("a program", {"sh": "dash"})
    with pytest.raises(MissingTool, match="a program cannot be built without no-such-tool") as caught:
        toolchain.require("a program", {"sh": "dash", "no-such-tool": "its-package"})
    assert caught.value.remedy == "apt-get install -y its-package"


def test_a_tool_that_is_too_old_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("cargo", "rustc"):
        (tmp_path / name).write_text(f"#!/bin/sh\necho {name} 1.84.1\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingTool, match=r"1\.85"):
        toolchain.cargo()


def test_where_the_cache_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CAMBRIAN_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert paths.cache() == Path.home() / ".cache" / "cambrian"
    monkeypatch.setenv("XDG_CACHE_HOME", "/x")
    assert paths.cache() == Path("/x/cambrian")
    monkeypatch.setenv("CAMBRIAN_CACHE", "/y")
    assert paths.cache() == Path("/y")
