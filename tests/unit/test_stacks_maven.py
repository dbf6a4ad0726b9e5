"""The lock of a Java stack's jars."""

from __future__ import annotations

from pathlib import Path

import pytest

from cambrian.stacks import build_maven
from cambrian.stacks.build_maven import Artifact
from cambrian.stacks.manifest import ManifestError


def test_a_lock_s_lines(tmp_path: Path) -> None:
    lock = tmp_path / "jars.txt"
    lock.write_text(f"# what and why\n\ntech.kwik:kwik:0.10.8 {'ab' * 32}\n")
    (found,) = build_maven.read_lock(lock)
    assert found == Artifact("tech.kwik", "kwik", "0.10.8", "ab" * 32)
    assert found.jar == "kwik-0.10.8.jar"


@pytest.mark.parametrize("line", ["kwik:0.10.8 " + "ab" * 32, "tech.kwik:kwik:0.10.8", "a:b:c abcd"])
def test_a_line_that_pins_nothing_is_named(tmp_path: Path, line: str) -> None:
    lock = tmp_path / "jars.txt"
    lock.write_text(f"# head\n{line}\n")
    with pytest.raises(ManifestError, match=r"jars\.txt:2: expected"):
        build_maven.read_lock(lock)
