"""A results directory as polars frames: ``cambrian.load("results/x")``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import polars as pl

from cambrian.metrics.columns import PACKETS
from cambrian.report.collect import flow_names
from cambrian.report.evidence import Evidence
from cambrian.store import check
from cambrian.store.results import Results
from cambrian.study import hints
from cambrian.study.model import Study
from cambrian.trace.objects import OBJECTS, PAGE_LOADS
from cambrian.trace.schema import TRANSPORT

#: columns of :attr:`Data.trials`
TRIALS = {
    "trial": pl.String,
    "group": pl.String,
    "contestant": pl.String,
    "network": pl.String,
    "seed": pl.Int64,
    "flow": pl.UInt16,
    "position": pl.Int64,
    "placebo": pl.Boolean,
    "valid": pl.Boolean,
}


class NoTable(KeyError):
    """A report has no table of this name."""

    def __str__(self) -> str:
        """The sentence itself: a KeyError shows it in quotation marks."""
        return str(self.args[0])


class Tables(dict[str, pl.DataFrame]):
    """A report's tables by name, in its order."""

    def __missing__(self, name: str) -> pl.DataFrame:
        """Say which tables there are.

        Raises:
            NoTable: always.
        """
        if not self:
            raise NoTable("there is no table, because there is no finished trial yet; remedy: cambrian run")
        raise NoTable(f"no table {name}; {hints.for_name(name, self, 'the tables are')}")


@dataclass(frozen=True)
class Data:
    """The results of one study. Each frame but the tables has the columns contestant, network, seed and flow.

    A trial that two groups share (contestants that differ only in their label) has rows for both.
    """

    folder: Path

    @cached_property
    def trials(self) -> pl.DataFrame:
        """One row for each flow of each finished trial, invalid trials included."""
        results = Results(self.folder)
        raw = results.study()
        study = Study.model_validate(raw["study"])
        rows = []
        for group in raw["groups"]:
            names = flow_names(group, study)
            for result in map(results.checked, filter(results.has, group["trials"])):
                trial = result.manifest["trial"]
                positions = trial.get("positions") or range(len(names))
                rows += [
                    {
                        "trial": result.id,
                        "group": group["key"],
                        "contestant": name,
                        "network": group["network"],
                        "seed": trial["seed"],
                        "flow": number,
                        "position": positions[number],
                        "placebo": bool(group.get("placebo")),
                        "valid": result.verdict["valid"],
                    }
                    for number, name in enumerate(names)
                ]
        return pl.DataFrame(rows, schema=TRIALS)

    @cached_property
    def observations(self) -> pl.DataFrame:
        """One row for each flow of each trial of a complete seed, with all ``cambrian quantities``.

        A seed with an invalid trial has no row, nor have the placebos of a ``pairwise`` study.
        The first call measures the trials and keeps the result in ``frames/``.
        """
        with check.blamed(self.folder):
            frame = Evidence(self.folder).frame()
        if frame is None:
            raise FileNotFoundError(f"{self.folder} holds no finished trial yet; remedy: cambrian run")
        return frame

    @cached_property
    def tables(self) -> Tables:
        """The report's tables by name, as ``cambrian table`` prints them."""
        with check.blamed(self.folder):
            return Tables(Evidence(self.folder).tables())

    @property
    def packets(self) -> pl.LazyFrame:
        """Each packet at the bottleneck; lazy: filter before ``collect()``."""
        return self._scan("packets", PACKETS)

    @property
    def transport(self) -> pl.LazyFrame:
        """Each event of the senders that export their state; lazy."""
        return self._scan("transport", TRANSPORT)

    @property
    def objects(self) -> pl.LazyFrame:
        """Each object of the pages that were loaded; lazy."""
        return self._scan("objects", OBJECTS)

    @property
    def page_loads(self) -> pl.LazyFrame:
        """Each page load; lazy."""
        return self._scan("page_loads", PAGE_LOADS)

    def _scan(self, name: str, columns: Mapping[str, pl.DataType]) -> pl.LazyFrame:
        """The files of this name of all trials; each row has the columns of :attr:`trials` for its flow."""
        folder = Results(self.folder).trials_folder
        places = [folder / trial for trial in self.trials["trial"].unique(maintain_order=True)]
        files = [path for place in places if (path := place / f"{name}.parquet").exists()]
        who = self.trials.lazy()
        if not files:
            rows = pl.LazyFrame(schema=dict(columns) | {"trial": pl.String})
        else:
            # a newer version may have added columns to some of the files
            rows = pl.scan_parquet(
                files,
                glob=False,
                schema=dict(columns),
                extra_columns="ignore",
                include_file_paths="trial",
            ).with_columns(pl.col("trial").str.split("/").list.get(-2))
        return who.join(rows, on=["trial", "flow"], how="inner", maintain_order="right")


def load(folder: str | Path) -> Data:
    """The results that ``cambrian run`` wrote to ``folder``.

    Raises:
        FileNotFoundError: it is not a results directory, or it is that of a suite, which has several inside.
        Damaged: its study.json cannot be used. The frames raise it for the files that they read.
    """
    data = Data(Path(folder).absolute())
    check.require_study(data.folder)
    return data
