"""Choosing a source package, and what is said when there is none."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from cambrian.debian.private_apt import Package, parse_records
from cambrian.kernel import source
from cambrian.kernel.model import KernelError
from cambrian.kernel.source import Offer, Source


def offer(name: str, version: str) -> Offer:
    return Offer(Package(name, version, 1, "0" * 64), "http://mirror.example/debian", "trixie")


def test_the_newest_series_wins_numerically_and_then_debians_version() -> None:
    offers = [
        offer("linux-source-7.9", "7.9.1-1"),
        offer("linux-source-7.10", "7.10.2-1~bpo13+1"),
        offer("linux-source-7.10", "7.10.2-1"),
        offer("linux-source-6.18", "6.18.44-1"),
    ]
    assert source.newest(offers).package.version == "7.10.2-1"
    assert source.newest(offers[:2]).package.name == "linux-source-7.10"


def test_records_of_apt_cache() -> None:
    text = (
        "Package: linux-source-7.3\nVersion: 7.3.4-1\nSize: 12\nSHA256: ab\nDescription: x\n\n"
        "Package: linux-source-7.3\nVersion: 7.3.3-1\nSize: 11\nSHA256: cd\n\n"
        "Package: no-hash\nVersion: 1\nSize: 3\n\n"
    )
    assert parse_records(text) == [
        Package("linux-source-7.3", "7.3.4-1", 12, "ab"),
        Package("linux-source-7.3", "7.3.3-1", 11, "cd"),
    ]


def test_a_missing_key_is_explained() -> None:
    said = "W: GPG error: … NO_PUBKEY 0123456789ABCDEF\nE: The repository '…' is not signed."
    assert "newer debian-archive-keyring" in source.explain(said)
    assert source.explain("E: … does not have a Release file.") == "not on this mirror"


def test_versions_compare_as_numbers() -> None:
    assert source.version_numbers("7.10.2") > source.version_numbers("7.9.11")


def test_a_tarball_that_is_not_there_is_named() -> None:
    with pytest.raises(KernelError, match=r"/nowhere/linux\.tar\.xz"):
        source.from_tarball(Path("/nowhere/linux.tar.xz"))


def test_a_tarball_unpacks_without_its_top_folder(tmp_path: Path) -> None:
    inside = tmp_path / "linux-9.9" / "arch" / "um"
    inside.mkdir(parents=True)
    (inside / "Kconfig").write_text("config UML\n")
    archive = tmp_path / "linux.tar.gz"
    subprocess.run(["tar", "-czf", archive, "-C", tmp_path, "linux-9.9"], check=True)
    source.unpack(source.from_tarball(archive), tmp_path / "tree")
    assert (tmp_path / "tree" / "arch" / "um" / "Kconfig").is_file()


def test_an_archive_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").write_text("x")
    archive = tmp_path / "other.tar.gz"
    subprocess.run(["tar", "-czf", archive, "-C", tmp_path, "other"], check=True)
    with pytest.raises(KernelError, match="arch/um"):
        source.unpack(Source("other", "", archive, ""), tmp_path / "tree")
