"""What a results directory says of one contestant, with one rival or several on a network."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import polars as pl
import pytest

import cambrian
from cambrian.gate import differences, output, snapshot
from cambrian.gate.carry_out import outcome_of
from cambrian.gate.snapshot import Place, Snapshot
from cambrian.report.collect import collect
from cambrian.report.compared import sides
from cambrian.report.observations import observations
from cambrian.store.results import Results, TrialResult
from cambrian.study import identity
from cambrian.study.errors import StudyError
from cambrian.study.model import Study, Trial
from tests.unit import report_results

NETWORK = "4mbps-20ms-2bdp"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return report_results.copy(tmp_path_factory.mktemp("snapshot"))


def test_each_rival_has_a_place_of_its_own(folder: Path) -> None:
    places = snapshot.take({"": folder}, "tcp/cubic").places
    frame = observations(collect(Results(folder))).filter(contestant="tcp cubic", placebo=False)
    rivals = frame["against"].unique().to_list()
    assert len(rivals) > 1
    for rival in set(rivals) - {"tcp cubic"}:
        mine = frame.filter(against=rival).group_by("seed").agg(pl.col("share_percent").mean())
        found = places[f"{NETWORK} beside {rival}"].values["share_percent"]
        assert found == {str(seed): pytest.approx(share, rel=1e-5) for seed, share in mine.iter_rows()}
    beside_itself = places[f"{NETWORK} beside tcp cubic"].values
    assert "share_percent" not in beside_itself and "throughput_mbps" in beside_itself


def test_a_snapshot_says_on_what_its_trials_ran(folder: Path) -> None:
    found = snapshot.take({"": folder}, "tcp/cubic").conditions
    assert found and all(
        text.startswith("rate_mbps = 4.0, rtt_ms = 20.0, buffer_bdp = 2.0") for text in found.values()
    )
    assert all("duration_s = " in text and "seed" not in text for text in found.values())
    settings = snapshot.take({"": folder}, "tcp/cubic").settings
    assert settings.keys() == found.keys()
    assert any('"tls":true' in text for text in settings.values())


def asked(flow: dict[str, Any] | None = None, network: dict[str, Any] | None = None, **study: Any) -> str:
    """What a snapshot says of a made-up study of one flow, without figures."""
    return "".join(both(flow, network=network, **study))


def both(
    *flows_of_study: dict[str, Any] | None, network: dict[str, Any] | None = None, **study: Any
) -> tuple[str, str]:
    """The conditions and the settings of such a study of several flows."""
    quinn = {"stack": "quinn", "cca": "cubic"}
    flows = [{"contestant": quinn} | (flow or {}) for flow in flows_of_study]
    link = {"rate_mbps": 10, "rtt_ms": 50, "buffer_bdp": 1} | (network or {})
    trial = Trial.model_validate({"network": link, "flows": flows, "duration_s": 10})
    whole = {"name": "mine", "title": "t", "design": "flows", "networks": [link], "flows": flows} | study
    result = TrialResult(Path("none"))
    result.__dict__["manifest"] = {"trial": trial.model_dump(mode="json")}
    group = {"design": "flows", "subject": "flows"}
    return snapshot.conditions(result), snapshot.settings(Study.model_validate(whole), group, result)


def test_every_setting_of_a_study_that_moves_packets_or_figures_counts() -> None:
    quinn = {"stack": "quinn", "cca": "cubic"}
    page = {"name": "p", "objects": [{"count": 10, "size_bytes": 20_000}]}
    larger = {"name": "p", "objects": [{"count": 20, "size_bytes": 20_000}]}
    texts = [
        asked(),
        asked(network={"forward_delay_percent": 0}),
        asked(network={"forward_delay_percent": 10}),
        *(
            asked({"contestant": quinn | more})
            for more in (
                {"receiver": "reference"},
                {"receiver_cpu": {"per_packet_us": 50}, "label": "quinn cubic"},
                {"options": {"a": "1"}},
                {"tls": True},
            )
        ),
        asked({"page": page}),
        asked({"page": larger}),
        asked({"page": page, "client": "light"}),
        asked({"start_ms": 5000}),
        asked(measured_from_s=0),
        asked(measured_from_s=5),
        asked(start_spread_ms=500),
        asked(start_spread_ms=500, name="other"),
    ]
    assert len(set(texts)) == len(texts)
    same = asked({"contestant": quinn | {"label": "mine"}}, network={"name": "n"}, name="other", title="u")
    assert same == asked()


def test_conditions_have_the_text_of_earlier_versions() -> None:
    """Otherwise the study would be another one than that of a baseline, and differences would be hidden."""
    conditions, settings = both(None, network={"forward_delay_percent": 0})
    earlier, others = both(None)
    assert (conditions, settings) == (earlier, f"forward_delay_percent = 0.0, {others}")
    conditions, settings = both(None, network={"forward_delay_percent": 10})
    assert "forward_delay_percent = 10.0" in conditions and settings == others


def test_the_flows_of_a_study_count_by_number_and_contestant() -> None:
    """The names of its groups and places do not tell them."""
    bbr = {"contestant": {"stack": "tcp", "cca": "bbr"}}
    texts = [both(*flows) for flows in ([None] * 2, [None] * 3, [None, bbr, bbr], [None, None, bbr])]
    assert len(set(texts)) == len(texts)


def test_a_trace_file_is_that_of_the_trial(tmp_path: Path) -> None:
    trace = tmp_path / "link.trace"
    trace.write_text("1\n2\n")
    link = {"trace_file": str(trace), "rtt_ms": 50, "buffer_packets": 50}
    flows = [{"contestant": {"stack": "quinn", "cca": "cubic"}}]
    trial = Trial.model_validate({"network": link, "flows": flows, "duration_s": 10})
    result = TrialResult(tmp_path / identity.trial_id(trial, {"kernel": "k"}))
    result.__dict__["manifest"] = {"trial": trial.model_dump(mode="json"), "environment": {"kernel": "k"}}
    before = snapshot.conditions(result)
    trace.write_text("1\n3\n")
    assert 'trace_file = "link.trace of unknown content"' in snapshot.conditions(result) != before
    trace.write_text("1\n2\n")
    assert snapshot.conditions(result) == before
    trace.unlink()
    # the text of earlier versions
    assert 'trace_file = "link.trace",' in snapshot.conditions(result)


def test_a_page_with_other_images_accuses_no_stack() -> None:
    """Its packets and load times differ because the gate's own study does."""
    texts = [
        asked({"page": {"name": "p", "objects": [{"count": n, "size_bytes": 20_000}]}}) for n in (10, 20)
    ]
    before, after = (
        Snapshot(
            contestant="quinn/cubic",
            made_with={},
            settings={"net/p": text},
            packets={f"net/p seed {seed}": f"{text}{seed}" for seed in range(5)},
            places={"net": Place(values={"plt_ms": {str(seed): plt_ms + seed for seed in range(5)}})},
        )
        for text, plt_ms in zip(texts, (700.0, 1100.0), strict=True)
    )
    found = differences.snapshots(before, after)
    assert found.different and outcome_of(found) == "not judged"
    (one,) = found.conditions
    assert one == ("net/p", *texts)
    # a baseline of an earlier version has no settings
    old = differences.snapshots(before.model_copy(update={"settings": {}}), after)
    assert not old.conditions and outcome_of(old) == "different"


