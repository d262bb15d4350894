# SPDX-License-Identifier: Apache-2.0
"""Ends that must be true: what is left of a run is found and said, and what is missing is counted."""

import json
import os
import shutil
import signal
import struct
import uuid
from pathlib import Path

import pytest

from e2e.harness import wait_unlocked, wait_until
from e2e.journal_py import TYPES, crc32c
from e2e.runner_harness import Runner, alive
from e2e.test_faults import FILL, SmallDisk, as_user, last, needs_root, runner_pid

UID = 64322

# A daemon that nothing of the run is left in: twice forked, in a session and a folder of its own, with an
# empty environment and closed descriptors. It leaves its process number in a file.
DAEMON = r"""
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.chdir("/")
        os.closerange(0, 256)
        code = "import os,signal,sys,time; signal.signal(15, signal.SIG_IGN); " \
               "open(sys.argv[1] + '.x', 'w').write(str(os.getpid())); " \
               "os.rename(sys.argv[1] + '.x', sys.argv[1]); time.sleep(600)"
        os.execve(sys.executable, [sys.executable, "-S", "-E", "-c", code, sys.argv[1]], {})
    os._exit(0)
os.wait()
print("up", flush=True)
time.sleep(600)
"""
SLEEPER = "import os, time\nprint('pid', os.getpid(), flush=True)\ntime.sleep(600)\n"


def read_pid(path):
    wait_until(path.exists, 60, "the daemon's number")
    return int(path.read_text())


def end_process(pid):
    if pid and alive(pid):
        os.kill(pid, signal.SIGKILL)


@pytest.fixture
def user_folder():
    """A folder of a user who may make no cgroup."""
    if os.geteuid() != 0:
        pytest.skip("not root")
    base = Path("/tmp") / f"tenon-ends-{uuid.uuid4().hex[:12]}"
    base.mkdir()
    os.chown(base, UID, UID)
    yield base
    shutil.rmtree(base, ignore_errors=True)


@pytest.fixture
def runner_of_user(user_folder):
    tool = Runner(user_folder / "home", user_folder)
    tool.prefix = as_user(UID)
    yield tool
    assert not tool.cleanup()


@pytest.fixture
def runner(tmp_path):
    tool = Runner(tmp_path / "home", tmp_path)
    yield tool
    assert not tool.cleanup()


def give_to_user(folder):
    for path in [folder, *folder.rglob("*")]:
        os.chown(path, UID, UID)


def kill_runner(run):
    os.kill(run.pid, signal.SIGKILL)
    wait_unlocked(run.segment)


# ---- The mark

@needs_root
@pytest.mark.parametrize("verb", ["recover", "cancel"])
def test_a_daemon_with_a_cleared_environment_is_found_after_the_runners_death(runner_of_user, verb):
    runner = runner_of_user
    note = runner.scratch / "daemon"
    run = runner.new(DAEMON, arguments=[str(note)])
    give_to_user(runner.scratch)
    run.start()
    daemon = read_pid(note)
    try:
        run.wait_for_output(b"up\n")
        assert Path(f"/proc/{daemon}/environ").read_bytes() == b""
        kill_runner(run)
        assert alive(daemon)
        run.ask(verb)
        proof = run.journal().end["proof"]
        assert not alive(daemon)
        assert proof["method"] == "scan" and proof["left"] == 0 and proof["ended"] == 2, proof
        assert not proof.get("remark"), proof
    finally:
        end_process(daemon)


@needs_root
def test_what_could_not_be_seen_is_said_where_no_mark_can_be_had(runner_of_user):
    """The administrator has set the limit that carries the mark."""
    runner = runner_of_user
    runner.prefix = ["prlimit", "--locks=1000:1000", "--", *as_user(UID)]
    run = runner.new("import time\nprint('up', flush=True)\ntime.sleep(600)\n")
    give_to_user(runner.scratch)
    run.start()
    run.wait_for_output(b"up\n")
    kill_runner(run)
    run.ask("recover")
    proof = run.journal().end["proof"]
    assert proof["left"] == 0 and proof["ended"] == 1
    assert "cleared its environment could not be seen" in proof["remark"]


