"""The fault corpus's answer key: ``faults.toml``, checked."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, model_validator

from cambrian.judging.findings import Finding
from cambrian.study.toml_file import TomlFile

#: the stack whose presets are the faults
LAB = "quinn-lab"


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Fault(_Frozen):
    """One wrong parameter of one preset: ``parameter`` is ``truth``, or ``words``, or a value ``above``.

    ``clean``: the preset without the fault. ``alone``: the preset with this fault alone.
    """

    preset: str
    clean: str
    alone: str = ""
    parameter: str
    truth: float | None = None
    words: str | None = None
    above: float | None = None

    @model_validator(mode="after")
    def _one_truth(self) -> Fault:
        if [self.truth, self.words, self.above].count(None) != 2:
            raise ValueError("a fault has one truth: give one of truth, words and above")
        return self

    @property
    def isolated(self) -> str:
        """The preset whose packets show if the fault is exercised."""
        return self.alone or self.preset

    def is_named_by(self, finding: Finding) -> bool:
        """Does the finding differ from the reference, and its interval contain the truth?"""
        measured = finding.measured
        if not finding.differs:
            return False
        if self.words is not None:
            return measured.label == self.words
        if self.above is not None:
            return measured.low > self.above
        return self.truth is not None and measured.low <= self.truth <= measured.high

    @property
    def truth_text(self) -> str:
        """The value that was set."""
        return self.words or (f"{self.truth:g}" if self.truth is not None else f"above {self.above:g}")


class Misbehaviour(_Frozen):
    """One fault of one preset that no parameter describes.

    ``what``: the fault in words. ``clean``: the preset without it. ``caught_by``: keys of findings and names
    of probes, each of which describes the fault. ``choice``: the standards allow it, so the judge must name
    it but need not accuse. ``log``: it changes the sender's log, and need not change a packet. ``stops_on``:
    the networks on which the sender with this fault stops for good, so that none of its trials is valid.
    """

    preset: str
    clean: str
    what: str
    caught_by: tuple[str, ...] = Field(min_length=1)
    choice: bool = False
    log: bool = False
    stops_on: tuple[str, ...] = ()


class Clean(_Frozen):
    """A controller without a fault. ``choices``: it makes other choices than the reference."""

    contestant: str
    family: str
    choices: bool = False

    def is_accused_by(self, finding: Finding) -> bool:
        """Is the finding a false accusation?"""
        return finding.status == "off" or (finding.differs and not self.choices)


class Key(_Frozen):
    """The whole answer key."""

    clean: tuple[Clean, ...]
    fault: tuple[Fault, ...]
    misbehaviour: tuple[Misbehaviour, ...]


@cache
def key() -> Key:
    """Read ``faults.toml``."""
    file = TomlFile(Path(__file__).with_name("faults.toml"), "docs/explanation/judge-tests.md")
    return file.build(Key, (), file.raw)


def of_lab(preset: str) -> str:
    """The contestant that runs a preset of the lab stack."""
    return f"{LAB} {preset}"