def test_the_software_is_what_made_the_trials(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cambrian, "__version__", "99")
    (result, *_) = (one for _, one in snapshot.trials({"": folder}) if one is not None)
    found = snapshot.take({"": folder}, "tcp/cubic").made_with
    assert found["cambrian"] == result.manifest["cambrian"] != "99"


def test_another_browser_is_named_and_an_older_baseline_has_none() -> None:
    folder = report_results.KNOBS.with_name("pages")
    (result, *_) = (one for _, one in snapshot.trials({"": folder}) if one is not None)

    def made(browser: str | None) -> Snapshot:
        environment = result.manifest["environment"] | ({"browser": browser} if browser else {})
        other = SimpleNamespace(manifest=result.manifest | {"environment": environment})
        places = {"net": Place(values={"plt_ms": {"1": 900.0}})}
        software = snapshot.software(iter([cast("TrialResult", other)]))
        return Snapshot(made_with=software, packets={"net seed 1": str(browser)}, places=places)

    old, new = made(f"Chromium 130 {'a' * 64}"), made(f"Chromium 140 {'b' * 64}")
    compared = differences.snapshots(old, new)
    change = ("web browser", f"Chromium 130 {'a' * 16}", f"Chromium 140 {'b' * 16}")
    assert compared.software == (change,)
    (*_, last) = output.notes(compared)
    assert last == "the browser differs too, so packets may differ for that reason alone"
    python = new.made_with | {"Python": "9", "kernel": "9 abc"}
    (*_, last) = output.notes(differences.snapshots(old, new.model_copy(update={"made_with": python})))
    assert last == "the browser and the testbed differ too, so packets may differ for that reason alone"
    # an earlier version's baseline has none of it
    few = {name: old.made_with[name] for name in ("cambrian", "testbed", "kernel")}
    earlier = old.model_copy(update={"made_with": few | {"quic-go": "0.1"}})
    assert [name for name, _, _ in differences.snapshots(earlier, new).software] == ["quic-go"]


