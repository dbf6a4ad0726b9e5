"""What endpoints say of themselves, read in one place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cambrian.trace.endpoint_events import Done, EndpointEvents, ReadBack


def events(*lines: dict[str, object]) -> EndpointEvents:
    return EndpointEvents(lines)


@pytest.mark.parametrize(
    ("names", "requested", "ran"),
    [
        ((), "cubic", None),
        (("cubic", "cubic"), "cubic", "cubic"),
        # one connection that ran something else is not hidden by those that did not
        (("cubic", "reno"), "cubic", "reno"),
        (("reno", "cubic"), None, "reno"),
        (("Cubic", "reno"), "cubic", "reno"),
    ],
)
def test_a_connection_that_differs_is_what_ran(names: tuple[str, ...], requested: str, ran: str) -> None:
    assert ReadBack(names).name(requested) == ran


def test_a_stack_that_cannot_tell_is_no_name() -> None:
    assert events({"event": "cca", "confirmed": None}).read_back.name("cubic") is None


def test_the_last_done_counts() -> None:
    said = events(
        {"event": "done", "time_ns": 1, "bytes": 5, "complete": False, "error": "reset"},
        {"event": "done", "time_ns": 2, "bytes": 9, "complete": True, "error": None},
    )
    assert said.done == Done(2, 9, complete=True, error=None)
    assert events({"event": "ready"}).done is None


@pytest.mark.parametrize("line", [{"time_ns": None}, {}])
def test_a_last_event_without_a_time_has_its_error_only(line: dict[str, object]) -> None:
    said = events({"event": "done", "bytes": 5, "complete": True, "error": "reset", **line})
    assert (said.done, said.complete_ns(0, 9), said.error) == (None, None, "reset")


def test_what_a_receiver_got_after_the_trials_end_is_not_complete() -> None:
    done = events({"event": "done", "time_ns": 1007, "bytes": 9, "complete": True})
    assert (done.complete_ns(1000, 7), done.complete_ns(1000, 6)) == (7, None)
    assert events({"event": "done", "time_ns": 1007, "complete": False}).complete_ns(1000, 7) is None


@pytest.mark.parametrize(
    ("lines", "made"),
    [
        ([], None),
        ([{"event": "ready", "role": "client"}], False),
        ([{"event": "connected", "time_ns": 1}], True),
        ([{"event": "progress", "time_ns": 1, "bytes": 0}], False),
        ([{"event": "progress", "time_ns": 1, "bytes": 10}], True),
        # lines of a foreign program's log
        ([{"event": "ready", "level": "info"}], None),
        ([{"event": "done", "level": "info", "bytes": 10}], None),
        ([{"event": "load", "time_ns": 1, "cpu": 0.5}], None),
        ([{"event": "stats", "role": "client"}], None),
    ],
)
def test_whether_a_connection_was_made(lines: list[dict[str, object]], made: bool | None) -> None:
    assert events(*lines).connected is made


def test_counts_of_several_connections_add_up() -> None:
    said = events(
        *[{"event": "connected", "time_ns": 1}] * 2,
        {"event": "stats", "packets_sent": 10, "ptos": 2},
        {"event": "stats", "packets_sent": 0, "ptos": 7},
        {"event": "stats", "packets_sent": 5, "ptos": 1},
    )
    assert said.total("ptos") == 3
    assert said.total("packets_lost") is None


def test_counts_so_far_are_not_added_up() -> None:
    """One line a second of one connection: the sum has the first losses in each line."""
    lines = [{"event": "stats", "packets_sent": 100 * second, "packets_lost": 3} for second in range(1, 4)]
    assert events(*lines).total("packets_lost") is None
    assert events({"event": "connected", "time_ns": 1}, *lines).total("packets_lost") is None
    assert events({"event": "connected", "time_ns": 1}, lines[-1]).total("packets_lost") == 3


def test_what_is_no_event_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "flow0.sender.out"
    path.write_text('listening\n[1]\n{"event": "ready"}\n{"event": "progress", "bytes": 1}\n{broken\n')
    said = EndpointEvents.read(path)
    assert [event["event"] for event in said.events] == ["ready", "progress"]
    assert [event["event"] for event in said.kept()] == ["ready"]
    assert EndpointEvents.read(tmp_path / "nothing.out").events == ()


def test_a_stored_trial_has_them_in_its_manifest() -> None:
    manifest = {"endpoints": {"flow1.sender": [{"event": "cca", "confirmed": "bbr"}]}}
    assert EndpointEvents.of(manifest, "flow1.sender").read_back.name("bbr") == "bbr"
    assert EndpointEvents.of(manifest, "flow0.sender").events == ()


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ('{"event": "done", "time_ns": "soon"}', 'time_ns = "soon", which must be a whole number'),
        ('{"event": "done", "time_ns": true}', "time_ns = true, which must be a whole number"),
        ('{"event": "done", "time_ns": 1e400}', "time_ns = Infinity, which must be a whole number"),
        ('{"event": "done", "time_ns": %s}' % ("9" * 400), "time_ns of 1329 bits, more than 63"),
        ('{"event": "stats", "ptos": -5}', "ptos = -5, which must not be negative"),
        ('{"event": "done", "time_ns": -1}', "time_ns = -1, which must not be negative"),
        (
            '{"event": "stats", "packets_sent": 13000, "packets_lost": 1000000}',
            "packets_lost = 1,000,000 of packets_sent = 13,000",
        ),
        ('{"event": "done", "complete": 1}', "complete = 1, which must be true or false"),
        ('{"event": "cca", "confirmed": {}}', "confirmed = {}, which must be text"),
        ('{"event": "done", "error": "%s"}' % ("x" * 5000), "error of 5000 characters, more than 2000"),
    ],
)
def test_an_event_of_other_types_is_named_and_left_out(tmp_path: Path, line: str, wrong: str) -> None:
    path = tmp_path / "flow0.sender.out"
    path.write_text(f'{{"event": "ready", "role": "server"}}\n{line}\n')
    said = EndpointEvents.read(path)
    assert [event["event"] for event in said.events] == ["ready"]
    assert said.odd == f"wrote an event with {wrong}"
    # the same line in a log of a program that does not follow the contract: it has no time
    path.write_text(f'{{"event": "ready"}}\n{line}\n')
    assert EndpointEvents.read(path).odd == (said.odd if "time_ns" in line else "")


def test_a_client_that_writes_each_time_as_a_fraction_is_named(tmp_path: Path) -> None:
    """Python's ``time.time() * 1e9``. A client need not write ``ready``: nothing else shows the contract."""
    path = tmp_path / "flow0.receiver.out"
    lines = [{"event": event, "time_ns": 1.8e18} for event in ("connected", "done")]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    said = EndpointEvents.read(path)
    assert (
        said.events == ()
        and said.odd == "wrote an event with time_ns = 1.8e+18, which must be a whole number"
    )


