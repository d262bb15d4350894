# SPDX-License-Identifier: Apache-2.0
"""Faults on a normal day with containers. Each test is a row of docs/reliability.md: what is broken, and the final state,
reason, exit code and remains that must come out of it."""

import os
import signal
import threading
import time

import pytest

from e2e import harness
from e2e.harness import wait_until
from e2e.test_faults import FILL, SmallDisk
from hosts import engine as engines
from hosts.docker_runs import SLEEPER, EngineTenon, Runs, pip_file
from hosts.packages import Index

pytestmark = pytest.mark.planned_skip("needs root, and docker.io and debootstrap installed")

WAITER = """
import os, time
open("outputs/partial.txt", "w").write("kept")
print("begin", flush=True)
while not os.path.exists(os.environ["AZUREML_NATIVE_SHARE_DIRECTORY"] + "go"): time.sleep(0.02)
print("end", flush=True)
raise SystemExit(3)
"""


def waiting_project(runs):
    """(project, function that lets its script end)"""
    share = runs.scratch / "share"
    folder = runs.project(WAITER, compute={"nativeSharedDirectory": str(share)})
    return folder, (share / "proj" / "go").touch


def kill_everybody_near(runs, watcher):
    """The runner on the host and who watches: the container is alone."""
    runs.kill_runner()
    watcher.send(signal.SIGKILL)
    watcher.wait()


def own_engine(tmp_path, **options):
    """An engine for one test, which may break it."""
    made = engines.DockerEngine(**options)
    try:
        made.__enter__()
    except engines.Unusable as why:
        pytest.skip(str(why))
    tenon = EngineTenon(harness.release_binary(), tmp_path / "tenon-home", tmp_path, made.variables)
    return made, Runs(made, tenon, tmp_path)


@pytest.fixture
def broken_engine(tmp_path):
    """Containers do not outlive it."""
    made, runs = own_engine(tmp_path, live_restore=False)
    yield runs
    runs.tenon.cleanup()
    made.close()


def builds_again(runs, folder):
    """Nothing of the broken build is in the way, and nothing of it is left."""
    done = runs.submit(folder).ok()
    assert done.out == "tenon_demo 1.0\n"
    runs.tenon.run("experiment", "clean", "-t", "docker", cwd=folder).ok()
    assert runs.engine.leftovers() == []


USE = "import tenon_demo\nprint('tenon_demo', tenon_demo.__version__)\n"


@pytest.fixture
def held_build(runs):
    """(project, watcher, event): a submit whose build waits for its package until the event is set."""
    hold = threading.Event()
    with Index(hold=hold).add("tenon-demo", "1.0") as index:
        folder = runs.project(USE, conda=pip_file(runs.index_line(index), "tenon-demo"))
        watcher = runs.start(folder)
        wait_until(lambda: index.downloads() or watcher.process.poll() is not None, 120, "the build's download")
        assert watcher.process.poll() is None, repr(watcher.wait())
        yield folder, watcher, hold


def test_engine_killed_while_building(runs, held_build):
    folder, watcher, hold = held_build
    runs.engine.kill()
    try:
        done = watcher.wait(120)
    finally:
        runs.engine.start()
    assert done.code == 125, repr(done)
    run = runs.last(folder)
    assert run["status"] == "Failed" and "engine" in run["properties"]["Reason"], run
    assert not runs.environments()
    hold.set()
    builds_again(runs, folder)


def test_runner_killed_while_building(runs, held_build):
    folder, watcher, hold = held_build
    runs.kill_runner()
    done = watcher.wait(60)
    assert done.code == 1, repr(done)
    run = runs.last(folder)
    assert run["status"] == "Failed" and "runner was killed" in run["properties"]["Reason"], run
    assert not runs.environments()
    hold.set()
    builds_again(runs, folder)


@pytest.mark.parametrize("moments", [3, pytest.param(30, marks=[pytest.mark.deep, pytest.mark.seconds(900)])])
def test_runner_killed_at_any_moment_of_a_build_the_next_one_works(runs, moments):
    with Index().add("tenon-demo", "1.0", code="X = '" + os.urandom(2_000_000).hex() + "'\n") as index:
        folder = runs.project(USE, conda=pip_file(runs.index_line(index), "tenon-demo"))
        began = time.monotonic()
        runs.submit(folder).ok()
        took = time.monotonic() - began
        for moment in range(moments):
            watcher = runs.start(folder, "--refresh", "main.py")
            runner = wait_until(runs.runner_pid, 30, "the runner")
            time.sleep(took * moment / moments)
            engines.send(runner, signal.SIGKILL)
            watcher.wait()
            assert runs.submit(folder).ok().out == "tenon_demo 1.0\n"
            assert len(runs.environments()) == 1
        for run in runs.tenon.json("history", "list", "-o", "json", cwd=folder):
            assert run["status"] in ("Completed", "Failed"), run
    runs.tenon.run("experiment", "clean", "-t", "docker", cwd=folder).ok()
    assert runs.engine.leftovers() == []


