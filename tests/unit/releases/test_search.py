"""The binary search over releases, some of which cannot be tested."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cambrian.releases.bisect import Tried, state
from cambrian.releases.search import State, most_tests, narrowed, next_place
from cambrian.releases.verdicts import Like


def searched(count: int, first_new: int, untestable: set[int]) -> tuple[dict[int, State], int]:
    """Search releases that are new from ``first_new`` on; what is known then, and the number of tests."""
    known: dict[int, State] = {}
    while (place := next_place(count, known)) is not None:
        assert place not in known
        known[place] = "skipped" if place in untestable else "new" if place >= first_new else "old"
    return known, len(known)


@given(st.data())
def test_it_finds_the_change_and_names_every_release_that_it_could_not_test(data: st.DataObject) -> None:
    count = data.draw(st.integers(2, 60))
    first_new = data.draw(st.integers(1, count - 1))
    untestable = data.draw(st.sets(st.integers(1, max(1, count - 2)), max_size=count))
    known, _ = searched(count, first_new, untestable)
    found = narrowed(count, known)
    assert found.last_old < first_new <= found.first_new
    assert set(found.skipped) == set(range(found.last_old + 1, found.first_new))
    assert set(found.skipped) <= untestable


@given(st.integers(2, 500), st.data())
def test_without_skips_it_needs_a_logarithm_of_tests(count: int, data: st.DataObject) -> None:
    first_new = data.draw(st.integers(1, count - 1))
    known, tests = searched(count, first_new, set())
    assert tests <= most_tests(count)
    assert narrowed(count, known).first_new == first_new


def test_neighbours_need_no_test() -> None:
    assert next_place(2, {}) is None
    assert most_tests(2) == 0
    assert narrowed(2, {}).skipped == ()


def test_a_release_is_before_or_behind_the_change_by_the_end_that_it_is_like_or_nearer_to() -> None:
    def said(like: Like | None, *, older_is_good: bool = True, nearer: str = "") -> str:
        return state(Tried("1.0.0", like, "", nearer=nearer), older_is_good=older_is_good)

    assert (said("good"), said("bad")) == ("old", "new")
    # the change was for the better: the older end is the bad one
    assert said("bad", older_is_good=False) == "old"
    assert said("good", older_is_good=False) == "new"
    assert (said("neither", nearer="good"), said("neither", nearer="bad")) == ("old", "new")
    # a third kind
    assert said("neither") == "new"
    assert (said("unclear"), said(None)) == ("skipped", "skipped")
