"""The page that compares two results directories: one HTML file, with its tables in a folder beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import markupsafe

from cambrian.gate import differences, output, snapshot
from cambrian.metrics.parameters.estimate import FEWEST_TRIALS
from cambrian.report import matrix, methods, page
from cambrian.report.compared import changes as first
from cambrian.report.compared import lists, settings, sides
from cambrian.report.compared.changes import GLYPHS, Changes
from cambrian.report.layout import Shown
from cambrian.report.page import Page
from cambrian.report.sections import Facts, Lines, Section, Table, Words, joined, link
from cambrian.report.words import counted
from cambrian.stats.jackknife import FEWEST_SEEDS
from cambrian.stats.states import LEVEL

#: most causes in the sentence on the first screen; the table has all
_MOST_CAUSES = 4
_NAMES = {first.SAME: "same packets"}
_PACKETS = "The same packets: the same flows, times and sizes, and the same drops at the bottleneck."
_STRONG = markupsafe.Markup("<strong>{}.</strong>")


def compare(before: Path, after: Path, contestants: tuple[str | None, str | None] = (None, None)) -> Changes:
    """Compare two results directories, with all contestants or one ``STACK/CCA`` of each side.

    Raises:
        FileNotFoundError, Damaged: a folder holds no results, or a file cannot be used.
        StudyError: there is no trial of the contestant, or two contestants are compared and one is several.
    """
    one, two = contestants
    old, new = sides.read(before, one), sides.read(after, two)
    if one is not None and two is not None and one != two:
        for contestant, folder in ((one, before), (two, after)):
            snapshot.check_one_name(contestant, folder)
        old = old.renamed(two)
    return Changes(old, new, differences.snapshots(old.snapshot, new.snapshot))


def write(changes: Changes, out: Path) -> Path:
    """Write ``out``/index.html, licences.txt and tables/NAME.csv; return the page's path."""
    page.prepare(out, "tables")
    shown = first.table(changes)
    anchors = {(row.name, cell.network): cell.anchor for row in shown.rows for cell in row.cells.values()}
    made = settings.software(changes.before, changes.after)
    differing = settings.settings(changes.before.study, changes.after.study)
    frames = {
        "figures": lists.figures(changes),
        "packets": lists.packets(changes),
        "settings": lists.settings([*made, *differing]),
        "margins": lists.margins(),
    }
    for name, (frame, _) in frames.items():
        frame.write_csv(out / "tables" / f"{name}.csv")
    tables = {name: table for name, (_, table) in frames.items()}
    counts = joined(f"{_counts(changes)} ", link("What was compared.", "#compared"))
    others = output.other_causes(changes.compared)
    return page.write(
        Page(
            about=("Cambrian comparison", "study", changes.after.study.name),
            title=" → ".join(_names(changes)),
            answer=first.answer(changes),
            leads=(
                _causes([one for one in made if one.differs] + differing),
                counts,
                *((f"{seeds}.",) if (seeds := output.more_seeds(changes.compared)) else ()),
                *((_STRONG.format(others[0].upper() + others[1:]),) if others else ()),
            ),
            first="changes.html.j2",
            context={
                "matrix": shown,
                "networks": dict.fromkeys(shown.networks, ""),
                "filters": matrix.filters(changes.players, shown.networks),
                "cards": first.largest(changes.figures),
                "anchors": anchors,
                "glyphs": GLYPHS,
                "state_names": _NAMES,
            },
            sections=tuple(_sections(changes, tables, anchors)),
            tables=tuple(tables),
            data={"contestants": changes.players},
        ),
        out,
    )


