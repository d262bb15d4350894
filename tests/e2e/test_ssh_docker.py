# SPDX-License-Identifier: Apache-2.0
"""The walk, part B: a container on a machine reached by SSH, from attach to history, with both sample projects."""

import os
import re
import time

import pytest

from e2e import forwards, harness
from hosts import images
from hosts.docker_runs import pip_file, usable
from hosts.podman import PodmanEngine
from hosts.ssh_runs import SLEEPER, index_variables
from hosts.sshd import Unusable

pytestmark = pytest.mark.planned_skip("needs root, openssh-server, docker.io and debootstrap installed")


class Az(harness.Tenon):
    """`az ml …`, as it was installed."""

    def env(self, extra=None):
        return super().env({"PATH": f"{self.binary.parent}:{os.environ['PATH']}", **(extra or {})})

    def command(self, args):
        return [str(self.binary), "ml", *super().command(args)[1:]]


@pytest.fixture
def gpu_less(engine, sshd_with, far_on):
    """A machine with Docker, whose user may use it, and no GPU."""
    variables = f"DOCKER_HOST=unix://{engine.socket} {index_variables()}".strip()
    server = sshd_with(SetEnv=variables)
    user = server.user()
    engine.let_in(user.gid)
    runs = far_on(server, user, kind="remotedocker")
    runs.engine = engine
    yield runs
    engine.sweep()
    for image in engine.api.images():
        for tag in image["RepoTags"] or [image["Id"]]:
            if "tenon/env:" in tag:
                engine.api.remove_image(tag)


def program_called(name, runs):
    if name == "tenon":
        return runs.tenon
    folder = runs.scratch / "az-bin"
    runs.tenon.run("install-az", folder).ok()
    return Az(folder / "az", runs.tenon.home, runs.scratch)


def attach_as_typed(tool, runs, folder, grammar):
    """The line of the walk as it stands, in a terminal; the user looks at the host key and agrees."""
    words = ["--name", "my_dsvm", "--address", f"127.0.0.1:{runs.server.port}", "--username", runs.user.name, "--password",
             runs.user.password]
    words = [*words, "--type", "remotedocker"] if grammar == "--type" else ["remotedocker", *words]
    done = tool.pty("computetarget", "attach", *words, cwd=folder, keys=b"yes\r", when=runs.server.fingerprint, timeout=120)
    assert done.code == 0, repr(done)
    return done


def edit(path, **values):
    """As in an editor: a line that is there is changed, another one is added."""
    text = path.read_text()
    for key, value in values.items():
        line = f"{key}: {value}"
        changed, count = re.subn(rf'^"?{key}"?:.*$', line, text, flags=re.M)
        text = changed if count else text.rstrip("\n") + f"\n{line}\n"
    path.write_text(text)


def walk(runs, sample, image, name, grammar, conda=None):
    """Steps 2 to 7; the project's folder and the program to go on with."""
    tool = program_called(name, runs)
    folder = runs.scratch / f"{sample}-project"
    runs.tenon.run("project", "sample", "get", sample, str(folder), cwd=runs.scratch).ok()
    before = set(os.listdir(folder / "aml_config"))
    attach_as_typed(tool, runs, folder, grammar)
    config = folder / "aml_config"
    assert set(os.listdir(config)) - before == {"my_dsvm.compute", "my_dsvm.runconfig"}
    assert re.search(r"PySpark", (config / "my_dsvm.runconfig").read_text())
    edit(config / "my_dsvm.compute", baseDockerImage=image, nvidiaDocker="true")
    edit(config / "my_dsvm.runconfig", Framework='"Python"')
    if conda:
        (config / "conda_dependencies.yml").write_text(conda)
    return tool, folder


def submit(tool, folder, script, *arguments, options=(), timeout=900):
    return tool.run("experiment", "submit", "-c", "my_dsvm", *options, script, *arguments, cwd=folder, timeout=timeout)


def check_refusal(runs, tool, folder, script):
    """nvidiaDocker: true on a machine without a GPU: told before anything is made, with what to do."""
    before = time.time()
    refused = submit(tool, folder, script)
    assert refused.code == 125 and "nvidiaDocker" in refused.out + refused.err, repr(refused)
    made = runs.engine.api.call("GET", "/events", query={"since": f"{before:.6f}", "until": f"{time.time():.6f}",
                                                         "filters": '{"type":["container"],"event":["create"]}'})
    assert made.strip() == b""
    edit(folder / "aml_config/my_dsvm.compute", nvidiaDocker="false")


