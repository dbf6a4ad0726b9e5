"""Tables on odd paths and full disks."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import polars as pl
import pytest

from cambrian.store import writing

FRAME = pl.DataFrame({"time_ns": [1, 2]})


def test_a_table_goes_to_a_folder_whose_name_is_not_utf_8(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"res\xff")
    folder.mkdir()
    writing.write_parquet(folder / "packets.parquet", FRAME)
    assert pl.read_parquet((folder / "packets.parquet").read_bytes()).equals(FRAME)


def test_a_full_disk_is_an_error_of_the_system() -> None:
    with pytest.raises(OSError, match="No space left") as caught:
        writing.write_parquet(Path("/dev/full"), FRAME)
    assert caught.value.errno == errno.ENOSPC
