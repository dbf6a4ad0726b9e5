"""Queries over real results, and those that are refused."""

from __future__ import annotations

import shutil
from pathlib import Path

import polars as pl
import pytest

from cambrian.report import evidence
from cambrian.report.evidence import Evidence
from cambrian.serve import sql
from cambrian.serve.querying import Querying
from cambrian.store.results import Results
from tests.unit import report_results


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = report_results.copy(tmp_path_factory.mktemp("sql")).resolve()
    Evidence(folder).measure()
    return folder


@pytest.fixture(scope="module")
def database(folder: Path) -> sql.Database:
    return sql.Database(folder)


@pytest.mark.parametrize("example", sql.EXAMPLES, ids=lambda one: one.title)
def test_an_example_works(database: sql.Database, example: sql.Example) -> None:
    answer = database.answer(example.query)
    assert answer.columns
    # every trial of these results is valid
    assert (answer.count > 0) == (example.title != "Invalid trials")


def test_an_example_has_the_figures_of_the_report(database: sql.Database) -> None:
    """Kernel TCP's mean over all its rivals and itself is in no table of the report."""
    pairs = 'SELECT "group", flow, contestant, round({0}, 9) FROM {1} ORDER BY ALL'
    for example in sql.EXAMPLES[:2]:
        figure = "throughput_mbps" if "throughput" in example.title else "queue_loss_percent"
        mine = database.as_csv(pairs.format(figure, f"({example.query})"))
        assert mine == database.as_csv(pairs.format(figure, "tables.flows"))


def number(database: sql.Database, query: str) -> int:
    """The only cell of an answer."""
    ((cell,),) = database.answer(query).rows
    assert cell is not None
    return int(cell)


def test_an_example_counts_no_invalid_trial(tmp_path: Path) -> None:
    folder = report_results.copy(tmp_path).resolve()
    first, *_ = sorted(path.name for path in (folder / "trials").iterdir())
    before = sql.Database(folder)
    report_results.reject(folder, first, "too slow")
    after = sql.Database(folder)
    for name in ("packets", "transport"):
        rows = f"SELECT count(*) FROM {name} JOIN trials USING (trial, flow) WHERE trial = '{first}'"
        (example,) = (one for one in sql.EXAMPLES if f"FROM {name} JOIN" in one.query)
        count = "packets" if name == "packets" else "events"
        total = f"SELECT sum({count})::BIGINT FROM ({example.query})"
        lost, everything, rest = number(before, rows), number(before, total), number(after, total)
        assert lost > 0 and rest == everything - lost


def test_the_first_rows_and_the_count_of_all(database: sql.Database) -> None:
    answer = database.answer("SELECT * FROM packets")
    assert len(answer.rows) == sql.MOST_ROWS
    assert answer.count == 20037
    assert len(database.as_csv("SELECT * FROM packets").splitlines()) == 20038


def test_cells_keep_their_digits_and_nulls(database: sql.Database) -> None:
    answer = database.answer("SELECT 9007199254740993 AS a, NULL AS b, 1 / 3 AS a, [1, 2] AS c")
    assert answer.rows == [["9007199254740993", None, "0.333333", "[1, 2]"]]
    assert answer.columns == ["a", "b", "a", "c"]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM read_text('{trials}/../study.json')",
        "SELECT * FROM glob('/etc/*')",
        "SELECT * FROM '/etc/passwd'",
        "COPY (SELECT 1) TO '/tmp/cambrian.csv'",
        "COPY (SELECT 1) TO '{trials}/written.csv'",
        "EXPLAIN ANALYZE COPY (SELECT 1) TO '{trials}/written.csv'",
        "SELECT * FROM query('COPY (SELECT 1) TO ''{trials}/written.csv''')",
        "WITH x AS (COPY (SELECT * FROM packets LIMIT 1) TO '{trials}/{trial}/packets.parquet') SELECT 1",
        "WITH x AS (COPY (SELECT 1 AS a, 2 AS b) TO '{trials}/{trial}' "
        "(FORMAT csv, PARTITION_BY (a), OVERWRITE true)) SELECT 1",
        "SELECT * FROM query('WITH x AS (COPY (SELECT 1) TO ''{trials}/written.csv'') SELECT 1')",
        "WITH x AS (UPDATE observations SET throughput_mbps = 1 RETURNING 1) SELECT * FROM x",
        "WITH x AS (DELETE FROM trials RETURNING 1) SELECT * FROM x",
        "WITH x AS (INSERT INTO trials SELECT * FROM trials RETURNING 1) SELECT * FROM x",
        "SELECT * FROM '{trials}/{trial}/packets.parquet'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "ATTACH '/tmp/cambrian.db'",
        "SET enable_external_access = true",
        "CREATE TABLE a AS SELECT 1",
        "DROP VIEW packets",
        "SELECT 1; SELECT 2",
        "",
        " ;; -- nothing",
        "SELECT * FROM folder",
        "SELEC",
    ],
)
def test_what_is_refused(database: sql.Database, folder: Path, query: str) -> None:
    sums = "SELECT count(*), sum(throughput_mbps), (SELECT count(*) FROM trials) FROM observations"

    def content() -> object:
        files = {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}
        return files, database.answer(sums).rows

    before = content()
    trial = min((folder / "trials").iterdir()).name
    with pytest.raises(sql.Refused) as refused:
        database.answer(query.format(trials=folder / "trials", trial=trial))
    assert str(refused.value)
    assert content() == before