def test_a_place_names_the_groups_of_its_trials(folder: Path) -> None:
    found = snapshot.take({"part": folder}, "tcp/cubic")
    assert found.groups.keys() == found.places.keys()
    listed = {snapshot.group_of(trial) for trial in found.packets}
    assert set().union(*found.groups.values()) <= listed
    beside = found.groups[f"part/{NETWORK} beside tcp cubic"]
    assert beside == [f"part/{NETWORK}/tcp-cubic+tcp-cubic"]
    # parameters are of all trials of the contestant on the network
    assert set(beside) < set(found.groups[f"part/{NETWORK}"])
    other = snapshot.renamed(found, "tcp/bbr").groups[f"part/{NETWORK} beside tcp cubic"]
    assert other == [f"part/{NETWORK}/tcp-bbr+tcp-bbr"]


def test_a_seed_that_lacks_a_value_in_one_order_has_none() -> None:
    """The order that starts first is faster: the other one alone would look like a change."""
    rows = [
        {"network": "n", "contestant": "a cubic", "against": "b cubic", "group": "n/a+b", "placebo": False,
         "seed": seed, "trial": f"{seed}-{order}", "plt_ms": value, "completion_s": value,
         "size_bytes": 9, "page": None, "flow_rtt_ms": 40.0}
        for seed in (1, 2)
        for order, value in ((1, 10.0), (2, None if seed == 2 else 14.0))
    ]  # fmt: skip
    found = list(snapshot._values(pl.DataFrame(rows), "", None))
    assert [row[1:4] for row in found] == [("plt_ms", "1", 12.0), ("completion_s", "1", 12.0)]


def lineup_rows(**columns: list[object]) -> pl.DataFrame:
    """One trial of several flows of one contestant; a list has each flow's value."""
    count = len(next(iter(columns.values())))
    common = {"network": "n", "contestant": "a cubic", "against": "a cubic", "group": "n/x", "placebo": False,
              "seed": 1, "trial": "t", "page": None, "flow_rtt_ms": 40.0}  # fmt: skip
    rows = {name: [value] * count for name, value in common.items() if name not in columns}
    return pl.DataFrame(rows | columns)


def test_a_download_that_is_not_complete_is_no_part_of_a_mean() -> None:
    rows = lineup_rows(size_bytes=[9, 9], completion_s=[0.4, None], throughput_mbps=[4.0, 2.0])
    assert [row[1:4] for row in snapshot._values(rows, "", None)] == [("throughput_mbps", "1", 3.0)]


def test_flows_of_different_kinds_have_places_of_their_own() -> None:
    rows = lineup_rows(size_bytes=[9, 0], flow_rtt_ms=[20.0, 40.0], completion_s=[0.4, None])
    found = {place for place, *_ in snapshot._values(rows, "", None)}
    assert found == {"n a cubic beside a cubic 9 bytes 20 ms"}


def test_two_flows_of_one_contestant_have_a_throughput_for_their_constant_share() -> None:
    flows: dict[str, list[object]] = {"share_percent": [60.0, 40.0], "throughput_mbps": [6.0, 4.0]}
    equal = snapshot._values(lineup_rows(size_bytes=[0, 0], **flows), "", None)
    assert {row[1:4] for row in equal} == {("throughput_mbps", "1", 5.0)}
    far = snapshot._values(lineup_rows(size_bytes=[0, 0], flow_rtt_ms=[20.0, 80.0], **flows), "", None)
    assert {(name, value) for _, name, _, value, *_ in far} == {
        ("share_percent", 60.0),
        ("share_percent", 40.0),
    }


def test_a_download_has_a_fetch_time_and_a_page_its_load_time_alone() -> None:
    """A page's fetch time is its load time, in another unit."""
    rows = lineup_rows(against=[None] * 3, size_bytes=[9] * 3, fetch_s=[0.5] * 3, plt_ms=[None, 500.0, 500.0])
    assert {row[1] for row in snapshot._values(rows[:1], "", None)} == {"fetch_s"}
    assert {row[1] for row in snapshot._values(rows[1:], "", None)} == {"plt_ms"}


def test_one_of_many_flows_has_a_throughput_and_no_share() -> None:
    """The margin of the share, 5 points, is that of two flows: of 25 flows each has 4."""
    rows = lineup_rows(
        against=[None] * 3, size_bytes=[0] * 3, share_percent=[30.0] * 3, throughput_mbps=[3.0] * 3
    )
    assert {row[1:4] for row in snapshot._values(rows, "", None)} == {("throughput_mbps", "1", 3.0)}


