"""``[stopping]``: what it asks for, what does not go with it, and what it costs."""

from __future__ import annotations

from pathlib import Path

import pytest

from cambrian.study import cost
from cambrian.study.errors import StudyError
from cambrian.study.expand import expand
from cambrian.study.load import parse_study
from cambrian.study.model import Study

CATALOGUE = {"tcp": ["cubic", "reno"], "quic-go": ["cubic"]}
HEAD = 'name = "x"\ntitle = "X"\n'
RULE = "[stopping]\nmin_seeds = 8\nmax_seeds = 12\nhalf_width_mbps = 0.5\n"
NETWORK = "[[network]]\nrate_mbps = 20\nrtt_ms = 50\nbuffer_bdp = 1\n"
CONTESTANT = '[[contestant]]\nstack = "tcp"\ncca = "cubic"\n'
PAGES = '[page_load]\npages = ["beta-small"]\n'
FLOW = '[[flow]]\nstack = "tcp"\ncca = "cubic"\n'
SOLO, PAIRWISE, FLOWS = (f'design = "{name}"\n' for name in ("solo", "pairwise", "flows"))


def load(text: str) -> Study:
    return parse_study(text, "x.toml", Path(), CATALOGUE)


def error_of(text: str) -> StudyError:
    with pytest.raises(StudyError) as caught:
        load(text)
    return caught.value


def test_a_group_has_as_many_trials_as_it_may_need() -> None:
    study = load(HEAD + SOLO + RULE + NETWORK + CONTESTANT)
    (group,) = expand(study, seed_base=5, reference_of=lambda stack, cca: cca)
    assert [trial.seed for trial in group.trials] == list(range(5, 17))
    assert group.least_trials == 8
    assert group.stopping is not None
    assert (group.stopping.measure, group.stopping.half_width) == ("throughput_mbps", 0.5)


def test_the_defaults_are_prudentias() -> None:
    stopping = load(HEAD + "[stopping]\nhalf_width_mbps = 1.5\n" + NETWORK + CONTESTANT).stopping
    assert stopping is not None
    assert (stopping.min_seeds, stopping.max_seeds) == (10, 30)


def test_a_profile_s_seeds_set_the_rule_aside() -> None:
    study = load(HEAD + SOLO + RULE + "[profile.quick]\nseeds = 2\n[profile.full]\nduration_s = 9\n"
                 + NETWORK + CONTESTANT)  # fmt: skip
    (quick,) = expand(study, profile="quick", reference_of=lambda stack, cca: cca)
    assert (len(quick.trials), quick.stopping) == (2, None)
    (full,) = expand(study, profile="full", reference_of=lambda stack, cca: cca)
    assert (len(full.trials), full.stopping) == (12, study.stopping)


def test_cost_says_the_least_and_the_most() -> None:
    speed = cost.Speed(ratios={}, other=60.0, boot_s=0.0)  # one second a trial
    groups = expand(
        load(HEAD + SOLO + RULE + NETWORK + CONTESTANT.replace('"cubic"', '["cubic", "reno"]')),
        reference_of=lambda stack, cca: cca,
    )
    found = cost.estimate(groups, speed, jobs=2)
    assert found.at_least is not None
    assert (found.at_least.trials, found.at_least.wall_s) == (16, 8)
    assert (found.trials, found.wall_s) == (24, 12)
    assert str(found) == "16 to 24 trials, about 8 s to 12 s on these 2 cores"
    # alone, a group's last trials wait for each other, however many cores there are
    assert cost.estimate(groups[:1], speed, jobs=100).wall_s == 5


