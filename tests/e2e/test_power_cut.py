# SPDX-License-Identifier: Apache-2.0
"""Power cuts and kills at every moment. After each: every run whose id was printed is listed with its
true state, no number was given twice, the next submit works, and `history rebuild` changes nothing."""

import json
import os
import random
import re
import signal
import subprocess
import threading
import time

import pytest

from e2e import harness
from e2e.harness import make_project, wait_until
from hosts.cut_disk import CutDisk, Unusable

needs_disk = pytest.mark.planned_skip("needs root and a file system in a file (loop device)")
SUBMITTERS = 3
RUN_ID = re.compile(r"^RunId: (\S+)$", re.M)

# Says outside of the disk that is cut how far it came.
SCRIPT = """
import os, pathlib, random
import tenon
from azureml.logging import get_azureml_logger
said = pathlib.Path(%r) / os.environ["TENON_RUN_ID"]
said.with_suffix(".started").touch()
logger = get_azureml_logger()
for step in range(random.randrange(200)):
    logger.log("loss", 1.0 / (step + 1))
    print("step", step, "." * random.randrange(2000))
os.makedirs("outputs", exist_ok=True)
with open("outputs/model", "w") as file:
    file.write("x" * random.randrange(100000))
said.with_suffix(".done").touch()
"""


@pytest.fixture
def disk(tmp_path):
    try:
        with CutDisk(tmp_path / "cut") as made:
            yield made
    except Unusable as why:
        pytest.skip(str(why))


class Scene:
    """A home and a project, the runs that were heard of, and what must be true of them."""

    def __init__(self, tenon, place, scratch):
        self.tenon = tenon
        self.said = scratch / "said"
        self.said.mkdir()
        self.project = make_project(place / "proj", SCRIPT % str(self.said))
        subprocess.run(["sync", "-f", str(self.project)], check=True)  # what the user had is there
        self.variables = {}
        self.heard = {}  # id: the exit code of its submit; None where it did not live to tell

    def submit(self, *words, **options):
        return self.tenon.run("submit", *words, "main.py", cwd=self.project, env=self.variables, timeout=120, **options)

    def listed(self):
        """By `runs`, which looks after what is left of them first."""
        rows = self.tenon.json("runs", "-n", "100000", "-o", "json", cwd=self.project, env=self.variables)
        return {row["run_id"]: row for row in rows}

    def hear(self, output, code=None):
        for run_id in RUN_ID.findall(output):
            self.heard[run_id] = code

    def check(self):
        before = self.listed()
        lost = [run_id for run_id in self.heard if run_id not in before]
        assert not lost, f"runs whose id was printed are not listed: {lost}, {[self.heard[r] for r in lost]}"
        for run_id, code in self.heard.items():
            state = before[run_id]["status"]
            done = (self.said / run_id).with_suffix(".done").exists()
            assert state in ("Completed", "Failed"), (run_id, before[run_id])
            assert done or state == "Failed", (run_id, before[run_id])
            assert code != 0 or state == "Completed", (run_id, before[run_id])
        numbers = [row["run_number"] for row in before.values()]
        assert len(set(numbers)) == len(numbers), sorted(numbers)
        rebuilt = self.tenon.run("history", "rebuild", cwd=self.project, env=self.variables).ok()
        assert not rebuilt.err.strip(), rebuilt
        assert self.listed() == before
        again = self.submit().ok()
        self.hear(again.err, 0)
        assert self.listed()[RUN_ID.search(again.err)[1]]["status"] == "Completed"

    def kill_everything(self):
        def none_left():
            for pid in self.tenon.processes():
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            return not self.tenon.processes()

        wait_until(none_left, 60, "the end of all processes of the home")


