"""A measured parameter beside its reference: only what the interval excludes differs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cambrian.judging import findings, references
from cambrian.judging.contestants import Judged
from cambrian.judging.references import Reference
from cambrian.metrics.parameters.definitions import PARAMETERS
from cambrian.metrics.parameters.estimate import Measured
from cambrian.report.tables import parameters

BETA = references.for_family("cubic")["beta"]


def measured(
    parameter: str,
    value: float,
    half: float = 0.005,
    label: str | None = None,
    trials: int = 3,
    events: int = 12,
    agreement: float = 1.0,
    of_trials: int = 0,
) -> Measured:
    low, high = value - half, value + half
    return Measured(
        parameter, value, low, high, trials, events, "window", "trials", trials, label, agreement, of_trials,
        trials, of_trials or trials,
    )  # fmt: skip


def test_every_reference_is_of_a_known_parameter() -> None:
    for family in references.families():
        assert references.for_family(family)
        assert set(references.for_family(family)) <= set(PARAMETERS)


def test_every_kind_that_a_reference_names_is_one_of_its_parameter() -> None:
    for family in references.families():
        for name, reference in references.for_family(family).items():
            if reference.words is not None and PARAMETERS[name].kinds:
                assert reference.words in PARAMETERS[name].kinds, name


@pytest.mark.parametrize("name", ["beta", "rollback_share"])
def test_an_interval_with_every_possible_value_is_no_figure(name: str) -> None:
    """As of a sender with three losses: β would be 0.676 ± 0.702."""
    wide = measured(name, 0.676, 0.702, events=3)
    found = findings.judge("n", wide, references.for_family("cubic")[name])
    assert (found.status, found.few) == ("inconclusive", True)
    said = findings.sentence(found)
    assert said.endswith("is not measured (its interval contains every possible value)")
    row = parameters._row(wide, Judged("cubic", (found,), (wide,), {}))
    assert [row[key] for key in ("value", "low", "high", "shown")] == [None, None, None, "not measured"]
    # this one excludes some
    assert "0.300 ± 0.500" in findings.sentence(findings.judge("n", measured("beta", 0.3, 0.5), BETA))


@pytest.mark.parametrize(
    ("value", "half", "status"),
    [
        (0.7, 0.005, "as it should be"),
        (0.72, 0.009, "as it should be"),  # inside 0.7 ± 0.03
        (0.73, 0.005, "inconclusive"),  # across the tolerance's end
        (0.736, 0.005, "off"),
        (0.85, 0.01, "off"),
        (0.795, 0.161, "inconclusive"),  # too wide to say either
        (0.664, 0.005, "off"),
    ],
)
def test_beta(value: float, half: float, status: str) -> None:
    assert findings.judge("n", measured("beta", value, half), BETA).status == status


def test_one_trial_or_a_few_events_accuse_nobody() -> None:
    one_trial = findings.judge("n", measured("beta", 0.85, 0.01, trials=1), BETA)
    assert (one_trial.status, one_trial.looks) == ("inconclusive", "off")
    assert findings.confirmed(one_trial).status == "off"
    few = findings.judge("n", measured("beta", 0.85, 0.01, events=3), BETA)
    assert (few.status, few.looks) == ("inconclusive", None)
    assert findings.judge("n", measured("beta", 0.7, events=3), BETA).status == "inconclusive"


def test_missing_trials_count_as_missing() -> None:
    seldom = findings.judge("n", measured("beta", 0.85, 0.01, trials=2, of_trials=5), BETA)
    assert (seldom.status, seldom.looks) == ("inconclusive", None)
    assert "2 of 5 trials" in seldom.why
    assert findings.judge("n", measured("beta", 0.85, 0.01, trials=3, of_trials=5), BETA).status == "off"


@pytest.mark.parametrize(("agreement", "status"), [(1.0, "off"), (0.85, "off"), (0.7, "inconclusive")])
def test_a_kind_is_as_sure_as_its_events_agree(agreement: float, status: str) -> None:
    reference = references.for_family("cubic")["cubic_growth"]
    found = measured("cubic_growth", 1, 0, "another", agreement=agreement)
    assert findings.judge("n", found, reference).status == status


@pytest.mark.parametrize(
    ("label", "agreement", "agreeing", "said"),
    [
        ("another", 0.7, 3, "another in 70 % of its events; a judgement needs 80 % of one kind"),
        ("another", 0.27, 1, "another in at least 27 % of its events; a judgement needs 80 % of one kind"),
        ("CUBIC's", 0.63, 3, "CUBIC's in 63 % of its events; a judgement needs 80 % of one kind"),
        ("another", 0.9, 1, "another in 1 of 3 trials; a judgement needs more than half of one kind"),
    ],
)
def test_a_kind_without_agreement_is_no_value(label: str, agreement: float, agreeing: int, said: str) -> None:
    """The word alone, such as another law, would name a fault that nothing proves."""
    reference = references.for_family("cubic")["cubic_growth"]
    found = replace(measured("cubic_growth", 1, 0, label, agreement=agreement), agreeing=agreeing)
    judged = findings.judge("n", found, reference)
    assert findings.sentence(judged) == f"the law of growth is inconclusive ({said})"
    once = findings.inconclusive(judged, "seen on one network")
    assert findings.sentence(once) == f"the law of growth is {label} (seen on one network)"


def test_up_to_ten_packets_are_an_initial_window() -> None:
    reference = references.for_family("reno")["initial_window_packets"]
    window = "initial_window_packets"
    assert findings.judge("n", measured(window, 2, 1), reference).status == "as it should be"
    assert findings.judge("n", measured(window, 32, 1), reference).status == "off"


def test_a_kind_agrees_by_its_word() -> None:
    reference = Reference(words="loss", level="may", source="s")
    exit_by = "slow_start_exit"
    assert findings.judge("n", measured(exit_by, 0, 0, "loss"), reference).status == "as it should be"
    assert findings.judge("n", measured(exit_by, 1, 0, "hystart"), reference).status == "other choice"


def test_a_cap_where_there_should_be_none_differs() -> None:
    reference = references.for_family("cubic")["max_window_packets"]
    assert findings.judge("n", measured("max_window_packets", 107, 1), reference).status == "other choice"


def test_without_a_reference_nothing_is_blamed() -> None:
    found = findings.judge("n", measured("cubic_k_s", 4.2), None)
    assert (found.status, found.differs) == ("not judged", False)


def test_the_sentence_says_value_interval_and_source() -> None:
    text = findings.sentence(findings.judge("n", measured("beta", 0.85, 0.01), BETA))
    assert text == "multiplicative decrease β is 0.850 ± 0.010; should be 0.7 (RFC 9438, section 4.6)"


def test_an_interval_never_reads_as_plus_minus_nothing() -> None:
    assert findings.value_text(measured("initial_window_packets", 32, 0.3)) == "32.0 ± 0.3 packets"


def test_with_another_beta_growth_and_fast_convergence_follow_from_it() -> None:
    standard = references.for_family("cubic")
    alone = references.following(standard, measured("beta", 0.8), measured("alpha", 0.34))
    assert (alone["alpha"].value, alone["fast_convergence"].value) == pytest.approx((1 / 3, 0.9))
    # Chromium's two connections: β 0.85 and α 0.973, four times what one with that β would have
    two = references.following(standard, measured("beta", 0.85), measured("alpha", 0.96))
    assert two["alpha"].value == pytest.approx(0.973, abs=0.001)
    assert standard["alpha"].value == 0.529, "the standard itself is left alone"
    wide = references.following(standard, measured("beta", 0.8, 0.05), measured("alpha", 0.34))
    assert wide["alpha"].tolerance > alone["alpha"].tolerance, "what is open of β is open of α"


def test_the_initial_window_is_ten_packets_of_any_size_up_to_1472_bytes() -> None:
    reference = references.for_family("reno")["initial_window_packets"]
    window = "initial_window_packets"
    assert findings.judge("n", measured(window, 10, 1), reference).status == "as it should be"
    assert findings.judge("n", measured(window, 14720 / 1200, 0.1), reference).status == "off"


def test_half_an_increase_is_reno_with_delayed_acknowledgements() -> None:
    reference = references.for_family("reno")["alpha"]
    assert findings.judge("n", measured("alpha", 0.5, 0.05), reference).status == "as it should be"
    assert findings.judge("n", measured("alpha", 2.0, 0.05), reference).status == "off"
