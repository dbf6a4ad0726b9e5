"""``cambrian.load``: results as frames that name contestant, network, seed and flow."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import polars as pl
import pytest

import cambrian
from cambrian.report.evidence import Evidence
from tests.unit import report_results

PAGES = report_results.KNOBS.with_name("pages")
WHO = {"contestant", "network", "seed", "flow"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Copied, since frames are kept beside the trials."""
    return report_results.copy(tmp_path)


def test_every_flow_of_every_trial_has_a_row(folder: Path) -> None:
    trials = cambrian.load(folder).trials
    assert trials["trial"].n_unique() == len(list((folder / "trials").iterdir()))
    assert trials.filter(pl.col("contestant") == "tcp cubic with TLS")["flow"].unique().to_list() == [0]
    assert trials["valid"].all()


@pytest.mark.parametrize("name", ["packets", "transport"])
def test_traces_are_joined_with_whom_they_are_of(folder: Path, name: str) -> None:
    data = cambrian.load(str(folder))
    rows = getattr(data, name).collect()
    whole = sum(
        pl.read_parquet(folder / "trials" / trial / f"{name}.parquet").height
        for trial in data.trials.filter(flow=0)["trial"]
    )
    assert set(rows.columns) >= WHO
    assert rows.height == whole
    assert rows.select(WHO).null_count().sum_horizontal().item() == 0


def test_files_of_a_newer_version_may_have_more_columns(folder: Path) -> None:
    before = cambrian.load(folder).packets.collect()
    for name in before["trial"].unique(maintain_order=True)[:2]:
        path = folder / "trials" / name / "packets.parquet"
        pl.read_parquet(path).with_columns(hop=pl.lit(1)).write_parquet(path)
        assert cambrian.load(folder).packets.collect().equals(before)


def test_a_flow_of_its_trial_is_found_again(folder: Path) -> None:
    data = cambrian.load(folder)
    first = data.trials.row(0, named=True)
    mine = data.packets.filter(
        contestant=first["contestant"], trial=first["trial"], group=first["group"], flow=first["flow"]
    )
    file = pl.read_parquet(folder / "trials" / first["trial"] / "packets.parquet")
    assert mine.collect()["size_bytes"].to_list() == file.filter(flow=first["flow"])["size_bytes"].to_list()


def test_observations_and_tables(folder: Path) -> None:
    data = cambrian.load(folder)
    assert set(data.observations.columns) >= WHO | {"throughput_mbps"}
    assert "conformance" in data.tables


def test_an_unknown_table_is_told_with_the_known_ones(folder: Path) -> None:
    tables = cambrian.load(folder).tables
    with pytest.raises(KeyError) as told:
        tables["conformanc"]
    assert str(told.value).startswith("no table conformanc; did you mean conformance? the tables are: ")
    assert all(name in str(told.value) for name in ("conformance", "flows"))
    assert tables.get("conformanc") is None and "conformanc" not in tables


def test_pages_have_their_objects_and_others_have_none(folder: Path) -> None:
    assert set(cambrian.load(PAGES).page_loads.collect().columns) >= WHO | {"load_ns"}
    assert cambrian.load(PAGES).objects.collect().height > 0
    assert cambrian.load(folder).objects.collect().height == 0


def test_duckdb_reads_the_frames(folder: Path) -> None:
    trials = cambrian.load(folder).trials
    found = duckdb.sql("SELECT count(DISTINCT network) FROM trials")
    assert found is not None
    assert found.fetchall() == [(trials["network"].n_unique(),)]


def twice(folder: Path, to: Path, files: str) -> None:
    """Copy a folder with each row of these files twice."""
    shutil.copytree(folder, to, dirs_exist_ok=True)
    for path in to.glob(files):
        frame = pl.read_parquet(path.read_bytes())
        pl.concat([frame, frame]).write_parquet(path)


@pytest.mark.parametrize("name", ["run*", "run?", "run[1]"])
def test_a_path_is_no_pattern_of_other_folders(folder: Path, name: str) -> None:
    mine, other = folder.rename(folder.with_name(name)), folder.with_name("run1")
    twice(mine, other, "trials/*/packets.parquet")
    data = cambrian.load(mine)
    file = next((mine / "trials").glob("*/packets.parquet"))
    mine_alone = data.packets.filter(trial=file.parent.name).collect()
    groups = mine_alone["group"].n_unique()
    assert mine_alone.height == groups * pl.read_parquet(file.read_bytes()).height
    Evidence(mine).measure()
    frames = list((mine / "frames").glob("*/observations/observations.parquet"))
    made = pl.read_parquet(frames[0].read_bytes())
    twice(mine / "frames", other / "frames", "*/*/*.parquet")
    for again in (Evidence(mine).frame(), Evidence(mine).kept()["observations"]):
        assert again is not None and again.height == made.height


def test_a_folder_without_results_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="give a results directory of `cambrian run`"):
        cambrian.load(tmp_path)


def test_a_suite_s_folder_is_told_with_a_part(tmp_path: Path) -> None:
    for part in ("grid", "duels"):
        (tmp_path / "wpi" / part).mkdir(parents=True)
        (tmp_path / "wpi" / part / "study.json").write_text("{}")
    with pytest.raises(
        FileNotFoundError, match=r"wpi has the results of 2 studies .*, such as \S+/wpi/duels$"
    ):
        cambrian.load(tmp_path / "wpi")


def test_the_package_alone_imports_nothing_more() -> None:
    """The guest imports it in every trial."""
    code = "import sys, cambrian; print([x for x in sys.modules if x.startswith(('cambrian.', 'polars'))])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"
    assert not hasattr(cambrian, "lod")