def cut_once(scene, disk, dice, how):
    """Several submit as fast as they can; then the power goes."""
    stop = threading.Event()
    outputs = [[] for _ in range(SUBMITTERS)]

    def submit_on(mine):
        while not stop.is_set():
            submit = scene.tenon.start("submit", "main.py", cwd=scene.project, env=scene.variables)
            mine.append(submit)
            submit.process.wait()
            # Each with a snapshot of its own, but for some.
            if dice.random() < 0.5 and not stop.is_set():
                try:
                    (scene.project / f"data{dice.randrange(9)}").write_text(str(dice.random()) * 100)
                except OSError:
                    return

    threads = [threading.Thread(target=submit_on, args=(mine,)) for mine in outputs]
    for thread in threads:
        thread.start()
    wait_until(lambda: any("RunId: " in s.err for mine in outputs for s in list(mine)), 60, "a first run")
    time.sleep(dice.random() * 1.5)  # the moment of the cut
    told = [[(s, s.process.poll()) for s in list(mine)] for mine in outputs]
    how()
    stop.set()
    scene.kill_everything()
    for thread in threads:
        thread.join()
    scene.kill_everything()
    for mine, known in zip(outputs, told):
        codes = {id(s): code for s, code in known}
        for submit in mine:
            scene.hear(submit.err, codes.get(id(submit)))
    disk.mount_again()


def cuts(count, disk, tmp_path, how="cut"):
    seed = int(os.environ.get("TENON_CUT_SEED", random.randrange(1 << 30)))
    print(f"TENON_CUT_SEED={seed}")
    dice = random.Random(seed)
    tenon = harness.Tenon(harness.release_binary(), disk.path / "home", tmp_path)
    try:
        scene = Scene(tenon, disk.path, tmp_path)
        scene.hear(scene.submit().ok().err, 0)
        for number in range(count):
            print("cut", number)
            cut_once(scene, disk, dice, getattr(disk, how))
            # The machine comes back with another boot id; a disk that was pulled does so without.
            if number % 3 != 2:
                scene.variables = {"TENON_TEST_BOOT_ID": f"boot-{seed}-{number}"}
            scene.check()
    finally:
        left = tenon.cleanup()
    assert not left


@needs_disk
@pytest.mark.seconds(900)
def test_power_cuts_lose_no_run_and_give_no_number_twice(disk, tmp_path):
    cuts(8, disk, tmp_path)


@needs_disk
@pytest.mark.seconds(600)
def test_a_disk_that_gives_up_its_journal_loses_no_run(disk, tmp_path):
    cuts(2, disk, tmp_path, "abort")


@needs_disk
@pytest.mark.deep
@pytest.mark.seconds(7200)
def test_a_hundred_power_cuts(disk, tmp_path):
    cuts(100, disk, tmp_path)


def steps_of(path):
    return path.read_bytes().count(b"\n") if path.exists() else 0


def test_killed_at_each_durable_step_everything_is_listed_and_goes_on(tenon, tmp_path):
    """Client and runner: from step N on whoever would wait for the disk dies instead."""
    scene = Scene(tenon, tmp_path, tmp_path)
    scene.hear(scene.submit().ok().err, 0)
    counted = tmp_path / "steps"
    scene.variables = {"TENON_TEST_DURABLE_STEPS": f"0:{counted}"}
    (scene.project / "data").write_text("0")
    scene.hear(scene.submit().ok().err, 0)
    assert not tenon.processes_left()
    last = steps_of(counted)
    assert last >= 5, "near segment, spec, the runner's start, its outputs, its end"
    for step in range(1, last + 1):
        file = tmp_path / f"steps-{step}"
        (scene.project / "data").write_text(str(step))
        scene.variables = {"TENON_TEST_DURABLE_STEPS": f"{step}:{file}"}
        submit = tenon.start("submit", "main.py", cwd=scene.project, env=scene.variables)
        def is_over():
            return submit.process.poll() is not None and not tenon.processes_left()
        wait_until(lambda: steps_of(file) >= step or is_over(), 60, f"step {step}")
        reached = steps_of(file) >= step
        scene.kill_everything()
        submit.wait()
        scene.hear(submit.err)
        scene.variables = {}
        scene.check()
        if not reached:  # a run that takes longer waits for the disk more often, as the counted one did
            assert step > 5, "a run has fewer steps than any can have"
            break


