"""A bad study gets one error that names file, line, key, fault and remedy."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cambrian.study.errors import StudyError
from cambrian.study.load import load_study, parse_study
from cambrian.study.tables import HEADING_KEYS, TABLE_KEYS

CATALOGUE = {
    "tcp": ["cubic", "reno", "bbr"],
    "quinn": ["cubic", "reno", "bbr"],
    "google-quiche": ["cubic", "bbr", "bbr2"],
}

GOOD = """\
name = "x"
title = "X"
[[network]]
rate_mbps = 20
rtt_ms = 50
buffer_bdp = 1
[[contestant]]
stack = "quinn"
cca = "cubic"
"""

TITLE = 'title = "X"'
RATE, RTT, BUFFER = "rate_mbps = 20", "rtt_ms = 50", "buffer_bdp = 1"
CONTESTANT = "[[contestant]]"


def reference_of(stack: str, cca: str) -> str | None:
    return {"bbr2": None}.get(cca, cca)


def error_of(text: str) -> StudyError:
    with pytest.raises(StudyError) as caught:
        parse_study(text, "x.toml", Path(), CATALOGUE, reference_of)
    return caught.value


def test_the_good_study_is_good() -> None:
    assert parse_study(GOOD, "x.toml", Path(), CATALOGUE, reference_of).name == "x"


@pytest.mark.parametrize(
    ("old", "new", "line", "key", "remedy"),
    [
        # wrong units
        (RTT, "rtt_s = 0.05", 5, "rtt_s", "give rtt_ms (milliseconds): rtt_ms = 50"),
        (RTT, "rtt = 50", 5, "rtt", "give rtt_ms (milliseconds)"),
        (RTT, "delay_ms = 25", 5, "delay_ms", "rtt_ms = 50"),
        (TITLE, TITLE + "\nwarmup_ms = 5000", 3, "warmup_ms", "measured_from_s = 5"),
        (RTT, "rtt_s = [0.01]", 5, "rtt_s", "give rtt_ms (milliseconds)"),
        (RATE, "rate_kbps = 20000", 4, "rate_kbps", "(megabits a second): rate_mbps = 20"),
        (RATE, f"rate_kbps = {'9' * 401}", 4, "rate_kbps", "give rate_mbps (megabits a second)"),
        (RATE, "bandwidth = 20", 4, "bandwidth", "give rate_mbps (megabits a second)"),
        (RATE, "bandwidth_gbps = 0.02", 4, "bandwidth_gbps", "rate_mbps = 20"),
        (BUFFER, "buffer_kib = 64", 6, "buffer_kib", "buffer_bytes = 65536"),
        (RTT, RTT + "\nloss = 1", 6, "loss", "give loss_percent (percent)"),
        (RTT, RTT + "\nloss_rate = 0.01", 6, "loss_rate", "loss_percent = 1"),
        (TITLE, TITLE + '\nduration_min = 2', 3, "duration_min", "duration_s = 120"),
        (TITLE, TITLE + '\ntrials = 2', 3, "trials", "give seeds"),
        # unknown or misplaced keys
        (BUFFER, "buffer_bpd = 1", 6, "buffer_bpd", "did you mean buffer_bdp?"),
        (RTT, RTT + "\nseeds = 5", 6, "seeds", "move it above the first [[table]]"),
        (RTT, RTT + '\ncca = "bbr"', 6, "cca", "belongs in [[contestant]]"),
        (TITLE, TITLE + '\nrtt_ms = 5', 3, "rtt_ms", "belongs in [[network]]"),
        (TITLE, 'titel = "X"', 2, "titel", "did you mean title?"),
        (CONTESTANT, "[[contestants]]", 7, "contestants", "give contestant"),
        (CONTESTANT, "[profile.quik]\nseeds = 2\n" + CONTESTANT, 7, "quik", "did you mean quick?"),
        (CONTESTANT, "[profile.quick]\nseed = 2\n" + CONTESTANT, 8, "seed", "did you mean seeds?"),
        # missing keys
        (RTT + "\n", "", 3, "rtt_ms", "add rtt_ms = 50"),
        ('name = "x"\n', "", 1, "name", 'add name = "my-study"'),
        ('cca = "cubic"\n', "", 7, "cca", 'add cca = "cubic"'),
        ('[[contestant]]\nstack = "quinn"\ncca = "cubic"\n', "", 1, "design", "add a [[contestant]] table"),
        # impossible values
        (RTT, "rtt_ms = 0", 5, "rtt_ms", "a number at least 0.01 and at most 10,000"),
        (RTT, "rtt_ms = [10, -1]", 5, "rtt_ms", "a number at least 0.01"),
        (RTT, "rtt_ms = 0,5", 5, "rtt_ms", "a decimal point"),
        (RTT, RTT + "\nmtu_bytes = 1400", 6, "mtu_bytes", "packets of 1500 bytes"),
        (RTT, RTT + "\nreturn_rate_mbps = 1", 6, "return_rate_mbps", "only the bottleneck has a rate"),
        (RTT, RTT + "\nloss_percent = 100", 6, "loss_percent", "a step of schedule"),
        (RTT, RTT + "\nreorder_percent = 100", 6, "reorder_percent", "give less"),
        (RTT, "forward_delay_percent = 0\nreorder_percent = 5\n" + RTT, 6, "reorder_percent", "above 0"),
        (RTT, "rtt_ms = nan", 5, "rtt_ms", "a number at least 0.01"),
        (RTT, RTT + "\njitter_ms = inf", 6, "jitter_ms", "a number at least 0"),
        (RTT, 'rtt_ms = "50"', 5, "rtt_ms", "without quotes"),
        (RTT, "rtt_ms = true", 5, "rtt_ms", "a number at least 0.01"),
        (RTT, "rtt_ms = []", 5, "rtt_ms", "at least one value"),
        (RTT, RTT + "\necn = 1", 6, "ecn", "true or false"),
        (RTT, RTT + '\nqueue = "codle"', 6, "queue", 'give "codel"'),
        (RTT, RTT + '\nqueue = "policer"', 6, "queue", "nearest is a small buffer_packets"),
        ('cca = "cubic"', 'cca = "cubic"\nlabel = "a\u202eb"', 10, "label", "those that turn its direction"),
        (BUFFER, "buffer_bytes = 1.5", 6, "buffer_bytes", "a whole number at least 1,514"),
        ('name = "x"', 'name = "X y"', 1, "name", "lower-case letters"),
        ('name = "x"', 'name = "Policer-MTU"', 1, "name", "lower-case letters"),
        (TITLE, TITLE + '\ndesign = "duel"', 3, "design", '"versus-reference"'),
        ('cca = "cubic"', 'cca = "cubic"\noptions = { a = [1] }', 10, "a", "one [[contestant]] for each"),
        (TITLE, TITLE + "\ndescription = 1979-05-27", 3, "description", "text in quotes"),
        (RTT, RTT + "\nburst_loss = 3", 6, "burst_loss", "give a table"),
        ('cca = "cubic"', 'cca = "cubic"\noptions = [1]', 10, "options", "give a table"),
        ('cca = "cubic"', 'cca = "cubic"\nlabel = [', 10, "label", "close the list with ]"),
        (TITLE, 'title = [\nseeds = 3', 3, "seeds", "close the list with ]"),
        (TITLE, "title =", 2, "title", "give a value after ="),
        (RTT, RTT + "\nschedule = [\n{ at_s = 0, rtt_ms = 3 }]", 7, "at_s", "above 0 and at most 36,000"),
        ('cca = "cubic"', 'cca = "cubic"\nreceiver_cpu = 60', 10, "receiver_cpu", "give a table"),
        ('cca = "cubic"', 'cca = "cubic"\nreceiver_cpu = {}', 10, "receiver_cpu", "per_packet_us or"),
        ('"cubic"', '"cubic"\nreceiver_cpu = { per_packet_ms = 1 }', 10, "per_packet_ms", "per_packet_us"),
        ('"cubic"', '"cubic"\nreceiver_cpu = { per_syscall_us = -1 }', 10, "per_syscall_us", "at least 0"),
        (RTT, RTT + "\nburst_loss = { good_to_bad_percent = 1 }", 6, "bad_to_good_percent", "add "),
        (
            RTT,
            RTT + "\nburst_loss.good_to_bad_percent = 1\nburst_loss.bad_to_good_percent = 1"
            "\nburst_loss.loss_in_good_percent = 100",
            6,
            "burst_loss",
            "give loss_in_good_percent below 100",
        ),
        (BUFFER, BUFFER + f'\nname = "{"a" * 101}"', 7, "name", "give a name of at most 100"),
        (BUFFER, BUFFER + '\nqueue = "pie"\naqm_interval_ms = 1.5', 8, "aqm_interval_ms", "give 2"),
        (RTT, RTT + "\nburst_loss = { good_to_bad = 1 }", 6, "good_to_bad", "mean good_to_bad_percent?"),
        (RTT, RTT + "\nschedule = [\n{ at_s = 1 }]", 7, "schedule", "name rate_mbps, rtt_ms,"),
        (RTT, RTT + "\nschedule = [\n{ at_s = 1, rtt_s = 3 }]", 7, "rtt_s", "rtt_ms = 3000"),
        (RTT, RTT + "\nschedule = [\n{ at_s = 60, rtt_ms = 3 }]", 7, "at_s", "a longer duration_s"),
        (
            RTT,
            RTT + "\nschedule = [\n{ at_s = 50, handover_overlap_ms = 10000 }]",
            7,
            "handover_overlap_ms",
            "a smaller handover_overlap_ms",
        ),
        (
            RTT,
            RTT
            + "\nschedule = [{ at_s = 1, handover_overlap_ms = 900 },"
            + "{ at_s = 1.5, handover_overlap_ms = 0 }]",
            3,
            "network",
            "give a later at_s",
        ),
        (RTT, RTT + "\nname = ['a', 'b']", 6, "name", "one name with keys in it"),
        (RTT, RTT + "\nname = 'a/b'", 6, "name", "letters and digits"),
        (RTT, RTT + "\nname = 'a{'", 6, "name", "write {key}"),
        (RTT, RTT + "\nname = '{quue}'", 6, "name", "did you mean queue?"),
        (RTT, RTT + "\nname = '{buffer_bytes}'", 6, "name", "or give buffer_bytes"),
        (TITLE, TITLE + '\nstart_spread_ms = 60000', 3, "start_spread_ms", "a smaller start_spread_ms"),
        # what does not go together
        (RTT, RTT + "\noffload = true\njitter_ms = 1", 7, "jitter_ms", "remove offload or jitter_ms"),
        ("rate_mbps = 20\n", "", 3, "network", "exactly one of rate_mbps and trace_file"),
        (BUFFER, BUFFER + "\nbuffer_bytes = 9000", 7, "buffer_bytes", "exactly one of buffer_bdp"),
        (RTT, RTT + "\necn = true", 6, "ecn", "needs an AQM queue"),
        (RTT, RTT + "\naqm_target_ms = 5", 6, "aqm_target_ms", "name an AQM as queue"),
        (RTT, RTT + "\nqueue = 'fq'\necn = true", 7, "ecn", "needs one of codel, fq_codel"),
        (RTT, RTT + "\nqueue = 'red'\naqm_target_ms = 5", 7, "aqm_target_ms", "remove it"),
        (RTT, "rtt_ms = [50, 50]", 3, "network", "a list has twice"),
        ('cca = "cubic"', 'cca = ["cubic", "cubic"]', 9, "label", "a list has twice"),
        ('"quinn"\ncca = "cubic"', '"tcp"\ncca = "cubic"\ntls = true', 7, "label", "give it a label"),
        ('cca = "cubic"', 'cca = "cubic"\nlabel = "中国"', 10, "label", "give a label with some"),
        ('cca = "cubic"', 'cca = "cubic"\nlabel = " "', 10, "label", "give a label with some"),
        ('cca = "cubic"', 'cca = "cubic"\nlabel = "TCP cubic"', 10, "label", "give another label"),
        ('cca = "cubic"', 'cca = "cubic"\nlabel = "placebo (tcp reno)"', 10, "label", "give another label"),
        ('cca = "cubic"', 'cca = "cubic"\nlabel = ".."', 10, "label", "give a label with some"),
        (TITLE, TITLE + '\ndesign = "flows"', 3, "design", "add a [[flow]]"),
        (CONTESTANT, "[[flow]]\ncca = 'bbr'\nstack = 'tcp'\n" + CONTESTANT, 7, "flow", 'design = "flows"'),
        (CONTESTANT, "[profile.quick]\nnetworks = ['20*', 'foo']\n" + CONTESTANT, 8, "networks",
         "the networks are:"),
        (CONTESTANT, "[profile.quick]\nnetworks = []\n" + CONTESTANT, 8, "networks", "not empty"),
        (CONTESTANT, "[profile.quick]\nduration_s = 1e6\n" + CONTESTANT, 8, "duration_s", "at most 36,000"),
        (TITLE, TITLE + "\nstart_spread_ms = 2e3\nprofile.full.duration_s = 1", 3, "start_spread_ms", "1 s"),
        (CONTESTANT, "[profile.full]\ncontestants = ['q']\n" + CONTESTANT, 8, "contestants", "are: quinn"),
        (CONTESTANT, "[profile.quick]\nlineups = ['a']\n" + CONTESTANT, 8, "lineups", "there are none"),
        (TITLE, TITLE + "\nmeasured_from_s = 60", 3, "measured_from_s", "an earlier measured_from_s"),
        (CONTESTANT, "[[lineup]]\nname = 'a'\nflows = [{ stack = 'tcp', cca = 'bbr' }]\n" + CONTESTANT,
         7, "lineup", 'design = "flows"'),
        # names of others
        ('"quinn"', '"quin"', 8, "stack", "did you mean quinn?"),
        ('"cubic"', '["cubic", "bbr3"]', 9, "cca", "quinn has: bbr, cubic or reno"),
        ('"cubic"', '"cubic"\nreceiver = "quin"', 10, "receiver", "did you mean quinn?"),
        ('"quinn"\ncca = "cubic"', '"google-quiche"\ncca = "bbr2"', 9, "cca", "choose another CCA"),
        (RATE, 'trace_file = "none.trace"', 4, "trace_file", "relative to the study"),
        # syntax
        (RTT, "rtt_ms = 50 ms", 5, "rtt_ms", "one key = value per line"),
        ('"quinn"', "quinn", 8, "stack", "in quotes"),
        (RTT, "rtt_ms: 50", 5, "", "write key = value"),
        (RTT, RTT + "\nrtt_ms = 60", 6, "rtt_ms", "give each key once"),
        ('cca = "cubic"', 'cca = ["cubic"', 9, "cca", "close the list"),
        ("[[network]]", "[network]", 3, "network", "use double brackets: [[network]]"),
    ],
)  # fmt: skip
def test_one_clear_error(old: str, new: str, line: int, key: str, remedy: str) -> None:
    assert old in GOOD
    error = error_of(GOOD.replace(old, new, 1))
    assert (error.file, error.line, error.key) == ("x.toml", line, key)
    assert remedy in error.remedy
    assert str(error).startswith(f"x.toml:{line}:")
    assert error.problem in str(error)
    assert "\n  remedy: " in str(error)


def test_labels_of_one_file_name_are_not_called_the_same() -> None:
    other = '\n[[contestant]]\nstack = "quinn"\ncca = "reno"\nlabel = "quinn-cubic!"\n'
    error = error_of(GOOD + other)
    assert error.problem == '"quinn cubic" and "quinn-cubic!" give the same name of a file, quinn-cubic'
    # the label is what the user changes
    assert error.source.startswith("label = ")


def test_networks_of_two_tables_get_names_of_their_own() -> None:
    network = GOOD[GOOD.index("[[network]]") : GOOD.index(CONTESTANT)]
    named = network.replace(RTT, RTT + '\nname = "n"')
    error = error_of(GOOD.replace(network, named + named.replace("20", "30")))
    assert (error.line, error.remedy) == (11, 'give each a name of its own, such as name = "n-2"')


def test_a_text_that_the_file_s_end_cuts_off_needs_a_quote() -> None:
    assert error_of(GOOD.rstrip('"\n')).remedy == "close the text with a quote"


def test_a_byte_order_mark_is_accepted(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text(GOOD, encoding="utf-8-sig")
    assert load_study(path, CATALOGUE, reference_of).name == "x"


def test_the_first_fault_in_the_file_is_the_one_reported() -> None:
    text = (
        GOOD.replace('"quinn"', '"quin"')
        .replace("buffer_bdp", "bufer_bdp")
        .replace("rtt_ms = 50", "rtt_ms = 0")
    )
    assert error_of(text).key == "bufer_bdp"  # the table is not looked at closer until its keys are known
    text = text.replace("bufer_bdp", "buffer_bdp")
    assert (error_of(text).line, error_of(text).key) == (5, "rtt_ms")
    text = text.replace("rtt_ms = 0", "rtt_ms = 50")
    assert (error_of(text).line, error_of(text).key) == (8, "stack")


def test_no_more_flows_than_a_trial_can_hold() -> None:
    flows = "[[flow]]\nstack = 'tcp'\ncca = 'bbr'\n"
    text = GOOD.partition(CONTESTANT)[0].replace(TITLE, TITLE + '\ndesign = "flows"')
    parse_study(text + 64 * flows, "x.toml", Path(), CATALOGUE)
    error = error_of(text + 65 * flows)
    assert (error.line, error.key) == (8 + 64 * 3, "flow")


def test_a_study_without_networks() -> None:
    error = error_of('name = "x"\ntitle = "X"\n')
    assert (error.line, error.key, error.remedy) == (1, "network", "add a [[network]] table")


KEYS = sorted({key for keys in (HEADING_KEYS, *TABLE_KEYS.values()) for key in keys} | {"rtt_s", "network"})
VALUES = [
    "0",
    "-1",
    "1e400",
    "nan",
    "true",
    '""',
    '"x"',
    "[]",
    "[1, 'a']",
    "{}",
    "{ a = 1 }",
    "[{}]",
    "1979-05-27",
    "[[1]]",
]


@given(st.integers(0, GOOD.count("\n")), st.sampled_from(KEYS), st.sampled_from(VALUES))
def test_no_line_of_nonsense_gives_a_traceback(line: int, key: str, value: str) -> None:
    lines = GOOD.splitlines()
    check_verdict("\n".join([*lines[:line], f"{key} = {value}", *lines[line:]]))


@given(st.integers(0, len(GOOD)), st.integers(0, 12), st.text(alphabet="[]{}=\"'#.,\n\\ \xe9a1", max_size=4))
def test_no_damage_gives_a_traceback(start: int, length: int, text: str) -> None:
    check_verdict(GOOD[:start] + text + GOOD[start + length :])


def check_verdict(text: str) -> None:
    """The study is fine, or its error is complete."""
    try:
        parse_study(text, "x.toml", Path(), CATALOGUE, reference_of)
    except StudyError as error:
        assert error.problem
        assert error.remedy
        assert error.line is None or 1 <= error.line <= text.count("\n") + 1


def test_columns_point_into_lists() -> None:
    assert error_of(GOOD.replace("rtt_ms = 50", "rtt_ms = [10, -1]")).column == 15


def test_lines_are_right_with_windows_line_ends() -> None:
    assert error_of(GOOD.replace("rtt_ms = 50", "rtt_s = 1").replace("\n", "\r\n")).line == 5


def test_a_bad_trace_is_named_by_its_own_file_and_line(tmp_path: Path) -> None:
    (tmp_path / "bad.trace").write_text("1\n2\nthree\n")
    study = tmp_path / "study.toml"
    study.write_text(GOOD.replace("rate_mbps = 20", 'trace_file = "bad.trace"'))
    with pytest.raises(StudyError) as caught:
        load_study(study, CATALOGUE)
    assert (caught.value.file, caught.value.line) == (str(tmp_path / "bad.trace"), 3)
    assert "'three'" in caught.value.problem


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="no such file") as caught:
        load_study(tmp_path / "none.toml", CATALOGUE)
    assert caught.value.line is None
    (tmp_path / "latin.toml").write_bytes(b'name = "x"\ntitle = "\xe9"\n')
    with pytest.raises(StudyError, match="UTF-8") as caught:
        load_study(tmp_path / "latin.toml", CATALOGUE)
    assert caught.value.line == 2
    with pytest.raises(StudyError, match="is a directory"):
        load_study(tmp_path, CATALOGUE)


FLOWS = """\
name = "x"
title = "X"
design = "flows"
[[network]]
rate_mbps = 20
rtt_ms = 50
buffer_bdp = 1
[[lineup]]
name = "two"
flows = [
  { stack = "tcp", cca = "cubic", count = 2 },
]
"""


@pytest.mark.parametrize(
    ("old", "new", "line", "key", "remedy"),
    [
        ("count = 2", "count = 65", 11, "count", "from 1 to 64"),
        ("count = 2", "count = true", 11, "count", "from 1 to 64"),
        ("},\n]", '},\n  { stack = "tcp", cca = "cubic", count = 63 },\n]', 12, "flows", "reduce its count"),
        ('"tcp"', '"tpc"', 11, "stack", "did you mean tcp?"),
        ("count = 2", "cuont = 2", 11, "cuont", "did you mean count?"),
        ('"cubic"', '["cubic", "bbr"]', 11, "cca", "write one entry of flows for each value"),
        ('"two"', '"two words"', 9, "name", "letters and digits"),
        ('name = "two"\n', "", 8, "name", "add "),
        ("[[lineup]]", '[[flow]]\nstack = "tcp"\ncca = "cubic"\n[[lineup]]', 8, "flow", "into a [[lineup]]"),
    ],
)
def test_one_clear_error_of_line_ups(old: str, new: str, line: int, key: str, remedy: str) -> None:
    assert old in FLOWS
    error = error_of(FLOWS.replace(old, new, 1))
    assert (error.line, error.key) == (line, key)
    assert remedy in error.remedy


def test_two_line_ups_need_two_names() -> None:
    error = error_of(FLOWS + FLOWS[FLOWS.index("[[lineup]]") :])
    assert (error.line, error.key) == (14, "name")


def test_no_more_line_ups_than_a_study_can_hold() -> None:
    more = "".join(
        f'[[lineup]]\nname = "{number}"\nflows = [{{ stack = "tcp", cca = "cubic" }}]\n'
        for number in range(1000)
    )
    error = error_of(FLOWS + more)
    assert (error.line, error.key, error.problem) == (13 + 3 * 999, "lineup", "more than 1,000 line-ups")
    assert not error.others


PAUSES = (
    '{ stack = "tcp", cca = "bbr", client = "light", '
    "page = { objects = [{ count = 20, size_bytes = 400, after_ms = 1000 }] } }"
)
LATE = '{ stack = "tcp", cca = "bbr", start_ms = 30_000 }'


@pytest.mark.parametrize(
    ("flow", "key", "problem"),
    [(LATE, "start_ms", "this flow might never start"), (PAUSES, "page", "its images wait for 20 s in all")],
)
def test_a_profile_cuts_the_line_ups_that_it_keeps(flow: str, key: str, problem: str) -> None:
    text = f'{FLOWS}[[lineup]]\nname = "long"\nflows = [{flow}]\n[profile.quick]\nduration_s = 10\n'
    assert (error_of(text).key, error_of(text).problem) == (key, problem)
    assert error_of(text + 'lineups = ["l*"]\n').problem == problem
    parse_study(text + 'lineups = ["two"]\n', "x.toml", Path(), CATALOGUE, reference_of)


def test_a_name_means_one_contestant_in_all_line_ups() -> None:
    other = '[[lineup]]\nname = "one"\nflows = [{ stack = "tcp", cca = "cubic" }]\n'
    parse_study(FLOWS + other, "x.toml", Path(), CATALOGUE, reference_of)
    error = error_of(FLOWS + other.replace('"cubic"', '"cubic", tls = true'))
    assert error.problem == 'two different contestants are called "tcp cubic"'
    assert (error.line, error.key) == (15, "label")


def test_all_errors_are_reported_at_once() -> None:
    text = GOOD.replace(RTT, "rtt_ms = -1").replace('cca = "cubic"', 'cca = "cubi"')
    error = error_of(text.replace(TITLE, TITLE + "\nquestion = 1"))
    lines = str(error).splitlines()
    assert [line.split(": ")[1] for line in lines if line.startswith("x.toml:")] == [
        "question",
        "rtt_ms",
        "cca",
    ]
    assert lines[lines.index("    rtt_ms = -1") + 1] == "    ^"
    assert [one.key for one in error.others] == ["rtt_ms", "cca"]
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_nothing_of_a_file_controls_the_terminal() -> None:
    text = str(error_of(GOOD.replace(RTT, "rtt_ms = -1 # \t" + chr(0x9B) + "31m")))
    assert "rtt_ms = -1 #  ?31m" in text and all(one.isprintable() or one == "\n" for one in text)


def test_a_value_that_fits_no_type_is_one_error() -> None:
    error = error_of(GOOD.replace('cca = "cubic"', 'cca = "cubic"\noptions = { a = [3, 4] }'))
    assert not error.others


def test_many_errors_are_counted() -> None:
    more = "".join(f'[[contestant]]\nstack = "no{number}"\ncca = "cubic"\n' for number in range(15))
    text = str(error_of(GOOD + more))
    assert text.count("remedy: ") == StudyError.MOST
    assert text.endswith("and 5 more errors")


def test_flows_alone_ask_for_their_design() -> None:
    error = error_of(GOOD.replace(CONTESTANT, "[[flow]]"))
    assert (error.line, error.problem) == (7, 'design = "versus-reference" takes no [[flow]]')
    assert 'set design = "flows"' in error.remedy and not error.others


def test_a_flow_has_one_value_of_each_key() -> None:
    flows = GOOD.replace(TITLE, TITLE + '\ndesign = "flows"').replace(CONTESTANT, "[[flow]]")
    error = error_of(flows.replace('cca = "cubic"', 'cca = ["cubic", "bbr"]'))
    assert (error.key, error.remedy) == ("cca", "write one [[flow]] for each value")


def test_two_flows_of_one_name_have_one_meaning() -> None:
    flows = GOOD.replace(TITLE, TITLE + '\ndesign = "flows"').replace(CONTESTANT, "[[flow]]")
    again = '[[flow]]\nstack = "quinn"\ncca = "cubic"\n'
    parse_study(flows + again, "x.toml", Path(), CATALOGUE, reference_of)
    error = error_of(flows + again + "options = { pacing = false }\n")
    assert error.problem == 'two different contestants are called "quinn cubic"' and error.key == "label"


@pytest.mark.parametrize(
    ("more", "key", "problem"),
    [
        (
            "schedule = [{ at_s = 3, rate_mbps = 4 }, { at_s = 3, rate_mbps = 9 }]",
            "rate_mbps",
            "another step",
        ),
        ("loss_percent = 100\nschedule = [{ at_s = 3, loss_percent = 100 }]", "loss_percent", "loses every"),
    ],
)
def test_a_schedule_is_clear(more: str, key: str, problem: str) -> None:
    error = error_of(GOOD.replace(BUFFER, f"{BUFFER}\n{more}"))
    assert error.key == key and problem in error.problem
    good = more.replace("rate_mbps = 9", "rtt_ms = 9").replace("loss_percent = 100 }", "loss_percent = 1 }")
    parse_study(GOOD.replace(BUFFER, f"{BUFFER}\n{good}"), "x.toml", Path(), CATALOGUE, reference_of)


def test_an_outage_ends_within_the_shortest_trials() -> None:
    """The profile's trials ended before the step that ends the outage."""
    outage = f"{BUFFER}\nloss_percent = 100\nschedule = [{{ at_s = 8, loss_percent = 0 }}]"
    text = GOOD.replace(BUFFER, outage)
    parse_study(text, "x.toml", Path(), CATALOGUE, reference_of)
    error = error_of(f"{text}\n[profile.quick]\nduration_s = 5\n")
    assert error.key == "loss_percent" and "5 s of a trial in the profile quick" in error.problem


