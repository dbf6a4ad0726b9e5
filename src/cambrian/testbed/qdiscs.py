"""Queueing disciplines that pyroute2 lacks or sets less exactly than we need.

pyroute2 finds a qdisc's encoder by name in ``tcmsg.plugins``; :func:`register` adds
ours. Layouts are those of ``include/uapi/linux/pkt_sched.h``. Times go in nanoseconds
where the kernel takes them (netem's LATENCY64), rates as 64 bits, buckets in bytes:
the legacy tick fields would round both.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from pyroute2.netlink import nla
from pyroute2.netlink.rtnl import TC_H_ROOT
from pyroute2.netlink.rtnl.tcmsg import plugins

LINKLAYER_ETHERNET = 1
#: the newer qdiscs insist on it
NLA_F_NESTED = 0x8000
NETEM_LIMIT_PACKETS = 1_000_000


def percent_to_u32(percent: float) -> int:
    """A probability in percent as netem's 32-bit fraction (100 % = 2^32 − 1)."""
    return min(round(percent / 100 * 2**32), 2**32 - 1)


class _Netem(nla):  # type: ignore[misc]
    nla_map = (
        ("TCA_NETEM_UNSPEC", "none"),
        ("TCA_NETEM_CORR", "none"),
        ("TCA_NETEM_DELAY_DIST", "none"),
        ("TCA_NETEM_REORDER", "reorder"),
        ("TCA_NETEM_CORRUPT", "none"),
        ("TCA_NETEM_LOSS", "loss_model"),
        ("TCA_NETEM_RATE", "none"),
        ("TCA_NETEM_ECN", "uint32"),
        ("TCA_NETEM_RATE64", "uint64"),
        ("TCA_NETEM_PAD", "none"),
        ("TCA_NETEM_LATENCY64", "int64"),
        ("TCA_NETEM_JITTER64", "int64"),
        ("TCA_NETEM_SLOT", "none"),
        ("TCA_NETEM_SLOT_DIST", "none"),
        ("TCA_NETEM_PRNG_SEED", "uint64"),
    )
    fields = (
        ("latency", "I"),
        ("limit", "I"),
        ("loss", "I"),
        ("gap", "I"),
        ("duplicate", "I"),
        ("jitter", "I"),
    )

    class reorder(nla):  # type: ignore[misc]
        fields = (("probability", "I"), ("correlation", "I"))

    class loss_model(nla):  # type: ignore[misc]
        nla_map = (
            ("NETEM_LOSS_UNSPEC", "none"),
            ("NETEM_LOSS_GI", "none"),
            ("NETEM_LOSS_GE", "gilbert_elliott"),
        )

        class gilbert_elliott(nla):  # type: ignore[misc]
            fields = (("p", "I"), ("r", "I"), ("h", "I"), ("k1", "I"))


def _netem(args: dict[str, Any]) -> dict[str, Any]:
    attrs: list[Any] = [
        ["TCA_NETEM_LATENCY64", args["delay_ns"]],
        ["TCA_NETEM_JITTER64", args.get("jitter_ns", 0)],
    ]
    if args.get("reorder_percent"):
        attrs.append(
            ["TCA_NETEM_REORDER", {"probability": percent_to_u32(args["reorder_percent"]), "correlation": 0}]
        )
    if burst := args.get("burst_loss"):
        # h and k1 as tc hands them over: 1 − loss in the bad state, loss in the good state
        model = {
            "p": percent_to_u32(burst["good_to_bad_percent"]),
            "r": percent_to_u32(burst["bad_to_good_percent"]),
            "h": percent_to_u32(100 - burst["loss_in_bad_percent"]),
            "k1": percent_to_u32(burst["loss_in_good_percent"]),
        }
        attrs.append(["TCA_NETEM_LOSS", {"attrs": [["NETEM_LOSS_GE", model]]}])
    if "prng_seed" in args:
        attrs.append(["TCA_NETEM_PRNG_SEED", args["prng_seed"]])
    return {
        "latency": 0,
        "limit": NETEM_LIMIT_PACKETS,
        "loss": percent_to_u32(args.get("loss_percent", 0)),
        # a gap of 1 lets every packet be a candidate for overtaking
        "gap": 1 if args.get("reorder_percent") else 0,
        "duplicate": percent_to_u32(args.get("duplicate_percent", 0)),
        "jitter": 0,
        "attrs": attrs,
    }


