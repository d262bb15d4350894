# SPDX-License-Identifier: Apache-2.0
"""Processes that are stopped (SIGSTOP, Ctrl-Z, a debugger): nobody waits for them in silence, and a run can always be canceled."""

import ctypes
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from e2e.harness import wait_until
from e2e.runner_harness import Runner, processes_with
from hosts.ssh_runs import SLEEPER as FAR_SLEEPER
from hosts.ssh_runs import command_of, waiter

NEEDS_SSHD = pytest.mark.planned_skip("needs root and openssh-server")
SLEEPER = "import time\nprint('begin', flush=True)\ntime.sleep(600)\n"


def is_stopped(pid):
    return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] in "tT"


def stop(pid):
    os.kill(pid, signal.SIGSTOP)
    wait_until(lambda: is_stopped(pid), what="a stopped process")


def go_on(pid):
    try:
        os.kill(pid, signal.SIGCONT)
    except ProcessLookupError:
        pass


def runner_of(tenon):
    return wait_until(lambda: [p for p in tenon.processes() if b"tenon-runner" in command_of(p)[0]], what="a runner")[0]


class Debugger:
    """Holds a process as a debugger does: SIGCONT does not let it go on."""

    def __init__(self, pid):
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.pid = pid
        if self.libc.ptrace(16, pid, None, None) != 0:  # PTRACE_ATTACH
            pytest.skip("processes can't be traced here")
        os.waitpid(pid, 0x40000000)  # __WALL

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.libc.ptrace(17, self.pid, None, None)


@pytest.fixture
def holder():
    """holder(path): a stopped process that has locked the file, as a `tenon` that was stopped in the middle has."""
    made = []

    def hold(path, code="import fcntl,sys,time\nf=open(sys.argv[1],'a')\nfcntl.flock(f,2)\n"):
        text = code + "print('held',flush=True)\ntime.sleep(600)\n"
        process = subprocess.Popen([sys.executable, "-c", text, path], stdout=subprocess.PIPE)
        made.append(process)
        assert process.stdout.readline() == b"held\n"
        stop(process.pid)
        return process

    yield hold
    for process in made:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.fixture
def runner(tmp_path):
    tool = Runner(tmp_path / "home", tmp_path)
    yield tool
    assert not tool.cleanup()


def test_the_runner_lets_a_stopped_supervisor_go_on_to_cancel(runner):
    run = runner.start(SLEEPER)
    run.wait_for_output(b"begin")
    stop(run.pid)
    assert run.ask("cancel", {"who": "ann", "grace_us": 1_000_000}) == {"state": "CancelRequested"}
    end = run.wait().end
    assert end["state"] == "Canceled" and end["reason"] == "canceled by ann"
    assert not processes_with(run.spec["key"].encode())


def test_the_runner_ends_a_supervisor_that_stays_stopped(runner):
    run = runner.start(SLEEPER)
    run.wait_for_output(b"begin")
    with Debugger(run.pid):
        assert run.ask("cancel", {"who": "ann"})["state"] == "Canceled"
    end = run.journal().end
    assert end["state"] == "Canceled" and end["reason"].startswith("canceled by ann; the runner was killed")
    assert not processes_with(run.spec["key"].encode())


def test_a_stopped_runner_is_told_of_and_can_be_canceled(tenon, project):
    folder = project(SLEEPER)
    watcher = tenon.start("submit", "-c", "local", "main.py", cwd=folder)
    watcher.wait_for("begin")
    pid = runner_of(tenon)
    stop(pid)
    wait_until(lambda: f"is stopped (process {pid})" in watcher.err, what="the word about the runner")
    run_id = tenon.json("history", "last", "-o", "json", cwd=folder)["run_id"]
    assert f"kill -CONT {pid}" in watcher.err and f"tenon cancel {run_id}" in watcher.err
    for words in (("status", "last"), ("ps",)):
        said = tenon.run(*words, cwd=folder).ok()
        assert f"is stopped (process {pid})" in said.err, repr(said)
    said = tenon.run("cancel", "last", "--grace", "1s", cwd=folder).ok()
    assert "Canceled" in said.out and "processes left: 0" in said.out
    assert watcher.wait().code == 143
    assert not tenon.processes_left()


