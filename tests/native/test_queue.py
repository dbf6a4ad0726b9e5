"""The trace link's queue against Mahimahi's rules, written a second time in Python."""

from __future__ import annotations

import subprocess
from collections import deque
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

FULL = 1500


def drive(program: Path, limit_bytes: int, script: list[int | None]) -> list[str]:
    """Lines of the driver; a number pushes a packet of that size, None is an opportunity."""
    text = "\n".join("serve" if step is None else f"push {step}" for step in script)
    result = subprocess.run(
        [program, str(limit_bytes)], input=text, capture_output=True, text=True, check=True
    )
    return result.stdout.splitlines()


def model(limit_bytes: int, script: list[int | None]) -> list[str]:
    """What the driver should print: drop-tail in frames (IP + 14), service in IP + 4."""
    lines: list[str] = []
    waiting: deque[tuple[int, int]] = deque()
    transit: list[int] | None = None  # number, bytes left
    pushed = delivered = dropped = 0
    for step in script:
        if step is not None:
            if sum(size + 14 for _, size in waiting) + step + 14 > limit_bytes:
                lines.append(f"drop {pushed}")
                dropped += 1
            else:
                waiting.append((pushed, step))
            pushed += 1
            continue
        budget = 1504
        while budget and (waiting or transit):
            if transit is None:
                number, size = waiting.popleft()
                transit = [number, size + 4]
            sent = min(budget, transit[1])
            budget -= sent
            transit[1] -= sent
            if not transit[1]:
                lines.append(f"deliver {transit[0]}")
                delivered += 1
                transit = None
    lines.append(f"counts {pushed} {delivered} {dropped} {len(waiting)} {int(transit is not None)}")
    return lines


def test_a_full_packet_takes_one_opportunity(queue_driver: Path) -> None:
    assert drive(queue_driver, 10**6, [FULL, FULL, None]) == ["deliver 0", "counts 2 1 0 1 0"]


def test_small_packets_share_an_opportunity(queue_driver: Path) -> None:
    # 4 × (372 + 4) = 1504
    lines = drive(queue_driver, 10**6, [372] * 5 + [None])
    assert lines == ["deliver 0", "deliver 1", "deliver 2", "deliver 3", "counts 5 4 0 1 0"]


def test_a_packet_is_finished_by_the_next_opportunity(queue_driver: Path) -> None:
    lines = drive(queue_driver, 10**6, [52, FULL, None, None])
    assert lines == ["deliver 0", "deliver 1", "counts 2 2 0 0 0"]
    assert drive(queue_driver, 10**6, [52, FULL, None])[-1] == "counts 2 1 0 0 1"


def test_what_an_empty_queue_leaves_unspent_is_lost(queue_driver: Path) -> None:
    assert drive(queue_driver, 10**6, [None, None, FULL, FULL, None]) == ["deliver 0", "counts 2 1 0 1 0"]


def test_the_buffer_is_exact_to_one_byte(queue_driver: Path) -> None:
    assert drive(queue_driver, 2 * 1514, [FULL] * 3) == ["drop 2", "counts 3 0 1 2 0"]
    assert drive(queue_driver, 2 * 1514 - 1, [FULL] * 3) == ["drop 1", "drop 2", "counts 3 0 2 1 0"]


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    limit_bytes=st.integers(1514, 20_000),
    script=st.lists(st.one_of(st.none(), st.integers(20, FULL), st.just(FULL)), max_size=200),
)
def test_it_follows_the_model(queue_driver: Path, limit_bytes: int, script: list[int | None]) -> None:
    assert drive(queue_driver, limit_bytes, script) == model(limit_bytes, script)
