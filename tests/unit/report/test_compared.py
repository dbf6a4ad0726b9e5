"""The page that compares two results directories: its sentence, its matrix, its cards, its files."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cambrian.gate.differences import Compared, Difference, State
from cambrian.gate.quantities import MARGINS
from cambrian.gate.snapshot import Snapshot, Subject
from cambrian.report.compared import changes, lists, page, settings
from cambrian.report.compared.changes import Changes
from cambrian.report.compared.sides import Group, Side
from cambrian.report.sections import Lines, Section
from cambrian.study.model import Contestant, Network, Study
from tests.unit import report_results

NETWORKS = ("near", "far")
TRIALS = tuple(f"{network}/quinn-cubic seed {seed}" for network in NETWORKS for seed in (1, 2, 3))


def side(folder: str, packets: dict[str, str], **more: Any) -> Side:
    """A store of quinn cubic on two networks."""
    study = Study(
        name="small",
        title="Small",
        networks=tuple(Network(name=name, rate_mbps=20, rtt_ms=50, buffer_bdp=1) for name in NETWORKS),
        contestants=(Contestant(stack="quinn", cca="cubic", options=more.pop("options", {})),),
    )
    groups = tuple(Group(f"{name}/quinn-cubic", name, ("quinn cubic",), ("",), False) for name in NETWORKS)
    subjects = {f"{name} quinn cubic": Subject(name, "quinn cubic") for name in NETWORKS}
    made_with = {"cambrian": "1", "quinn": f"0.11 {'a' * 16}"} | more
    return Side(Path(folder), study, Snapshot(made_with=made_with, packets=packets), groups, subjects)


def figure(network: str, name: str, state: State, size: float, *, looks: bool = False) -> Difference:
    """A figure that changed by ``size`` margins."""
    return Difference(
        place=f"{network} quinn cubic",
        name=name,
        title=MARGINS[name].title,
        before="1",
        after=f"{1 + size:g}",
        state=state,
        looks=looks,
        unit="Mbps",
        change=size,
        low=size - 0.5,
        high=size + 0.5,
        margin=1.0,
        p=0.001,
        p_holm=0.004,
        seeds=3,
    )


def changed(
    figures: Sequence[Difference] = (),
    before: dict[str, str] | None = None,
    after: dict[str, str] | None = None,
) -> Changes:
    """A comparison with these figures; all packets differ by default."""
    old = side("a/results", dict.fromkeys(TRIALS, "1") if before is None else before)
    new = side("b/results", dict.fromkeys(TRIALS, "2") if after is None else after)
    return Changes(old, new, Compared(0, 0, {}, (), (), (), tuple(sorted(figures, key=lambda one: one.rank))))


def states(found: Changes) -> dict[str, str]:
    (row,) = changes.table(found).rows
    return {network: cell.state for network, cell in row.cells.items()}


def test_the_sentence_names_the_largest_proven_change() -> None:
    small = figure("near", "throughput_mbps", "different", 2)
    large = figure("far", "delay_mean_ms", "different", -4)
    open_ = figure("far", "share_percent", "inconclusive", 9, looks=True)
    found = changed([small, open_, large])
    assert changes.answer(found) == (
        "2 of 3 figures are different; the largest: mean queueing delay of quinn cubic on far, 1 → -3 Mbps."
    )
    assert changes.answer(changed([small, open_])).startswith(
        "1 of 2 figures is different: throughput of quinn"
    )


def test_the_sentence_says_that_nothing_changed_or_that_nothing_is_proven() -> None:
    same = dict.fromkeys(TRIALS, "1")
    found = [figure("near", "throughput_mbps", "equivalent", 0)]
    assert changes.answer(changed(found, same, same)) == (
        "Nothing changed: the packets of all 6 trials are the same."
    )
    fewer = dict(list(same.items())[:4])
    assert changes.answer(changed(found, same, fewer)) == (
        "The packets of 4 of 6 trials are the same; the other 2 cannot be compared."
    )
    # the same reason to be invalid is no sameness of packets
    invalid = same | {TRIALS[0]: "invalid: the link was slow"}
    assert changes.answer(changed(found, invalid, invalid)) == (
        "The packets of 5 of 6 trials are the same; the other one cannot be compared."
    )
    two = [*found, figure("far", "throughput_mbps", "equivalent", 0)]
    assert changes.answer(changed(two)) == (
        "No figure is different: packets changed, and all 2 figures are equivalent."
    )
    open_ = figure("far", "share_percent", "inconclusive", 9, looks=True)
    assert changes.answer(changed([*found, open_])) == (
        "No figure is different; 1 of 2 is inconclusive, and 1 of them looks different."
    )
    assert "none in common" in changes.answer(changed())
    gone = replace(changed(two).compared, gaps=("transfer time at the bottleneck (near): seeds 4, 5",))
    assert changes.answer(replace(changed(two), compared=gone)).endswith(
        "all 2 figures are equivalent; 1 figure lacks seeds now."
    )


def test_trials_that_cannot_be_compared_are_counted_before_the_list_is_cut() -> None:
    before = {f"near/quinn-cubic seed {seed}": "1" for seed in range(249)}
    found = changed(before=before, after={"near/quinn-cubic seed 250": "1"})
    (section,) = page._not_compared(found)
    (trials,) = (one for one in section.pieces if isinstance(one, Section) and "Trials" in one.heading)
    assert trials.heading == "Trials: 250, the first 200 here; packets.csv has all"
    (lines,) = trials.pieces
    assert isinstance(lines, Lines) and len(lines.lines) == 200


def test_a_cell_is_what_its_most_important_figure_is() -> None:
    equal = figure("near", "throughput_mbps", "equivalent", 0.1)
    open_ = figure("near", "share_percent", "inconclusive", 1)
    other = figure("near", "delay_mean_ms", "different", 2)
    assert states(changed([equal]))["near"] == "equivalent"
    assert states(changed([equal, open_]))["near"] == "inconclusive"
    assert states(changed([equal, open_, other]))["near"] == "different"
    same = dict.fromkeys(TRIALS, "1")
    # a figure that differs counts more than the packets: it may be measured in another way
    assert states(changed([equal, open_], same, same)) == {"near": "same", "far": "same"}
    assert states(changed([equal, other], same, same))["near"] == "different"
    # nothing to compare is no equivalence
    assert states(changed([]))["near"] == ""
    lost = same | dict.fromkeys(TRIALS[:1], "invalid: no")
    assert states(changed([], same, lost)) == {"near": "", "far": "same"}


def test_trials_that_are_invalid_on_both_sides_leave_a_cell_the_same() -> None:
    packets = dict.fromkeys(TRIALS, "1") | {TRIALS[0]: "invalid: it stopped"}
    found = changed(before=packets, after=packets)
    assert states(found) == {"near": "same", "far": "same"}
    assert changes.table(found).rows[0].cells["near"].rest == (
        "same packets in 2 trials; 1 of 3 trials not compared"
    )


def test_what_could_not_be_compared_is_never_called_unchanged() -> None:
    """ "Nothing changed" stood above 12 trials, 8 of them in one folder only or invalid."""
    invalid = "invalid: it stopped"
    before = dict(zip(TRIALS, ("1", "1", "1", "1", invalid, invalid), strict=True))
    after = dict(zip(TRIALS, ("1", "", invalid, "2", "1", "invalid: another"), strict=True))
    after = {name: text for name, text in after.items() if text}
    found = changed([figure("near", "throughput_mbps", "equivalent", 0)], before, after)
    assert [one.lost for one in found.packets if one.is_lost] == [
        "invalid after",
        "invalid before",
        "invalid before and after",
        "only before",
    ]
    assert page._counts(found).startswith(
        "6 trials: 1 with the same packets, 1 with others, 4 not compared (1 invalid after, 1 invalid "
    )
    assert changes.answer(found) == (
        "No figure is different: packets changed, and the only figure is equivalent; "
        "4 of 6 trials cannot be compared."
    )
    # trials of other seeds: their figures can be compared, their packets cannot
    others = {f"{name}1": "2" for name in TRIALS}
    found = changed([figure("near", "throughput_mbps", "equivalent", 0)], before, others)
    assert "packets changed" not in changes.answer(found)
    assert (
        changes.table(found).rows[0].cells["near"].rest == "1 figure equivalent; 6 of 6 trials not compared"
    )
    # nothing is missing, yet there is no figure
    assert changes.table(changed()).rows[0].cells["near"].rest == "no figure can be compared"


def test_the_most_important_network_comes_first() -> None:
    assert changes.table(changed([])).networks == NETWORKS
    found = [
        figure("near", "throughput_mbps", "different", 2),
        figure("far", "share_percent", "different", 3),
    ]
    shown = changes.table(changed(found))
    assert shown.networks == ("far", "near")
    cell = shown.rows[0].cells["far"]
    assert (cell.change, cell.values, cell.rest) == (
        "share of throughput",
        "1 → 4 Mbps",
        "1 of 1 figure different",
    )


def test_cards_have_each_quantity_of_a_contestant_once() -> None:
    found = changed(
        [
            figure("near", "throughput_mbps", "different", 2),
            figure("far", "throughput_mbps", "different", 5),
            figure("far", "delay_mean_ms", "different", 3),
            figure("near", "share_percent", "inconclusive", 9, looks=True),
        ]
    )
    cards = changes.largest(found.figures)
    assert [(card.figure.found.name, card.figure.subject.network, card.also) for card in cards] == [
        ("throughput_mbps", "far", ("near",)),
        ("delay_mean_ms", "far", ()),
    ]
    assert cards[0].sentences == (
        "Change +5 Mbps [+4.5, +5.5], margin 1 Mbps, p = 0.004, 3 seeds",
        "Also on near",
    )


def test_one_of_two_shares_of_a_link_has_a_card() -> None:
    one = figure("near", "share_percent", "different", -8)
    both = (
        changes.Figure("quinn cubic", Subject("near", "quinn cubic", "tcp cubic"), one),
        changes.Figure("tcp cubic", Subject("near", "tcp cubic", "quinn cubic"), replace(one, change=8.0)),
    )
    assert [card.figure.row for card in changes.largest(both)] == ["quinn cubic"]


def test_the_change_of_a_ratio_is_a_ratio() -> None:
    one = replace(
        figure("near", "throughput_mbps", "different", 1),
        name="response",
        unit="",
        ratio=True,
        change=math.log(0.5),
        low=math.log(0.4),
        high=math.log(0.625),
        margin=math.log(1.25),
    )
    assert changes.sure(one).startswith("Change × 0.5 [0.4, 0.625], margin × 1.25, ")


def test_names_of_folders_are_as_short_as_they_differ() -> None:
    assert settings.names(Path("/x/old"), Path("/x/new")) == ("old", "new")
    assert settings.names(Path("/x/old/quick"), Path("/x/new/quick")) == ("old/quick", "new/quick")
    assert settings.names(Path("/x/quick"), Path("/x/quick")) == ("quick", "quick")


def test_what_differs_in_software_and_settings() -> None:
    before = side("a", {}, options={"pacing": True})
    after = side("b", {}, options={"pacing": False}, quinn=f"0.12 {'b' * 16}")
    (found,) = settings.settings(before.study, after.study)
    assert found.short == "quinn cubic: options.pacing True → False"
    renamed = before.study.model_copy(update={"name": "other"})
    (found,) = settings.settings(before.study, renamed)
    assert found.short == f"study name (start offsets depend on it) {before.study.name} → other"
    quinn = next(one for one in settings.software(before, after) if one.differs)
    assert quinn.short == "quinn 0.11 → 0.12"
    other = side("c", {}, quinn=f"0.11 {'c' * 16}")
    assert [one.short for one in settings.software(before, other) if one.differs] == [
        "quinn 0.11, another build"
    ]
    # such as where only one side loads pages
    browser = settings.Setting(settings.SOFTWARE, "web browser", "not set", f"Chromium 130 {'a' * 16}")
    assert browser.short == "web browser not set → Chromium 130"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The committed results, and the same with one contestant's trials exchanged and a trial rejected."""
    folder = tmp_path_factory.mktemp("compared")

    def exchange(data: dict[str, Any]) -> None:
        data["study"]["networks"][0]["jitter_ms"] = 1.0
        paced = report_results.group(data, "tcp reno paced at 1 Mbps")
        report_results.group(data, "tcp cubic with TLS")["trials"] = paced["trials"]

    before = report_results.copy(folder / "before")
    after = report_results.copy(folder / "after", exchange)
    reject(after, "tcp reno")
    return page.write(page.compare(before, after), folder / "page")


