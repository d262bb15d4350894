# SPDX-License-Identifier: Apache-2.0
"""Processes that hide from the look at a run's end: each is found and ended, or the proof says what could not be seen."""

import os
import platform
import shutil
import signal
import uuid
from pathlib import Path

import pytest

from e2e.harness import wait_unlocked, wait_until
from e2e.runner_harness import Runner
from e2e.test_faults import as_user, needs_root

UID = 64323
EXIT = {"x86_64": 60, "aarch64": 93}.get(platform.machine())  # of one thread, not of the process

# Its first thread ends: the process is shown as a zombie and goes on. {ready} is a line of Python.
HEADLESS = (
    "import ctypes, os, signal, sys, threading, time\n"
    "signal.signal(15, signal.SIG_IGN)\n"
    "def work():\n"
    "    while open('/proc/self/stat').read().rpartition(') ')[2][0] != 'Z': time.sleep(0.005)\n"
    "    {ready}\n"
    "    time.sleep(600)\n"
    "threading.Thread(target=work).start()\n"
    f"ctypes.CDLL(None).syscall({EXIT}, 0)\n"
)
# Puts the program CODE into the background, where nothing of the run is in it: twice forked, in a session and a
# folder of its own, with an empty environment and closed descriptors. It leaves its number in the file argv[1].
DAEMONIZE = r"""
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.chdir("/")
        os.closerange(0, 256)
        os.open("/dev/null", os.O_RDWR), os.dup(0), os.dup(0)
        os.execve(sys.executable, [sys.executable, "-S", "-E", "-c", CODE, sys.argv[1]], {})
    os._exit(0)
os.wait()
while not os.path.exists(sys.argv[1]): time.sleep(0.005)
print("up", flush=True)
"""
NOTE = "open(sys.argv[1] + '.x', 'w').write(str(os.getpid())); os.rename(sys.argv[1] + '.x', sys.argv[1])"


def lives(pid):
    """Whether any thread of it does."""
    try:
        states = [Path(f"/proc/{pid}/task/{t}/stat").read_text().rpartition(") ")[2][0] for t in os.listdir(f"/proc/{pid}/task")]
    except OSError:
        return False
    return any(state not in "ZX" for state in states)


def end_process(pid):
    if pid and lives(pid):
        os.kill(pid, signal.SIGKILL)


@pytest.fixture
def runner(tmp_path):
    tool = Runner(tmp_path / "home", tmp_path)
    yield tool
    assert not tool.cleanup()


@pytest.fixture
def runner_of_user():
    """Of a user who may make no cgroup."""
    if os.geteuid() != 0:
        pytest.skip("not root")
    base = Path("/tmp") / f"tenon-hiding-{uuid.uuid4().hex[:12]}"
    base.mkdir()
    tool = Runner(base / "home", base)
    tool.prefix = as_user(UID)
    yield tool
    left = tool.cleanup()
    shutil.rmtree(base, ignore_errors=True)
    assert not left


def give_to_user(folder):
    for path in [folder, *folder.rglob("*")]:
        os.chown(path, UID, UID)


def read_pid(path):
    wait_until(path.exists, 60, "the process's number")
    return int(path.read_text())


def kill_runner(run):
    os.kill(run.pid, signal.SIGKILL)
    wait_unlocked(run.segment)


# ---- A process whose first thread has ended

@pytest.mark.skipif(EXIT is None, reason="the number of that system call is not known here")
def test_a_daemon_whose_first_thread_has_ended_is_found(runner):
    note = runner.scratch / "daemon"
    script = DAEMONIZE.replace("CODE", repr(HEADLESS.format(ready=NOTE)))
    run = runner.start(script, arguments=[str(note)])
    daemon = read_pid(note)
    try:
        end = run.wait().end
        assert not lives(daemon)
        assert end["state"] == "Completed" and end["proof"]["left"] == 0 and end["proof"]["ended"] == 1, end
    finally:
        end_process(daemon)


