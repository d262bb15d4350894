# SPDX-License-Identifier: Apache-2.0
"""Data sets in the shared folder of a target: put, list, get, remove."""

import hashlib
import os
import signal
import struct
import subprocess
import time

import pytest

from e2e.harness import LOCAL_RUNCONFIG, make_project, wait_until
from e2e.runner_harness import Runner
from hosts.agent import Agent
from hosts.link import Proxy

NEEDS_ROOT = pytest.mark.planned_skip("needs root and openssh-server")
READER = """
import os
root = os.path.join(os.environ["AZUREML_NATIVE_SHARE_DIRECTORY"], "faces")
for folder, _, files in sorted(os.walk(root)):
    for name in sorted(files):
        path = os.path.join(folder, name)
        print(os.path.relpath(path, root), len(open(path, "rb").read()))
"""


@pytest.fixture
def faces(tmp_path):
    folder = tmp_path / "faces"
    (folder / "train").mkdir(parents=True)
    for i in range(20):
        (folder / f"train/{i}.txt").write_text(f"face {i}\n" * 100)
    (folder / "large.bin").write_bytes(os.urandom(3 << 20))
    (folder / "run.sh").write_text("#!/bin/sh\n")
    (folder / "run.sh").chmod(0o755)
    return folder


@pytest.fixture
def local(tenon, tmp_path):
    """A project whose `local` target has a shared folder."""
    compute = f"type: local\npythonLocation: python3\nnativeSharedDirectory: {tmp_path}/share\n"
    return make_project(tmp_path / "proj", READER, compute=compute, runconfig=LOCAL_RUNCONFIG)


def fingerprint(folder):
    """What any program can make of the files."""
    lines = []
    for path in sorted((p for p in folder.rglob("*") if p.is_file()), key=lambda p: os.fsencode(p.relative_to(folder))):
        data = path.read_bytes()
        name = str(path.relative_to(folder))
        lines.append(f"{hashlib.sha256(data).hexdigest()} {path.stat().st_mode & 0o777:o} {len(data)} {name}\n")
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def same(a, b):
    return subprocess.run(["diff", "-r", a, b], capture_output=True, check=False).returncode == 0


def data_steps(tenon, folder):
    details = tenon.json("show", "last", "-o", "json", cwd=folder)["details"]
    return [step["detail"] for step in details["steps"] if step["name"] == "data"]


# ---- this machine ----------------------------------------------------------------------------


def test_put_list_get_remove_on_this_machine(tenon, local, faces, tmp_path):
    done = tenon.json("data", "put", faces, "--json", cwd=local)
    assert (done["name"], done["files"], done["sent_files"]) == ("faces", 22, 22)
    assert done["fingerprint"] == fingerprint(faces)
    assert same(faces, tmp_path / "share/proj/faces")
    [listed] = tenon.json("data", "list", "--json", cwd=local)
    assert (listed["fingerprint"], listed["complete"], listed["files"]) == (done["fingerprint"], True, 22)
    tenon.run("data", "get", "faces", tmp_path / "back", cwd=local).ok()
    assert same(faces, tmp_path / "back") and (tmp_path / "back/run.sh").stat().st_mode & 0o777 == 0o755
    again = tenon.run("data", "get", "faces", tmp_path / "back", cwd=local)
    assert again.code == 2 and "--force" in again.err
    asked = tenon.run("data", "remove", "faces", cwd=local)
    assert asked.code == 2 and "--yes" in asked.err
    tenon.run("data", "remove", "faces", "--yes", cwd=local).ok()
    assert tenon.json("data", "list", "--json", cwd=local) == []
    assert not (tmp_path / "share/proj/faces").exists()
    assert tenon.run("data", "get", "faces", "x", cwd=local).code == 3


def test_a_run_records_the_data_it_could_see(tenon, local, faces):
    assert tenon.run("submit", "-c", "local", "main.py", cwd=local).ok()
    assert data_steps(tenon, local) == []
    print_of = tenon.json("data", "put", faces, "--json", cwd=local)["fingerprint"]
    done = tenon.run("submit", "-c", "local", "main.py", cwd=local).ok()
    assert f"large.bin {3 << 20}" in done.out
    [step] = data_steps(tenon, local)
    assert step.startswith(f"faces {print_of} (22 files, ")


def test_put_again_sends_what_changed_and_takes_away_what_is_gone(tenon, local, faces, tmp_path):
    tenon.run("data", "put", faces, cwd=local).ok()
    (faces / "train/3.txt").write_text("another\n")
    (faces / "train/4.txt").unlink()
    (faces / "train/5.txt").rename(faces / "renamed.txt")
    done = tenon.json("data", "put", faces, "--json", cwd=local)
    assert (done["sent_files"], done["sent_bytes"], done["removed_files"]) == (1, 8, 2)
    assert same(faces, tmp_path / "share/proj/faces")
    shared = tmp_path / "share/proj/faces"
    (shared / "mine.txt").write_text("mine")
    tenon.run("data", "put", faces, cwd=local).ok()
    assert (shared / "mine.txt").read_text() == "mine"


