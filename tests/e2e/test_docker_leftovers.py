# SPDX-License-Identifier: Apache-2.0
"""What is left in an engine when a run is ended before its container runs, and who makes an environment that several homes
want. All with a real engine; a door before it holds a request until the test has done its part."""

import os
import shutil
import signal
import threading
import time

import pytest

from e2e import harness
from e2e.harness import wait_until
from hosts.docker_runs import SLEEPER, EngineTenon, Runs, pip_file
from hosts.packages import Index
from hosts.recorder import Recorder

pytestmark = pytest.mark.planned_skip("needs root, and docker.io and debootstrap installed")

COPIED = {"sharedVolumes": False}
USE = "import tenon_demo\nprint('tenon_demo', tenon_demo.__version__)\n"


class Door(Recorder):
    """Holds the first request whose method and path begin so, before or after the engine has done it."""

    def __init__(self, path, real, held, after=False):
        super().__init__(path, real)
        self.held, self.after = held, after
        self.reached, self.go = threading.Event(), threading.Event()

    def _answer(self, client, method, url, headers, body):
        meant = f"{method} {url}".startswith(self.held[0]) and self.held[1] in url and not self.reached.is_set()
        if not meant:
            return super()._answer(client, method, url, headers, body)
        if not self.after:
            self.reached.set()
            self.go.wait(120)
        super()._answer(client, method, url, headers, body)
        self.reached.set()
        self.go.wait(120)


STEPS = {
    "made": ("POST /containers/create", ""),
    "copied in": ("PUT /containers/", "/archive"),
    "attached": ("POST /containers/", "/attach"),
    "started": ("POST /containers/", "/start"),
}


@pytest.fixture
def door(runs, tmp_path):
    """door(step, after=False) starts one."""
    opened = []

    def make(step, **options):
        made = Door(f"/tmp/tenon-door-{os.getpid()}-{len(opened)}.sock", runs.engine.socket, STEPS[step], **options)
        opened.append(made)
        return made.__enter__()

    yield make
    for made in opened:
        made.go.set()
        made.__exit__()
        os.unlink(made.path)


def reached(door, watcher):
    wait_until(lambda: door.reached.is_set() or watcher.process.poll() is not None, 120, "the held request")
    assert door.reached.is_set(), repr(watcher.wait())


# The answer to an attach is a stream that lasts as long as the container.
@pytest.mark.parametrize("step, after", [(s, a) for s in STEPS for a in (False, True) if (s, a) != ("attached", True)])
def test_cancel_before_the_container_runs_leaves_no_container(runs, door, step, after):
    folder = runs.project(SLEEPER, compute=COPIED, files={"data.bin": os.urandom(3_000_000)})
    held = door(step, after=after)
    watcher = runs.start(folder, env=held.variables)
    reached(held, watcher)
    asked = runs.tenon.start("cancel", "last", cwd=folder, env=held.variables)
    run_folder, = (runs.tenon.home / "runs").iterdir()
    # A runner that waits for the engine records it later.
    wait_until(lambda: (run_folder / "cancel.json").exists() or b"canceled by" in (run_folder / "host.tj").read_bytes(), 60,
               "the request")
    held.go.set()
    assert asked.wait(120).code == 0
    assert watcher.wait(120).code == 143
    assert runs.last(folder)["status"] == "Canceled"
    assert runs.engine.leftovers() == []
    assert not (run_folder / "engine").exists()


@pytest.mark.parametrize("step", ["made", "copied in"])
def test_runner_killed_before_the_container_runs_the_next_look_removes_it(runs, door, step):
    """The engine is known from the environment of that submit alone."""
    folder = runs.project("print('ran')\n", compute=COPIED, files={"data.bin": os.urandom(3_000_000)})
    held = door(step, after=True)
    watcher = runs.start(folder, env=held.variables)
    reached(held, watcher)
    runs.kill_runner()
    watcher.send(signal.SIGKILL)
    watcher.wait()
    held.go.set()
    assert len(runs.api.containers()) == 1
    nowhere = {"DOCKER_HOST": f"unix://{runs.scratch}/none.sock"}
    status = runs.tenon.json("history", "last", "-o", "json", cwd=folder, env=nowhere)
    assert status["status"] == "Failed", status
    wait_until(lambda: runs.engine.leftovers() == [], 30, "the container to be removed")


