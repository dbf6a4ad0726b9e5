"""Does the judge accuse a correct controller, and do two samples contradict each other?

``false_accusations.py FOLDER… [--seeds 5]``: results of the studies ``clean-alone``, ``clean-small`` and
``clean-duels`` (``cambrian run clean-alone``, hours). Each study is judged in samples of N seeds
(``--seeds``), no seed in two of them: on each network by itself, and on all networks together. Prints for
each contestant how often each verdict was given. Two samples of the same networks *contradict* each other if
a side of the verdict is different in one and equivalent in the other, or if one is conformant and the other
differs. Of all rows of parameters it prints how many accuse, and which of these accuse what the source has
right: what ``departures.toml`` does not list. Exit status 1 if more than 5 % of the pairs of samples
contradict each other, or more than 1 % of the rows accuse wrongly.
"""

from __future__ import annotations

import argparse
import math
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import polars as pl
from rich.console import Console
from rich.progress import track
from rich.table import Table

from cambrian.report import collect, tables
from cambrian.report.collect import Collected
from cambrian.store.results import Results

#: largest share of the rows of parameters that may accuse what is right
MOST_WRONG = 0.01
#: largest share of the pairs of samples that may contradict each other: the rate of false differences
MOST_CONTRADICTING = 0.05
SIDES = ("parameters", "plausibility", "behaviour", "impact")
_DEPARTURES = Path(__file__).with_name("departures.toml")


@dataclass
class Score:
    """The judgements of one study's contestants over all samples.

    ``verdicts``: contestant → each verdict and how often it was given. ``states``: (contestant, networks,
    side) → how often each state was given; side "verdict" is *conformant* or *differs*. ``texts``:
    (contestant, networks, side, state) → one verdict that says so. ``wrong``: sentences that accuse what is
    right, and how often. ``rows``: parameters judged; ``accusing``: those that are called off.
    """

    verdicts: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    states: dict[tuple[str, str, str], Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    texts: dict[tuple[str, str, str, str], str] = field(default_factory=dict)
    wrong: Counter[str] = field(default_factory=Counter)
    rows: int = 0
    accusing: int = 0

    def add(self, networks: str, row: Mapping[str, Any]) -> None:
        """Count one contestant's verdict on these networks."""
        who = row["contestant"]
        self.verdicts[who][row["verdict"]] += 1
        states = {side: row[side] for side in SIDES}
        states["verdict"] = "different" if row["differs"] else row["verdict"]
        for side, state in states.items():
            self.states[who, networks, side][state] += 1
            self.texts.setdefault((who, networks, side, state), row["text"])

    def contradictions(self) -> dict[tuple[str, str, str], tuple[int, int]]:
        """(contestant, networks, side) → the number of samples that find it different, and like the
        reference; without those where all samples agree or are silent."""
        found = {
            key: (states["different"], states["equivalent"] + states["conformant"])
            for key, states in self.states.items()
        }
        return {key: both for key, both in found.items() if all(both)}

    def contradicting_share(self) -> float:
        """Share of the pairs of samples (same contestant, networks and side) that contradict each other."""
        pairs = sum(math.comb(states.total(), 2) for states in self.states.values())
        return sum(math.prod(both) for both in self.contradictions().values()) / pairs if pairs else 0.0


def samples(study: Collected, seeds: int) -> Iterator[tuple[str, Collected]]:
    """The study in samples of ``seeds`` seeds, with their networks: each by itself, and all together."""
    every = sorted({trial.trial.seed for cell in study.cells for trial in cell.trials})
    batches = [every[first : first + seeds] for first in range(0, len(every) - seeds + 1, seeds)]
    for batch in batches:
        for networks in ([network.name] for network in study.networks):
            yield networks[0], _part(study, networks, batch)
        yield "all networks", _part(study, [network.name for network in study.networks], batch)


def _part(study: Collected, networks: Sequence[str], seeds: Sequence[int]) -> Collected:
    cells = [
        replace(
            cell,
            trials=tuple(trial for trial in cell.trials if trial.trial.seed in seeds),
            records=(),
        )
        for cell in study.cells
        if cell.network.name in networks
    ]
    return replace(study, cells=tuple(cells))


def judged(study: Collected, seeds: int, departures: dict[str, dict[str, str]]) -> Score:
    """All samples of one study."""
    score = Score()
    for networks, sample in track(
        list(samples(study, seeds)), study.study.name, console=Console(stderr=True)
    ):
        found = tables.some_tables(sample, ("verdicts", "parameters"))
        if (verdicts := found.get("verdicts")) is not None:
            for row in verdicts.iter_rows(named=True):
                score.add(networks, row)
        if (parameters := found.get("parameters")) is not None:
            _count(score, parameters, departures)
    return score


def _count(score: Score, parameters: pl.DataFrame, departures: dict[str, dict[str, str]]) -> None:
    rows = parameters.filter(pl.col("status").is_not_null())
    score.rows += rows.height
    for row in rows.filter(pl.col("status") == "off").iter_rows(named=True):
        score.accusing += 1
        known = (
            row["parameter"] in named
            for contestant, named in departures.items()
            if fnmatchcase(row["contestant"], contestant)
        )
        if not any(known):
            score.wrong[f"{row['contestant']}: {row['title']} {row['shown']} on {row['network']}"] += 1


def show(name: str, score: Score) -> bool:
    """Print one study; return whether it holds."""
    table = Table(title=name, title_justify="left")
    for heading in ("Contestant", "Verdicts"):
        table.add_column(heading)
    for contestant, found in score.verdicts.items():
        table.add_row(contestant, "; ".join(f"{times} x {verdict}" for verdict, times in found.most_common()))
    out = Console()
    out.print(table)
    contradicting = score.contradicting_share()
    out.print(
        f"{contradicting:.2%} of the pairs of samples of one contestant, networks and side contradict each "
        f"other (at most {MOST_CONTRADICTING:.0%} may)",
        highlight=False,
    )
    for (contestant, networks, side), (different, alike) in score.contradictions().items():
        out.print(
            f"  {contestant}, {side}, {networks}: {different} different, {alike} equivalent. One of them: "
            f"{score.texts[contestant, networks, side, 'different']}",
            highlight=False,
        )
    wrong = sum(score.wrong.values())
    share = wrong / score.rows if score.rows else 0.0
    out.print(
        f"{score.rows} rows of parameters, {score.accusing} accuse, {wrong} of them what is right "
        f"({share:.2%}, at most {MOST_WRONG:.0%} may)",
        highlight=False,
    )
    for text, times in score.wrong.most_common(20):
        out.print(f"  {times} x {text}", highlight=False)
    return contradicting <= MOST_CONTRADICTING and share <= MOST_WRONG


def main() -> int:
    """Judge the folders and print what was said."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folders", nargs="+", type=Path, help="results of the studies clean-…")
    parser.add_argument("--seeds", type=int, default=5, help="of each sample")
    asked = parser.parse_args()
    departures = tomllib.loads(_DEPARTURES.read_text())
    held = [
        show(folder.name, judged(collect.collect(Results(folder)), asked.seeds, departures))
        for folder in asked.folders
    ]
    return int(not all(held))


if __name__ == "__main__":
    sys.exit(main())