def test_a_target_without_a_shared_folder_says_what_to_write(tenon, tmp_path, faces):
    folder = make_project(tmp_path / "bare")
    done = tenon.run("data", "put", faces, cwd=folder)
    assert done.code == 2 and "nativeSharedDirectory" in done.err
    for bad in ("../x", ".hidden", "a b", "a/b"):
        assert tenon.run("data", "put", faces, "--name", bad, cwd=folder).code == 2


def test_folders_whose_names_cannot_be_kept_do_not_become_one_set(tenon, local, tmp_path):
    for name in ("данные", "модель", "My faces"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "a").write_text(name)
        done = tenon.run("data", "put", folder, cwd=local)
        assert done.code == 2 and f"`{name}` cannot be the name of a data set" in done.err and "--name NAME" in done.err, repr(done)
        for verb in ("get", "remove"):
            assert f"`{name}` cannot be the name of a data set" in tenon.run("data", verb, name, cwd=local).err
    assert tenon.json("data", "list", "--json", cwd=local) == []
    tenon.run("data", "put", tmp_path / "данные", "--name", "data", cwd=local).ok()
    assert (tmp_path / "share/proj/data/a").read_text() == "данные"


def test_symlinks_to_files_are_files_and_others_are_named(tenon, local, faces, tmp_path):
    (faces / "link").symlink_to("run.sh")
    (faces / "way").symlink_to("train")
    (faces / "broken").symlink_to("nowhere")
    os.mkfifo(faces / "pipe")
    done = tenon.run("data", "put", faces, cwd=local).ok()
    for name in ("way", "broken", "pipe"):
        assert name in done.err
    assert not (tmp_path / "share/proj/faces/link").is_symlink()
    assert (tmp_path / "share/proj/faces/link").read_text() == "#!/bin/sh\n"


# ---- the agent, asked by somebody who means harm -----------------------------------------------


@pytest.fixture
def agent(tmp_path):
    runner = Runner(tmp_path / "root" / "host", tmp_path)
    with Agent([runner.binary, "serve"]) as made:
        yield made
    assert not runner.cleanup()


def zstd(text):
    """A frame with one block that is not compressed."""
    data = text.encode()
    return b"\x28\xb5\x2f\xfd\xa0" + struct.pack("<I", len(data)) + struct.pack("<I", 1 | len(data) << 3)[:3] + data


def test_paths_of_a_client_are_not_trusted(agent, tmp_path):
    shared = str(tmp_path / "shared")
    line = "0" * 64 + " 644 1 {}\n"
    for path in ("../x", "/etc/x", "a/../../x", "a/./b", "", "a//b"):
        answer = agent.ask("data-begin", zstd(line.format(path)), shared=shared, name="faces")
        assert not answer["ok"] and answer["error"]["kind"] == "invalid", path
    for name in ("..", "../x", "a/b", ".x", ""):
        answer = agent.ask("data-begin", zstd(line.format("a")), shared=shared, name=name)
        assert not answer["ok"], name
    assert not agent.ask("data-begin", b"not zstd", shared=shared, name="faces")["ok"]
    assert not agent.ask("data-done")["ok"]
    assert not agent.ask("data-get", zstd("0 0\n"), shared=shared, name="faces", fingerprint="")["ok"]
    assert agent.ask("data-begin", zstd(line.format("a")), shared=shared, name="faces")["ok"]
    agent.send("data-piece", b"xxxx", file=0, offset=0)
    assert not agent.receive()["ok"]
    agent.send("data-piece", b"x", file=99, offset=-1)  # the put is over: not even answered
    assert not agent.ask("data-done")["ok"]
    assert not (tmp_path / "x").exists() and not (tmp_path / "shared/faces/a").exists()


# ---- another machine -------------------------------------------------------------------------


@NEEDS_ROOT
def test_data_on_another_machine(far, faces, tmp_path):
    folder = far.attached(READER)
    done = far.tenon.json("data", "put", faces, "-t", "far", "--json", cwd=folder)
    assert (done["sent_files"], done["fingerprint"]) == (22, fingerprint(faces))
    [listed] = far.tenon.json("data", "list", "-t", "far", "--json", cwd=folder)
    assert listed["path"].startswith(str(far.user.home)) and same(faces, listed["path"])
    ran = far.submit(folder).ok()
    assert f"large.bin {3 << 20}" in ran.out
    [step] = data_steps(far.tenon, folder)
    assert step.startswith(f"faces {done['fingerprint']} (22 files")
    (faces / "train/3.txt").write_text("another\n")
    again = far.tenon.json("data", "put", faces, "-t", "far", "--json", cwd=folder)
    assert (again["sent_files"], again["sent_bytes"]) == (1, 8)
    far.tenon.run("data", "get", "faces", tmp_path / "back", "-t", "far", cwd=folder).ok()
    assert same(faces, tmp_path / "back")
    far.tenon.run("data", "remove", "faces", "-t", "far", "--yes", cwd=folder).ok()
    assert far.tenon.json("data", "list", "-t", "far", "--json", cwd=folder) == []