class _Tbf(nla):  # type: ignore[misc]
    nla_map = (
        ("TCA_TBF_UNSPEC", "none"),
        ("TCA_TBF_PARMS", "parms"),
        ("TCA_TBF_RTAB", "none"),
        ("TCA_TBF_PTAB", "none"),
        ("TCA_TBF_RATE64", "uint64"),
        ("TCA_TBF_PRATE64", "uint64"),
        ("TCA_TBF_BURST", "uint32"),
        ("TCA_TBF_PBURST", "uint32"),
    )

    class parms(nla):  # type: ignore[misc]
        fields = (
            ("rate_cell_log", "B"),
            ("rate_linklayer", "B"),
            ("rate_overhead", "H"),
            ("rate_cell_align", "h"),
            ("rate_mpu", "H"),
            ("rate", "I"),
            ("peak_cell_log", "B"),
            ("peak_linklayer", "B"),
            ("peak_overhead", "H"),
            ("peak_cell_align", "h"),
            ("peak_mpu", "H"),
            ("peak", "I"),
            ("limit", "I"),
            ("buffer", "I"),
            ("mtu", "I"),
        )


def _tbf(args: dict[str, Any]) -> dict[str, Any]:
    """Token bucket: ``rate_bps`` in bit/s, ``burst_bytes``, ``limit_bytes`` (its drop-tail queue)."""
    bytes_per_s = round(args["rate_bps"] / 8)
    parms = {
        # naming the link layer spares the legacy rate table
        "rate_linklayer": LINKLAYER_ETHERNET,
        "rate": min(bytes_per_s, 2**32 - 1),
        "limit": args["limit_bytes"],
    }
    attrs: list[Any] = [["TCA_TBF_PARMS", parms]]
    if bytes_per_s >= 2**32:
        attrs.append(["TCA_TBF_RATE64", bytes_per_s])
    attrs.append(["TCA_TBF_BURST", args["burst_bytes"]])
    return {"attrs": attrs}


class _Pie(nla):  # type: ignore[misc]
    nla_map = (
        ("TCA_PIE_UNSPEC", "none"),
        ("TCA_PIE_TARGET", "uint32"),
        ("TCA_PIE_LIMIT", "uint32"),
        ("TCA_PIE_TUPDATE", "uint32"),
        ("TCA_PIE_ALPHA", "uint32"),
        ("TCA_PIE_BETA", "uint32"),
        ("TCA_PIE_ECN", "uint32"),
        ("TCA_PIE_BYTEMODE", "uint32"),
    )


class _FqPie(nla):  # type: ignore[misc]
    nla_flags = NLA_F_NESTED
    nla_map = (
        ("TCA_FQ_PIE_UNSPEC", "none"),
        ("TCA_FQ_PIE_LIMIT", "uint32"),
        ("TCA_FQ_PIE_FLOWS", "uint32"),
        ("TCA_FQ_PIE_TARGET", "uint32"),
        ("TCA_FQ_PIE_TUPDATE", "uint32"),
        ("TCA_FQ_PIE_ALPHA", "uint32"),
        ("TCA_FQ_PIE_BETA", "uint32"),
        ("TCA_FQ_PIE_QUANTUM", "uint32"),
        ("TCA_FQ_PIE_MEMORY_LIMIT", "uint32"),
        ("TCA_FQ_PIE_ECN_PROB", "uint32"),
        ("TCA_FQ_PIE_ECN", "uint32"),
    )


