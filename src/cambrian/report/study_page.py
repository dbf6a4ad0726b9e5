"""The report of a study: an HTML page and, in folders beside it, its figures, its tables and its trials."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from cambrian.report import (
    across,
    cards,
    explore,
    layout,
    matrix,
    methods,
    page,
    probed,
    provenance,
    tables,
    timelines,
    words,
)
from cambrian.report.collect import Collected
from cambrian.report.conformance import seed_pairs
from cambrian.report.figures import colours
from cambrian.report.figures.kinds import all_figures
from cambrian.report.matrix import Matrix
from cambrian.report.observations import observations
from cambrian.report.page import MOST_ROWS, Page
from cambrian.report.sections import (
    Commands,
    Facts,
    Lines,
    Piece,
    Section,
    Statement,
    Table,
    Words,
    code,
    joined,
    link,
)
from cambrian.report.tables import records
from cambrian.report.words import counted
from cambrian.store import commands

MADE_FROM = "made-from.txt"
#: more notes than this are closed at first
_MOST_NOTES = 12
_VERDICTS = (
    "One verdict for each contestant over all networks, from four sides: its parameters compared with the "
    "standard; its plausibility, its behaviour and its impact on other flows compared with the reference. "
)
_ACROSS = (
    "All networks of the study in one chart. ",
    " shows any other quantity over any setting of the networks.",
)
_INVALID = (
    "Validity gates check that a trial measured what the study asked for. A trial that fails a gate is kept "
    "and listed here with the reason. No average and no figure includes it."
)
_NOTES = (
    "Checks that a gate could not make, and facts that a reader should know. A note makes no trial invalid. "
    "Each group and gate has one line, with the text of the first trial. "
)
_TRACES = (
    "The same hash means the same packets: their flows, times and sizes, and whether the bottleneck dropped "
    "them. "
)
_SOURCES = "All definitions, with their sources and our deviations from them: docs/reference/metrics.md."


def write(
    collected: Collected, frames: dict[str, pl.DataFrame], out: Path, *, with_files: bool = False
) -> Path:
    """Write the report of ``collected`` with the tables ``frames`` to ``out``; return the page's path.

    ``out`` gets ``index.html``, ``licences.txt``, ``made-from.txt`` (:func:`made_from`), ``figures/NAME.js``,
    ``tables/NAME.csv``, ``data/NAME.js`` (:mod:`cambrian.report.timelines`) and ``trials/ID.json`` (each
    trial's description, for ``cambrian trial``); with ``with_files`` also what
    :meth:`cambrian.report.figures.figure.Figure.save` writes.
    """
    page.check(out)
    # all that takes long comes first: until it is there, an earlier report stays whole
    over_time = timelines.of(collected)
    observed = observations(collected)
    made = _page(collected, frames, observed, matrix.matrix(collected, frames, over_time))
    page.prepare(out, "figures", "tables", "data", "trials")
    for manifest in collected.manifests:
        description = json.dumps(manifest["trial"], indent=1) + "\n"
        (out / "trials" / f"{manifest['id']}.json").write_text(description)
    for name, frame in frames.items():
        frame.write_csv(out / "tables" / f"{name}.csv")
    timelines.write(collected, over_time, out / "data")
    timelines.script(out / "data" / "explore.js", explore.data(observed, frames))
    (out / MADE_FROM).write_text(f"{collected.made_from}\n")
    return page.write(made, out, with_files=with_files)


def made_from(out: Path) -> str:
    """The key of the trials, the study and the code that a report is of; empty if it does not say.

    The key is that of :func:`cambrian.report.evidence.key_of`. A suite's report has one line for each part
    that has trials.
    """
    place = out / MADE_FROM
    return place.read_text(errors="replace").strip() if place.is_file() else ""


def _page(
    collected: Collected, frames: dict[str, pl.DataFrame], observed: pl.DataFrame, shown: Matrix
) -> Page:
    verdicts = frames["verdicts"].to_dicts() if "verdicts" in frames else []
    placebo = words.placebo_differs(collected, frames)
    lead = words.what_ran(collected) + ("" if placebo else f" {words.placebo_holds(collected)}")
    invalid = link("Why they are invalid.", "#invalid") if frames["invalid"].height else ""
    names = [network.name for network in collected.networks]
    anchors = {name: f"network-{number}" for number, name in enumerate(names, 1)}
    found = cards.cards(collected, frames, shown)
    open_groups = {cell.group for _, cell in shown.cells if cell.state == matrix.OPEN}
    few = words.few_seeds(collected, open_groups)
    return Page(
        about=("Cambrian report", "study", collected.study.name),
        title=collected.study.title,
        answer=words.answer(collected, frames),
        warnings=tuple(placebo),
        leads=(joined(lead, " ", invalid), *((few,) if few else ())),
        first="first.html.j2",
        context={
            "matrix": shown,
            "glyphs": matrix.GLYPHS,
            "cards": found,
            "nothing": cards.nothing(
                shown,
                frames.get("verdicts"),
                together=collected.design == "flows" and any(len(cell.names) > 1 for cell in collected.cells),
            ),
            "anchors": anchors,
            "verdict_ids": _verdict_ids(verdicts),
            "corner": "Pair" if collected.design == "pairwise" else "Contestant",
            "repeat": {card.groups: _repeat_groups(collected.raw["command"], card.groups) for card in found},
        },
        explore=True,
        sections=tuple(_sections(collected, frames, observed, verdicts, anchors)),
        tables=tuple(frames),
        data={
            "contestants": shown.players,
            "groups": timelines.groups(collected),
            "kinds": timelines.kinds(),
        },
    )


def _repeat_groups(command: str, groups: str) -> str:
    """The recorded command for these groups alone: repeated ``--only`` add up, so the recorded one goes.

    Commands other than ``cambrian run`` choose their groups themselves.
    """
    if commands.words(command)[1:2] != ["run"]:
        return command
    return shlex.join([*commands.with_only(command, lambda _: ()), "--only", groups, "--out", "again"])


def _sections(
    collected: Collected,
    frames: dict[str, pl.DataFrame],
    observed: pl.DataFrame,
    verdicts: list[dict[str, Any]],
    anchors: dict[str, str],
) -> Iterator[Section]:
    if verdicts:
        yield _verdicts(collected, verdicts, anchors)
    overall = across.figures(observed, list(anchors), collected.design, colours.palette(collected))
    if overall:
        more = joined(_ACROSS[0], link("Explore", "#view=explore"), _ACROSS[1])
        yield Section("Across networks", "across", (Words((more,)), *overall))
    yield from _networks(collected, frames)
    invalid, noted, traces = frames["invalid"], records.gathered(frames["notes"]), frames["traces"]
    if invalid.height:
        said = f"{_INVALID}{_first(invalid.height)}"
        table = Table(tables.shown("invalid", invalid.head(MOST_ROWS), collected))
        yield Section("Invalid trials", "invalid", (Words((said,)), table))
    if noted:
        said = joined(_NOTES, link("All notes (CSV)", "tables/notes.csv"), _first(len(noted), "lines"))
        lines = tuple(
            (one.group, f"({counted(one.trials, 'trial')}) {one.text}") for one in noted[:MOST_ROWS]
        )
        whole = Section(
            counted(len(noted), "line"), "", (Lines(lines),), folded=True, opened=len(noted) <= _MOST_NOTES
        )
        yield Section("Notes", "notes", (Words((said,)), whole))
    texts = methods.of(
        "study",
        design=collected.design,
        tables=frames,
        measured_interval=words.measured_interval(collected),
        least_floor=str(seed_pairs.LEAST_FLOOR),
    )
    yield Section("Methods", "methods", (texts, Words((_SOURCES,))), folded=True)
    yield _ran(collected)
    yield _repeat(collected)
    said = joined(_TRACES, link("CSV", "tables/traces.csv"), _first(traces.height))
    table = Table(tables.shown("traces", traces.head(MOST_ROWS), collected))
    whole = Section(counted(traces.height, "trial"), "", (table,), folded=True)
    yield Section("Packet traces", "traces", (Words((said,)), whole))


def _first(count: int, what: str = "trials") -> str:
    """Says that a list shows only its first rows, if it does."""
    return (
        f" Only the first {MOST_ROWS} of {count} {what} are here; the CSV has all."
        if count > MOST_ROWS
        else ""
    )


def _verdict_ids(verdicts: list[dict[str, Any]]) -> dict[str, str]:
    return {one["contestant"]: f"verdict-{number}" for number, one in enumerate(verdicts, 1)}


def _verdicts(collected: Collected, verdicts: list[dict[str, Any]], anchors: dict[str, str]) -> Section:
    """The contestants' verdicts; those of references and placebos are a detail."""
    controls = words.controls(collected)
    behaviour = probed.behaviour(collected)
    ids = _verdict_ids(verdicts)
    judged: list[Piece] = []
    tests: list[Piece] = []
    for one in verdicts:
        who = one["contestant"]
        probes = behaviour[who].counts if who in behaviour else ""
        said = Statement(
            who, one["verdict"], who, tuple(_why(one, probes, anchors)), anchor=ids[who], is_name=True
        )
        (tests if who in controls else judged).append(said)
    csv = joined(
        _VERDICTS, link("CSV", "tables/verdicts.csv"), " · ",
        link("every parameter (CSV)", "tables/parameters.csv"),
    )  # fmt: skip
    pieces: list[Piece] = [Words((csv,)), *judged]
    if tests:
        title = "The references and their placebos, judged in the same way"
        pieces.append(Section(title, "", tests, folded=True))
    return Section("Verdicts", "verdicts", pieces)


def _why(one: dict[str, Any], probes: str, anchors: dict[str, str]) -> Iterator[str]:
    """The paragraphs that explain a verdict."""
    yield one["text"]
    no_core = one["measured"] and one["parameters"] == "not measured"
    core = " (none of those that define the algorithm)" if no_core else ""
    settled = f", {one['settled']} well enough to judge" if one["measured"] else ""
    yield (
        f"{counted(one['measured'], 'parameter')} compared with a standard{settled}. "
        f"Parameters: {one['parameters']}{core}. Alone, compared with the reference: {one['plausibility']}. "
        f"Behaviour: {one['behaviour']}. Impact: {one['impact']}."
    )
    if one["inconclusive"]:
        yield f"Inconclusive: {one['inconclusive']}."
    if one["refused"]:
        yield f"{one['refused']}."
    if probes:
        yield joined(f"Probes: {probes}. ", link("CSV", "tables/probes.csv"))
    if one["evidence"]:
        # a network's name may contain "; "
        known = "|".join(map(re.escape, sorted(anchors, key=len, reverse=True)))
        networks = [link(name, f"#{anchors[name]}") for name in re.findall(known, one["networks"])]
        yield joined(f"{one['evidence']}. Trials: ", joined(*networks, by=", "), ".")
    if one["not_shown"]:
        # invalid ones, of other networks, may show it
        which = "The valid traces" if one["not_judged"] else "These traces"
        yield f"{which} do not show: {one['not_shown']}."


def _networks(collected: Collected, frames: dict[str, pl.DataFrame]) -> Iterator[Section]:
    """A section for each network: its main figure, its tables, its other figures."""
    facts = {fact.name: fact for fact in provenance.networks(collected)}
    drawn = list(all_figures(collected))
    for number, network in enumerate(collected.networks, 1):
        here = facts[network.name]
        figures = [one for one in drawn if one.network == network.name]
        listed = [
            Table(one, anchor=f"{one.csv.removesuffix('.csv')}-{number}")
            for one in tables.on(network, collected, frames)
        ]
        loss = f", loss {here.loss}" if here.loss != "none" else ""
        other = f"; {here.other}" if here.other != layout.NOTHING else ""
        yield Section(
            network.name,
            f"network-{number}",
            (*(one for one in figures if one.leads), *listed, *(one for one in figures if not one.leads)),
            folded=True,
            opened=len(collected.networks) == 1,
            aside=f"{here.rate}, RTT {here.rtt}, buffer {here.buffer}, {here.queue}{loss}{other}",
            network=network.name,
        )


def _ran(collected: Collected) -> Section:
    """Versions, hashes, seeds and networks."""
    description = (collected.study.description or "").strip()
    facts = Facts(tuple((fact.name, fact.values) for fact in provenance.facts(collected)))
    return Section(
        "What ran",
        "ran",
        (*((Words((description,)),) if description else ()), facts, Table(provenance.table(collected))),
    )


def _repeat(collected: Collected) -> Section:
    """How to run the study again, and one trial: the first valid one, or the first."""
    records = [record for cell in collected.cells for record in cell.records]
    example = next((record for record in records if record.valid), records[0])
    one = joined(
        "One trial, run from this page’s folder. ", code("trials/"),
        " has a description of each trial, named by its identity:",
    )  # fmt: skip
    same = joined(
        "With the same kernel and stacks (the hashes above) it prints ", code("packets_sha256"), " ",
        code(str(example.packets_sha256)), ".",
    )  # fmt: skip
    return Section(
        "Repeat it",
        "repeat",
        (
            Words(("The whole study:",)),
            Commands((collected.raw["command"],)),
            Words((one,)),
            Commands((f"cambrian trial trials/{example.id}.json --out again",)),
            Words((same,)),
        ),
    )
