"""How often each kind of interval that the pages print holds the truth, and how often each verdict is wrong.

Run: ``python benchmarks/coverage.py`` (some minutes on one core); ``--json FILE`` also writes the figures.
Everything is simulated with the functions that make the pages, on seeds whose truth is known.
``tests/unit/stats/test_coverage.py`` runs a smaller part of it with fixed draws.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import shapely
from rich.console import Console
from rich.table import Table

from cambrian.claims.model import ClaimTest
from cambrian.claims.verdicts import verdict_of
from cambrian.effects.cells import cells_of
from cambrian.effects.crossover import crossovers_of
from cambrian.effects.model import EffectSpec
from cambrian.effects.prepare import Prepared, Side
from cambrian.effects.summary import estimate
from cambrian.metrics.clustered import Region, TrialArea
from cambrian.metrics.halves import Arms
from cambrian.report import blocks, families, harms
from cambrian.report.conformance import seed_pairs
from cambrian.report.tables import harm, page_changes, pairwise
from cambrian.stats import jackknife, pairs, splits, states
from cambrian.stats.compare import Comparison, against, compare
from cambrian.stats.exact import median_interval
from cambrian.stats.interval import FloatArray, Interval

#: simulated studies a line: what is 95 % is known to ± 2 points (two standard errors)
STUDIES = 400
SEEDS = (3, 4, 5, 6, 10)
#: a bias shows where many seeds make the interval short
MANY_SEEDS = (30, 100)
CELLS = 16
Draw = Callable[[np.random.Generator, tuple[int, ...]], FloatArray]
Bounds = tuple[float, float] | None
Levels = Sequence[float] | np.ndarray[tuple[int, ...], np.dtype[np.floating[Any]]]


def _lognormal(rng: np.random.Generator, shape: tuple[int, ...], sigma: float) -> FloatArray:
    return np.asarray(10 * rng.lognormal(-(sigma**2) / 2, sigma, shape))


#: values of a seed, all of mean 10
DRAWS: dict[str, Draw] = {
    "normal": lambda rng, shape: rng.normal(10, 2, shape),
    "skewed": lambda rng, shape: _lognormal(rng, shape, 0.5),
    "skewed the other way": lambda rng, shape: 15 - _lognormal(rng, shape, 0.5) / 2,
    "very skewed": lambda rng, shape: _lognormal(rng, shape, 1.0),
    "two modes": lambda rng, shape: 10 + np.where(rng.random(shape) < 0.5, -4, 4) + rng.normal(0, 1, shape),
}


def _arm(values: FloatArray, first: int = 0) -> dict[int, float]:
    return {first + seed: float(value) for seed, value in enumerate(values)}


def _ends(found: Interval) -> Bounds:
    return None if math.isnan(found.low) else (found.low, found.high)


def _mean(rng: np.random.Generator, draw: Draw, n: int) -> tuple[Bounds, float]:
    return _ends(jackknife.mean(_arm(draw(rng, (n,))))), 10


def _mean_by_factors(rng: np.random.Generator, draw: Draw, n: int) -> tuple[Bounds, float]:
    return _ends(jackknife.mean(_arm(draw(rng, (n,))), "factor")), 10


def _share(rng: np.random.Generator, draw: Draw, n: int) -> tuple[Bounds, float]:
    """Of two flows that are alike: the truth is a half by symmetry."""
    one, two = np.maximum(draw(rng, (2, n)), 0.01)
    return _ends(jackknife.mean(_arm(one / (one + two)), "share")), 0.5


def _small_share(rng: np.random.Generator, draw: Draw, n: int) -> tuple[Bounds, float]:
    """Such as a state's share of the time: a hundredth of what is drawn."""
    return _ends(jackknife.mean(_arm(draw(rng, (n,)) / 100), "share")), 0.1


def _paired(rng: np.random.Generator, draw: Draw, n: int) -> tuple[Bounds, float]:
    luck = rng.normal(0, 3, n)
    return _ends(compare(_arm(draw(rng, (n,)) + luck), _arm(10 + luck)).difference), 0


