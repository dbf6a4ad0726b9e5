"""Is anybody accused who does it right, and does a verdict hold from sample to sample?

``false_accusations.py FOLDER… [--seeds 5]``: results of the studies ``clean-alone`` and ``clean-duels``
(``cambrian run clean-alone``, hours). Each study is judged in samples of so many seeds, no seed in two of
them: on each network by itself, and on all networks together. Prints for each contestant how often each
verdict was given; a contestant with two different verdicts that say something is *unstable*. Of all rows of
parameters it prints how many accuse, and which of these accuse what the source has right: what
``departures.toml`` does not list. Exit status 1 if a contestant is unstable, or more than 1 % of the rows
accuse wrongly.
"""

from __future__ import annotations

import argparse
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path

import polars as pl
from rich.console import Console
from rich.progress import track
from rich.table import Table

from cambrian.report import collect, tables
from cambrian.report.collect import Collected
from cambrian.store.results import Results

#: of the rows of parameters, at most so many may accuse what is right
MOST_SHARE = 0.01
#: verdicts that say nothing of a contestant
SILENT = frozenset({"inconclusive", "not judged"})
_DEPARTURES = Path(__file__).with_name("departures.toml")


@dataclass
class Score:
    """What was said of one study's contestants over all samples.

    ``verdicts``: contestant → each verdict and how often it was given. ``wrong``: sentences that accuse
    what is right, and how often. ``rows``: parameters judged; ``accusing``: those that are called off.
    """

    verdicts: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    texts: dict[tuple[str, str], str] = field(default_factory=dict)
    wrong: Counter[str] = field(default_factory=Counter)
    rows: int = 0
    accusing: int = 0

    def unstable(self) -> dict[str, list[str]]:
        """Contestants of whom two samples say different things."""
        said = {name: sorted(found.keys() - SILENT) for name, found in self.verdicts.items()}
        return {name: kinds for name, kinds in said.items() if len(kinds) > 1}


def samples(study: Collected, seeds: int) -> Iterator[Collected]:
    """The study in samples of so many seeds: network by network, and all networks together."""
    every = sorted({trial.trial.seed for cell in study.cells for trial in cell.trials})
    batches = [every[first : first + seeds] for first in range(0, len(every) - seeds + 1, seeds)]
    for batch in batches:
        for networks in ([network.name] for network in study.networks):
            yield _part(study, networks, batch)
        yield _part(study, [network.name for network in study.networks], batch)


def _part(study: Collected, networks: Sequence[str], seeds: Sequence[int]) -> Collected:
    cells = [
        replace(
            cell,
            trials=tuple(trial for trial in cell.trials if trial.trial.seed in seeds),
            records=(),
            series=None,
        )
        for cell in study.cells
        if cell.network.name in networks
    ]
    return replace(study, cells=tuple(cells))


def judged(study: Collected, seeds: int, departures: dict[str, dict[str, str]]) -> Score:
    """All samples of one study."""
    score = Score()
    for sample in track(list(samples(study, seeds)), study.study.name, console=Console(stderr=True)):
        found = tables.some_tables(sample, ("verdicts", "parameters"))
        if (verdicts := found.get("verdicts")) is not None:
            for row in verdicts.iter_rows(named=True):
                score.verdicts[row["contestant"]][row["verdict"]] += 1
                score.texts.setdefault((row["contestant"], row["verdict"]), row["text"])
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
    """Print one study; whether it holds."""
    table = Table(title=name, title_justify="left")
    for heading in ("Contestant", "Verdicts", ""):
        table.add_column(heading)
    unstable = score.unstable()
    for contestant, found in score.verdicts.items():
        said = ", ".join(f"{times} {kind}" for kind, times in found.most_common())
        table.add_row(contestant, said, "unstable" if contestant in unstable else "")
    out = Console()
    out.print(table)
    for contestant, kinds in unstable.items():
        for kind in kinds:
            out.print(f"{contestant}: {score.texts[contestant, kind]}", highlight=False)
    wrong = sum(score.wrong.values())
    share = wrong / score.rows if score.rows else 0.0
    out.print(
        f"{score.rows} rows of parameters, {score.accusing} accuse, {wrong} of them what is right "
        f"({share:.2%}, at most {MOST_SHARE:.0%} may)",
        highlight=False,
    )
    for text, times in score.wrong.most_common(20):
        out.print(f"  {times} x {text}", highlight=False)
    return not unstable and share <= MOST_SHARE


def main() -> int:
    """Judge the folders and print what was said."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folders", nargs="+", type=Path, help="results of clean-alone and clean-duels")
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