def test_times_have_nanoseconds(database: sql.Database) -> None:
    query = (
        "SELECT make_timestamp_ns(1001) AS t, DATE '2020-01-01' AS d, TIMESTAMP '2020-01-01 00:00:00' AS s"
    )
    (row,) = database.answer(query).rows
    assert row == ["1970-01-01 00:00:00.000001001", "2020-01-01", "2020-01-01 00:00:00"]


def test_a_date_that_python_lacks_is_no_lack_of_memory(database: sql.Database) -> None:
    (row,) = database.answer("SELECT DATE '0044-03-15 (BC)' AS bc, TIMESTAMP 'infinity' AS t").rows
    assert row[0] == "-0043-03-15"
    assert row[1] is not None and "out of range" in row[1]


def test_results_that_cannot_be_queried_say_why(tmp_path: Path) -> None:
    folder = report_results.copy(tmp_path).rename(tmp_path / "caf\udce9").resolve()
    querying = Querying(folder)
    with pytest.raises(sql.Refused, match="cannot be queried: "):
        querying.answer("SELECT 1")
    querying.end()


def test_a_statement_s_name_can_name_a_column(database: sql.Database) -> None:
    assert database.answer("SELECT 'DELETE' AS copy, 1 AS update").rows == [["DELETE", "1"]]


def test_results_without_a_trial_say_so(tmp_path: Path) -> None:
    folder = report_results.copy(tmp_path).resolve()
    for trial in (folder / "trials").iterdir():
        shutil.rmtree(trial)
    with pytest.raises(sql.Refused, match="No trial has finished yet"):
        sql.Database(folder)


def test_a_long_query_is_stopped(database: sql.Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql, "TIME_LIMIT_S", 0.5)
    with pytest.raises(sql.Refused, match="stopped"):
        database.answer(
            "SELECT count(*) FROM packets a, packets b, packets c "
            "WHERE a.size_bytes + b.size_bytes + c.size_bytes = 7"
        )


def test_what_duckdb_cannot_stop_is_killed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    querying = Querying(folder)
    assert querying.answer("SELECT 1").rows == [["1"]]
    monkeypatch.setattr(sql, "TIME_LIMIT_S", -1.0)
    with pytest.raises(sql.Refused, match="stopped"):
        querying.answer("SELECT length(repeat('x', 2000000000))")
    monkeypatch.undo()
    assert querying.answer("SELECT 2").rows == [["2"]]
    querying.end()


def test_a_report_of_another_process_brings_its_tables(tmp_path: Path) -> None:
    folder = report_results.copy(tmp_path).resolve()
    querying = Querying(folder)
    query = "SELECT count(*) FROM observations"
    with pytest.raises(sql.Refused, match="Make the report"):
        querying.answer(query)
    # a report has no function, and no file of a trial
    for other in ("SELECT foo(1)", "FROM page_loads"):
        with pytest.raises(sql.Refused, match=r"^Catalog Error"):
            querying.answer(other)
    for key, seeds in (("one", [1]), ("two", [1, 2])):
        observed = {evidence.OBSERVATIONS: pl.DataFrame({"seed": seeds})}
        evidence._keep({}, folder / "frames" / key / "tables")
        evidence._keep(observed, folder / "frames" / key / evidence.OBSERVATIONS)
        assert querying.answer(query).rows == [[str(len(seeds))]]
    querying.end()


def test_trials_and_packets_are_of_one_moment_and_the_page_brings_the_next(tmp_path: Path) -> None:
    folder = report_results.copy(tmp_path).resolve()
    late = min((folder / "trials").iterdir())
    late.rename(tmp_path / late.name)
    querying = Querying(folder)
    counts = [f"SELECT count(DISTINCT trial) FROM {name}" for name in ("trials", "packets")]
    assert [querying.answer(query).rows for query in counts] == [[["11"]], [["11"]]]
    (tmp_path / late.name).rename(late)
    assert [querying.answer(query).rows for query in counts] == [[["11"]], [["11"]]]
    querying.warm()
    assert [querying.answer(query).rows for query in counts] == [[["12"]], [["12"]]]
    # a run of other groups, whose trials are all there
    results = Results(folder)
    study = results.study()
    results.write_study(study | {"groups": study["groups"][:1]})
    querying.warm()
    left = str(len(study["groups"][0]["trials"]))
    assert [querying.answer(query).rows for query in counts] == [[[left]], [[left]]]
    querying.end()