def test_lines_that_are_no_events_are_ignored(tmp_path: Path) -> None:
    path = tmp_path / "flow0.sender.out"
    path.write_text(
        "[" * 100_000 + '\n"event"\n[1]\n\0\n{"event": "ready"}\n{"level": 3}\n{"event": ["ready"]}\n'
    )
    said = EndpointEvents.read(path)
    assert (len(said.events), said.odd) == (1, "")


@pytest.mark.parametrize(
    "line",
    [
        '{"event": "fetch started", "level": "info"}',
        '{"level": "error", "msg": "retry", "error": {"code": 3}}',
        '{"level": "info", "msg": "got", "bytes": 1.5}',
        '{"event": {"dataset": "client"}, "time_ns": "soon"}',
    ],
)
def test_a_foreign_programs_log_is_no_event(tmp_path: Path, line: str) -> None:
    path = tmp_path / "flow0.receiver.out"
    path.write_text(f"{line}\n")
    assert EndpointEvents.read(path) == EndpointEvents(())


def test_half_of_a_surrogate_pair_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "flow0.sender.out"
    path.write_text('{"event": "done", "error": "bad \\ud800 word, \\ud83d\\ude00", "n": [{"\\uDFFF": 1}]}\n')
    said = EndpointEvents.read(path)
    assert said.error == "bad ? word, \N{GRINNING FACE}"
    assert said.events[0]["n"] == [{"?": 1}]


def test_of_many_events_the_first_and_the_last_are_stored() -> None:
    events = [
        {"event": "ready"},
        *({"event": "cca", "confirmed": "cubic"} for _ in range(5000)),
        {"event": "done"},
    ]
    stored = EndpointEvents(events).kept()
    assert len(stored) == 1000
    assert (stored[0], stored[-1]) == (events[0], events[-1])
