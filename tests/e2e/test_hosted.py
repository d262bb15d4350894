# SPDX-License-Identifier: Apache-2.0
"""What is kept on a host, its policy, the watcher of an idle machine, and `setup:` lines."""

import os
import shutil
import signal
import time

import pytest

from e2e import harness, journal_py
from e2e.runner_harness import Runner, RunnerError, alive
from hosts.agent import Agent, batch

DAY_US = 24 * 3600 * 1_000_000


@pytest.fixture
def runner(tmp_path, quiet):
    made = Runner(tmp_path / "root" / "host", tmp_path)
    made.extra_env = dict(quiet.variables)
    yield made
    with_watcher = made.home / "idle.json"
    if with_watcher.exists():
        with_watcher.unlink()
    assert not made.cleanup()


def hosted(runner, **request):
    return runner.ask("hosted", {"home": str(runner.home), **request})


def age(path, days):
    then = time.time() - days * 24 * 3600
    os.utime(path, (then, then))


def age_all(folder, days):
    for where, folders, files in os.walk(folder):
        for name in folders + files:
            age(os.path.join(where, name), days)


def test_lists_runs_and_sizes(runner):
    failed = runner.start("open('kept', 'wb').write(b'x' * 100000)\nraise SystemExit(3)\n", target="gpu1")
    failed.wait()
    going = runner.start("import time\nprint('here', flush=True)\ntime.sleep(600)\n")
    going.wait_for_output(b"here")
    told = hosted(runner)
    by_id = {run["run_id"]: run for run in told["runs"]}
    over = by_id[failed.id]
    assert (over["state"], over["project"], over["target"], over["script"], over["alive"]) == ("Failed", "proj", "gpu1", "main.py", False)
    assert over["work_bytes"] >= 100000 and over["bytes"] >= over["work_bytes"]
    assert 0 < over["created_us"] <= over["ended_us"] <= time.time() * 1e6 + 1e6
    assert by_id[going.id]["alive"] and by_id[going.id]["ended_us"] == 0
    assert told["idle_since_us"] == 0 and told["last_run_us"] >= over["created_us"]
    assert told["objects_bytes"] > 0 and told["disk_free_bytes"] > 0
    going.ask("cancel", {"grace_us": 0, "who": "test"})
    going.wait()
    assert hosted(runner)["idle_since_us"] > over["ended_us"]


def test_a_run_that_goes_on_is_never_touched(runner):
    going = runner.start("import time\nprint('here', flush=True)\ntime.sleep(600)\n")
    going.wait_for_output(b"here")
    told = hosted(runner, remove=[going.id], clean=True, keep_us=0)
    assert told["removed"] == [] and told["kept"][0]["name"] == going.id
    assert (going.folder / "work" / "main.py").exists()
    going.ask("cancel", {"grace_us": 0, "who": "test"})
    assert going.wait().end["state"] == "Canceled"


def test_removes_the_runs_named_and_nothing_else(runner):
    runs = [runner.start("print(1)") for _ in range(3)]
    for run in runs:
        run.wait()
    told = hosted(runner, remove=[runs[0].id], dry_run=True)
    assert told["removed"] == [runs[0].id] and runs[0].folder.exists() and told["bytes_freed"] > 0
    told = hosted(runner, remove=[runs[0].id, "never_heard_of"])
    assert sorted(told["removed"]) == sorted([runs[0].id, "never_heard_of"])
    assert not runs[0].folder.exists()
    assert {run["run_id"] for run in told["runs"]} == {runs[1].id, runs[2].id}
    with pytest.raises(RunnerError, match="no run id"):
        hosted(runner, remove=["../../etc"])


def test_the_policy_keeps_what_is_young_and_what_is_named(runner):
    old, young = (runner.start(f"print({i})", files={"data": os.urandom(200000)}) for i in (1, 2))
    for run in (old, young):
        run.wait()
    incoming = runner.home / "incoming"
    incoming.mkdir()
    (incoming / ("0" * 64)).write_bytes(b"half")
    age(incoming / ("0" * 64), 3)
    (incoming / ("1" * 64)).write_bytes(b"fresh")
    bin_folder = runner.home.parent / "bin"
    bin_folder.mkdir()
    for name in ("tenon-runner-old", "tenon-runner-new", ".new.123", "somebody-elses"):
        shutil.copy("/bin/true", bin_folder / name)
        age(bin_folder / name, 0 if name.endswith("new") else 40)
    for name in ("tmp", "objects"):
        (runner.home / "objects" / name).mkdir(exist_ok=True)
    age_all(runner.home / "objects", 3)
    told = hosted(runner, clean=True, keep_us=30 * DAY_US)
    assert told["removed"] == [] and told["kept"] == []
    assert sorted(os.listdir(bin_folder)) == ["somebody-elses", "tenon-runner-new"]
    assert os.listdir(incoming) == ["1" * 64]
    before = told["objects_bytes"]
    told = hosted(runner, remove=[old.id])
    assert told["objects_bytes"] >= before - 4096
    told = hosted(runner, clean=True, keep_us=30 * DAY_US)
    assert told["objects_bytes"] < before - 150000
    # What the young one needs is still there.
    again = runner.new("print(2)")
    again.spec["tree"] = young.spec["tree"]
    again.start()
    assert again.wait().end["exit_code"] == 0


