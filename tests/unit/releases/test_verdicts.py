"""Whose behaviour a release has, by one figure."""

from __future__ import annotations

import fnmatch
import io
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from rich.console import Console

from cambrian.gate.differences import Compared
from cambrian.gate.snapshot import Parameter, Place, Probe, Snapshot
from cambrian.releases import bisect, chart, history, output, ready, verdicts
from cambrian.releases.bisect import Ends, Result, Tried, state
from cambrian.releases.history import Entry, History, Measured
from cambrian.releases.search import State, narrowed, next_place
from cambrian.releases.trials import Bench, invalid
from cambrian.releases.verdicts import Figure
from cambrian.report.suite import atlas
from cambrian.run.study import RunOptions, expanded
from cambrian.stacks import registry
from cambrian.stacks.registry import Release
from cambrian.study.errors import StudyError

FIGURE = Figure("throughput_mbps", "net")


def measured(release: str, mbps: float, packets: str = "", delay_ms: float = 50.0) -> Snapshot:
    """A release that carries about ``mbps`` on one network."""
    spread = {"1": -0.01, "2": 0.0, "3": 0.02}
    values = {
        "throughput_mbps": {seed: mbps + more for seed, more in spread.items()},
        "delay_p95_ms": {seed: delay_ms + more for seed, more in spread.items()},
    }
    parameter = Parameter(label="paced", trials=3, events=9, status="other choice")
    return Snapshot(
        contestant=f"quic-go@{release}/reno",
        made_with={},
        packets={
            f"net/quic-go-{release}-reno seed {seed}": f"{packets or release} {seed}" for seed in spread
        },
        places={"net": Place(values=values, parameters={"pacing": parameter})},
    )


GOOD, BAD = measured("1.0.0", 9.0), measured("2.0.0", 4.0)


@pytest.mark.parametrize(
    ("mbps", "like", "nearer"),
    [
        (9.0, "good", ""),
        (8.9, "good", ""),
        (4.02, "bad", ""),
        (6.6, "neither", "good"),
        (6.4, "neither", "bad"),
        (12.0, "neither", "good"),
    ],
)
def test_a_release_is_like_an_end_or_like_neither(mbps: float, like: str, nearer: str) -> None:
    verdict = verdicts.judge(FIGURE, GOOD, BAD, measured("1.5.0", mbps))
    assert (verdict.like, verdict.nearer) == (like, nearer)
    assert verdict.shows == f"{mbps + 0.01 / 3:.4g}"
    assert not verdict.same_packets


def test_the_same_packets_are_said() -> None:
    same = measured("1.1.0", 9.0, "1.0.0")
    assert verdicts.judge(FIGURE, GOOD, BAD, same).same_packets == "good"
    # a trial that good lacks may have other packets
    more = same.model_copy(update={"packets": same.packets | {"net/quic-go-1.1.0-reno seed 4": "other"}})
    assert not verdicts.judge(FIGURE, GOOD, BAD, more).same_packets


def test_a_release_without_the_figure_is_unclear() -> None:
    empty = measured("1.5.0", 9.0).model_copy(update={"places": {}})
    assert verdicts.judge(FIGURE, GOOD, BAD, empty).like == "unclear"


def test_a_release_whose_log_is_not_read_is_unclear() -> None:
    """It counted as the newer end: the answer was a release that only lacks the parameter."""
    figure = Figure("beta", "net")

    def with_beta(value: float | None, events: int = 40) -> Snapshot:
        one = {} if value is None else {
            "beta": Parameter(value=value, low=value - 0.01, high=value + 0.01, trials=3, events=events,
                              status="off" if value < 0.7 else "as it should be")
        }  # fmt: skip
        return GOOD.model_copy(update={"places": {"net": Place(parameters=one)}})

    good, bad = with_beta(0.7), with_beta(0.5)
    assert verdicts.judge(figure, good, bad, with_beta(0.5)).like == "bad"
    for tried in (with_beta(None), with_beta(0.5, events=1)):
        verdict = verdicts.judge(figure, good, bad, tried)
        assert (verdict.like, verdict.shows) == ("unclear", "it lacks the figure")
        assert not verdicts.differ(figure, good, tried)


