# SPDX-License-Identifier: Apache-2.0
"""Faults on a normal day. Each test is a row of docs/reliability.md: what is broken, and the final
state, reason, exit code and remains that must come out of it."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from e2e.harness import make_project, wait_unlocked, wait_until

ROOT_ONLY = os.geteuid() != 0
needs_root = pytest.mark.planned_skip("needs root")

SLEEPER = """
import os, sys, time
open("outputs/partial.txt", "w").write("kept")
print("pid", os.getpid(), flush=True)
time.sleep(600)
"""


def last(tenon, folder):
    return tenon.json("history", "last", "-o", "json", cwd=folder)


def run_folder(tenon):
    return next(iter((tenon.home / "runs").iterdir()))


def runner_pid(tenon):
    """The supervising runner of the only run."""
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            command = Path(f"/proc/{entry}/cmdline").read_bytes()
            cwd = os.readlink(f"/proc/{entry}/cwd")
        except OSError:
            continue
        if b"tenon-runner" in command and cwd.startswith(str(tenon.home)):
            return int(entry)
    return None


def kill_runner(tenon):
    """That of the only run; gone when this returns."""
    os.kill(runner_pid(tenon), signal.SIGKILL)
    [segment] = tenon.home.glob("runs/*/host.tj")
    wait_unlocked(segment)


def start_sleeper(tenon, project, *options, script=SLEEPER):
    folder = project(script)
    watcher = tenon.start("submit", *options, "main.py", cwd=folder)
    watcher.wait_for("pid ")
    script_pid = int(watcher.out.split("pid ")[1].split()[0])
    return folder, watcher, script_pid


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1][0] not in "ZX"
    except OSError:
        return False


def test_client_killed_run_goes_on_and_is_recorded(tenon, project):
    folder = project(
        "import time\nprint('begin', flush=True)\ntime.sleep(1.5)\nprint('end', flush=True)\n")
    watcher = tenon.start("submit", "main.py", cwd=folder)
    watcher.wait_for("begin")
    watcher.send(signal.SIGKILL)
    watcher.wait()
    again = tenon.run("logs", "-f", "last", cwd=folder)
    assert again.out == "begin\nend\n"
    assert last(tenon, folder)["status"] == "Completed"


def test_ctrl_c_stops_watching_not_the_run(tenon, project):
    go = tenon.scratch / "go"
    folder = project(f"import os, time\nprint('begin', flush=True)\nwhile not os.path.exists({str(go)!r}): time.sleep(0.02)\nprint('end')\n")
    watcher = tenon.start("submit", "main.py", cwd=folder)
    watcher.wait_for("begin")
    watcher.send(signal.SIGINT)
    done = watcher.wait()
    assert done.code == 130
    assert "tenon cancel" in done.err and "goes on" in done.err
    go.touch()
    assert tenon.run("logs", "-f", cwd=folder).out == "begin\nend\n"
    assert last(tenon, folder)["status"] == "Completed"


def test_runner_killed_next_look_ends_the_run(tenon, project):
    folder, watcher, script_pid = start_sleeper(tenon, project)
    watcher.send(signal.SIGKILL)
    watcher.wait()
    kill_runner(tenon)
    assert alive(script_pid)
    run = last(tenon, folder)
    assert run["status"] == "Failed"
    assert "runner was killed" in run["properties"]["Reason"]
    assert not alive(script_pid)
    assert "outputs/partial.txt" in run["attachments"]
    assert tenon.run("history", "info", "-r", "last", "--artifact", "outputs/partial.txt",
                     cwd=folder).out == "kept"


def test_runner_killed_while_watched(tenon, project):
    _, watcher, script_pid = start_sleeper(tenon, project)
    kill_runner(tenon)
    done = watcher.wait()
    assert done.code == 1
    assert "runner was killed" in done.err
    assert not alive(script_pid)


def test_script_killed(tenon, project):
    folder, watcher, script_pid = start_sleeper(tenon, project)
    os.kill(script_pid, signal.SIGKILL)
    done = watcher.wait()
    assert done.code == 137
    run = last(tenon, folder)
    assert run["status"] == "Failed"
    assert "signal 9" in run["properties"]["Reason"]
    assert "outputs/partial.txt" in run["attachments"]


def test_scripts_parent_gone_children_are_ended_too(tenon, project):
    """The script's own process ends, a child of it that left its session does not."""
    script = """
import os, sys, time
r, w = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.write(w, str(os.getpid()).encode())
        time.sleep(600)
    os._exit(0)
os.wait()
print("pid", int(os.read(r, 32)), flush=True)
"""
    folder = project(script)
    done = tenon.run("submit", "main.py", cwd=folder)
    assert done.code == 0
    daemon = int(done.out.split()[1])
    assert not alive(daemon)
    assert "left by the script" in done.err
    assert last(tenon, folder)["status"] == "Completed"


