"""Faults that are no parameter: the answer key, and how it is scored."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import polars as pl
import pytest

from cambrian.metrics.parameters.definitions import PARAMETERS
from cambrian.probes import table
from cambrian.proof import faults, misbehaviour_table, misbehaviours
from cambrian.proof.faults import LAB, Clean, Key, Misbehaviour
from cambrian.proof.groups import Group
from cambrian.proof.misbehaviours import Judgement, judged, judgements
from cambrian.stacks import catalogue
from cambrian.store.results import TrialResult
from cambrian.study import builtin, load

CUT = Misbehaviour(preset="cut", clean="ok", what="cuts too often", caught_by=("cuts", "burst"))
PACED = Misbehaviour(preset="paced", clean="ok", what="pacing", caught_by=("pacing",), choice=True)
KEY = Key(
    clean=(Clean(contestant=f"{LAB} ok", family="cubic"),),
    fault=(),
    misbehaviour=(CUT, PACED),
)
EVERYWHERE = {"cut": ("n",), "paced": ("n",)}


def test_the_study_runs_every_preset_of_the_key_and_what_it_is_compared_with() -> None:
    study = load.load_study(builtin.find_study(misbehaviours.STUDY), catalogue.ccas(), catalogue.reference_of)
    names = {contestant.name for contestant in study.contestants}
    key = faults.key().misbehaviour
    assert {f"{LAB} {name}" for fault in key for name in (fault.preset, fault.clean)} <= names
    assert {f"tcp {catalogue.reference_of(LAB, fault.preset)}" for fault in key} <= names
    networks = {network.name for network in study.networks}
    assert {network for fault in key for network in fault.stops_on} <= networks


def test_the_key_names_parameters_and_probes_that_exist() -> None:
    known = PARAMETERS.keys() | {probe.name for probe in table.probes()}
    assert {name for fault in faults.key().misbehaviour for name in fault.caught_by} <= known | {
        misbehaviours.PLAUSIBILITY
    }


def test_the_networks_are_those_of_the_fingerprint() -> None:
    behaviour, fingerprint = (
        {
            network.name: network
            for network in load.load_study(
                builtin.find_study(name), catalogue.ccas(), catalogue.reference_of
            ).networks
        }
        for name in (misbehaviours.STUDY, "fingerprint")
    )
    assert behaviour.items() <= fingerprint.items()


@pytest.mark.parametrize(
    ("found", "state"),
    [
        (Judgement("off by a parameter", ("beta", "cuts")), "caught"),
        (Judgement("behaves differently", ("burst",)), "caught"),
        (Judgement("off by a parameter", ("beta",)), "named otherwise"),
        (Judgement("conformant"), "missed"),
        (Judgement("inconclusive", ("burst",)), "missed"),  # named, and yet nothing is called wrong
        (Judgement("conformant", (), ("cuts",)), "missed"),  # a fault is no choice
    ],
)
def test_caught_means_accused_of_what_it_is(found: Judgement, state: str) -> None:
    row = judged({f"{LAB} cut": found}, EVERYWHERE, KEY).faults[0]
    assert row.state == state


def test_what_standards_allow_has_to_be_named_and_no_more() -> None:
    row = judged({f"{LAB} paced": Judgement("conformant", (), ("pacing",))}, {"paced": ("n",)}, KEY).faults[0]
    assert (row.state, row.by) == ("caught", ("pacing",))


def test_the_same_packets_as_without_the_fault_count_for_nothing() -> None:
    score = judged({f"{LAB} cut": Judgement("off by a parameter", ("cuts",))}, {"cut": ()}, KEY)
    assert score.faults[0].state == "not exercised"
    assert not score.passes, "nothing exercised proves nothing"


def test_a_fault_of_the_log_is_exercised_where_the_log_differs() -> None:
    def group(preset: str, packets: str, window: int) -> Group:
        manifest = {"trial": {"seed": 1}, "packets_sha256": packets}
        trial = SimpleNamespace(manifest=manifest, transport=pl.DataFrame({"cwnd_bytes": [window]}))
        return Group("n", f"{LAB} {preset}", [cast("TrialResult", trial)])

    def networks(mine: Group, *, log: bool) -> tuple[str, ...]:
        present = {("n", f"{LAB} ok"): group("ok", "a", 1), ("n", f"{LAB} cut"): mine}
        key = KEY.model_copy(update={"misbehaviour": (CUT.model_copy(update={"log": log}),)})
        return misbehaviours.exercised(present, key)["cut"]

    assert networks(group("cut", "a", 2), log=True) == ("n",)
    assert networks(group("cut", "a", 2), log=False) == ()
    assert networks(group("cut", "a", 1), log=True) == ()
    assert networks(group("cut", "b", 1), log=True) == networks(group("cut", "b", 1), log=False) == ("n",)


@pytest.mark.parametrize(
    ("found", "accused"),
    [
        (Judgement("conformant"), ()),
        (Judgement("conformant", (), ("pacing",)), ("pacing",)),
        (Judgement("off by a parameter", ("beta",)), ("beta",)),
        (Judgement("behaves differently"), ("behaves differently",)),
    ],
)
def test_a_clean_controller_is_accused_by_whatever_is_said_of_it(
    found: Judgement, accused: tuple[str, ...]
) -> None:
    caught = {f"{LAB} cut": Judgement("off by a parameter", ("cuts",))}
    score = judged({f"{LAB} ok": found} | caught, {"cut": ("n",)}, KEY)
    assert score.clean[0].accused == accused
    assert score.passes == (not accused)


def test_a_corpus_that_is_not_whole_fails() -> None:
    caught = {f"{LAB} cut": Judgement("off by a parameter", ("cuts",))}
    assert not judged(caught, {"cut": ("n",)}, KEY).passes, "no clean controller"
    whole = judged(caught | {f"{LAB} ok": Judgement("conformant")}, {"cut": ("n",)}, KEY)
    assert whole.passes and not replace(whole, absent=("quinn-lab paced on n",)).passes


def test_only_a_fault_that_stops_its_sender_may_have_no_valid_trial() -> None:
    key = KEY.model_copy(update={"misbehaviour": (CUT.model_copy(update={"stops_on": ("n",)}),)})
    groups = (f"{LAB} cut on n", f"{LAB} cut on m", f"{LAB} ok on n")
    assert misbehaviours.unexpected(groups, key) == groups[1:]


def test_a_fault_whose_trials_give_no_judgement_is_missed() -> None:
    (row,) = judged({}, {"cut": ("n",)}, KEY).faults
    assert row.state == "missed"


def test_names_are_those_of_the_reports_tables() -> None:
    frames = {
        "verdicts": pl.DataFrame(
            {
                "contestant": ["a", "b"],
                "verdict": ["off by a parameter", "conformant"],
                "off": ["beta, alpha", ""],
                "other_choices": ["pacing", None],
                "plausibility": ["different", "equivalent"],
            }
        ),
        "probes": pl.DataFrame(
            {
                "contestant": ["a", "a", "a", "b", "c"],
                "probe": ["burst-kept", "ecn-kept", "burst-kept", "burst-kept", "burst-kept"],
                "state": ["different", "inconclusive", "different", "equivalent", "different"],
            }
        ),
    }
    assert judgements(frames) == {
        "a": Judgement("off by a parameter", ("beta", "alpha", "burst-kept", "plausibility"), ("pacing",)),
        "b": Judgement("conformant"),
        "c": Judgement("not judged", ("burst-kept",)),
    }


def test_the_table_and_the_summary_say_what_was_caught_and_who_was_accused() -> None:
    found = {
        f"{LAB} cut": Judgement("not judged", ("burst",)),
        f"{LAB} paced": Judgement("conformant", (), ("pacing",)),
        f"{LAB} ok": Judgement("off by a parameter", ("beta",)),
    }
    score = judged(found, EVERYWHERE, KEY)
    assert misbehaviour_table.markdown(score).splitlines()[2:] == [
        "| cut | cuts too often | burst (not accused) | not judged |",
        "| paced | pacing | pacing | conformant |",
    ]
    assert misbehaviour_table.summary(score) == [
        "1 of 2 faults that no parameter describes are caught (50.0 %); 0 not exercised",
        "0 of 1 clean controllers are not accused",
        f"  {LAB} ok: beta",
    ]
