"""Converts between the flow numbers of the study and those of the guest (order of positions).

The guest numbers flows by position, so two trials that differ only in ``Trial.positions`` are the
same experiment for it, with other programs at the same places. All kept files have the
study's numbers: :func:`seated` converts to the guest's numbers, :func:`kept_plan`, :func:`kept_report`,
:func:`renamed`, :func:`rename_files` and :func:`flow_numbers` convert back.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import polars as pl

from cambrian.study.model import Trial
from cambrian.testbed.contract import GuestReport, Plan

_NAME = re.compile(r"^((?:note: )?flow)(\d+)(?=\.)")
_Item = TypeVar("_Item")


def seated(trial: Trial) -> Trial:
    """The same trial with its flows in the order of their positions."""
    return trial.model_copy(
        update={
            "flows": tuple(trial.flows[flow] for flow in _occupants(trial)),
            "positions": tuple(sorted(trial.positions)),
        }
    )


def _occupants(trial: Trial) -> list[int]:
    """The flows' numbers in the order of their positions; the guest numbers them 0, 1, …"""
    return sorted(range(len(trial.flows)), key=lambda flow: trial.positions[flow])


def kept_plan(plan: Plan, trial: Trial) -> Plan:
    """The plan with its lists in the order of the study's flows."""
    return {**plan, "links": by_flow(plan["links"], trial), "flows": by_flow(plan["flows"], trial)}


def kept_report(report: GuestReport, trial: Trial) -> GuestReport:
    """The guest's report with the study's flows: base round trips, counters, programs, problems.

    A guest that failed early has only some of them.
    """
    kept = report.copy()
    if "base_rtt_ns" in report:
        kept["base_rtt_ns"] = by_flow(report["base_rtt_ns"], trial)
    if "counters" in report:
        counters = report["counters"]
        kept["counters"] = {**counters, "flows": by_flow(counters["flows"], trial)}
    if "problems" in report:
        kept["problems"] = [*renamed(report["problems"], trial)]
    if "killed" in report:
        kept["killed"] = [*renamed(report["killed"], trial)]
    if "processes" in report:
        processes = report["processes"]
        kept["processes"] = {_renamed(name, trial): process for name, process in processes.items()}
    return kept


def rename_files(folder: Path, trial: Trial) -> None:
    """``flowN.…`` in ``folder``: N becomes the flow's number."""
    moved = [path for path in folder.iterdir() if _renamed(path.name, trial) != path.name]
    # through temporary names, because two flows may exchange their names
    waiting = [path.rename(path.with_name(f".{path.name}")) for path in moved]
    for path, between in zip(moved, waiting, strict=True):
        between.rename(path.with_name(_renamed(path.name, trial)))


def flow_numbers(frame: pl.DataFrame, trial: Trial) -> pl.DataFrame:
    """``frame`` with the study's numbers in its column ``flow`` instead of the guest's."""
    kind = frame.schema["flow"]
    return frame.with_columns(
        pl.col("flow").replace_strict(dict(enumerate(_occupants(trial))), return_dtype=kind)
    )


def by_flow(items: Sequence[_Item], trial: Trial) -> list[_Item]:
    """What the guest lists, in the order of the study's flows."""
    seated_items = dict(zip(_occupants(trial), items, strict=True))
    return [seated_items[flow] for flow in range(len(items))]


def renamed(texts: Sequence[str], trial: Trial) -> tuple[str, ...]:
    """The texts with the study's number in place of the guest's, in those that start with ``flowN.``"""
    return tuple(_renamed(text, trial) for text in texts)


def _renamed(text: str, trial: Trial) -> str:
    flows = _occupants(trial)
    return _NAME.sub(lambda match: f"{match[1]}{flows[int(match[2])]}", text)