def test_reboot_is_told_from_a_killed_runner(tenon, project):
    folder, watcher, _ = start_sleeper(tenon, project)
    watcher.send(signal.SIGKILL)
    watcher.wait()
    kill_runner(tenon)
    env = {"TENON_TEST_BOOT_ID": "00000000-0000-0000-0000-000000000001"}
    run = tenon.json("history", "last", "-o", "json", cwd=folder, env=env)
    assert run["status"] == "Failed"
    assert "restarted" in run["properties"]["Reason"]


def cancel_and_check(tenon, folder, watcher, pids, grace="1s"):
    done = tenon.run("cancel", "last", "--grace", grace, cwd=folder)
    assert done.code == 0, repr(done)
    assert "Canceled" in done.out and "processes left: 0" in done.out
    assert watcher.wait().code == 143
    for pid in pids:
        assert not alive(pid)
    assert last(tenon, folder)["status"] == "Canceled"


def test_cancel_script_that_ends_by_itself(tenon, project):
    script = SLEEPER.replace("time.sleep(600)", """
import signal
def leave(*_):
    open("outputs/graceful.txt", "w").write("yes")
    sys.exit(0)
signal.signal(signal.SIGTERM, leave)
print("ready", flush=True)
while True: time.sleep(0.05)
""")
    folder, watcher, pid = start_sleeper(tenon, project, script=script)
    watcher.wait_for("ready")
    cancel_and_check(tenon, folder, watcher, [pid], grace="30s")
    assert "outputs/graceful.txt" in last(tenon, folder)["attachments"]


def test_cancel_script_that_ignores_sigterm(tenon, project):
    script = SLEEPER.replace("time.sleep(600)", """
import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("ready", flush=True)
while True: time.sleep(1)
""")
    folder, watcher, pid = start_sleeper(tenon, project, script=script)
    watcher.wait_for("ready")
    cancel_and_check(tenon, folder, watcher, [pid])


DOUBLE_FORK = """
import os, signal, time
pids = []
r, w = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        os.write(w, str(os.getpid()).encode())
        os.close(1); os.close(2)
        time.sleep(600)
    os._exit(0)
os.wait()
daemon = int(os.read(r, 32))
print("pid", daemon, flush=True)
time.sleep(600)
"""


def test_cancel_reaches_double_forked_daemons(tenon, project):
    folder, watcher, daemon = start_sleeper(tenon, project, script=DOUBLE_FORK)
    cancel_and_check(tenon, folder, watcher, [daemon])


def as_user(uid):
    """A prefix that runs a program as a throw-away user without a name."""
    return ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "--"]


