# SPDX-License-Identifier: Apache-2.0
"""Accounts without a home of their own on the host: what attach lets pass, runs can use."""

import os
import shutil
import subprocess

import pytest

pytestmark = pytest.mark.planned_skip("needs root and openssh-server")

def missing(user):
    shutil.rmtree(user.home)


def of_root(user):
    os.chown(user.home, 0, 0)
    user.home.chmod(0o755)


def read_only(user):
    user.mount_home()
    subprocess.run(["mount", "-o", "remount,ro", user.home], check=True)


def a_file(user):
    user.home.rmdir()
    user.home.write_text("no folder\n")


def made_whole(user):
    """As a home is to be again, for the tests' own tidying."""
    subprocess.run(["mount", "-o", "remount,rw", user.home], check=False, capture_output=True)
    if user.home.is_file():
        user.home.unlink()
    user.home.mkdir(exist_ok=True)
    os.chown(user.home, user.uid, user.gid)


HOMES = [missing, of_root, read_only, a_file]


@pytest.mark.parametrize("spoil", HOMES, ids=lambda f: f.__name__)
def test_a_home_that_cannot_be_written_is_said_at_attach_and_runs_work(far_on, sshd, spoil):
    user = sshd.user()
    spoil(user)
    far = far_on(sshd, user)
    try:
        folder = far.project("import os\nopen(os.environ['AZUREML_NATIVE_SHARE_DIRECTORY'] + 'x', 'w').close()\n"
                             "os.makedirs('outputs', exist_ok=True)\nopen('outputs/y', 'w').close()\nprint('ran')\n")
        attached = far.attach(folder).ok()
        assert "nothing can be made in your home folder" in attached.err and "tenonDirectory" in attached.err, repr(attached)
        for _ in range(2):
            done = far.submit(folder)
            assert done.code == 0 and "ran" in done.out, repr(done)
    finally:
        made_whole(user)


@pytest.mark.parametrize("spoil", HOMES, ids=lambda f: f.__name__)
def test_attach_leaves_nothing_of_its_tries(far_on, sshd, spoil):
    user = sshd.user()
    far = far_on(sshd, user)
    far.attach(far.project()).ok()
    assert [p.name for p in user.home.iterdir()] == [".tenon"]
    assert not [p for p in far.far_files("*") if "try" in p.name]
    assert not [p for p in far.far_files("runs")]
    shutil.rmtree(user.home / ".tenon")
    spoil(user)
    try:
        far.attach(far.project(name="other"), "--force").ok()
        assert not [p for p in far.far_files("*") if "try" in p.name]
    finally:
        made_whole(user)


def test_a_home_that_is_lost_after_attach_is_said_with_a_hint(far_on, sshd):
    user = sshd.user()
    far = far_on(sshd, user)
    folder = far.attached()
    far.submit(folder).ok()
    shutil.rmtree(user.home / ".azureml", ignore_errors=True)
    os.chown(user.home, 0, 0)
    user.home.chmod(0o755)
    try:
        done = far.submit(folder)
        assert done.code == 125 and "making the shared folder" in done.err, repr(done)
        command = done.err.partition("`tenon ")[2].partition("`")[0]
        assert command.startswith("config set nativeSharedDirectory"), repr(done)
        far.tenon.run(*command.replace("'", "").split(), cwd=folder).ok()
        far.submit(folder).ok()
    finally:
        made_whole(user)


def test_a_folder_of_runs_that_cannot_be_written_is_refused_with_a_hint(far_on, sshd):
    user = sshd.user()
    far = far_on(sshd, user)
    folder = far.attached()
    far.submit(folder).ok()
    spoiled = [p for p in far.far_files("*") if p.is_dir() and p.name in ("host", "runs")]
    assert spoiled
    for part in spoiled:
        os.chown(part, 0, 0)
        part.chmod(0o755)
    tested = far.tenon.run("computetarget", "test", "far", cwd=folder)
    assert tested.code == 5 and "runs can't be made" in tested.err and "tenonDirectory" in tested.err, repr(tested)
    done = far.submit(folder)
    assert done.code == 125 and "tenonDirectory" in done.err, repr(done)
    for part in spoiled:
        os.chown(part, user.uid, user.gid)


@pytest.mark.parametrize("part", ["objects", "objects/packs", "incoming", "work"])
def test_a_part_of_the_folder_that_is_anothers_is_said_at_attach_and_by_test(far_on, sshd, part):
    """As `sudo` leaves it. What passes both can be submitted to."""
    user = sshd.user()
    far = far_on(sshd, user)
    folder = far.attached()
    far.submit(folder).ok()
    place = user.home / ".tenon/host" / part
    place.mkdir(exist_ok=True)
    os.chown(place, 0, 0)
    place.chmod(0o755)
    try:
        tested = far.tenon.run("computetarget", "test", "far", cwd=folder)
        attached = far.attach(far.project(name="other"), "--force")
        for done in (tested, attached):
            assert done.code == 5 and f"{place}: Permission denied" in done.err and "tenonDirectory" in done.err, repr(done)
    finally:
        os.chown(place, user.uid, user.gid)


def test_a_full_disk_at_attach_is_said(far_on, sshd):
    user = sshd.user()
    user.mount_home(size="1m")
    user.write("filler", b"\0" * (1020 << 10))
    far = far_on(sshd, user)
    done = far.attach(far.project())
    assert done.code != 0 and "No space left" in done.err and "tenonDirectory" in done.err, repr(done)
