"""Are all bad files refused with one clean error? Thousands of changed studies, manifests, trials, logs.

Run: ``python benchmarks/bad_input.py [--count 10000] [--seed 1]``. Each input is a file that comes with
Cambrian or its tests, with one to three changes (tests/unit/mutations.py). Prints how many inputs were
accepted and refused, the slowest input, and each traceback and each accepted value that makes no sense. Exit
status 1 if there is one of these two, or an input that takes ten seconds of CPU time.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.unit import mutations
from tests.unit.mutations import Verdict

#: share of the inputs that are of this kind; the others share the rest
_STUDIES = 0.4
#: examples that are printed
_SHOWN = 10
#: CPU time of an input that is too slow
_SLOW_S = 10.0


def main() -> int:
    """Print the figures; 1 if there is a traceback, a wrong acceptance or a hang."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--count", type=int, default=10_000, help="inputs")
    parser.add_argument("--seed", type=int, default=1, help="the same seed gives the same inputs")
    asked = parser.parse_args()
    verdicts: list[tuple[int, Verdict]] = []
    with tempfile.TemporaryDirectory(prefix="cambrian-bad-input-") as name:
        folder = Path(name)
        mutations.prepare(folder)
        kinds = mutations.kinds()
        others = [kind for kind in kinds.values() if kind.name != "study"]
        for number in range(asked.count):
            random = Random(f"{asked.seed}/{number}")  # noqa: S311
            kind = kinds["study"] if random.random() < _STUDIES else random.choice(others)
            original = random.choice(kind.files)
            content = mutations.mutated(original.read_bytes(), random, trace=kind.name == "trace")
            verdicts.append((number, mutations.judge(kind, original, content, folder)))
    return _report(verdicts)


def _report(verdicts: list[tuple[int, Verdict]]) -> int:
    by_kind = Counter(verdict.kind for _, verdict in verdicts)
    print(f"{len(verdicts):,} inputs: {', '.join(f'{n:,} {kind}' for kind, n in by_kind.most_common())}")
    outcomes = Counter(verdict.outcome for _, verdict in verdicts)
    print(f"accepted: {outcomes['accepted']:,}")
    sorts = Counter(verdict.detail for _, verdict in verdicts if verdict.outcome == "error")
    print(f"clean errors: {outcomes['error']:,} ({', '.join(f'{n:,} {s}' for s, n in sorts.most_common())})")
    slowest_number, slowest = max(verdicts, key=lambda numbered: numbered[1].took_s)
    print(f"slowest: {slowest.took_s:.2f} s, input {slowest_number} ({slowest.kind}, {slowest.outcome})")
    for outcome, called in (("traceback", "tracebacks"), ("wrong", "wrong acceptances")):
        print(f"{called}: {outcomes[outcome]:,}")
        examples = [one for one in verdicts if one[1].outcome == outcome]
        for number, verdict in examples[:_SHOWN]:
            print(f"  input {number} ({verdict.kind}): {verdict.detail}")
    bad = outcomes["traceback"] or outcomes["wrong"] or slowest.took_s > _SLOW_S
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
