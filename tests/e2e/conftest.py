# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the tests with containers and of those with other machines."""

import contextlib
import os
import shutil
import signal

import pytest

from e2e import harness
from hosts import engine as engines
from hosts import sshd as sshds
from hosts.docker_runs import EngineTenon, Runs, usable
from hosts.quiet import QuietMachine
from hosts.ssh_runs import SshRuns


# Whoever ends the tests early gets an engine that is put away, as with Ctrl-C.
signal.signal(signal.SIGTERM, signal.default_int_handler)


def pytest_collection_modifyitems(items):
    """What only some machines have is skipped on the others, so each test that uses it says so beforehand."""
    scarce = {"engine", "sshd_with"}
    for item in items:
        if scarce & set(item.fixturenames) and not item.get_closest_marker("planned_skip"):
            raise pytest.UsageError(f"{item.nodeid}: uses {scarce & set(item.fixturenames)} without a planned_skip mark")


@pytest.fixture(scope="session")
def engine():
    """A Docker engine of our own, shared by the tests of this process."""
    yield from usable(engines.DockerEngine(disk=engines.disk_in_memory()))


@pytest.fixture
def runs(engine, tmp_path):
    """The engine with a `tenon` whose home is new. Nothing may be left in the engine afterwards."""
    made = Runs(engine, EngineTenon(harness.release_binary(), tmp_path / "tenon-home", tmp_path, engine.variables), tmp_path)
    yield made
    made.cleanup()


@pytest.fixture
def plain_user(engine):
    """The same for a user who is not root, in a folder of the user's own."""
    uid = 64321
    base = engines.short_folder("tenon-user-")
    os.chown(base, uid, uid)
    engine.let_in(uid)
    made = Runs(engine, EngineTenon(harness.release_binary(), base / "home", base, engine.variables, uid), base)
    yield made
    try:
        made.cleanup()
    finally:
        shutil.rmtree(base, ignore_errors=True)


@pytest.fixture
def sshd_with():
    """sshd_with(MaxSessions=1, …) starts a server with options of its own; it ends with the test."""
    with contextlib.ExitStack() as stack:

        def start(**options):
            try:
                return stack.enter_context(sshds.Sshd(**options))
            except sshds.Unusable as why:
                pytest.skip(str(why))

        yield start


@pytest.fixture
def quiet():
    """What the usual server's machine looks like to a runner that asks whether it is idle."""
    made = QuietMachine()
    yield made
    made.remove()


@pytest.fixture
def sshd(sshd_with, quiet):
    """A real sshd on 127.0.0.1 as most machines have it."""
    return sshd_with(SetEnv=" ".join(f"{k}={v}" for k, v in quiet.variables.items()))


@pytest.fixture
def remote_user(sshd):
    """A user of that server: a password, bash, an empty home."""
    return sshd.user()


@pytest.fixture
def far_on(tmp_path, sshd_with):
    """far_on(server, user, kind="remotedocker", port=…): a `tenon` and projects with a target there. Nothing may go on running there
    afterwards."""
    del sshd_with  # ends after this, so that we see what goes on by itself
    made = []

    def make(server, user=None, **options):
        scratch = tmp_path if not made else tmp_path / f"client-{len(made)}"
        scratch.mkdir(exist_ok=True)
        tenon = harness.Tenon(harness.release_binary(), scratch / "tenon-home", scratch)
        made.append(SshRuns(server, user or server.user(), tenon, scratch, **options))
        return made[-1]

    yield make
    for runs in made:
        runs.cleanup()


@pytest.fixture
def far(far_on, sshd, remote_user):
    """The usual machine: bash, a password, Python."""
    return far_on(sshd, remote_user)


@pytest.fixture
def ssh_config(tmp_path):
    """ssh_config(text): environment in which ssh has that configuration."""
    def make(text):
        programs = tmp_path / "programs"
        programs.mkdir(exist_ok=True)
        (tmp_path / "ssh_config").write_text(text)
        (programs / "ssh").write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {tmp_path}/ssh_config "$@"\n')
        (programs / "ssh").chmod(0o755)
        return {"PATH": f"{programs}:{os.environ['PATH']}"}
    return make