def test_cancel_while_building(runs, held_build):
    folder, watcher, hold = held_build
    runs.tenon.run("cancel", "last", "--grace", "1s", cwd=folder).ok()
    assert watcher.wait().code == 143
    assert runs.last(folder)["status"] == "Canceled"
    assert not runs.environments()
    wait_until(lambda: not runs.engine.leftovers(), 30, "an empty engine")
    hold.set()
    builds_again(runs, folder)


def test_engine_killed_while_running_container_goes_on(runs):
    folder, let_go = waiting_project(runs)
    watcher = runs.start(folder)
    watcher.wait_for("begin")
    runs.engine.kill()
    runs.engine.start()
    let_go()
    done = watcher.wait()
    assert (done.code, done.out) == (3, "begin\nend\n"), repr(done)
    run = runs.last(folder)
    assert run["status"] == "Failed" and run["properties"]["ExitCode"] == 3
    assert "outputs/partial.txt" in run["attachments"]
    wait_until(lambda: not runs.engine.leftovers(), 30, "an empty engine")


def test_script_ends_while_the_engine_is_away(runs):
    folder, let_go = waiting_project(runs)
    watcher = runs.start(folder)
    watcher.wait_for("begin")
    runs.engine.kill()
    try:
        let_go()
        watcher.wait_for("end")
    finally:
        runs.engine.start()
    done = watcher.wait()
    assert done.code == 3, repr(done)
    assert runs.last(folder)["properties"]["ExitCode"] == 3
    runs.tenon.run("experiment", "clean", "-t", "docker", cwd=folder).ok()
    assert runs.engine.leftovers() == []


def test_engine_killed_while_running_and_the_container_with_it(broken_engine):
    runs = broken_engine
    folder = runs.project(SLEEPER)
    watcher = runs.start(folder)
    watcher.wait_for("ready")
    pid = runs.container()["State"]["Pid"]
    runs.engine.kill()
    os.kill(pid, signal.SIGKILL)  # and nobody is there to tell
    runs.engine.start()
    done = watcher.wait()
    assert done.code == 137, repr(done)
    run = runs.last(folder)
    assert run["status"] == "Failed" and run["properties"]["Reason"], run
    assert "outputs/partial.txt" in run["attachments"]


def test_runner_killed_while_running_next_look_follows_the_container(runs):
    folder, let_go = waiting_project(runs)
    watcher = runs.start(folder)
    watcher.wait_for("begin")
    kill_everybody_near(runs, watcher)
    listed = runs.tenon.json("ps", "-o", "json", cwd=folder)
    assert [r["status"] for r in listed] == ["Running"]
    assert runs.container()["State"]["Running"]
    follower = runs.tenon.start("logs", "-f", "last", cwd=folder)
    follower.wait_for("begin")
    let_go()
    assert follower.wait().out == "begin\nend\n"
    run = runs.last(folder)
    assert run["status"] == "Failed" and run["properties"]["ExitCode"] == 3, run
    assert "outputs/partial.txt" in run["attachments"]
    wait_until(lambda: not runs.engine.leftovers(), 30, "an empty engine")


def test_runner_killed_names_of_outputs_hold_no_secret(runs):
    token = "canary/7f3a-9c51"
    named = """
import os, pathlib, tenon, time
token = os.environ["TOKEN"]
for name in (token + ".txt", "plain-name-of-some-length.txt"):
    path = pathlib.Path("outputs", name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("contents")
tenon.log("loss of " + token, 1)
print("begin", flush=True)
go = pathlib.Path(os.environ["AZUREML_NATIVE_SHARE_DIRECTORY"], "go")
while not go.exists():
    time.sleep(0.01)
tenon.log(token, 2)
"""
    share = runs.scratch / "share"
    folder = runs.project(named, compute={"nativeSharedDirectory": str(share)})
    watcher = runs.start(folder, "--secret", "TOKEN", "main.py", env={"TOKEN": token})
    watcher.wait_for("begin")
    kill_everybody_near(runs, watcher)
    (share / "proj" / "go").touch()
    follower = runs.tenon.start("logs", "-f", "last", cwd=folder)
    follower.wait()
    run = runs.last(folder)
    assert run["status"] == "Completed", run
    for name in ("outputs/***.txt", "outputs/plain-name-of-some-length.txt"):
        assert name in run["attachments"], run
    assert "canary" not in runs.tenon.run("show", "last", "-o", "json", cwd=folder).ok().out
    for path in runs.tenon.home.rglob("*"):
        if path.is_file() and "work" not in path.parts:
            assert token.encode() not in path.read_bytes(), path
    wait_until(lambda: not runs.engine.leftovers(), 30, "an empty engine")