@pytest.mark.parametrize("supervised", [True, False], ids=["with its runner", "without its runner"])
def test_cancel_of_a_run_whose_folder_is_gone_removes_its_container_first(runs, supervised):
    folder = runs.project(SLEEPER)
    watcher = runs.start(folder)
    watcher.wait_for("ready")
    watcher.send(signal.SIGKILL)
    watcher.wait()
    run_id = runs.last(folder)["run_id"]
    if not supervised:
        runs.kill_runner()
    shutil.rmtree(runs.tenon.home / "runs" / run_id)
    done = runs.tenon.run("cancel", run_id, cwd=folder)
    assert done.code == 0 and "Canceled" in done.out, repr(done)
    assert runs.engine.leftovers() == [] and runs.runner_pid() is None
    assert run_id not in runs.tenon.run("runs", cwd=folder).ok().out


def test_a_paused_container_is_canceled_without_a_wait_for_ever(runs):
    folder = runs.project(SLEEPER)
    watcher = runs.start(folder)
    watcher.wait_for("ready")
    runs.api.json("POST", f"/containers/{runs.container()['Id']}/pause")
    done = runs.tenon.run("cancel", "last", "--grace", "1s", cwd=folder, timeout=120)
    assert done.code == 0, repr(done)
    assert watcher.wait(60).code == 143
    assert runs.last(folder)["status"] == "Canceled" and runs.engine.leftovers() == []


def a_container(runs, home, run_id, name):
    """One as it was left by a version that did not remove it."""
    labels = {"tenon.kind": "run", "tenon.run": run_id, "tenon.key": "", "tenon.home": str(home)}
    made = runs.api.json("POST", f"/containers/create?name={name}", {"Image": runs.image(), "Cmd": ["true"], "Labels": labels})
    return made["Id"]


def test_gc_removes_a_container_that_was_made_and_never_started_and_nobody_elses(runs):
    folder = runs.project("print('ran')\n")
    runs.submit(folder).ok()
    run_id = runs.last(folder)["run_id"]
    a_container(runs, runs.tenon.home, run_id, "left")
    runs.leaves_something = True
    theirs = a_container(runs, "/somewhere/else", run_id, "theirs")
    told = runs.tenon.json("gc", "--dry-run", "-o", "json")
    assert told["containers"] == ["left"] and len(runs.api.containers()) == 2
    assert "1 container" in runs.tenon.run("gc").ok().out
    assert [c["Id"] for c in runs.api.containers()] == [theirs]


def test_gc_spares_a_container_that_was_kept_to_be_looked_at(runs):
    folder = runs.project("raise SystemExit(3)\n")
    assert runs.submit(folder, "--keep-on-fail", "main.py").code == 3
    runs.tenon.run("gc").ok()
    assert runs.container() is not None
    runs.tenon.run("experiment", "clean", "-t", "docker", cwd=folder).ok()
    assert runs.engine.leftovers() == []


# ---- one environment, several homes -----------------------------------------------------------


@pytest.fixture
def second(runs, tmp_path):
    """Another home on the same engine."""
    scratch = tmp_path / "second"
    scratch.mkdir()
    made = Runs(runs.engine, EngineTenon(harness.release_binary(), scratch / "home", scratch, runs.engine.variables), scratch)
    yield made
    assert not made.tenon.cleanup()


def tagged(runs):
    """{name: image id} of the environments."""
    return {tag: image["Id"] for image in runs.api.images() for tag in image["RepoTags"] or [] if tag.startswith("tenon/env:")}


def common(names):
    return next(name for name in names if "-" not in name)


def test_a_second_home_uses_the_environment_of_the_first(runs, second):
    with Index().add("tenon-demo", "1.0") as index:
        conda = pip_file(runs.index_line(index), "tenon-demo")
        first_folder, second_folder = runs.project(USE, conda=conda), second.project(USE, conda=conda)
        runs.submit(first_folder).ok()
        before = tagged(runs)
        builds = len(index.downloads())
        second.submit(second_folder).ok()
        after = tagged(runs)
        assert len(index.downloads()) == builds, "made again"
    assert after[common(before)] == before[common(before)] and set(after.values()) == set(before.values())
    shown = second.details(second_folder)["environment"]
    assert shown["reused"] and [p["name"] for p in shown["packages"]] == ["tenon-demo"]
    # The first lets go of it; the second still has it, and the other way round nothing is left.
    runs.tenon.run("experiment", "clean", "-t", "docker", cwd=first_folder).ok()
    assert second.submit(second_folder).ok().out == "tenon_demo 1.0\n"
    assert second.details(second_folder)["environment"]["reused"]
    second.tenon.run("experiment", "clean", "-t", "docker", cwd=second_folder).ok()
    assert not tagged(runs) and not runs.environments()