def test_the_only_rival_goes_unnamed() -> None:
    subject = snapshot.Subject("n", "a cubic", "b cubic")
    assert subject.place("part", alone=True) == "part/n"
    assert subject.place("part", alone=True, rivals=2) == "part/n beside b cubic"
    assert subject.place("", alone=False) == "n a cubic beside b cubic"


@pytest.mark.parametrize("contestant", [None, "tcp/cubic", "tcp/reno"])
def test_every_place_has_a_subject(folder: Path, contestant: str | None) -> None:
    side = sides.read(folder, contestant)
    assert side.snapshot.places and set(side.snapshot.places) <= set(side.subjects)


def test_a_labelled_name_has_places_with_it_beside_the_plain_one(folder: Path) -> None:
    places = snapshot.take({"": folder}, "tcp/cubic").places
    assert f"{NETWORK} tcp cubic with TLS beside tcp cubic" in places
    names = snapshot.Names("tcp cubic", frozenset({"tcp cubic to reference"}))
    assert names.place_without("tcp cubic to reference")


def test_a_page_is_part_of_a_trials_name() -> None:
    assert (
        snapshot.renamed_trial("net/a-cubic/large seed 1", "a/cubic", "b/cubic") == "net/b-cubic/large seed 1"
    )
    assert snapshot.detail("net/a-cubic/large", "endless 40 ms", groups=2, kinds=1) == "large"
    assert snapshot.Subject("net", "a cubic", None, "large").place("", alone=True) == "net large"


def test_a_stack_and_controller_with_several_names_is_not_compared_as_one(folder: Path) -> None:
    with pytest.raises(StudyError) as caught:
        snapshot.check_one_name("tcp/cubic", folder)
    assert "give one name: tcp cubic, tcp cubic with TLS" in caught.value.remedy
    snapshot.check_one_name("tcp cubic", folder)


def test_a_label_is_a_contestant_too(folder: Path) -> None:
    """So two flows of one stack can be compared, such as a late one with an early one."""
    labelled = snapshot.take({"": folder}, "tcp cubic with TLS")
    (place,) = labelled.places
    assert place == NETWORK
    everyone = snapshot.take({"": folder}, "tcp/cubic").places
    assert labelled.places[place].values == everyone[f"{NETWORK} tcp cubic with TLS beside tcp cubic"].values
    plain = snapshot.take({"": folder}, "tcp cubic").places
    assert plain and not any("with TLS" in name.partition(" beside ")[0] for name in plain)
    with pytest.raises(StudyError) as caught:
        snapshot.take({"": folder}, "tcp cubic with TSL")
    assert caught.value.remedy.startswith("did you mean tcp cubic with TLS?")
    assert "tcp/cubic" in caught.value.remedy and "tcp cubic," not in caught.value.remedy


def test_a_probe_is_kept_with_its_figure() -> None:
    row = {"network": "n", "group": "n/a", "contestant": "a cubic", "probe": "timeout-packets",
           "state": "different", "mine": 86.6666666,
           "effect": 72.6666666, "low": None, "high": None}  # fmt: skip
    ((_, name, kept),) = snapshot._probes(pl.DataFrame([row]), "", None, {})
    assert (name, kept["mine"], kept["effect"]) == ("timeout-packets", 86.6667, 72.6667)


def test_probes_of_several_groups_on_a_network_do_not_replace_each_other() -> None:
    same = {"network": "n", "contestant": "a cubic", "probe": "response", "low": None, "high": None}
    rows = [
        same | {"group": f"n/{line_up}", "mine": effect, "effect": effect, "state": state}
        for line_up, effect, state in (("near", 0.3, "different"), ("far", 1.0, "equivalent"))
    ]
    homes = {("n/near", "a cubic"): "n near", ("n/far", "a cubic"): "n far"}
    found = {place: row["effect"] for place, _, row in snapshot._probes(pl.DataFrame(rows), "", None, homes)}
    assert found == {"n near": 0.3, "n far": 1.0}
    # a probe without a state moves no other one
    rows[1] |= {"state": None}
    (place,) = (place for place, _, _ in snapshot._probes(pl.DataFrame(rows), "", None, homes))
    assert place == "n near"


def test_a_group_that_its_stopping_rule_ended_is_known(tmp_path: Path) -> None:
    rule = {"measure": "share_percent", "half_width": 5.0, "seeds": 1, "valid": 1, "median": None,
            "low": None, "high": None, "narrow": True, "reason": "narrow enough"}  # fmt: skip

    def with_rules(data: dict[str, Any]) -> None:
        for number, group in enumerate(data["groups"]):
            group["stopping"] = rule | {"stopped": number > 0}

    found = snapshot.take({"": report_results.copy(tmp_path, with_rules)})
    assert found.stopped and found.stopped < found.conditions.keys()
