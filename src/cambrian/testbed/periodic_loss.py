"""A filter that loses exactly every n-th packet: matchall with a deterministic "gact" action.

Layouts: ``include/uapi/linux/tc_act/tc_gact.h`` and ``pkt_cls.h``.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from pyroute2.netlink import nla
from pyroute2.netlink.rtnl.tcmsg import plugins

#: the egress hook of clsact (TC_H_CLSACT, TC_H_MIN_EGRESS)
EGRESS = 0xFFFF_FFF3
#: priority 1, and every protocol (ETH_P_ALL in network order)
INFO = 1 << 16 | 0x0300
_TC_ACT_OK, _TC_ACT_STOLEN = 0, 4
_PGACT_DETERM = 2


class _Gact(nla):  # type: ignore[misc]
    nla_map = (
        ("TCA_GACT_UNSPEC", "none"),
        ("TCA_GACT_TM", "none"),
        ("TCA_GACT_PARMS", "parms"),
        ("TCA_GACT_PROB", "probability"),
    )

    class parms(nla):  # type: ignore[misc]
        fields = (("index", "I"), ("capab", "I"), ("action", "i"), ("refcnt", "i"), ("bindcnt", "i"))

    class probability(nla):  # type: ignore[misc]
        fields = (("ptype", "H"), ("pval", "H"), ("paction", "i"))


class _Action(nla):  # type: ignore[misc]
    nla_map = (
        ("TCA_ACT_UNSPEC", "none"),
        ("TCA_ACT_KIND", "asciiz"),
        ("TCA_ACT_OPTIONS", "gact"),
    )

    class gact(_Gact):
        nla_flags = 0x8000  # NLA_F_NESTED


class _Matchall(nla):  # type: ignore[misc]
    nla_map = (
        ("TCA_MATCHALL_UNSPEC", "none"),
        ("TCA_MATCHALL_CLASSID", "uint32"),
        ("TCA_MATCHALL_ACT", "actions"),
    )

    class actions(nla):  # type: ignore[misc]
        nla_map = (("TCA_ACT_PRIO_UNSPEC", "none"), ("TCA_ACT_PRIO_1", "action"))

        class action(_Action):
            pass


def _encode(args: dict[str, Any]) -> dict[str, Any]:
    """``packets``: which one of them is lost."""
    gact = {
        "attrs": [
            ["TCA_GACT_PARMS", {"action": _TC_ACT_OK}],
            ["TCA_GACT_PROB", {"ptype": _PGACT_DETERM, "pval": args["packets"], "paction": _TC_ACT_STOLEN}],
        ]
    }
    action = {"attrs": [["TCA_ACT_KIND", "gact"], ["TCA_ACT_OPTIONS", gact]]}
    return {"attrs": [["TCA_MATCHALL_ACT", {"attrs": [["TCA_ACT_PRIO_1", action]]}]]}


def register() -> None:
    """Teach pyroute2 this filter. Idempotent."""
    plugins["matchall"] = SimpleNamespace(parent=EGRESS, options=_Matchall, get_parameters=_encode)