def test_an_upload_that_goes_on_is_left_alone(runner):
    with Agent([runner.binary, "serve"]) as agent:
        agent.send("piece", b"half", home=str(runner.home), hash="0" * 64, offset=0, total=9)
        agent.send("objects", batch(b"small"), home=str(runner.home))
        assert agent.ask("hello")["ok"]
        age(runner.home / "incoming" / ("0" * 64), 3)
        hosted(runner, clean=True, keep_us=0)
        assert os.listdir(runner.home / "incoming") == ["0" * 64]


def test_the_policy_is_applied_once_a_day_by_the_end_of_a_run(runner):
    first = runner.start("print(1)")
    first.wait()
    stale = runner.home / "incoming" / ("0" * 64)
    stale.parent.mkdir()
    stale.write_bytes(b"half")
    age(stale, 3)
    runner.start("print(1)").wait()
    assert stale.exists() and not (runner.home / "cleaned").exists(), "only clients of other machines have a policy"
    (runner.home / "hosted").touch()
    runner.start("print(1)").wait()
    assert not stale.exists() and (runner.home / "cleaned").exists()
    stale.write_bytes(b"half")
    age(stale, 3)
    runner.start("print(1)").wait()
    assert stale.exists()


def watch(runner, **request):
    return runner.ask("watch-idle", {"home": str(runner.home), **request})


def watchers(runner):
    return [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if alive(pid) and holds_lock(pid, runner)]


def link_of(path):
    try:
        return os.readlink(path)
    except OSError:
        return ""


