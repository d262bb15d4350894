# SPDX-License-Identifier: Apache-2.0
"""The true end of runs whose runner can't write it."""

import os
import signal
import threading
from pathlib import Path

import pytest

from e2e.harness import wait_unlocked, wait_until
from e2e.journal_py import Journal
from e2e.runner_harness import Runner, alive, processes_with

SLEEPER = "import time\nprint('up', flush=True)\ntime.sleep(600)\n"


@pytest.fixture
def runner(tmp_path):
    tool = Runner(tmp_path / "home", tmp_path)
    yield tool
    assert not tool.cleanup()


def kill_runner(run):
    os.kill(run.pid, signal.SIGKILL)
    wait_until(lambda: not alive(run.pid), 10, "the death of the runner")
    wait_unlocked(run.segment)


def test_a_live_run_is_left_alone(runner):
    run = runner.start(SLEEPER)
    run.wait_for_output(b"up\n")
    before = len(run.journal().records)
    assert run.ask("recover") == {"state": "Running", "recovered": False}
    assert len(run.journal().records) == before
    assert alive(run.pid)
    run.ask("cancel", {"grace_us": 0})
    run.wait()


def test_after_kill_9_of_the_runner_the_rest_is_ended_and_said(runner):
    script = r"""
import os, subprocess, sys, time
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
open("outputs/half", "w").write("partial")
print("up", flush=True)
time.sleep(600)
"""
    run = runner.start(script)
    run.wait_for_output(b"up\n")
    assert len(processes_with(run.spec["key"].encode())) >= 2
    kill_runner(run)
    assert run.ask("recover") == {"state": "Failed", "recovered": True}
    journal = run.journal()
    end = journal.end
    assert end["recovered"] is True and end["state"] == "Failed"
    assert "exit_code" not in end
    assert end["reason"] == "the runner was killed; what was left of the run was ended"
    assert end["proof"]["ended"] == 2 and end["proof"]["left"] == 0
    assert journal.stdout == b"up\n"
    files = [f["path"] for r in journal.of("artifacts") for f in r.json["files"]]
    assert files == ["outputs/half"]
    assert not processes_with(run.spec["key"].encode())


def test_recovering_twice_writes_one_end(runner):
    run = runner.start(SLEEPER)
    run.wait_for_output(b"up\n")
    kill_runner(run)
    assert run.ask("recover")["recovered"] is True
    before = run.segment.read_bytes()
    assert run.ask("recover") == {"state": "Failed", "recovered": False}
    assert run.ask("cancel")["state"] == "Failed"
    assert run.segment.read_bytes() == before


def test_ten_at_once_write_one_end(runner):
    run = runner.start(SLEEPER)
    run.wait_for_output(b"up\n")
    kill_runner(run)
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(run.ask("recover")))
               for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 10
    assert sum(a["recovered"] for a in answers) == 1
    assert len(run.journal().of("end")) == 1


def test_points_logged_around_the_death_of_the_runner_arrive_once(runner):
    script = r"""
import os, time
import tenon
count = os.open("outputs/count", os.O_WRONLY | os.O_CREAT)
for i in range(10_000_000):
    tenon.log("n", i, step=i)
    os.write(count, b".")
    time.sleep(0.001)
"""
    run = runner.start(script)
    run.wait_for(lambda j: len(j.metrics()) > 100, what="100 points in the journal")
    kill_runner(run)
    count = run.folder / "work/outputs/count"
    seen = count.stat().st_size
    wait_until(lambda: count.stat().st_size > seen + 50, 20, "points after the death")
    run.ask("recover")
    total = count.stat().st_size
    points = run.journal().metrics()
    assert [p[2] for p in points] == list(range(len(points)))
    # The last point may have been logged without its dot having been written.
    assert len(points) in (total, total + 1)
    assert not (run.folder / "metrics").exists()


