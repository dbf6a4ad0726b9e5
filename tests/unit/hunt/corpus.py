"""The counterexamples of studies/hunted: file → contestant, broken property, situation."""

from __future__ import annotations

from cambrian.hunt.situation import Situation

HUNTED = {
    "quinn-bbr-no-flood": ("quinn/bbr", "no-flood", Situation()),
    "msquic-bbr-no-flood": ("msquic/bbr", "no-flood", Situation()),
    "msquic-bbr-nothing-in-vain": ("msquic/bbr", "nothing-in-vain", Situation()),
    "ngtcp2-cubic-no-flood": ("ngtcp2/cubic", "no-flood", Situation(reorder_percent=1.0)),
    "ngtcp2-0.12-cubic-no-flood": ("ngtcp2-0.12/cubic", "no-flood", Situation(rtt_ms=200.0)),
    "ngtcp2-0.12-bbr-no-flood": ("ngtcp2-0.12/bbr", "no-flood", Situation()),
    "noq-bbr3-fills": ("noq/bbr3", "fills", Situation()),
    "quiche-cubic-full-packets": ("quiche/cubic", "full-packets", Situation()),
    "quiche-cubic-answers-losses": ("quiche/cubic", "answers-losses", Situation(loss_every_packets=300)),
    "quiche-0.24-cubic-full-packets": ("quiche-0.24/cubic", "full-packets", Situation()),
    "quiche-0.24-reno-carries-as-much": ("quiche-0.24/reno", "carries-as-much", Situation(buffer_bdp=0.25)),
    "quiche-0.24-bbr-nothing-in-vain": ("quiche-0.24/bbr", "nothing-in-vain", Situation(queue="codel")),
    "quiche-0.24-bbr2-fills": ("quiche-0.24/bbr2", "fills", Situation()),
    "s2n-quic-cubic-carries-as-much": ("s2n-quic/cubic", "carries-as-much", Situation(buffer_bdp=0.25)),
    "msquic-cubic-drops-no-more": ("msquic/cubic", "drops-no-more", Situation(loss_percent=1.0)),
    "nginx-builtin-no-flood": ("nginx/builtin", "no-flood", Situation(queue="codel")),
    "ngtcp2-0.12-bbr-not-starved": ("ngtcp2-0.12/bbr", "not-starved", Situation(rival="together")),
    "quiche-0.24-reno-recovers": (
        "quiche-0.24/reno",
        "recovers",
        Situation(rate_mbps=20.0, event="blackout"),
    ),
    "x-net-quic-reno-carries-as-much": ("x-net-quic/reno", "carries-as-much", Situation(buffer_bdp=0.25)),
    "tquic-bbr-no-flood": ("tquic/bbr", "no-flood", Situation(reorder_percent=1.0)),
    "tquic-bbr3-fills": ("tquic/bbr3", "fills", Situation(rtt_ms=20.0)),
}