def holds_lock(pid, runner):
    try:
        return any(link_of(f"/proc/{pid}/fd/{fd}") == str(runner.home / "idle.lock") for fd in os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return False


def test_the_watcher_runs_its_command_once_when_idle(runner, tmp_path):
    told = watch(runner, after_us=3_000_000, command=f"echo off >>{tmp_path}/stopped; echo words; exit 3")
    assert told["watching"] is True
    harness.wait_until(lambda: (tmp_path / "stopped").exists(), 30, "the command")
    harness.wait_until(lambda: not watchers(runner), 30, "the end of the watcher")
    assert (tmp_path / "stopped").read_text() == "off\n"
    log = (runner.home / "idle.log").read_text()
    assert "exit code 3: words" in log and "idle for" in log
    assert not (runner.home / "idle.json").exists()


def test_there_is_one_watcher_and_it_can_be_changed_and_ended(runner, tmp_path):
    for _ in range(3):
        assert watch(runner, after_us=3600_000_000, command="true")["watching"]
    assert len(watchers(runner)) == 1
    told = watch(runner, stop=True)
    assert told["watching"] is False and not watchers(runner)
    assert watch(runner, stop=True)["watching"] is False
    with pytest.raises(RunnerError, match="time and a command"):
        watch(runner, after_us=0, command="")
    watch(runner, after_us=3600_000_000, command="false")
    watch(runner, after_us=300_000, command=f"touch {tmp_path}/changed")
    harness.wait_until(lambda: (tmp_path / "changed").exists(), 60, "the changed command")


def test_the_watcher_waits_for_runs_and_outlives_hang_ups(runner, tmp_path):
    run = runner.start("import os, time\nwhile not os.path.exists(%r):\n    time.sleep(0.05)\n" % str(tmp_path / "go"))
    told = watch(runner, after_us=500_000, command=f"date >{tmp_path}/stopped")
    assert told["idle_since_us"] == 0
    harness.wait_until(lambda: watchers(runner), 20, "the watcher")
    for pid in watchers(runner):
        os.kill(pid, signal.SIGHUP)
    time.sleep(1.5)
    assert not (tmp_path / "stopped").exists()
    (tmp_path / "go").touch()
    run.wait()
    harness.wait_until(lambda: (tmp_path / "stopped").exists(), 30, "the command")


def test_a_gpu_process_or_a_login_of_anybody_keeps_the_machine_on(runner, quiet, tmp_path):
    quiet.log_in(77)
    quiet.use_gpu(4711)
    assert watch(runner, after_us=300_000, command=f"date >{tmp_path}/stopped")["watching"]
    looks = look_counter(runner)
    busy = ["GPU 1 is used by process 4711 (python) of ann", "ann is logged in on pts/3 (bash)"]
    told = watch(runner, look=True)
    assert sorted(told["busy"]) == busy and told["idle_since_us"] == 0 and told["watching"]
    assert sorted(hosted(runner, look=True)["busy"]) == busy
    quiet.end(77)
    looks()
    assert not (tmp_path / "stopped").exists() and watchers(runner)
    assert watch(runner, look=True)["busy"] == busy[:1]
    quiet.end(4711)
    harness.wait_until(lambda: (tmp_path / "stopped").exists(), 60, "the command")


def look_counter(runner):
    """A function that waits until the watcher has looked several times more: it reads its orders for each."""
    [pid] = watchers(runner)

    def reads():
        with open(f"/proc/{pid}/io", encoding="ascii") as file:
            return int(next(line for line in file if line.startswith("syscr")).split()[1])

    def wait():
        before = reads()
        harness.wait_until(lambda: reads() > before + 60, 60, "more looks")

    return wait


def test_a_watcher_is_not_kept_on_by_itself_or_by_who_asks(runner, tmp_path):
    watch(runner, after_us=300_000, command=f"date >{tmp_path}/stopped")
    assert watch(runner, look=True)["busy"] == []
    harness.wait_until(lambda: (tmp_path / "stopped").exists(), 60, "the command")


def test_outputs_that_are_not_collected_outlive_the_policy(runner):
    """Their folder is older than anything is kept; only `force` removes them, and only by name or with all."""
    run = runner.start("open('outputs/model', 'w').write('the only copy')\nraise SystemExit(3)\n")
    run.wait()
    # As a runner leaves it that could not collect, of a version that does not say so.
    journal_py.hide(run.segment, "artifacts")
    age_all(runner.home / "runs", 40)
    told = hosted(runner, clean=True, keep_us=0)
    assert told["removed"] == [] and "collected" in told["kept"][0]["why"] and told["runs"][0]["outputs_left"]
    assert hosted(runner, remove=[run.id])["removed"] == []
    assert (run.folder / "work/outputs/model").read_text() == "the only copy"
    assert run.ask("collect") == {"collected": True, "left": 0}
    assert run.ask("collect") == {"collected": False, "left": 0}
    assert [a["path"] for r in run.journal().records if r.type == "artifacts" for a in r.json["files"]] == ["outputs/model"]
    assert hosted(runner, clean=True, keep_us=0)["removed"] == [run.id]


def test_a_run_that_had_nothing_to_collect_is_done_with_it(runner):
    """The end says that outputs were left, and there are none."""
    run = runner.start("open('outputs/model', 'w').write('x')\nraise SystemExit(3)\n")
    run.wait()
    journal_py.hide(run.segment, "artifacts")
    (run.folder / "work/outputs/model").unlink()
    (run.folder / "work/outputs/closed").mkdir()
    assert run.ask("collect") == {"collected": True, "left": 0}
    assert run.ask("collect") == {"collected": False, "left": 0}


def test_runs_that_are_not_named_follow_the_machines_own_policy(runner):
    ours, theirs = runner.start("print(1)"), runner.start("print(2)")
    for run in (ours, theirs):
        run.wait()
    told = hosted(runner, clean=True, keep_us=0, only=[ours.id])
    assert told["removed"] == [ours.id] and [r["run_id"] for r in told["runs"]] == [theirs.id]
    assert hosted(runner, clean=True, keep_us=0, only=[])["removed"] == []
    assert hosted(runner, clean=True, keep_us=0)["removed"] == [theirs.id]


def test_setup_lines_make_the_environment(runner):
    setup = ["export CUDA=/opt/cuda", "module() { export LOADED=\"$*\"; }", "module load cuda/12", "cd /tmp"]
    script = "import os\nprint(os.environ['CUDA'], os.environ['LOADED'], os.environ['KEPT'], 'TENON_SETUP_RESULT' in os.environ)\n"
    run = runner.start(script, environment={"KEPT": "yes"}, setup=setup)
    journal = run.wait()
    assert journal.stdout == b"/opt/cuda load cuda/12 yes False\n", journal.stdout
    assert [r.json["detail"] for r in journal.records if r.type == "step" and r.json["name"] == "setup"] == ["4 lines"]
    assert not (run.folder / "setup-environment").exists()


def test_a_setup_line_that_fails_is_the_reason(runner):
    run = runner.start("print('never')", setup=["true", "echo 'no module cuda/99' >&2; false", "touch /tmp/never"])
    end = run.wait().end
    assert (end["state"], end["exit_code"]) == ("Failed", 125)
    assert "no module cuda/99" in end["reason"] and "false" in end["reason"] and "exit code 1" in end["reason"]
    assert b"never" not in run.journal().stdout


def test_a_setup_that_leaves_the_shell_is_told(runner):
    end = runner.start("print(1)", setup=["exit 0"]).wait().end
    assert end["state"] == "Failed" and "exit 0" in end["reason"]


def test_a_setup_does_not_see_secrets(runner):
    run = runner.start("import os\nprint(len(os.environ['TOKEN']))\n", secrets={"TOKEN": "very secret words"},
                       setup=["env >seen-by-setup"], environment={"HOME": str(runner.scratch)})
    assert run.wait().stdout == b"17\n"
    assert b"very secret words" not in (runner.scratch / "seen-by-setup").read_bytes()


def test_a_setup_that_hangs_can_be_canceled(runner):
    run = runner.start("print(1)", setup=["sleep 600"])
    run.wait_for(lambda j: j.records)
    run.ask("cancel", {"grace_us": 0, "who": "test"})
    assert run.wait().end["state"] == "Canceled"