def count_before_run_id(scene, tmp_path):
    """Kills at step 1, 2, … until the id is printed all the same: how many waits come before it."""
    for step in range(1, 20):
        file = tmp_path / f"waits-{time.monotonic_ns()}"
        submit = scene.tenon.run("submit", "main.py", cwd=scene.project,
                                 env={"TENON_TEST_DURABLE_STEPS": f"{step}:{file}"})
        scene.kill_everything()
        if "RunId: " in submit.err:
            return step - 1
    raise AssertionError("no id at all")


@needs_disk
def test_at_most_three_waits_for_the_disk_before_the_run_id(disk, tmp_path):
    tenon = harness.Tenon(harness.release_binary(), disk.path / "home", tmp_path)
    try:
        scene = Scene(tenon, disk.path, tmp_path)
        scene.submit().ok()
        assert 1 <= count_before_run_id(scene, tmp_path) <= 3
        # With a change, and with a change since the last commit.
        subprocess.run(["git", "init", "-q"], cwd=scene.project, check=True)
        subprocess.run(["git", "add", "."], cwd=scene.project, check=True)
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"], cwd=scene.project, check=True)
        scene.submit().ok()
        file = tmp_path / "changed-steps"
        (scene.project / "main.py").write_text(SCRIPT % str(scene.said) + "# changed\n")
        # The fourth is the runner's: its record of what it was asked to do.
        submit = tenon.run("submit", "main.py", cwd=scene.project, env={"TENON_TEST_DURABLE_STEPS": f"4:{file}"})
        scene.kill_everything()
        assert "RunId: " in submit.err, submit
    finally:
        left = tenon.cleanup()
    assert not left


def test_counters_that_fell_back_or_were_damaged_give_no_number_twice(tenon, project):
    folder = project()
    for _ in range(3):
        tenon.run("submit", "main.py", cwd=folder).ok()
    [counter] = [p for p in (tenon.home / "numbers").iterdir() if p.is_file()]
    for number, text in enumerate([b"1\n", b"", b"\0" * 2, b"x" * 500, b"-5\n", b"9" * 30], 4):
        counter.write_bytes(text)
        tenon.run("submit", "main.py", cwd=folder).ok()
        assert tenon.json("history", "last", "-o", "json", cwd=folder)["run_number"] == number
    counter.unlink()
    for name in ("history.db", "history.db-wal", "history.db-shm"):
        (tenon.home / name).unlink(missing_ok=True)
    tenon.run("submit", "main.py", cwd=folder).ok()
    assert tenon.json("history", "last", "-o", "json", cwd=folder)["run_number"] == 10
    # An index that cannot be used does not set the counter back either.
    counter.write_bytes(b"2\n")
    (tenon.home / "history.db").write_bytes(b"no database" * 1000)
    for name in ("history.db-wal", "history.db-shm"):
        (tenon.home / name).unlink(missing_ok=True)
    tenon.run("submit", "main.py", cwd=folder).ok()
    tenon.run("history", "rebuild", cwd=folder).ok()
    assert tenon.json("history", "last", "-o", "json", cwd=folder)["run_number"] == 11


def test_a_damaged_counter_gives_no_number_twice_to_those_who_submit_at_once(tenon, project):
    folder = project()
    tenon.run("submit", "main.py", cwd=folder).ok()
    [counter] = [p for p in (tenon.home / "numbers").iterdir() if p.is_file()]
    for damage in (b"x" * 500, bytes(4096)):
        counter.write_bytes(damage)
        submits = [tenon.start("submit", "main.py", cwd=folder) for _ in range(8)]
        assert [submit.wait().code for submit in submits] == [0] * 8
    numbers = [row["run_number"] for row in tenon.json("runs", "-o", "json", cwd=folder)]
    assert sorted(numbers) == list(range(1, 18))


