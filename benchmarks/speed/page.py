"""docs/reference/speed.md, made from docs/reference/speed.json."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

from benchmarks.speed import kept, tables
from benchmarks.speed.counts import BUILT_IN_CI, LEAST_RISE, MOST_RISE
from benchmarks.speed.parts import PARTS

PAGE = kept.FILE.with_suffix(".md")
_TITLES = {
    "counts": "Entries into the guest's kernel",
    "duel-20": "duel-20",
    "duel-100": "duel-100",
    "flows-8": "Eight flows",
    "page": "A page load",
    "empty": "An empty trial",
    "metrics": "Reading and metrics",
    "cores": "Two cores",
    "cluster": "Two workers of a cluster",
    "memory": "Memory",
}
_HEAD = f"""# Speed

How fast trials run, and what they cost. `make bench` measures all of it; a part is measured by its name:
`.venv/bin/python -m benchmarks.speed --only PART` (`--help` tells the rest). `--update` keeps the figures in
[speed.json](speed.json). This page is made of them (`make reference`).

Wall time counts from the plan of a trial to its finished folder: boot, trial, capture, reading and writing
of the traces, on one core. Virtual/wall is how many times as fast as real time that is. Times are medians
with their ranges. A hand-over is an entry of a program into the guest's kernel: a system call, a page fault
or another trap ([what decides the speed](../explanation/virtual-time.md#what-decides-the-speed)). The counts
are the same on every machine and in every run, but for the page faults of programs that load the machine's
own libraries. A call *in vain* returned an error.

With `--against-checkout DIR` the command compares two checkouts, with `--against KERNEL` two kernels: each
run is followed by the same run on the other side, on the same core. The table has both medians, the ratio,
and whether the packets are the same.

A count that rises by more than {MOST_RISE * 100:g} % fails a test; page faults and hand-overs must also rise
by more than {LEAST_RISE["page_faults"]:g} for each packet, because another machine's libraries may have some
more. CI checks the stacks that it builds ({", ".join(BUILT_IN_CI)}); `make test-all` checks all
that are built.
"""
_WIDTH = 120
_NOT_YET = "Not measured yet.\n"


def text(figures: Mapping[str, Mapping[str, Any]]) -> str:
    """The page as Markdown."""
    return _HEAD + "".join(_section(name, figures) for name in PARTS)


def _section(part: str, figures: Mapping[str, Mapping[str, Any]]) -> str:
    about = PARTS[part].about
    lead = textwrap.fill(f"`{part}`: {about}.", _WIDTH, break_on_hyphens=False)
    head = f"\n## {_TITLES[part]}\n\n{lead}\n\n"
    rows = kept.rows(figures, part)
    if not rows:
        return head + _NOT_YET
    made = tables.table(part, rows)
    lines = [made.headings, ["---", *("---:" for _ in made.headings[1:])], *made.rows]
    body = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    where = figures[part].get("where")
    return head + body + (f"\n{_where(where)}\n" if where else "")


def _where(where: Mapping[str, Any]) -> str:
    busy = " (busy: no figures of record)" if where["load"] > kept.BUSY else ""
    commit = f", commit {where['commit']}" if where["commit"] else ""
    return (
        f"{where['processor']}, {where['cores']} cores, load {where['load']:g} at the start{busy}, "
        f"{where['date']}{commit}."
    )


def main() -> None:
    """Write the page, and print its path."""
    PAGE.write_text(text(kept.load()), encoding="utf-8")
    print(PAGE)


if __name__ == "__main__":
    main()
