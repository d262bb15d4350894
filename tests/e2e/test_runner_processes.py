# SPDX-License-Identifier: Apache-2.0
"""Stopping runs, and knowing that nothing of them is left."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from e2e.harness import wait_until
from e2e.runner_harness import Runner, RunnerError, alive, processes_with

SLEEPER = "import time\nprint('up', flush=True)\ntime.sleep(600)\n"
IGNORER = ("import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
           "print('up', flush=True)\ntime.sleep(600)\n")
# Twice forked, in a session of its own, with an empty environment, its streams kept or closed.
DAEMON = r"""
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        code = "import time,sys; sys.stdout.write('daemon\\n'); sys.stdout.flush(); time.sleep(600)"
        os.execve(sys.executable, [sys.executable, "-S", "-E", "-c", code, sys.argv[1]], {})
    os._exit(0)
os.wait()
"""


@pytest.fixture
def runner(tmp_path):
    tool = Runner(tmp_path / "home", tmp_path)
    yield tool
    assert not tool.cleanup()


def gone(run):
    """Nothing with the run's key in its environment or arguments is alive."""
    return not processes_with(run.spec["key"].encode())


def test_cancel_asks_first_and_records_who_asked(runner):
    script = r"""
import signal, sys, time
def stop(*_):
    print("bye", flush=True)
    sys.exit(0)
signal.signal(signal.SIGTERM, stop)
print("up", flush=True)
time.sleep(600)
"""
    run = runner.start(script)
    run.wait_for_output(b"up\n")
    assert run.ask("cancel", {"who": "ann"}) == {"state": "CancelRequested"}
    assert "CancelRequested" in run.journal().states
    journal = run.wait()
    assert journal.stdout == b"up\nbye\n"
    end = journal.end
    assert (end["state"], end["exit_code"]) == ("Canceled", 143)
    assert end["reason"] == "canceled by ann"
    assert end["proof"]["left"] == 0 and end["proof"]["ended"] == 1
    assert end["proof"]["method"] in ("cgroup", "scan")
    assert end["proof"]["gpu"]
    assert gone(run)
    assert not (run.folder / "cancel.json").exists()


def test_a_script_that_ignores_term_is_killed_after_the_grace(runner):
    run = runner.start(IGNORER, grace_us=300_000)
    run.wait_for_output(b"up\n")
    begin = time.monotonic()
    run.ask("cancel")
    end = run.wait().end
    assert time.monotonic() - begin > 0.29
    assert (end["state"], end["exit_code"], end["signal"]) == ("Canceled", 143, 9)
    assert end["proof"]["ended"] == 1 and end["proof"]["left"] == 0
    assert gone(run)


def test_a_second_cancel_may_be_less_patient(runner):
    run = runner.start(IGNORER)  # 30 s of grace
    run.wait_for_output(b"up\n")
    run.ask("cancel")
    assert alive(run.pid)
    begin = time.monotonic()
    run.ask("cancel", {"grace_us": 0})
    assert run.wait().end["state"] == "Canceled"
    assert time.monotonic() - begin < 20
    assert run.journal().states.count("CancelRequested") == 1


def test_canceling_a_finished_run_changes_nothing(runner):
    run = runner.start("print(1)\n")
    run.wait()
    before = run.segment.read_bytes()
    assert run.ask("cancel") == {"state": "Completed", "recovered": False}
    assert run.segment.read_bytes() == before


def test_canceling_an_unknown_run_is_not_found(runner):
    for verb in ("cancel", "recover"):
        with pytest.raises(RunnerError) as error:
            runner.new().ask(verb)
        assert error.value.kind == "not_found"


def test_cancel_reaches_children_in_their_own_sessions(runner):
    script = r"""
import os, subprocess, sys, time
child = "import signal,time; signal.signal(15, signal.SIG_IGN); print('child', flush=True); time.sleep(600)"
for i in range(5):
    subprocess.Popen([sys.executable, "-c", child, sys.argv[1]], start_new_session=True)
time.sleep(600)
"""
    run = runner.new(script, grace_us=500_000)
    run.spec["arguments"] = [run.spec["key"]]
    run.start()
    run.wait_for(lambda j: j.stdout.count(b"child") == 5)
    run.ask("cancel")
    end = run.wait().end
    assert end["proof"]["ended"] == 6 and end["proof"]["left"] == 0
    assert gone(run)


