"""How many more seeds would settle a harm: only numbers and states that the judge reaches."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from cambrian.report import families, harms
from cambrian.report.tables import harm
from cambrian.report.tables.rows import Row

THROUGHPUT, DELAY, LOSS = harms.SERVICES


def judged(service: harms.Service, own: Sequence[float], other: Sequence[float], others: int = 0) -> Row:
    """The row of these arms, in a family with ``others`` without a difference."""
    arms = dict(enumerate(own)), dict(enumerate(other))
    one = harms.of_arms("network", "victim", "by", service, {}, *arms)
    p = [one.p, *[0.5] * others]
    return harm._row(one, families.corrected_for_verdicts(p)[0], families.levels_for_verdicts(p)[0])


def test_the_interval_of_a_harm_contains_it() -> None:
    """Of equal seeds the interval has no length: it lay beside the harm, so error bars were negative."""
    for other in (10.0, 9.999965, 10.00005, 10.0 + 2e-15, 9.3, 1 / 3):
        one = harms.of_arms(
            "network",
            "victim",
            "by",
            THROUGHPUT,
            {},
            dict.fromkeys(range(5), 10.0),
            dict.fromkeys(range(5), other),
        ).excess
        assert one is not None and one.low <= one.estimate <= one.high


@pytest.mark.parametrize(
    ("service", "own", "other"),
    [
        (DELAY, [0.5, 0.9, 0.3, 1.4, 0.6], [1.0, 1.6, 0.9, 2.4, 0.6]),
        (LOSS, [0.010, 0.012, 0.06, 0.011, 0.008], [0.04, 0.03, 0.05, 0.10, 0.035]),
        # without a ratio
        (LOSS, [0.0] * 5, [0.01, 0.02, 0.01, 0.01, 0.15]),
    ],
)
def test_a_negligible_difference_is_never_on_its_way_to_an_accusation(
    service: harms.Service, own: list[float], other: list[float]
) -> None:
    now = judged(service, own, other, 4)
    assert (now["verdict"], now["settles_as"]) == ("inconclusive", "equivalent")
    copies = math.ceil(1 + now["more_seeds"] / len(own))
    assert judged(service, own * copies, other * copies, 4)["verdict"] == "equivalent"


def test_a_delay_within_a_tenth_needs_no_seeds_for_its_milliseconds() -> None:
    """90 to 117 ms beside 100: the ratio is settled long before the difference is within 1 ms."""
    now = judged(DELAY, [100.0, 101, 99, 100, 100], [90.0, 117, 92, 98, 104])
    assert (now["verdict"], now["difference"] < 1, now["settles_as"]) == ("inconclusive", True, "equivalent")
    assert now["more_seeds"] < 10


def test_the_number_is_by_factors_as_the_test_is() -> None:
    """676 on the plain scale, where the lower end of the harm, −1.19, is as far away as nothing else."""
    now = judged(LOSS, [0.8, 0.5, 1.4, 0.3, 2.0], [1.0, 1.5, 1.6, 0.9, 1.0], 5)
    assert (now["more_seeds"], now["settles_as"]) == (287, harm.MORE)


def test_without_a_ratio_the_number_is_that_of_the_least_p() -> None:
    """0 % beside 1 %, 16 contestants: three to five seeds show nothing, however sure the difference is."""
    for seeds, more in ((3, 3), (4, 2), (5, 1), (6, None)):
        now = judged(LOSS, [0.0] * seeds, [1.0, 1.001, 0.999, 1.0, 1.001, 0.999][:seeds], 15)
        assert (now["verdict"] == harm.MORE, now["more_seeds"]) == (more is None, more)
