"""What the JSON files of a results directory hold: the keys that readers use, and their types.

Other keys are allowed, so that a newer version may add some.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field, StrictBool, StrictInt, StrictStr, model_validator

from cambrian.study.model import Design, StoppingMeasure, Study, Trial

#: a trial's identity (:mod:`cambrian.study.identity`), which is also its folder's name
IDENTITY = r"^[0-9a-f]{16}$"

_Identity = Annotated[str, Field(pattern=IDENTITY)]
_Texts = list[StrictStr]


class _Kernel(BaseModel):
    version: StrictStr
    sha256: StrictStr


class _Software(BaseModel):
    version: StrictStr
    sha256: StrictStr


class _FlowCounters(BaseModel):
    forward: list[dict[str, Any]] = []
    back: list[dict[str, Any]] = []


class _Counters(BaseModel):
    flows: list[_FlowCounters]


class _Guest(BaseModel):
    """A guest that failed reports only some of its fields."""

    zero_ns: StrictInt | None = None
    end_ns: StrictInt | None = None
    base_rtt_ns: list[StrictInt | None] = []
    counters: _Counters | None = None
    processes: dict[str, dict[str, Any]] = {}
    problems: _Texts = []


#: the guest's report of a valid trial has these at least
OF_A_VALID_TRIAL = frozenset({"zero_ns", "end_ns", "counters"})


class _Network(BaseModel):
    links: list[dict[str, Any]]
    bottleneck: dict[str, Any]


class Manifest(BaseModel):
    """``manifest.json``."""

    id: _Identity
    cambrian: StrictStr
    trial: Trial
    environment: dict[str, StrictStr]
    kernel: _Kernel
    stacks: dict[str, _Software]
    network: _Network
    guest: _Guest | None
    packets_sha256: Annotated[StrictStr, Field(pattern=r"^[0-9a-f]{64}$")]
    endpoints: dict[str, list[dict[str, Any]]]


class _FlowEnd(BaseModel):
    flow: StrictInt
    outcome: StrictStr
    ended_s: float | None


class _Gate(BaseModel):
    name: StrictStr
    ok: StrictBool | None
    text: StrictStr


class Verdict(BaseModel):
    """``verdict.json``."""

    valid: StrictBool
    reasons: _Texts
    notes: _Texts
    gates: list[_Gate]
    #: older results do not have it
    flows: list[_FlowEnd] = []


class _Stopping(BaseModel):
    measure: StoppingMeasure
    half_width: float
    seeds: StrictInt
    valid: StrictInt
    median: float | None
    low: float | None
    high: float | None
    stopped: StrictBool
    narrow: StrictBool
    reason: StrictStr


class _Group(BaseModel):
    key: StrictStr
    design: Design
    network: StrictStr
    subject: StrictStr
    reference: StrictStr | None
    trials: list[_Identity]
    page: StrictStr | None = None
    orders: Annotated[StrictInt, Field(ge=1)] = 1
    placebo: StrictBool | None = None
    stopping: _Stopping | None = None

    @model_validator(mode="after")
    def _pairs_have_a_reference(self) -> _Group:
        if self.design in ("versus-reference", "pairwise") and self.reference is None:
            raise ValueError(f"a group of design {self.design} has a reference")
        return self


class _Family(BaseModel):
    reference: StrictStr
    protocol: StrictStr


class StudyRecord(BaseModel):
    """``study.json``."""

    cambrian: StrictStr
    command: StrictStr
    study: Study
    groups: list[_Group]
    #: older results do not have it
    families: dict[str, _Family] = {}
    #: of a part of the study that was run by itself: the number of this shard, from 1, and of all
    shard: StrictInt | None = None
    shards: StrictInt | None = None

    @model_validator(mode="after")
    def _networks_are_known(self) -> StudyRecord:
        known = {network.name for network in self.study.networks}
        for group in self.groups:
            if group.network not in known:
                raise ValueError(f"the study has no network {group.network}")
        return self


class SuiteRecord(BaseModel):
    """``suite.json``, in the folder of a suite's results."""

    suite: StrictStr
    command: StrictStr
    profile: StrictStr | None = None
