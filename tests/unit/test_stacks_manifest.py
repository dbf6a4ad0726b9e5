"""Manifests: what is accepted, and how a wrong one is explained."""

from __future__ import annotations

from pathlib import Path

import pytest

from cambrian.stacks import manifest
from cambrian.stacks.manifest import ManifestError

SMALLEST = """
name = "mine"
[ccas.cubic]
[build]
kind = "none"
binary = "/bin/sh"
[server]
command = ["{bin}"]
"""


def _read(folder: Path, text: str, name: str = "mine.toml") -> manifest.Manifest:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return manifest.read(path)


def test_the_smallest_manifest_has_sane_defaults(tmp_path: Path) -> None:
    said = _read(tmp_path, SMALLEST)
    assert (said.protocol, said.transport_trace, said.cca_readback) == ("quic", "none", False)
    assert said.client is None


def test_a_name_must_be_the_file_s_or_the_folder_s(tmp_path: Path) -> None:
    assert _read(tmp_path, SMALLEST, "mine/manifest.toml").name == "mine"
    with pytest.raises(ManifestError, match='is "mine", but the file is "yours"'):
        _read(tmp_path, SMALLEST, "yours.toml")
    with pytest.raises(ManifestError, match='is "mine", but the folder is "yours"'):
        _read(tmp_path, SMALLEST, "yours/manifest.toml")


@pytest.mark.parametrize(
    ("wrong", "right", "said"),
    [
        ("[server]", "[servers]", r":7:2: servers: unknown key\n  remedy: did you mean server\?"),
        ("command =", "comand =", r":8:1: comand: unknown key\n  remedy: did you mean command\?"),
        ('kind = "none"', 'kind = "rpm"', r":5:1: kind: should be 'cargo', .* or 'none'"),
        ('kind = "none"', 'kind = "debian"', r'build: kind "debian" needs packages'),
        ('kind = "none"', 'kind = "python"', r'build: kind "python" needs lock'),
        ('kind = "none"', 'kind = "none"\nsuite = "sid"', "packages and suite go together"),
        ('command = ["{bin}"]', "", r"server\.command is missing"),
        ('name = "mine"', 'name = "mine"\ntransport_trace = "qlog"', r"write below \{qlog\}"),
        ("[server]", "[client]\n[server]", "client: a client needs a program\n  remedy: give command, or the stack whose client it is"),
    ],
)
def test_what_is_wrong_is_named_with_its_key(tmp_path: Path, wrong: str, right: str, said: str) -> None:
    with pytest.raises(ManifestError, match=said):
        _read(tmp_path, SMALLEST.replace(wrong, right, 1))


def test_text_that_is_no_toml_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match=r"mine\.toml:1:8: name: not TOML"):
        _read(tmp_path, "name = ")