def test_one_seed_alone_makes_no_release_differ() -> None:
    """The gate doubts such a figure; here a release whose change is not clear belongs to its end."""
    tried = measured("1.5.0", 9.0)
    by_seed = tried.places["net"].values["throughput_mbps"] | {"3": 7.2}
    place = tried.places["net"].model_copy(update={"values": {"throughput_mbps": by_seed}})
    stalled = tried.model_copy(update={"places": {"net": place}})
    assert verdicts.compared(GOOD, stalled).doubtful
    assert verdicts.judge(FIGURE, GOOD, BAD, stalled).like == "good"


def test_a_release_like_both_ends_is_unclear() -> None:
    near = measured("2.0.0", 9.6)
    assert verdicts.judge(FIGURE, GOOD, near, measured("1.5.0", 9.3)).like == "unclear"


def test_invalid_trials_do_not_count() -> None:
    bad = GOOD.model_copy(update={"packets": {"a": "invalid: it crashed", "b": "hash"}})
    assert invalid(bad) == "1 of 2 trials are invalid: it crashed"
    assert invalid(GOOD) is None


@pytest.fixture
def releases_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [
        Release("1.0.0", "2026-01-01", yanked=False),
        Release("1.1.0", "2026-02-01", yanked=True),
        Release("1.2.0-rc.1", "2026-03-01", yanked=False),
        Release("1.2.0", "2026-03-02", yanked=False),
        Release("2.0.0", "2026-04-01", yanked=False),
    ]
    monkeypatch.setattr(registry, "listed", lambda stack: found)


@pytest.mark.usefixtures("releases_listed")
def test_the_ends_are_ordered_and_what_was_withdrawn_is_left_out() -> None:
    stack = ready.stack_of("quic-go")
    ends = bisect.ends_of(stack, "2.0.0", "1.0.0")
    assert ends.between == ("1.0.0", "1.2.0", "2.0.0")
    assert not ends.older_is_good
    assert bisect.ends_of(stack, "1.1.0", "2.0.0").between == ("1.1.0", "1.2.0", "2.0.0")
    with pytest.raises(StudyError, match=r"no release 1\.3\.0"):
        bisect.ends_of(stack, "1.3.0", "2.0.0")
    with pytest.raises(StudyError, match="give two releases"):
        bisect.ends_of(stack, "2.0.0", "2.0.0")


def test_every_probe_of_a_flow_alone_has_its_networks_in_the_study() -> None:
    _, groups = expanded(RunOptions(bisect.PROBED, contestants=("quic-go@0.64.0/reno",)))
    networks = {group.network for group in groups}
    known = bisect.probe_networks()
    assert {"response", "lone-loss-kept", "ecn-kept"} <= known.keys()
    for pattern in known.values():
        assert fnmatch.filter(networks, pattern)


def test_only_a_stack_with_releases_is_taken() -> None:
    for name in ("tcp", "quic-go@0.60.0", "no-stack"):
        with pytest.raises((StudyError, ValueError), match="releases"):
            ready.stack_of(name)


