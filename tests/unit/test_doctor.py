"""Checks on facts given, and on this machine as a whole."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path

import pytest
from rich.console import Console

from cambrian import doctor
from cambrian.doctor import checks, machine
from cambrian.doctor.check import Check
from cambrian.kernel import boot
from cambrian.pages import browser
from cambrian.trial.wall import Wall


def test_only_x86_64_linux_will_do() -> None:
    assert checks.check_platform("Linux", "x86_64").state == "ok"
    assert checks.check_platform("Linux", "aarch64").state == "missing"
    assert checks.check_platform("Darwin", "x86_64").state == "missing"


def test_memory_must_hold_a_guest_a_core() -> None:
    assert machine.check_memory(2 * machine.GUEST_BYTES, 2).state == "ok"
    assert machine.check_memory(2 * machine.GUEST_BYTES - 1, 2).state == "warn"
    assert machine.check_memory(machine.GUEST_BYTES - 1, 1).state == "missing"


def test_the_guests_memory_goes_where_uml_puts_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in boot.MEMORY_VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("TEMP", str(tmp_path))
    assert machine.guest_memory_folder() == tmp_path
    monkeypatch.setenv("TMPDIR", "/elsewhere")
    assert machine.guest_memory_folder() == Path("/elsewhere")
    assert machine.judge_guest_memory_folder(Path("/elsewhere")).state == "missing"


def test_a_noexec_folder_is_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.statvfs(tmp_path)
    assert machine.judge_guest_memory_folder(tmp_path).state != "missing"
    noexec = os.statvfs_result((*real[:8], real.f_flag | os.ST_NOEXEC, real.f_namemax))
    monkeypatch.setattr(os, "statvfs", lambda _: noexec)
    check = machine.judge_guest_memory_folder(tmp_path)
    assert (check.state, check.remedy) == ("missing", f"mount -o remount,exec {tmp_path}")


def test_behind_a_wall_guests_do_not_use_the_machines_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "missing"))
    assert machine.check_guest_memory_folder(Wall("/usr/bin/bwrap")).state == "ok"
    assert machine.check_guest_memory_folder(Wall(None)).state == "missing"


def test_a_machine_without_a_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAMBRIAN_CACHE", str(tmp_path))
    monkeypatch.delenv("CAMBRIAN_KERNEL", raising=False)
    kernel, check = checks.check_kernel()
    assert kernel is None
    assert (check.state, check.remedy) == ("missing", checks.BUILD_KERNEL)


def test_a_machine_without_chromium_is_told_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    browser.find.cache_clear()
    check = checks.check_browser()
    browser.find.cache_clear()
    assert (check.state, check.remedy) == ("warn", "apt-get install chromium")


def test_every_check_that_is_not_ok_has_a_remedy() -> None:
    found = doctor.run_checks()
    assert {"platform", "kernel", "disk"} <= {check.name for check in found}
    assert [check for check in found if check.state != "ok" and not check.remedy] == []


def rendered(found: list[Check], *, as_json: bool) -> str:
    sink = io.StringIO()
    doctor.render(found, as_json=as_json, console=Console(file=sink, width=60))
    return sink.getvalue()


def test_json_is_json_whatever_the_terminals_width() -> None:
    found = [
        Check("kernel", "stale", "[bold] " + "long " * 50, "cambrian kernel build"),
        Check("disk", "ok", "1 GB"),
    ]
    document = json.loads(rendered(found, as_json=True))
    assert document["ok"] is False
    assert document["checks"][0]["found"] == found[0].found


def test_the_table_shows_state_and_remedy() -> None:
    text = rendered([Check("kernel", "missing", "not built", "cambrian kernel build")], as_json=False)
    assert "missing" in text
    assert "→ cambrian kernel build" in text
