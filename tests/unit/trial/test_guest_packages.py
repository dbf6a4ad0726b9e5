"""What a guest can import does not depend on what else the installation's environment has."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import cambrian
from cambrian.trial import guest_packages


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("CAMBRIAN_CACHE", str(tmp_path))
    guest_packages.ensure.cache_clear()
    yield guest_packages.ensure()
    guest_packages.ensure.cache_clear()


def test_pyroute2_is_alone_and_compiled(folder: Path) -> None:
    names = {path.name.partition("-")[0] for path in folder.iterdir()}
    assert names == {"pyroute2"}
    sources = list((folder / "pyroute2").rglob("*.py"))
    compiled = list((folder / "pyroute2").rglob("*.pyc"))
    assert len(sources) == len(compiled) > 100


def test_it_is_made_once_and_leaves_nothing_else(folder: Path) -> None:
    made = (folder / "pyroute2" / "__init__.py").stat().st_mtime_ns
    guest_packages.ensure.cache_clear()
    assert guest_packages.ensure() == folder
    assert (folder / "pyroute2" / "__init__.py").stat().st_mtime_ns == made
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


def test_notes_of_the_installer_which_differ_by_checkout_are_left_out(folder: Path) -> None:
    (description,) = folder.glob("*.dist-info")
    assert [path.name for path in description.iterdir()] == ["METADATA"]


def test_the_testbed_is_copied_alone_and_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "site-packages" / "cambrian"
    shutil.copytree(
        Path(cambrian.__file__).parent, own, ignore=lambda _, names: {"__pycache__", "share"} & set(names)
    )
    monkeypatch.setattr(guest_packages, "_OWN", own)
    monkeypatch.setenv("CAMBRIAN_CACHE", str(tmp_path / "cache"))
    made = guest_packages.testbed.__wrapped__()
    assert [path.name for path in made.iterdir()] == ["cambrian"]
    assert {path.name for path in (made / "cambrian").iterdir()} == {"__init__.py", "__pycache__", "testbed"}
    sources = list(made.rglob("*.py"))
    assert len(sources) == len(list(made.rglob("*.pyc"))) > 15
    assert all((own.parent / path.relative_to(made)).read_bytes() == path.read_bytes() for path in sources)
    # nothing is written beside the sources, and an edit makes another folder
    assert not list(own.rglob("*.pyc"))
    (own / "testbed" / "probe.py").write_text("edited = True\n")
    assert guest_packages.testbed.__wrapped__() != made


@pytest.mark.parametrize("fault", ["cut", "missing"])
def test_a_folder_without_all_of_its_bytecode_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    monkeypatch.setenv("CAMBRIAN_CACHE", str(tmp_path))
    run = subprocess.run

    def full(argv: list[str], **options: Any) -> None:
        run(argv, **options)
        (bytecode,) = Path(argv[-1]).rglob("probe.*.pyc")
        bytecode.write_bytes(bytecode.read_bytes()[:-1]) if fault == "cut" else bytecode.unlink()

    monkeypatch.setattr(subprocess, "run", full)
    with pytest.raises(OSError, match=r"1 of \d+ files could not be compiled"):
        guest_packages.testbed.__wrapped__()
    assert not list((tmp_path / "guest-packages").iterdir())
    monkeypatch.setattr(subprocess, "run", run)
    assert guest_packages.testbed.__wrapped__().is_dir()