def test_the_result_names_the_pair_every_release_and_the_commands() -> None:
    ends = Ends("1.0.0", "2.0.0", ("1.0.0", "1.1.0", "1.2.0", "1.3.0", "2.0.0"))
    result = Result(ends, FIGURE, "9", "4")
    result.tried = [
        Tried("1.2.0", None, "does not build with this endpoint: error[E0432]: gone"),
        Tried("1.1.0", "good", "9", "good"),
        Tried("1.3.0", "neither", "6", nearer="bad"),
    ]
    result.change = narrowed(5, {1: "old", 2: "skipped", 3: "new"})
    options = RunOptions("my study.toml", seeds=7)
    bench = Bench("quic-go", "reno", options, Path("my out"), "probe-*")
    text = "\n".join(output.bisected(result, bench, "package"))
    pair = "--contestant quic-go@1.1.0/reno --contestant quic-go@1.3.0/reno"
    assert f"Compare the pair: cambrian compare 'my out' 'my out' {pair}\n" in text
    run = f"cambrian run 'my study.toml' {pair} --only 'probe-*/*'"
    assert f"Run the pair with the study's own number of seeds: {run}" in text
    assert "1.1.0  good: 9, with the packets of good" in text
    assert "1.3.0  neither, nearer to bad: 6" in text
    assert "1.2.0  skipped: does not build with this endpoint: error[E0432]: gone" in text
    assert "The change lies after 1.1.0 and not after 1.3.0; skipped: 1.2.0." in text
    assert "like neither counts as the end that it is nearer to. It may" in text
    assert "The change lies" in text and "more --seeds" not in text
    # a kind has no distance from the ends
    result.tried[2] = Tried("1.3.0", "neither", "by a loss")
    assert state(result.tried[2], older_is_good=True) == "new"
    text = "\n".join(output.bisected(result, bench, "package"))
    assert "nearer to, or, where nothing says which that is, as bad, the newer end. It may" in text
    result.is_clear = False
    text = "\n".join(output.bisected(result, bench, "package"))
    assert "The change may lie after 1.1.0" in text and "give more --seeds" in text


def test_noise_does_not_move_the_change_to_another_release() -> None:
    """One real step among 33 releases, seeds with a standard deviation of a quarter of it."""
    random = np.random.default_rng(7)

    def release(number: int, mbps: float) -> Snapshot:
        seeds = {str(seed): float(random.normal(mbps, 0.5)) for seed in range(5)}
        return measured(f"1.{number}.0", mbps).model_copy(
            update={"places": {"net": Place(values={FIGURE.name: seeds})}}
        )

    wrong = 0
    for _ in range(60):
        step = int(random.integers(1, 33))
        every = [release(number, 9.0 if number < step else 7.0) for number in range(33)]
        known: dict[int, State] = {}
        while (place := next_place(len(every), known)) is not None:
            one = verdicts.judge(FIGURE, every[0], every[-1], every[place])
            known[place] = bisect.state(Tried("", one.like, "", nearer=one.nearer), older_is_good=True)
        found = narrowed(len(every), known)
        wrong += not found.last_old < step <= found.first_new
    # counting a release that is like neither as changed was wrong in some 9 % of such searches
    assert wrong <= 1


def test_two_releases_differ_in_a_figure_by_the_gates_margin() -> None:
    assert verdicts.differ(FIGURE, GOOD, BAD)
    assert not verdicts.differ(FIGURE, GOOD, measured("1.1.0", 9.01))


HISTORY = History(
    stack="quic-go",
    cca="reno",
    command="cambrian history quic-go/reno",
    quantities=("throughput_mbps",),
    releases=(
        Measured(release="0.9.0", date="2025-01-01", why="error: no API"),
        Measured(release="1.0.0", date="2026-01-01", measured=GOOD),
        Measured(release="1.1.0", date="2026-02-01", measured=measured("1.1.0", 9.0, "1.0.0")),
        Measured(release="2.0.0", date="2026-03-01", measured=BAD),
    ),
)