def test_a_step_of_the_round_trip_is_for_all_flows() -> None:
    flows = GOOD.replace(TITLE, TITLE + '\ndesign = "flows"').replace(CONTESTANT, "[[flow]]\nrtt_ms = 20")
    error = error_of(flows.replace(BUFFER, BUFFER + "\nschedule = [{ at_s = 5, rtt_ms = 80 }]"))
    assert "sets one rtt_ms for all flows" in error.problem and error.key == "rtt_ms"


@pytest.mark.parametrize(
    ("old", "new", "key", "problem", "remedy"),
    [
        (
            RATE,
            "rate_mbps = [20, 20]",
            "network",
            'two networks are the same, "20mbps-50ms-1bdp"',
            "a list has twice",
        ),
        (
            RATE,
            'name = "a"\nrate_mbps = [10, 20]',
            "name",
            "two networks are called",
            'to the name, in braces: name = "…-{rate_mbps}"',
        ),
        (
            'stack = "quinn"',
            'stack = ["quinn", "quinn"]',
            "label",
            'two contestants are the same, "quinn cubic"',
            "a list has twice",
        ),
        (
            CONTESTANT,
            '[[contestant]]\nstack = "quinn"\ncca = "cubic"\noptions = { pacing = false }\n[[contestant]]',
            "label",
            'two contestants are called "quinn cubic"',
            "give each its own table and label",
        ),
        (
            'cca = "cubic"',
            'cca = "cubic"\nlabel = ["a"]',
            "label",
            "a list here is not possible",
            "give text",
        ),
    ],
)
def test_what_is_the_same_is_told_from_what_has_the_same_name(
    old: str, new: str, key: str, problem: str, remedy: str
) -> None:
    assert old in GOOD
    error = error_of(GOOD.replace(old, new))
    assert (key == error.key, problem in error.problem, remedy in error.remedy) == (True,) * 3, error
