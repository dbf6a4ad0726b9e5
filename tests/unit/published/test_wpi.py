"""The claims about the WPI thesis, judged on the thesis's own tables: which of them these bear out."""

from __future__ import annotations

import functools
import itertools

import polars as pl
import pytest

from cambrian.claims import load as ledger
from cambrian.claims.verdicts import judge
from cambrian.published import load
from tests.unit.claims.ledgers import Folder

PAPER = load.folder("wpi")
CLAIMS = {claim.id: claim for claim in ledger.load().claims if claim.paper == "wpi"}
SEEDS = range(1, 6)
#: what its own tables contradict, and where published/wpi/README.md says so, or the claim itself
NOT_IN_ITS_TABLES = {
    "wpi-no-loss-gain-short-delay",  # 0.9 % at 4 Mbps and 50 ms
    "wpi-no-loss-parity-all-delays",
    "wpi-quic-nears-tcp-at-high-bdp",
}
#: what no table of it tells
OF_OTHER_DATA = {
    "wpi-quic-smaller-packets",
    "wpi-smaller-packets-more-queue-loss",
    "wpi-tcp-transfer-ends-sooner",
    "wpi-internet-quic-held-low",
    "wpi-quic-falls-after-several-losses",
}


@functools.cache
def alone() -> pl.DataFrame:
    """Tables 4.1 to 4.4: runs of each cell that have its mean, and its SD to a constant factor."""
    cells = pl.concat([pl.read_csv(PAPER / f"table_4_{number}.csv") for number in range(1, 5)]).to_dicts()
    rows = [
        {
            "trial": f"{number}-{seed}",
            "seed": seed,
            "contestant": "tcp cubic" if cell["protocol"] == "tcp" else "google-quiche cubic",
            "rate_mbps": float(cell["rate_mbps"]),
            "rtt_ms": float(cell["one_way_delay_ms"]),
            "loss_percent": float(cell["loss_percent"]),
            "payload_mbps": cell["throughput_mbps"] + (seed - 3) * cell["sd_mbps_inferred"] / 1000,
        }
        for (number, cell), seed in itertools.product(enumerate(cells), SEEDS)
    ]
    return pl.DataFrame(rows)


@functools.cache
def competing() -> pl.DataFrame:
    """Table 4.5, a TCP flow for each as large as their mean, which makes Jain's index an upper bound."""
    derived = pl.read_csv(PAPER / "figures_4_3_4_4_derived.csv").to_dicts()
    rows = []
    for (number, cell), seed in itertools.product(enumerate(derived), SEEDS):
        mbps = [cell["quic_mbps"], *[cell["tcp_mean_per_flow_mbps"]] * cell["tcp_flows"]]
        for flow, throughput in enumerate(mbps):
            rows.append(
                {
                    "trial": f"{number}-{seed}",
                    "seed": seed,
                    "lineup": f"1-quic-{cell['tcp_flows']}-tcp",
                    "flows": len(mbps),
                    "stack": "tcp" if flow else "google-quiche",
                    "rate_mbps": float(cell["rate_mbps"]),
                    "rtt_ms": float(cell["one_way_delay_ms"]),
                    "throughput_mbps": throughput,
                    "payload_capacity_percent": 100 * throughput / cell["rate_mbps"],
                    "jain": cell["jain_index_equal_tcp_flows"],
                }
            )
    return pl.DataFrame(rows)


THESIS = Folder({"wpi/grid": alone(), "wpi/competing": competing()})


@pytest.mark.parametrize("name", CLAIMS)
def test_a_claim_holds_of_the_thesiss_own_tables_unless_these_contradict_it(name: str) -> None:
    verdict = judge(CLAIMS[name], THESIS).verdict
    if name in OF_OTHER_DATA:
        assert verdict in {"not run", "not available"}
    else:
        assert verdict == ("doesn't hold" if name in NOT_IN_ITS_TABLES else "holds")


@pytest.mark.parametrize(
    ("name", "part", "column", "tells"),
    [
        ("wpi-quic-smaller-packets", "wpi/grid", "packet_mean_bytes", (1308.0, 1500.0)),
        ("wpi-smaller-packets-more-queue-loss", "wpi/grid", "interval_queue_loss_percent", (0.3, 0.1)),
        ("wpi-quic-falls-after-several-losses", "wpi/wireless", "payload_mbps", (3.0, 8.0)),
    ],
)
def test_a_claim_of_other_data_holds_in_a_world_like_the_thesiss_and_not_in_its_opposite(
    name: str, part: str, column: str, tells: tuple[float, float]
) -> None:
    def world(first: float, second: float) -> Folder:
        """``first`` is QUIC's, or with bursts of losses; ``second`` TCP's, or with single ones."""
        rows = alone().filter(loss_percent=0)
        quic = pl.col("contestant") == "google-quiche cubic"
        if part == "wpi/wireless":
            networks = [rows.filter(quic).with_columns(network=pl.lit(one))
                        for one in ("burst-loss", "random-loss")]  # fmt: skip
            rows = pl.concat(networks).with_columns(trial=pl.col("network") + pl.col("trial"))
            quic = pl.col("network") == "burst-loss"
        value = pl.when(quic).then(first).otherwise(second) * (1 + pl.col("seed") / 1000)
        return Folder({part: rows.with_columns(value.alias(column))})

    assert judge(CLAIMS[name], world(*tells)).verdict == "holds"
    assert judge(CLAIMS[name], world(*tells[::-1])).verdict == "doesn't hold"


def test_tcp_falls_at_every_step_of_delay_in_the_tables() -> None:
    """Rates by loss of 1 and 2 % by steps from 25 to 200 ms: 4 x 2 x 3, without the exception once named."""
    tcp = alone().filter((pl.col("contestant") == "tcp cubic") & (pl.col("loss_percent") >= 1))
    means = tcp.group_by("rate_mbps", "loss_percent", "rtt_ms").agg(pl.col("payload_mbps").mean())
    falls = means.sort("rtt_ms").group_by("rate_mbps", "loss_percent").agg(
        (pl.col("payload_mbps").diff().drop_nulls() < 0).sum()
    )  # fmt: skip
    assert falls["payload_mbps"].sum() == 24
