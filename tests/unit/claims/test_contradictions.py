"""The factor that moves a quantity most is found, and chance is not taken for one."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from cambrian.claims import contradictions, listing, load
from cambrian.claims.contradictions import MOVED_MOST, explain
from cambrian.claims.model import Contradiction
from tests.unit.claims.ledgers import Folder
from tests.unit.effects.frames import frame, row

FACTORS = ("buffer", "rtt", "stack")
BETWEEN = Contradiction(
    id="share",
    claims=("one", "two"),
    text="25 % or 50 %",
    part="suite/factors",
    quantity="x",
    factors=FACTORS,
)


def shares(buffer: float, rtt: float, stack: float, noise: float = 1.0, seeds: int = 5) -> pl.DataFrame:
    """Three factors of known effect (in all), of three, two and two levels."""
    rng = np.random.default_rng(4)
    return frame(
        [
            (
                {"buffer": level, "rtt": long * 50, "stack": "xy"[other]},
                "quic",
                (
                    30 + buffer * level / 2 + rtt * long + stack * other + noise * rng.normal(size=seeds)
                ).tolist(),
            )
            for level, long, other in itertools.product((0, 1, 2), (0, 1), (0, 1))
        ]
    )


def test_main_effects_of_cells_without_noise() -> None:
    found = explain(BETWEEN, Folder({"suite/factors": shares(20, 5, -8, noise=0)}))
    assert (found.verdict, found.factor) == (MOVED_MOST, "buffer")
    assert [main.factor for main in found.effects] == ["buffer", "stack", "rtt"]
    assert [main.difference for main in found.effects] == pytest.approx([20, 8, 5])
    buffer, stack, _ = found.effects
    assert (buffer.lowest, buffer.highest, buffer.pairs) == (0, 2, 4)
    assert (stack.lowest, stack.highest, stack.pairs) == ("y", "x", 6)
    assert (buffer.mean_lowest, buffer.mean_highest) == pytest.approx((30 + 2.5 - 4, 50 + 2.5 - 4))


def test_the_verdict_does_not_say_that_the_papers_are_reconciled() -> None:
    """No setting has the 10 % of one paper, whatever the factor; the listing shows that."""
    found = explain(BETWEEN, Folder({"suite/factors": shares(20, 5, -8, noise=0)}))
    assert found.ends == pytest.approx((22, 55))
    lines = dict(listing.contradiction_lines(found, []))
    assert lines["most"] == "buffer moves x most"
    assert lines["settings"] == "the mean of x is 22 to 55, by the setting"
    assert "explain" not in listing.markdown([], [found])


@pytest.mark.parametrize("one", load.load().contradictions, ids=lambda one: one.id)
def test_a_contradiction_lists_its_networks(one: Contradiction) -> None:
    """So a profile that leaves one out gets a note."""
    assert "network" in one.where


def test_a_lead_without_an_interval_explains_nothing() -> None:
    """The second factor has a level with a single seed, so its effect may be the larger one."""
    cells = [
        ({"buffer": 0, "rtt": 0}, "quic", [30.0, 31.0, 29.0, 30.5]),
        ({"buffer": 1, "rtt": 0}, "quic", [40.0, 41.0, 39.0, 41.5]),
        ({"buffer": 0, "rtt": 1}, "quic", [39.9]),
    ]
    two = BETWEEN.model_copy(update={"factors": ("buffer", "rtt")})
    found = explain(two, Folder({"suite/factors": frame(cells)}))
    assert (found.verdict, found.factor) == ("inconclusive", "buffer")


def test_effects_with_noise_have_intervals_around_the_truth() -> None:
    found = explain(BETWEEN, Folder({"suite/factors": shares(20, 5, 0)}))
    assert (found.verdict, found.factor) == (MOVED_MOST, "buffer")
    for main, truth in zip(found.effects[:2], (20, 5), strict=True):
        assert main.low is not None and main.high is not None
        assert main.low <= truth <= main.high


def test_levels_are_compared_in_the_same_setting_alone() -> None:
    # the long RTT was measured with stack y alone, which has 8 less
    made = shares(20, 5, -8, noise=0).filter((pl.col("rtt") == 0) | (pl.col("stack") == "y"))
    found = {main.factor: main for main in explain(BETWEEN, Folder({"suite/factors": made})).effects}
    assert found["rtt"].difference == pytest.approx(5)
    assert found["rtt"].pairs == 3


def test_two_factors_alike_are_not_told_apart() -> None:
    found = explain(BETWEEN, Folder({"suite/factors": shares(0, 10, 10, noise=2)}))
    assert found.verdict == "inconclusive"
    assert "may be 0" in found.reason


def test_a_factor_that_was_not_varied_may_be_the_one() -> None:
    only = shares(20, 5, -8, noise=0).filter((pl.col("rtt") == 0) & (pl.col("stack") == "x"))
    found = explain(BETWEEN, Folder({"suite/factors": only}))
    assert (found.verdict, found.reason) == ("inconclusive", "not measured at two levels: rtt, stack")
    listed = BETWEEN.model_copy(update={"where": {"rtt": (0, 50), "stack": ("x", "y")}})
    noted = explain(listed, Folder({"suite/factors": only}))
    assert (noted.verdict, noted.factor) == (MOVED_MOST, "buffer")
    assert noted.note == "only at rtt = 0: no trials at 50; only at stack = x: no trials at y"


def test_noise_explains_nothing() -> None:
    found = explain(BETWEEN, Folder({"suite/factors": shares(0, 0, 0, noise=3, seeds=4)}))
    assert found.verdict == "inconclusive"


def test_few_trials_explain_nothing() -> None:
    found = explain(BETWEEN, Folder({"suite/factors": shares(20, 5, 0, seeds=2)}))
    assert (found.verdict, found.effects[0].low) == ("inconclusive", None)
    assert "2 seeds" in found.reason


def test_without_data_it_is_not_run() -> None:
    whole = shares(20, 5, 0)
    one_setting = whole.filter((pl.col("rtt") == 0) & (pl.col("stack") == "x") & (pl.col("buffer") == 0))
    for parts in ({}, {"suite/factors": whole.clear()}, {"suite/factors": whole.drop("rtt")},
                  {"suite/factors": one_setting}):  # fmt: skip
        found = explain(BETWEEN, Folder(parts))
        assert (found.verdict, found.factor) == ("not run", None)
        assert found.reason


def varying(rng: np.random.Generator, levels: int, own: float, seeds: int = 5) -> pl.DataFrame:
    """The buffer moves x by 10, the RTT by 5, the stack's last level by ``own``, which varies by seed."""
    by_seed = rng.normal(0, 12, size=seeds)
    return frame(
        [
            (
                {"buffer": level, "rtt": long * 50, "stack": "uxy"[-levels:][other]},
                "quic",
                (
                    40
                    + 10 * level
                    + 5 * long
                    + (own + by_seed) * (other == levels - 1)
                    + rng.normal(0, 2, size=seeds)
                ).tolist(),
            )
            for level, long, other in itertools.product((0, 1), (0, 1), range(levels))
        ]
    )