@NEEDS_ROOT
def test_a_put_that_was_killed_goes_on_where_it_stopped(far_on, sshd, faces, tmp_path):
    with Proxy(sshd.port) as proxy:
        far = far_on(sshd, port=proxy.port)
        folder = far.attached()
        far.tenon.run("data", "put", faces, "-t", "far", cwd=folder).ok()
        (faces / "huge.bin").write_bytes(os.urandom(24 << 20))
        (faces / "train/0.txt").write_text("changed\n")
        first = proxy.sent
        proxy.delay = 0.1
        put = far.tenon.start("data", "put", faces, "-t", "far", cwd=folder)
        wait_until(lambda: proxy.sent - first > (8 << 20), 60, "a third of the file")
        put.send(signal.SIGKILL)
        put.wait()
        proxy.delay = 0
        # The old set is whole and as it was; that a put has begun is said.
        [listed] = far.tenon.json("data", "list", "-t", "far", "--json", cwd=folder)
        assert listed["complete"] and listed["files"] == 22 and listed["next_files"] == 23
        before = proxy.sent
        done = wait_until(lambda: put_again(far, faces, folder), 60, "the lock of the killed put")
        assert proxy.sent - before < (20 << 20), "it began anew"
        assert done["sent_bytes"] < (18 << 20)
        assert same(faces, listed["path"])


def put_again(far, faces, folder):
    """The agent of a killed client ends with its link, a moment later."""
    done = far.tenon.run("data", "put", faces, "-t", "far", "--json", cwd=folder)
    return done.json() if done.code == 0 else None


@NEEDS_ROOT
def test_a_cut_link_is_tried_again(far_on, sshd, faces):
    with Proxy(sshd.port) as proxy:
        far = far_on(sshd, port=proxy.port)
        folder = far.attached()
        (faces / "huge.bin").write_bytes(os.urandom(24 << 20))
        first = proxy.sent
        proxy.delay = 0.02
        put = far.tenon.start("data", "put", faces, "-t", "far", cwd=folder)
        wait_until(lambda: proxy.sent - first > (8 << 20), 60, "a third of the file")
        proxy.cut()
        proxy.delay = 0
        assert put.wait(120).code == 0
        [listed] = far.tenon.json("data", "list", "-t", "far", "--json", cwd=folder)
        assert listed["complete"] and same(faces, listed["path"])


@NEEDS_ROOT
def test_a_full_disk_there_is_said_and_the_old_set_stays(far, faces):
    far.user.mount_home(size="40m")
    folder = far.attached()
    far.tenon.run("data", "put", faces, "-t", "far", cwd=folder).ok()
    (faces / "huge.bin").write_bytes(os.urandom(48 << 20))
    done = far.tenon.run("data", "put", faces, "-t", "far", cwd=folder)
    assert done.code == 4 and "space" in done.err.lower(), repr(done)
    [listed] = far.tenon.json("data", "list", "-t", "far", "--json", cwd=folder)
    assert listed["complete"] and listed["files"] == 22
    # Nothing of it stays in the way of the next one, not even a byte is free for.
    (faces / "huge.bin").unlink()
    (faces / "train/0.txt").write_text("changed\n")
    put = far.tenon.json("data", "put", faces, "-t", "far", "--json", cwd=folder)
    assert put["files"] == 22 and put["sent_files"] == 1
    [listed] = far.tenon.json("data", "list", "-t", "far", "--json", cwd=folder)
    assert listed["complete"] and same(faces, listed["path"])


def test_what_a_copy_left_goes_with_the_next_one_and_is_nobodys_data(tenon, local, faces, tmp_path):
    """Its files have changed since, so it cannot go on."""
    tenon.run("data", "put", faces, "-t", "local", cwd=local).ok()
    left = tmp_path / "got/.tenon-copy-0123456789abcdef/copy.incoming"
    left.mkdir(parents=True)
    (left / "0.part").write_bytes(b"x" * 1000)
    long_ago = time.time() - 3600
    os.utime(left.parent, (long_ago, long_ago))
    tenon.run("data", "get", "faces", tmp_path / "got", "-t", "local", cwd=local).ok()
    assert same(faces, tmp_path / "got")
    left.mkdir(parents=True)
    (left / "0.part").write_bytes(b"x" * 1000)
    put = tenon.json("data", "put", tmp_path / "got", "--name", "back", "-t", "local", "--json", cwd=local)
    assert put["files"] == 22