def _sections(
    changes: Changes, tables: dict[str, Shown], anchors: Mapping[tuple[str, str], str]
) -> Iterator[Section]:
    figures = tables["figures"]
    marks = tuple(
        {"network": one.subject.network, "cell": anchors.get((one.row, one.subject.network), "")}
        for one in changes.figures
    )
    yield Section(
        "All figures",
        "figures",
        (Table(figures, marks=marks, sortable=True),),
        folded=True,
        opened=not figures.is_closed,
        aside=f"{len(figures.rows)}, the most important first",
    )
    yield from _not_compared(changes)
    yield Section("Packets", "packets", (Words((_PACKETS,)), Table(tables["packets"])))
    before, after = _names(changes)
    said = f"Before: {before}. After: {after}. Study: {changes.after.study.title}."
    verdicts = tuple(
        (f"Verdict, {name}" if name else "Verdict", f"{old} → {new}")
        for name, old, new in changes.compared.verdicts
    )
    facts = (Facts(verdicts),) if verdicts else ()
    yield Section("What was compared", "compared", (Words((said,)), Table(tables["settings"]), *facts))
    texts = methods.of(
        "comparison",
        level=f"{LEVEL:.0%}",
        parameter=f"{differences.PARAMETER_PART:.0%}",
        seeds=str(FEWEST_SEEDS),
        trials=str(FEWEST_TRIALS),
    )
    yield Section("Methods", "methods", (texts, Table(tables["margins"])), folded=True)


def _not_compared(changes: Changes) -> Iterator[Section]:
    """Trials and figures of one side only."""
    only = tuple(settings.only(changes.before, changes.after))
    lost, missing, gaps = _lost(changes), changes.compared.missing, changes.compared.gaps
    if not (only or lost or missing or gaps):
        return
    listed = lost[: page.MOST_ROWS]
    more = f", the first {len(listed)} here; packets.csv has all" if len(listed) < len(lost) else ""
    details = [
        Section(f"{title}: {count}", "", (Lines(tuple(lines)),), folded=True)
        for title, count, lines in (
            ("Trials", f"{len(lost):,}{more}", listed),
            (
                f"Figures that only {_names(changes)[0]} has",
                f"{len(missing):,}",
                [("", one) for one in missing],
            ),
            ("Figures that lack seeds now", f"{len(gaps):,}", [("", one) for one in gaps]),
        )
        if lines
    ]
    yield Section("Not compared", "not-compared", (*((Words(only),) if only else ()), *details))


def _names(changes: Changes) -> tuple[str, str]:
    """The names of the two sides: folders, contestants, or both."""
    before, after = changes.before, changes.after
    folders = settings.names(before.folder, after.folder)
    if before.label is None:
        return folders
    one, two = (f"{side.label} in {name}" for side, name in zip((before, after), folders, strict=True))
    return (one, two) if before.folder != after.folder else (str(before.label), str(after.label))


def _counts(changes: Changes) -> str:
    """How many trials and figures are in which state, in one sentence."""
    fates = Counter(one.fate for one in changes.packets)
    lost = Counter(one.lost for one in changes.packets if one.is_lost)
    why = ", ".join(f"{number:,} {reason}" for reason, number in lost.most_common())
    text = f"{counted(len(changes.packets), 'trial')}: {fates[first.SAME]:,} with the same packets, "
    text += f"{fates['changed']:,} with others{f', {lost.total():,} not compared ({why})' if lost else ''}. "
    found = changes.compared
    states = ", ".join(
        f"{found.count(state):,} {state}" for state in ("different", "equivalent", "inconclusive")
    )
    return (
        f"{text}{counted(len(changes.figures), 'figure')}: {states} ({len(found.doubtful)} look different)."
    )


def _causes(found: list[settings.Setting]) -> str:
    """What differs in software and settings, in a few words."""
    if not found:
        return "Software and settings are the same."
    rest = len(found) - _MOST_CAUSES
    listed = "; ".join(one.short for one in found[:_MOST_CAUSES])
    return f"Software and settings that differ: {listed}{f'; {rest} more' if rest > 0 else ''}."


def _lost(changes: Changes) -> list[tuple[str, str]]:
    """(Trial, why it cannot be compared)."""
    return [(one.name, one.why) for one in changes.packets if one.is_lost]
