"""What a program behind the wall sees of the machine: tried with bubblewrap itself."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from cambrian.trial import wall

pytestmark = pytest.mark.skipif(wall.find().program is None, reason=f"no wall here: {wall.find().why}")


def behind(script: str, out: Path, readable: dict[Path, Path] | None = None) -> str:
    """The output of a shell script behind the wall."""
    read, write = os.pipe()
    argv = wall.command(
        wall.find(), ["/bin/sh", "-c", script], readable=readable or {}, out=out, status=write
    )
    answer = subprocess.run(
        argv, capture_output=True, text=True, pass_fds=(write,), stdin=subprocess.DEVNULL, check=False
    )
    os.close(write)
    first = os.read(read, 4096).partition(b"\n")[0]
    os.close(read)
    assert wall.child(first) is not None, "bubblewrap tells the process number"
    return answer.stdout + answer.stderr


def test_only_the_results_folder_is_writable(tmp_path: Path) -> None:
    said = behind(f"echo x > {wall.OUT}/there; for p in / /usr /etc /cambrian; do touch $p/x; done", tmp_path)
    assert (tmp_path / "there").read_text() == "x\n"
    assert said.count("cannot touch") == 4


def test_what_is_shown_is_all_there_is(tmp_path: Path) -> None:
    shown = tmp_path / "shown"
    shown.mkdir()
    (shown / "file").write_text("hello")
    out = tmp_path / "out"
    out.mkdir()
    said = behind(
        "cat /cambrian/mine/file; ls /home /root /work /srv /opt; ls /", out, {Path("/cambrian/mine"): shown}
    )
    assert said.startswith("hello")
    places = said.splitlines()
    assert "home" not in places
    assert not {"root", "work", "srv", "home", "boot", "mnt"} & set(places)


def test_no_network_no_process_no_privilege_and_no_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", "in the environment")
    script = (
        "env; echo pid $$; cat /proc/net/dev; ls /proc; cat /etc/passwd; hostname; mount -t tmpfs none /tmp"
    )
    said = behind(script, tmp_path)
    assert "SECRET" not in said
    assert "pid 1\n" in said
    assert "eth0" not in said
    assert "self" in said, "the only entry of /proc is the link to the guest's kernel"
    assert "version" not in said
    assert "root:x:0:0:root:/tmp" in said
    assert Path.home().name == "root" or Path.home().name not in said
    assert "mount" in said.splitlines()[-1], "there is no right to mount"


def test_a_machine_without_bubblewrap_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    wall.find.cache_clear()
    try:
        found = wall.find()
    finally:
        wall.find.cache_clear()
    assert (found.program, found.name) == (None, "none")
    assert "apt-get install bubblewrap" in found.why


@pytest.mark.skipif(os.geteuid() != 0, reason="the machine's root alone has other rights outside")
@pytest.mark.parametrize(
    ("owner", "mode", "opens"), [(65534, 0o700, False), (65534, 0o711, True), (0, 0o700, True)]
)
def test_root_may_enter_what_is_open_to_him_inside(
    tmp_path: Path, owner: int, mode: int, opens: bool
) -> None:
    closed, out = tmp_path / "closed", tmp_path / "closed" / "out"
    out.mkdir(parents=True)
    os.chown(closed, owner, owner)
    closed.chmod(mode)
    argv = wall.command(wall.find(), ["/bin/true"], readable={}, out=out, status=2)
    status = subprocess.run(argv, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, check=False).returncode
    assert (status == 0) is opens
    if opens:
        wall.check_open([out])
    else:
        with pytest.raises(PermissionError, match=f"{closed}: .*; remedy: .*chmod o.x {closed}"):
            wall.check_open([out])
