"""``stacks add``: a user's stack is checked, kept whole, and never hides the catalogue's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cambrian.stacks import adding, built, catalogue
from cambrian.stacks.adding import AddError
from cambrian.stacks.manifest import ManifestError


@pytest.fixture(autouse=True)
def _configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    catalogue.load.cache_clear()
    yield
    catalogue.load.cache_clear()


def _stack(folder: Path, name: str, *, file: str = "", binary: str = "/bin/sh", tail: str = "") -> Path:
    path = folder / (file or f"{name}.toml")
    path.parent.mkdir(parents=True, exist_ok=True)
    build = f'[build]\nkind = "none"\nbinary = "{binary}"\n'
    path.write_text(f'name = "{name}"\n[ccas.cubic]\n{build}[server]\ncommand = ["{{bin}}"]\n{tail}')
    return path


def test_one_file_is_kept_and_known(tmp_path: Path) -> None:
    assert "mine" not in catalogue.load()
    added = adding.add(_stack(tmp_path, "mine"))
    assert added.file == tmp_path / "config/cambrian/stacks/mine.toml"
    assert catalogue.load()["mine"].file == added.file


def test_a_folder_is_kept_with_what_it_holds(tmp_path: Path) -> None:
    tail = '[[server.files]]\ntemplate = "conf.in"\nto = "conf"\n'
    _stack(tmp_path, "mine", file="mine/manifest.toml", tail=tail)
    (tmp_path / "mine/conf.in").write_text("listen {port}\n")
    added = adding.add(tmp_path / "mine")
    assert (added.folder / "conf.in").read_text() == "listen {port}\n"
    assert not list(catalogue.own_folder().glob(".new-*"))


def test_a_program_that_the_guest_cannot_see_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match="below /proc, but the guest has its own"):
        adding.add(_stack(tmp_path, "mine", binary="/proc/self/exe"))


def test_a_program_below_a_folder_that_the_guest_has_is_shown_with_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "mine" / "bin" / "server"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    monkeypatch.setattr("cambrian.stacks.built.HIDDEN", (str(tmp_path),))
    monkeypatch.setattr("cambrian.stacks.built.SHOWABLE", (str(tmp_path),))
    added = adding.add(_stack(tmp_path, "mine", binary=str(program)))
    assert built.shown_folders(added) == {str(tmp_path / "mine"): str(tmp_path / "mine")}
    bare = tmp_path / "server"
    bare.write_text("#!/bin/sh\n")
    with pytest.raises(ManifestError, match=f"move it to a folder there, such as {tmp_path}/other/server"):
        adding.add(_stack(tmp_path, "other", binary=str(bare)))


def test_a_program_that_the_guest_sees_anyway_needs_no_folder(tmp_path: Path) -> None:
    assert built.shown_folders(adding.add(_stack(tmp_path, "mine", binary="/bin/sh"))) == {}


@pytest.mark.parametrize(
    ("name", "binary", "tail", "error", "said"),
    [
        ("quinn", "/bin/sh", "", AddError, "is a stack of the catalogue"),
        ("mine", "/no/such/program", "", ManifestError, "there is no /no/such/program"),
        ("mine", "/bin/sh", '[client]\nstack = "nobody"\n', AddError, 'there is no stack "nobody"'),
        (
            "mine",
            "/bin/sh",
            '[[server.files]]\ntemplate = "a.in"\nto = "a"\n',
            AddError,
            "a.in is relative to the manifest",
        ),
    ],
)
def test_what_cannot_be_added_says_why(
    tmp_path: Path, name: str, binary: str, tail: str, error: type[Exception], said: str
) -> None:
    path = _stack(tmp_path, name, binary=binary, tail=tail)
    with pytest.raises(error, match=said):
        adding.add(path)
    assert not (tmp_path / "config/cambrian/stacks" / path.name).exists()


def test_a_folder_beside_the_study_is_looked_in(tmp_path: Path) -> None:
    (tmp_path / "stacks").mkdir()
    _stack(tmp_path / "stacks", "beside")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CAMBRIAN_STACKS", "")
        catalogue.look_in(tmp_path / "stacks")
        assert "beside" in catalogue.load()