def test_the_folder_of_runs_never_gets_a_time_that_it_had_before(tenon, project):
    """A clock that was set back, or that stands still, hides no run from an index that goes by that time."""
    folder = project()
    tenon.run("submit", "main.py", cwd=folder).ok()
    runs = tenon.home / "runs"
    tomorrow = time.time_ns() // 10**9 * 10**9 + 86400 * 10**9 + 999_999_998
    os.utime(runs, ns=(tomorrow, tomorrow))
    times = [tomorrow]
    for _ in range(3):
        tenon.run("submit", "main.py", cwd=folder).ok()
        times.append(runs.stat().st_mtime_ns)
    assert times == sorted(set(times)), times
    assert len(tenon.json("runs", "-o", "json", cwd=folder)) == 4


@needs_disk
def test_the_number_of_a_run_that_was_deleted_is_not_given_again_after_a_cut(disk, tmp_path):
    tenon = harness.Tenon(harness.release_binary(), disk.path / "home", tmp_path)
    try:
        folder = make_project(disk.path / "proj")
        tenon.run("submit", "main.py", cwd=folder).ok()
        subprocess.run(["sync", "-f", str(folder)], check=True)
        tenon.run("submit", "main.py", cwd=folder).ok()
        assert not tenon.processes_left()
        tenon.run("runs", "delete", "2", cwd=folder).ok()
        # The folders as they are now, and the counter as it was last written out.
        with open(disk.path / "other", "w") as other:
            os.fsync(other.fileno())
        disk.cut()
        disk.mount_again()
        left = [row["run_number"] for row in tenon.json("runs", "-o", "json", cwd=folder)]
        tenon.run("submit", "main.py", cwd=folder).ok()
        number = tenon.json("history", "last", "-o", "json", cwd=folder)["run_number"]
        assert (left, number) == ([1], 3)
    finally:
        left = tenon.cleanup()
    assert not left


def read_all(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@needs_disk
@pytest.mark.parametrize("command", ["project create", "history promote", "runconfiguration create", "config set"])
def test_what_a_command_has_written_into_a_project_is_whole_after_a_cut(disk, tmp_path, command):
    tenon = harness.Tenon(harness.release_binary(), disk.path / "home", tmp_path)
    try:
        folder = make_project(disk.path / "proj", "open('outputs/m', 'w').write('m')\n")
        tenon.run("submit", "main.py", cwd=folder).ok()
        subprocess.run(["sync", "-f", str(folder)], check=True)
        words = {"project create": ["-n", "new", "--path", folder, "--template"],
                 "history promote": ["-r", "last", "-ap", "outputs/m", "-n", "model"],
                 "runconfiguration create": ["-n", "other", "-t", "local"],
                 "config set": ["PrepareEnvironment", "true", "-c", "local"]}[command]
        tenon.run(*command.split(), *words, cwd=folder).ok()
        before = read_all(folder)
        disk.cut()
        disk.mount_again()
        assert read_all(folder) == before
    finally:
        left = tenon.cleanup()
    assert not left


def test_what_a_killed_command_has_left_in_a_project_is_no_part_of_it(tenon, project, tmp_path):
    """Killed at each wait for the disk: the project's file is the old or the new one, and nothing else is taken."""
    first = "import os\nprint(sorted(os.listdir()))\n"
    folder = project(first)
    files = tenon.run("submit", "main.py", cwd=folder).ok().out
    steps = tmp_path / "steps"
    for step in range(1, 20):
        (folder / "main.py").write_text(first + "# second\n")
        steps.unlink(missing_ok=True)
        killed = tenon.run("restore", "1", "--force", cwd=folder, env={"TENON_TEST_DURABLE_STEPS": f"{step}:{steps}"})
        assert (folder / "main.py").read_text() in (first, first + "# second\n")
        if killed.code == 0:
            break
    assert 2 < step < 19
    assert tenon.run("submit", "main.py", cwd=folder).ok().out == files


def test_shim_files_that_are_empty_are_made_again(tenon, project):
    folder = project("import tenon\nfrom azureml.logging import get_azureml_logger\nget_azureml_logger().log('a', 1)\n")
    tenon.run("submit", "main.py", cwd=folder).ok()
    for file in (tenon.home / "shim").rglob("*.py"):
        os.truncate(file, 0)
    tenon.run("submit", "main.py", cwd=folder).ok()


def test_a_local_runner_that_is_damaged_in_the_middle_is_made_again(tenon, project):
    folder = project()
    tenon.run("submit", "main.py", cwd=folder).ok()
    [runner] = [p for p in (tenon.home / "bin").iterdir() if re.fullmatch(r"tenon-runner-[0-9a-f]+", p.name)]
    whole = runner.read_bytes()
    before = runner.stat()
    for at in (0, len(whole) // 2, len(whole) - 1):
        runner.unlink()
        runner.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1:])
        runner.chmod(0o755)
        os.utime(runner, ns=(before.st_atime_ns, before.st_mtime_ns))
        tenon.run("submit", "main.py", cwd=folder).ok()
        assert runner.read_bytes() == whole


