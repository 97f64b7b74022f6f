from __future__ import annotations

from xdist.scheduler import LoadScopeScheduling

TOGETHER = (
    "tests/pipeline/ray/",
    "tests/report/test_report_in_browser.py",
    "tests/server/test_dashboard_in_browser.py",
    "tests/seeds/test_seed_framework.py",
    "tests/seeds/test_seed_nightly.py",
    "tests/seeds/test_seed_weight_suites.py",
)
"""Whose tests share what takes long: a cluster or a browser to start, a session to run."""


class GroupedTests(LoadScopeScheduling):  # type: ignore[misc]
    """Tests go to whichever process is free, but those of one group all to the same, which starts what they share once.

    xdist's own groups are a suffix to a test's name that pytest 9.2 no longer reads.
    """

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)


def group_of(nodeid: str) -> str:
    return next((group for group in TOGETHER if nodeid.startswith(group)), nodeid)
