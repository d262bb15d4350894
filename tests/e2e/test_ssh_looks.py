# SPDX-License-Identifier: Apache-2.0
"""Runs on another machine that are looked at in bad moments: while they are submitted, by two at once, after a power cut over
there, when their machine cannot be reached any more or has forgotten them."""

import json
import os
import re
import shutil
import threading

import pytest

from e2e.harness import wait_until
from e2e.journal_py import record_bytes, segment_header
from hosts.link import Proxy
from hosts.ssh_runs import SLEEPER, SshRuns, waiter

pytestmark = pytest.mark.planned_skip("needs root and openssh-server")

TALKS = """
import sys, time
for i in range(100):
    sys.stdout.write("line %06d " % i * 1000 + "\\n")
print("begin", flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize("lost", [300, 200_000, 1_000_000])
def test_power_cut_there_takes_an_end_that_is_here_already(far, lost):
    """The host is the truth: what it lost is taken off here, and the end that it wrote instead arrives."""
    folder = far.attached(TALKS)
    watcher = far.start(folder)
    watcher.wait_for("begin")
    [original] = far.far_files("runs/*/host.tj")
    [copy] = far.tenon.home.glob("runs/*/host.tj")
    wait_until(lambda: copy.stat().st_size > 1_200_000, 30, "the copy")
    watcher.kill()
    far.tenon.cleanup()
    size = copy.stat().st_size
    far.server.reboot()
    os.truncate(original, size - lost)
    followed = far.tenon.run("logs", "-f", "last", cwd=folder, timeout=60).ok()
    assert "restarted" in followed.err, repr(followed)
    run = far.last(folder)
    assert run["status"] == "Failed" and "restarted" in run["properties"]["Reason"], run
    assert copy.read_bytes() == original.read_bytes()


def test_power_cut_there_while_somebody_watches(far):
    folder = far.attached(TALKS)
    watcher = far.start(folder)
    watcher.wait_for("begin")
    [original] = far.far_files("runs/*/host.tj")
    far.server.stop()
    far.user.kill_processes()
    os.truncate(original, original.stat().st_size - 300_000)
    far.server.reboot()
    done = watcher.wait(120)
    assert done.code != 0 and "restarted" in done.err, repr(done)
    assert done.out == "".join("line %06d " % i * 1000 + "\n" for i in range(100)) + "begin\n", "told twice"


def test_status_while_a_run_is_submitted_does_not_end_it(far_on, sshd):
    with Proxy(sshd.port) as link:
        runs = far_on(sshd, port=link.port)
        folder = runs.attached(SLEEPER, files={"weights.bin": os.urandom(400_000)})
        link.delay = 0.1
        submitter = runs.start(folder, "-a", "main.py")
        wait_until(lambda: list(runs.tenon.home.glob("runs/*")), 30, "the run")
        [made] = runs.tenon.home.glob("runs/*")
        looked = runs.tenon.run("status", made.name, cwd=folder, timeout=60)
        assert "Failed" not in looked.out, repr(looked)
        assert submitter.wait(60).code == 0
        wait_until(lambda: runs.runners(), 30, "the runner")
        wait_until(lambda: "Running" in runs.tenon.run("status", made.name, cwd=folder, timeout=60).ok().out, 60, "Running")
        assert "Canceled" in runs.tenon.run("cancel", made.name, "--grace", "1s", cwd=folder, timeout=60).ok().out
        runs.tenon.cleanup()


def test_status_of_a_run_that_prints_faster_than_the_link(far_on, sshd):
    with Proxy(sshd.port) as link:
        runs = far_on(sshd, port=link.port)
        go = runs.user.home / "go"
        folder = runs.attached(f"""
import os, sys, time
while not os.path.exists({str(go)!r}):
    sys.stdout.buffer.write(os.urandom(500_000))
    sys.stdout.flush()
    time.sleep(0.05)
