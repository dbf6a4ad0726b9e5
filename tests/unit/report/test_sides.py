"""A verdict's sides out of the report's tables, and what the placebo withholds."""

from __future__ import annotations

from typing import cast

import polars as pl
import pytest

from cambrian.judging.sides import Side
from cambrian.report import harms, placebo, sides
from cambrian.report.collect import Collected
from cambrian.report.tables import harm, rows

ENVELOPES = pl.DataFrame(
    {
        "network": ["n", "m", "n"],
        "contestant": ["quinn bbr", "quinn bbr", "quinn reno"],
        "reference": ["tcp bbr", "tcp bbr", "tcp reno"],
        "verdict": ["equivalent", "different", "equivalent"],
        "conformance": [0.8, 0.2, 0.9],
        "deficit": [0.0, 0.6, 0.0],
        "deficit_low": [-0.1, 0.5, -0.1],
        "deficit_high": [0.05, 0.7, 0.05],
    }
)
PROBES = pl.DataFrame(
    {
        "network": ["n", "n", "n", "n"],
        "contestant": ["quinn reno", "quinn reno", "alone", "bounded"],
        "state": ["inconclusive", None, "equivalent", "equivalent"],
        "probe": ["pause", "pause", "carried", "frames"],
        "compare": ["ratio", "ratio", "ratio", "bound"],
        "text": ["it pauses for 2 round trips", "not compared", "it fills the link", "its frames are small"],
        "why": [None, "few losses", None, None],
    }
)


def harms_of(*verdicts: tuple[str, str, str, str]) -> pl.DataFrame:
    return pl.DataFrame(
        [
            {"network": "n", "by": by, "victim": victim, "service": service, "verdict": verdict,
             "excess": 0.3, "excess_low": 0.2, "excess_high": 0.4}
            for by, victim, service, verdict in verdicts
        ]
    )  # fmt: skip


def test_behaviour_is_different_where_one_row_is_and_equivalent_where_all_are() -> None:
    found = sides.behaviour({"conformance": ENVELOPES, "probes": PROBES})
    assert found["quinn bbr"].state == "different"
    (text,) = found["quinn bbr"].findings
    assert "on m" in text
    assert "0.60 [0.50, 0.70]" in text
    # an envelope that is alike does not settle a probe
    assert found["quinn reno"].state == "inconclusive"
    assert found["alone"].state == "equivalent"
    # a figure within an absolute bound is not yet like the reference's
    assert found["bounded"].state == "not measured"
    assert sides.behaviour({}) == {}


def test_a_contestant_that_no_probe_compares_is_there_with_the_reason() -> None:
    """Without its row in the verdicts, a reader would not learn that it was not judged."""
    withheld = PROBES.head(2).with_columns(
        contestant=pl.lit("limited"), state=pl.lit(None, pl.String), why=pl.lit("its receiver is slow")
    )
    found = sides.behaviour({"probes": withheld})
    assert found == {"limited": Side("not measured", ("its receiver is slow",))}
    whys = pl.Series("why", ["few losses", "its receiver is slow", "its receiver is slow"])
    several = pl.concat([withheld, withheld.head(1)]).with_columns(whys)
    assert sides.behaviour({"probes": several}) == found


def test_a_probe_of_several_networks_names_those_that_differ() -> None:
    rows = [("a", "different", "17 %"), ("b", "different", "17 %")]
    rows += [("c", "different", "20 %"), ("d", "equivalent", "99 %")]
    frame = pl.DataFrame(
        [
            {"network": network, "contestant": "x", "probe": "carried", "state": state, "compare": "ratio",
             "text": f"it carries {share}, kernel Reno 100 %", "why": None}
            for network, state, share in rows
        ]
    )  # fmt: skip
    assert sides.behaviour({"probes": frame})["x"].findings == (
        "it carries 17 %, kernel Reno 100 % (a, b)",
        "it carries 20 %, kernel Reno 100 % (c)",
    )
    # one network goes without saying
    assert sides.behaviour({"probes": frame.head(1)})["x"].findings == ("it carries 17 %, kernel Reno 100 %",)


def test_seeds_that_add_no_variation_settle_nothing() -> None:
    same = ENVELOPES.head(1).with_columns(verdict=pl.lit("the same in every seed"))
    assert sides.behaviour({"conformance": same})["quinn bbr"].state == "inconclusive"


def test_impact_is_what_a_contestant_does_to_its_own_reference() -> None:
    frame = harms_of(
        ("quinn bbr", "tcp bbr", "throughput, Mbps", harm.MORE),
        ("quinn bbr", "tcp bbr", "queue loss, %", "equivalent"),
        ("tcp bbr", "tcp bbr", "throughput, Mbps", "itself"),
        ("quinn reno", "tcp reno", "delay p95, ms", "inconclusive"),
    )
    found = sides.impact({"conformance": ENVELOPES, "harm": frame})
    assert found["quinn bbr"].state == "different"
    assert found["quinn bbr"].findings == (
        "it leaves tcp bbr less throughput than tcp bbr itself does on n "
        "(harm beyond its own kind 0.30 [0.20, 0.40])",
    )
    assert found["quinn reno"].state == "inconclusive"
    # without references there is nobody to do anything to; a shard can have only the noise floor
    assert sides.impact({"harm": frame}) == {}
    assert sides.impact({"conformance": rows.frame([], "network"), "harm": frame}) == {}


@pytest.mark.parametrize("service", [service.name for service in harms.SERVICES])
def test_every_service_has_its_words(service: str) -> None:
    for verdict in (harm.MORE, harm.LESS):
        frame = harms_of(("quinn bbr", "tcp bbr", service, verdict))
        (text,) = sides.impact({"conformance": ENVELOPES, "harm": frame})["quinn bbr"].findings
        assert "tcp bbr itself does" in text


def test_a_placebo_that_differs_withholds_what_it_vouches_for(monkeypatch: pytest.MonkeyPatch) -> None:
    placebos = {("n", reference): f"placebo ({reference})" for reference in ("tcp bbr", "tcp reno")}
    monkeypatch.setattr(placebo, "names", lambda _: placebos)
    rows = [
        {"network": "n", "contestant": name, "reference": reference, "verdict": verdict, "more_seeds": 3}
        for name, reference, verdict in (
            ("placebo (tcp bbr)", "tcp bbr", "different"),
            ("quinn bbr", "tcp bbr", "different"),
            ("placebo (tcp reno)", "tcp reno", "inconclusive"),
            ("quinn reno", "tcp reno", "different"),
        )
    ]
    placebo.withhold(rows, cast("Collected", None))
    assert [row["verdict"] for row in rows] == [
        "different",
        placebo.WITHHELD,
        "inconclusive",
        "different",
    ]
    assert rows[1]["more_seeds"] is None
