# SPDX-License-Identifier: Apache-2.0
"""Faults on a normal day with another machine. Each test is a row of docs/reliability.md: what is broken, and the final state,
reason, exit code and remains that must come out of it."""

import base64
import contextlib
import hashlib
import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from e2e.harness import wait_until
from e2e.runner_harness import alive
from hosts.link import Cable, Proxy
from hosts.sshd import Sshd, Unusable
from hosts.ssh_runs import SLEEPER, waiter

pytestmark = pytest.mark.planned_skip("needs root and openssh-server")

# Pieces of 100 KB that tell their place, and points in between; the last ones wait for the file `go`, or come slowly.
TALKER = """
import base64, hashlib, os, sys, time
from azureml.logging import get_azureml_logger
logger = get_azureml_logger()
go = {go!r}
whole = hashlib.sha256()
for number in range({pieces}):
    piece = base64.b64encode(hashlib.shake_256(b"%d" % number).digest(75000))  # hardly becomes smaller
    sys.stdout.buffer.write(piece)
    whole.update(piece)
    for point in range({points}): logger.log("loss", number * {points} + point)
    if not os.path.exists(go): time.sleep({pause} if number < {pieces} * 0.9 else 10 * {pause})
sys.stdout.buffer.flush()
open("outputs/sum.txt", "w").write(whole.hexdigest())
while not os.path.exists(go): time.sleep(0.02)
"""


def talker(go, pieces=2000, points=50, pause=0.015):
    return TALKER.format(go=str(go), pieces=pieces, points=points, pause=pause)


def expected(pieces):
    whole = hashlib.sha256()
    for number in range(pieces):
        whole.update(base64.b64encode(hashlib.shake_256(b"%d" % number).digest(75000)))
    return whole.hexdigest()


def points_of(runs, folder):
    """Every value of the metric `loss`, in order."""
    told = runs.tenon.run("metrics", "last", "loss", "--csv", cwd=folder, timeout=120).ok().out
    return [float(line.rsplit(",", 1)[1]) for line in told.splitlines()[1:]]


@pytest.mark.seconds(600)
def test_a_hundred_cuts_lose_nothing_and_repeat_nothing(far_on, sshd):
    with Proxy(sshd.port) as link:
        runs = far_on(sshd, port=link.port)
        go = runs.user.home / "go"
        folder = runs.attached(talker(go, pause=0.05))
        watcher = runs.start(folder)
        wait_until(lambda: len(watcher.out) > 100_000, 60, "output")
        cutter = link.cut_at_random(100)
        cutter.join(400)
        assert not cutter.is_alive() and link.cuts >= 100
        runs.user.write("go", "")
        done = watcher.wait(200)
        assert done.code == 0, done.err[-3000:]
        assert len(done.out_bytes) == 200_000_000
        assert hashlib.sha256(done.out_bytes).hexdigest() == expected(2000)
        assert points_of(runs, folder) == list(range(100_000))
        again = runs.tenon.run("logs", "last", cwd=folder, timeout=200).ok()
        assert again.out_bytes == done.out_bytes
        assert runs.last(folder)["status"] == "Completed"


def test_client_killed_then_logs_follow_from_the_first_byte_to_the_last(far):
    go = far.user.home / "go"
    folder = far.attached(talker(go, pieces=200, pause=0.005))
    watcher = far.start(folder)
    wait_until(lambda: len(watcher.out) > 1_000_000, 60, "output")
    watcher.kill()
    follower = far.tenon.start("logs", "-f", "last", cwd=folder)
    wait_until(lambda: len(follower.out) > 1_000_000, 60, "output")
    far.user.write("go", "")
    done = follower.wait()
    assert done.code == 0, done.err[-2000:]
    assert hashlib.sha256(done.out_bytes).hexdigest() == expected(200)
    assert points_of(far, folder) == list(range(10_000))


def test_what_ended_while_nobody_was_there_is_fetched_whole(far):
    go = far.user.home / "go"
    folder = far.attached(talker(go, pieces=50, pause=0))
    watcher = far.start(folder)
    wait_until(lambda: len(watcher.out) > 100_000, 60, "output")
    watcher.kill()
    far.user.write("go", "")
    wait_until(lambda: not far.runners(), 60, "the end of the run")
    status = far.tenon.run("status", "last", cwd=folder).ok()
    assert "Completed" in status.out
    assert hashlib.sha256(far.tenon.run("logs", "last", cwd=folder).ok().out_bytes).hexdigest() == expected(50)
    fetched = far.scratch / "fetched"
    far.tenon.run("history", "download", "-r", "last", "-d", fetched, cwd=folder).ok()
    [told] = fetched.rglob("sum.txt")
    assert told.read_text() == expected(50)