def reject(folder: Path, subject: str) -> None:
    data = json.loads((folder / "study.json").read_text())
    report_results.reject(folder, report_results.group(data, subject)["trials"][0], "the link was slow")


def read(made: Path, table: str) -> list[dict[str, str]]:
    with (made.parent / "tables" / f"{table}.csv").open() as file:
        return list(csv.DictReader(file))


def test_a_page_from_two_stores(made: Path) -> None:
    text = made.read_text()
    assert re.search(
        r'class="answer">\d+ of \d+ figures are different; the largest: .* of tcp cubic with TLS', text
    )
    assert "4mbps-20ms-2bdp: jitter_ms 0.0 → 1.0" in text
    assert "the link was slow" in text
    assert "before/knobs → after/knobs" in text and str(made.parent.parent) not in text
    rows = read(made, "figures")
    # every row of the table belongs to a cell of the matrix
    marked = re.findall(r'<tr data-network="([^"]*)" data-cell="([^"]*)">', text)
    assert len(marked) == len(rows) > 20
    linked = set(re.findall(r'href="#cell=(c\d+)&amp;at=figures"', text))
    assert {cell for _, cell in marked} <= linked
    different = {row["contestant"] for row in rows if row["state"] == "different"}
    assert "tcp cubic with TLS" in different and "tcp reno paced at 1 Mbps" not in different
    packets = [row["packets"] for row in read(made, "packets")]
    assert {kind: packets.count(kind) for kind in set(packets)} == {
        "same": 8,
        "changed": 3,
        "not compared": 1,
    }
    links = re.findall(r'href="([^"#]+)"', text)
    assert links and all((made.parent / link).stat().st_size for link in links)
    assert {path.name for path in made.parent.iterdir()} == {"index.html", "licences.txt", "tables"}