def heard_id(background):
    return wait_until(lambda: RUN_ID.search(background.err), 60, "the id of a run")[1]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_a_run_whose_client_ended_right_after_its_id_is_listed(tenon, project, number):
    folder = project("import time\nprint('up', flush=True)\ntime.sleep(60)\n")
    for _ in range(4):
        submit = tenon.start("submit", "main.py", cwd=folder)
        run_id = heard_id(submit)
        submit.send(number)
        submit.wait()
        rows = {row["run_id"]: row for row in tenon.json("runs", "-o", "json", cwd=folder)}
        assert run_id in rows
        state = rows[run_id]["status"]
        going = [row["run_id"] for row in tenon.json("ps", "-o", "json", cwd=folder)]
        assert (run_id in going) == (state not in ("Completed", "Failed", "Canceled")), (state, going)
        tenon.run("cancel", run_id, cwd=folder)
        before = tenon.json("runs", "-o", "json", cwd=folder)
        tenon.run("history", "rebuild", cwd=folder).ok()
        assert tenon.json("runs", "-o", "json", cwd=folder) == before


def ended_right_after_its_id(tenon, folder, start):
    for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP):
        submit = start()
        run_id = heard_id(submit)
        submit.send(number)
        submit.wait()
        rows = {row["run_id"]: row["status"] for row in tenon.json("runs", "-o", "json", cwd=folder)}
        assert run_id in rows
        # This one goes and looks: the run goes on, or it is known that it never began.
        going = [row["run_id"] for row in tenon.json("ps", "-o", "json", cwd=folder)]
        rows = {row["run_id"]: row["status"] for row in tenon.json("runs", "-o", "json", cwd=folder)}
        assert (run_id in going) == (rows[run_id] not in ("Completed", "Failed", "Canceled")), (rows, going)
        tenon.run("cancel", run_id, cwd=folder)


@pytest.mark.planned_skip("needs root and openssh-server")
def test_a_run_elsewhere_whose_client_ended_right_after_its_id_is_listed(far):
    folder = far.attached("import time\ntime.sleep(60)\n")
    ended_right_after_its_id(far.tenon, folder, lambda: far.start(folder))


@pytest.mark.planned_skip("needs root, and docker.io and debootstrap installed")
def test_a_run_in_a_container_whose_client_ended_right_after_its_id_is_listed(runs):
    folder = runs.project("import time\ntime.sleep(60)\n")
    ended_right_after_its_id(runs.tenon, folder, lambda: runs.start(folder))


def test_folders_that_are_no_runs_are_no_rows_and_hold_up_nothing(tenon, project):
    """What a submit leaves that dies between its folder and its first record."""
    folder = project()
    tenon.run("submit", "main.py", cwd=folder).ok()
    runs = tenon.home / "runs"
    (runs / "proj_1500000000001").mkdir()
    (runs / "proj_1500000000002").mkdir()
    (runs / "proj_1500000000002" / "near-0123456789abcdef.tj").touch()
    assert len(tenon.json("runs", "-o", "json", cwd=folder)) == 1
    tenon.run("submit", "main.py", cwd=folder).ok()
    assert len(tenon.json("runs", "-o", "json", cwd=folder)) == 2
    old = time.time() - 2 * 86400
    for name in ("proj_1500000000001", "proj_1500000000002"):
        os.utime(runs / name, (old, old))
    tenon.run("gc", cwd=folder).ok()
    assert not (runs / "proj_1500000000001").exists() and not (runs / "proj_1500000000002").exists()
    assert len(tenon.json("runs", "-o", "json", cwd=folder)) == 2