def test_a_reboot_is_told_from_a_kill_and_nothing_is_hunted(runner):
    run = runner.start(SLEEPER)
    run.wait_for_output(b"up\n")
    script_pid = run.journal().of("script")[0].json["process"]["pid"]
    kill_runner(run)
    runner.extra_env = {"TENON_TEST_BOOT_ID": "another-boot"}
    assert run.ask("recover") == {"state": "Failed", "recovered": True}
    end = run.journal().end
    assert end["reason"] == "the machine was restarted while the run was going"
    assert end["proof"]["method"] == "none" and end["proof"]["ended"] == 0
    # In truth nothing was restarted, so the pid must not have been touched.
    assert alive(script_pid)


def test_a_cancel_that_finds_the_runner_dead_recovers_the_run(runner):
    run = runner.start(SLEEPER)
    run.wait_for_output(b"up\n")
    kill_runner(run)
    assert run.ask("cancel") == {"state": "Failed", "recovered": True}
    assert not processes_with(run.spec["key"].encode())


def test_a_runner_killed_while_canceling_leaves_a_canceled_run(runner):
    script = ("import signal, time\nsignal.signal(15, signal.SIG_IGN)\nprint('up', flush=True)\n"
              "time.sleep(600)\n")
    run = runner.start(script)
    run.wait_for_output(b"up\n")
    run.ask("cancel", {"who": "ann"})
    kill_runner(run)
    run.ask("recover")
    end = run.journal().end
    assert (end["state"], end["exit_code"]) == ("Canceled", 143)
    assert end["reason"].startswith("canceled by ann; the runner was killed")


@pytest.mark.parametrize("kept", [True, False])
def test_texts_of_a_run_with_secrets_are_not_recovered_unmasked(runner, kept):
    secret = "hunter2-very-secret"
    script = r"""
import os, tenon, time
print("up", flush=True)
while not os.path.exists("outputs/go"): time.sleep(0.02)
tenon.log("text", "it is " + os.environ["PASSWORD"])
tenon.log("number", 4)
open("outputs/logged", "w").close()
time.sleep(600)
"""
    run = runner.start(script, secrets={"PASSWORD": secret})
    run.wait_for_output(b"up\n")
    kill_runner(run)
    (run.folder / "work/outputs/go").touch()
    wait_until((run.folder / "work/outputs/logged").exists, 20, "the points")
    if not kept:  # as after a restart of the machine
        for folder in ("/run/lock", "/dev/shm"):
            Path(folder, "tenon-" + run.spec["key"]).unlink(missing_ok=True)
    run.ask("recover")
    journal = run.journal()
    assert journal.metrics() == [("text", 0, "it is ***")] * kept + [("number", 0, 4)]
    assert any("dropped" in n["text"] for n in journal.notices) != kept
    assert secret.encode() not in run.segment.read_bytes()


def test_a_torn_tail_does_not_keep_the_run_from_its_end(runner):
    run = runner.start(SLEEPER)
    run.wait_for_output(b"up\n")
    kill_runner(run)
    whole = run.segment.stat().st_size
    with open(run.segment, "ab") as f:
        f.write(b"\x01\x02\x03 half a record")
    run.ask("recover")
    journal = run.journal()
    assert journal.end["recovered"] is True
    assert run.segment.stat().st_size > whole


def test_a_runner_killed_before_its_first_record_is_simply_started(runner):
    run = runner.new("print('hello')\n")
    run.folder.mkdir(parents=True)
    run.segment.write_bytes(b"")
    journal = run.start().wait()
    assert journal.end["state"] == "Completed" and journal.stdout == b"hello\n"


def test_journal_without_a_handle_gets_an_end(runner):
    """The header was written, the runner killed before it said who it is."""
    run = runner.start(SLEEPER)
    run.wait_for_output(b"up\n")
    kill_runner(run)
    with open(run.segment, "r+b") as f:
        f.truncate(64)
    run.ask("recover")
    end = Journal(run.segment).end
    assert end["reason"] == "the runner was killed before it could start the script"
    assert not processes_with(run.spec["key"].encode())