@needs_root
def test_a_run_within_a_run_has_a_mark_of_its_own(runner_of_user):
    runner = runner_of_user
    inner = runner.new("import time\nprint('up', flush=True)\ntime.sleep(600)\n")
    request = {"protocol": 1, "home": str(runner.home), "run_id": inner.id, "version": "test",
               "spec": inner.spec, "environment": runner.environment(), "secrets": {}}
    script = ("import subprocess, time\n"
              f"r = subprocess.run([{str(runner.binary)!r}, 'start'], input={json.dumps(request)!r}"
              ".encode(), stdout=subprocess.PIPE, env={})\nprint(r.stdout.decode(), flush=True)\n"
              "time.sleep(600)\n")
    outer = runner.new(script)
    give_to_user(runner.scratch)
    outer.start()
    outer.wait_for(lambda j: b"boot_id" in j.stdout, what="the inner run's handle")
    inner.handle = json.loads(outer.journal().stdout.decode().splitlines()[1])
    inner.wait_for_output(b"up\n")
    kill_runner(outer)
    outer.ask("recover")
    assert outer.journal().end["proof"]["ended"] == 1
    assert alive(inner.pid) and inner.journal().end is None
    # Its own mark still leads to it.
    kill_runner(inner)
    inner.ask("recover")
    assert inner.journal().end["proof"]["ended"] == 1 and inner.journal().end["proof"]["left"] == 0


# ---- A run whose folder is gone

def test_cancel_of_a_run_whose_folder_is_gone_ends_it_first(tenon, project):
    folder = project(SLEEPER)
    watcher = tenon.start("submit", "main.py", cwd=folder)
    watcher.wait_for("pid ")
    script = int(watcher.out.split("pid ")[1].split()[0])
    watcher.send(signal.SIGKILL)
    watcher.wait()
    run_id = last(tenon, folder)["run_id"]
    supervisor = runner_pid(tenon)
    shutil.rmtree(tenon.home / "runs" / run_id)
    listed = tenon.run("runs", cwd=folder).ok().out
    assert run_id in listed and "Running" in listed, listed
    done = tenon.run("cancel", run_id, cwd=folder).ok()
    assert "Canceled" in done.out and "processes left: 0" in done.out, repr(done)
    assert not alive(script) and not alive(supervisor)
    assert run_id not in tenon.run("runs", cwd=folder).ok().out


def test_cancel_of_a_run_whose_journal_is_gone_ends_it_first(tenon, project):
    folder = project(SLEEPER)
    watcher = tenon.start("submit", "main.py", cwd=folder)
    watcher.wait_for("pid ")
    script = int(watcher.out.split("pid ")[1].split()[0])
    watcher.send(signal.SIGKILL)
    watcher.wait()
    run_id = last(tenon, folder)["run_id"]
    (tenon.home / "runs" / run_id / "host.tj").unlink()
    done = tenon.run("cancel", run_id, cwd=folder)
    assert not alive(script), repr(done)
    assert "Canceled" in done.out, repr(done)
    assert last(tenon, folder)["status"] == "Canceled"


def test_a_machine_that_cannot_be_looked_at_is_not_called_canceled(runner):
    run = runner.new()
    request = {"key": run.spec["key"], "boot_id": "", "container": False}
    answer = run.ask("end-lost", request)
    assert answer["known"] is True and answer["proof"]["left"] == 0
    if os.geteuid() == 0:
        runner.prefix = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /proc || exit 77; exec "$@"', "sh"]
        answer = run.ask("end-lost", request)
        assert answer["known"] is False and "/proc" in answer["proof"]["remark"]
        runner.prefix = []
    answer = run.ask("end-lost", {**request, "boot_id": "another"})
    assert answer["known"] is True and "restarted" in answer["proof"]["remark"]