@pytest.mark.seconds(1800)
@pytest.mark.parametrize("name,grammar", [("tenon", "sub-command"), ("az ml", "--type")])
def test_the_walk_with_tensorflow(gpu_less, name, grammar):
    runs = gpu_less
    image = images.load(runs.engine.api, "debian")
    tool, folder = walk(runs, "mnist-tensorflow", image, name, grammar)
    check_refusal(runs, tool, folder, "train.py")
    done = submit(tool, folder, "train.py")
    assert done.code == 0, repr(done)
    assert "epoch" in done.out.lower()
    run = runs.last(folder)
    assert run["status"] == "Completed" and run["framework"].startswith("TensorFlow"), run
    assert run["target"] == "my_dsvm" and "outputs/" in run["attachments"]
    again = submit(tool, folder, "train.py")
    assert again.code == 0
    steps = runs.tenon.json("show", "last", "-o", "json", cwd=folder)["details"]["steps"]
    assert any("reused" in s["detail"] for s in steps), steps


@pytest.mark.seconds(1800)
@pytest.mark.parametrize("name,grammar", [("tenon", "--type"), ("az ml", "sub-command")])
def test_the_walk_with_cntk(gpu_less, name, grammar):
    runs = gpu_less
    try:
        image = images.load(runs.engine.api, "cntk")
    except images.Missing as missing:
        pytest.skip(str(missing))
    tool, folder = walk(runs, "mnist-cntk", image, name, grammar)
    check_refusal(runs, tool, folder, "train.py")
    options = ("--env", "OMP_NUM_THREADS=1") if name == "tenon" else ()
    done = submit(tool, folder, "train.py", "--epochs", "5", options=options)
    assert done.code == 0 and "epoch  5  loss" in done.out, repr(done)
    run = runs.last(folder)
    assert run["status"] == "Completed" and run["framework"].startswith("CNTK 2.7"), run
    assert run["final accuracy"] > 0.85 and "outputs/digits.model" in run["attachments"]
    fetched = runs.scratch / "fetched"
    tool.run("history", "download", "--run", run["run_id"], "-d", str(fetched), cwd=folder).ok()
    assert list(fetched.rglob("digits.model"))


def small(runs, script, *options, conda=None):
    """A project with a container target there, attached."""
    image = images.load(runs.engine.api, "debian")
    folder = runs.attached(script, *options, files={"aml_config/conda_dependencies.yml": conda or "name: x\ndependencies: []\n"})
    edit(folder / "aml_config/far.compute", baseDockerImage=image)
    if conda is None:
        edit(folder / "aml_config/far.compute", userManagedEnvironment="true")
    return folder


def test_a_container_there_ends_with_cancel(gpu_less):
    folder = small(gpu_less, SLEEPER)
    watcher = gpu_less.start(folder)
    watcher.wait_for("begin", timeout=120)
    assert "Canceled" in gpu_less.tenon.run("cancel", "last", "--grace", "1s", cwd=folder).ok().out
    assert watcher.wait().code == 143
    harness.wait_until(lambda: gpu_less.engine.leftovers() == [], what="the end of the container")


def test_forward_reaches_what_listens_inside_a_container_there(gpu_less):
    forwards.check(gpu_less, small(gpu_less, forwards.SERVER))


def test_outputs_of_a_container_there_belong_to_the_user(gpu_less):
    folder = small(gpu_less, "open('outputs/made.txt', 'w').write('x')\nprint('ran')\n")
    assert gpu_less.submit(folder, "--keep", "main.py").ok().out == "ran\n"
    uid = gpu_less.user.uid
    harness.wait_until(lambda: not gpu_less.runners(), 60, "the end of the runner")
    assert [p for p in gpu_less.user.home.rglob("*") if os.lstat(p).st_uid != uid] == []


def test_clean_removes_what_runs_left_there(gpu_less):
    folder = small(gpu_less, "import tenon_demo\n", conda=pip_file("tenon-demo-that-is-nowhere"))
    failed = gpu_less.submit(folder)
    assert failed.code == 125 and "conda_dependencies.yml" in failed.out + failed.err, repr(failed)
    gpu_less.tenon.run("experiment", "clean", "-t", "far", cwd=folder).ok()
    assert gpu_less.engine.leftovers() == []