@pytest.mark.parametrize("levels", [2, 3])
def test_a_factor_that_is_less_well_known_than_the_second_may_be_the_one(levels: int) -> None:
    """The buffer was named in 13 % of studies: it leads the RTT, and the stack moves x by more than both."""
    rng = np.random.default_rng(3)
    studies = [explain(BETWEEN, Folder({"suite/factors": varying(rng, levels, 11)})) for _ in range(60)]
    wrong = [found for found in studies if (found.verdict, found.factor) == (MOVED_MOST, "buffer")]
    assert len(wrong) <= 3


def test_a_factor_whose_sign_is_not_known_may_be_the_one() -> None:
    """The stack moves x by 1, or by -19 to 21: its estimate does not say by how much."""
    pair = contradictions._Pair(np.array([10.0, 9.9, 10.1, 10.0]), np.full(4, 3.0))
    small = contradictions._Pair(np.array([1.0, 4.0, -5.0, 4.0]), np.full(4, 3.0))
    assert not contradictions._leads(pair, small, 1)
    assert not contradictions._leads(pair, replace(small, draws=-small.draws), 1)
    assert contradictions._leads(pair, replace(small, draws=small.draws / 10), 1)


def test_levels_that_were_chosen_because_they_are_furthest_apart_have_a_wider_interval() -> None:
    """The furthest two of five equal levels had an interval without 0 in 20 of 100 studies."""
    rng = np.random.default_rng(6)
    one = BETWEEN.model_copy(update={"factors": ("buffer",)})
    false = 0
    for _ in range(200):
        made = frame([({"buffer": level}, "quic", list(rng.normal(50, 5, size=5))) for level in range(5)])
        false += explain(one, Folder({"suite/factors": made})).verdict == MOVED_MOST
    assert false / 200 <= 0.08


