"""The first screen of a page: its matrix and its cards, and that they never contradict a verdict."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from markupsafe import Markup

from cambrian.judging import sides as judging
from cambrian.judging.families import Family
from cambrian.judging.sides import Side, Sides, State
from cambrian.judging.verdicts import verdict
from cambrian.measure.settled import Settled
from cambrian.measure.trial import TrialMeasures
from cambrian.report import cards, judged, matrix, sides
from cambrian.report.cards import Card
from cambrian.report.collect import Cell, Collected, collect
from cambrian.report.placebo import WITHHELD
from cambrian.report.series import Timeline
from cambrian.report.tables import conformance, harm, own_figures, pairwise, verdicts
from cambrian.stats import states
from cambrian.store.results import Results
from cambrian.study.model import Flow, Network
from tests.unit import report_results
from tests.unit.judging.test_sides import SPACE
from tests.unit.judging.test_verdicts import FINE, finding, on
from tests.unit.report.made import NETWORK, cell, collected, contestant, trial
from tests.unit.report.test_pairs import PAIRS, study
from tests.unit.test_report_page import Read

#: states that one finding, or none, can have on a network
FOUND: tuple[State | None, ...] = ("different", "inconclusive", "equivalent", None)
#: statuses of the parameters on two networks, and the states that the verdict's side can have then
PARAMETERS: list[tuple[tuple[set[str], set[str]], tuple[State, ...]]] = [
    ((set(), set()), ("not measured", "different")),
    (({"off"}, set()), ("different",)),
    (({"off", "inconclusive"}, {"as it should be"}), ("different",)),
    (({"off"}, {"inconclusive"}), ("different",)),
    (({"as it should be"}, {"as it should be", "inconclusive"}), ("equivalent", "inconclusive", "different")),
    (({"inconclusive"}, {"inconclusive"}), ("inconclusive", "different", "not measured")),
]


def row_of(one: Sides) -> dict[str, object]:
    return {"differs": one.differ, "verdict": ", ".join(judging.kinds(one))}


@pytest.mark.parametrize("one", SPACE)
def test_a_rows_glyph_is_its_verdict(one: Sides) -> None:
    state, kinds = matrix.of_verdict(row_of(one)), judging.kinds(one)
    assert (state == matrix.DIFFERENT) == one.differ
    assert (state == matrix.EQUIVALENT) == (kinds == ("conformant",))
    assert (state == matrix.OPEN) == (kinds == ("inconclusive",))
    assert (state == "") == (kinds == ("not judged",))


def side(found: tuple[State | None, ...]) -> Side:
    rows = [(state, "finding") for state in found if state]
    return sides.together(rows) if rows else Side()


@pytest.mark.parametrize(("statuses", "overall"), [(here, one) for here, all_ in PARAMETERS for one in all_])
def test_no_cell_contradicts_the_verdict(statuses: tuple[set[str], set[str]], overall: State) -> None:
    """Two networks with every state of an envelope and of a harm, and this state of the parameters."""
    located = any("off" in here for here in statuses)
    for behaviour in itertools.product(FOUND, repeat=2):
        for impact in itertools.product(FOUND, repeat=2):
            whole = Sides(Side(overall), Side(), side(behaviour), side(impact))
            cells = [
                matrix.combined(
                    [matrix.of_parameters(overall, here, located=located), *(state or "" for state in found)]
                )
                for here, *found in zip(statuses, behaviour, impact, strict=True)
            ]
            row = matrix.of_verdict(row_of(whole))
            case = f"{whole} {statuses} {cells} {row}"
            if matrix.DIFFERENT in cells:
                assert row == matrix.DIFFERENT, case
            if row == matrix.EQUIVALENT:
                assert set(cells) <= {matrix.EQUIVALENT, ""}, case
            if row == matrix.DIFFERENT:
                assert matrix.DIFFERENT in cells or matrix.OPEN in cells, case
            if located or overall != "different":
                assert (row == matrix.DIFFERENT) == (matrix.DIFFERENT in cells), case


def against_reference(*, loss: float = 30.0, placebo_loss: float | None = None) -> Collected:
    """x takes three quarters and loses more, y shares evenly, and both lose as much as they are told."""

    def trials(share: float, lost: float) -> list[TrialMeasures]:
        # seeds of one group vary unlike those of another: equal differences would count as one seed
        return [
            trial(seed, [share + step, 20 - share - step], loss_percent=[lost * (1 + step), 1 + step])
            for seed, step in enumerate(np.random.default_rng(round(share)).normal(0, 0.02, 5))
        ]

    groups = {("r", "r"): (10.0, 1.0), ("x", "r"): (15.0, loss), ("y", "r"): (10.01, loss)}
    cells = [cell("versus-reference", names, trials(*made)) for names, made in groups.items()]
    if placebo_loss is not None:
        again = cell("versus-reference", ("placebo (r)", "r"), trials(10.0, placebo_loss))
        cells.append(replace(again, is_placebo=True))
    return collected("versus-reference", cells, [contestant("x"), contestant("y"), contestant("r")])


def frames(found: Collected) -> dict[str, pl.DataFrame]:
    made = {"conformance": conformance.table(found), "harm": harm.table(found)}
    made |= {"own_figures": own_figures.table(found), "pairwise": pairwise.table(found)}
    return {name: frame for name, frame in made.items() if frame is not None}


def test_cards_state_what_differs_where_the_matrix_says_so() -> None:
    found = against_reference()
    shown = matrix.matrix(found, frames(found), {})
    assert {row.name: row.cells["link"].state for row in shown.rows}["x"] == matrix.DIFFERENT
    made = cards.cards(found, frames(found), shown)
    # y loses as much as x does, but its verdict's evidence does not differ: no card
    assert {card.contestant for card in made} == {"x"}
    first, second = made
    assert first.text == "x loses 30 % of its packets in the queue"
    assert first.beside == "r in its place: 0.99 %"
    assert second.text == "x takes 75 % of the throughput beside r"
    # the table of harm judges the same split by another test
    assert second.beside == "r in its place: 50 %. Beside a second r flow, r carries clearly more"
    judged = frames(found)
    judged["harm"] = judged["harm"].with_columns(verdict=pl.lit("inconclusive"))
    (said,) = (one.beside for one in cards.cards(found, judged, shown) if "throughput" in one.text)
    assert "which has a test of its own: inconclusive" in said
    assert first.effect > second.effect > 0
    assert first.groups == "link/x+r"
    assert "5 seeds, p < 0.001 corrected" in first.sure


@pytest.mark.parametrize(
    ("ends", "said"),
    [
        # a difference that is certain does not reach 0 by rounding
        ((0.06, 0.02, 0.10), "0.060 [0.020, 0.100]"),
        ((0.22, 0.115, 0.325), "0.22 [0.12, 0.33]"),
        ((24.9, 23.1, 26.7), "24.9 [23.1, 26.7]"),
        ((300.0, 250.0, 350.0), "300 [250, 350]"),
    ],
)
def test_an_interval_has_two_digits_of_its_half_width(ends: tuple[float, ...], said: str) -> None:
    row = dict(zip(("d", "d_low", "d_high"), ends, strict=True)) | {"seeds": 5}
    assert cards._sure("Difference", row, "d", " ms", 0.004) == (
        f"Difference {said} ms, 5 seeds, p = 0.004 corrected"
    )


def test_a_small_value_of_a_card_is_not_zero() -> None:
    assert [cards._short(one) for one in (0.0, 0.004, 0.14, 9.96, 75.2, 213.4)] == [
        "0.0", "0.0040", "0.14", "10.0", "75", "213",
    ]  # fmt: skip


@pytest.mark.parametrize("verdict", ["different", "equivalent", "inconclusive", states.SAME, WITHHELD])
@pytest.mark.parametrize("state", [*matrix.GLYPHS, ""])
def test_a_figure_is_a_card_only_where_it_and_its_cell_differ(verdict: str, state: str) -> None:
    found = against_reference()
    tested = frames(found)["own_figures"].filter(pl.col("p").is_not_null())
    table = tested.with_columns(verdict=pl.lit(verdict))
    here = matrix.Cell("link", "link/x", state, "", {}, None, Markup())
    shown = matrix.Matrix("", "", (matrix.Row("x", {"x": ("tcp", "cubic")}, "", state, {"link": here}),))
    made = cards.cards(found, {"own_figures": table}, shown)
    assert bool(made) == (verdict == state == matrix.DIFFERENT)
    assert {card.contestant for card in made} <= {"x"}


def test_a_placebo_that_differs_withholds_its_quantity() -> None:
    found = against_reference(placebo_loss=20.0)
    table = own_figures.table(found)
    assert table is not None
    said = {(row["contestant"], row["quantity"]): row["verdict"] for row in table.to_dicts()}
    assert said["x", "queue_loss_percent"] == WITHHELD
    assert said["x", "share_percent"] == "different"
    made = cards.cards(found, frames(found), matrix.matrix(found, frames(found), {}))
    assert [card.quantity for card in made] == ["share_percent"]


def test_own_figures_compare_each_contestant_with_its_references_own() -> None:
    table = own_figures.table(against_reference())
    assert table is not None
    (row,) = table.filter((pl.col("contestant") == "x") & (pl.col("quantity") == "share_percent")).to_dicts()
    assert row["value"] == pytest.approx(75, abs=0.1)
    assert row["reference_value"] == pytest.approx(50, abs=0.1)
    assert row["difference"] == pytest.approx(25, abs=0.2)
    assert row["test"] == "paired"


def test_a_card_of_one_trial_names_the_network_that_confirms_it() -> None:
    """ "1 event in 1 differing trial" stood beside "a difference needs two"."""
    found = against_reference()
    row: dict[str, object] = {
        "contestant": "x",
        "parameter": "beta",
        "title": "β",
        "shown": "0.8",
        "should_be": "0.7",
        "status": "off",
    }
    off = [
        row | {"network": network, "trials": trials, "events": trials, "confirmed_on": confirms}
        for network, trials, confirms in (("link", 1, "deep"), ("deep", 2, None), ("wide", 1, None))
    ]
    made = list(cards._others(found, {"parameters": pl.DataFrame(off)}))
    assert [one.sure for one in made] == [
        "1 event in 1 differing trial, confirmed on deep",
        "2 events in 2 differing trials",
        "1 event in 1 differing trial",
    ]


def card(contestant: str, quantity: str, effect: float, network: str = "n") -> Card:
    return Card(contestant, network, quantity, "", "", "", effect, "")


def test_five_cards_each_contestants_best_first_and_no_quantity_twice() -> None:
    found = [card("a", "loss", 50), card("a", "loss", 60, "m"), card("a", "share", 40), card("b", "share", 5)]
    assert [(one.contestant, one.effect) for one in cards.chosen(found)] == [("a", 60), ("b", 5), ("a", 40)]
    many = [card(name, "loss", number) for number, name in enumerate("abcdefg")]
    assert [one.contestant for one in cards.chosen(many)] == [*"gfedc"]


def test_a_page_load_is_repeated_with_the_load_that_it_is_compared_with() -> None:
    load = {"network": "link", "page": "small", "contestant": "x", "base": "tcp-h2", "state": "different"}
    change = {"pltc_percent": 20.0, "pltc_percent_low": 19.0, "pltc_percent_high": 21.0}
    changes = pl.DataFrame([load | change | {"p_bh": 0.001, "seeds": 3}])
    loads = [replace(cell("solo", [name], [trial(1, [9.0])]), page="small") for name in ("tcp-h2", "x")]
    (made,) = cards.cards(collected("solo", loads), {"page_changes": changes}, matrix.Matrix("", "", ()))
    assert made.groups == "link/x,link/tcp-h2"


def test_uneven_pairs_become_cards_of_the_winner() -> None:
    found = study(PAIRS)
    shown = matrix.matrix(found, frames(found), {})
    assert [row.name for row in shown.rows] == ["a1 + a2", "a1 + b1", "a2 + b1"]
    made = cards.cards(found, frames(found), shown)
    uneven = {row.name for row in shown.rows if row.cells["link"].state == matrix.DIFFERENT}
    assert {one.row for one in made} == uneven == {"a1 + a2", "a2 + b1"}
    assert [one.text for one in made] == [
        "b1 takes 80 % of the throughput beside a2",
        "a1 takes 80 % of the throughput beside a2",
    ]


def test_without_a_difference_the_page_says_what_is_open(tmp_path: Path) -> None:
    found = collect(Results(report_results.KNOBS))
    page = report_results.report(report_results.KNOBS, tmp_path).read_text()
    read = Read(page)
    assert "Nothing differs clearly. Inconclusive: 2 of 2 cells. About " in read.words
    assert (
        "None of 2 contestants clearly differs from kernel TCP or the standard; 2 inconclusive." in read.words
    )
    # every link within the page leads to something or to a view, and every cell is heard, not only seen
    ids = set(re.findall(r'id="([^"]+)"', page))
    assert {link[1:] for link in read.links if link.startswith("#")} - {"all", "view=explore"} <= ids
    assert page.count('<span class="heard">inconclusive, </span>') == 2 * (1 + len(found.networks))
    assert '<option value="cubic">' in page and '<option value="reno">' in page
    assert 'name="stack"' not in page, "one stack is no choice"


def test_where_no_figure_has_a_card_the_finding_itself_is_one() -> None:
    found = against_reference()
    judged = frames(found)
    del judged["own_figures"]
    shown = matrix.matrix(found, judged, {})
    made = cards.cards(found, judged, shown)
    assert made and {card.table for card in made} == {"harm"}
    assert made[0].text.startswith("x: it leaves r less throughput than r itself does on link")


@pytest.mark.parametrize(("state", "differs"), [*itertools.product([*matrix.GLYPHS, ""], [True, False])])
def test_a_page_that_finds_a_difference_never_says_that_nothing_differs(state: str, differs: bool) -> None:
    cell = matrix.Cell("n", "n/x", state, "", {}, None, Markup())
    shown = matrix.Matrix("", "", (matrix.Row("x", {}, "", "", {"n": cell}),))
    said = cards.nothing(shown, pl.DataFrame({"differs": [differs]}))
    assert said.startswith("Nothing differs") == (state in (matrix.OPEN, matrix.EQUIVALENT) and not differs)
    assert said.startswith("The verdicts below") == (differs or state == matrix.DIFFERENT)


def test_every_seed_has_its_own_figure() -> None:
    found = against_reference()
    here = matrix.matrix(found, frames(found), {}).rows[0].cells["link"]
    assert (here.figure, here.by_seed) == ("75 %", {0: "75 %", 1: "75 %", 2: "75 %", 3: "75 %", 4: "75 %"})
    assert matrix.matrix(found, frames(found), {}).filters == {"seed": ["0", "1", "2", "3", "4"]}


def test_a_row_says_which_parameter_is_off(monkeypatch: pytest.MonkeyPatch) -> None:
    # the number of connections restates β
    off = [finding("beta", 0.85), finding("emulated_connections", 2.0, 0.1)]
    for more, said in (
        ([], "multiplicative decrease β 0.850 ± 0.005"),
        ([finding("initial_window_packets", 32)], "multiplicative decrease β 0.850 ± 0.005, and 1 more"),
    ):
        one = verdict("x", "cubic", [on(*off, *more, *FINE[1:])])
        monkeypatch.setattr(judged, "all_verdicts", lambda *_, one=one, **__: [one])
        found = collected("solo", [cell("solo", ["x"], [trial(1, [9.0])])])
        table = verdicts.table(found, {})
        assert table is not None
        (row,) = matrix.matrix(found, {"verdicts": table}, {}).rows
        assert (row.verdict, row.off) == ("off by a parameter", said)


def test_a_flow_alone_in_its_line_up_shows_its_throughput() -> None:
    alone = replace(cell("flows", ["a"], [trial(seed, [20.0]) for seed in (1, 2)]), lineup="one")
    both = replace(cell("flows", ["a", "b"], [trial(seed, [15.0, 5.0]) for seed in (1, 2)]), lineup="two")
    shown = matrix.matrix(collected("flows", [alone, both]), {}, {})
    assert {row.name: row.cells["link"].figure for row in shown.rows} == {
        "one: a": "20.0 Mbps",
        "two: a": "75 %",
        "two: b": "25 %",
    }


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        (harm.MORE, ". Beside a second y flow, y carries clearly more"),
        ("equivalent", ". Beside a second y flow, y carries as much"),
        ("inconclusive", ". Harm to y's throughput, which has a test of its own: inconclusive"),
        ("not judged", ""),
    ],
)
def test_a_split_is_beside_what_its_loser_has_alone(verdict: str, said: str) -> None:
    """A path with reordering may leave a sender little with any rival."""
    wins = {
        "ratio": 0.86,
        "ratio_low": 0.8,
        "ratio_high": 0.9,
        "split": "different",
        "p_bh": 0.001,
        "seeds": 4,
    }
    tables = {
        "pairwise": pl.DataFrame([{"network": "link", "x": "x", "y": "y"} | wins]),
        "harm": pl.DataFrame(
            [
                {
                    "network": "link",
                    "victim": "y",
                    "by": "x",
                    "service": "throughput, Mbps",
                    "verdict": verdict,
                },
                {
                    "network": "link",
                    "victim": "y",
                    "by": "x",
                    "service": "delay p95, ms",
                    "verdict": harm.MORE,
                },
            ]
        ),
    }
    (card,) = cards._pairs(tables)
    assert card.beside == f"Even split: 50 %{said}"


@pytest.mark.parametrize("figure", ["mean share of throughput", "mean throughput"])
def test_a_study_of_flows_that_finds_nothing_says_what_is_not_judged(figure: str) -> None:
    """Flows of fixed size have no shares."""
    one = matrix.Cell("n", "n/x", matrix.OPEN, "", {}, 3, Markup())
    shown = matrix.Matrix(figure, "", (matrix.Row("x", {}, "", "", {"n": one}),))
    assert cards.nothing(shown, None, together=True) == (
        f"No controller differs clearly from the standard. The matrix’s numbers ({figure}) are not judged. "
        "Inconclusive: 1 of 1 comparisons (one for each contestant and network). "
        "About 3 more seeds may settle one of these comparisons."
    )


def test_a_line_up_that_has_not_run_has_no_state(monkeypatch: pytest.MonkeyPatch) -> None:
    """It had that of its contestant in other line-ups, "≠ different, –", and each flow was counted."""
    monkeypatch.setattr(
        sides, "findings", lambda _: [sides.Finding("x", "link", "inconclusive", "", "harm", None)]
    )
    names = ["x", "x"]
    ran = replace(cell("flows", names, [trial(1, [9.0, 9.0])]), lineup="one")
    waits = replace(cell("flows", names, []), lineup="never ran", key="link/never")
    flows = [Flow(contestant=contestant("x"))] * 2
    shown = matrix.matrix(collected("flows", [ran, waits], [], flows), {}, {})
    assert {row.name: one.state for row, one in shown.cells} == {
        "one: x (flow 0)": matrix.OPEN,
        "one: x (flow 1)": matrix.OPEN,
        "never ran: x (flow 0)": "",
        "never ran: x (flow 1)": "",
    }
    assert "Inconclusive: 1 of 1 comparisons" in cards.nothing(shown, None, together=True)


@pytest.mark.parametrize(
    ("seeds", "said"),
    [
        # one difference settles a cell
        (((139, "different"), (1, "different"), (None, None)), "1 more seed"),
        (((2, "equivalent"), (139, "different"), (7, "equivalent")), "139 more seeds"),
        # without one, everything must become equivalent
        (((2, "equivalent"), (222, "equivalent")), "222 more seeds"),
        (((4, "equivalent"), (None, None)), ""),
    ],
)
def test_what_settles_a_cell(
    seeds: tuple[tuple[int | None, State | None], ...], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_ = [sides.Finding("x", "link", "inconclusive", "", "harm", *one) for one in seeds]
    open_.append(sides.Finding("x", "link", "equivalent", "", "harm", None))
    monkeypatch.setattr(sides, "findings", lambda _: open_)
    shown = matrix.matrix(against_reference(), {}, {})
    assert cards.nothing(shown, None) == "Nothing differs clearly. Inconclusive: 1 of 1 cells." + (
        f" About {said} may settle one of these cells." if said else ""
    )


def _settled(seed: int, mbps: float, loss_percent: float, network: Network = NETWORK) -> TrialMeasures:
    assert network.rate_mbps is not None
    after = Settled(50.0, 500.0, False, mbps, mbps / network.rate_mbps, loss_percent, None)
    return replace(trial(seed, [mbps], loss_percent=[loss_percent], network=network), settled=after)


def alone_unlike_the_reference(*, seeds: int = 3) -> tuple[Collected, dict[str, pl.DataFrame]]:
    """x loses half of its packets alone and leaves a sixth of the link idle; kernel TCP does neither."""

    def trials(mbps: float, loss: float) -> list[TrialMeasures]:
        return [_settled(seed, mbps + 0.3 * seed, loss + seed) for seed in range(1, 1 + seeds)]

    cells = [cell("solo", ["x"], trials(16.0, 50.0)), cell("solo", ["tcp cubic"], trials(18.8, 0.0))]
    found = collected("solo", cells, [contestant("x"), contestant("tcp cubic")])
    family = Family("cubic", "quic")
    verdict = {
        "contestant": "x",
        "judged_as": "cubic",
        "verdict": "behaves differently",
        "differs": True,
        "parameters": "equivalent",
        "plausibility": "different",
        "off": "",
    }
    return replace(found, families={"x": family, "tcp cubic": family}), {"verdicts": pl.DataFrame([verdict])}


def test_results_alone_become_cards() -> None:
    found, judged = alone_unlike_the_reference()
    shown = matrix.matrix(found, judged, {})
    assert shown.rows[0].cells["link"].state == matrix.DIFFERENT
    first, second = cards.cards(found, judged, shown)
    assert first.text == "x alone: packet loss after slow start 52.0 % (tcp cubic 2.0 %) on link"
    assert first.sure == "3 differing trials"
    assert first.effect == pytest.approx(51 - 3)
    assert second.text == "x alone: utilisation after slow start 83 % (tcp cubic 97 %) on link"
    assert second.effect == pytest.approx(100 * (19.1 - 16.9) / 20)
    # what it is compared with must run too
    assert (first.groups, first.table) == ("link/x,link/tcp cubic", "flows")
    assert "plausibility" in shown.glyph


def test_one_differing_trial_names_the_network_that_confirms_it() -> None:
    """ "1 differing trial" beside an accusation read as thin evidence: equal seeds count once."""
    found, judged = alone_unlike_the_reference()
    wide = Network(name="wide", rate_mbps=40, rtt_ms=80, buffer_bdp=1)

    def alone(name: str, loss: float, network: Network) -> Cell:
        trials = [_settled(seed, 0.97 * (network.rate_mbps or 0.0), loss, network) for seed in (1, 2)]
        return cell("solo", [name], trials, network)

    cells = [
        alone(name, loss, network)
        for network in (NETWORK, wide)
        for name, loss in (("x", 50.0), ("tcp cubic", 0.0))
    ]
    both = collected("solo", cells, found.study.contestants)
    both = replace(both, families=found.families)
    (card,) = cards.cards(both, judged, matrix.matrix(both, judged, {}))
    assert card.sure == "1 differing trial, confirmed on wide"


def test_one_trial_alone_is_no_card() -> None:
    found, judged = alone_unlike_the_reference(seeds=1)
    assert not cards.cards(found, judged, matrix.matrix(found, judged, {}))


def test_results_alone_hide_no_parameter() -> None:
    found, judged = alone_unlike_the_reference()
    off = {
        "contestant": "x",
        "network": "link",
        "status": "off",
        "parameter": "beta",
        "title": "β",
        "shown": "0.9",
        "should_be": "0.7",
        "events": 1,
        "trials": 1,
        "confirmed_on": None,
    }
    judged["parameters"] = pl.DataFrame([off])
    made = cards.cards(found, judged, matrix.matrix(found, judged, {}))
    assert [one.quantity for one in made] == ["loss alone", "utilisation alone", "beta"]
    assert made[-1].sure == "1 event in 1 differing trial"


@pytest.mark.parametrize(("settles_as", "more"), [("different", 4), (None, None)])
def test_seeds_that_only_give_an_interval_promise_nothing(settles_as: str | None, more: int | None) -> None:
    found = study(PAIRS)
    table = frames(found)["pairwise"]
    open_ones = table.with_columns(
        split=pl.lit("inconclusive"), more_seeds=pl.lit(4), settles_as=pl.lit(settles_as, pl.String)
    )
    shown = matrix.matrix(found, {"pairwise": open_ones}, {})
    assert {row.cells["link"].more_seeds for row in shown.rows} == {more}


@pytest.mark.parametrize("names", [("x",), ("x", "y"), ("x", "y", "z")])
def test_the_legend_tells_of_a_flow_beside_only_if_a_cell_draws_one(names: tuple[str, ...]) -> None:
    one = trial(1, [5.0] * len(names))
    found = collected("flows", [replace(cell("flows", names, [one]), shown_s=60.0)])
    line = Timeline(one.id, tuple((5.0,) * 10 for _ in names), {})
    shown = matrix.matrix(found, {}, {one.id: line})
    assert shown.drawn
    assert shown.beside == (len(names) == 2) == ('class="its"' in shown.cells[0][1].lines)
    assert not matrix.matrix(found, {}, {}).beside


def test_without_a_valid_trial_the_legend_names_no_figure() -> None:
    """A study of pairs, whose numbers are shares, said "Number: mean throughput"."""
    names = ("x", "y")
    rejected = replace(cell("versus-reference", names, []), missing=("t",))
    shown = matrix.matrix(collected("versus-reference", [rejected]), {}, {})
    assert (shown.figure, shown.glyph, shown.drawn) == ("", "", False)
    one = cell("versus-reference", names, [trial(1, [9.0, 9.0])])
    assert matrix.matrix(collected("versus-reference", [one]), {}, {}).figure == "mean share of throughput"