class _Codel(nla):  # type: ignore[misc]
    nla_map = (
        ("TCA_CODEL_UNSPEC", "none"),
        ("TCA_CODEL_TARGET", "uint32"),
        ("TCA_CODEL_LIMIT", "uint32"),
        ("TCA_CODEL_INTERVAL", "uint32"),
        ("TCA_CODEL_ECN", "uint32"),
    )


class _FqCodel(nla):  # type: ignore[misc]
    nla_map = (
        ("TCA_FQ_CODEL_UNSPEC", "none"),
        ("TCA_FQ_CODEL_TARGET", "uint32"),
        ("TCA_FQ_CODEL_LIMIT", "uint32"),
        ("TCA_FQ_CODEL_INTERVAL", "uint32"),
        ("TCA_FQ_CODEL_ECN", "uint32"),
        ("TCA_FQ_CODEL_FLOWS", "uint32"),
        ("TCA_FQ_CODEL_QUANTUM", "uint32"),
        ("TCA_FQ_CODEL_CE_THRESHOLD", "uint32"),
        ("TCA_FQ_CODEL_DROP_BATCH_SIZE", "uint32"),
        ("TCA_FQ_CODEL_MEMORY_LIMIT", "uint32"),
    )


class _Cake(nla):  # type: ignore[misc]
    nla_map = (
        ("TCA_CAKE_UNSPEC", "none"),
        ("TCA_CAKE_PAD", "none"),
        ("TCA_CAKE_BASE_RATE64", "uint64"),
        ("TCA_CAKE_DIFFSERV_MODE", "uint32"),
        ("TCA_CAKE_ATM", "uint32"),
        ("TCA_CAKE_FLOW_MODE", "uint32"),
        ("TCA_CAKE_OVERHEAD", "int32"),
        ("TCA_CAKE_RTT", "uint32"),
        ("TCA_CAKE_TARGET", "uint32"),
        ("TCA_CAKE_AUTORATE", "uint32"),
        ("TCA_CAKE_MEMORY", "uint32"),
    )


class _Dualpi2(nla):  # type: ignore[misc]
    nla_flags = NLA_F_NESTED
    nla_map = (
        ("TCA_DUALPI2_UNSPEC", "none"),
        ("TCA_DUALPI2_LIMIT", "uint32"),
        ("TCA_DUALPI2_MEMORY_LIMIT", "uint32"),
        ("TCA_DUALPI2_TARGET", "uint32"),
        ("TCA_DUALPI2_TUPDATE", "uint32"),
    )


class _Fq(nla):  # type: ignore[misc]
    # include/uapi/linux/pkt_sched.h, the first of them
    nla_map = (
        ("TCA_FQ_UNSPEC", "none"),
        ("TCA_FQ_PLIMIT", "uint32"),
        ("TCA_FQ_FLOW_PLIMIT", "uint32"),
    )


def _fq(args: dict[str, Any]) -> dict[str, Any]:
    """Fair queueing: the buffer is shared, so that one flow may fill it."""
    limit = args["limit_packets"]
    return {"attrs": [["TCA_FQ_PLIMIT", limit], ["TCA_FQ_FLOW_PLIMIT", limit]]}


class _Red(nla):  # type: ignore[misc]
    nla_map = (
        ("TCA_RED_UNSPEC", "none"),
        ("TCA_RED_PARMS", "parms"),
        ("TCA_RED_STAB", "cdata"),
        ("TCA_RED_MAX_P", "uint32"),
    )

    class parms(nla):  # type: ignore[misc]
        fields = (
            ("limit", "I"),
            ("qth_min", "I"),
            ("qth_max", "I"),
            ("wlog", "B"),
            ("plog", "B"),
            ("scell_log", "B"),
            ("flags", "B"),
        )