def test_an_index_that_is_behind_notices_by_itself(tenon, project):
    folder = project()
    for _ in range(2):
        tenon.run("submit", "main.py", cwd=folder).ok()
    tenon.json("runs", "-o", "json", cwd=folder)
    kept = {name: (tenon.home / name).read_bytes() for name in ("history.db", "history.db-wal") if (tenon.home / name).exists()}
    for _ in range(3):
        tenon.run("submit", "main.py", cwd=folder).ok()
    whole = tenon.json("runs", "-o", "json", cwd=folder)
    assert len(whole) == 5
    # As a power cut does it: the index as it was two runs ago.
    for name in ("history.db", "history.db-wal", "history.db-shm"):
        (tenon.home / name).unlink(missing_ok=True)
    for name, data in kept.items():
        (tenon.home / name).write_bytes(data)
    assert tenon.json("runs", "-o", "json", cwd=folder) == whole
    # And what was removed by hand is no row.
    gone = whole[0]["run_id"]
    subprocess.run(["rm", "-rf", str(tenon.home / "runs" / gone)], check=True)
    assert [row["run_id"] for row in tenon.json("runs", "-o", "json", cwd=folder)] == [row["run_id"] for row in whole[1:]]


def test_an_index_that_knows_more_than_the_journal_is_put_right_after_a_restart(tenon, project):
    """A power cut took the end of a segment that the index had taken in: by its length, and as zeros."""
    folder = project("print('a line')\n")
    for cut in ("short", "zeros"):
        tenon.run("submit", "main.py", cwd=folder).ok()
        run_id = tenon.json("history", "last", "-o", "json", cwd=folder)["run_id"]
        assert not tenon.processes_left()
        segment = tenon.home / "runs" / run_id / "host.tj"
        data = segment.read_bytes()
        keep = len(data) * 2 // 3
        segment.write_bytes(data[:keep] + (b"" if cut == "short" else bytes(len(data) - keep)))
        after = {"TENON_TEST_BOOT_ID": "boot-" + cut}
        rows = {row["run_id"]: row for row in tenon.json("runs", "-o", "json", cwd=folder, env=after)}
        assert rows[run_id]["status"] == "Failed"
        assert "restarted" in json.dumps(tenon.json("show", run_id, "-o", "json", cwd=folder, env=after))
        tenon.run("history", "rebuild", cwd=folder, env=after).ok()
        assert {row["run_id"]: row for row in tenon.json("runs", "-o", "json", cwd=folder, env=after)} == rows


@pytest.mark.parametrize("left", [b"", b"\0" * 700, b'{"protocol":1,"spe', None],
                         ids=["empty", "zeros", "torn", "gone"])
def test_a_run_whose_spec_a_power_cut_took_gets_its_true_end(tenon, project, left):
    folder = project("import time\nprint('up', flush=True)\ntime.sleep(600)\n")
    watcher = tenon.start("submit", "main.py", cwd=folder)
    watcher.wait_for("up")
    watcher.kill()
    for pid in tenon.processes():
        os.kill(pid, signal.SIGKILL)
    assert not tenon.processes_left()
    [spec] = tenon.home.glob("runs/*/spec.json")
    if left is None:
        spec.unlink()
    else:
        spec.write_bytes(left)
    after = {"TENON_TEST_BOOT_ID": "after-the-cut"}
    [row] = tenon.json("runs", "-o", "json", cwd=folder, env=after)
    assert row["status"] == "Failed" and "restarted" in row["properties"]["Reason"], row
    tenon.run("submit", "-a", "main.py", cwd=folder, env=after).ok()
