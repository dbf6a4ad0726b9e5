"""Any file that a user gives is accepted, or refused with one clean error; never a traceback or a hang."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cambrian import cli
from cambrian.stacks import catalogue, manifest
from cambrian.stacks.manifest import ManifestError
from cambrian.study import toml_text
from cambrian.study.errors import StudyError
from cambrian.study.expand import expand
from cambrian.study.limits import MOST_PATH_BYTES, MOST_TRIALS
from cambrian.study.load import load_study, parse_study
from cambrian.study.model import Flow, Network, Study, Trial
from cambrian.study.tracefile import read_trace
from cambrian.suites import model as suites
from tests.unit import mutations
from tests.unit.test_study_errors import GOOD

STACKS = {"quinn": ["cubic"], "tcp": ["cubic"]}
KINDS = mutations.kinds()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("inputs")
    mutations.prepare(made)
    return made


@pytest.mark.parametrize("name", KINDS)
def test_the_files_that_the_mutations_start_from_are_good(name: str, folder: Path) -> None:
    original = KINDS[name].files[0]
    verdict = mutations.judge(KINDS[name], original, original.read_bytes(), folder)
    assert (verdict.outcome, verdict.detail) == ("accepted", "")


@pytest.mark.parametrize("name", KINDS)
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32))
def test_no_mutation_gives_a_traceback_or_an_absurd_number(name: str, seed: int, folder: Path) -> None:
    random = Random(seed)
    kind = KINDS[name]
    original = random.choice(kind.files)
    content = mutations.mutated(original.read_bytes(), random, trace=name == "trace")
    verdict = mutations.judge(kind, original, content, folder)
    assert verdict.outcome in ("accepted", "error"), verdict


@pytest.mark.parametrize(
    ("value", "seen"),
    [
        (Network(rate_mbps=20, rtt_ms=50, buffer_bdp=1), []),
        ({"rtt_ms": float("nan")}, ["rtt_ms = nan"]),
        ({"options": {"a": float("inf")}}, [" = inf"]),
        ([{"buffer_bytes": -1}], ["buffer_bytes = -1"]),
        ({"title": "a\0"}, [r"title = 'a\x00'"]),
    ],
)
def test_an_absurd_number_is_seen(value: object, seen: list[str]) -> None:
    assert list(mutations.absurdities(value)) == seen


def _study(old: str, new: str) -> Study:
    assert old in GOOD
    return parse_study(GOOD.replace(old, new), "x.toml", Path(), STACKS)


@pytest.mark.parametrize(
    ("old", "new", "line", "key", "remedy"),
    [
        ("buffer_bdp = 1", "buffer_bytes = 1513", 6, "buffer_bytes", "at least 1,514 and at most 268,"),
        ("buffer_bdp = 1", f"buffer_packets = {10**30}", 6, "buffer_packets", "at most 177,302"),
        ("buffer_bdp = 1", "buffer_bdp = 9e18", 6, "buffer_bdp", "at most 10,000"),
        ("buffer_bdp = 1", "buffer_bdp = 9999", 6, "buffer_bdp", "give a smaller buffer_bdp, rate_mbps or"),
        ("rtt_ms = 50", "rtt_ms = 1e15", 5, "rtt_ms", "at least 0.01 and at most 10,000"),
        ("rtt_ms = 50", "rtt_ms = 1e-300", 5, "rtt_ms", "at least 0.01"),
        ("rtt_ms = 50", "rtt_ms = 50\njitter_ms = 9e18", 6, "jitter_ms", "at most 2,000"),
        ("rtt_ms = 50", "rtt_ms = 50\naqm_target_ms = 1e9", 6, "aqm_target_ms", "at most 10,000"),
        ("rtt_ms = 50", "rtt_ms = 50\nschedule = [{ at_s = 1, rate_mbps = 1e9 }]", 6, "rate_mbps", "at most"),
        ("rate_mbps = 20", "rate_mbps = 1e-300", 4, "rate_mbps", "at least 0.01"),
        ('"cubic"', '"cubic"\noptions = { a = "x\\u0000" }', 10, "a", "text of one line"),
        ('"cubic"', '"cubic"\noptions = { a = 9223372036854775808 }', 10, "a", "whole numbers of 64 bits"),
        ('"cubic"', '"cubic"\noptions = { "a=b" = 1 }', 10, "a=b", "without spaces, ="),
        ('title = "X"', 'title = "X\\u001b"', 2, "title", "without control characters"),
        ('name = "x"', f'name = "{"x" * 101}"', 1, "name", "at most 100 characters"),
        ('title = "X"', 'title = "X"\nstart_spread_ms = 1e300', 3, "start_spread_ms", "at most 36,000,000"),
    ],
)  # fmt: skip
def test_a_value_out_of_range_names_its_range(old: str, new: str, line: int, key: str, remedy: str) -> None:
    with pytest.raises(StudyError) as caught:
        _study(old, new)
    assert (caught.value.file, caught.value.line, caught.value.key) == ("x.toml", line, key)
    assert remedy in caught.value.remedy


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("buffer_bdp = 1", "buffer_bytes = 1514"),
        ("buffer_bdp = 1", f"buffer_bytes = {MOST_PATH_BYTES - 125_000}"),
        ("rate_mbps = 20", "rate_mbps = 0.01"),
        ("rtt_ms = 50", "rtt_ms = 0.01"),
        ("rtt_ms = 50", "rtt_ms = 50\njitter_ms = 2000"),
        ('title = "X"', 'title = "X"\ndescription = """two\nlines\tand a tab"""'),
        ('"cubic"', '"cubic"\noptions = { a = 9223372036854775807, b = -1e18 }'),
    ],
)
def test_the_end_of_a_range_is_accepted(old: str, new: str) -> None:
    _study(old, new)


def test_a_flow_s_own_round_trip_counts_for_the_path() -> None:
    flows = GOOD.replace("[[contestant]]", "[[flow]]").replace('"X"', '"X"\ndesign = "flows"')
    long = flows.replace("rate_mbps = 20", "rate_mbps = 1000") + "rtt_ms = 10_000\n"
    with pytest.raises(StudyError, match="do not fit into the") as caught:
        parse_study(long, "x.toml", Path(), STACKS)
    assert (caught.value.line, caught.value.key) == (11, "rtt_ms")
    contestant = parse_study(flows, "x.toml", Path(), STACKS).flows[0].contestant
    network = Network(rate_mbps=1000, rtt_ms=50, buffer_bdp=1)
    with pytest.raises(ValueError, match="do not fit into the"):
        Trial(network=network, flows=(Flow(contestant=contestant, rtt_ms=10_000),), duration_s=1)


def test_the_highest_rate_of_a_schedule_counts_for_the_path() -> None:
    with pytest.raises(StudyError, match="a path of 12,500,000,000 bytes"):
        _study("rtt_ms = 50", "rtt_ms = 10_000\nschedule = [{ at_s = 1, rate_mbps = 10_000 }]")


def test_more_handovers_than_addresses() -> None:
    steps = ", ".join(f"{{ at_s = {n / 10}, handover_overlap_ms = 0 }}" for n in range(1, 257))
    with pytest.raises(StudyError, match="256 handovers need as many addresses"):
        _study("rtt_ms = 50", f"rtt_ms = 50\nschedule = [{steps}]")


def test_a_huge_grid_is_refused_before_it_is_made() -> None:
    values = ", ".join(str(n) for n in range(1, 1001))
    with pytest.raises(StudyError, match=r"has 1,000,000 networks") as caught:
        _study("rtt_ms = 50", f"rtt_ms = [{values}]\nloss_every_packets = [{values}]")
    assert "10,000 networks" in caught.value.remedy
    with pytest.raises(StudyError, match=r"has 1,001 contestants"):
        _study('"cubic"', "[" + ", ".join(['"cubic"'] * 1001) + "]")


def test_too_many_trials_are_refused_before_they_are_made() -> None:
    study = _study("rtt_ms = 50", f"rtt_ms = {list(range(1, 101))}")
    study = study.model_copy(update={"design": "solo", "seeds": 10_000})
    with pytest.raises(StudyError, match=r"1,000,000 trials \(100 networks, 10,000 seeds\)") as caught:
        expand(study, reference_of=lambda stack, cca: cca)
    assert f"{MOST_TRIALS:,}" in caught.value.problem
    # 60 flows in groups of 3, 4, 5, 7, 11, 13 and 17 have 1,021,020 orders
    sizes = (3, 4, 5, 7, 11, 13, 17)
    tables = [
        f'[[flow]]\nstack = "tcp"\ncca = "cubic"\nstart_ms = {index * 1000}\n'
        for index, size in enumerate(sizes)
        for _ in range(size)
    ]
    text = GOOD.partition("[[contestant]]")[0].replace('"X"', '"X"\ndesign = "flows"\nseeds = 1')
    crowd = parse_study(text + "".join(tables), "x.toml", Path(), STACKS)
    with pytest.raises(StudyError, match="1,021,020 trials"):
        expand(crowd, reference_of=lambda stack, cca: cca)


def _unreadable(folder: Path) -> dict[str, Path]:
    os.mkfifo(folder / "pipe.toml")
    (folder / "folder.toml").mkdir()
    (folder / "nowhere.toml").symlink_to(folder / "none")
    (folder / "loop.toml").symlink_to(folder / "loop.toml")
    (folder / "device.toml").symlink_to("/dev/zero")
    (folder / "large.toml").write_bytes(b"#" * (toml_text.MOST_BYTES + 1))
    return {
        "it is a named pipe": folder / "pipe.toml",
        "is a directory": folder / "folder.toml",
        "no such file": folder / "nowhere.toml",
        "symbolic links": folder / "loop.toml",
        "it is a device": folder / "device.toml",
        "has more than 1,048,576 bytes": folder / "large.toml",
    }


def test_what_is_no_ordinary_file_is_refused_at_once(tmp_path: Path) -> None:
    for said, path in _unreadable(tmp_path).items():
        with pytest.raises(StudyError, match=said) as caught:
            load_study(path, STACKS)
        assert caught.value.file == str(path)
        with pytest.raises(StudyError, match=said):
            suites.read(path)
        with pytest.raises(ManifestError, match=said):
            manifest.read(path)
        if "bytes" not in said:
            with pytest.raises(StudyError, match=said):
                read_trace(path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_a_file_without_permission_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "secret.toml"
    path.write_text(GOOD)
    path.chmod(0)
    with pytest.raises(StudyError, match="permission denied"):
        load_study(path, STACKS)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a = " + "[" * 100_000, "nested more than 32 deep"),
        ("a = " + "[" * 40 + "]" * 40, "nested more than 32 deep"),
        ("a" + ".a" * 100_000 + " = 1", "nested more than 32 deep"),
        ("[" + '"a" . ' * 50_000 + "a]", "nested more than 32 deep"),
        ("a = " + "9" * 10_000, "thousands of digits"),
        ("a = 0x" + "f" * 10_000, "thousands of digits"),
        ("a" * 101 + " = 1", "has 101 characters"),
        ('"a\\u0000" = 1', "cannot be printed"),
    ],
)
def test_text_that_would_stop_the_reader(text: str, said: str) -> None:
    with pytest.raises(StudyError, match=said) as caught:
        toml_text.parse(text, "x.toml")
    assert caught.value.remedy


def test_dots_and_commas_in_values_are_no_dotted_key() -> None:
    text = f'a = [{", ".join(["1.5"] * 100)}]\nb = "{"Two words. " * 100}"\nc = "{". " * 100}"\n'
    assert len(toml_text.parse(text, "x.toml")["a"]) == 100


def _run(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["cambrian", *words])
    with pytest.raises(SystemExit) as exit_:
        cli.main()
    assert isinstance(exit_.value.code, int)
    return exit_.value.code


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (GOOD.replace("= 50", "= 1e300").encode(), "rtt_ms: 1e+300 is not possible"),
        (GOOD.replace("= 50", "= nan").encode(), "rtt_ms: nan is not possible"),
        (GOOD.replace("= 1", "= 9999").encode(), "do not fit into the"),
        (GOOD.encode() + b"\xff", "not UTF-8 text"),
        (b"a = " + b"[" * 5000, "nested more than"),
        (GOOD.replace("quinn", "quin\\u0000n").encode(), "is not possible"),
        (GOOD.replace("X", "X\\u0000").encode(), "title"),
    ],
)
def test_a_bad_study_ends_the_command_with_status_2(
    content: bytes,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "bad.toml"
    path.write_bytes(content)
    assert _run(monkeypatch, "run", str(path), "--dry-run") == 2
    shown = capsys.readouterr()
    assert said in shown.err
    assert "remedy: " in shown.err
    assert shown.out == ""


def test_files_that_are_none_end_the_command_with_status_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for said, path in _unreadable(tmp_path).items():
        for words in (("run", str(path), "--dry-run"), ("trial", str(path), "--out", str(tmp_path / "out"))):
            assert _run(monkeypatch, *words) == 2
            assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"stack": "nobody"}, "unknown stack nobody"),
        ({"cca": "nothing"}, "quinn has no CCA nothing"),
        ({"receiver": "nobody"}, "unknown stack nobody"),
        ({"options": {"initial_window_packets": 10**9}}, "options.initial_window_packets: "),
        ({"options": {"a": "\0"}}, "should match pattern"),
    ],
)
def test_a_bad_trial_ends_the_command_with_status_2(
    change: dict[str, object],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    contestant = {"stack": "quinn", "cca": "cubic"} | change
    network = {"rate_mbps": 20, "rtt_ms": 50, "buffer_bdp": 1}
    path = tmp_path / "trial.json"
    path.write_text(json.dumps({"network": network, "flows": [{"contestant": contestant}], "duration_s": 1}))
    assert _run(monkeypatch, "trial", str(path), "--out", str(tmp_path / "out")) == 2
    assert said in capsys.readouterr().err


def test_broken_stacks_at_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    catalogue.own_folder().mkdir(parents=True)
    (catalogue.own_folder() / "bad.toml").write_bytes(b"\xff")
    catalogue.load.cache_clear()
    try:
        assert _run(monkeypatch, "stacks") == 0
        shown = capsys.readouterr().out
        assert "bad cannot be used: " in shown
        assert "google-quiche" in shown
        assert _run(monkeypatch, "stacks", "build", "bad") == 2
        assert "not UTF-8 text" in capsys.readouterr().err
        assert _run(monkeypatch, "stacks", "remove", "bad") == 0
        assert _run(monkeypatch, "stacks", "remove", "bad") == 2
        assert "there is no stack 'bad'" in capsys.readouterr().err
        assert _run(monkeypatch, "stacks", "remove", "tcp") == 2
    finally:
        catalogue.load.cache_clear()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["selftest", "--only", "rtt*"], "its parts are: clocks"),
        (["hunt", "quinn"], "name a contestant as STACK/CCA"),
        (["hunt", "quinn/cubik"], "hunt: quinn/cubik: quinn has no CCA cubik"),
        (["table", "nowhere"], "nowhere: no such folder"),
        (["merge", ".", "nowhere", "--out", "joined"], "nowhere: no such folder"),
        (["compare", "nowhere", "."], "nowhere: no such folder"),
        (["doctor", "nowhere"], "nowhere: no such folder"),
        (["open", "nowhere"], "nowhere: no such folder"),
        (["history", "quinn/cubc"], "did you mean cubic?"),
        (["history", "quinn/cubic", "--network", "nonet"], "--network: nonet"),
        (["history", "quic-go/reno", "quickstart"], 'give a study with design = "solo"'),
        (["bisect", "quic-go/reno", "respons", "--good", "0.64.0", "--bad", "0.65.0"], "respons"),
        (["stacks", "versions", "quick-go"], "did you mean quic-go?"),
        (["run", "."], "is a folder, not a study"),
        (["run", "quickstart", "--shard", f"1/{'9' * 5000}"], "give two whole numbers"),
        (["run", "quickstart", "--shard", "3/2"], "the first number is from 1 to the second"),
        (["compare", ".", ".", "--page", "file"], "file: is a file"),
        (["trial", "manifest.json", "--out", "out"], "is a trial's manifest"),
        (["table", ".", "flows", "--csv", "--markdown"], "--csv and --markdown are two formats"),
        (["corpus", "--json", "--markdown"], "--json and --markdown are two formats"),
        (["stacks", "test", "tcp", "--json", "--markdown"], "--json and --markdown are two formats"),
    ],
)
def test_a_mistake_is_an_error_with_its_remedy_before_anything_is_built(
    words: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    (tmp_path / "manifest.json").write_text('{"trial": {}, "packets_sha256": "0"}')
    assert _run(monkeypatch, *words) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "results").exists()