def test_power_cut_here_takes_the_end_of_the_copy(far):
    """The mark that all is here reached the disk, the last bytes did not: they are fetched again."""
    folder = far.attached(talker(far.user.home / "go", pieces=50, pause=0))
    far.user.write("go", "")
    whole = far.submit(folder).ok().out_bytes
    [copy] = far.tenon.home.glob("runs/*/host.tj")
    os.truncate(copy, copy.stat().st_size // 2)
    again = far.tenon.run("logs", "last", cwd=folder).ok()
    assert again.out_bytes == whole
    assert far.last(folder)["status"] == "Completed"


@pytest.mark.parametrize("dropped", [True, False])
def test_sshd_restarted(far, dropped):
    """`dropped`: every connection ends with it; else those that stand go on, as distributions do it."""
    go = far.user.home / "go"
    folder = far.attached(waiter(go, code=3))
    watcher = far.start(folder)
    watcher.wait_for("begin")
    far.server.restart(drop=dropped)
    far.user.write("go", "")
    done = watcher.wait()
    assert (done.code, done.out) == (3, "begin\nend\n"), repr(done)
    assert far.last(folder)["status"] == "Failed"


def test_sshd_away_for_a_while(far):
    """The run ends meanwhile; whoever watches waits and gets it all."""
    go = far.user.home / "go"
    folder = far.attached(waiter(go, code=3))
    watcher = far.start(folder)
    watcher.wait_for("begin")
    far.server.stop()
    far.server.drop()
    far.user.write("go", "")
    wait_until(lambda: not far.runners(), 60, "the end of the run")
    wait_until(lambda: "the run goes on" in watcher.err, 60, "the words that it goes on")
    far.server.start()
    done = watcher.wait(120)
    assert (done.code, done.out) == (3, "begin\nend\n"), repr(done)


def test_wrong_password_is_tried_once(far):
    folder = far.project()
    done = far.attach(folder, password="Wrong-" + far.user.password)
    assert done.code == 5, repr(done)
    assert far.server.failed_passwords() == 1
    assert not list((folder / "aml_config").glob("far.*"))


def test_wrong_password_is_not_taken_for_good_because_a_connection_stands(far):
    folder = far.attached("print('ran')\n")
    assert far.attach(folder, "--force", password="Wrong-" + far.user.password).code == 5
    assert far.server.failed_passwords() == 1
    far.tenon.cleanup()  # the kept connection
    assert far.submit(folder).ok().out == "ran\n"


def test_password_changed_since_attach_is_tried_once(far):
    folder = far.attached()
    far.tenon.cleanup()  # the kept connection
    far.user.set_password("Another-one-1")
    done = far.submit(folder)
    assert done.code == 125 and "password" in done.err.lower(), repr(done)
    assert far.server.failed_passwords() == 1


def test_host_key_changed(far):
    """Refused with an explanation; nothing is tried, the pinned key stays, and the old machine is let in again."""
    folder = far.attached("print('ran')\n")
    old = {p.name: p.read_bytes() for p in far.server.folder.glob("host_*")}
    far.server.change_host_key()
    before = far.server.methods_tried()
    done = far.submit(folder)
    assert done.code == 125 and "host key" in done.err and "--accept-host-key" in done.err, repr(done)
    assert far.tenon.run("computetarget", "test", "far", cwd=folder).code == 5
    assert set(far.server.methods_tried()[len(before):]) <= {"none"}
    far.server.stop()
    for name, data in old.items():
        (far.server.folder / name).write_bytes(data)
    far.server.start()
    assert far.submit(folder).ok().out == "ran\n"


def test_a_new_host_key_can_be_agreed_to(far):
    folder = far.attached("print('ran')\n")
    far.server.change_host_key()
    far.tenon.run("computetarget", "test", "far", "--accept-host-key", cwd=folder).ok()
    assert far.submit(folder).ok().out == "ran\n"


def test_host_key_other_than_the_one_named(far):
    folder = far.project()
    done = far.attach(folder, host_key=("--host-key", "SHA256:" + "A" * 43))
    assert done.code == 5 and far.server.fingerprint in done.err, repr(done)
    assert set(far.server.methods_tried()) <= {"none"}
    assert not list((folder / "aml_config").glob("far.*"))


def test_no_word_about_the_host_key_means_no_secret(far):
    folder = far.project()
    done = far.attach(folder, host_key=())
    assert done.code == 5 and far.server.fingerprint in done.err, repr(done)
    assert set(far.server.methods_tried()) <= {"none"}


@pytest.mark.parametrize("after", [1, 2])
def test_host_key_that_changes_between_look_and_login(far_on, sshd, sshd_with, after):
    """The first connections reach the machine the user agreed to, the next ones another that shows another key."""
    other = sshd_with()
    with Proxy(sshd.port) as link:
        def turn(number):
            if number > after:
                link.target = ("127.0.0.1", other.port)

        link.on_connection = turn
        runs = far_on(sshd, port=link.port)
        folder = runs.project("print('ran')\n")
        done = runs.attach(folder, host_key=("--host-key", sshd.fingerprint))
        if link.connections <= after:  # it was in before the switch
            assert done.code == 0, repr(done)
            runs.tenon.cleanup()
            done = runs.submit(folder)
            assert done.code == 125, repr(done)
        else:
            assert done.code == 5, repr(done)
            assert not list((folder / "aml_config").glob("far.*"))
    assert other.count("Connection from") >= 1
    assert set(other.methods_tried()) <= {"none"}


def small_home(sshd, size):
    user = sshd.user()
    user.mount_home(size=size)
    return user


def fill(user, leave=0):
    """Everything but `leave` bytes of the home is used up."""
    with open(user.home / "filler", "wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(1 << 16))
        except OSError:
            pass
    if leave:
        with open(user.home / "filler", "r+b") as file:
            file.truncate((user.home / "filler").stat().st_size - leave)


def test_disk_full_on_the_host_while_submitting(far_on, sshd):
    runs = far_on(sshd, small_home(sshd, "64m"))
    folder = runs.attached("print('ran')\n", files={"data.bin": bytes(range(256)) * 40_000})
    fill(runs.user)
    done = runs.submit(folder)
    assert done.code == 125 and "No space left on device" in done.err and "link" not in done.err, repr(done)
    failed = runs.last(folder)
    assert failed["status"] == "Failed" and "No space left on device" in failed["properties"]["Reason"], failed
    # What came of it goes when all is to go, once nothing has been sent for a moment.
    for used in runs.far_files("host/used"):
        os.utime(used, (0, 0))
    runs.tenon.run("host", "clean", "far", "--all", "--yes", cwd=folder).ok()
    assert runs.far_files("incoming/*") == [] and disk_bytes(runs.user.home / ".tenon/host/objects") < 1 << 20
    (runs.user.home / "filler").unlink()
    assert runs.submit(folder).ok().out == "ran\n"


def test_a_run_there_can_be_canceled_with_a_full_disk_here(far):
    folder = far.attached(SLEEPER)
    run_id = far.left_going(folder)
    home = far.tenon.home
    kept = home.with_name("kept")
    home.rename(kept)
    home.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "tenon-test", home], check=True)
    try:
        shutil.copytree(kept, home, dirs_exist_ok=True, ignore=shutil.ignore_patterns("ssh"))  # a socket
        with open(home / "filler", "wb") as filler, contextlib.suppress(OSError):
            while True:
                filler.write(bytes(65536))
                filler.flush()
        done = far.tenon.run("cancel", run_id, "--grace", "1s", cwd=folder)
        assert done.code in (0, 4), repr(done)
        if done.code == 4:
            assert "told to end" in done.err or "No space" in done.err or "full" in done.err, repr(done)
        wait_until(lambda: not far.runners(), 60, "the end of the run there")
        (home / "filler").unlink()
        assert far.last(folder)["run_id"] == run_id
        assert "Canceled" in far.tenon.run("status", run_id, cwd=folder).ok().out
    finally:
        far.tenon.cleanup()
        subprocess.run(["umount", "-l", home], check=True)
        home.rmdir()
        kept.rename(home)