def _welch(rng: np.random.Generator, draw: Draw, n: int) -> tuple[Bounds, float]:
    return _ends(compare(_arm(draw(rng, (n,))), _arm(draw(rng, (n,)), first=n)).difference), 0


def _welch_beside_30(rng: np.random.Generator, draw: Draw, n: int) -> tuple[Bounds, float]:
    return _ends(compare(_arm(draw(rng, (n,))), _arm(draw(rng, (30,)), first=n)).difference), 0


def _harm(rng: np.random.Generator, draw: Draw, n: int) -> tuple[Bounds, float]:
    """Half of the throughput is lost; a seed's luck is in both arms."""
    luck = rng.normal(1, 0.1, n)
    alone, competing = (np.maximum(draw(rng, (n,)), 0.01) * luck / part for part in (1, 2))
    found = harms.of_arms("", "victim", "other", harms.SERVICES[0], _arm(alone), {}, _arm(competing))
    assert found.harm is not None
    return _ends(found.harm), 0.5


def _changed(rng: np.random.Generator, draw: Draw, n: int) -> page_changes.Change:
    """A page that loads as fast as the base's; a seed's luck is in both times."""
    luck = rng.normal(1, 0.1, n)
    base, mine = np.maximum(draw(rng, (2, n)), 0.01) * luck
    found = page_changes.of_arms(_arm(100 * base), _arm(100 * mine))
    assert found is not None
    return found


def _change(rng: np.random.Generator, draw: Draw, n: int) -> tuple[Bounds, float]:
    return _ends(_changed(rng, draw, n).percent), 0


def grid(
    rng: np.random.Generator,
    levels: Levels,
    n: int,
    draw: Draw,
    part: float,
    luck: float,
) -> Prepared:
    """Cells with a true ratio of a to b; ``part`` scales a seed's noise, ``luck`` is in all cells at once."""
    sides = []
    for level in (np.asarray(levels), np.ones(len(levels))):
        noise = part * (draw(rng, (n, len(level))) - 10) / 10 + luck * rng.normal(size=(n, 1))
        values = level * (1 + noise)
        sides.append(Side(values, np.full(len(level), float(n))))
    keys = pl.DataFrame({"rate": np.arange(len(levels))})
    return Prepared(keys, tuple(range(n)), sides[0], sides[1], trials=2 * n * len(levels), left_out=0)


def claim(**keys: object) -> ClaimTest:
    """A test of side a against b over the cells of :func:`grid`."""
    base = {"part": "p", "quantity": "x", "cell": ["rate"], "a": {"c": "a"}, "b": {"c": "b"}, "says": "x"}
    return ClaimTest.model_validate({**base, "expect": {"above": 0}, **keys})


def _over(over: str, truth: float, levels: Levels, **keys: object) -> Callable[..., tuple[Bounds, float]]:
    test = claim(over=over, **keys)

    def simulate(rng: np.random.Generator, draw: Draw, n: int) -> tuple[Bounds, float]:
        found = estimate(grid(rng, levels, n, draw, 0.5, 0.05), test)
        return None if found.low is None or found.high is None else (found.low, found.high), truth

    return simulate


def _scores(rng: np.random.Generator, draw: Draw, n: int) -> tuple[FloatArray, FloatArray]:
    """Where trials of a test and of a reference lie; the test is as the reference."""
    one, two = (draw(rng, (2, n)) - 10) / 10
    return one, two


def alike(one: FloatArray, two: FloatArray) -> dict[tuple[int, int], float]:
    """A score in [0, 1] of each pair: 1 where both lie in one place, as conformance is."""
    return {
        (a, b): math.exp(-2 * abs(x - y))
        for a, x in enumerate(one.tolist())
        for b, y in enumerate(two.tolist())
    }


