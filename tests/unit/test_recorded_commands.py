"""The commands that results record can be given to a shell again."""

from __future__ import annotations

import shlex
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from cambrian.cli import app, running
from cambrian.gate import carry_out
from cambrian.run.study import RunOptions
from cambrian.suites import run as suite_run


def test_a_suites_command_names_its_contestants(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    told: list[Any] = []
    monkeypatch.setattr(suite_run, "planned", lambda *_: [])
    monkeypatch.setattr(suite_run, "run", lambda *given: told.append(given[2].command))
    options = RunOptions("my suite", only="it's", contestants=("a b/c", "d/e"))
    running._run_suites([], None, options, tmp_path, dry_run=False)
    words = ["cambrian", "run", "my suite", "--contestant", "a b/c", "--contestant", "d/e", "--seed", "1"]
    assert shlex.split(told[0]) == [*words, "--clock", "virtual", "--only", "it's"]


def test_a_gates_command_names_its_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "it's a gate.toml"
    path.touch()
    told: list[Any] = []

    def stop(gate: object, place: object, options: RunOptions, *_: object, **__: object) -> None:
        told.append(options.command)
        raise KeyboardInterrupt

    monkeypatch.setattr(carry_out, "read", lambda _: SimpleNamespace(path=path))
    monkeypatch.setattr(carry_out, "run", stop)
    CliRunner().invoke(app, ["gate", str(path), "--out", str(tmp_path / "out")])
    assert shlex.split(told[0]) == ["cambrian", "gate", str(path)]
