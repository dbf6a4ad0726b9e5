"""Print verdicts on claims: for a terminal, in Markdown, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, get_args

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from cambrian.claims.contradictions import MOVED_MOST, Explained, MainEffect
from cambrian.claims.model import Verdict
from cambrian.claims.verdicts import Finding, Judged
from cambrian.effects.summary import Estimate
from cambrian.markdown import table_lines

VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
_COLOURS = {"holds": "green", "doesn't hold": "red", MOVED_MOST: "green"}


def terminal(console: Console, judged: Sequence[Judged], explained: Sequence[Explained]) -> None:
    """Print a block for each claim, then each contradiction, then the counts by paper."""
    for paper in _papers(judged):
        console.rule(paper, align="left")
        for one in judged:
            if one.claim.paper == paper:
                _block(console, one.claim.id, one.verdict, one.claim.text, claim_lines(one), one.note)
    if explained:
        console.rule("contradictions", align="left")
        for found in explained:
            lines = contradiction_lines(found, judged)
            _block(
                console, found.contradiction.id, found.verdict, found.contradiction.text, lines, found.note
            )
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("paper", no_wrap=True)
    for verdict in VERDICTS:
        table.add_column(verdict, justify="right")
    for paper, counts in counts_by_paper(judged):
        table.add_row(paper, *(str(count) if count else "–" for count in counts))
    console.print(table)


def markdown(judged: Sequence[Judged], explained: Sequence[Explained]) -> str:
    """The same as a page in Markdown, counts first."""
    counts = ([paper, *(str(count) for count in of_paper)] for paper, of_paper in counts_by_paper(judged))
    lines = table_lines(["paper", *VERDICTS], counts, [False, *[True] * len(VERDICTS)])
    for paper in _papers(judged):
        lines += ["", f"## {paper}"]
        for one in judged:
            if one.claim.paper == paper:
                lines += _section(one.claim.id, _noted(one), one.claim.text, claim_lines(one))
    if explained:
        lines += ["", "## Contradictions"]
        for found in explained:
            details = contradiction_lines(found, judged)
            lines += _section(found.contradiction.id, _noted(found), found.contradiction.text, details)
    return "\n".join(lines) + "\n"


def records(judged: Sequence[Judged], explained: Sequence[Explained]) -> dict[str, Any]:
    """``{"claims": […], "contradictions": […]}`` for JSON: every figure with all digits."""
    return {
        "claims": [
            {
                **one.claim.model_dump(exclude={"tests"}),
                "verdict": one.verdict,
                "note": one.note,
                "reason": one.reason,
                "tests": [_record(result) for result in one.results],
            }
            for one in judged
        ],
        "contradictions": [
            {
                "id": found.contradiction.id,
                "claims": list(found.contradiction.claims),
                "text": found.contradiction.text,
                "verdict": found.verdict,
                "note": found.note,
                "factor": found.factor,
                "ends": found.ends,
                "reason": found.reason,
                "unit": found.contradiction.unit,
                "effects": [asdict(main) for main in found.effects],
            }
            for found in explained
        ],
    }


def counts_by_paper(judged: Sequence[Judged]) -> list[tuple[str, list[int]]]:
    """Number of claims with each verdict, by paper, and over all papers if there are several."""
    papers = _papers(judged)
    rows = [
        (
            paper,
            [sum(one.claim.paper == paper and one.verdict == name for one in judged) for name in VERDICTS],
        )
        for paper in papers
    ]
    if len(papers) > 1:
        rows.append(("all", [sum(counts) for counts in zip(*(counts for _, counts in rows), strict=True)]))
    return rows


def claim_lines(one: Judged) -> Iterator[tuple[str, str]]:
    """Label and text of each line: our figures, theirs, why they may differ, the source."""
    for result in one.results:
        yield "ours", figure_text(result)
    if versions := dict.fromkeys(version for result in one.results for version in result.versions):
        yield "run with", "; ".join(versions)
    if one.reason:
        yield "why", one.reason
    if one.claim.figure:
        yield "theirs", one.claim.figure
    if one.claim.why_differ:
        yield "may differ", one.claim.why_differ
    yield "source", one.claim.source


def contradiction_lines(found: Explained, judged: Sequence[Judged]) -> Iterator[tuple[str, str]]:
    """Label and text of each line: both claims' verdicts, the settings' means, and each factor's effect."""
    verdicts = {one.claim.id: one.verdict for one in judged}
    for name in found.contradiction.claims:
        yield "claim", f"{name}: {verdicts.get(name, 'not selected')}"
    if found.factor and found.verdict == MOVED_MOST:
        yield "most", f"{found.factor} moves {found.contradiction.quantity} most"
    if found.ends:
        least, most = map(amount, found.ends)
        yield "settings", f"the mean of {found.contradiction.quantity} is {least} to {most}, by the setting"
    if found.reason:
        yield "why", found.reason
    for main in found.effects:
        yield "factor", factor_text(main, found.contradiction.unit)


