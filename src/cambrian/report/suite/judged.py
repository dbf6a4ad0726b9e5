"""A section's claims and scorecards, judged, as pieces of the page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import polars as pl

from cambrian.claims import contradictions, listing, load, scorecard, verdicts
from cambrian.claims.frames import Frames
from cambrian.claims.model import Claim, Contradiction
from cambrian.report import layout
from cambrian.report.layout import Column, Row
from cambrian.report.sections import Commands, Piece, Statement, Table, Words
from cambrian.report.words import counted
from cambrian.study import hints
from cambrian.study.errors import StudyError


def claims(paper: str, wanted: Sequence[str], frames: Frames, file: str) -> tuple[Piece, ...]:
    """The verdicts on the claims ``wanted``, or on all claims of ``paper`` if ``wanted`` is empty.

    Raises:
        StudyError: the ledger is wrong, or has no such claim.
    """
    ledger = load.load()
    known = {claim.id: claim for claim in ledger.claims}
    for name in wanted:
        if name not in known:
            remedy = hints.for_name(name, known, "claims")
            raise StudyError(file=file, key="claims", problem=f"no claim {name}", remedy=remedy)
    asked = [claim for claim in ledger.claims if (claim.id in wanted if wanted else claim.paper == paper)]
    judged = [verdicts.judge(claim, frames) for claim in asked]
    names = {claim.id for claim in asked}
    explained = [
        contradictions.explain(one, frames) for one in ledger.contradictions if names & set(one.claims)
    ]
    said = [_said(one.claim, one, listing.claim_lines(one)) for one in judged]
    said += [_said(one.contradiction, one, listing.contradiction_lines(one, judged)) for one in explained]
    counts = Words((_counts([one.verdict for one in judged]),), found=True)
    return (counts, *said) if judged else tuple(said)


def _said(
    what: Claim | Contradiction,
    found: verdicts.Judged | contradictions.Explained,
    lines: Iterable[tuple[str, str]],
) -> Statement:
    return Statement(what.id, found.verdict, what.text, lines=tuple(lines), note=found.note)


def _counts(found: Sequence[str]) -> str:
    counts = Counter(found)
    listed = ", ".join(f"{counts[name]} {name}" for name in listing.VERDICTS if counts[name])
    return f"{counted(len(found), 'claim')}: {listed}."


def card(
    path: Path, prefixes: Mapping[str, Mapping[str, str]], frames: Frames, name: str, command: str
) -> tuple[Piece, ...]:
    """A scorecard: criteria by contestants, and every test. ``command`` runs what it needs.

    ``prefixes`` maps the folder of each contestant's parts to its placeholders.

    Raises:
        StudyError: the file is wrong.
    """
    criteria = scorecard.load(path)
    rows = {prefix: criteria.score(frames, prefix, _filled(one)) for prefix, one in prefixes.items()}
    titles = {prefix: _title(prefix, placeholders) for prefix, placeholders in prefixes.items()}
    tests = pl.DataFrame(
        [{"contestant": titles[prefix], **asdict(row)} for prefix, found in rows.items() for row in found],
        infer_schema_length=None,
    )
    if tests.is_empty():
        return (Commands((command,), "Not run."),)
    whole = tests.group_by("criterion", "text", "source", maintain_order=True).agg(
        *(
            pl.col("of_criterion").filter(pl.col("contestant") == title).first().alias(title)
            for title in titles.values()
        )
    )
    columns = [layout.text("text", "Criterion"), layout.text("source", "Source")]
    columns += [layout.text(title, title) for title in titles.values()]
    details = [
        layout.text("contestant", "Contestant"),
        layout.text("says", "Test"),
        Column("Measured", _measured),
        layout.text("threshold", "Expected"),
        Column("Verdict", lambda row: ", ".join(row[key] for key in ("verdict", "note") if row[key])),
        Column("Trials", lambda row: str(row["trials"])),
    ]
    counts = [
        f"{title}: " + ", ".join(f"{count} {word}" for word, count in Counter(whole[title].to_list()).items())
        for title in titles.values()
    ]
    ran = (tests["verdict"] != "not run").any()
    return (
        *(() if ran else (Commands((command,), "Not run."),)),
        Words(("Criteria by contestant: " + "; ".join(counts) + ".",), found=True),
        Table(layout.shown(whole, columns, "Scorecard", f"{name}.csv"), whole),
        Table(layout.shown(tests, details, "Every test", f"{name}-tests.csv", folded=True), tests),
    )


def _filled(placeholders: Mapping[str, str]) -> Mapping[str, str]:
    """Those of a condition: a page's ``$CONTESTANT`` is a folder, a condition's is a name."""
    return scorecard.placeholders(placeholders["$STACK"], placeholders["$CCA"]) if placeholders else {}


def _title(prefix: str, placeholders: Mapping[str, str]) -> str:
    return " ".join(placeholders[key] for key in ("$STACK", "$CCA") if key in placeholders) or prefix


def _measured(row: Row) -> str:
    if row["figure"] is None:
        return row["reason"] if row["verdict"] == "inconclusive" else f"not run: {row['reason']}"
    return listing.with_interval(row["figure"], row["low"], row["high"], row["unit"])