@pytest.mark.parametrize("how", ["cancel", "ordinary"])
def test_a_daemon_without_environment_is_found_and_ended(runner, how):
    script = DAEMON + ("time.sleep(600)\n" if how == "cancel" else "")
    run = runner.new(script)
    run.spec["arguments"] = [run.spec["key"]]
    run.start()
    if how == "cancel":
        run.wait_for_output(b"daemon")
        run.ask("cancel", {"grace_us": 2_000_000})
    journal = run.wait()
    assert journal.end["state"] == ("Canceled" if how == "cancel" else "Completed")
    assert journal.end["proof"]["left"] == 0
    assert gone(run)
    texts = [n["text"] for n in journal.notices]
    if how == "ordinary":
        assert texts == ["1 process was left by the script and was ended"]
        assert journal.end["exit_code"] == 0
        assert journal.end["proof"]["ended"] == 1
    else:
        assert texts == []


def test_the_end_does_not_wait_for_a_daemon_that_holds_the_streams(runner):
    script = r"""
import subprocess, sys
child = "import signal,time; signal.signal(15, signal.SIG_IGN); print('held', flush=True); open('outputs/held', 'w'); time.sleep(600)"
p = subprocess.Popen([sys.executable, "-c", child], stdin=subprocess.DEVNULL)
import os, time
while not os.path.exists("outputs/held"): time.sleep(0.02)
print("done", flush=True)
"""
    journal = runner.start(script, grace_us=200_000).wait(30)
    assert journal.end["state"] == "Completed"
    assert b"done" in journal.stdout and b"held" in journal.stdout


def test_helpers_that_end_with_the_script_are_not_called_left_behind(runner):
    script = r"""
import subprocess, sys
# Ends when its standard input does, that is, a moment after the script.
helper = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
helper.stdin.write(b"1\n"); helper.stdin.flush(); helper.stdout.readline()
"""
    journal = runner.start(script).wait()
    assert journal.notices == []
    assert journal.end["state"] == "Completed"


def test_a_timeout_is_a_failure_with_its_own_code(runner):
    run = runner.start(SLEEPER, timeout_us=500_000, grace_us=5_000_000)
    end = run.wait().end
    assert (end["state"], end["exit_code"]) == ("Failed", 124)
    assert end["reason"].startswith("timed out after ")
    assert end["proof"]["left"] == 0
    assert gone(run)


def test_a_timeout_kills_a_script_that_ignores_term(runner):
    end = runner.start(IGNORER, timeout_us=10_000_000, grace_us=200_000).wait().end
    assert (end["exit_code"], end["signal"]) == (124, 9)


def test_term_to_the_supervisor_is_a_cancel(runner):
    run = runner.start(SLEEPER)
    run.wait_for_output(b"up\n")
    os.kill(run.pid, signal.SIGTERM)
    end = run.wait().end
    assert end["state"] == "Canceled"
    assert end["reason"] == "the runner was asked to stop (SIGTERM)"


def test_hangup_and_usr1_without_a_request_change_nothing(runner):
    run = runner.start("import os, time\nprint('up', flush=True)\nwhile not os.path.exists('outputs/go'): time.sleep(0.02)\nprint('end')\n")
    run.wait_for_output(b"up\n")
    for number in (signal.SIGHUP, signal.SIGUSR1, signal.SIGPIPE):
        os.kill(run.pid, number)
    (run.folder / "work/outputs/go").touch()
    journal = run.wait()
    assert journal.end["state"] == "Completed"
    assert journal.stdout == b"up\nend\n"


def test_a_request_without_a_signal_is_found_all_the_same(runner):
    run = runner.start(SLEEPER)
    run.wait_for_output(b"up\n")
    (run.folder / "cancel.json.x").write_text(json.dumps({"grace_us": 0, "who": "file"}))
    (run.folder / "cancel.json.x").rename(run.folder / "cancel.json")
    end = run.wait().end
    assert end["reason"] == "canceled by file"
    assert end["signal"] == 9 and end["proof"]["ended"] == 1


def test_a_run_inside_a_run_outlives_it(runner):
    inner = runner.new(SLEEPER)
    request = {"protocol": 1, "home": str(runner.home), "run_id": inner.id, "version": "test",
               "spec": inner.spec, "environment": runner.environment(), "secrets": {}}
    script = ("import subprocess\n"
              f"r = subprocess.run([{str(runner.binary)!r}, 'start'], input={json.dumps(request)!r}"
              ".encode(), stdout=subprocess.PIPE)\nprint(r.stdout.decode(), flush=True)\n")
    outer = runner.start(script)
    journal = outer.wait()
    assert journal.end["state"] == "Completed"
    assert journal.notices == []
    inner.handle = json.loads(journal.stdout.decode().splitlines()[1])
    inner.wait_for_output(b"up\n")
    assert alive(inner.pid)
    assert inner.journal().end is None
    inner.ask("cancel", {"grace_us": 0})
    assert inner.wait().end["state"] == "Canceled"
    assert gone(inner)