_RED_ECN = 1
_RED_ADAPTATIVE = 8
_RED_WLOG = 9  # queue average weight 2^-9, RFC 2309's usual 0.002
#: the kernel takes a threshold and a weight that have together fewer than 32 bits
_RED_BITS = 31
_RED_MAX_PROBABILITY = 0.02


def _red(args: dict[str, Any]) -> dict[str, Any]:
    """Adaptive RED over ``limit_bytes``: thresholds at 1/12 and 1/4 of the buffer, as tc's defaults.

    From 16 MiB on, the average has the smallest weight that the kernel takes.
    """
    qth_max = args["limit_bytes"] // 4
    qth_min = qth_max // 3
    parms = {
        "limit": args["limit_bytes"],
        "qth_min": qth_min,
        "qth_max": qth_max,
        "wlog": min(_RED_WLOG, _RED_BITS - qth_max.bit_length()),
        # plog: log2((qth_max − qth_min) / P); the kernel wants it although MAX_P overrides it
        "plog": max(int((qth_max - qth_min) / _RED_MAX_PROBABILITY).bit_length() - 1, 1),
        "scell_log": 10,
        "flags": _RED_ADAPTATIVE | (_RED_ECN if args["ecn"] else 0),
    }
    return {
        "attrs": [
            ["TCA_RED_PARMS", parms],
            # decay of the average in an idle period: 31 means "it is gone". Behind sch_tbf none begins:
            # that only peeks at an empty child, and sch_red begins one in its dequeue (Linux 7.3)
            ["TCA_RED_STAB", bytes([31] * 256)],
            ["TCA_RED_MAX_P", round(_RED_MAX_PROBABILITY * 2**32)],
        ]
    }


def _attributes(prefix: str, names: dict[str, str]) -> Any:
    """An encoder that copies arguments, where given, to attributes of these names."""

    def encode(args: dict[str, Any]) -> dict[str, Any]:
        attrs = [[prefix + name, int(args[key])] for key, name in names.items() if args.get(key) is not None]
        return {"attrs": attrs}

    return encode


_ENCODERS: dict[str, tuple[type, Any]] = {
    "netem": (_Netem, _netem),
    "tbf": (_Tbf, _tbf),
    "red": (_Red, _red),
    "fq": (_Fq, _fq),
    "pie": (
        _Pie,
        _attributes(
            "TCA_PIE_",
            {"target_us": "TARGET", "limit_packets": "LIMIT", "interval_us": "TUPDATE", "ecn": "ECN"},
        ),
    ),
    "fq_pie": (
        _FqPie,
        _attributes(
            "TCA_FQ_PIE_",
            {
                "limit_packets": "LIMIT",
                "target_us": "TARGET",
                "interval_us": "TUPDATE",
                "ecn": "ECN",
            },
        ),
    ),
    "codel": (
        _Codel,
        _attributes(
            "TCA_CODEL_",
            {"target_us": "TARGET", "limit_packets": "LIMIT", "interval_us": "INTERVAL", "ecn": "ECN"},
        ),
    ),
    "fq_codel": (
        _FqCodel,
        _attributes(
            "TCA_FQ_CODEL_",
            {
                "memory_bytes": "MEMORY_LIMIT",
                "target_us": "TARGET",
                "limit_packets": "LIMIT",
                "interval_us": "INTERVAL",
                "ecn": "ECN",
            },
        ),
    ),
    "cake": (
        _Cake,
        _attributes("TCA_CAKE_", {"interval_us": "RTT", "target_us": "TARGET", "memory_bytes": "MEMORY"}),
    ),
    "dualpi2": (
        _Dualpi2,
        _attributes(
            "TCA_DUALPI2_",
            {"limit_packets": "LIMIT", "target_us": "TARGET", "interval_us": "TUPDATE"},
        ),
    ),
}


def register() -> None:
    """Teach pyroute2 the encoders above. Idempotent."""
    for kind, (options, encode) in _ENCODERS.items():
        plugins[kind] = SimpleNamespace(parent=TC_H_ROOT, options=options, get_parameters=encode)