@needs_root
@pytest.mark.parametrize("script", [SLEEPER, DOUBLE_FORK], ids=["plain", "daemon"])
def test_cancel_as_plain_user(tenon, script, tmp_path):
    if ROOT_ONLY:
        pytest.skip("not root")
    uid = 64321
    base = Path("/tmp") / f"tenon-user-{os.getpid()}"
    base.mkdir()
    try:
        folder = make_project(base / "proj", script)
        tenon.home = base / "home"
        for path in [base, *base.rglob("*")]:
            os.chown(path, uid, uid)
        env = {"HOME": str(base)}
        watcher = tenon.start("submit", "main.py", cwd=folder, env=env, prefix=as_user(uid))
        watcher.wait_for("pid ")
        pid = int(watcher.out.split("pid ")[1].split()[0])
        done = tenon.run("cancel", "last", "--grace", "1s", cwd=folder, env=env, prefix=as_user(uid))
        assert done.code == 0, repr(done)
        assert "processes left: 0" in done.out
        assert watcher.wait().code == 143
        assert not alive(pid)
    finally:
        tenon.cleanup()
        shutil.rmtree(base, ignore_errors=True)


def test_timeout(tenon, project):
    folder = project("import time\nprint('x', flush=True)\ntime.sleep(600)\n")
    done = tenon.run("submit", "--timeout", "1s", "--grace", "1s", "main.py", cwd=folder)
    assert done.code == 124
    run = last(tenon, folder)
    assert run["status"] == "Failed" and "timed out" in run["properties"]["Reason"]


# For a script: fill() writes into the file `filler` until not one byte more fits.
FILL = """
def fill():
    for size in (65536, 4096, 512, 1):
        try:
            while True: os.write(filler, b"x" * size)
        except OSError:
            pass
"""


class SmallDisk:
    """A tmpfs of a few megabytes for the home."""

    def __init__(self, path, size):
        self.path = path
        path.mkdir(parents=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(path)], check=True)

    def fill(self, leave=0):
        with open(self.path / "filler", "wb", buffering=0) as f:
            try:
                while True:
                    f.write(b"x" * 4096)
            except OSError:
                pass
            f.truncate(f.tell() - leave)

    def free(self):
        (self.path / "filler").unlink()

    def unmount(self):
        subprocess.run(["umount", "-l", str(self.path)], check=False)


@pytest.fixture
def small_disk(tenon, tmp_path):
    if ROOT_ONLY:
        pytest.skip("not root")
    disk = SmallDisk(tmp_path / "disk", "12m")
    tenon.home = disk.path / "home"
    yield disk
    tenon.cleanup()
    disk.unmount()


KEEPER = """
import os, time
open("outputs/model.bin", "wb").write(os.urandom(3_000_000))
print("begin", flush=True)
while not os.path.exists({go!r}): time.sleep(0.02)
"""


def cannot_be_collected(tenon, project, disk, end):
    """(project, run id): a run whose outputs find no room in the store; all else does. `end`: what ends the script."""
    go = tenon.scratch / "go"
    folder = project(KEEPER.format(go=str(go)))
    watcher = tenon.start("submit", "main.py", cwd=folder)
    watcher.wait_for("begin")
    disk.fill(leave=1_000_000)
    end(go)
    done = watcher.wait()
    run = last(tenon, folder)
    assert "could not be collected" in run["properties"]["Reason"], (run, repr(done))
    return folder, run["run_id"]


def kept_by_every_cleaner(tenon, folder, run_id):
    model = tenon.home / "runs" / run_id / "work/outputs/model.bin"
    whole = model.read_bytes()
    told = tenon.json("gc", "--keep-work", "0s", "-o", "json", cwd=folder)
    assert [k["name"] for k in told["kept"]] == [run_id] and "runs collect" in told["kept"][0]["why"], told
    cleaned = tenon.run("experiment", "clean", "-t", "local", "--yes", cwd=folder).ok()
    assert run_id in cleaned.err and "collected" in cleaned.err, repr(cleaned)
    refused = tenon.run("runs", "delete", run_id, cwd=folder)
    assert refused.code != 0 and "--force" in refused.err and "runs collect" in refused.err, repr(refused)
    assert model.read_bytes() == whole
    return whole


