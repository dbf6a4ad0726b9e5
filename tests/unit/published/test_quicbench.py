"""The quicbench suite: its studies have the paper's networks; its tests tell a world from its opposite."""

from __future__ import annotations

import functools

import polars as pl
import pytest

from cambrian.claims import load as ledger
from cambrian.claims.model import Claim
from cambrian.claims.verdicts import judge
from cambrian.published import load
from cambrian.published.compare import compare
from cambrian.published.model import Comparison
from cambrian.stacks import catalogue
from cambrian.study.builtin import folder
from cambrian.study.expand import expand
from cambrian.study.load import load_study
from cambrian.study.model import Group
from tests.unit.claims.ledgers import Folder

PAPER = load.folder("quicbench")
COMPARISONS = load.comparisons(PAPER)
CLAIMS = [claim for claim in ledger.load().claims if claim.paper == "quicbench"]
PARTS = ("envelopes", "pairs", "controls")


@functools.cache
def groups(part: str, profile: str | None) -> list[Group]:
    study = load_study(folder() / "quicbench" / f"{part}.toml", catalogue.ccas(), catalogue.reference_of)
    return expand(study, profile=profile, reference_of=catalogue.reference_of)


def share(who: str, whom: str) -> float:
    """Percent, in a world that is as the paper says: mvfst over all QUIC over TCP."""
    rank = {"tcp": 0, "quinn-lab": 2}
    ahead = rank.get(who.partition(" ")[0], 1) - rank.get(whom.partition(" ")[0], 1)
    return 50.0 + 20.0 * max(-1, min(1, ahead))


def conformance(who: str, buffer_bdp: float) -> float:
    """Low, but for mvfst's BBR with a gain of 100 %; BBR's is higher behind deep buffers."""
    if who == "quinn-lab bbr-ack10":
        return 0.8
    return 0.3 if buffer_bdp < 5 else 0.5


def frame(
    part: str, profile: str | None = "quick", *, opposite: bool = False, kernel: float = 0.9
) -> pl.DataFrame:
    """What a run of ``part`` would show in that world, or in its opposite; seeds scatter by a percent.

    ``kernel``: the kernel's conformance to itself.
    """
    rows = []
    for group in groups(part, profile):
        for trial in group.trials:
            network, names = trial.network, [flow.contestant.name for flow in trial.flows]
            assert network.buffer_bdp is not None
            for number, who in enumerate(names):
                whom = names[1 - number]
                scatter = 1 + trial.seed % 3 / 100
                has = share(who, whom) if not opposite else 100 - share(who, whom)
                versus = group.design == "versus-reference" and not group.placebo
                tested = number == 0 and (group.placebo or (versus and who != group.reference))
                alike = kernel if group.placebo else conformance(who, network.buffer_bdp)
                shown = (1 - alike if opposite else alike) * scatter if tested else None
                rows.append(
                    {
                        "trial": f"{group.key}-{trial.seed}-{trial.positions[0]}",
                        "placebo": group.placebo,
                        "reference": group.reference,
                        "seed": trial.seed,
                        "flow": number,
                        "contestant": who,
                        "stack": who.partition(" ")[0],
                        "cca": who.partition(" ")[2],
                        "against": whom,
                        "protocol": "tcp" if who.startswith("tcp") else "quic",
                        "network": group.network,
                        "rate_mbps": network.rate_mbps,
                        "rtt_ms": network.rtt_ms,
                        "buffer_bdp": network.buffer_bdp,
                        "share_percent": has * scatter,
                        "conformance": shown,
                    }
                )
    return pl.DataFrame(rows, infer_schema_length=None)


def test_the_full_grid_is_the_papers() -> None:
    found = groups("envelopes", None)
    assert len({group.network for group in found}) == 16
    # five seeds, each in both orders
    assert {(len(group.trials), group.orders, group.trials[0].duration_s) for group in found} == {
        (10, 2, 120.0)
    }
    named = {group.network for group in groups("pairs", None)}
    assert named == {f"20mbps-50ms-{buffer}bdp" for buffer in ("0.5", "1", "3", "5")}


