# SPDX-License-Identifier: Apache-2.0
"""The same runs through Podman's compatible socket: as a user without rights, and as root. Podman 4.3 takes a memory limit
without cgroups of version 2, and every request for a GPU, and does nothing about it: that has to be said."""

import os
import shutil
import time

import pytest

from e2e import forwards, harness
from e2e.test_docker import COPIED, NO_NETWORK, SHARE, artifact, environment_of
from e2e.test_docker_samples import METRICS, preparing, sample
from hosts import engine as engines
from hosts.docker_runs import SLEEPER, EngineTenon, Runs, usable
from hosts.podman import UID, PodmanEngine

pytestmark = pytest.mark.planned_skip("needs root, and podman, uidmap, slirp4netns and debootstrap installed")


@pytest.fixture(scope="module", params=["rootless", "rootful"])
def podman(request):
    yield from usable(PodmanEngine(UID if request.param == "rootless" else None))


@pytest.fixture
def pods(podman):
    """A `tenon` of the user whose Podman it is."""
    base = engines.short_folder("tenon-user-")
    if podman.uid is not None:
        os.chown(base, podman.uid, podman.uid)
    made = Runs(podman, EngineTenon(harness.release_binary(), base / "home", base, podman.variables, podman.uid), base)
    if podman.uid is None:
        # It asks for more of these than it may have itself where it may not raise limits.
        made.compute = {"ulimits": ["nofile=4096:4096", "nproc=4096:4096"]}
    yield made
    try:
        made.cleanup()
    finally:
        shutil.rmtree(base, ignore_errors=True)


def owner(runs):
    return runs.tenon.uid or 0


@pytest.mark.seconds(1500)
def test_iris_end_to_end(pods):
    """Image made once, reused, the same metrics as here, outputs of the user."""
    if pods.tenon.uid is None:
        pytest.skip("the rootful Podman of the tests has no network")
    folder = sample(pods, "iris", pods.image())
    first = pods.submit(folder, "iris_sklearn.py", timeout=1200).ok()
    in_container = pods.last(folder)
    made = pods.environments()
    assert len(made) == 1
    second = pods.submit(folder, "iris_sklearn.py", timeout=300).ok()
    assert second.out == first.out and pods.environments() == made
    assert any("reused" in s["detail"] for s in preparing(pods, folder).values())
    pods.tenon.run("submit", "-c", "local", "iris_sklearn.py", cwd=folder, timeout=900).ok()
    assert [pods.last(folder)[name] for name in METRICS] == [in_container[name] for name in METRICS]
    assert not pods.of_others()


def test_script_is_the_user_and_has_a_home(pods):
    """Without root, the user is the container's root: outside, the files are the user's."""
    told = environment_of(pods, pods.image())
    assert told["uid"] == 0 and told["home"] == "/home/tenon"


def test_outputs_belong_to_the_user(pods):
    folder = pods.project("import os\nos.makedirs('outputs/a')\nopen('outputs/a/x.bin', 'wb').write(b'1' * 1000)\n")
    pods.submit(folder, "--keep", "main.py").ok()
    assert not pods.of_others()  # waits for the runner first
    assert list(pods.tenon.home.rglob("x.bin"))


def test_without_shared_volumes(pods):
    folder = pods.project(COPIED, compute={"sharedVolumes": False}, files={"data/in.txt": "in", "tool.sh": "#!/bin/sh\n"})
    os.symlink("data/in.txt", folder / "link")
    (folder / "tool.sh").chmod(0o755)
    if pods.tenon.uid is not None:
        os.chown(folder / "link", pods.tenon.uid, pods.tenon.uid, follow_symlinks=False)
    done = pods.submit(folder).ok()
    assert done.out == "in data/in.txt True /azureml-run\n[]\n"
    assert len(artifact(pods, folder, "outputs/a/b/out.bin")) == 3000000


def test_shared_folder(pods):
    native = pods.scratch / "share"
    folder = pods.project(SHARE, compute={"nativeSharedDirectory": str(native)})
    pods.submit(folder).ok()
    assert pods.submit(folder).ok().out.split()[1] == "x"
    assert (native / "proj" / "count.txt").stat().st_uid == owner(pods)


def test_metrics_without_any_network(pods):
    folder = pods.project(NO_NETWORK, compute={"network": "none"})
    assert pods.submit(folder).ok().out == "['lo']\n"
    assert pods.last(folder)["loss"] == 4999.5


def test_cancel(pods):
    folder = pods.project(SLEEPER)
    watcher = pods.start(folder)
    watcher.wait_for("ready")
    done = pods.tenon.run("cancel", "last", "--grace", "1s", cwd=folder).ok()
    assert "processes left: 0" in done.out
    assert watcher.wait().code == 143
    assert pods.last(folder)["status"] == "Canceled"


def test_exec_and_keep_on_fail(pods):
    folder = pods.project("open('/tmp/trace', 'w').write('evidence')\nraise SystemExit(4)\n")
    assert pods.submit(folder, "--keep-on-fail", "main.py").code == 4
    look = pods.tenon.run("exec", "last", "--", "cat", "/tmp/trace", cwd=folder)
    assert (look.code, look.out) == (0, "evidence"), repr(look)
    pods.tenon.run("experiment", "clean", "-t", "docker", cwd=folder).ok()
    assert pods.engine.leftovers() == []


def test_forward_reaches_what_listens_inside_alone(pods):
    forwards.check(pods, pods.project(forwards.SERVER))


def test_service_killed_container_goes_on(pods):
    """Podman has no daemon: the container does not know that the service is gone."""
    share = pods.scratch / "share"
    folder = pods.project("""
import os, time
print("begin", flush=True)
while not os.path.exists(os.environ["AZUREML_NATIVE_SHARE_DIRECTORY"] + "go"): time.sleep(0.02)
print("end")
""", compute={"nativeSharedDirectory": str(share)})
    watcher = pods.start(folder)
    watcher.wait_for("begin")
    pods.engine.kill()
    pods.engine.start()
    (share / "proj" / "go").touch()
    assert watcher.wait().ok().out == "begin\nend\n"


def test_memory_limit_that_can_not_be_held_is_said(pods):
    if pods.tenon.uid is None or os.path.exists("/sys/fs/cgroup/cgroup.controllers"):
        pytest.skip("this Podman can hold the limit")
    folder = pods.project("print('x')\n", compute={"memory": "200m"})
    done = pods.submit(folder)
    assert done.code == 0 and "memory: " in done.err and "can't hold the limit" in done.err, repr(done)


def test_gpu_is_refused_where_it_would_be_ignored(pods):
    before = time.time()
    folder = pods.project("print('x')\n", compute={"nvidiaDocker": True})
    done = pods.submit(folder)
    assert done.code == 125 and "GPU" in done.err, repr(done)
    assert time.time() - before < 60 and pods.engine.leftovers() == []