def test_a_history_says_what_changed_from_each_release_to_the_next(tmp_path: Path) -> None:
    entries = HISTORY.entries
    shorts = [entry.short for entry in entries]
    assert shorts == ["– no figures", "", "= the packets of 1.0.0", "≠ 1 figure different"]
    assert [entry.changes for entry in entries[:3]] == ["", "", ""]
    assert entries[3].changes.startswith("throughput_mbps on net (9.003 → 4.003)")
    means = history.means(HISTORY)
    assert means["net", "throughput_mbps"]["2.0.0"] == pytest.approx(4.0033, abs=1e-3)
    frame = history.frame(HISTORY)
    assert frame.filter(pl.col("release") == "0.9.0")["status"].to_list() == ["error: no API"]
    assert frame.filter(pl.col("kind") == "parameter").height == 3
    drawn = chart.figure(HISTORY)
    assert drawn is not None and len(drawn.panels) == 1
    written = output.write_history(HISTORY, tmp_path)
    assert all(path.stat().st_size > 100 for path in written)
    assert {path.suffix for path in written} == {".csv", ".json", ".png", ".svg", ".pdf"}
    assert history.read(tmp_path) == HISTORY
    (tmp_path / "history.json").write_text("{}")
    with pytest.raises(StudyError, match="cambrian history"):
        history.read(tmp_path)


def test_a_history_of_an_earlier_version_is_read_without_the_figures_that_are_gone(tmp_path: Path) -> None:
    place = GOOD.places["net"]
    old = Place(
        values=place.values | {"gone_ms": {"1": 1.0}},
        parameters=place.parameters | {"gone": Parameter(trials=3, events=3, status="off")},
        probes={"gone": Probe(state="equivalent")},
    )
    kept, more = (
        Measured(release="1.0.0", date="", measured=GOOD.model_copy(update={"places": {"net": one}}))
        for one in (place, old)
    )
    names = ("throughput_mbps", "gone_ms")
    for releases in ((more,), (kept,)):
        written = HISTORY.model_copy(update={"quantities": names, "releases": releases})
        (tmp_path / "history.json").write_text(written.model_dump_json())
        found = history.read(tmp_path)
        assert found.releases == (kept,) and found.quantities == names[:1]
        assert history.frame(found).height == 7 and chart.figure(found) is not None


def test_the_figures_of_a_history_are_those_that_probes_measured() -> None:
    kept = {
        "timeout-packets": Probe(mine=9.0, effect=-5.0, low=-6.0, high=-4.0, state="equivalent"),
        "full-frames": Probe(mine=53.4, effect=-46.6, low=-47.0, high=-46.0, state="different"),
        # of an earlier version
        "start-burst": Probe(effect=-8.0, state="equivalent"),
        "response": Probe(effect=1.1, low=1.0, high=1.2, state="equivalent"),
    }
    probed = GOOD.model_copy(update={"places": {"net": Place(probes=kept)}})
    one = Measured(release="1.0.0", date="2026-01-01", measured=probed)
    frame = history.frame(HISTORY.model_copy(update={"releases": (one,)}))
    assert frame.select("figure", "unit", "value", "low", "high").rows() == [
        ("timeout-packets", "packets", 9.0, 8.0, 10.0),
        ("full-frames", "%", 53.4, None, None),
        ("start-burst", "packets", 2.0, None, None),
        ("response", "Mbps", None, None, None),
    ]


def test_a_release_that_looks_different_has_a_sign_of_its_own() -> None:
    few = measured("2.0.0", 4.0)
    values = {name: dict(list(by_seed.items())[:2]) for name, by_seed in few.places["net"].values.items()}
    two = few.model_copy(update={"places": {"net": Place(values=values)}})
    after = Measured(release="2.0.0", date="2026-03-01", measured=two)
    releases = (HISTORY.releases[1], after)
    entry = History(stack="a", cca="b", command="", quantities=(), releases=releases).entries[-1]
    assert entry.short == "? 1 figure may be different, without proof" and not entry.changes


def test_ten_releases_without_a_change_are_rarely_called_different() -> None:
    random = np.random.default_rng(8)

    def release(number: int) -> Measured:
        one = measured(f"1.{number}.0", 9.0)
        seeds = {str(seed): float(random.normal(10, 2)) for seed in range(5)}
        places = {"net": Place(values={FIGURE.name: seeds})}
        return Measured(release=f"1.{number}.0", date="", measured=one.model_copy(update={"places": places}))

    found = [
        History(stack="a", cca="b", command="", quantities=(), releases=tuple(map(release, range(10))))
        for _ in range(100)
    ]
    assert sum(any(entry.sign == "≠" for entry in one.entries) for one in found) <= 9