def test_fifty_runs_at_once(runner):
    script = "import sys, time\nprint(sys.argv[1])\ntime.sleep(0.2)\nopen('outputs/o', 'w').write(sys.argv[1])\n"
    runs = [runner.new(script, arguments=[f"number {i}"]) for i in range(50)]
    for run in runs:
        run.start()
    for i, run in enumerate(runs):
        journal = run.wait(120)
        assert journal.end["state"] == "Completed", journal.records
        assert journal.stdout == b"number %d\n" % i
        assert len(journal.of("artifacts")) == 1


def test_started_twice_runs_once(runner):
    run = runner.new(SLEEPER)
    first = run.start().handle
    second = run.ask("start", {"spec": run.spec, "environment": {}, "secrets": {}})
    assert second == first
    run.wait_for_output(b"up\n")
    run.ask("cancel", {"grace_us": 0})
    journal = run.wait()
    assert len(journal.of("runner")) == 1 and len(journal.of("script")) == 1
    # And after its end.
    assert run.ask("start", {"spec": run.spec, "environment": {}, "secrets": {}}) == first
    assert len(run.journal().of("runner")) == 1


def test_started_ten_times_at_once_runs_once(runner):
    run = runner.new("print('once')\n")
    text = json.dumps({"protocol": 1, "home": str(runner.home), "run_id": run.id, "version": "t",
                       "spec": run.spec, "environment": runner.environment(), "secrets": {}})
    env = {"PATH": os.environ["PATH"], "TENON_HOME": str(runner.home)}
    many = [subprocess.Popen([str(runner.binary), "start"], stdin=subprocess.PIPE, env=env,
                             stdout=subprocess.PIPE) for _ in range(10)]
    for process in many:
        process.stdin.write(text.encode())
        process.stdin.close()
    answers = [json.loads(p.stdout.read().splitlines()[1]) for p in many]
    for process in many:
        process.stdout.close()
        assert process.wait() == 0
    run.handle = answers[0]
    assert all(a == answers[0] for a in answers), answers
    journal = run.wait()
    assert journal.stdout == b"once\n"
    assert len(journal.of("runner")) == 1


def test_the_supervisor_holds_no_descriptor_of_its_caller(runner):
    """Somebody reading the other end of an inherited pipe must see its end at once."""
    read, write = os.pipe()
    os.set_inheritable(write, True)
    run = runner.new(SLEEPER)
    text = json.dumps({"protocol": 1, "home": str(runner.home), "run_id": run.id, "version": "t",
                       "spec": run.spec, "environment": runner.environment(), "secrets": {}})
    done = subprocess.run([str(runner.binary), "start"], input=text.encode(), capture_output=True,
                          pass_fds=[write], timeout=30, check=True,
                          env={"PATH": os.environ["PATH"], "TENON_HOME": str(runner.home)})
    os.close(write)
    run.handle = json.loads(done.stdout.splitlines()[1])
    os.set_blocking(read, False)
    wait_until(lambda: os.read(read, 1) == b"", 10, "the end of the pipe")
    os.close(read)
    run.wait_for_output(b"up\n")
    run.ask("cancel", {"grace_us": 0})
    run.wait()


def test_the_end_names_a_missing_interpreter(runner):
    run = runner.start("print(1)\n", python="python9.9")
    journal = run.wait()
    end = journal.end
    assert (end["state"], end["exit_code"]) == ("Failed", 125)
    assert "python9.9" in end["reason"]
    assert journal.of("script") == []
    assert not end.get("never_started") and not end.get("start_us")
    # The working directory is kept after a failure.
    assert (run.folder / "work/main.py").exists()


def test_python_that_is_not_there_becomes_python3(runner, tmp_path):
    only = tmp_path / "bin"
    only.mkdir()
    (only / "python3").symlink_to(os.path.realpath(sys.executable))
    run = runner.new("print('three')\n", python="python")
    journal = run.start({"PATH": str(only)}).wait()
    assert journal.stdout == b"three\n"
    assert [n["text"] for n in journal.notices] == [
        "there is no `python` on PATH; python3 is used"]


def test_cancel_before_the_script_starts_starts_nothing(runner):
    run = runner.new(SLEEPER)
    run.folder.mkdir(parents=True)
    (run.folder / "cancel.json").write_text(json.dumps({"who": "early bird"}))
    journal = run.start().wait()
    assert (journal.end["state"], journal.end["exit_code"]) == ("Canceled", 143)
    assert journal.end["reason"] == "canceled by early bird"
    assert journal.of("script") == [] and journal.stdout == b""