""")
        runs.submit(folder, "-a", "main.py").ok()
        wait_until(lambda: "Running" in runs.tenon.run("status", "last", cwd=folder).out, 60, "Running")
        link.delay = 0.2
        looked = runs.tenon.run("status", "last", cwd=folder, timeout=100).ok()
        assert "Running" in looked.out and runs.runners()
        runs.user.write("go", "")
        wait_until(lambda: not runs.runners(), 60, "the end of the run")
        link.cut()
        link.delay = 0
        assert "Completed" in runs.tenon.run("status", "last", cwd=folder, timeout=100).ok().out
        runs.tenon.cleanup()


def test_logs_of_an_ended_run_whose_machine_is_off(far_on, sshd):
    with Proxy(sshd.port) as link:
        runs = far_on(sshd, port=link.port)
        folder = runs.attached("print('hello')\nopen('outputs/a', 'w').write('a')\n")
        runs.submit(folder).ok()
        [mark] = runs.tenon.home.glob("runs/*/fetched")
        # As one who was stopped between the end and the outputs leaves it.
        mark.unlink()
        shutil.rmtree(runs.tenon.home / "objects")
        runs.tenon.cleanup()
        link.refuse = True
        link.cut()
        told = runs.tenon.run("logs", "last", cwd=folder, timeout=60)
        assert told.code == 0 and told.out == "hello\n" and "could not be fetched" in told.err, repr(told)
        link.refuse = False
        runs.tenon.run("status", "last", cwd=folder).ok()
        assert mark.exists()
        runs.tenon.cleanup()


def ended_unfetched(far):
    """A run whose end is known here and whose outputs are not marked as fetched: project, mark, its folder there."""
    folder = far.attached("print('hello')\nopen('outputs/a', 'w').write('a')\n")
    far.submit(folder).ok()
    [mark] = far.tenon.home.glob("runs/*/fetched")
    mark.unlink()
    [there] = far.far_runs()
    return folder, mark, there


def test_outputs_that_the_machine_has_removed(far):
    folder, _, there = ended_unfetched(far)
    shutil.rmtree(there)
    looked = far.tenon.run("status", "last", cwd=folder).ok()
    assert "Completed" in looked.out and "never fetched" in looked.err, repr(looked)
    again = far.tenon.run("status", "last", cwd=folder).ok()
    assert "Completed" in again.out and again.err == ""


def test_outputs_on_a_disk_that_is_not_mounted_are_asked_for_again(far):
    folder, mark, there = ended_unfetched(far)
    elsewhere = there.parent.with_name("elsewhere")
    there.parent.rename(elsewhere)
    for _ in range(2):
        looked = far.tenon.run("status", "last", cwd=folder).ok()
        assert "Completed" in looked.out and "not got" in looked.err and "mounted?" in looked.err, repr(looked)
    elsewhere.rename(there.parent)
    again = far.tenon.run("status", "last", cwd=folder).ok()
    assert "Completed" in again.out and again.err == "", repr(again)
    assert mark.exists()


def test_a_retry_whose_answer_is_lost_is_not_started_twice(far_on, sshd):
    with Proxy(sshd.port) as link:
        runs = far_on(sshd, port=link.port)
        folder = runs.attached(SLEEPER)
        first = runs.submit(folder, "-a", "--retries", "2", "main.py").ok().out.strip()
        wait_until(lambda: runs.runners(), 30, "the runner")
        runs.tenon.run("status", first, cwd=folder).ok()
        runs.server.reboot()
        runs.tenon.cleanup()
        link.cut()
        before = {path.name for path in runs.far_runs()}

        def cut_once_it_is_there():
            wait_until(lambda: {path.name for path in runs.far_runs()} - before, 60, "the retry there")
            link.refuse = True
            link.cut()

        link.delay = 0.2
        cutter = threading.Thread(target=cut_once_it_is_there)
        cutter.start()
        runs.tenon.run("status", first, cwd=folder, timeout=200)
        cutter.join()
        link.refuse, link.delay = False, 0
        runs.tenon.run("status", first, cwd=folder, timeout=200).ok()
        runs.tenon.run("ps", cwd=folder, timeout=200).ok()
        assert len({path.name for path in runs.far_runs()} - before) == 1
        runs.tenon.cleanup()
        runs.user.kill_processes()


def test_of_two_clients_that_look_after_a_restart_one_starts_it_again(far):
    """Also long afterwards, and also one that was not there at the time."""
    folder = far.attached(SLEEPER)
    first = far.submit(folder, "-a", "--retries", "1", "main.py").ok().out.strip()
    wait_until(far.runners, 30, "the runner")
    with far.somebody_else(folder) as (other, copy):
        other.run("runs", "fetch", "-t", "far", first, cwd=copy).ok()
        far.server.reboot()
        assert "started again as" in other.run("status", first, cwd=copy, timeout=120).ok().err
        looked = far.tenon.run("status", first, cwd=folder, timeout=120).ok()
        assert "another client has started" in looked.err, repr(looked)
        hint = re.search(r"`tenon (runs fetch -t far \S+)` brings it here", looked.err)[1]
        far.tenon.run(*hint.split(), cwd=folder).ok()
        again = far.tenon.run("status", first, cwd=folder).ok()
        assert "restarted" not in again.err, repr(again)
        assert len(far.runners()) == 1 and len(far.far_runs()) == 2
    far.tenon.cleanup()
    far.user.kill_processes()


def test_a_segment_that_appears_while_a_run_goes_on_is_copied_and_told(far):
    folder = far.attached(waiter(far.user.home / "go"))
    started = far.start(folder)
    started.wait_for("begin")
    run_id = far.last(folder)["run_id"]
    (there,) = far.far_runs()
    key = json.loads((there / "spec.json").read_text())["spec"]["key"]
    rank = segment_header(key, "rank-1") + record_bytes(1, "output", b"\x01of another rank\n")
    far.user.write(str(there.relative_to(far.user.home) / "rank-1.tj"), rank)
    started.wait_for("of another rank")
    far.user.write("go", "")
    assert started.wait(60).code == 0
    here = far.tenon.home / "runs" / run_id
    assert (here / "rank-1.tj").read_bytes() == rank
    assert json.loads((here / "fetched").read_text())["rank-1"] == len(rank)
    logs = far.tenon.run("logs", run_id, cwd=folder).ok().out
    assert "of another rank" in logs and "end" in logs


def test_ps_asks_all_machines_at_once_and_a_silent_one_delays_nobody(far_on, sshd):
    with Proxy(sshd.port) as link:
        silent = far_on(sshd, port=link.port)
        folder = silent.attached(SLEEPER)
        quick = SshRuns(sshd, sshd.user(), silent.tenon, silent.scratch)
        quick.attach(folder, name="quick").ok()
        going = silent.submit(folder, "-a", "main.py").ok().out.strip()
        quick.user.write("go", "")
        (folder / "main.py").write_text(waiter(quick.user.home / "go"))
        ended = quick.submit(folder, "-a", "main.py", name="quick").ok().out.strip()
        wait_until(lambda: not quick.runners(), 60, "the end of the quick machine's run")
        link.silent = True
        # A silent machine is given up after a minute, which is not waited for.
        shown = silent.tenon.run("ps", cwd=folder, timeout=45).ok()
        assert going in shown.out and ended not in shown.out, repr(shown)
        assert "has not answered for" in shown.err and "far (" in shown.err and "quick (" not in shown.err, repr(shown)
        assert silent.tenon.json("show", ended, "-o", "json", cwd=folder)["status"] == "Completed"
        link.silent = False
        link.cut()
        again = silent.tenon.run("ps", cwd=folder, timeout=60).ok()
        assert going in again.out and "has not answered" not in again.err, repr(again)
        silent.tenon.run("cancel", going, "--grace", "1s", cwd=folder, timeout=60).ok()
        quick.cleanup()


def test_a_download_goes_and_looks_first(far, tmp_path):
    go = far.user.home / "go"
    folder = far.attached(waiter(go))
    far.submit(folder, "-a", "main.py").ok()
    early = far.tenon.run("history", "download", "-r", "last", "-d", tmp_path / "early", cwd=folder).ok()
    assert "its outputs are collected when it ends" in early.err, repr(early)
    far.user.write("go", "")
    wait_until(lambda: not far.runners(), 60, "the end of the run")
    done = far.tenon.run("history", "download", "-r", "last", "-d", tmp_path / "late", cwd=folder).ok()
    assert (tmp_path / "late/outputs/partial.txt").exists(), repr(done)


def test_what_is_here_is_shown_after_a_detach(far, tmp_path):
    folder = far.attached(waiter(far.user.home / "go"))
    watcher = far.start(folder)
    watcher.wait_for("begin")
    run_id = far.last(folder)["run_id"]
    watcher.kill()
    far.tenon.run("computetarget", "detach", "far", "--yes", "--force", cwd=folder).ok()
    for words in (["logs", run_id], ["status", run_id], ["history", "download", "-r", run_id, "-d", tmp_path / "got"]):
        shown = far.tenon.run(*words, cwd=folder).ok()
        assert "last heard" in shown.err and "is not known here" in shown.err, repr(shown)
    assert far.tenon.run("logs", run_id, cwd=folder).ok().out == "begin\n"
    far.tenon.cleanup()
    far.user.kill_processes()


def test_a_machine_that_does_not_let_us_in_any_more_is_told(far):
    folder = far.attached(waiter(far.user.home / "go"))
    far.submit(folder, "-a", "main.py").ok()
    far.tenon.cleanup()
    far.tenon.run("secrets", "set", "far", "--stdin", cwd=folder, stdin=b"not-it\n").ok()
    looked = far.tenon.run("status", "last", cwd=folder)
    assert looked.code == 0 and "last heard" in looked.err, repr(looked)
    far.user.kill_processes()


def test_a_password_that_is_only_tried_is_not_stored(far):
    folder = far.attached("print('ran')\n")
    store = far.tenon.home / "secrets.json"
    before = store.read_bytes()
    tried = far.attach(folder, "--force", password="Wrong-one-1")
    assert tried.code != 0
    assert store.read_bytes() == before
    assert far.submit(folder).ok().out == "ran\n"
