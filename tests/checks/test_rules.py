# SPDX-License-Identifier: Apache-2.0
"""The test machinery itself: a skip nobody planned, a dead test program or a broken step must never
look like a pass."""

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts" / "lib"))

from e2e.harness import wait_until  # noqa: E402
from steps import Counts, Scheduler, Step, count_reports  # noqa: E402

CASES = textwrap.dedent("""
    import pytest
    def test_passes(): pass
    def test_unplanned(): pytest.skip("no such thing here")
    @pytest.mark.planned_skip("needs the moon")
    def test_planned(): pytest.skip("no moon")
    @pytest.mark.deep
    def test_deep(): pass
""")


def run_cases(tmp_path, text, **env):
    folder = tmp_path / "tests"
    (folder / "e2e").mkdir(parents=True)
    shutil.copy(ROOT / "tests/conftest.py", folder)
    shutil.copy(ROOT / "tests/e2e/harness.py", folder / "e2e")
    (folder / "e2e/__init__.py").write_text("")
    (folder / "test_cases.py").write_text(text)
    clean = {k: v for k, v in os.environ.items() if k not in ("CI", "TENON_DEEP", "TENON_SHARD")}
    answer = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--rootdir={folder}",
         f"--junitxml={tmp_path}/reports/r.xml", folder],
        capture_output=True, text=True, check=False, env={**clean, **env})
    return answer, count_reports(tmp_path / "reports", env.get("CI") == "true")


def test_an_unplanned_skip_fails_in_ci(tmp_path):
    answer, counts = run_cases(tmp_path, CASES, CI="true")
    assert answer.returncode == 1, answer.stdout
    assert (counts.passed, counts.failed, counts.skipped) == (1, 1, 1)


def test_an_unplanned_skip_is_a_skip_elsewhere(tmp_path):
    answer, counts = run_cases(tmp_path, CASES)
    assert answer.returncode == 0, answer.stdout
    assert (counts.passed, counts.failed, counts.skipped) == (1, 0, 2)


def test_a_file_that_skips_itself_fails_in_ci(tmp_path):
    text = "import pytest\npytest.skip('all of it', allow_module_level=True)\n"
    answer, counts = run_cases(tmp_path, text, CI="true")
    assert answer.returncode != 0, answer.stdout
    assert counts.failed == 1


def test_deep_tests_run_when_asked_for(tmp_path):
    _, counts = run_cases(tmp_path, CASES, TENON_DEEP="1")
    assert counts.passed == 2


def test_a_test_that_hangs_fails(tmp_path):
    text = "def test_hangs():\n    while True: pass\n"
    answer, counts = run_cases(tmp_path, text, TENON_TEST_SECONDS="1")
    assert answer.returncode == 1
    assert counts.failed == 1


def test_shards_together_hold_every_test_once(tmp_path):
    text = "".join(f"def test_{i}(): pass\n" for i in range(7))
    counts = [run_cases(tmp_path / str(n), text, TENON_SHARD=f"{n}/2")[1] for n in range(2)]
    assert [c.passed for c in counts] == [4, 3]


GTEST_REPORT = """<?xml version="1.0"?>
<testsuites><testsuite name="A">
<testcase name="Good" status="run" result="completed" classname="A"/>
<testcase name="Bad" status="run" result="completed" classname="A"><failure message="x"/></testcase>
<testcase name="Planned" status="run" result="skipped" classname="A">
  <skipped message="a_test.cc:3&#x0A;planned: needs root"/></testcase>
<testcase name="Skip" status="run" result="skipped" classname="A"><skipped message="why"/></testcase>
<testcase name="DISABLED_Off" status="notrun" result="suppressed" classname="A"/>
</testsuite></testsuites>"""


@pytest.mark.parametrize("strict, expected", [(False, (1, 1, 3)), (True, (1, 3, 1))])
def test_reports_of_unit_tests_are_counted_by_case(tmp_path, strict, expected):
    (tmp_path / "a.xml").write_text(GTEST_REPORT)
    counts = count_reports(tmp_path, strict)
    assert (counts.passed, counts.failed, counts.skipped) == expected


