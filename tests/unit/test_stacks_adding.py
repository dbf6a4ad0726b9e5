"""``stacks add``: a user's stack is checked, kept whole, and never hides the catalogue's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

from cambrian import paths
from cambrian.doctor import checks
from cambrian.stacks import adding, build, built, catalogue, listing, manifest, whole
from cambrian.stacks.adding import AddError
from cambrian.stacks.catalogue import Stack
from cambrian.stacks.manifest import ManifestError
from cambrian.study.errors import StudyError
from cambrian.study.load import parse_study


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


def test_a_new_manifest_can_be_read_and_added(tmp_path: Path) -> None:
    path = tmp_path / "my-quic.toml"
    path.write_text(adding.new("my-quic").replace("/usr/local/bin/server", "/bin/sh"))
    assert adding.add(path).manifest.ccas["cubic"].reference == "cubic"


@pytest.mark.parametrize(("name", "said"), [("My Quic", "small letters"), ("quinn", "of the catalogue")])
def test_a_new_manifest_needs_a_name_of_its_own(name: str, said: str) -> None:
    with pytest.raises(AddError, match=said):
        adding.new(name)


def test_one_file_is_kept_and_known(tmp_path: Path) -> None:
    assert "mine" not in catalogue.load()
    added = adding.add(_stack(tmp_path, "mine"))
    assert added.file == tmp_path / "config/cambrian/stacks/mine.toml"
    assert catalogue.load()["mine"].file == added.file


def test_a_stack_replaces_the_other_form_of_its_name(tmp_path: Path) -> None:
    alone, whole_folder = _stack(tmp_path, "mine"), _stack(tmp_path, "mine", file="mine/manifest.toml")
    for path in (alone, whole_folder, alone):
        added = adding.add(path)
        assert catalogue.load()["mine"].file == added.file
        assert added.file.name == path.name


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
        (
            "mine",
            "/no/such/program",
            "",
            ManifestError,
            r"mine\.toml:5:1: build\.binary: there is no /no/such/program\n(.*\n)*  remedy: build",
        ),
        (
            "mine",
            "/bin/sh",
            '[client]\ncommand = ["/no/such/client"]\n',
            ManifestError,
            r"mine\.toml:9:1: client\.command: there is no /no/such/client\n(.*\n)*  remedy: create it",
        ),
        ("mine", "/bin/sh", '[client]\nstack = "nobody"\n', ManifestError, "there is no other stack nobody"),
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


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ('sources = ["/no/such/source"]', "build.sources: there is no /no/such/source"),
        ('lock = "/no/such/lock"', "build.lock: there is no /no/such/lock"),
    ],
)
def test_a_build_source_must_exist_before_the_copy(tmp_path: Path, key: str, said: str) -> None:
    path = _stack(tmp_path, "mine")
    path.write_text(path.read_text().replace("[server]", f"{key}\n[server]"))
    with pytest.raises(ManifestError, match=said):
        adding.add(path)
    assert not catalogue.own_folder().exists()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "[build]",
            "[ccas.reno]\n[build]",
            r"mine\.toml:3:2: ccas\.reno: its programs start in the same way as for cubic",
        ),
        ("[ccas", 'transport_trace = "log"\n[ccas', "nothing tells the server to write the file"),
        ("[server]", 'readable = ["/no/such/lib"]\n[server]', "build.readable: there is no /no/such/lib"),
    ],
)
def test_a_manifest_that_says_more_than_its_commands_is_refused(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    path = _stack(tmp_path, "mine")
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(ManifestError, match=said):
        adding.add(path)


@pytest.mark.parametrize(
    ("ccas", "told"),
    [
        ("[ccas.cubic]\n[ccas.reno]\n", 'environment = { CC = "{cca}" }\n'),
        ('[ccas.cubic]\nvalues = { flag = "-c" }\n[ccas.reno]\n', 'environment = { CC = "{flag}" }\n'),
        ("[ccas.cubic]\n[ccas.reno]\n", '[client]\ncommand = ["/bin/sh", "{cca}"]\n'),
        ("[ccas.cubic]\n[ccas.reno]\n", '[[server.files]]\ntemplate = "a.in"\nto = "a"\n'),
    ],
)
def test_any_text_can_select_the_controller(tmp_path: Path, ccas: str, told: str) -> None:
    path = _stack(tmp_path, "mine", file="mine/manifest.toml", tail=told)
    (tmp_path / "mine/a.in").write_text("{cca} {transport_log}")
    log = 'transport_trace = "log"\n' if "a.in" in told else ""
    path.write_text(path.read_text().replace("[ccas.cubic]\n", f"{log}{ccas}"))
    assert list(adding.add(path).manifest.ccas) == ["cubic", "reno"]


def test_a_stack_that_no_command_runs_is_not_listed_as_built(tmp_path: Path) -> None:
    path = _stack(tmp_path, "mine")
    path.write_text(path.read_text().replace("[ccas.cubic]\n", "[ccas.cubic]\n[ccas.reno]\n"))
    found = build.status(Stack(path, manifest.read(path)))
    assert found.state == "broken" and "they run the same controller" in found.detail


def test_every_stack_of_the_catalogue_is_whole() -> None:
    for stack in catalogue.load().values():
        whole.check(stack)


def test_what_a_program_reads_is_copied_with_it_or_named_in_full(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    path = _stack(tmp_path, "mine")
    path.write_text(path.read_text().replace("[server]", 'readable = ["lib"]\n[server]'))
    with pytest.raises(AddError, match="lib is relative to the manifest"):
        adding.add(path)


def test_a_kind_of_build_needs_its_recipe(tmp_path: Path) -> None:
    path = _stack(tmp_path, "mine", file="mine/manifest.toml", binary="mine")
    path.write_text(path.read_text().replace('"none"', '"cargo"'))
    with pytest.raises(ManifestError, match=r'kind "cargo" needs a Cargo\.toml'):
        adding.add(path)


def test_a_folder_names_nothing_outside_it(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    path = _stack(tmp_path, "mine", file="mine/manifest.toml")
    path.write_text(path.read_text().replace("[server]", 'sources = ["../shared"]\n[server]'))
    with pytest.raises(AddError, match="is outside the folder"):
        adding.add(path)


def test_a_template_that_is_no_text_is_refused(tmp_path: Path) -> None:
    tail = '[[server.files]]\ntemplate = "a"\nto = "a"\n'
    path = _stack(tmp_path, "mine", file="mine/manifest.toml", tail=tail)
    (tmp_path / "mine" / "a").write_bytes(b"\xff")
    with pytest.raises(ManifestError, match="not UTF-8 text"):
        adding.add(path)


def test_a_broken_manifest_does_not_stop_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    adding.add(_stack(tmp_path, "good"))
    (catalogue.own_folder() / "bad.toml").write_bytes(b"name = \xff")
    gone = tmp_path / "gone"
    gone.write_text("")
    path = _stack(tmp_path, "stale")
    path.write_text(path.read_text().replace("[server]", f'sources = ["{gone}"]\n[server]'))
    adding.add(path)
    gone.unlink()
    catalogue.load.cache_clear()
    assert {"good", "tcp", "stale"} <= set(catalogue.load())
    assert "bad" not in catalogue.load()
    assert "not UTF-8 text" in catalogue.load().broken["bad"].error
    listing.show(Console(width=400), as_json=False)
    shown = capsys.readouterr().out
    assert "bad cannot be used: " in shown
    assert "cambrian stacks remove bad" in shown
    assert f"there is no {gone}" in shown
    rows = {row["name"]: row for row in listing.rows()}
    assert [rows[name]["build"] for name in ("bad", "stale", "good")] == ["broken", "broken", "missing"]
    with pytest.raises(ManifestError, match="not UTF-8 text"):
        catalogue.load()["bad"]
    assert {check.name: check.state for check in checks.check_stacks()}["stack bad"] == "missing"


def test_a_study_that_names_a_broken_stack_says_what_is_wrong_with_it(tmp_path: Path) -> None:
    catalogue.own_folder().mkdir(parents=True)
    (catalogue.own_folder() / "bad.toml").write_text("name = ")
    text = 'name = "x"\ntitle = "X"\n[[network]]\nrate_mbps = 20\nrtt_ms = 50\nbuffer_bdp = 1\n'
    text += '[[contestant]]\nstack = "bad"\ncca = "cubic"\n'
    with pytest.raises(StudyError, match=r'the manifest of "bad" has an error: .*bad\.toml:1:8') as caught:
        parse_study(text, "x.toml", tmp_path, catalogue.ccas())
    assert caught.value.line == 8


def test_the_catalogue_s_stack_does_not_stand_in_for_a_broken_one() -> None:
    catalogue.own_folder().mkdir(parents=True)
    (catalogue.own_folder() / "quinn.toml").write_text("name = ")
    assert "quinn" not in catalogue.load()
    assert "quinn" in catalogue.load().broken


def test_nothing_replaces_the_reference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    beside = tmp_path / "stacks"
    _stack(beside, "tcp")
    monkeypatch.setenv("CAMBRIAN_STACKS", str(beside))
    catalogue.load.cache_clear()
    assert catalogue.load()["tcp"].file.is_relative_to(paths.data())
    assert "nothing replaces it" in catalogue.load().broken["tcp"].error
    with pytest.raises(ManifestError, match="is the reference, kernel TCP, and nothing replaces it"):
        catalogue.ccas()
    with pytest.raises(AddError, match="is a stack of the catalogue"):
        adding.add(beside / "tcp.toml")


def test_a_stack_that_was_added_can_be_removed(tmp_path: Path) -> None:
    adding.add(_stack(tmp_path, "mine"))
    _stack(tmp_path, "yours", file="yours/manifest.toml")
    added = adding.add(tmp_path / "yours")
    assert adding.remove("mine") == [catalogue.own_folder() / "mine.toml"]
    assert adding.remove("yours") == [added.folder]
    assert not list(catalogue.own_folder().iterdir())
    assert not {"mine", "yours"} & set(catalogue.load())


def test_a_broken_stack_and_a_link_can_be_removed(tmp_path: Path) -> None:
    own = catalogue.own_folder()
    own.mkdir(parents=True)
    (own / "bad.toml").write_text("name = ")
    (own / "linked").symlink_to(tmp_path)
    assert adding.remove("bad") == [own / "bad.toml"]
    assert adding.remove("linked") == [own / "linked"]
    assert tmp_path.is_dir()


def test_only_what_was_added_can_be_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    beside = _stack(tmp_path / "stacks", "beside")
    monkeypatch.setenv("CAMBRIAN_STACKS", str(beside.parent))
    adding.add(_stack(tmp_path, "mine"))
    for name, said in [
        ("tcp", "is a stack of the catalogue"),
        ("beside", "delete that file instead"),
        ("mime", "did you mean mine"),
        ("../stacks", "there is no stack"),
    ]:
        with pytest.raises(AddError, match=said):
            adding.remove(name)
    assert beside.exists()


def test_a_program_that_is_closed_to_other_users_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cambrian.stacks.built.HIDDEN", ())
    program = tmp_path / "place" / "server"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    added = adding.add(_stack(tmp_path, "mine", binary=str(program)))
    assert program.parent in built.readable(added)
    for path in (program, program.parent):
        path.chmod(0o700)
        with pytest.raises(ManifestError, match=f"chmod o\\+rx {path}"):
            built.readable(added)
        path.chmod(0o755)


_HEAD = 'name = "mine"\n{head}\n[ccas.cubic]\n[build]\nkind = "none"\nbinary = "{binary}"\n'
_SERVER = '[server]\ncommand = ["{bin}"]\n'


@pytest.mark.parametrize(
    ("head", "tail", "said"),
    [
        (
            'alpns = ["hq-interop"]',
            '[client]\nstack = "quin"\n',
            r"mine.toml:10:1: client.stack: there is no other stack quin\n(.|\n)*did you mean quinn",
        ),
        ('alpns = ["hq-interop"]', '[client]\nstack = "mine"\n', "there is no other stack mine"),
        (
            'alpns = ["hq"]',
            '[client]\nstack = "quinn"\n',
            r":10:1: client.stack: (.|\n)*no protocol in common",
        ),
        (
            "",
            '[options.window]\ntype = "integer"\nminimum = 2\nmaximum = 5\ndefault = 10\nmeaning = "x"\n',
            r":13:1: options.window.default: the option takes a whole number from 2 to 5, and 10 is not",
        ),
        ("", '[options.paced]\ntype = "boolean"\ndefault = 1\nmeaning = "x"\n', "takes true or false"),
    ],
)
def test_what_no_study_could_use_is_refused(tmp_path: Path, head: str, tail: str, said: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(_HEAD.format(head=head, binary="/bin/sh") + _SERVER + tail)
    # the second time a stack of this name may be there already
    for _ in range(2):
        with pytest.raises(ManifestError, match=said):
            adding.add(path)
    assert not catalogue.own_folder().exists()


def test_a_default_in_words_and_a_client_of_another_stack_are_taken(tmp_path: Path) -> None:
    option = '[options.window]\ntype = "integer"\nmaximum = 5\ndefault = "cubic: 2"\nmeaning = "x"\n'
    path = tmp_path / "mine.toml"
    head = _HEAD.format(head='alpns = ["hq-interop"]', binary="/bin/sh")
    path.write_text(f'{head}{_SERVER}[client]\nstack = "quinn"\n{option}')
    for _ in range(2):
        assert adding.add(path).name == "mine"


def test_a_folder_is_no_program(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match="/usr/bin is a folder"):
        adding.add(_stack(tmp_path, "mine", binary="/usr/bin"))


def test_every_shipped_option_takes_its_default() -> None:
    for name in catalogue.load():
        adding._check_defaults(catalogue.load()[name])