def _conformance(rng: np.random.Generator, draw: Draw, n: int) -> tuple[Bounds, float]:
    one, two = _scores(rng, draw, n)
    return _ends(pairs.deficit(alike(one, two), alike(two, two))[0]), 0


#: points a trial of :func:`_halves`, and studies: each takes some hundredths of a second
_POINTS = 20


def region(rng: np.random.Generator, places: FloatArray) -> Region:
    """Trials whose points lie about a place each; one hull a trial."""
    areas = []
    for place in places:
        points = rng.normal((place, 0), 1, size=(_POINTS, 2))
        areas.append(TrialArea(points, shapely.MultiPoint(points).convex_hull.buffer(1e-6), 1))
    return Region(tuple(areas))


def deficit_of_halves(rng: np.random.Generator, draw: Draw, n: int) -> tuple[Interval, float | None, float]:
    """Floor minus contestant, equally distributed, as in :mod:`cambrian.report.conformance.halves`."""
    one, two = (region(rng, (draw(rng, (n,)) - 10) / 4) for _ in range(2))
    seeds = tuple(range(n))
    ways = [half[::-1] if number % 2 else half for number, half in enumerate(splits.splits(seeds))]
    found = [
        splits.replicates(seeds, [(half, Arms(side, two).conformance) for half in ways])
        for side in (one, two)
    ]
    size = abs(float(found[1][0]))
    difference = found[1] - found[0]
    p = jackknife.p_value(difference, n, 0.0, size=size)
    return jackknife.interval(difference, n, size=size), p, float(found[1][0])


def _halves(rng: np.random.Generator, draw: Draw, n: int) -> tuple[Bounds, float]:
    return _ends(deficit_of_halves(rng, draw, n)[0]), 0


def _median(rng: np.random.Generator, draw: Draw, n: int) -> tuple[Bounds, float]:
    """The truth is the median of a million draws."""
    return _ends(median_interval(draw(rng, (n,)))), _true_median(draw)


def _true_median(draw: Draw) -> float:
    if draw not in _MEDIANS:
        _MEDIANS[draw] = float(np.median(draw(np.random.default_rng(9), (1_000_000,))))
    return _MEDIANS[draw]


_MEDIANS: dict[Draw, float] = {}
_RISING = np.linspace(0.8, 1.4, CELLS)


def _crossover(rng: np.random.Generator, draw: Draw, n: int) -> tuple[Bounds, float]:
    spec = EffectSpec.model_validate(claim().model_dump(include=set(EffectSpec.model_fields)))
    found = crossovers_of(grid(rng, _RISING, n, draw, 0.2, 0.05), spec, "rate", 1.0).row(0, named=True)
    if not found["has_interval"]:
        return None, math.nan
    low, high = (math.inf if found[end] is None else found[end] for end in ("low", "high"))
    return (low, high), float(np.argmax(_RISING > 1))


KINDS: dict[str, Callable[..., tuple[Bounds, float]]] = {
    "mean of seeds, as it is": _mean,
    "mean of seeds, by factors (rates, times)": _mean_by_factors,
    "mean share of an even split, by odds": _share,
    "mean of a small share, by odds": _small_share,
    "difference of arms, paired": _paired,
    "difference of arms, Welch": _welch,
    "difference of arms, Welch, one of 30 seeds": _welch_beside_30,
    "harm": _harm,
    "page load time change": _change,
    "over cells: geometric mean of ratios": _over("geometric_mean", 1.2, np.full(CELLS, 1.2)),
    "over cells: mean of ratios": _over("mean", 1.2, np.full(CELLS, 1.2)),
    "over cells: median of ratios": _over("median", 1.2, np.linspace(1.0, 1.4, CELLS)),
    "over cells: slope": _over("slope", 0.02, 1 + 0.02 * np.arange(CELLS), along="rate"),
    "over cells: share above": _over("share", 75, np.repeat([1.3, 0.8], [12, 4]), threshold=1),
    "over cells: largest": _over("max", 1.2, np.full(CELLS, 1.2)),
    "over cells: smallest": _over("min", 1.0, np.linspace(1.0, 1.4, CELLS)),
    "over cells: best": _over("best", 0.0, np.full(CELLS, 1.2), along="rate", at=3),
    "crossover": _crossover,
    "deficit of conformance, pairs of seeds": _conformance,
    "deficit of conformance, half-splits": _halves,
    "median, by order": _median,
}
#: slow ones run with a part of the studies
_SLOW = {"deficit of conformance, half-splits": 10, "crossover": 2}
#: with many seeds: what is fast, and no plain mean
_AT_MANY = ("page load time change", "harm", "over cells: mean of ratios")
Line = dict[str, str | float | None]