def disk_bytes(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("left", ["nothing", "half", "zeros"])
def test_a_damaged_runner_is_sent_again(far, left):
    folder = far.attached("print('ran')\n")
    [runner] = far.far_files("bin/tenon-runner-*")
    whole = runner.read_bytes()
    far.tenon.cleanup()
    wait_until(lambda: not far.user.processes(), 30, "the end of the agent")
    runner.write_bytes({"nothing": b"", "half": whole[:len(whole) // 2], "zeros": bytes(len(whole))}[left])
    assert far.submit(folder).ok().out == "ran\n"
    assert runner.read_bytes() == whole


def test_disk_full_on_the_host_while_running_loses_output_not_the_run(far_on, sshd):
    runs = far_on(sshd, small_home(sshd, "64m"))
    go = runs.user.home / "go"
    folder = runs.attached(f"""
import os, sys, time
print("begin", flush=True)
while not os.path.exists({str(go)!r}): time.sleep(0.02)
for _ in range(300): sys.stdout.write("x" * 100_000)
sys.stdout.flush()
raise SystemExit(4)
""")
    watcher = runs.start(folder)
    watcher.wait_for("begin")
    runs.user.write("go.part", "")
    fill(runs.user, leave=1 << 20)
    (runs.user.home / "go.part").rename(go)
    done = watcher.wait(120)
    assert done.code == 4, repr(done)
    (runs.user.home / "filler").unlink()
    assert runs.last(folder)["status"] == "Failed"
    told = runs.tenon.run("history", "info", "-r", "last", "--artifact", "control_log", cwd=folder).ok().out
    assert "recording stopped" in told or "No space" in told or "full" in told, told


def test_outputs_that_a_full_disk_keeps_there_are_told_of(far_on, sshd):
    """Also when there is not even room for a notice."""
    runs = far_on(sshd, small_home(sshd, "64m"))
    folder = runs.attached("""
import sys
with open("outputs/model.bin", "wb", buffering=0) as file:
    try:
        while True: file.write(bytes(1 << 16))
    except OSError as why: print(why, flush=True)
sys.stdout.write("x" * 1_000_000)
""")
    done = runs.submit(folder)
    assert "outputs could not be collected" in done.err and "work/outputs" in done.err, repr(done)
    shown = runs.tenon.run("show", "last", cwd=folder).ok()
    assert "they are kept in" in shown.out, shown.out
    assert runs.far_files("work/outputs/model.bin")


def test_two_clients_see_the_same(far):
    """The second one has the project and access, and nothing else."""
    go = far.user.home / "go"
    folder = far.attached(waiter(go, code=3))
    first = far.start(folder)
    first.wait_for("begin")
    run = far.last(folder)["run_id"]
    with far.somebody_else(folder) as (other, copy):
        other.run("runs", "fetch", "-t", "far", run, cwd=copy).ok()
        second = other.start("logs", "-f", run, cwd=copy)
        second.wait_for("begin")
        far.user.write("go", "")
        assert first.wait().code == 3
        assert second.wait().out == first.out == "begin\nend\n"
        theirs = other.json("history", "last", "-o", "json", cwd=copy)
        assert (theirs["run_id"], theirs["status"]) == (run, "Failed")


def test_client_gone_for_good_another_takes_over(far):
    go = far.user.home / "go"
    folder = far.attached(waiter(go, code=3))
    first = far.start(folder)
    first.wait_for("begin")
    run = far.last(folder)["run_id"]
    first.kill()
    far.tenon.cleanup()
    other = far.another_client()
    copy = other.scratch / "proj"
    shutil.copytree(folder, copy)
    shutil.rmtree(far.tenon.home)
    try:
        far.attach(copy, "--force", tenon=other).ok()
        assert run in other.run("runs", "fetch", "-t", "far", cwd=copy).ok().out
        assert "Running" in other.run("status", run, cwd=copy).ok().out
        far.user.write("go", "")
        done = other.run("logs", "-f", run, cwd=copy).ok()
        assert done.out == "begin\nend\n"
        fetched = other.scratch / "fetched"
        other.run("history", "download", "-r", run, "-d", fetched, cwd=copy).ok()
        assert [p.read_text() for p in fetched.rglob("partial.txt")] == ["kept"]
    finally:
        assert not other.cleanup()


@pytest.mark.parametrize("bytes_passed", [20_000, 300_000, 900_000])
def test_upload_of_the_runner_cut(far_on, sshd, bytes_passed):
    """What is half there is never taken for whole; the next attempt simply works."""
    with Proxy(sshd.port) as link:
        link.cut_after = bytes_passed
        runs = far_on(sshd, port=link.port)
        folder = runs.project("print('ran')\n")
        done = runs.attach(folder)
        if link.cuts == 0:
            pytest.fail("the cut came too late to tell anything")
        assert done.code in (0, 4), repr(done)
        link.cut_after = None
        runs.attach(folder, "--force").ok()
        assert runs.submit(folder).ok().out == "ran\n"
        assert len(runs.far_files("bin/tenon-runner-*")) == 1
        runs.tenon.cleanup()


def test_upload_of_the_project_cut_goes_on_where_it_stopped(far_on, sshd):
    with Proxy(sshd.port) as link:
        runs = far_on(sshd, port=link.port)
        big = hashlib.shake_256(b"tenon").digest(30_000_000)
        folder = runs.attached("import hashlib\nprint(hashlib.sha256(open('big.bin', 'rb').read()).hexdigest())\n",
                               files={"big.bin": big})
        runs.tenon.cleanup()
        link.cut_after = 20_000_000
        link.reset_counts()
        done = runs.submit(folder, timeout=200)
        cut_after, link.cut_after = link.cut_after, None
        assert link.cuts >= 1
        if done.code != 0:
            assert done.code == 125, repr(done)
            done = runs.submit(folder, timeout=200).ok()
        assert done.out == hashlib.sha256(big).hexdigest() + "\n"
        assert link.sent < len(big) + cut_after // 2, "it was sent from its beginning again"
        runs.tenon.cleanup()


def test_reboot(far):
    folder = far.attached(SLEEPER)
    watcher = far.start(folder)
    watcher.wait_for("begin")
    far.server.reboot()
    done = watcher.wait(120)
    assert done.code != 0 and "Failed" in done.err and "restarted" in done.err, repr(done)
    run = far.last(folder)
    assert run["status"] == "Failed" and "restarted" in run["properties"]["Reason"], run
    fetched = far.scratch / "fetched"
    far.tenon.run("history", "download", "-r", "last", "-d", fetched, cwd=folder).ok()
    assert [p.read_text() for p in fetched.rglob("partial.txt")] == ["kept"]


def test_reboot_with_retries_goes_on_from_the_checkpoint(far):
    folder = far.attached("""
import os, time
checkpoint = os.environ["AZUREML_NATIVE_SHARE_DIRECTORY"] + "/checkpoint"
if os.path.exists(checkpoint):
    print("from", open(checkpoint).read(), flush=True)
else:
    open(checkpoint, "w").write("epoch 7")
    print("begin", flush=True)
    time.sleep(600)
""")
    watcher = far.start(folder, "--retries", "1", "main.py")
    watcher.wait_for("begin")
    far.server.reboot()
    done = watcher.wait(120)
    assert done.code == 0 and done.out.endswith("from epoch 7\n"), repr(done)


@pytest.mark.seconds(600)
def test_host_that_has_lost_the_run(far):
    folder = far.attached(SLEEPER)
    watcher = far.start(folder)
    watcher.wait_for("begin")
    watcher.send(signal.SIGKILL)
    watcher.wait()
    far.server.reboot()
    shutil.rmtree(far.user.home / ".tenon")
    looked = far.tenon.run("status", "last", cwd=folder)
    assert looked.code == 3 and "has no run" in looked.err and "tenon cancel" in looked.err, repr(looked)
    followed = far.tenon.run("logs", "-f", "last", cwd=folder)
    assert followed.code == 3 and "tenon cancel" in followed.err and followed.out == "begin\n", repr(followed)
    assert far.last(folder)["status"] == "Running"
    far.tenon.run("cancel", "last", cwd=folder).ok()
    run = far.last(folder)
    assert run["status"] == "Canceled" and "no such run" in run["properties"]["Reason"], run
    assert far.tenon.run("logs", "last", cwd=folder).ok().out == "begin\n"
    far.tenon.run("runs", "delete", "last", cwd=folder).ok()


def test_host_that_has_lost_the_folder_of_a_run_that_goes_on(far):
    folder = far.attached(SLEEPER.replace('"begin"', '"begin", os.getpid()'))
    watcher = far.start(folder)
    watcher.wait_for("begin ")
    script = int(watcher.out.split("begin ")[1].split()[0])
    watcher.send(signal.SIGKILL)
    watcher.wait()
    assert far.runners()
    # Moved first: the run still writes there.
    away = far.user.home / "away"
    (far.user.home / ".tenon/host/runs").rename(away)
    shutil.rmtree(away, ignore_errors=True)
    assert far.last(folder)["status"] == "Running"
    done = far.tenon.run("cancel", "last", cwd=folder).ok()
    assert "Canceled" in done.out and "processes left: 0" in done.out, repr(done)
    assert not far.runners() and not alive(script), repr(done)
    run = far.last(folder)
    assert run["status"] == "Canceled" and "what was left of it was ended" in run["properties"]["Reason"], run


def test_thirty_submits_at_once(far):
    folder = far.attached("import sys\nprint('run', sys.argv[1])\n")
    logins = far.server.logins()
    started = [far.start(folder, "main.py", str(n)) for n in range(30)]
    done = [s.wait(300) for s in started]
    assert [d.code for d in done] == [0] * 30, [repr(d) for d in done if d.code][:3]
    assert [d.out for d in done] == [f"run {n}\n" for n in range(30)]
    runs = far.tenon.json("history", "list", "-o", "json", cwd=folder)
    assert sorted(r["run_number"] for r in runs) == list(range(1, 31))
    assert {r["status"] for r in runs} == {"Completed"}
    # MaxSessions is 10: more sessions than that may open connections of their own, not one each.
    assert far.server.logins() - logins <= 20
    assert far.server.failed_passwords() == 0


@pytest.mark.parametrize("hours", [-7, 9])
def test_clock_of_the_host_is_hours_off(far_on, sshd_with, tmp_path, hours):
    offset = tmp_path / "offset"
    offset.write_text(str(hours * 3600 * 1_000_000))
    for parent in tmp_path.parents:
        if parent.stat().st_mode & 1 == 0:
            parent.chmod(parent.stat().st_mode | 1)
    tmp_path.chmod(0o755)
    runs = far_on(sshd_with(SetEnv=f"TENON_TEST_CLOCK_OFFSET_FILE={offset}"))
    go = runs.user.home / "go"
    folder = runs.attached(waiter(go))
    watcher = runs.start(folder)
    watcher.wait_for("begin")

    def moved():
        try:
            found = [Path(f"/proc/{pid}/environ").read_bytes() for pid in runs.runners()]
        except OSError:
            return False
        return found and all(b"TENON_TEST_CLOCK_OFFSET_FILE=" in f for f in found)

    wait_until(moved, 20, "a runner with the other clock")
    runs.user.write("go", "")
    assert watcher.wait().out == "begin\nend\n"
    run = runs.last(folder)
    assert run["status"] == "Completed"
    hours_told, minutes, _ = run["duration"].split(":")
    assert (int(hours_told), int(minutes)) == (0, 0), run["duration"]
    assert run["end_time_utc"] >= run["start_time_utc"]
    assert runs.tenon.run("ps", cwd=folder).code == 0


def test_cable_pulled_for_a_moment(far_on, tmp_path):
    """Packets vanish for some seconds: the connection itself lives through it."""
    with contextlib.ExitStack() as stack:
        try:
            cable = stack.enter_context(Cable())
            server = stack.enter_context(Sshd(prefix=cable.prefix, address=cable.far_address))
        except (Unusable, OSError) as why:
            pytest.skip(str(why))
        runs = far_on(server)
        go = runs.user.home / "go"
        folder = runs.attached(talker(go, pieces=100, pause=0.02))
        watcher = runs.start(folder)
        wait_until(lambda: len(watcher.out) > 1_000_000, 60, "output")
        cable.pull()
        runs.user.write("go", "")
        wait_until(lambda: not runs.runners(), 60, "the end of the run")
        cable.plug_in()
        done = watcher.wait(120)
        assert done.code == 0, done.err
        assert hashlib.sha256(done.out_bytes).hexdigest() == expected(100)
        runs.cleanup()
        runs.leaves_something = True  # its user is gone next, and the number may be another's


@pytest.mark.seconds(400)
def test_link_that_goes_silent_is_noticed_and_told(far_on, sshd):
    with Proxy(sshd.port) as link:
        runs = far_on(sshd, port=link.port)
        go = runs.user.home / "go"
        folder = runs.attached(waiter(go, code=3))
        watcher = runs.start(folder)
        watcher.wait_for("begin")
        link.silent = True
        wait_until(lambda: "silent" in watcher.err and "the run goes on" in watcher.err, 120, "the words about it")
        runs.user.write("go", "")
        link.silent = False
        link.cut()
        done = watcher.wait(120)
        assert (done.code, done.out) == (3, "begin\nend\n"), repr(done)
        runs.tenon.cleanup()


def test_ctrl_c_stops_watching_not_the_run(far):
    go = far.user.home / "go"
    folder = far.attached(waiter(go))
    watcher = far.start(folder)
    watcher.wait_for("begin")
    watcher.send(signal.SIGINT)
    assert watcher.wait().code == 130
    far.user.write("go", "")
    assert far.tenon.run("logs", "-f", "last", cwd=folder).ok().out == "begin\nend\n"