@needs_root
@pytest.mark.skipif(EXIT is None, reason="the number of that system call is not known here")
@pytest.mark.parametrize("verb", ["recover", "end-lost"])
def test_a_daemon_whose_first_thread_has_ended_is_found_after_the_runners_death(runner_of_user, verb):
    runner = runner_of_user
    note = runner.scratch / "daemon"
    script = DAEMONIZE.replace("CODE", repr(HEADLESS.format(ready=NOTE))) + "time.sleep(600)\n"
    run = runner.new(script, arguments=[str(note)])
    give_to_user(runner.scratch)
    run.start()
    daemon = read_pid(note)
    run.wait_for_output(b"up\n")  # written after the runner's death it would end the script
    try:
        kill_runner(run)
        if verb == "recover":
            run.ask("recover")
            proof = run.journal().end["proof"]
        else:
            shutil.rmtree(run.folder)
            proof = run.ask("end-lost", {"key": run.spec["key"], "boot_id": "", "container": False})["proof"]
        assert not lives(daemon)
        assert proof["left"] == 0 and proof["ended"] == 2, proof
    finally:
        end_process(daemon)


@pytest.mark.skipif(EXIT is None, reason="the number of that system call is not known here")
def test_a_script_whose_first_thread_has_ended_can_be_canceled(runner):
    run = runner.start(HEADLESS.format(ready="print('up', flush=True)"))
    run.wait_for_output(b"up\n")
    run.ask("cancel", {"grace_us": 0})
    end = run.wait().end
    assert end["state"] == "Canceled" and end["proof"]["left"] == 0 and end["proof"]["ended"] == 1, end


# ---- A process that has given up its mark

@needs_root
def test_a_process_that_lowers_its_limits_is_told_of_where_nothing_else_leads_to_it(runner_of_user):
    runner = runner_of_user
    note = runner.scratch / "daemon"
    code = ("import os, resource, sys, time\nresource.setrlimit(10, (0, 0))\n" + NOTE + "\ntime.sleep(600)\n")
    run = runner.new(DAEMONIZE.replace("CODE", repr(code)) + "time.sleep(600)\n", arguments=[str(note)])
    give_to_user(runner.scratch)
    run.start()
    daemon = read_pid(note)
    run.wait_for_output(b"up\n")
    try:
        kill_runner(run)
        run.ask("recover")
        proof = run.journal().end["proof"]
        assert not lives(daemon) or "1 process with a lowered limit" in proof.get("remark", ""), proof
    finally:
        end_process(daemon)


# ---- What `setup` lines leave in the background

BACKGROUND = "setsid sh -c 'echo $$ >\"$HOME/daemon.x\"; mv \"$HOME/daemon.x\" \"$HOME/daemon\"; exec sleep 600' >/dev/null 2>&1 &"
STARTED = "while [ ! -e \"$HOME/daemon\" ]; do sleep 0.01; done"


@pytest.mark.parametrize("how", ["fails", "canceled"])
def test_what_setup_lines_leave_is_ended_when_the_script_never_starts(runner, how):
    last = "false" if how == "fails" else "touch \"$HOME/ready\"; sleep 600"
    run = runner.start("print('never')\n", setup=[BACKGROUND, STARTED, last])
    daemon = read_pid(runner.scratch / "daemon")
    try:
        if how == "canceled":
            wait_until((runner.scratch / "ready").exists, 60, "the last line")
            run.ask("cancel")
        journal = run.wait()
        assert not lives(daemon)
        assert journal.end["state"] == ("Failed" if how == "fails" else "Canceled")
        proof = journal.end["proof"]
        # What was killed with the shell may still be on its way out.
        assert proof["left"] == 0 and proof["ended"] >= 1, proof
        assert any("started by the preparation" in n["text"] for n in journal.notices), journal.notices
    finally:
        end_process(daemon)


def test_what_starts_as_early_as_its_runner_is_ended_too(runner):
    """Start times are told in ticks of 10 ms: on a fast machine both have the same one, now and then."""
    for _ in range(50):
        (runner.scratch / "daemon").unlink(missing_ok=True)
        run = runner.start("print('never')\n", setup=[BACKGROUND, STARTED, "false"])
        daemon = read_pid(runner.scratch / "daemon")
        try:
            run.wait()
            assert not lives(daemon)
        finally:
            end_process(daemon)


def test_what_setup_lines_leave_is_ended_with_the_script(runner):
    script = "import os\nos.kill(int(open(os.environ['HOME'] + '/daemon').read()), 0)\nprint('there')\n"
    run = runner.start(script, setup=[BACKGROUND, STARTED])
    daemon = read_pid(runner.scratch / "daemon")
    try:
        journal = run.wait()
        assert journal.stdout == b"there\n"
        assert not lives(daemon)
        assert journal.end["state"] == "Completed" and journal.end["proof"]["ended"] == 1, journal.end
        assert any("left by the script" in n["text"] for n in journal.notices), journal.notices
    finally:
        end_process(daemon)