def coverage(
    studies: int, kinds: Sequence[str] = tuple(KINDS), seeds: Sequence[int] = SEEDS
) -> Iterator[Line]:
    """A line for each kind of interval and distribution: the share of studies whose interval holds the truth.

    None where so few seeds have no interval.
    """
    for kind in kinds:
        for name, draw in DRAWS.items():
            line: Line = {"what": kind, "seeds are": name}
            for n in seeds:
                rng = np.random.default_rng([n, len(kind), len(name)])
                hits = [_holds(*KINDS[kind](rng, draw, n)) for _ in range(studies // _SLOW.get(kind, 1))]
                told = [hit for hit in hits if hit is not None]
                line[str(n)] = sum(told) / len(told) if told else None
            yield line


def _holds(bounds: Bounds, truth: float) -> bool | None:
    return None if bounds is None else bool(bounds[0] - 1e-9 <= truth <= bounds[1] + 1e-9)


def _verdict(levels: Levels, wrong: str, part: float = 0.5, **keys: object) -> Callable[..., bool]:
    test = claim(**keys)

    def simulate(rng: np.random.Generator, draw: Draw, n: int) -> bool:
        return verdict_of(test, estimate(grid(rng, levels, n, draw, part, 0.0), test)) == wrong

    return simulate


def _heat_map(rng: np.random.Generator, draw: Draw, n: int) -> bool:
    """A map of ratios that are all 1: does any cell stand out?"""
    spec = EffectSpec.model_validate(claim().model_dump(include=set(EffectSpec.model_fields)))
    found = cells_of(grid(rng, np.ones(CELLS), n, draw, 0.5, 0.05), spec)
    return "different" in found["state"].to_list()


#: a pair runs each seed in both orders of its flows
_ORDERS = 2


def _split(rng: np.random.Generator, draw: Draw, n: int) -> bool:
    """Six pairs of contestants that share evenly: is any split called different?"""
    tests = []
    for _ in range(6):
        one, two = np.maximum(draw(rng, (2, n)), 0.01)
        tests.append(pairwise.against_chance(_arm(one / (one + two)), _ORDERS))
    return _any_uneven(tests)


def _won_by_chance(rng: np.random.Generator, draw: Draw, n: int) -> bool:
    """Six even pairs in which chance decides, trial by trial, who takes some 90 %."""
    tests = [
        pairwise.against_chance(_arm(_ratios(rng, draw, (n, _ORDERS)).mean(axis=1)), _ORDERS)
        for _ in range(6)
    ]
    return _any_uneven(tests)


def _ratios(rng: np.random.Generator, draw: Draw, shape: tuple[int, ...]) -> FloatArray:
    """Shares of the link where chance decides, trial by trial, who takes some 90 %."""
    less = 0.1 * draw(rng, shape).clip(1, 40) / 10
    return np.where(rng.random(shape) < 0.5, less, 1 - less)


def _harms_by_chance(rng: np.random.Generator, draw: Draw, n: int) -> bool:
    """Throughput beside six contestants, where chance decides as between two flows of the victim's kind."""
    own = _ratios(rng, draw, (n,))
    places = {(seed, 0): [one] for seed, one in enumerate(own)} | {
        (seed, 1): [1 - one] for seed, one in enumerate(own)
    }
    found = [
        harms.of_arms(
            "", "victim", "other", harms.SERVICES[0], {}, _arm(np.full(n, 0.5)),
            _arm(_ratios(rng, draw, (n, _ORDERS)).mean(axis=1)),
            trial_sd=blocks.scatter(places), trials=_ORDERS * n,
        )
        for _ in range(6)
    ]  # fmt: skip
    return _any_harm(found)


def _any_harm(found: Sequence[harms.Harm]) -> bool:
    p = families.corrected_for_verdicts([one.p for one in found])
    judged = {harm.verdict(one, corrected) for one, corrected in zip(found, p, strict=True)}
    return bool(judged & {harm.MORE, harm.LESS})


def _any_uneven(tests: Sequence[Comparison]) -> bool:
    p = families.corrected([test.p for test in tests])
    found = [
        states.state(test.difference, states.SHARE, one, 0.5) for test, one in zip(tests, p, strict=True)
    ]
    return "different" in found


def _uneven_equivalent(rng: np.random.Generator, draw: Draw, n: int) -> bool:
    """A share at the margin's end, 55 of 100: is it called equivalent to an even one?"""
    values = 0.55 + (draw(rng, (n,)) - 10) / 200
    test = against(_arm(values), 0.5, "share")
    return states.state(test.difference, states.SHARE, test.p, 0.5) == "equivalent"


def _page_load(rng: np.random.Generator, draw: Draw, n: int) -> bool:
    found = _changed(rng, draw, n)
    return states.state(found.percent, states.PERCENT, found.p) == "different"


def _harms(rng: np.random.Generator, draw: Draw, n: int) -> bool:
    """Loss beside each of 16 contestants, no other than beside the victim's own kind: is any accused?"""
    own, *others = (_arm(np.maximum(draw(rng, (n,)), 0.01)) for _ in range(17))
    return _any_harm(
        [harms.of_arms("", "victim", "other", harms.SERVICES[2], {}, own, one) for one in others]
    )


def _below_the_floor(rng: np.random.Generator, draw: Draw, n: int) -> bool:
    one, two = _scores(rng, draw, n)
    deficit, p = pairs.deficit(alike(one, two), alike(two, two))
    return seed_pairs.judge(deficit, p, 1.0) == "different"


def _below_by_halves(rng: np.random.Generator, draw: Draw, n: int) -> bool:
    deficit, p, floor = deficit_of_halves(rng, draw, n)
    return seed_pairs.judge(deficit, p, floor) == "different"


_ONE = np.full(15, 1.02)
#: verdict and truth → is it wrong in one simulated study
WRONG: dict[tuple[str, str], Callable[..., bool]] = {
    ("heat map: any cell different", "16 ratios of 1"): _heat_map,
    ("splits: any pair different", "6 even pairs"): _split,
    ("splits: any pair different", "6 even pairs, each trial won by chance"): _won_by_chance,
    ("split: equivalent", "a share of 55 of 100"): _uneven_equivalent,
    ("page load: different", "no difference"): _page_load,
    ("harm in loss: any of 16 contestants differs", "as the victim's own kind"): _harms,
    ("harm in throughput: any of 6 contestants differs", "each trial won by chance"): _harms_by_chance,
    ("conformance by pairs: different", "as the reference"): _below_the_floor,
    ("conformance by half-splits: different", "as the reference"): _below_by_halves,
    ("share ≥ 90 %: doesn't hold", "15 cells at 1.02, noise 5 %"): _verdict(
        _ONE, "doesn't hold", 0.25, over="share", threshold=1, expect={"at_least": 90}
    ),
    ("share ≥ 90 %: holds", "12 of 15 cells"): _verdict(
        np.repeat([1.2, 0.97], [12, 3]), "holds", 0.25, over="share", threshold=1, expect={"at_least": 90}
    ),
    ("share ≥ 50 %: holds", "15 cells at 1.00"): _verdict(
        np.ones(15), "holds", 0.25, over="share", threshold=1, expect={"at_least": 50}
    ),
    ("largest ≤ 1.05: doesn't hold", "15 cells at 1.02"): _verdict(
        _ONE, "doesn't hold", 0.25, over="max", expect={"at_most": 1.05}
    ),
    ("largest ≤ 1.05: holds", "one of 15 cells at 1.06"): _verdict(
        np.repeat([1.06, 0.9], [1, 14]), "holds", 0.25, over="max", expect={"at_most": 1.05}
    ),
    ("smallest ≥ 1: doesn't hold", "15 cells at 1.02"): _verdict(
        _ONE, "doesn't hold", 0.25, over="min", expect={"at_least": 1.0}
    ),
    ("steps ≥ 90 % rise: doesn't hold", "15 rising cells"): _verdict(
        1 + 0.01 * np.arange(15), "doesn't hold", 0.25, over="steps", along="rate", step="rises",
        expect={"at_least": 90},
    ),
    ("best > 0: doesn't hold", "best by 0.01 of 15"): _verdict(
        np.where(np.arange(15) == 3, 1.01, 1.0), "doesn't hold", 0.25, over="best", along="rate", at=3
    ),
    ("best > 0: holds", "as good as the others"): _verdict(
        np.ones(15), "holds", 0.25, over="best", along="rate", at=3
    ),
    ("mean ratio > 1: doesn't hold", "15 cells at 1.02"): _verdict(
        _ONE, "doesn't hold", 0.25, expect={"above": 1}
    ),
}  # fmt: skip


def errors(
    studies: int, verdicts: Sequence[tuple[str, str]] = tuple(WRONG), seeds: Sequence[int] = SEEDS
) -> Iterator[Line]:
    """A line for each verdict and distribution: the share of studies in which it is wrong."""
    for verdict, truth in verdicts:
        for name, draw in DRAWS.items():
            line: Line = {"what": f"{verdict}: truth: {truth}", "seeds are": name}
            part = 8 if "half" in verdict else 2 if verdict.startswith(("heat", "harm")) else 1
            for n in seeds:
                rng = np.random.default_rng([n, len(verdict), len(name), 1])
                wrong = [WRONG[verdict, truth](rng, draw, n) for _ in range(studies // part)]
                line[str(n)] = sum(wrong) / len(wrong)
            yield line


_WRONG_AT_MANY = (("page load: different", "no difference"),)


def _table(title: str, lines: Sequence[Line]) -> Table:
    table = Table(title=title)
    seeds = [name for name in lines[0] if name.isdigit()]
    for name in ("what", "seeds are", *seeds):
        table.add_column(
            f"{name} seeds" if name.isdigit() else name, justify="right" if name.isdigit() else "left"
        )
    for line in lines:
        figures = (line[n] for n in seeds)
        table.add_row(
            str(line["what"]),
            str(line["seeds are"]),
            *("–" if one is None else f"{one:.3f}" for one in figures),
        )
    return table


def main(arguments: Sequence[str]) -> int:
    """Print the tables, and write them as JSON where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    parser.add_argument("--studies", type=int, default=STUDIES, help="simulated studies a line")
    given = parser.parse_args(arguments)
    console = Console(width=150)
    holds, errs = "How often a 95 % interval holds the truth", "How often a verdict is wrong"
    covered = list(coverage(given.studies))
    console.print(_table(holds, covered))
    wrong = list(errors(given.studies))
    console.print(_table(errs, wrong))
    covered_at_many = list(coverage(given.studies, _AT_MANY, MANY_SEEDS))
    console.print(_table(holds, covered_at_many))
    wrong_at_many = list(errors(given.studies, _WRONG_AT_MANY, MANY_SEEDS))
    console.print(_table(errs, wrong_at_many))
    if given.json:
        found = {
            "studies": given.studies,
            "coverage": covered,
            "wrong": wrong,
            "coverage_at_many": covered_at_many,
            "wrong_at_many": wrong_at_many,
        }
        given.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
