"""The network of a trial, as in the study."""

from __future__ import annotations

from cambrian.measure.quantity import FLOAT, INTEGER, TEXT, TRUTH, Quantity

QUANTITIES = (
    Quantity("network", "its name in the study", TEXT, "network"),
    Quantity("rate_mbps", "rate of the bottleneck; null on a trace", FLOAT, "network"),
    Quantity("rtt_ms", "base round-trip time, the network's", FLOAT, "network"),
    Quantity(
        "forward_delay_percent",
        "delay of the forward path, % of the base round-trip time",
        FLOAT,
        "network",
    ),
    Quantity("loss_percent", "random losses before the bottleneck, as set", FLOAT, "network"),
    Quantity("return_loss_percent", "random losses of packets on the way back, as set", FLOAT, "network"),
    Quantity("burst_loss", "losses come in bursts", TRUTH, "network"),
    Quantity("loss_every_packets", "each n-th packet is lost", INTEGER, "network"),
    Quantity("reorder_percent", "packets sent ahead of those before them", FLOAT, "network"),
    Quantity("duplicate_percent", "packets sent twice", FLOAT, "network"),
    Quantity("jitter_ms", "variation of the forward delay", FLOAT, "network"),
    Quantity("buffer_bdp", "as written, else null", FLOAT, "network"),
    Quantity("buffer_bytes", "as built", INTEGER, "network"),
    Quantity("queue", "droptail, or the AQM's name", TEXT, "network"),
    Quantity("ecn", "the queue marks, and kernel TCP asks for ECN", TRUTH, "network"),
    Quantity("offload", "senders' kernels cut large packets just before the link", TRUTH, "network"),
    Quantity("trace", "the link follows a trace (rate_mbps is null then)", TRUTH, "network"),
    Quantity("schedule_steps", "0: nothing changes midway", INTEGER, "network"),
)