def test_runner_killed_while_watched_watcher_sees_the_true_end(runs):
    folder, let_go = waiting_project(runs)
    watcher = runs.start(folder)
    watcher.wait_for("begin")
    runs.kill_runner()
    let_go()
    done = watcher.wait()
    assert (done.code, done.out) == (3, "begin\nend\n"), repr(done)
    assert runs.last(folder)["properties"]["ExitCode"] == 3
    wait_until(lambda: not runs.engine.leftovers(), 30, "an empty engine")


def test_runner_killed_script_ended_before_anybody_looked(runs):
    folder, let_go = waiting_project(runs)
    watcher = runs.start(folder)
    watcher.wait_for("begin")
    kill_everybody_near(runs, watcher)
    let_go()
    wait_until(lambda: not (runs.container() or {"State": {"Running": False}})["State"]["Running"], 30, "the script's end")
    run = runs.last(folder)
    assert run["status"] == "Failed" and run["properties"]["ExitCode"] == 3, run
    assert runs.tenon.run("logs", "last", cwd=folder).out == "begin\nend\n"


def test_cancel_after_the_runner_was_killed(runs):
    folder = runs.project(SLEEPER)
    watcher = runs.start(folder)
    watcher.wait_for("ready")
    kill_everybody_near(runs, watcher)
    runs.tenon.run("cancel", "last", "--grace", "1s", cwd=folder).ok()
    assert runs.last(folder)["status"] == "Canceled"
    wait_until(lambda: not runs.engine.leftovers(), 30, "an empty engine")


# Fills the disk of the home, on which the metric files lie, before and after it logs.
LOGGER = """
import os, tenon
filler = os.open(os.path.join(os.environ["TENON_METRICS_DIR"], "filler"), os.O_WRONLY | os.O_CREAT)
""" + FILL + """
fill()
for i in range(20000): tenon.log("loss", float(i))
fill()
print("waited", tenon.log("loss", 0.5).wait(2))
"""


def test_points_without_space_are_counted_in_a_container_too(tmp_path):
    disk = SmallDisk(tmp_path / "tenon-home", "96m")  # uv, which may lie in it already, takes half of that
    try:
        made, runs = own_engine(tmp_path)
        try:
            folder = runs.project(LOGGER)
            done = runs.submit(folder)
            assert "waited True" not in done.out, repr(done)
            for filler in runs.tenon.home.glob("work/*/metrics/filler"):
                filler.unlink()
            run = runs.last(folder)
            assert run["status"] == "Completed", (run, repr(done))
            details = runs.tenon.json("show", "last", "--json", cwd=folder)["details"]
            kept = details["metrics"].get("loss", {"count": 0})["count"]
            assert kept < 20001 and details["lost_records"] >= 20001 - kept, details
            said = [n["text"] for n in details["notices"] if "not on record" in n["text"]]
            assert said and said[0].startswith(f"{20001 - kept} points"), details["notices"]
        finally:
            runs.tenon.cleanup()
            made.close()
    finally:
        disk.unmount()


def test_disk_full_while_building(tmp_path):
    """The engine's disk has room for the base image and not for the packages."""
    made, runs = own_engine(tmp_path, disk="230m")
    try:
        big = "DATA = '" + os.urandom(60_000_000).hex() + "'\n"
        with Index().add("tenon-demo", "1.0", code=big) as index:
            folder = runs.project(USE, conda=pip_file(runs.index_line(index), "tenon-demo"))
            done = runs.submit(folder)
            assert done.code == 125, repr(done)
            assert "No space left on device" in done.err or "no space left on device" in done.err, repr(done)
            assert runs.last(folder)["status"] == "Failed"
            assert not runs.environments() and runs.engine.leftovers() == []
        with Index().add("tenon-demo", "1.0") as index:
            second = runs.project(USE, name="second", conda=pip_file(runs.index_line(index), "tenon-demo"))
            assert runs.submit(second).ok().out == "tenon_demo 1.0\n"
    finally:
        runs.tenon.cleanup()
        made.close()


def test_wrong_package_names_the_line_and_the_tools_words(runs):
    with Index().add("tenon-demo", "1.0") as index:
        conda = pip_file(runs.index_line(index), "tenon-demo", "tenon-demoo==7.1")
        line = conda.splitlines().index('  - "tenon-demoo==7.1"') + 1
        folder = runs.project(USE, conda=conda)
        done = runs.submit(folder)
    assert done.code == 125, repr(done)
    assert f"aml_config/conda_dependencies.yml:{line}" in done.err and "tenon-demoo" in done.err
    run = runs.last(folder)
    assert run["status"] == "Failed" and "tenon-demoo" in run["properties"]["Reason"]
    assert not runs.environments() and runs.engine.leftovers() == []


