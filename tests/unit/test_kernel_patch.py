"""Patches apply in order, or the first that does not fit is named."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cambrian.kernel import patch
from cambrian.kernel.model import KernelError

ONE_TO_TWO = "--- a/file\n+++ b/file\n@@ -1 +1 @@\n-one\n+two\n"
TWO_TO_THREE = "--- a/file\n+++ b/file\n@@ -1 +1 @@\n-two\n+three\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    folder.mkdir()
    (folder / "file").write_text("one\n")
    (tmp_path / "1.patch").write_text(ONE_TO_TWO)
    (tmp_path / "2.patch").write_text(TWO_TO_THREE)
    return folder


def apply(tree: Path, *names: str) -> None:
    patches = [tree.parent / name for name in names]
    patch.apply(tree, patches, log=tree.parent / "log", environment=dict(os.environ))


def test_in_order(tree: Path) -> None:
    apply(tree, "1.patch", "2.patch")
    assert (tree / "file").read_text() == "three\n"


def test_one_that_does_not_fit_is_named(tree: Path) -> None:
    with pytest.raises(KernelError, match=r"^2\.patch does not fit"):
        apply(tree, "2.patch", "1.patch")
