# SPDX-License-Identifier: Apache-2.0
"""Fixtures and rules for all tests that run the real programs.

Skips. A test that can't run somewhere says so beforehand:

    @pytest.mark.planned_skip("needs root for a small tmpfs")
    def test_...():
        if os.geteuid() != 0:
            pytest.skip("not root")

With CI=true every other skip is a failure. TENON_DEEP=1 turns on the tests marked `deep`.
"""

import os
import signal
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from e2e import harness  # noqa: E402

SECONDS_PER_TEST = int(os.environ.get("TENON_TEST_SECONDS", "300"))
IN_CI = os.environ.get("CI") == "true"
DEEP = os.environ.get("TENON_DEEP") == "1"


def pytest_configure(config):
    config.addinivalue_line("markers", "planned_skip(reason): may be skipped where it can't run")
    config.addinivalue_line("markers", "deep: long form, runs with TENON_DEEP=1 only")
    config.addinivalue_line("markers", "longer: does more with TENON_DEEP=1, for example with larger packages")
    config.addinivalue_line("markers", "seconds(n): may take longer than the usual limit")
    # Programs inherit what is ignored: of a shell's background job, of nohup. Tests send these signals.
    for name in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        if signal.getsignal(name) == signal.SIG_IGN:
            signal.signal(name, signal.default_int_handler if name == signal.SIGINT else signal.SIG_DFL)


def pytest_collection_modifyitems(config, items):
    items[:] = [i for i in items if DEEP or i.get_closest_marker("deep") is None]
    shard = os.environ.get("TENON_SHARD")  # "0/2": every second test, from the first
    if shard:
        index, count = map(int, shard.split("/"))
        items[:] = items[index::count]


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    if not report.skipped or hasattr(report, "wasxfail"):
        return
    path, line, reason = report.longrepr
    if item.get_closest_marker("planned_skip"):
        report.longrepr = (path, line, "planned: " + reason)
    elif IN_CI:
        report.outcome = "failed"
        report.longrepr = f"{path}:{line}: skipped without a planned_skip mark: {reason}"


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report(collector):
    report = (yield).get_result()
    if report.skipped and IN_CI:
        report.outcome = "failed"
        report.longrepr = f"{collector.nodeid}: a whole file may not skip itself: {report.longrepr}"


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    """A test that hangs fails by itself instead of holding up all the others."""
    marker = item.get_closest_marker("seconds")
    limit = marker.args[0] if marker else SECONDS_PER_TEST

    def expire(signum, frame):
        raise harness.TimedOut(f"no end after {limit} s")

    old = signal.signal(signal.SIGALRM, expire)
    signal.alarm(limit)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, old)


@pytest.fixture
def tenon(tmp_path):
    """The built program with a home of its own; whatever it started is ended afterwards."""
    tool = harness.Tenon(harness.release_binary(), tmp_path / "tenon-home", tmp_path)
    yield tool
    left = tool.cleanup()
    assert not left, f"processes that could not be ended: {left}"


@pytest.fixture
def project(tmp_path):
    """project(script, name=..., files=...) makes a project folder and returns its path."""

    def make(script="print('hello')\n", name="proj", **options):
        return harness.make_project(tmp_path / name, script, **options)

    return make