def schedule(steps, tmp_path, slots=2):
    return Scheduler(steps, slots, tmp_path, lambda text: None).run()


def test_a_step_whose_need_failed_is_a_failure_and_does_not_run(tmp_path):
    ran = []
    results = schedule([
        Step("build", lambda log: Counts(failed=1)),
        Step("unit", lambda log: ran.append("unit") or Counts(passed=9), ("build",)),
        Step("report", lambda log: ran.append("report") or Counts(passed=1), after=("build",)),
    ], tmp_path)
    assert ran == ["report"]
    assert (results["unit"].passed, results["unit"].failed) == (0, 1)


def test_a_step_that_raises_is_a_failure(tmp_path):
    def broken(log):
        raise ValueError("broken")

    assert schedule([Step("broken", broken)], tmp_path)["broken"].failed == 1


def test_a_command_that_takes_too_long_is_ended_with_its_children(tmp_path):
    def slow(log):
        code = log.run(["bash", "-c", f"sleep 300 & echo $! > {tmp_path}/pid; wait"], 1)
        return Counts(failed=1) if code == 124 else Counts(passed=1)

    assert schedule([Step("slow", slow)], tmp_path)["slow"].failed == 1
    pid = int((tmp_path / "pid").read_text())

    def ended():
        try:
            return Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1][0] == "Z"
        except (FileNotFoundError, ProcessLookupError):
            return True

    wait_until(ended, 30, "the end of a killed process")  # it has to run once more for that


def test_setup_asks_for_nothing_when_nobody_can_answer(tmp_path):
    """Without a terminal and without --yes nothing is installed."""
    fake = tmp_path / "bin"
    fake.mkdir()
    for name, text in (("dpkg-query", "exit 1"), ("apt-get", f"echo called >> {tmp_path}/apt"),
                       ("sudo", 'exec "$@"')):
        (fake / name).write_text("#!/bin/bash\n" + text + "\n")
        (fake / name).chmod(0o755)
    env = {k: v for k, v in os.environ.items() if k != "CI"}
    env["PATH"] = f"{fake}:{env['PATH']}"
    answer = subprocess.run([ROOT / "scripts/setup"], stdin=subprocess.DEVNULL, capture_output=True,
                            text=True, check=False, env=env)
    assert answer.returncode == 1
    assert "--yes" in answer.stderr
    assert not (tmp_path / "apt").exists()
    subprocess.run([ROOT / "scripts/setup", "--yes"], stdin=subprocess.DEVNULL, capture_output=True,
                   check=True, env=env)
    assert (tmp_path / "apt").read_text() == "called\ncalled\n"


def test_embedded_files_keep_every_byte(tmp_path):
    """scripts/embed must survive what a C++ string literal does not."""
    root = tmp_path / "python"
    (root / "pkg").mkdir(parents=True)
    contents = {"pkg/a.py": bytes(range(256)) * 3, "pkg/b.py": b'??/"\\\n1\x001', "empty.py": b"",
                "pkg/long.py": b"x" * 70000}
    for name, data in contents.items():
        (root / name).write_bytes(data)
    (tmp_path / "list").write_text("".join(f"{root}/{n}\n" for n in contents))
    subprocess.run([ROOT / "scripts/embed", "folder", root, tmp_path / "list", tmp_path / "s.cc"],
                   check=True)
    (tmp_path / "main.cc").write_text(textwrap.dedent("""
        #include <cstdio>
        #include "runner/supervise/embedded_shim.h"
        int main() {
          for (const auto& f : tenon::runner::EmbeddedShim()) {
            std::printf("%.*s %zu\\n", int(f.path.size()), f.path.data(), f.bytes.size());
            std::fwrite(f.bytes.data(), 1, f.bytes.size(), stdout);
          }
        }"""))
    subprocess.run(["g++", "-std=c++20", "-I", ROOT / "src", tmp_path / "s.cc",
                    tmp_path / "main.cc", "-o", tmp_path / "out"], check=True)
    printed = subprocess.run([tmp_path / "out"], capture_output=True, check=True).stdout
    assert printed == b"".join(b"%s %d\n%s" % (n.encode(), len(d), d)
                               for n, d in sorted(contents.items()))