def test_a_page_names_what_else_moves_packets(tmp_path: Path) -> None:
    before, after = (report_results.copy(tmp_path / name) for name in ("before", "after"))
    for file in after.glob("trials/*/manifest.json"):
        manifest = json.loads(file.read_text())
        manifest["environment"] |= {"python": "9.9", "pyroute2": "9", "native": "9"}
        manifest["kernel"]["sha256"] = "9"
        file.write_text(json.dumps(manifest))
    changes = page.compare(before, after)
    text = page.write(changes, tmp_path / "page").read_text()
    assert "<strong>The testbed differs too, so packets may differ for that reason alone.</strong>" in text
    # a kernel's or a stack's change is among the few that the first screen names
    first, *_ = (name for name, _, _ in changes.compared.software)
    assert first == "kernel"


def test_the_margins_of_the_page_are_those_that_count(made: Path) -> None:
    assert [row["title"] for row in read(made, "margins")] == [one.title for one in MARGINS.values()]


def test_a_row_says_whether_seeds_or_trials_are_behind_it() -> None:
    """A parameter had "Seeds: 1" beside "2 seeds; three are needed": its two trials are one."""
    by_seed = figure("near", "throughput_mbps", "different", 2)
    parameter = replace(figure("near", "share_percent", "inconclusive", 2), name="beta", seeds=1)
    _, shown = lists.figures(changed([by_seed, parameter]))
    at = shown.headings.index("Seeds or trials")
    assert sorted(row[at] for row in shown.rows) == ["1 trial", "3 seeds"]