# ---- Control groups

def groups(key=""):
    roots = [p for p in (Path("/sys/fs/cgroup/unified"), Path("/sys/fs/cgroup")) if (p / "cgroup.procs").exists()]
    return [g for root in roots for g in root.rglob(f"tenon-{key}*") if g.is_dir()]


@needs_root
@pytest.mark.parametrize("look", ["recover", "start", "sweep"])
def test_control_groups_of_killed_runs_are_removed_by_who_looks_next(runner, look):
    run = runner.start("import os, time\nprint('up', os.getpid(), flush=True)\ntime.sleep(600)\n")
    run.wait_for_output(b"\n")
    if not groups(run.spec["key"]):
        run.ask("cancel", {"grace_us": 0})
        run.wait()
        pytest.skip("no control group can be made here")
    script = int(run.journal().stdout.split()[1])
    # Everything of it at once, so that nobody is left to clean up.
    os.kill(run.pid, signal.SIGSTOP)
    os.kill(script, signal.SIGKILL)
    kill_runner(run)
    wait_until(lambda: not alive(script), 20, "the script's end")
    # A runner of another test, which looks everywhere, may have been here already.
    live = runner.start("import time\nprint('up', flush=True)\ntime.sleep(600)\n")
    live.wait_for_output(b"up\n")
    if look == "recover":
        run.ask("recover")
    elif look == "sweep":
        runner.ask("sweep", {"home": str(runner.home), "runs": []})
    assert not groups(run.spec["key"])
    assert groups(live.spec["key"])
    live.ask("cancel", {"grace_us": 0})
    live.wait()
    assert not groups(live.spec["key"])


# ---- The limit on the size of files

def limited(size):
    return ["prlimit", f"--fsize={size}:{size}", "--"]


def test_a_limit_on_file_sizes_costs_output_not_the_run(runner):
    script = r"""
import os, resource, signal, sys
assert signal.getsignal(signal.SIGXFSZ) in (signal.SIG_IGN, signal.SIG_DFL)
for i in range(100):
    os.write(1, b"x" * 65535 + b"\n")
sys.exit(5)
"""
    runner.prefix = limited(2 << 20)
    run = runner.start(script)
    journal = run.wait()
    end = journal.end
    assert (end["state"], end["exit_code"]) == ("Failed", 5), end
    lost = sum(r.json["stdout_bytes"] for r in journal.of("gap"))
    assert lost > 1_000_000
    assert len(journal.stdout) + lost == 100 * 65536
    assert any("too large" in r.json["reason"].lower() for r in journal.of("gap"))


def test_a_script_over_the_limit_ends_as_without_us(runner):
    script = "printf begin; head -c 5000000 /dev/zero > big; printf end\n"
    runner.prefix = limited(4 << 20)
    run = runner.new(files={"main.sh": script}, script="")
    run.spec["script"] = "main.sh"
    journal = run.start().wait()
    # head dies of SIGXFSZ, as it does in a shell; the shell goes on.
    assert journal.stdout == b"beginend"
    assert journal.end["state"] == "Completed"
    assert b"File size limit exceeded" in journal.stderr or journal.stderr == b""


def test_the_client_says_that_the_limit_is_too_low(tenon, project):
    folder = project("print('never')\n")
    done = tenon.run("submit", "main.py", cwd=folder, prefix=limited(4096))
    assert done.code > 0, repr(done)
    assert "ulimit -f" in done.err, repr(done)
    assert tenon.run("submit", "main.py", cwd=folder).ok().out == "never\n"


def test_a_client_and_its_run_live_with_a_limit(tenon, project):
    folder = project("import os\nfor i in range(300): os.write(1, b'y' * 65535 + b'\\n')\nprint('last')\n")
    tenon.run("submit", "main.py", cwd=folder)  # so that the runner is there
    done = tenon.run("submit", "main.py", cwd=folder, prefix=limited(8 << 20))
    assert done.code == 0, done.err[-2000:]
    run = last(tenon, folder)
    assert run["status"] == "Completed"
    details = tenon.json("show", "last", "--json", cwd=folder)["details"]
    assert details["lost_bytes"] > 1_000_000