def test_every_implementation_with_a_reference_is_there() -> None:
    """But the lab's, whose presets are the controls."""
    there = {(group.subject, group.reference) for group in groups("envelopes", None)}
    ours = {path.parent.name for path in folder().parent.glob("stacks/*/manifest.toml")}
    assert len(ours) > 15
    for stack, ccas in catalogue.ccas().items():
        for cca in ccas:
            reference = catalogue.reference_of(stack, cca)
            # other tests of the same process bring stacks of their own
            if stack in {"tcp", "tcp-h2", "quinn-lab"} or stack not in ours or reference is None:
                continue
            assert (f"{stack} {cca}", f"tcp {reference}") in there


@pytest.mark.parametrize("comparison", COMPARISONS.values(), ids=lambda one: one.name)
def test_every_published_figure_has_a_measured_one(comparison: Comparison) -> None:
    part = comparison.measured.part.removeprefix("quicbench/")
    found = compare(comparison, PAPER, frame(part)).frame
    assert set(found["agrees"]) <= {"agrees", "inside", "near"}, found
    against = compare(comparison, PAPER, frame(part, opposite=True)).frame
    assert set(against["agrees"]) <= {"disagrees", "lower", "higher"}, against


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_each_claim_holds_in_a_world_like_the_papers_and_not_in_its_opposite(claim: Claim) -> None:
    theirs = Folder({f"quicbench/{part}": frame(part) for part in PARTS})
    other = Folder({f"quicbench/{part}": frame(part, opposite=True) for part in PARTS})
    if claim.not_available:
        assert judge(claim, theirs).verdict == "not available"
        return
    assert judge(claim, theirs).verdict == "holds"
    assert judge(claim, other).verdict == "doesn't hold"
    assert judge(claim, Folder({})).verdict == "not run"


def test_a_kernel_that_is_as_unlike_itself_shows_no_speciation() -> None:
    """Its own deficit was above 0 on real trials: what a stack lacks counts beside what the kernel lacks."""
    claim = next(one for one in CLAIMS if one.id == "quicbench-speciation")
    alike = Folder({"quicbench/envelopes": frame("envelopes", kernel=0.45)})
    assert judge(claim, alike).verdict == "doesn't hold"


@pytest.mark.parametrize("part", PARTS)
def test_the_quick_profile_has_enough_trials_for_an_interval(part: str) -> None:
    assert min(len(group.trials) for group in groups(part, "quick")) >= 3


def test_the_stand_in_for_mvfst_is_no_quic_stack() -> None:
    claim = next(one for one in CLAIMS if one.id == "quicbench-quic-outperforms-tcp")
    starved = pl.when(pl.col("contestant") == "quinn-lab mvfst-bbr").then(1.0).otherwise("share_percent")
    seen = frame("pairs", None).with_columns(share_percent=starved)
    assert judge(claim, Folder({"quicbench/pairs": seen})).verdict == "holds"
    found = compare(COMPARISONS["outperforms"], PAPER, seen).frame
    assert found.filter(pl.col("side") == "QUIC stacks in general")["agrees"].to_list() == ["agrees"]
    assert "at most eight implementations of five stacks" in claim.why_differ
    flows = [flow for group in groups("pairs", None) for flow in group.trials[0].flows]
    ours = {(one.contestant.stack, one.contestant.cca) for one in flows}
    ours = {(stack, cca) for stack, cca in ours if stack not in {"tcp", "quinn-lab"}}
    assert (len(ours), len({stack for stack, _ in ours})) == (8, 5)


def test_a_later_bbr_is_not_judged_by_the_first_one() -> None:
    """The kernel has BBR of version 1 alone."""
    claim = next(one for one in CLAIMS if one.id == "quicbench-speciation")
    # by its source or its manifest, bbr of ngtcp2 and of s2n-quic is version 2
    later = pl.col("cca").is_in(["bbr2", "bbr2_gcongestion", "bbr3"]) | pl.col("contestant").is_in(
        ["ngtcp2 bbr", "s2n-quic bbr"]
    )
    seen = frame("envelopes", None, opposite=True)
    assert seen.filter(later).height
    # so unlike the kernel that they would decide
    seen = seen.with_columns(conformance=pl.when(later).then(-10.0).otherwise("conformance"))
    assert judge(claim, Folder({"quicbench/envelopes": seen})).verdict == "doesn't hold"