@needs_root
@pytest.mark.parametrize("how", ["ended", "canceled", "runner killed"])
def test_outputs_that_could_not_be_collected_are_kept_until_they_are(tenon, project, small_disk, how):
    ways = {"ended": lambda go: go.write_text(""), "canceled": lambda _: os.kill(runner_pid(tenon), signal.SIGTERM),
            "runner killed": lambda _: kill_runner(tenon)}
    folder, run_id = cannot_be_collected(tenon, project, small_disk, ways[how])
    whole = kept_by_every_cleaner(tenon, folder, run_id)
    got = tenon.scratch / "got"
    missing = tenon.run("history", "download", "-r", run_id, "-d", got, cwd=folder)
    assert missing.code != 0 and "collect" in missing.err, repr(missing)
    assert not (got / "outputs").exists() and (got / "driver_log").exists()
    small_disk.free()
    kept_by_every_cleaner(tenon, folder, run_id)
    assert "1 file" in tenon.run("runs", "collect", run_id, cwd=folder).ok().out
    tenon.run("runs", "collect", run_id, cwd=folder).ok()
    tenon.run("history", "download", "-r", run_id, "-d", got, "--overwrite", cwd=folder).ok()
    assert (got / "outputs/model.bin").read_bytes() == whole
    tenon.run("gc", "--keep-work", "0s", cwd=folder).ok()
    assert not (tenon.home / "runs" / run_id / "work").exists()
    tenon.run("history", "rebuild").ok()
    assert "outputs/model.bin" in last(tenon, folder)["attachments"]
    tenon.run("runs", "delete", run_id, cwd=folder).ok()


@needs_root
def test_a_download_collects_what_could_not_be_collected(tenon, project, small_disk):
    folder, run_id = cannot_be_collected(tenon, project, small_disk, lambda go: go.write_text(""))
    small_disk.free()
    got = tenon.scratch / "got"
    tenon.run("history", "download", "-r", run_id, "-d", got, cwd=folder).ok()
    assert (got / "outputs/model.bin").stat().st_size == 3_000_000


@needs_root
def test_disk_full_while_running_loses_output_not_the_run(tenon, project, small_disk):
    go = tenon.scratch / "go"
    folder = project(f"""
import os, sys, time
print("begin", flush=True)
while not os.path.exists({str(go)!r}): time.sleep(0.02)
for i in range(2000): sys.stdout.write("x" * 1000 + "\\n")
sys.stdout.flush()
sys.exit(7)
""")
    watcher = tenon.start("submit", "main.py", cwd=folder)
    watcher.wait_for("begin")
    small_disk.fill()
    go.write_text("")
    done = watcher.wait()
    assert done.code == 7, repr(done)
    small_disk.free()
    run = last(tenon, folder)
    assert run["status"] == "Failed"
    assert run["properties"]["ExitCode"] == 7
    log = tenon.run("history", "info", "-r", "last", "--artifact", "control_log", cwd=folder).out
    assert "recording stopped" in log or "No space" in log or "full" in log, log


@needs_root
def test_disk_full_while_submitting_is_an_error_and_leaves_nothing_running(tenon, project, small_disk):
    folder = project("print('never')\n")
    tenon.run("submit", "main.py", cwd=folder).ok()
    small_disk.fill()
    (folder / "big.bin").write_bytes(os.urandom(3_000_000))
    done = tenon.run("submit", "main.py", cwd=folder)
    assert done.code == 125
    assert "No space left" in done.err and "never" not in done.out
    small_disk.free()
    (folder / "big.bin").unlink()
    assert tenon.run("submit", "main.py", cwd=folder).ok().out == "never\n"
    assert {r["status"] for r in tenon.json("history", "list", "-o", "json", cwd=folder)} <= {
        "Completed", "Failed"}