# ---- Metrics without space

LOGGER = r"""
import os, sys, time
import tenon
filler = os.open(os.path.join(os.environ["TENON_HOME"], "filler"), os.O_WRONLY | os.O_CREAT)
if {before}: tenon.log("loss", -1.0)
""" + FILL + r"""
fill()
for i in range({count}):
    tenon.log("loss", float(i))
fill()
waited = tenon.log("loss", 0.5).wait(2)
os.write(1, b"waited %d\n" % waited)
if {killed}: os.kill(os.getpid(), 9)
"""


@pytest.fixture
def small_disk(tmp_path):
    if os.geteuid() != 0:
        pytest.skip("not root")
    disk = SmallDisk(tmp_path / "disk", "16m")
    yield disk
    disk.unmount()


@needs_root
@pytest.mark.parametrize("before", [True, False], ids=["later", "from-the-start"])
@pytest.mark.parametrize("killed", [True, False], ids=["killed", "exits"])
def test_points_without_space_are_counted_and_said(small_disk, tmp_path, before, killed):
    runner = Runner(small_disk.path / "home", tmp_path)
    try:
        journal = runner.start(LOGGER.format(count=20000, before=before, killed=killed)).wait(120)
        kept, logged = len(journal.metrics()), 20001 + before
        assert journal.end["state"] == ("Failed" if killed else "Completed"), journal.end
        assert b"waited 1" not in journal.stdout
        assert kept < logged
        said = [n["text"] for n in journal.notices if "not on record" in n["text"]]
        assert said == [f"{logged - kept} points that the script logged are not on record: there was no space "
                        "for them"], (kept, journal.notices)
        assert sum(r.json["records"] for r in journal.of("gap")) >= logged - kept
    finally:
        assert not runner.cleanup()


@needs_root
def test_lost_points_are_shown(tenon, project, small_disk):
    tenon.home = small_disk.path / "home"
    try:
        folder = project(LOGGER.format(count=20000, before=True, killed=False))
        done = tenon.run("submit", "main.py", cwd=folder, env={"TENON_HOME": str(tenon.home)}, timeout=120)
        assert done.code == 0 and "not on record" in done.err, repr(done)
        (tenon.home / "filler").unlink()
        details = tenon.json("show", "last", "--json", cwd=folder)["details"]
        kept = details["metrics"]["loss"]["count"]
        assert kept < 20002 and details["lost_records"] >= 20002 - kept
        assert "not on record" in tenon.run("show", "last", cwd=folder).ok().out
    finally:
        tenon.cleanup()


def test_points_that_found_space_later_are_not_called_missing(runner):
    """As long as a process lives it tries again."""
    script = r"""
import os, tenon, tenon._files as files
folder = os.environ["TENON_METRICS_DIR"]
real = files._reserve
def none(fd, size): raise OSError(28, "full")
files._reserve = none
for i in range(50): tenon.log("a", float(i))
files._reserve = real
print(tenon.log("a", 50.0).wait(), flush=True)
"""
    journal = runner.start(script).wait()
    assert journal.stdout == b"True\n"
    assert len(journal.metrics()) == 51
    assert journal.of("gap") == [] and journal.notices == []


# ---- The record itself

def whole_records(path):
    """(type, payload) of every record that is whole, whatever lies between them."""
    data, at, found = path.read_bytes(), 64, []
    assert data[:8] == b"TENONJ1\n", data[:64]
    while at + 28 <= len(data):
        crc, length, number, _, kind = struct.unpack_from("<IIQqB", data, at)
        end = at + 28 + length
        if number and end <= len(data) and crc32c(data[at + 4:end]) == crc:
            found.append((kind, data[at + 28:end]))
            at = end
        else:
            at += 1
    return found


