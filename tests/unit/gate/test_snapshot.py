"""What a results directory says of one contestant, with one rival or several on a network."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from cambrian.gate import snapshot
from cambrian.report.collect import collect
from cambrian.report.compared import sides
from cambrian.report.observations import observations
from cambrian.store.results import Results
from cambrian.study.errors import StudyError
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
    for rival in rivals:
        mine = frame.filter(against=rival).group_by("seed").agg(pl.col("share_percent").mean())
        found = places[f"{NETWORK} beside {rival}"].values["share_percent"]
        assert found == {str(seed): pytest.approx(share, rel=1e-5) for seed, share in mine.iter_rows()}
    assert set(places[f"{NETWORK} beside tcp cubic"].values["share_percent"].values()) == {50.0}


def test_a_seed_that_lacks_a_value_in_one_order_has_none() -> None:
    """The order that starts first is faster: the other one alone would look like a change."""
    rows = [
        {"network": "n", "contestant": "a cubic", "against": "b cubic", "group": "n/a+b", "placebo": False,
         "seed": seed, "trial": f"{seed}-{order}", "plt_ms": value, "completion_s": value}
        for seed in (1, 2)
        for order, value in ((1, 10.0), (2, None if seed == 2 else 14.0))
    ]  # fmt: skip
    found = list(snapshot._values(pl.DataFrame(rows), "", None))
    assert [row[1:] for row in found] == [("plt_ms", "1", 12.0), ("completion_s", "1", 12.0)]


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
    assert snapshot.detail("net/a-cubic/large") == "large"
    assert snapshot.Subject("net", "a cubic", None, "large").place("", alone=True) == "net large"


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