def test_database_deleted_is_rebuilt_equal(tenon, project):
    folder = project("""
import sys
from azureml.logging import get_azureml_logger
log = get_azureml_logger()
for i in range(5): log.log("loss", 1.0 / (i + 1))
open("outputs/x.txt", "w").write("x")
""")
    for n in range(3):
        tenon.run("submit", "main.py", "--n", str(n), cwd=folder).ok()
    tenon.run("tag", "2", "best=yes", cwd=folder).ok()
    before = tenon.json("history", "list", "-o", "json", cwd=folder)
    points = tenon.json("metrics", "1", "--json", cwd=folder)
    for path in tenon.home.glob("history.db*"):
        path.unlink()
    tenon.run("history", "rebuild", cwd=folder).ok()
    assert tenon.json("history", "list", "-o", "json", cwd=folder) == before
    assert tenon.json("metrics", "1", "--json", cwd=folder) == points
    assert len(points) == 5


def test_database_damaged_says_how_to_rebuild(tenon, project):
    folder = project()
    tenon.run("submit", "main.py", cwd=folder).ok()
    for path in tenon.home.glob("history.db-*"):
        path.unlink()
    (tenon.home / "history.db").write_bytes(b"this is no database" * 1000)
    broken = tenon.run("history", "list", cwd=folder)
    assert broken.code == 1 and "tenon history rebuild" in broken.err
    tenon.run("history", "rebuild", cwd=folder).ok()
    assert len(tenon.json("history", "list", "-o", "json", cwd=folder)) == 1


def test_two_clients_on_one_run_see_the_same(tenon, project):
    folder = project("""
import time
for i in range(200):
    print(i, flush=True)
    time.sleep(0.005)
""")
    first = tenon.start("submit", "main.py", cwd=folder)
    first.wait_for("0\n")
    second = tenon.start("logs", "-f", "last", cwd=folder)
    third = tenon.start("logs", "-f", "last", cwd=folder)
    expected = "".join(f"{i}\n" for i in range(200))
    for watcher in (first, second, third):
        assert watcher.wait().out == expected
    assert len(tenon.json("history", "list", "-o", "json", cwd=folder)) == 1


def test_fifty_runs_at_once(tenon, project):
    folder = project("""
import sys
from azureml.logging import get_azureml_logger
log = get_azureml_logger()
n = int(sys.argv[1])
for i in range(20): log.log("value", n * 100 + i)
print("n", n)
""")
    watchers = [tenon.start("submit", "main.py", str(n), cwd=folder) for n in range(50)]
    for n, watcher in enumerate(watchers):
        done = watcher.wait(timeout=240)
        assert done.code == 0, repr(done)
        assert done.out == f"n {n}\n"
    runs = tenon.json("history", "list", "-o", "json", cwd=folder)
    assert sorted(r["run_number"] for r in runs) == list(range(1, 51))
    assert len({r["run_id"] for r in runs}) == 50
    assert {r["status"] for r in runs} == {"Completed"}
    assert sorted(r["value"] for r in runs) == [n * 100 + 19 for n in range(50)]


@pytest.mark.parametrize("jump_s", [-86400, 86400], ids=["back", "forward"])
def test_clock_jump_during_a_run(tenon, project, jump_s):
    offset = tenon.scratch / "offset"
    offset.write_text("0")
    go = tenon.scratch / "go"
    folder = project(f"""
import os, time
print("begin", flush=True)
while not os.path.exists({str(go)!r}): time.sleep(0.02)
print("end", flush=True)
""")
    env = {"TENON_TEST_CLOCK_OFFSET_FILE": offset}
    watcher = tenon.start("submit", "main.py", cwd=folder, env=env)
    watcher.wait_for("begin")
    offset.write_text(str(jump_s * 1_000_000))
    go.write_text("")
    done = watcher.wait()
    assert done.code == 0 and done.out == "begin\nend\n"
    run = tenon.json("history", "last", "-o", "json", cwd=folder, env=env)
    assert run["status"] == "Completed"
    hours, minutes, seconds = run["duration"].split(":")
    assert int(hours) == 0 and int(minutes) < 2, run["duration"]
    assert run["end_time_utc"] >= run["start_time_utc"]
    # The next run gets an id of its own although the clock says an earlier or later time.
    offset.write_text("0")
    tenon.run("submit", "main.py", cwd=folder, env=env).ok()
    assert [r["run_number"] for r in tenon.json("history", "list", "-o", "json", cwd=folder, env=env)
            ].__len__() == 2


