"""The probes: ``probes.toml``, checked and read once."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from cambrian.probes.figures import Figure, NoFigure
from cambrian.probes.probed_flow import ProbedFlow
from cambrian.study.toml_file import TomlFile

Measure = Callable[[ProbedFlow], Figure | NoFigure]


class Probe(BaseModel):
    """One probe; the head of ``probes.toml`` explains each key."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Annotated[str, Field(pattern=r"^[a-z0-9-]+$")]
    title: str
    networks: tuple[str, ...]
    #: number of flows in the trial; the first is the contestant's
    flows: int = 1
    #: the page that each flow loads; None for bulk flows
    page: str | None = None
    measure: Annotated[str, Field(pattern=r"^[a-z_]+\.[a-z_]+$")]
    unit: str = ""
    digits: int
    compare: Literal["ratio", "difference", "bound"]
    bound: float | None = None
    low: float
    high: float
    margin_why: str
    families: tuple[str, ...] | None = None
    #: what theory predicts: the mean window in packets, or the throughput from it
    theory: Literal["window", "throughput"] | None = None
    source: str
    says: str

    @model_validator(mode="after")
    def _consistent(self) -> Probe:
        if (self.compare == "bound") != (self.bound is not None):
            raise ValueError('bound goes with compare = "bound": give both or neither')
        same = 1.0 if self.compare == "ratio" else 0.0
        if not self.low <= same <= self.high:
            raise ValueError(
                f"no difference is {same:g}, outside low to high: give a smaller low or a larger high"
            )
        return self

    def is_shown_by(self, network: str, family: str, flows: int = 1, page: str | None = None) -> bool:
        """Is this network, by its name, one of the probe's, and does the probe apply to such flows?"""
        here = (flows, page) == (self.flows, self.page)
        asked = self.families is None or family in self.families
        return here and asked and any(fnmatchcase(network, pattern) for pattern in self.networks)

    def keeps(self, figure: Figure) -> bool:
        """Is this figure within the margin of the probe's bound? True for a probe without a bound."""
        return self.bound is None or self.low <= figure.value - self.bound <= self.high

    @property
    def function(self) -> Measure:
        """The measure, as a function."""
        module, name = self.measure.split(".")
        found: Measure = getattr(importlib.import_module(f"{__package__}.{module}"), name)
        return found


def is_for_probes_alone(network: str) -> bool:
    """Is this network, by its name, used only by probes? Parameters are measured on the others."""
    return network.startswith("probe-")


@cache
def probes() -> tuple[Probe, ...]:
    """All probes, in the file's order."""
    return TomlFile(Path(__file__).with_name("probes.toml"), "docs/reference/probes.md").tables(
        "probe", Probe
    )