def test_a_history_is_a_table_for_each_network_that_fits_80_columns() -> None:
    two = HISTORY.model_copy(update={"quantities": ("throughput_mbps", "delay_p95_ms")})
    console = Console(width=80, record=True, file=io.StringIO())
    output.show_history(two, console)
    lines = console.export_text().splitlines()
    assert lines[0].strip() == "net"
    assert all(
        len(line) <= 80 and "…" not in line for line in lines if "against the release before" not in line
    )
    rows = {words[0]: words[1:] for words in map(str.split, lines) if len(words) == 5}
    assert rows["1.1.0"] == ["2026-02-01", "9", "50", "="] and rows["2.0.0"][-1] == "≠"
    assert "0.9.0: error: no API" in lines


def test_the_atlas_has_a_page_of_all_histories(tmp_path: Path) -> None:
    output.write_history(HISTORY, tmp_path / "results" / "history" / "quic-go-reno")
    index = atlas.make(tmp_path / "results", tmp_path / "atlas", lambda *_: None)
    assert "[quic-go reno](releases.md#quic-go-reno)" in index.read_text()
    text = (tmp_path / "atlas" / "releases.md").read_text()
    assert "3 of 4 releases have figures. 1 of 2 later ones send the packets of the release before." in text
    assert "Figures are different in: 2.0.0." in text
    assert "| 0.9.0 | 2025-01-01 | – | – no figures: error: no API |" in text
    assert "| 2.0.0 | 1.1.0 | net | throughput\\_mbps | 9.003 | 4.003 |" in text
    assert "`cambrian history quic-go/reno`" in text
    for address in re.findall(r"\]\(((?:figures|tables)/[^)]+)\)", text):
        assert (tmp_path / "atlas" / address).is_file()


def test_the_reason_of_a_failed_command_is_one_line() -> None:
    text = "go get x\nended with status 1; its last lines:\n  go: x imports\n  y: not found\nlog: z"
    assert ready.reason(text) == "go: x imports y: not found"
    assert ready.reason("cargo update\nended; its last lines:\n  error: no such\nlog: z") == "error: no such"


@pytest.mark.parametrize(
    ("same", "unknown", "is_same"), [(3, (), True), (0, (), False), (1, ("net seed 2",), False)]
)
def test_only_trials_that_both_have_show_the_same_packets(
    same: int, unknown: tuple[str, ...], is_same: bool
) -> None:
    change = Compared(same, 0, {}, unknown, (), ())
    entry = Entry(Measured(release="1.1.0", date="2026-01-01"), change, "1.0.0")
    assert entry.same_packets is is_same


def test_a_parameter_that_one_network_shows_in_equal_trials_is_refused_with_the_reason() -> None:
    """ "beta does not differ clearly (0.7 ± 0.006 → 0.9 ± 0.006)" alone is a riddle."""

    def with_beta(release: str, value: float) -> Snapshot:
        of = measured(release, 9.0)
        beta = Parameter(
            value=value, low=value - 0.006, high=value + 0.006, trials=1, events=40, status="as it should be"
        )
        return of.model_copy(
            update={"places": {"net": of.places["net"].model_copy(update={"parameters": {"beta": beta}})}}
        )

    bench = Bench("quic-go", "reno", RunOptions("study.toml"), Path("out"))
    good, bad = with_beta("1.0.0", 0.7), with_beta("2.0.0", 0.9)
    with pytest.raises(StudyError) as refused:
        bisect._question(bench, Ends("1.0.0", "2.0.0", ()), good, bad, "beta")
    said = str(refused.value)
    assert "too few differing trials show it, and no other network confirms it" in said
    assert "let a second network show it, or give this one random losses" in said