@pytest.mark.parametrize(
    ("text", "line", "key", "remedy"),
    [
        # unknown keys, wrong places and units
        (HEAD + "[stopping]\nmin_seed = 8\n" + NETWORK, 4, "min_seed", "did you mean min_seeds?"),
        (HEAD + "[stopping]\nhalf_width_kbps = 500\n" + NETWORK, 4, "half_width_kbps",
         "half_width_mbps = 0.5"),
        (HEAD + "[stopping]\nhalf_width_s = 0.1\n" + NETWORK, 4, "half_width_s", "half_width_plt_ms = 100"),
        (HEAD + "[stopping]\nseeds = 9\n" + NETWORK, 4, "seeds", "above the first [[table]]"),
        (HEAD + "max_seeds = 9\n" + NETWORK, 3, "max_seeds", "belongs in [stopping]"),
        (HEAD + "stopping = 9\n" + NETWORK, 3, "stopping", "write [stopping] on a line"),
        (HEAD + "[[stopping]]\nmin_seeds = 9\n" + NETWORK, 3, "stopping", "write [stopping] on a line"),
        # impossible values
        (HEAD + "[stopping]\nhalf_width_mbps = 0\n" + NETWORK, 4, "half_width_mbps", "a number above 0"),
        (HEAD + "[stopping]\nmin_seeds = 5\nhalf_width_mbps = 1\n" + NETWORK, 4, "min_seeds", "at least 6"),
        (HEAD + RULE.replace("12", "7") + NETWORK, 5, "max_seeds", "give a larger max_seeds"),
        (HEAD + "[stopping]\nmin_seeds = 31\nhalf_width_mbps = 1\n" + NETWORK, 4, "min_seeds", "a larger"),
        (HEAD + "[stopping]\nmin_seeds = 8\n" + NETWORK, 3, "stopping", "exactly one of half_width_mbps"),
        (HEAD + RULE + "half_width_plt_ms = 3\n" + NETWORK, 7, "half_width_plt_ms", "exactly one of"),
        # what does not go together
        (HEAD + "seeds = 5\n" + RULE + NETWORK + CONTESTANT, 3, "seeds", "leave seeds out"),
        (HEAD + RULE.replace("mbps", "plt_ms") + NETWORK + CONTESTANT, 6, "half_width_plt_ms",
         "give half_width_mbps"),
        (HEAD + SOLO + RULE.replace("mbps", "share_percent") + NETWORK + CONTESTANT, 7,
         "half_width_share_percent", "give half_width_mbps"),
        (HEAD + PAIRWISE + "solo = true\n" + RULE.replace("mbps", "share_percent") + NETWORK + CONTESTANT, 8,
         "half_width_share_percent", "give half_width_mbps"),
        (HEAD + SOLO + RULE + NETWORK + CONTESTANT + PAGES, 7, "half_width_mbps", "give half_width_plt_ms"),
        (HEAD + PAIRWISE + RULE.replace("mbps", "share_percent") + NETWORK + CONTESTANT + PAGES, 7,
         "half_width_share_percent", "give half_width_plt_ms"),
        (HEAD + FLOWS + RULE + NETWORK + FLOW + "size_bytes = 9\n", 7, "half_width_mbps", "be endless"),
        (HEAD + FLOWS + RULE.replace("mbps", "share_percent") + NETWORK + FLOW, 7,
         "half_width_share_percent", "give half_width_mbps"),
        (HEAD + FLOWS + RULE.replace("mbps", "plt_ms") + NETWORK + FLOW + FLOW + 'page = "beta-small"\n', 7,
         "half_width_plt_ms", "a page to load"),
    ],
)  # fmt: skip
def test_one_clear_error(text: str, line: int, key: str, remedy: str) -> None:
    error = error_of(text)
    assert (error.line, error.key) == (line, key), str(error)
    assert remedy in error.remedy


@pytest.mark.parametrize(
    "text",
    [
        HEAD + RULE.replace("mbps", "share_percent") + NETWORK + CONTESTANT,
        HEAD + SOLO + RULE.replace("mbps", "plt_ms") + NETWORK + CONTESTANT + PAGES,
        HEAD + FLOWS + RULE.replace("mbps", "plt_ms") + NETWORK + FLOW + 'page = "beta-small"\n' + FLOW,
        HEAD + FLOWS + RULE + NETWORK + FLOW + FLOW + "size_bytes = 900000\n",
    ],
)
def test_what_goes_together(text: str) -> None:
    assert load(text).stopping is not None
