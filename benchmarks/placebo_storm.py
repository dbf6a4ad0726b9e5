"""How often does a page accuse where there is nothing to accuse? Many studies of the kernel against itself.

``placebo_storm.py FOLDER… [--studies 200] [--seeds 5]``: each folder holds results of ``noise-floor``
(``cambrian run noise-floor --profile quick``). A placebo study is drawn from all seeds that a network
and controller have there: some for the noise floor, others for the placebo, none for both. Each is
judged by the whole page. It raises something if a placebo, or the reference itself, is said to differ
by any table or verdict.
Prints the share of studies that do, with its 95 % Clopper-Pearson interval, and what was said; exit status
1 above 5 %.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import scipy.stats

from cambrian.measure.trial import TrialMeasures
from cambrian.report import blocks, collect, tables
from cambrian.report.collect import Collected
from cambrian.report.tables import harm
from cambrian.store.results import Results

#: what a study may raise by chance, at most
MOST_SHARE = 0.05
#: table → its columns that may accuse, and what they say then
ACCUSATIONS: Mapping[str, Mapping[str, frozenset[object]]] = {
    "conformance": {"verdict": frozenset({"different"})},
    "envelope_methods": {"verdict": frozenset({"different"}), "verdict_t": frozenset({"different"})},
    "harm": {"verdict": frozenset({harm.MORE, harm.LESS})},
    "states": {"differs": frozenset({True})},
    "verdicts": {"differs": frozenset({True})},
}

#: a seed's trials, whichever sample they come from
Block = Sequence[TrialMeasures]


def pool(folders: Sequence[Path]) -> tuple[Collected, dict[str, list[Block]]]:
    """A study to draw from, and for each group of a reference all seeds that were run of it."""
    read = [collect.collect(Results(folder)) for folder in folders]
    found: dict[str, list[Block]] = {}
    for collected in read:
        for cell in collected.cells:
            key = f"{cell.network.name}/{cell.names[1]}"
            found.setdefault(key, []).extend(blocks.whole(cell).values())
    return read[0], found


def drawn(source: Collected, seeds: Mapping[str, list[Block]], network: str, count: int) -> Collected:
    """A study on one network: ``count`` seeds for each noise floor, as many others for its placebo."""
    cells = [cell for cell in source.cells if cell.network.name == network]
    hands = {}
    for cell in cells:
        key = f"{network}/{cell.names[1]}"
        if key not in hands:
            hands[key] = random.sample(seeds[key], 2 * count)
    made = []
    for cell in cells:
        hand = hands[f"{network}/{cell.names[1]}"]
        mine = hand[count:] if cell.is_placebo else hand[:count]
        trials = [
            _as_if(trial, seed, 2 * cell.is_placebo) for seed, block in enumerate(mine, 1) for trial in block
        ]
        made.append(replace(cell, trials=tuple(trials), records=()))
    return replace(source, cells=tuple(made))


def _as_if(trial: TrialMeasures, seed: int, first_position: int) -> TrialMeasures:
    """The trial as this seed's, at positions from ``first_position`` on."""
    least = min(trial.trial.positions)
    positions = tuple(position - least + first_position for position in trial.trial.positions)
    return replace(trial, trial=trial.trial.model_copy(update={"seed": seed, "positions": positions}))


def raised(study: Collected) -> Iterator[str]:
    """What a page says of the kernel against itself that it must not say."""
    for name, frame in tables.some_tables(study, ACCUSATIONS).items():
        for column, words in ACCUSATIONS.get(name, {}).items():
            for row in frame.iter_rows(named=True):
                if row[column] in words:
                    who = row.get("contestant") or row.get("by")
                    about = (
                        row.get("text") or row.get("service") or row.get("state") or row.get("method") or ""
                    )
                    yield f"{name}: {who}: {column} {row[column]}: {about}"


def main() -> int:
    """Run the studies and print what they raise."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folders", nargs="+", type=Path, help="results of noise-floor")
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--seeds", type=int, default=5, help="of each arm")
    asked = parser.parse_args()
    random.seed(1)
    source, seeds = pool(asked.folders)
    short = [key for key, found in seeds.items() if len(found) < 2 * asked.seeds]
    if short:
        print(
            f"{', '.join(short)}: fewer than {2 * asked.seeds} seeds; run noise-floor with another --seed too"
        )
        return 2
    networks = [network.name for network in source.networks]
    said: Counter[str] = Counter()
    studies = 0
    for number in range(asked.studies):
        found = list(raised(drawn(source, seeds, random.choice(networks), asked.seeds)))  # noqa: S311
        studies += bool(found)
        said.update(found)
        if sys.stderr.isatty() or number % 20 == 19:
            print(f"{number + 1} of {asked.studies} studies, {studies} raised something", file=sys.stderr)
    interval = scipy.stats.binomtest(studies, asked.studies).proportion_ci(method="exact")
    print(
        f"{studies} of {asked.studies} placebo studies raised something: {studies / asked.studies:.1%} "
        f"[{interval.low:.1%}, {interval.high:.1%}], where at most {MOST_SHARE:.0%} may"
    )
    for text, times in said.most_common(20):
        print(f"  {times} x {text}")
    return int(studies > MOST_SHARE * asked.studies)


if __name__ == "__main__":
    sys.exit(main())