def test_wrong_image(runs):
    folder = runs.project(USE, image="127.0.0.1:1/nobody/listens:1", conda=pip_file("tenon-demo"))
    done = runs.submit(folder)
    assert done.code == 125 and "127.0.0.1:1/nobody/listens:1" in done.err and "docker load" in done.err, repr(done)
    assert runs.last(folder)["status"] == "Failed"
    assert "docker.compute:" in done.err


def test_ten_submits_at_once_build_once_and_the_others_say_that_they_wait(runs):
    hold = threading.Event()
    with Index(hold=hold).add("tenon-demo", "1.0") as index:
        folder = runs.project(USE, conda=pip_file(runs.index_line(index), "tenon-demo"))
        before = time.time()
        watchers = [runs.start(folder) for _ in range(10)]
        wait_until(index.downloads, 120, "the first download")
        wait_until(lambda: sum("wait" in w.err.lower() for w in watchers) >= 9, 120, "nine that say that they wait")
        hold.set()
        for watcher in watchers:
            done = watcher.wait(240)
            assert (done.code, done.out) == (0, "tenon_demo 1.0\n"), repr(done)
    assert runs.builds_since(before) == 1 and len(runs.environments()) == 1


def test_builder_that_others_wait_for_is_killed(runs):
    """One of them goes on with the work."""
    hold = threading.Event()
    with Index(hold=hold).add("tenon-demo", "1.0") as index:
        folder = runs.project(USE, conda=pip_file(runs.index_line(index), "tenon-demo"))
        first = runs.start(folder)
        wait_until(index.downloads, 120, "the first download")
        builder = runs.runner_pid()
        second = runs.start(folder)
        wait_until(lambda: "wait" in second.err.lower(), 120, "the second one's word that it waits")
        os.kill(builder, signal.SIGKILL)
        hold.set()
        assert second.wait(240).ok().out == "tenon_demo 1.0\n"
        assert first.wait().code != 0
    runs.tenon.run("experiment", "clean", "-t", "docker", cwd=folder).ok()
    assert runs.engine.leftovers() == []


def test_container_removed_by_somebody_else(runs):
    folder = runs.project(SLEEPER)
    watcher = runs.start(folder)
    watcher.wait_for("ready")
    runs.api.remove(runs.container()["Id"])
    done = watcher.wait()
    assert done.code == 137, repr(done)
    run = runs.last(folder)
    assert run["status"] == "Failed" and "container" in run["properties"]["Reason"], run
    assert "outputs/partial.txt" in run["attachments"]


def test_container_killed_by_somebody_else(runs):
    folder = runs.project(SLEEPER)
    watcher = runs.start(folder)
    watcher.wait_for("ready")
    runs.api.call("POST", f"/containers/{runs.container()['Id']}/kill")
    done = watcher.wait()
    assert done.code == 137, repr(done)
    run = runs.last(folder)
    assert run["status"] == "Failed" and "out of memory" not in run["properties"]["Reason"].lower(), run


def test_image_deleted_between_prepare_and_run_is_made_again(runs):
    with Index().add("tenon-demo", "1.0") as index:
        folder = runs.project(USE, conda=pip_file(runs.index_line(index), "tenon-demo"))
        runs.tenon.run("experiment", "prepare", "-c", "docker-python", cwd=folder, timeout=240).ok()
        assert len(runs.environments()) == 1
        for image in runs.environments():
            runs.api.remove_image(image)
        assert runs.submit(folder).ok().out == "tenon_demo 1.0\n"
        assert len(runs.environments()) == 1


def test_image_deleted_and_nothing_may_be_prepared(runs):
    with Index().add("tenon-demo", "1.0") as index:
        folder = runs.project(USE, conda=pip_file(runs.index_line(index), "tenon-demo"),
                              runconfig={"PrepareEnvironment": False})
        early = runs.submit(folder)
        assert early.code == 125 and "prepare -c docker-python" in early.err, repr(early)
        runs.tenon.run("experiment", "prepare", "-c", "docker-python", cwd=folder, timeout=240).ok()
        assert runs.submit(folder).ok().out == "tenon_demo 1.0\n"
        for image in runs.environments():
            runs.api.remove_image(image)
        late = runs.submit(folder)
        assert late.code == 125 and "prepare -c docker-python" in late.err, repr(late)


def test_base_image_that_changed_is_another_environment(runs):
    with Index().add("tenon-demo", "1.0") as index:
        name = "tenon-test/changing:1"
        runs.api.derive(runs.image(), name, ["ENV A=1"])
        folder = runs.project(USE, image=name, conda=pip_file(runs.index_line(index), "tenon-demo"))
        runs.submit(folder).ok()
        runs.api.derive(runs.image(), name, ["ENV A=2"])
        runs.submit(folder).ok()
        assert len(runs.environments()) == 2
    runs.api.remove_image(name)
