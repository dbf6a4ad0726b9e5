"""Published cells beside measured ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from cambrian.effects.model import Over
from cambrian.effects.prepare import Partial
from cambrian.effects.summary import Estimate
from cambrian.published.agreement import Published, agreement, bound_agreement, sign_agreement
from cambrian.published.compare import Compared, compare
from cambrian.published.load import comparisons
from cambrian.study.errors import StudyError
from tests.unit.published.made import HEAD, MEASURED, SIDES, observations, paper

FIGURES = 'published = "mbps"\npublished_sd = "sd"\npublished_trials = "runs"\n'
SEEN = observations(
    [
        ("quic", 4.0, 25.0, [3.85, 3.9, 3.95]),
        ("tcp", 4.0, 25.0, [2.0, 2.1, 2.2]),
        ("quic", 8.0, 25.0, [7.9, 7.9, 7.9]),
    ]
)


def compared(folder: Path, text: str, seen=SEEN) -> Compared:  # type: ignore[no-untyped-def]
    made = paper(folder, text)
    return compare(comparisons(made)["alone"], made, seen)


def test_each_published_cell_has_a_row_with_its_measured_mean(tmp_path: Path) -> None:
    found = compared(tmp_path, HEAD + FIGURES + SIDES + MEASURED)
    assert found.keys == ("rate_mbps", "rtt_ms", "side")
    assert found.ran
    rows = found.frame.to_dicts()
    assert [row["side"] for row in rows] == ["q", "t", "q", "t"]
    assert rows[0]["measured"] == pytest.approx(3.9)
    assert rows[0]["trials"] == 3
    assert rows[1]["measured"] == pytest.approx(2.1)
    assert rows[2]["ratio"] == pytest.approx(7.9 / 7.0)
    assert rows[0]["source"] == "Table 1, row 1"


def test_words_say_where_ours_lies(tmp_path: Path) -> None:
    found = compared(tmp_path, HEAD + FIGURES + SIDES + MEASURED)
    assert found.frame["agrees"].to_list() == ["inside", "lower", "higher", "not run"]


def test_a_cell_with_a_transfer_that_was_not_complete_has_no_measured_mean(tmp_path: Path) -> None:
    late = pl.when(pl.col("contestant") == "tcp").then(1).otherwise(0)
    seen = SEEN.with_columns(
        fetch_mbps="throughput_mbps", not_complete=late, group=pl.col("contestant"), flow=0, page=None
    )
    measured = MEASURED.replace("throughput_mbps", "fetch_mbps")
    rows = compared(tmp_path, HEAD + FIGURES + SIDES + measured, seen).frame
    assert rows["agrees"].to_list() == ["inside", "not complete", "higher", "not run"]
    assert rows["measured"][1] is None


def test_a_ratio_to_a_starved_side_is_not_defined(tmp_path: Path) -> None:
    seen = observations(
        [
            (who, rate, 25.0, [value] * 3)
            for who, rate, value in [
                ("quic", 4.0, 4.0),
                ("tcp", 4.0, 0.0),
                ("quic", 8.0, 0.0),
                ("tcp", 8.0, 1.0),
            ]
        ]
    )
    sided = 'a = { contestant = "quic" }\nb = { contestant = "tcp" }\n'
    rows = compared(tmp_path, HEAD + 'published = "mbps"\n' + MEASURED + sided, seen).frame
    assert rows["agrees"].to_list()[:3] == ["not defined"] * 3
    assert rows["measured"].null_count() == rows.height


def test_a_published_interval_is_students(tmp_path: Path) -> None:
    row = compared(tmp_path, HEAD + FIGURES + SIDES + MEASURED).frame.row(0, named=True)
    # 0.1/√5 times t(0.975; 4) = 2.776
    half = 0.1 / 5**0.5 * 2.7764
    assert row["published_low"] == pytest.approx(3.9 - half, abs=1e-4)
    assert row["published_high"] == pytest.approx(3.9 + half, abs=1e-4)
    assert row["published_trials"] == 5


def test_a_cell_without_sd_has_no_interval(tmp_path: Path) -> None:
    row = compared(tmp_path, HEAD + FIGURES + SIDES + MEASURED).frame.row(1, named=True)
    assert row["published_low"] is None


def test_nothing_run_is_said_of_every_cell(tmp_path: Path) -> None:
    found = compared(tmp_path, HEAD + FIGURES + SIDES + MEASURED, None)
    assert not found.ran
    assert set(found.frame["agrees"]) == {"not run"}
    assert found.frame["published"].to_list() == [3.9, 3.0, 7.0, 2.0]


def test_near_is_for_what_a_narrow_interval_misses(tmp_path: Path) -> None:
    seen = observations([("quic", 4.0, 25.0, [3.96, 3.96, 3.96])])
    text = HEAD + 'published = "mbps"\nnear_percent = 2\n' + SIDES + MEASURED
    assert compared(tmp_path, text, seen).frame["agrees"][0] == "near"
    text = HEAD + 'published = "mbps"\nnear_percent = 0.1\n' + SIDES + MEASURED
    assert compared(tmp_path, text, seen).frame["agrees"][0] == "higher"


@pytest.mark.parametrize(
    ("printed", "ours", "word"),
    [
        ("7", 7.1, "inside"),
        ("7", 7.4999, "inside"),
        ("7", 7.51, "higher"),
        ("7.0", 7.1, "higher"),
        ("7.0", 6.96, "inside"),
        ("70", 69.4, "lower"),
        ("8", 7.9999999999999964, "inside"),
        ("21.90", 21.90000000000001, "inside"),
    ],
)
def test_a_published_figure_is_known_to_half_a_unit_of_its_last_digit(
    tmp_path: Path, printed: str, ours: float, word: str
) -> None:
    made = paper(
        tmp_path,
        HEAD + 'published = "mbps"\n' + MEASURED,
        f"rate,delay,mbps,source\n4,25,{printed},row 1\n4,25,1.25,row 2\n",
    )
    seen = observations([("a", 4.0, 25.0, [ours] * 3)])
    assert compare(comparisons(made)["alone"], made, seen).frame["agrees"][0] == word


@pytest.mark.parametrize("ours", [79.9, 80.1])
def test_a_count_and_a_bound_are_exact(tmp_path: Path, ours: float) -> None:
    seen = observations([("a", 4.0, 25.0, [ours] * 3)])
    table = "rate,delay,good,of,source\n4,25,80,100,row 1\n"
    for text in (
        'published = "good"\npublished_of = "of"\n',
        'published = "good"\npublished_bound = "above"\n',
    ):
        made = paper(tmp_path, HEAD + text + MEASURED, table)
        word = compare(comparisons(made)["alone"], made, seen).frame["agrees"][0]
        assert word == (("higher", "agrees") if ours > 80 else ("lower", "disagrees"))["bound" in text]


@pytest.mark.parametrize(
    ("over", "printed", "word"),
    [
        ("max", 9, "inconclusive"),
        ("max", 5, "inside"),
        ("max", 3, "higher"),
        ("min", 1, "inconclusive"),
        ("min", 9, "lower"),
        ("share", 9, "inconclusive"),
        ("mean", 9, "lower"),
    ],
)
def test_an_extreme_or_a_count_of_a_part_of_the_papers_grid_may_be_another(
    tmp_path: Path, over: str, printed: int, word: str
) -> None:
    """At 30 ms there is no trial: the largest of all may be larger, and the smallest smaller."""
    seen = observations([("a", 4.0, 10.0, [5.0] * 3), ("a", 4.0, 20.0, [4.0] * 3)])
    text = (
        HEAD + 'published = "mbps"\n' + MEASURED + f'cell = ["rtt_ms"]\neffect = "value"\nover = "{over}"\n'
    )
    text += "threshold = 3\n" if over == "share" else ""
    made = paper(tmp_path, text, f"rate,delay,mbps,source\n4,,{printed},row 1\n")
    whole = compare(comparisons(made)["alone"], made, seen)
    assert (whole.note, whole.frame["agrees"][0] == "inconclusive") == ("", False)
    made = paper(
        tmp_path,
        text + "where = { rtt_ms = [10, 20, 30] }\n",
        f"rate,delay,mbps,source\n4,,{printed},row 1\n",
    )
    part = compare(comparisons(made)["alone"], made, seen)
    assert part.note == "only at rtt_ms = 10 and 20: no trials at 30"
    assert part.frame["agrees"].to_list() == ["inconclusive" if word == "inside" else word]


PART = (Partial("rtt_ms", (10,), (30,)),)


@pytest.mark.parametrize(
    ("over", "bound", "above"),
    [
        ("max", 5, "agrees"),
        ("max", 95, "inconclusive"),
        ("min", 5, "inconclusive"),
        ("min", 95, "disagrees"),
        ("share", 5, "inconclusive"),
        ("mean", 5, "agrees"),
    ],
)
def test_a_bound_on_an_extreme_of_a_part_of_the_papers_grid(over: Over, bound: float, above: str) -> None:
    """The smallest of a part is above 5: that of all may be below it."""
    ours = Estimate(50.0, 49.0, 51.0, 1, 8, 4, partial=PART, over=over)
    theirs = Published(bound, None, None, None)
    assert bound_agreement(theirs, ours, "above") == sign_agreement("yes", ours, bound) == above
    below = {"agrees": "disagrees", "disagrees": "agrees"}.get(above, above)
    assert bound_agreement(theirs, ours, "below") == sign_agreement("no", ours, bound) == below


def test_an_extreme_of_a_part_of_the_papers_grid_is_not_near() -> None:
    """That of all may be farther away; without an interval of ours nothing is inside."""
    theirs = Published(9.5, None, None, None)
    ours = Estimate(9.2, 9.1, 9.3, 1, 8, 4, over="min")
    assert agreement(theirs, ours, 5) == "near"
    assert agreement(theirs, replace(ours, partial=PART), 5) == "lower"
    theirs, ours = Published(9.5, 9.0, 10.0, 5), replace(ours, low=None, high=None)
    assert agreement(theirs, ours) == "inside"
    assert agreement(theirs, replace(ours, partial=PART)) == "no interval"


def test_keys_match_within_rounding(tmp_path: Path) -> None:
    seen = observations([("quic", 4.0 + 4e-7, 25.0, [3.9, 3.9, 3.9])])
    assert compared(tmp_path, HEAD + FIGURES + SIDES + MEASURED, seen).frame["agrees"][0] == "inside"
    seen = observations([("quic", 4.01, 25.0, [3.9, 3.9, 3.9])])
    assert compared(tmp_path, HEAD + FIGURES + SIDES + MEASURED, seen).frame["agrees"][0] == "not run"


def test_an_empty_key_is_no_condition(tmp_path: Path) -> None:
    seen = observations([("tcp", 8.0, 25.0, [2.0, 2.1, 1.9]), ("tcp", 8.0, 50.0, [2.0, 2.1, 1.9])])
    row = compared(tmp_path, HEAD + FIGURES + SIDES + MEASURED, seen).frame.row(3, named=True)
    assert row["rtt_ms"] is None
    assert row["trials"] == 6


def test_a_factor_brings_a_key_into_our_unit(tmp_path: Path) -> None:
    seen = observations([("quic", 4.0, 50.0, [3.9, 3.9, 3.9])])
    text = HEAD + FIGURES + "factor = { delay = 2 }\n" + SIDES + MEASURED
    row = compared(tmp_path, text, seen).frame.row(0, named=True)
    assert (row["rtt_ms"], row["agrees"]) == (50.0, "inside")


def test_values_translate_words(tmp_path: Path) -> None:
    head = HEAD.replace("match = { ", 'match = { who = "contestant", ')
    text = head + FIGURES + 'values = { who = { q = "quic", t = "tcp" } }\n' + MEASURED
    found = compared(tmp_path, text)
    assert found.frame["contestant"].to_list() == ["quic", "tcp", "quic", "tcp"]
    assert found.frame["measured"][1] == pytest.approx(2.1)


def test_signs_are_compared_with_the_whole_interval(tmp_path: Path) -> None:
    seen = observations(
        [
            ("quic", 4.0, 25.0, [4.0, 4.1, 4.2]),
            ("tcp", 4.0, 25.0, [2.0, 2.1, 2.2]),
            ("quic", 8.0, 25.0, [1.0, 7.0, 13.0]),
            ("tcp", 8.0, 25.0, [6.0, 7.0, 8.0]),
        ]
    )
    sided = 'a = { contestant = "quic" }\nb = { contestant = "tcp" }\neffect = "difference"\n'
    text = HEAD + 'published_sign = "faster"\n' + MEASURED + sided
    found = compared(tmp_path, text, seen).frame["agrees"].to_list()
    # +2 in the first two cells, of which the second was said to be negative; the fourth says nothing
    assert found[:3] == ["agrees", "disagrees", "inconclusive"]
    assert found[3] == "not printed"
    text = text.replace('"difference"', '"ratio"')
    assert compared(tmp_path, text, seen).frame["agrees"].to_list()[:2] == ["agrees", "disagrees"]


def test_a_bound_is_met_by_the_whole_interval(tmp_path: Path) -> None:
    text = HEAD + 'published = "mbps"\npublished_bound = "below"\n' + SIDES + MEASURED
    assert compared(tmp_path, text).frame["agrees"].to_list()[:3] == [
        "inconclusive",
        "agrees",
        "disagrees",
    ]


def test_counts_become_percentages(tmp_path: Path) -> None:
    table = "rate,delay,good,of,source\n4,,3,4,row 1\n"
    seen = observations(
        [("a", 4.0, rtt, [1.0, 1.0, 1.0]) for rtt in (10.0, 20.0, 30.0)] + [("a", 4.0, 40.0, [0.0] * 3)]
    )
    text = HEAD + 'published = "good"\npublished_of = "of"\n' + MEASURED
    text += 'cell = ["rtt_ms"]\nover = "share"\nthreshold = 0.5\n'
    made = paper(tmp_path, text, table)
    row = compare(comparisons(made)["alone"], made, seen).frame.row(0, named=True)
    assert (row["published"], row["measured"], row["agrees"]) == (75.0, 75.0, "inside")


@pytest.mark.parametrize(("good", "of"), [(4, 4), (3, 4), (0, 4)])
def test_an_interval_of_all_that_is_possible_says_nothing(tmp_path: Path, good: int, of: int) -> None:
    """Three seeds that differ so much settle no cell: 0 to 100 % of the cells, whatever the paper says."""
    seen = observations([("a", 4.0, rtt, [0.1, 0.5, 0.7]) for rtt in (10.0, 20.0)])
    text = HEAD + 'published = "good"\npublished_of = "of"\n' + MEASURED
    text += 'cell = ["rtt_ms"]\nover = "share"\nthreshold = 0.5\n'
    made = paper(tmp_path, text, f"rate,delay,good,of,source\n4,,{good},{of},row 1\n")
    row = compare(comparisons(made)["alone"], made, seen).frame.row(0, named=True)
    assert (row["measured_low"], row["measured_high"], row["agrees"]) == (0.0, 100.0, "inconclusive")


def test_the_sd_of_a_count_becomes_a_percentage_too(tmp_path: Path) -> None:
    text = HEAD + 'published = "good"\npublished_of = "of"\npublished_sd = "sd"\npublished_trials = "runs"\n'
    made = paper(tmp_path, text + MEASURED, "rate,delay,good,of,sd,runs,source\n4,25,3,5,0.5,4,row 1\n")
    row = compare(comparisons(made)["alone"], made, SEEN).frame.row(0, named=True)
    # 10/√4 times t(0.975; 3) = 3.182
    assert (row["published_low"], row["published_high"]) == pytest.approx((60 - 15.91, 60 + 15.91), abs=0.01)


@pytest.mark.parametrize(
    ("words", "values"), [("yes,no", "{ yes = true, no = false }"), ("true,false", ""), ("TRUE,FALSE", "")]
)
def test_keys_may_be_true_or_false(tmp_path: Path, words: str, values: str) -> None:
    seen = SEEN.with_columns(pl.col("contestant").eq("quic").alias("option.pacing"))
    yes, no = words.split(",")
    table = f"paced,mbps,source\n{yes},3.9,row 1\n{no},2.1,row 2\n"
    head = HEAD.replace('rate = "rate_mbps", delay = "rtt_ms"', 'paced = "option.pacing"')
    text = head + 'published = "mbps"\n' + (f"values = {{ paced = {values} }}\n" if values else "") + MEASURED
    made = paper(tmp_path, text, table)
    found = compare(comparisons(made)["alone"], made, seen.filter(pl.col("rate_mbps") == 4)).frame
    assert found["measured"].to_list() == pytest.approx([3.9, 2.1])


def test_a_side_may_be_true_or_false(tmp_path: Path) -> None:
    table = "rate,delay,quic,mbps,source\n4,25,true,3.9,row 1\n4,25,false,2.1,row 2\n"
    sides = SIDES.replace('"who"', '"quic"').replace("q = {", "true = {").replace("t = {", "false = {")
    made = paper(tmp_path, HEAD + 'published = "mbps"\n' + sides + MEASURED, table)
    found = compare(comparisons(made)["alone"], made, SEEN).frame
    assert found["side"].to_list() == ["true", "false"]
    assert found["measured"].to_list() == pytest.approx([3.9, 2.1])


def test_a_key_with_a_factor_must_be_a_number(tmp_path: Path) -> None:
    text = HEAD + 'published = "mbps"\nfactor = { delay = 2 }\n' + MEASURED
    made = paper(tmp_path, text, "rate,delay,mbps,source\n4,25,3.9,row 1\n4,other,2.1,row 2\n")
    with pytest.raises(StudyError, match="of alone: '25' in column delay is no number"):
        compare(comparisons(made)["alone"], made, SEEN)


def test_two_seeds_give_no_interval(tmp_path: Path) -> None:
    seen = observations([("tcp", 4.0, 25.0, [2.0, 2.1])])
    assert compared(tmp_path, HEAD + FIGURES + SIDES + MEASURED, seen).frame["agrees"][1] == "no interval"
