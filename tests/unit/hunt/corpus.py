"""The counterexamples of studies/hunted: file → contestant, broken property, situation."""

from __future__ import annotations

from cambrian.hunt.situation import Situation

HUNTED = {
    "quinn-bbr-no-flood": ("quinn/bbr", "no-flood", Situation()),
    "aioquic-cubic-recovers": ("aioquic/cubic", "recovers", Situation(event="blackout")),
    "haproxy-cubic-carries-as-much": (
        "haproxy/cubic",
        "carries-as-much",
        Situation(rate_mbps=20.0, rtt_ms=200.0, loss_every_packets=1000),
    ),
    "msquic-bbr-no-flood": ("msquic/bbr", "no-flood", Situation()),
    "msquic-bbr-nothing-in-vain": ("msquic/bbr", "nothing-in-vain", Situation()),
    "nginx-builtin-no-flood": ("nginx/builtin", "no-flood", Situation()),
    "nginx-builtin-starves-nobody": ("nginx/builtin", "starves-nobody", Situation(rival="together")),
    "ngtcp2-cubic-carries-no-more": (
        "ngtcp2/cubic",
        "carries-no-more",
        Situation(rate_mbps=20.0, rtt_ms=200.0, loss_every_packets=1000),
    ),
    "ngtcp2-cubic-no-flood": ("ngtcp2/cubic", "no-flood", Situation(reorder_percent=1.0)),
    "ngtcp2-bbr-not-starved": ("ngtcp2/bbr", "not-starved", Situation(rival="earlier")),
    "ngtcp2-0.12-cubic-no-flood": ("ngtcp2-0.12/cubic", "no-flood", Situation(rtt_ms=200.0)),
    "ngtcp2-0.12-bbr-no-flood": ("ngtcp2-0.12/bbr", "no-flood", Situation()),
    "ngtcp2-0.12-bbr2-no-flood": ("ngtcp2-0.12/bbr2", "no-flood", Situation(loss_every_packets=300)),
    "noq-bbr3-fills": ("noq/bbr3", "fills", Situation()),
    "quic-go-reno-carries-no-more": (
        "quic-go/reno",
        "carries-no-more",
        Situation(rate_mbps=20.0, rtt_ms=200.0, loss_every_packets=1000),
    ),
    "quiche-cubic-full-packets": ("quiche/cubic", "full-packets", Situation()),
    "quiche-cubic-answers-losses": ("quiche/cubic", "answers-losses", Situation(loss_every_packets=300)),
    "quiche-reno-full-packets": ("quiche/reno", "full-packets", Situation(buffer_bdp=4.0)),
    "quiche-0.24-cubic-full-packets": ("quiche-0.24/cubic", "full-packets", Situation()),
    "quiche-0.24-reno-carries-as-much": ("quiche-0.24/reno", "carries-as-much", Situation(buffer_bdp=0.25)),
    "quiche-0.24-bbr-nothing-in-vain": ("quiche-0.24/bbr", "nothing-in-vain", Situation(queue="codel")),
    "quiche-0.24-bbr2-fills": ("quiche-0.24/bbr2", "fills", Situation()),
    "quiche-0.24-bbr2-nothing-in-vain": (
        "quiche-0.24/bbr2",
        "nothing-in-vain",
        Situation(rate_mbps=10.0, loss_percent=3.0),
    ),
    "s2n-quic-cubic-carries-as-much": ("s2n-quic/cubic", "carries-as-much", Situation(buffer_bdp=0.25)),
    "tquic-bbr-no-flood": ("tquic/bbr", "no-flood", Situation(reorder_percent=1.0)),
    "tquic-bbr-not-starved": ("tquic/bbr", "not-starved", Situation(rival="earlier")),
    "tquic-bbr3-fills": ("tquic/bbr3", "fills", Situation(rtt_ms=20.0)),
    "x-net-quic-reno-carries-as-much": (
        "x-net-quic/reno",
        "carries-as-much",
        Situation(loss_every_packets=300),
    ),
}
