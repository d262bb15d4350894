# SPDX-License-Identifier: Apache-2.0
"""The home is the user's alone, whoever makes it first and whatever the umask: 0700, and 0600 for the files in it."""

import os
import stat
import sys

import pytest

from e2e.harness import all_below

UMASK = [sys.executable, "-c", "import os, sys; os.umask(int(sys.argv[1], 8)); os.execvp(sys.argv[2], sys.argv[2:])"]


def with_umask(mask):
    return (*UMASK, mask)


def open_to_others(home):
    """What is ours to keep private and is not: the home, what lies in it, its records of machines, keys and runs."""
    places = [home, *home.iterdir(), *home.glob("hosts/*"), *home.glob("keys/*"), *home.glob("runs/*"), *home.glob("runs/*/*.tj"),
              *home.glob("runs/*/spec.json"), *home.glob("objects/*"), *home.glob("numbers/*"), *home.glob("stat-cache/*")]
    return sorted(f"{path.relative_to(home)} {stat.S_IMODE(path.lstat().st_mode):o}" for path in places
                  if not path.is_symlink() and stat.S_IMODE(path.lstat().st_mode) & 0o077)


@pytest.mark.parametrize("mask", ["000", "002", "022", "077"])
def test_the_home_is_private_whatever_the_umask(tenon, project, mask):
    folder = project()
    tenon.run("submit", "-c", "local", "main.py", cwd=folder, prefix=with_umask(mask)).ok()
    tenon.run("history", "list", cwd=folder, prefix=with_umask(mask)).ok()
    tenon.run("secrets", "set", "KEY", cwd=folder, stdin=b"a-long-secret\n", prefix=with_umask(mask)).ok()
    assert stat.S_IMODE(tenon.home.stat().st_mode) == 0o700
    assert not open_to_others(tenon.home)
    assert any(p.name == "history.db" for p in all_below(tenon.home))


def first_with_secrets(tenon, folder):
    tenon.run("secrets", "set", "KEY", cwd=folder, stdin=b"a-long-secret\n", prefix=with_umask("022")).ok()


def first_with_snapshot(tenon, folder):
    tenon.run("snapshot", cwd=folder, prefix=with_umask("022")).ok()


@pytest.mark.parametrize("first", [first_with_secrets, first_with_snapshot])
def test_the_home_is_private_whoever_makes_it_first(tenon, project, first):
    folder = project()
    first(tenon, folder)
    assert not open_to_others(tenon.home)
    tenon.run("history", "list", cwd=folder, prefix=with_umask("022")).ok()
    assert not open_to_others(tenon.home)


@pytest.mark.planned_skip("needs root and openssh-server")
@pytest.mark.parametrize("mask", ["000", "022"])
def test_the_home_that_attach_makes_first_is_private(far, mask):
    folder = far.project("open('outputs/x', 'w').write('x')\n")
    far.attach(folder, prefix=with_umask(mask)).ok()
    assert not open_to_others(far.tenon.home)
    far.submit(folder, prefix=with_umask(mask)).ok()
    far.tenon.run("history", "list", cwd=folder, prefix=with_umask(mask)).ok()
    assert not open_to_others(far.tenon.home)
    there = far.user.home / ".tenon"
    assert stat.S_IMODE(there.stat().st_mode) == 0o700
    assert not open_to_others(there / "host")


def test_a_home_that_others_can_read_is_closed_again(tenon, project):
    """As the first release left it."""
    folder = project()
    tenon.run("submit", "-c", "local", "main.py", cwd=folder).ok()
    tenon.run("secrets", "set", "KEY", cwd=folder, stdin=b"a-long-secret\n").ok()
    for path in [tenon.home, *tenon.home.iterdir(), *tenon.home.glob("runs/*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    tenon.run("history", "list", cwd=folder).ok()
    assert not [w for w in open_to_others(tenon.home) if not w.startswith("runs/")], open_to_others(tenon.home)
    assert stat.S_IMODE(next(tenon.home.glob("runs/*")).stat().st_mode) == 0o700
    # A single file is closed again by whoever uses it.
    for path in tenon.home.glob("history.db*"):
        path.chmod(0o666)
    tenon.run("history", "list", cwd=folder).ok()
    assert not [w for w in open_to_others(tenon.home) if w.startswith("history")]


def test_a_home_behind_a_symlink_is_closed_too(tenon, project):
    folder = project()
    real = tenon.home.with_name("real-home")
    real.mkdir(mode=0o755)
    os.chmod(real, 0o755)
    tenon.home.symlink_to(real)
    tenon.run("submit", "-c", "local", "main.py", cwd=folder).ok()
    assert stat.S_IMODE(real.stat().st_mode) == 0o700
