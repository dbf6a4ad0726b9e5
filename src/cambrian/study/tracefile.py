"""Reads and checks Mahimahi packet-delivery traces, and computes their mean rate.

The format (Netravali et al., "Mahimahi: Accurate Record-and-Replay for HTTP",
USENIX ATC 2015; mm-link(1)): one whole number of milliseconds per line, not
decreasing. Each line is an opportunity to send one full-size packet. At its end the trace
starts again; the last time stamp is the length of a round. Mahimahi counts
1504 bytes per opportunity (``PACKET_SIZE`` in its src/frontend/link_queue.hh): a
1500-byte IP packet with the 4 bytes that its TUN device adds. The same packet
is one frame of 1514 bytes here, so the rates here count frames, as ``rate_mbps`` does.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from cambrian.study import input_file
from cambrian.study.errors import StudyError
from cambrian.study.model import FRAME_BYTES, Network

#: largest trace: 10 million lines or more, a quarter of an hour at 100 Mbps
MOST_BYTES = 64 * 2**20
#: longest round, a day: more than twice the longest trial
LONGEST_MS = 86_400_000
_NUMBER = re.compile(r"[0-9]{1,15}")
_ONE_PER_LINE = "give one whole number of milliseconds per line"


@dataclass(frozen=True)
class DeliveryTrace:
    """One round of a link: the times when it can send a full-size packet.

    ``times_ms`` are whole milliseconds since the round's start, not decreasing.
    The last one is above 0 and is the length of the round.
    """

    times_ms: tuple[int, ...]

    @property
    def period_ms(self) -> int:
        """Length of a round; then the trace starts again."""
        return self.times_ms[-1]

    @property
    def mean_rate_mbps(self) -> float:
        """Mean rate over a round in 10^6 bit/s, counting 1514-byte frames."""
        return len(self.times_ms) * FRAME_BYTES * 8 / (self.period_ms * 1000)


def parse_trace(text: str, file: str) -> DeliveryTrace:
    """Parse a trace's text; ``file`` is its name in errors.

    Raises:
        StudyError: with the first invalid line.
    """
    times: list[int] = []
    lines = text.removesuffix("\n").split("\n") if text else []
    for number, raw in enumerate(lines, start=1):
        line = raw.removesuffix("\r")
        if not _NUMBER.fullmatch(line):
            shown = f"{line[:40]!r} is" if line else "an empty line is"
            raise _error(file, number, f"{shown} not a time stamp", _ONE_PER_LINE)
        if times and int(line) < times[-1]:
            problem = f"time goes back, from {times[-1]} to {int(line)} ms"
            raise _error(file, number, problem, "sort the time stamps in rising order")
        if int(line) > LONGEST_MS:
            problem = f"{int(line):,} ms is longer than a day"
            raise _error(file, number, problem, f"give time stamps of at most {LONGEST_MS:,} ms")
        times.append(int(line))
    if not times:
        raise _error(file, 1, "the trace is empty", "give at least one time stamp above 0, such as 1")
    if times[-1] == 0:
        problem = "the trace has no duration: its last time stamp is 0"
        raise _error(file, len(times), problem, "end with the length of a round in milliseconds, above 0")
    return DeliveryTrace(tuple(times))


def read_trace(path: str | Path) -> DeliveryTrace:
    """Read and check the trace at ``path``.

    Raises:
        StudyError: it cannot be read, or has an invalid line (the first is named).
    """
    remedy = "name a Mahimahi trace, relative to the study's folder"
    content = input_file.read(Path(path), "the trace", remedy, MOST_BYTES)
    try:
        text = content.decode("ascii")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise _error(str(path), line, "not plain text", _ONE_PER_LINE) from error
    return parse_trace(text, str(path))


@lru_cache(maxsize=64)
def _mean_rate_of_file(path: str) -> float:
    return read_trace(path).mean_rate_mbps


def mean_rate_mbps(network: Network) -> float:
    """Bottleneck rate at the start in 10^6 bit/s (``rate_mbps``), or a trace's mean rate."""
    if network.trace_file is not None:
        return _mean_rate_of_file(network.trace_file)
    return network.rate_mbps or 0.0  # never 0: a network holds exactly one of the two


def _error(file: str, line: int, problem: str, remedy: str) -> StudyError:
    return StudyError(file=file, line=line, column=1, problem=problem, remedy=remedy)
