"""What a guest can import does not depend on what the checkout's environment holds besides."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

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