CHANGES = {
    "overwrites": "f = open(path, 'r+b'); f.seek(200); f.write(b'#' * 40); f.close()",
    "truncates": "os.truncate(path, 0)",
    "cuts the end": "os.truncate(path, os.path.getsize(path) - 10)",
    "appends": "f = open(path, 'ab'); f.write(b'#' * 400); f.close()",
    "spoils the header": "f = open(path, 'r+b'); f.write(b'#' * 64); f.close()",
    "removes": "os.unlink(path)",
    "replaces": "os.rename(path, path + '.away'); open(path, 'w').write('mine')",
}


@pytest.mark.parametrize("how", CHANGES)
def test_a_script_that_changes_the_record_is_told_of_in_the_end(runner, how):
    script = r"""
import os, sys, time
path = sys.argv[1]
print("begin", flush=True)
while not os.path.exists(sys.argv[2]): time.sleep(0.01)
CHANGE
print("end", flush=True)
sys.exit(3)
""".replace("CHANGE", CHANGES[how])
    run = runner.new(script)
    go = runner.scratch / "go"
    run.spec["arguments"] = [str(run.segment), str(go)]
    run.start()
    run.wait_for_output(b"begin\n")
    go.touch()
    wait_until(lambda: not alive(run.pid), 60, "the supervisor's end")
    records = whole_records(run.segment)
    [end] = [json.loads(text) for kind, text in records if TYPES.get(kind) == "end"]
    assert (end["state"], end["exit_code"]) == ("Failed", 3)
    assert "another program has changed the record of this run" in end["reason"], end
    notices = [json.loads(text)["text"] for kind, text in records if TYPES.get(kind) == "notice"]
    assert any("has changed the record" in text for text in notices), notices
    # It is over for everybody.
    assert run.ask("recover") == {"state": "Failed", "recovered": False}


def test_a_record_that_nobody_touched_has_nothing_said_about_it(runner):
    run = runner.start("import os\nfor i in range(50): os.write(1, b'x' * 65536)\n")
    journal = run.wait()
    assert journal.end["state"] == "Completed" and not journal.end.get("reason")
    assert journal.notices == []


@needs_root
def test_a_script_cannot_reach_its_record_through_its_runner(runner_of_user):
    runner = runner_of_user
    script = r"""
import glob, os
parent = os.getppid()
print("begin", flush=True)
for name in ("fd", "environ", "mem", "cwd", "exe"):
    try:
        path = f"/proc/{parent}/{name}"
        os.listdir(path) if name == "fd" else os.readlink(path) if name in ("cwd", "exe") else open(path, "rb").read(1)
        print("readable:", name, flush=True)
    except OSError:
        pass
"""
    run = runner.new(script)
    give_to_user(runner.scratch)
    journal = run.start().wait()
    assert journal.stdout == b"begin\n"


def test_neither_the_environment_nor_the_folders_of_a_script_lead_to_its_record(runner):
    script = r"""
import os, sys
words = [os.getcwd(), *sys.argv, *sys.path, *os.environ.values()]
words += [os.readlink(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{name}")]
for root in (os.getcwd(), os.environ["TENON_METRICS_DIR"], os.environ["TENON_OUTPUTS_DIR"], os.environ["PWD"]):
    words.append(os.path.realpath(root))
    for folder, folders, files in os.walk(root):
        words += [os.path.realpath(os.path.join(folder, name)) for name in folders + files]
print("\n".join(words))
"""
    run = runner.new(script)
    words = run.start().wait().stdout.decode().splitlines()
    assert f"{runner.home}/work/{run.id}/work" in words
    assert not [word for word in words if str(run.folder) in word or word.endswith(".tj")], words
    above = [runner.home / "work" / run.id, runner.home / "work", runner.home]
    assert not [name for folder in above for name in folder.glob("*.tj")]