def test_the_seeds_behind_an_effect_are_those_of_its_cells() -> None:
    """Four cells of one seed each are not four seeds."""
    two = BETWEEN.model_copy(update={"factors": ("buffer", "rtt")})
    rows = [
        row({"buffer": buffer, "rtt": rtt}, "quic", seed, 30.0 + 20 * buffer + seed)
        for seed, (buffer, rtt) in enumerate(itertools.product((0, 1), (0, 1)), start=1)
    ]
    found = explain(two, Folder({"suite/factors": pl.DataFrame(rows)}))
    assert (found.verdict, found.reason) == ("inconclusive", "one seed a cell")
    assert all(main.low is None for main in found.effects)


def loads(late: int) -> Folder:
    """Page load times; ``late`` loads behind the buffer 1 at the RTT of 50 were not complete."""
    there = (pl.col("buffer") == 1) & (pl.col("rtt") == 50)
    made = shares(20, 5, 0).with_columns(
        plt_ms="x",
        group=pl.concat_str(FACTORS, separator="/"),
        page=pl.lit("news"),
        not_complete=pl.when(there).then(late).otherwise(0),
    )
    return Folder({"suite/factors": made})


def test_loads_that_were_not_complete_leave_it_open() -> None:
    of_pages = BETWEEN.model_copy(update={"quantity": "plt_ms"})
    assert explain(of_pages, loads(0)).verdict == MOVED_MOST
    some = explain(of_pages, loads(3))
    assert (some.verdict, some.factor) == ("inconclusive", "buffer")
    assert some.reason.startswith("cells left out because not all of their transfers or page loads were com")


def test_a_setting_whose_groups_share_no_seed_leaves_it_open() -> None:
    setting = (pl.col("buffer") == 1) & (pl.col("rtt") == 50)
    made = shares(20, 5, 0)
    group = pl.when(setting).then(pl.col("seed").cast(pl.String)).otherwise(pl.lit("all"))
    some = explain(BETWEEN, Folder({"suite/factors": made.with_columns(group=group)}))
    assert (some.verdict, some.factor) == ("inconclusive", "buffer")
    assert some.reason.startswith("cells left out because no seed has a value in each of their groups")
    none = explain(BETWEEN, Folder({"suite/factors": made.with_columns(group=pl.col("seed"))}))
    assert none.verdict == "inconclusive" and "no seed has" in none.reason


def test_listed_values_without_trials_are_noted() -> None:
    listed = Contradiction.model_validate({**BETWEEN.model_dump(), "where": {"buffer": [0, 2, 4]}})
    found = explain(listed, Folder({"suite/factors": shares(20, 5, -8)}))
    assert (found.verdict, found.note) == (MOVED_MOST, "only at buffer = 0 and 2: no trials at 4")
    assert f"{MOVED_MOST} (only at buffer = 0 and 2" in listing.markdown([], [found])


def test_an_unknown_table_is_not_run() -> None:
    class Tables(Folder):
        def frame(self, part: str, table: str = "observations") -> pl.DataFrame | None:
            raise ValueError(f"no table {table}")

    found = explain(BETWEEN, Tables({}))
    assert (found.verdict, found.reason) == ("not run", "no table observations")


def test_a_level_without_a_defined_figure_hides_no_other_level() -> None:
    keys = pl.DataFrame({"buffer": ["a", "b", "c", "d"]})
    draws = np.tile([np.nan, 1.0, 2.0, 3.5], (200, 1))
    found = contradictions._main("buffer", keys, draws, np.full(4, 5.0))
    assert found is not None
    assert (found.effect.lowest, found.effect.highest, found.effect.difference) == ("b", "d", 2.5)
    assert contradictions._main("buffer", keys[:2], draws[:, :2], np.full(2, 5.0)) is None