@needs_root
def test_read_only_home_submit_is_refused_listing_works(tenon, project):
    if ROOT_ONLY:
        pytest.skip("not root")
    folder = project()
    tenon.run("submit", "main.py", cwd=folder).ok()
    subprocess.run(["mount", "--bind", str(tenon.home), str(tenon.home)], check=True)
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", str(tenon.home)], check=True)
        refused = tenon.run("submit", "main.py", cwd=folder)
        assert refused.code == 125
        assert str(tenon.home) in refused.err and "Read-only" in refused.err
        runs = tenon.json("history", "list", "-o", "json", cwd=folder)
        assert [r["status"] for r in runs] == ["Completed"]
    finally:
        subprocess.run(["umount", "-l", str(tenon.home)], check=False)


@needs_root
def test_home_on_another_file_system(tenon, project, tmp_path):
    if ROOT_ONLY:
        pytest.skip("not root")
    disk = SmallDisk(tmp_path / "other", "64m")
    try:
        tenon.home = disk.path / "home"
        folder = project("open('outputs/a', 'w').write('b')\nprint('ok')\n",
                         files={"data.bin": os.urandom(2_000_000)})
        assert tenon.run("submit", "main.py", cwd=folder).ok().out == "ok\n"
        out = tmp_path / "restored"
        tenon.run("restore", "last", out, cwd=folder).ok()
        assert (out / "data.bin").read_bytes() == (folder / "data.bin").read_bytes()
    finally:
        tenon.cleanup()
        disk.unmount()


@needs_root
def test_hidden_proc_proof_says_what_could_not_be_seen(tenon, project):
    """/proc with hidepid shows a plain user only his own processes; the proof must say so."""
    if ROOT_ONLY:
        pytest.skip("not root")
    uid = 64322
    base = Path("/tmp") / f"tenon-hidden-{os.getpid()}"
    base.mkdir()
    try:
        folder = make_project(base / "proj", SLEEPER)
        tenon.home = base / "home"
        for path in [base, *base.rglob("*")]:
            os.chown(path, uid, uid)
        script = base / "steps.sh"
        script.write_text(f"""set -e
mount -t proc -o hidepid=2 proc /proc
export HOME={base} TENON_HOME={tenon.home}
run() {{ setpriv --reuid={uid} --regid={uid} --clear-groups -- {tenon.binary} "$@"; }}
cd {folder}
run submit -a main.py
sleep 1
run cancel last --grace 1s
run history info -r last --artifact control_log
""")
        done = subprocess.run(["unshare", "-m", "-p", "-f", "bash", str(script)],
                              env=tenon.env(), capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "Canceled" in done.stdout
        assert "hide" in done.stdout or "could not be seen" in done.stdout, done.stdout
    finally:
        tenon.cleanup()
        shutil.rmtree(base, ignore_errors=True)


def test_submit_killed_at_any_moment_leaves_no_run_without_end(tenon, project):
    """The client is killed after 0, 1, 2 … ms; every run that exists gets an end."""
    folder = project("print('done')\n")
    tenon.run("submit", "main.py", cwd=folder).ok()
    for ms in range(0, 40, 2):
        client = tenon.start("submit", "main.py", cwd=folder)
        time.sleep(ms / 1000)
        client.send(signal.SIGKILL)
        client.wait()
    def all_ended():
        runs = tenon.json("history", "list", "-o", "json", cwd=folder)
        return runs if all(r["status"] in ("Completed", "Failed") for r in runs) else None
    runs = wait_until(all_ended, 60, "an end of every run")
    numbers = [r["run_number"] for r in runs]
    assert len(set(numbers)) == len(numbers)
    for run in runs:
        if run["status"] == "Failed":
            assert run["properties"]["Reason"]