def figure_text(result: Finding) -> str:
    """Our figure with its interval, its meaning, and the expected region."""
    test, found = result.test, result.estimate
    if found is None:
        return f"{result.reason} ({test.says})"
    why = "no value, or their seed lacks one in another trial"
    left = [f"trials left out ({why}): {found.trials_left_out:,}"] if found.trials_left_out else []
    made_of = [
        f"expected {test.expect}",
        ", ".join(word for word in (result.verdict, result.note) if word),
        f"cells: {found.cells}",
        f"trials: {found.trials:,}",
    ]
    reason = f"; {result.reason}" if result.reason else ""
    figure = with_interval(found.estimate, found.low, found.high, test.unit)
    return f"{figure}: {test.says} ({', '.join(made_of + left)}{reason})"


def factor_text(main: MainEffect, unit: str) -> str:
    """A factor's effect between its two most different levels."""
    change = with_interval(main.difference, main.low, main.high, unit)
    ends = f"{amount(main.mean_lowest)} at {main.lowest}, {amount(main.mean_highest)} at {main.highest}"
    return f"{main.factor}: {change} ({ends}; settings compared: {main.pairs})"


def with_interval(estimate: float, low: float | None, high: float | None, unit: str) -> str:
    """``1.42 [1.38, 1.47] Mbps``."""
    bounds = "" if low is None or high is None else f" [{amount(low)}, {amount(high)}]"
    return f"{amount(estimate)}{bounds} {unit}".rstrip()


def amount(value: float) -> str:
    """The value with four significant digits."""
    return f"{float(f'{value:.4g}'):,.10g}"


def _record(result: Finding) -> dict[str, Any]:
    test, found = result.test, result.estimate
    return {
        "says": test.says,
        "part": test.part,
        "verdict": result.verdict,
        "note": result.note,
        "reason": result.reason,
        "unit": test.unit,
        "versions": list(result.versions),
        "expect": test.expect.model_dump(exclude_none=True),
        **({"estimate": None} if found is None else _figures(found)),
    }


def _figures(found: Estimate) -> dict[str, Any]:
    """Without the scale of the interval, whose end may be infinite, which JSON has no word for."""
    return {key: value for key, value in asdict(found).items() if key != "scale"}


def _papers(judged: Sequence[Judged]) -> list[str]:
    return list(dict.fromkeys(one.claim.paper for one in judged))


def _block(
    console: Console, name: str, verdict: str, text: str, lines: Iterator[tuple[str, str]], note: str = ""
) -> None:
    about = f" ({note})" if note else ""
    console.print(Text.assemble((name, "bold"), "  ", (verdict, _COLOURS.get(verdict, "dim")), about))
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True, style="dim")
    grid.add_column(overflow="fold")
    grid.add_row("claim", Text(text))
    for label, line in lines:
        grid.add_row(label, Text(line))
    console.print(Padding(grid, (0, 0, 1, 2)))


def _noted(one: Judged | Explained) -> str:
    """The verdict, and what it is not about."""
    return f"{one.verdict} ({one.note})" if one.note else one.verdict


def _section(name: str, verdict: str, text: str, lines: Iterator[tuple[str, str]]) -> list[str]:
    return ["", f"### {name}: {verdict}", "", text, "", *(f"- {label}: {line}" for label, line in lines)]