def test_two_homes_at_once_make_an_environment_once(runs, second):
    hold = threading.Event()
    before = time.time()
    with Index(hold=hold).add("tenon-demo", "1.0") as index:
        conda = pip_file(runs.index_line(index), "tenon-demo")
        watcher = runs.start(runs.project(USE, conda=conda))
        wait_until(lambda: index.downloads() or watcher.process.poll() is not None, 120, "the first build's download")
        other = second.start(second.project(USE, conda=conda))
        wait_until(lambda: "waiting for it" in other.err or other.process.poll() is not None, 120, "the second one to wait")
        hold.set()
        for one in (watcher, other):
            done = one.wait(240)
            assert done.code == 0 and done.out.endswith("tenon_demo 1.0\n"), repr(done)
    assert runs.builds_since(before) == 1
    assert len(set(tagged(runs).values())) == 1


def test_a_name_does_not_move_under_the_run_of_another_home(runs, second):
    """Also when the second home wants it made anew, or the image tells nothing of what is in it."""
    share = runs.scratch / "share"
    with Index().add("tenon-demo", "1.0") as index:
        conda = pip_file(runs.index_line(index), "tenon-demo")
        waiting = USE + ("import os, time\nprint('begin', flush=True)\n"
                         "while not os.path.exists(os.environ['AZUREML_NATIVE_SHARE_DIRECTORY'] + 'go'): time.sleep(0.02)\n")
        folder = runs.project(waiting, conda=conda, compute={"nativeSharedDirectory": str(share)})
        watcher = runs.start(folder)
        watcher.wait_for("begin")
        before = tagged(runs)
        other = second.project(USE, conda=conda)
        second.tenon.run("experiment", "prepare", "-c", "docker-python", "--refresh", cwd=other, timeout=240).ok()
        after = tagged(runs)
        assert after[common(before)] == before[common(before)]
        assert len(set(after.values())) == 2
        assert runs.container()["Image"] == before[common(before)]
        assert second.submit(other).ok().out == "tenon_demo 1.0\n"
        (share / "proj").mkdir(parents=True, exist_ok=True)
        (share / "proj" / "go").touch()
        assert watcher.wait(120).code == 0
    second.tenon.run("experiment", "clean", "-t", "docker", cwd=other).ok()
    assert set(tagged(runs)) == {common(before)}


class Refusing(Recorder):
    """Gives nothing out of a container while `refuse` is set."""

    refuse = True

    def __exit__(self, *how):
        super().__exit__(*how)
        os.unlink(self.path)

    def _answer(self, client, method, url, headers, body):
        if self.refuse and method == "GET" and "/archive" in url:
            return self._send(client, {"message": "not now"}, 500)
        return super()._answer(client, method, url, headers, body)


def test_outputs_in_a_container_that_could_not_be_copied_are_kept_until_collected(runs, door):
    """The engine is away for a moment when they are to be copied out."""
    script = "open('outputs/model.txt', 'w').write('the only copy')\nprint('ran')\n"
    folder = runs.project(script, compute=COPIED)
    runs.leaves_something = True
    opened = Refusing(f"/tmp/tenon-refusing-{os.getpid()}.sock", runs.engine.socket)
    with opened:
        done = runs.submit(folder, env=opened.variables)
        assert "could not be collected" in done.err, repr(done)
        run_id = runs.last(folder)["run_id"]
        for words in (("experiment", "clean", "-t", "docker", "--yes"), ("gc", "--keep-work", "0s")):
            runs.tenon.run(*words, cwd=folder, env=opened.variables).ok()
        assert runs.container() is not None, "the only copy is in it"
        missing = runs.tenon.run("history", "download", "-r", "last", "-d", runs.scratch / "got", cwd=folder)
        assert missing.code != 0 and "collecting the outputs" in missing.err, repr(missing)
        opened.refuse = False
        assert "1 file" in runs.tenon.run("runs", "collect", "last", cwd=folder).ok().out
    runs.tenon.run("history", "download", "-r", run_id, "-d", runs.scratch / "got", "--overwrite", cwd=folder).ok()
    assert (runs.scratch / "got/outputs/model.txt").read_text() == "the only copy"
    assert runs.engine.leftovers() == []


def test_a_script_without_outputs_has_nothing_left_once_it_was_looked(runs):
    folder = runs.project("import os\nos.rmdir('outputs')\nprint('ran')\n", compute=COPIED)
    opened = Refusing(f"/tmp/tenon-refusing-{os.getpid()}.sock", runs.engine.socket)
    with opened:
        runs.submit(folder, env=opened.variables)
        assert "could not be collected" in runs.last(folder)["properties"]["Reason"]
        opened.refuse = False
        runs.tenon.run("runs", "collect", "last", cwd=folder).ok()
    runs.tenon.run("runs", "collect", "last", cwd=folder).ok()
    runs.tenon.run("history", "download", "-r", "last", "-d", runs.scratch / "got", cwd=folder).ok()
    assert runs.engine.leftovers() == []
