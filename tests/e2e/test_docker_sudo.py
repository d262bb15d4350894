# SPDX-License-Identifier: Apache-2.0
"""Runs in containers of a user to whom the engine's socket is closed and who may use `sudo -n`."""

import shutil

import pytest

from e2e import harness
from e2e.runner_harness import Runner, processes_with
from e2e.test_probe import sudo_rule
from hosts import images
from hosts.docker_runs import as_user, give_to

pytestmark = pytest.mark.planned_skip("needs root, sudo, docker.io, debootstrap and busybox-static installed")


@pytest.fixture
def outsider(sshd):
    if not shutil.which("sudo"):
        pytest.skip("there is no sudo")
    return sshd.user()


@pytest.fixture
def far(outsider, engine):
    """A runner of that user; the engine is root's alone."""
    engine.socket.chmod(0o600)
    made = Runner(outsider.home / "host", outsider.home)
    shutil.copy(made.binary, outsider.home / "tenon-runner")
    made.binary = outsider.home / "tenon-runner"
    made.prefix = as_user(outsider.uid)
    made.extra_env = {"HOME": str(outsider.home), "USER": outsider.name, "SHELL": "/bin/sh", **engine.variables}
    made.user = outsider
    yield made
    left = made.cleanup()
    engine.sweep()
    engine.socket.chmod(0o660)
    assert not left


def start(far, engine, script):
    run = far.new(script, executor="container", target_type="remotedocker",
                  container={"image": engine.tenon_image, "shared_volumes": True})
    give_to(far.user.uid, far.user.home)
    return run.start({"DOCKER_HOST": engine.variables["DOCKER_HOST"], "USER": far.user.name})


@pytest.fixture(autouse=True)
def usual_image(engine):
    engine.tenon_image = images.load(engine.api, "debian")


def test_a_whole_run_goes_through_sudo(far, engine):
    with sudo_rule(far.user):
        run = start(far, engine, "import os, sys\nprint('in a container', os.getuid())\nprint('err', file=sys.stderr)\n"
                                 "open('outputs/made', 'w').write('x')\nsys.exit(3)\n")
        end = run.wait(120).end
    assert (end["state"], end["exit_code"]) == ("Failed", 3), end
    assert not engine.api.containers()
    # No helper outlives the connection it was started for.
    harness.wait_until(lambda: not processes_with(b"dial\0" + bytes(engine.socket)), 20, "the end of the helpers")


def test_a_run_is_canceled_through_sudo(far, engine):
    with sudo_rule(far.user):
        run = start(far, engine, "import time\ntime.sleep(600)\n")
        run.wait_for(lambda j: any(r.type == "state" and b"Running" in r.payload for r in j.records), 120)
        run.ask("cancel", {"grace_us": 0, "who": "test"})
        assert run.wait(120).end["state"] == "Canceled"
    assert not engine.api.containers()


def test_without_sudo_the_reason_says_what_to_do(far, engine):
    journal = start(far, engine, "print(1)").wait()
    assert (journal.end["state"], journal.end["exit_code"]) == ("Failed", 125)
    assert "not open to this user" in journal.end["reason"]
    words = " ".join(str(record.payload) for record in journal.records)
    assert "usermod -aG docker" in words and "sudo -n" in words