def test_the_refusal_of_a_gpu_names_the_machine_and_the_line(gpu_less):
    """Read on the client, "this machine" would be another one."""
    folder = small(gpu_less, "print('ran')\n")
    compute = folder / "aml_config/far.compute"
    lines = [line for line in compute.read_text().splitlines() if not line.startswith("nvidiaDocker")]
    compute.write_text("\n".join([*lines, "nvidiaDocker: true"]) + "\n")
    done = gpu_less.submit(folder)
    assert done.code == 125 and f"aml_config/far.compute:{len(lines) + 1}: nvidiaDocker: true" in done.err, repr(done)
    assert f"{os.uname().nodename} (target far) has no NVIDIA GPU" in done.err and "this machine" not in done.err, repr(done)
    reason = gpu_less.last(folder)["properties"]["Reason"]
    assert "far.compute" in reason and os.uname().nodename in reason
    asked = gpu_less.submit(folder, "--gpus", "1", "main.py")
    assert asked.code == 125 and "--gpus 1" in asked.err and os.uname().nodename in asked.err, repr(asked)


def test_nobody_may_use_the_engine_is_told_with_the_fix(engine, sshd_with, far_on):
    """Not in its group, no sudo."""
    server = sshd_with(SetEnv=f"DOCKER_HOST=unix://{engine.socket}")
    runs = far_on(server, kind="remotedocker")
    engine.let_in(0)
    runs.engine = engine
    folder = small(runs, "print('ran')\n")
    done = runs.submit(folder)
    assert done.code == 125 and "usermod -aG docker" in done.out + done.err, repr(done)


@pytest.mark.planned_skip("needs root, openssh-server, docker.io, debootstrap and sudo installed")
def test_an_engine_that_only_sudo_may_reach(engine, sshd_with, far_on):
    """Passwordless sudo, as on machines of the clouds."""
    server = sshd_with(SetEnv=f"DOCKER_HOST=unix://{engine.socket}")
    runs = far_on(server, kind="remotedocker")
    engine.let_in(0)
    runs.engine = engine
    try:
        runs.user.allow_sudo()
    except Unusable as why:
        pytest.skip(str(why))
    folder = small(runs, "print('ran')\n")
    assert runs.submit(folder).ok().out == "ran\n"
    harness.wait_until(lambda: engine.leftovers() == [], what="the end of the container")


@pytest.fixture
def rootless(sshd_with, far_on):
    """A machine where the user has a Podman of their own, whose socket is known from the login alone."""
    server = sshd_with()
    user = server.user()
    for podman in usable(PodmanEngine(user.uid)):
        user.write(".profile", f"export DOCKER_HOST=unix://{podman.socket}\n")
        runs = far_on(server, user, kind="remotedocker")
        runs.engine = podman
        yield runs


@pytest.mark.planned_skip("needs root, openssh-server, podman, uidmap, slirp4netns and debootstrap installed")
def test_an_engine_there_without_root(rootless):
    runs = rootless
    folder = small(runs, "open('outputs/made.txt', 'w').write('x')\nprint('ran')\n")
    assert runs.submit(folder).ok().out == "ran\n"
    assert "outputs/made.txt" in runs.last(folder)["attachments"]
    harness.wait_until(lambda: not runs.runners(), 60, "the end of the runner")
    assert [p for p in runs.user.home.rglob("*") if os.lstat(p).st_uid != runs.user.uid] == []
    (folder / "main.py").write_text(forwards.SERVER)
    forwards.check(runs, folder)
    harness.wait_until(lambda: runs.engine.leftovers() == [], what="the end of the container")


def test_all_a_container_printed_is_there_for_one_who_comes_later(gpu_less):
    """Its output lies in a segment of its own, which arrives after the end in the other one."""
    folder = small(gpu_less, "import sys\nfor i in range(300_000):\n    print('line', i, 'x' * 50)\n")
    gpu_less.submit(folder, "-a", "main.py").ok()
    harness.wait_until(lambda: not gpu_less.runners(), 120, "the end of the run")
    logged = gpu_less.tenon.run("logs", "last", cwd=folder, timeout=60).ok()
    assert logged.out == "".join(f"line {i} {'x' * 50}\n" for i in range(300_000))
    [copy] = gpu_less.tenon.home.glob("runs/*/script.tj")
    [original] = gpu_less.far_files("runs/*/script.tj")
    assert copy.read_bytes() == original.read_bytes()
