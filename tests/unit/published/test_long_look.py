"""The long-look suite: its studies have the cells that its tests need, and these can fail."""

from __future__ import annotations

import functools

import polars as pl
import pytest

from cambrian.claims import load as ledger
from cambrian.claims.model import Claim
from cambrian.claims.verdicts import judge
from cambrian.effects.cells import cells
from cambrian.published import load
from cambrian.published.compare import compare
from cambrian.published.model import Comparison
from cambrian.report.suite.sections import Section, sections
from cambrian.stacks import catalogue
from cambrian.study.builtin import folder
from cambrian.study.expand import expand
from cambrian.study.load import load_study
from cambrian.study.model import Flow, Group, Network
from cambrian.suites import model
from tests.unit.claims.ledgers import Folder

PAPER = load.folder("long-look")
SUITE, SUITE_FILE = model.read(folder() / "long-look" / model.FILE)
PARTS = SUITE.parts
SECTIONS = sections(SUITE_FILE, ())
CLAIMS = [claim for claim in ledger.load().claims if claim.paper == "long-look"]
PROFILES = ("quick", None)


@functools.cache
def groups(part: str, profile: str | None) -> list[Group]:
    study = load_study(folder() / "long-look" / f"{part}.toml", catalogue.ccas(), catalogue.reference_of)
    return expand(study, profile=profile, reference_of=catalogue.reference_of)


def plt_ms(network: Network, flow: Flow) -> float:
    """Load times of a world that is as the paper says; TCP's is 1000."""
    who = flow.contestant
    if who.stack == "tcp-h2":
        return 1000.0
    if network.jitter_ms:
        return 900.0 if float(who.options.get("packet_threshold", 3)) > 30 else 2000.0
    return 850.0 + (network.rate_mbps or 0) if who.receiver_cpu else 800.0


def row(network: Network, flow: Flow, flows: int, opposite: bool) -> dict[str, object]:
    """What is measured of one flow: as the paper says, or the other way round."""
    who, page = flow.contestant, flow.page
    tcp = who.stack.startswith("tcp")
    theirs = {
        "plt_ms": plt_ms(network, flow),
        "spurious_loss_percent": 5.0 if tcp else 95.0,
        "share_percent": 40 / (flows - 1) if tcp and flows > 1 else 60.0,
        "cwnd_mean_packets": 20.0 if tcp else 60.0,
        "cwnd_growth_packets_per_s": 20.0 if tcp else 60.0,
        "cwnd_rises_per_s": 20.0 if tcp else 60.0,
        "throughput_mbps": 80.0,
        "state.application_limited_percent": 58.0 if who.receiver_cpu else 7.0,
    }
    on_a_phone_ms = 900.0 if tcp else 1500.0 - (network.rate_mbps or 0)
    mirrored = {
        "plt_ms": 2000 - theirs["plt_ms"] if page and not who.receiver_cpu else on_a_phone_ms,
        "spurious_loss_percent": 95.0 if tcp else 5.0,
        "share_percent": 100 - theirs["share_percent"],
        "cwnd_mean_packets": 60.0 if tcp else 20.0,
        "cwnd_growth_packets_per_s": 60.0 if tcp else 20.0,
        "cwnd_rises_per_s": 60.0 if tcp else 20.0,
        "throughput_mbps": 80.0,
        "state.application_limited_percent": 7.0 if who.receiver_cpu else 58.0,
    }
    measured: dict[str, object] = dict(mirrored if opposite else theirs)
    return {
        "contestant": who.name,
        "stack": who.stack,
        "cca": who.cca,
        "protocol": "tcp" if tcp else "quic",
        "network": network.name,
        "rate_mbps": network.rate_mbps,
        "rtt_ms": network.rtt_ms,
        "loss_percent": network.loss_percent,
        "cpu_per_syscall_us": who.receiver_cpu.per_syscall_us if who.receiver_cpu else 0.0,
        "page": page.name if page else None,
        "page_bytes": page.size_bytes if page else None,
        "page_objects": page.count if page else None,
        "option.packet_threshold": who.options.get("packet_threshold"),
        "option.time_threshold": who.options.get("time_threshold"),
        **measured,
    }


@functools.cache
def frame(part: str, profile: str | None, opposite: bool = False) -> pl.DataFrame:
    """Observations of ``part`` in such a world."""
    found = [
        {"trial": f"{group.key}-{trial.seed}", "seed": trial.seed, "lineup": group.subject}
        | row(trial.network.model_copy(update={"name": group.network}), flow, len(trial.flows), opposite)
        for group in groups(part, profile)
        for trial in group.trials
        for flow in trial.flows
    ]
    return pl.DataFrame(found, infer_schema_length=None)


def world(profile: str | None, opposite: bool = False) -> Folder:
    return Folder({f"long-look/{part}": frame(part, profile, opposite) for part in PARTS})


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_each_claim_holds_in_a_world_like_the_papers_and_not_in_its_opposite(
    claim: Claim, profile: str | None
) -> None:
    assert judge(claim, world(profile)).verdict == "holds"
    assert judge(claim, world(profile, opposite=True)).verdict == "doesn't hold"
    assert judge(claim, Folder({})).verdict == "not run"


@pytest.mark.parametrize("comparison", load.comparisons(PAPER).values(), ids=lambda one: one.name)
def test_the_quick_profile_runs_what_is_compared(comparison: Comparison) -> None:
    part = comparison.measured.part.removeprefix("long-look/")
    ours = compare(comparison, PAPER, frame(part, "quick")).frame
    assert "not run" not in set(ours["agrees"])
    assert "not run" in set(compare(comparison, PAPER, None).frame["agrees"])


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(
    "section", [one for one in SECTIONS if one.heat or one.lines], ids=lambda one: one.heading
)
def test_each_figure_has_cells_with_three_trials_and_more(section: Section, profile: str | None) -> None:
    shown = section.heat or section.lines
    assert shown is not None
    found = cells(frame(shown.part.removeprefix("long-look/"), profile), shown.spec)
    assert found.height >= 2
    assert all(trials >= 3 for trials in found["trials_a"])


def test_a_page_load_has_one_client_in_a_part() -> None:
    """The two clients acknowledge differently, so no comparison may mix them."""
    for part in PARTS:
        clients = {
            flow.client
            for group in groups(part, None)
            for trial in group.trials
            for flow in trial.flows
            if flow.page
        }
        assert len(clients) <= 1
