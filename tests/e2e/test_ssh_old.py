# SPDX-License-Identifier: Apache-2.0
"""Machines that are not like this one: older files and libraries, another processor."""

import os
import re

import pytest

from e2e import harness
from e2e.harness import wait_until
from e2e.runner_harness import Runner
from hosts import aarch64, images
from hosts.old_debian import OldDebian
from hosts.sshd import Unusable
from hosts.ssh_runs import SLEEPER, command_of

pytestmark = pytest.mark.planned_skip("needs root, openssh-server, debootstrap and qemu-user-static")

METRICS = """
import platform, sys
from azureml.logging import get_azureml_logger
logger = get_azureml_logger()
for step in range(1000): logger.log("loss", 1.0 / (step + 1))
open("outputs/model.txt", "w").write("model")
print(sys.version_info[:2], platform.libc_ver()[1], flush=True)
print("to stderr", file=sys.stderr, flush=True)
raise SystemExit(int(sys.argv[1]))
"""


@pytest.fixture
def old(tmp_path, far_on):
    server = OldDebian()
    try:
        server.__enter__()
    except (Unusable, images.Missing) as why:
        server.close()
        pytest.skip(str(why))
    runs = far_on(server)
    yield runs
    try:
        runs.cleanup()
    finally:
        server.close()


def test_a_run_on_debian_11(old):
    folder = old.attached(METRICS)
    done = old.submit(folder, "main.py", "3")
    assert (done.code, done.out) == (3, "(3, 9) 2.31\n"), repr(done)
    run = old.last(folder)
    assert run["status"] == "Failed" and run["loss"] == pytest.approx(0.001)
    assert "outputs/model.txt" in run["attachments"]
    assert old.submit(folder, "main.py", "0").code == 0


def test_its_runs_are_canceled_to_the_last_process(old):
    folder = old.attached(SLEEPER)
    watcher = old.start(folder)
    watcher.wait_for("begin")
    assert "processes left: 0" in old.tenon.run("cancel", "last", "--grace", "1s", cwd=folder).ok().out
    assert watcher.wait().code == 143


@pytest.fixture
def programs():
    """The kernel runs programs for aarch64."""
    if not (harness.build_dir() / "aarch64/tenon-runner").exists():
        pytest.skip("this build has no runner for aarch64; scripts/setup --tests installs what it takes")
    try:
        with aarch64.Programs() as made:
            yield made
    except Unusable as why:
        pytest.skip(str(why))


@pytest.fixture
def arm(programs, tmp_path, sshd_with, far_on):
    del programs
    folder = tmp_path / "machine"
    folder.mkdir()
    return far_on(sshd_with(mounts=aarch64.uname_mounts(folder)))


def test_the_runner_for_aarch64_does_a_whole_run(programs, tmp_path):
    del programs
    runner = Runner(tmp_path / "home", tmp_path)
    runner.binary = harness.build_dir() / "aarch64/tenon-runner"
    run = runner.start(METRICS, arguments=["3"])
    journal = run.wait()
    assert (journal.end["state"], journal.end["exit_code"]) == ("Failed", 3), journal.end
    assert journal.stderr == b"to stderr\n"
    assert not runner.cleanup()


def test_a_run_on_aarch64(arm):
    """The machine that the runner was compiled for is in the header of the file that was sent."""
    folder = arm.attached(METRICS)
    done = arm.submit(folder, "main.py", "3")
    assert done.code == 3 and re.match(r"\(3, \d+\)", done.out), repr(done)
    run = arm.last(folder)
    assert run["status"] == "Failed" and run["loss"] == pytest.approx(0.001)
    assert "outputs/model.txt" in run["attachments"]
    sent = arm.far_files("bin/tenon-runner-*")
    assert len(sent) == 1
    assert sent[0].read_bytes()[18:20] == b"\xb7\x00"  # e_machine: EM_AARCH64


def test_every_part_of_a_run_on_aarch64_is_done_by_its_runner(arm):
    folder = arm.attached(SLEEPER)
    watcher = arm.start(folder)
    watcher.wait_for("begin")
    supervisors = wait_until(arm.runners, what="the runner")
    for pid in supervisors:
        assert b"qemu-aarch64" in os.path.realpath(f"/proc/{pid}/exe").encode() + command_of(pid)[0]
    assert "processes left: 0" in arm.tenon.run("cancel", "last", "--grace", "1s", cwd=folder).ok().out
    assert watcher.wait().code == 143


def test_a_machine_nobody_has_a_runner_for(tmp_path, sshd_with, far_on):
    folder = tmp_path / "machine"
    folder.mkdir()
    runs = far_on(sshd_with(mounts=aarch64.uname_mounts(folder, "riscv64")))
    project = runs.project()
    done = runs.attach(project)
    assert done.code != 0 and "riscv64" in done.err and "x86_64" in done.err, repr(done)
    assert not (project / "aml_config/far.compute").exists()
