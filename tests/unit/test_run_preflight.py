"""What a user is told before a study runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from cambrian import paths
from cambrian.kernel import locate
from cambrian.run import preflight, prepare
from cambrian.stacks import build, catalogue
from cambrian.stacks.build import State, Status
from cambrian.stacks.manifest import ManifestError
from cambrian.study.expand import expand
from cambrian.study.load import parse_study
from cambrian.study.model import Contestant, Flow, Group, Network, Trial

STUDY = """
name = "s"
title = "s"
duration_s = 60
seeds = 3
start_spread_ms = 100
[[network]]
rate_mbps = 20
rtt_ms = 50
buffer_bdp = 1
[[contestant]]
stack = "quinn"
cca = "cubic"
"""
CATALOGUE = {"quinn": ["cubic"], "tcp": ["cubic", "dctcp"]}


def groups(*changes: tuple[str, str]) -> list[Group]:
    text = STUDY
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    study = parse_study(text, "s.toml", Path(), CATALOGUE, lambda *_: "cubic")
    return list(expand(study, reference_of=lambda *_: "cubic"))


def notes(found: list[Group], folder: Path, to_build: tuple[str, ...] = ()) -> list[str]:
    return preflight.notes(found, folder, to_build, kernel=False)


def test_a_study_without_a_problem_has_no_note(tmp_path: Path) -> None:
    assert notes(groups(), tmp_path) == []


@pytest.mark.parametrize(
    ("seeds", "judged"),
    [
        ("1 seed", "only parameters, which have many events in a trial,"),
        ("2 seeds", "parameters, plausibility, and probes on networks without randomness"),
    ],
)
def test_few_seeds_decide_no_comparison_of_means(tmp_path: Path, seeds: str, judged: str) -> None:
    (line,) = notes(groups(("seeds = 3", f"seeds = {seeds[0]}")), tmp_path)
    assert line == (
        f"{seeds}: comparisons of means have no interval and stay inconclusive; {judged} can be judged; "
        "remedy: seeds = 3 or more"
    )


def test_equal_starts_without_randomness_give_equal_seeds(tmp_path: Path) -> None:
    alike = ("start_spread_ms = 100", "start_spread_ms = 0")
    (line,) = notes(groups(alike), tmp_path)
    assert "start_spread_ms is 0" in line
    assert notes(groups(alike, ("buffer_bdp = 1", "buffer_bdp = 1\nloss_percent = 1")), tmp_path) == []


def test_a_buffer_below_one_frame_is_named_with_the_buffer_that_it_gets(tmp_path: Path) -> None:
    (line,) = notes(groups(("rate_mbps = 20", "rate_mbps = 1"), ("rtt_ms = 50", "rtt_ms = 5")), tmp_path)
    assert "1 BDP is less than a full frame; the buffer has one frame, 1514 bytes or 2.42 BDP" in line
    many = notes(groups(("rate_mbps = 20", "rate_mbps = [1, 1.1, 1.2, 1.3]"), ("= 50", "= 5")), tmp_path)
    assert len(many) == 4 and many[-1] == "such buffers in 1 more"


def test_large_results_are_compared_with_the_disk(tmp_path: Path) -> None:
    (line,) = notes(groups(("seeds = 3", "seeds = 10000"), ("= 60", "= 36000")), tmp_path / "a" / "b")
    assert "GB free" in line and str(tmp_path) in line and "/a" not in line.partition(str(tmp_path))[2]


@pytest.mark.parametrize(
    ("changes", "announced"),
    [
        # 20 Mbps for 60 s are 99,075 packets of 3,908 bytes
        ((("start_spread_ms", "raw_capture = true\nstart_spread_ms"), ("seeds = 3", "seeds = 20")), "8 GB"),
        # 1 s at 20 Mbps, then 59 s at 1 Gbps: 4.9 million packets of 8 bytes
        (
            (
                ("buffer_bdp = 1", "buffer_bdp = 1\nschedule = [{ at_s = 1, rate_mbps = 1000 }]"),
                ("seeds = 3", "seeds = 200"),
            ),
            "8 GB",
        ),
        # the same backwards: 0.2 GB
        (
            (
                ("= 20", "= 1000"),
                ("buffer_bdp = 1", "buffer_bdp = 1\nschedule = [{ at_s = 1, rate_mbps = 20 }]"),
                ("seeds = 3", "seeds = 100"),
            ),
            "",
        ),
    ],
)
def test_raw_captures_and_schedules_count_in_the_size_of_results(
    tmp_path: Path, changes: tuple[tuple[str, str], ...], announced: str
) -> None:
    lines = notes(groups(('title = "s"', 'title = "s"\ndesign = "solo"'), *changes), tmp_path)
    assert [line for line in lines if f"results of up to about {announced}" in line] == lines
    assert bool(lines) == bool(announced)


def test_a_program_that_is_not_there_is_said_before_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = 'name = "mine"\n[ccas.cubic]\n[build]\nkind = "none"\nbinary = "/no/such/x"\n'
    (tmp_path / "mine.toml").write_text(f'{manifest}[server]\ncommand = ["{{bin}}"]\n')
    monkeypatch.setenv("CAMBRIAN_STACKS", "")
    catalogue.look_in(tmp_path)
    try:
        with pytest.raises(ManifestError, match=r"mine\.toml:5:1: build\.binary: there is no /no/such/x"):
            notes(groups(), tmp_path, ("mine",))
    finally:
        catalogue.load.cache_clear()


def test_a_users_own_stack_is_told_if_it_may_mislead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "server").write_text("#!/bin/sh\n")
    (tmp_path / "server").chmod(0o755)
    tmp_path.chmod(0o755)
    build_none = '[ccas.cubic]\n[build]\nkind = "none"\nbinary = "server"\n'
    for name in ("quinn", "noq"):
        (tmp_path / f"{name}.toml").write_text(
            f'name = "{name}"\n{build_none}[server]\ncommand = ["{{bin}}"]\n'
        )
    monkeypatch.setattr("cambrian.stacks.built.HIDDEN", ())
    monkeypatch.setattr("cambrian.stacks.built.SHOWABLE", ())
    monkeypatch.setenv("CAMBRIAN_STACKS", "")
    catalogue.look_in(tmp_path)
    try:
        lines = [line for line in notes(groups(), tmp_path, ("noq", "quinn")) if "builds first" not in line]
        (tmp_path / "noq.toml").write_text(
            (tmp_path / "noq.toml").read_text().replace("[server]", 'sources = ["server"]\n[server]')
        )
        catalogue.load.cache_clear()
        again = [line for line in notes(groups(), tmp_path, ("noq",)) if "builds first" not in line]
    finally:
        catalogue.load.cache_clear()
    where, script = (
        "{0} here is {1}/{0}.toml, in the place of the catalogue's",
        "{}: server is a script: after",
    )
    starts = [text.format(name, tmp_path) for name in ("noq", "quinn") for text in (where, script)]
    assert [line.startswith(start) for line, start in zip(lines, starts, strict=True)] == [True] * 4, lines
    assert 'of others (receiver = "reference")' in lines[2] and "of others" not in lines[0]
    assert again == lines[:1]


class _Begins(Exception):
    """The first build would begin."""


def test_every_command_tells_of_own_stacks_and_refuses_those_that_are_not_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def begin() -> None:
        raise _Begins

    # below the checkout, but not the catalogue's
    here = tmp_path / "mystudies" / "stacks"
    here.mkdir(parents=True)
    (tmp_path / "stacks").symlink_to(paths.data() / "stacks")
    monkeypatch.setattr(paths, "data", lambda: tmp_path)
    monkeypatch.setattr(locate, "ensure", begin)
    monkeypatch.setenv("CAMBRIAN_STACKS", str(here))
    manifest, other = here / "noq.toml", here / "noq" / "manifest.toml"
    text = (
        'name = "noq"\n[ccas.cubic]\n{}[build]\nkind = "none"\nbinary = "/bin/true"\n[server]\n'
        'command = ["{{bin}}"]\n'
    )
    other.parent.mkdir()
    other.write_text(text.format(""))
    try:
        for more, expected in (("[ccas.reno]\n", ManifestError), ("", _Begins), ("", _Begins)):
            manifest.write_text(text.format(more))
            catalogue.load.cache_clear()
            with pytest.raises(expected):
                prepare.ensure({"noq", "tcp"})
        lines = [
            f"noq here is {manifest}, in the place of the catalogue's",
            f"noq here is {manifest}; {other} has the same name and is not used",
        ]
        # once, and not if the command has shown it by itself
        assert capsys.readouterr().err.splitlines() == [f"cambrian: {line}" for line in lines]
        assert notes(groups(), tmp_path, ("noq", "tcp")) == lines
    finally:
        monkeypatch.undo()
        catalogue.load.cache_clear()


def test_missing_builds_are_named_with_their_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "status", lambda stack: Status("missing", stack.name, None))
    (line,) = notes(groups(), tmp_path, ("tcp", "msquic"))
    assert line.startswith("builds first: msquic (about ") and ", tcp (about " in line


@pytest.mark.parametrize("state", ["missing", "fails", "unbuildable", "broken", "built"])
def test_only_what_is_built_needs_no_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, state: State
) -> None:
    monkeypatch.setattr(build, "status", lambda _: Status(state, "", None))
    monkeypatch.setattr(prepare, "native_home", lambda: (tmp_path, ""))
    assert preflight.all_built(["tcp", "quinn"], kernel=False) == (state == "built")
    assert bool(preflight.to_build(["quinn"], kernel=False)) == (state in ("missing", "fails"))
    monkeypatch.setattr(prepare, "native_home", lambda: (tmp_path / "none", ""))
    assert not preflight.all_built(["tcp"], kernel=False)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        # 20 round trips of 200 ms, after a start of up to 0.1 s
        ((("= 60", "= 4.2"), ("rtt_ms = 50", "rtt_ms = [50, 200]")), "20mbps-200ms-1bdp: throughput"),
        ((("= 60", "= 4.05"), ("rtt_ms = 50", "rtt_ms = 200")), " end before and are measured from 0 s"),
        ((("rtt_ms = 50", "rtt_ms = [1000, 3500, 3000]"),), "3500ms-1bdp (one of 2 such networks)"),
    ],
)
def test_a_trial_that_ends_about_when_the_warm_up_does_is_told(
    tmp_path: Path, changes: tuple[tuple[str, str], ...], said: str
) -> None:
    alone = ('title = "s"', 'title = "s"\ndesign = "solo"')
    found = [line for line in notes(groups(alone, *changes), tmp_path) if "round trips" in line]
    assert len(found) == 1 and said in found[0], found
    chosen = ("start_spread_ms", "measured_from_s = 1\nstart_spread_ms")
    assert not notes(groups(alone, chosen, *changes), tmp_path)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            (
                "buffer_bdp = 1",
                "buffer_bdp = 1\nschedule = [{ at_s = 30, rate_mbps = 5 }]\n[profile.quick]\nduration_s = 20",
            ),
            "1 of 1 steps never come: trials end after 20 s, and the first of them is due at 30 s",
        ),
        (
            ("buffer_bdp = 1", 'buffer_bdp = 1\nqueue = "cake"'),
            "cake: packets of senders that support ECN are always marked",
        ),
        (
            ("buffer_bdp = 1", "buffer_bdp = 1\nschedule = [{ at_s = 30, handover_overlap_ms = 100 }]"),
            "a TCP connection cannot follow",
        ),
        (
            (
                '[[contestant]]\nstack = "quinn"\ncca = "cubic"',
                '[[flow]]\nstack = "quinn"\ncca = "cubic"\nsize_bytes = 500_000_000',
            ),
            "quinn cubic cannot complete: 500,000,000 bytes, and the link carries 149,",
        ),
        (
            (
                '[[contestant]]\nstack = "quinn"\ncca = "cubic"',
                '[[flow]]\nstack = "quinn"\ncca = "cubic"\nsize_bytes = 5_000_000\nstart_ms = 59_000',
            ),
            "5,000,000 bytes, and the link carries 2,2",
        ),
        (
            (
                '[[contestant]]\nstack = "quinn"\ncca = "cubic"',
                '[[flow]]\nstack = "quinn"\ncca = "cubic"\nsize_bytes = 80_000_000\ncount = 2',
            ),
            "quinn cubic and quinn cubic cannot all complete: 160,000,000 bytes, and the link carries 149,",
        ),
        (
            (
                "buffer_bdp = 1",
                'buffer_bdp = 1\nqueue = ["codel", "dualpi2"]\necn = [true, false]\n'
                '[[contestant]]\nstack = "tcp"\ncca = "dctcp"',
            ),
            "tcp dctcp: 2 of 4 networks do not suit it, and its trials there may be invalid: without ECN",
        ),
        (
            ('[[contestant]]\nstack = "quinn"', '[[flow]]\nrtt_ms = 9000\nstart_ms = 35000\nstack = "quinn"'),
            "ms before the trial's end, and a connection and its first data take 3 round trips of 9000 ms",
        ),
        (
            (
                '[[contestant]]\nstack = "quinn"\ncca = "cubic"',
                '[[flow]]\nstack = "quinn"\ncca = "cubic"\nstart_ms = 59_880',
            ),
            "ms before the trial's end, and a connection and its first data take 3 round trips of 50 ms",
        ),
    ],
)
def test_what_would_mislead_is_told(change: tuple[str, str], said: str, tmp_path: Path) -> None:
    text = STUDY.replace(*change)
    if "[[flow]]" in text:
        text = text.replace('name = "s"', 'name = "s"\ndesign = "flows"')
    study = parse_study(text, "s.toml", Path(), CATALOGUE, lambda *_: "cubic")
    quick = "quick" if "profile.quick" in text else None
    found = list(expand(study, profile=quick, reference_of=lambda *_: "cubic"))
    assert any(said in line for line in notes(found, tmp_path)), notes(found, tmp_path)


def test_the_group_that_is_measured_least_is_told() -> None:
    long = groups(('title = "s"', 'title = "s"\ndesign = "solo"'), ("= 60", "= 1.2"))[0]
    trials = tuple(one.model_copy(update={"duration_s": 1.11}) for one in long.trials)
    short = long.model_copy(update={"trials": trials})
    for found in ([short, long], [long, short]):
        line = preflight._little_measured(found)
        assert "trials end after 1.11 s" in line and "such networks" not in line


def test_the_time_of_a_stack_of_unknown_speed_is_called_a_guess() -> None:
    """At the speed of the slowest stack here, kwik, it is five times as long as at the usual guess."""
    assert preflight.guessed_time(groups(), 2) == ""
    flow = Flow(contestant=Contestant(stack="mine", cca="cubic"))
    network = Network(name="n", rate_mbps=20, rtt_ms=50, buffer_bdp=1)
    trial = Trial(network=network, flows=(flow,), duration_s=900)
    asked = Group(key="k", design="solo", network="n", subject="s", reference=None, trials=(trial,))
    assert preflight.guessed_time([asked], 1) == (
        "the speed of mine is not known, so the time above is a guess; "
        "at the speed of the slowest stack here it is about 17 min"
    )
    few = trial.model_copy(update={"flows": (flow.model_copy(update={"size_bytes": 1000}),)})
    assert preflight.guessed_time([asked.model_copy(update={"trials": (few,)})], 1) == ""
    real = asked.model_copy(update={"trials": (trial.model_copy(update={"clock": "real"}),)})
    assert preflight.guessed_time([real], 1) == ""