def test_a_runner_that_goes_on_is_told_of(tenon, project, tmp_path):
    folder = project(waiter(tmp_path / "go"))
    watcher = tenon.start("submit", "-c", "local", "main.py", cwd=folder)
    watcher.wait_for("begin")
    pid = runner_of(tenon)
    stop(pid)
    wait_until(lambda: "is stopped" in watcher.err, what="the word about the runner")
    go_on(pid)
    wait_until(lambda: "goes on" in watcher.err.partition("is stopped")[2], what="the word that it goes on")
    (tmp_path / "go").touch()
    assert watcher.wait().ok()


@pytest.mark.planned_skip("needs leave to trace processes")
def test_cancel_ends_a_runner_that_a_debugger_holds(tenon, project):
    folder = project(SLEEPER)
    started = tenon.start("submit", "-c", "local", "main.py", cwd=folder)
    started.wait_for("begin")
    with Debugger(runner_of(tenon)):
        said = tenon.run("cancel", "last", "--grace", "1s", cwd=folder)
        assert said.code == 0 and "Canceled" in said.out, repr(said)
    assert "canceled by" in tenon.run("status", "last", cwd=folder).ok().out
    assert started.wait().code == 143
    assert not tenon.processes_left()


@NEEDS_SSHD
def test_a_stopped_runner_there_is_told_of_and_can_be_canceled(far):
    folder = far.attached(FAR_SLEEPER)
    watcher = far.start(folder)
    watcher.wait_for("begin")
    pid = wait_until(far.runners, what="a runner there")[0]
    stop(pid)
    wait_until(lambda: f"is stopped (process {pid} on far" in watcher.err, what="the word about the runner")
    watcher.kill()
    for words in (("status", "last"), ("ps",)):
        said = far.tenon.run(*words, cwd=folder).ok()
        assert f"is stopped (process {pid} on far" in said.err, repr(said)
    said = far.tenon.run("cancel", "last", "--grace", "1s", cwd=folder)
    assert said.code == 0 and "Canceled" in said.out, repr(said)


@NEEDS_SSHD
def test_a_stopped_watcher_of_a_far_run_is_told_of(far):
    """One process of a home copies the journal; the others read its copy."""
    folder = far.attached(FAR_SLEEPER)
    first = far.start(folder)
    first.wait_for("begin")
    stop(first.pid)
    second = far.tenon.start("logs", "-f", "last", cwd=folder)
    wait_until(lambda: f"tenon (process {first.pid})" in second.err and "is stopped" in second.err,
               what="the word about the other process")
    go_on(first.pid)
    far.tenon.run("cancel", "last", "--grace", "1s", cwd=folder).ok()
    assert first.wait().code == 143
    second.wait()


@NEEDS_SSHD
def test_a_stopped_connection_goes_on_when_it_is_needed(far):
    folder = far.attached()
    far.submit(folder).ok()
    keepers = [p for p in far.tenon.processes() if command_of(p)[0].startswith(b"ssh")]
    assert len(keepers) == 1
    stop(keepers[0])
    said = far.submit(folder)
    assert said.code == 0 and f"(process {keepers[0]}) was stopped" in said.err, repr(said)


def test_a_lock_of_a_stopped_process_is_told_of(tenon, project, holder):
    folder = project("print(1)\n")
    tenon.run("submit", "-c", "local", "main.py", cwd=folder).ok()
    locks = sorted((tenon.home / "numbers").rglob("*"))
    assert locks
    process = holder(str(locks[0]))
    said = tenon.run("submit", "-c", "local", "main.py", cwd=folder)
    assert said.code != 0 and f"(process {process.pid}), which is stopped" in said.err, repr(said)
    assert f"kill -CONT {process.pid}" in said.err
    process.kill()
    process.wait()
    tenon.run("submit", "-c", "local", "main.py", cwd=folder).ok()


def test_an_index_that_a_stopped_process_has_locked_is_told_of(tenon, project, holder):
    folder = project("print(1)\n")
    tenon.run("submit", "-c", "local", "main.py", cwd=folder).ok()
    index = next(p for p in tenon.home.rglob("history*.db"))
    code = "import sqlite3,sys,time\nd=sqlite3.connect(sys.argv[1],isolation_level=None)\nd.execute('BEGIN IMMEDIATE')\n"
    process = holder(str(index), code)
    said = tenon.run("tag", "last", "a", cwd=folder)
    assert f"(process {process.pid}), which is stopped" in said.err, repr(said)
