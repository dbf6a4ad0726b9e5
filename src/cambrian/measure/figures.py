"""The quantities of one finished trial, by name."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from cambrian.measure import measuring, quantities
from cambrian.measure.trial import TrialMeasures
from cambrian.stacks import catalogue
from cambrian.store.results import TrialResult
from cambrian.study import hints
from cambrian.study.model import Trial


class Figures:
    """One trial's figures; the trial is measured on first use."""

    def __init__(self, result: TrialResult) -> None:
        self.result = result

    @cached_property
    def measures(self) -> TrialMeasures:
        """All measures of the trial; its measured interval begins as in a study that does not set it."""
        catalogued = catalogue.load()
        flows = Trial.model_validate(self.result.manifest["trial"]).flows
        found = [catalogued.find(flow.contestant.stack) for flow in flows]
        protocols = [stack.manifest.protocol if stack else None for stack in found]
        return measuring.measure(self.result, with_envelope=False, protocols=protocols)

    def value(self, quantity: str, flow: int = 0) -> Any:
        """A quantity of one flow (see ``cambrian quantities``); None if the trial has none.

        Raises:
            ValueError: there is no such quantity.
        """
        known = {one.name: one for one in quantities.OF_TRIALS}
        if quantity not in known:
            raise ValueError(
                f"no quantity {quantity}; {hints.for_name(quantity, known, 'the quantities are')}"
            )
        return known[quantity].value(self.measures, flow)
