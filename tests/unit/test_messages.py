"""What the program says on terminals and machines that are unusual."""

from __future__ import annotations

import errno
import io
import os
import sys
from pathlib import Path

import pytest
from rich.text import Text

from cambrian import __main__, cli, interrupts, paths
from cambrian.cli.shared import err, explained, out


def denied(path: Path) -> str:
    return explained(PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path)))


def test_a_file_of_the_cache_that_is_another_users(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    cache, user = tmp_path / "cache", os.geteuid()
    (cache / "cores").mkdir(parents=True)
    monkeypatch.setenv("CAMBRIAN_CACHE", str(cache))
    lock = cache / "cores" / "host-0.lock"
    assert denied(lock).endswith(
        "this is in the cache; remedy: make it writable, or export CAMBRIAN_CACHE=/a/folder/of/yours"
    )
    monkeypatch.setattr(os, "geteuid", lambda: user + 4242)
    assert ", and of user " in denied(lock)
    assert denied(lock).endswith("; remedy: export CAMBRIAN_CACHE=/a/folder/of/yours")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert denied(lock).endswith(f"/of/yours, or sudo chown -R {user + 4242} {cache}")


def test_a_file_in_the_place_of_the_cache_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    cache.touch()
    monkeypatch.setenv("CAMBRIAN_CACHE", str(cache))
    with pytest.raises(NotADirectoryError) as error:
        (cache / "kernel" / "x").mkdir()
    said = f"this is in the cache, and {cache} is a file; remedy: export CAMBRIAN_CACHE=/a/folder/of/yours"
    assert explained(error.value).endswith(said)
    # a folder there is no file
    cache.unlink()
    cache.mkdir()
    with pytest.raises(FileExistsError) as exists:
        cache.mkdir()
    assert "is a file" not in explained(exists.value)


def test_a_file_of_results_has_the_remedy_of_results(tmp_path: Path) -> None:
    assert denied(tmp_path / "results").endswith(
        "remedy: use another folder (--out), or make this one writable"
    )


def test_a_terminal_that_lacks_a_character_shows_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(shown, encoding="latin-1", write_through=True))
    monkeypatch.setattr(interrupts, "listen", lambda: None)
    monkeypatch.setattr(cli, "main", lambda: print("α is 0.5 ± 0.1"))
    __main__.main()
    assert shown.getvalue().decode("latin-1") == "? is 0.5 ± 0.1\n"


def test_a_user_without_a_home_is_told_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("CAMBRIAN_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    monkeypatch.setattr(cli, "command", lambda: paths.cache)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert "HOME is not set" in said
    assert "Traceback" not in said


@pytest.mark.parametrize("cache", [None, "/somewhere"])
def test_without_a_home_a_file_that_cannot_be_written_is_told_too(
    cache: str | None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("CAMBRIAN_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    if cache:
        monkeypatch.setenv("CAMBRIAN_CACHE", cache)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    monkeypatch.setattr(os, "geteuid", lambda: 4242)

    def failing() -> None:
        raise PermissionError(errno.EACCES, "Permission denied", "/somewhere/file")

    monkeypatch.setattr(cli, "command", lambda: failing)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    said = capsys.readouterr().err
    assert ended.value.code == 2
    assert said.startswith("cambrian: /somewhere/file: Permission denied; ") and "Traceback" not in said


def test_a_fault_while_an_error_is_told_is_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object) -> str:
        raise PermissionError(errno.EACCES, "Permission denied", "/somewhere")

    monkeypatch.setattr(cli, "command", lambda: failing)
    monkeypatch.setattr(cli, "explained", lambda _: 1 // 0)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 2


def test_a_long_line_is_one_line_also_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    line = "quinn [" + "a long label " * 12 + "] cubic: conformant"
    out.print(Text.assemble(("quinn", "bold"), line.removeprefix("quinn")))
    err.print(line)
    printed = capsys.readouterr()
    assert printed.out == printed.err == f"{line}\n"
