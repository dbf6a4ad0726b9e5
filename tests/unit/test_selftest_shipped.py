"""The packets that the repository ships, and the words about differences."""

from __future__ import annotations

import polars as pl
import pytest

from cambrian.selftest import shipped
from cambrian.stacks import catalogue
from cambrian.trace import packets


def test_the_shipped_hashes_are_those_of_the_shipped_packets() -> None:
    known, _ = shipped.load()
    frame = pl.read_parquet(shipped.PACKETS)
    assert set(known) == set(shipped.trials()) == set(frame["trial"].unique())
    for name, row in known.items():
        trace = frame.filter(pl.col("trial") == name)
        assert packets.fingerprint(trace) == row.packets_sha256, name


def test_the_shipped_hashes_are_of_the_stacks_of_this_checkout() -> None:
    stacks = catalogue.load()
    for name, row in shipped.load()[0].items():
        for stack, version in row.software.items():
            if stack != "kernel":
                found = stacks[stack].manifest.version
                assert found == version, f"{name}: {stack} is {found} now; remedy: {shipped.UPDATE}"


@pytest.fixture
def trace() -> pl.DataFrame:
    return pl.read_parquet(shipped.PACKETS).filter(pl.col("trial") == "tcp cubic, droptail")


def test_a_tick_is_found_and_named(trace: pl.DataFrame) -> None:
    row = pl.int_range(pl.len()) == 20
    later = trace.with_columns(arrival_ns=pl.col("arrival_ns") + pl.when(row).then(256).otherwise(0))
    words = shipped.first_difference(trace, later)
    assert words.startswith("packet 20 (flow ")
    assert words.endswith("arrival +256 ns")


def test_another_fate_and_another_size_are_named(trace: pl.DataFrame) -> None:
    other = trace.with_columns(size_bytes=pl.lit(99, pl.UInt16), departure_ns=pl.lit(None, pl.Int64))
    first = trace.row(0, named=True)
    words = shipped.first_difference(trace, other)
    assert f"size_bytes 99 instead of {first['size_bytes']}" in words
    assert f"departure_ns None instead of {first['departure_ns']}" in words


def test_a_shorter_trace_is_named(trace: pl.DataFrame) -> None:
    words = shipped.first_difference(trace, trace.head(100))
    assert words == f"100 packets instead of {trace.height}, the same up to there"


def test_only_what_differs_between_machines_is_named() -> None:
    assert shipped.differences({"python": "3.11", "libc": "a"}, {"python": "3.13", "libc": "a"}) == (
        "python 3.13 instead of 3.11"
    )
    assert shipped.differences({"wall": "bubblewrap"}, {"wall": "bubblewrap"}) == ""


def test_packets_are_compared_with_those_of_the_same_software() -> None:
    machine = {"processor": "A", "python": "3.11"}
    here = {"processor": "B", "python": "3.11"}
    software = {"kernel": "7", "quinn": "1"}
    assert shipped.cause(software, software, machine, machine) == (True, "")
    assert shipped.cause(software, software, machine, here) == (
        True,
        "; this machine differs: processor B instead of A",
    )
    comparable, why = shipped.cause(software, {"kernel": "7", "quinn": "2"}, machine, here)
    assert not comparable and "quinn 2 instead of 1" in why and shipped.UPDATE in why


def test_packets_of_java_follow_the_processor() -> None:
    machine, here = {"processor": "A", "libc": "1"}, {"processor": "B", "libc": "1"}
    software = {"kernel": "7", "kwik": "1"}
    assert shipped.cause(software, software, machine, machine | {"libc": "2"})[0]
    comparable, why = shipped.cause(software, software, machine, here)
    assert not comparable
    assert why == "; packets of kwik follow the processor, and processor B instead of A"


def test_processors_of_one_name_are_told_apart() -> None:
    numbers = "cpu family\t: 25\nmodel\t\t: 17\nstepping\t: 1\n"
    text = f"model name\t: AMD EPYC\n{numbers}flags\t\t: sse avx\n\nmodel name\t: B\n"
    one = shipped.processor(text)
    assert one.startswith("AMD EPYC, cpu family 25 model 17 stepping 1, features ")
    assert one == shipped.processor(text.replace("sse avx", "avx sse"))
    others = (text.replace(" 17", " 1"), text.replace("avx", ""))
    assert len({one, *map(shipped.processor, others)}) == 3
