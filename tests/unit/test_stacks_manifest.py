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
        (
            "[server]",
            "[servers]",
            r":7:2: servers: unknown key\n    \[servers\]\n     \^\n  remedy: did you mean server\?",
        ),
        (
            "command =",
            "comand =",
            r":8:1: comand: unknown key\n    comand = .*\n    \^\n  remedy: did you mean command\?",
        ),
        (
            'kind = "none"',
            'kind = "rpm"',
            r':5:1: kind: "rpm" is not possible(.*\n)*.*give "cargo", .* or "python"',
        ),
        ('kind = "none"', 'kind = "debian"', r':5:1: kind: kind "debian" needs packages'),
        ('kind = "none"', 'kind = "python"', r':5:1: kind: kind "python" needs lock'),
        ('kind = "none"', 'kind = "none"\nsuite = "sid"', "packages and suite go together"),
        ('command = ["{bin}"]', "", r"server\.command is missing"),
        ('["{bin}"]', "[]", r"server\.command is empty\n(.*\n)*  remedy: give the program and its arguments"),
        ("[ccas.cubic]", "[ccas]", r"ccas: an empty table is not possible\n(.*\n)*.* that is not empty;"),
        (
            "[ccas.cubic]",
            '[ccas.cubic]\nreference = "cubix"',
            r':4:1: reference: the kernel has no CCA "cubix"\n(.*\n)*  remedy: did you mean cubic\?',
        ),
        (
            '"{bin}"]',
            '"{bin}", "{adress}:1"]',
            r':8:21: command: "\{adress\}" is no word that .*\n(.*\n)*  remedy: .*mean address\?',
        ),
        ('"{bin}"]', '"{bin}", "{ port }"]', r"\{ port \}.* is no word .*\n(.*\n)*.*did you mean port\?"),
        ('"{bin}"]', '"{bin}", "--x={bin"]', r':8:21: command: "\{" without its "\}"'),
        ('"{bin}"]', '"{bin}"]\nenvironment = { A = "{nope}" }', r':9:17: A: "\{nope\}" is no word'),
        ("[server]", '[client]\ncommand = ["{connect}"]\n[server]', r':8:12: command: "\{connect\}" is no'),
        ('name = "mine"', 'name = "mine"\ntransport_trace = "qlog"', r"write below \{qlog\}"),
        (
            "[server]",
            "[client]\n[server]",
            "client: a client needs a program\n(.*\n)*.*give command, or the stack whose client it is",
        ),
    ],
)
def test_what_is_wrong_is_named_with_its_key(tmp_path: Path, wrong: str, right: str, said: str) -> None:
    with pytest.raises(ManifestError, match=said):
        _read(tmp_path, SMALLEST.replace(wrong, right, 1))


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("[ccas.cubic]", '[ccas.cubic]\nreference = "bic"'),
        ("[ccas.cubic]", '[ccas.cubic]\nvalues = { flag = "x" }'),
        ('"{bin}"]', '"sh", "-c", "for x in 1 2; do echo ${x}; done"]'),
        ('"{bin}"]', """"{bin}", '{"a": 1}', '{"b": {"c": "{port}"}}']"""),
    ],
)
def test_what_only_looks_like_an_error_is_accepted(tmp_path: Path, wrong: str, right: str) -> None:
    text = SMALLEST.replace(wrong, right, 1)
    _read(tmp_path, text.replace('"{bin}"]', '"{bin}", "{flag}"]') if "flag" in right else text)


def test_all_errors_are_reported_at_once(tmp_path: Path) -> None:
    text = SMALLEST.replace("[ccas.cubic]", '[ccas.cubic]\nrefernce = "cubic"').replace(
        '["{bin}"]', '"{bin}"'
    )
    with pytest.raises(ManifestError) as caught:
        _read(tmp_path, text)
    assert (
        str(caught.value).replace(f"{tmp_path}/", "")
        == """\
mine.toml:4:1: refernce: unknown key
    refernce = "cubic"
    ^
  remedy: did you mean reference? this table takes: causes, needs_ecn, notes, reference or values
mine.toml:9:1: command: "{bin}" is not possible
    command = "{bin}"
    ^
  remedy: give a list in square brackets; docs/reference/endpoint-contract.md has every key"""
    )


def test_text_that_is_no_toml_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match=r"mine\.toml:1:8: name: not TOML"):
        _read(tmp_path, "name = ")
