"""A trial as the guest has it, and back: flows in the order of their positions.

The guest numbers flows by position, so two trials that differ in ``Trial.positions`` alone are the
same experiment to it, with other programs at the same places. Everything that is kept has the
study's own numbers: :func:`seated` is the way in, :func:`kept_plan`, :func:`kept_report`,
:func:`rename_files` and :func:`flow_numbers` are the way back.
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
    """The flows' numbers in the order of their positions: what the guest calls 0, 1, …"""
    return sorted(range(len(trial.flows)), key=lambda flow: trial.positions[flow])


def kept_plan(plan: Plan, trial: Trial) -> Plan:
    """The plan with the lists that are kept or read again in order of flow."""
    return {**plan, "links": _by_flow(plan["links"], trial), "flows": _by_flow(plan["flows"], trial)}


def kept_report(report: GuestReport, trial: Trial) -> GuestReport:
    """The guest's report in order of flow: base round trips, counters, programs, problems.

    A guest that failed early has left only some of them.
    """
    found = report.copy()
    if "base_rtt_ns" in report:
        found["base_rtt_ns"] = _by_flow(report["base_rtt_ns"], trial)
    if "counters" in report:
        counters = report["counters"]
        found["counters"] = {**counters, "flows": _by_flow(counters["flows"], trial)}
    if "problems" in report:
        found["problems"] = [_renamed(text, trial) for text in report["problems"]]
    if "killed" in report:
        found["killed"] = [_renamed(text, trial) for text in report["killed"]]
    if "processes" in report:
        found["processes"] = {_renamed(name, trial): one for name, one in report["processes"].items()}
    return found


def rename_files(folder: Path, trial: Trial) -> None:
    """``flowN.…`` in ``folder``: N becomes the flow's number."""
    moved = [path for path in folder.iterdir() if _renamed(path.name, trial) != path.name]
    # by way of names that nobody has: two flows may exchange theirs
    waiting = [path.rename(path.with_name(f".{path.name}")) for path in moved]
    for path, between in zip(moved, waiting, strict=True):
        between.rename(path.with_name(_renamed(path.name, trial)))


def flow_numbers(frame: pl.DataFrame, trial: Trial) -> pl.DataFrame:
    """``frame`` with the study's numbers in its column ``flow``, where it has the guest's."""
    kind = frame.schema["flow"]
    return frame.with_columns(
        pl.col("flow").replace_strict(dict(enumerate(_occupants(trial))), return_dtype=kind)
    )


def _by_flow(items: Sequence[_Item], trial: Trial) -> list[_Item]:
    found = dict(zip(_occupants(trial), items, strict=True))
    return [found[flow] for flow in range(len(items))]


def _renamed(text: str, trial: Trial) -> str:
    flows = _occupants(trial)
    return _NAME.sub(lambda found: f"{found[1]}{flows[int(found[2])]}", text)
