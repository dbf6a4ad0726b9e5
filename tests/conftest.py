"""For all tests: no test is timed, since machines differ and are busy; what is made once is made once."""

from __future__ import annotations

import pytest
from hypothesis import settings

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that share a module's fixture run in one process, where the fixture is made once."""
    for item in items:
        fixtures = getattr(item, "_fixtureinfo", None)
        shared = fixtures.name2fixturedefs.values() if fixtures else ()
        if any(found[-1].scope == "module" for found in shared if found):
            item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))
