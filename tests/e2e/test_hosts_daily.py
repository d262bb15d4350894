# SPDX-License-Identifier: Apache-2.0
"""Daily life on a machine reached by SSH: looking at it, entering it, copying, forwarding, other computers, idle time."""

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import urllib.request
from pathlib import Path

import pytest

from e2e.harness import wait_until
from hosts.link import Proxy
from hosts.sshd import free_port
from hosts.ssh_runs import SLEEPER, waiter

pytestmark = pytest.mark.planned_skip("needs root and openssh-server")


def far_run(far, folder, script=None):
    if script:
        (folder / "main.py").write_text(script)
    far.submit(folder).ok()
    return far.last(folder)["run_id"]


# ---- host list, show, clean -------------------------------------------------------------------


def test_host_list_contacts_nobody(far):
    folder = far.attached()
    far_run(far, folder)
    far.server.stop()
    far.server.drop()
    [host] = far.tenon.json("host", "list", "--json", cwd=folder)
    assert (host["target"], host["project"], host["runs_going"], host["problem"]) == ("far", "proj", 0, None)
    assert host["idle_since_us"] > 0 and host["last_heard_us"] > 0 and not host["looked"]
    shown = far.tenon.run("host", "list", cwd=folder).ok()
    assert "far" in shown.out and "not known" not in shown.out


def test_host_list_look_says_which_machine_cannot_be_reached(far):
    folder = far.attached()
    [host] = far.tenon.json("host", "list", "--look", "--json", cwd=folder)
    assert host["looked"] and host["problem"] is None
    far.server.stop()
    far.server.drop()
    shown = far.tenon.run("host", "list", "--look", cwd=folder).ok()
    assert "not reached" in shown.out and "far: " in shown.err


def test_a_run_that_goes_on_is_busy_not_idle(far):
    go = far.user.home / "go"
    folder = far.attached(waiter(go))
    started = far.start(folder)
    started.wait_for("begin")
    [host] = far.tenon.json("host", "list", "--look", "--json", cwd=folder)
    assert host["runs_going"] == 1 and host["idle_since_us"] == 0
    assert "busy" in far.tenon.run("host", "list", cwd=folder).ok().out
    # Nothing of it is cleaned away.
    far.tenon.run("host", "clean", "far", "--all", "--yes", cwd=folder).ok()
    assert len(far.far_runs()) == 1
    far.user.write("go", "")
    started.wait(60).ok()


def test_host_show_tells_what_the_machine_is_and_what_is_kept_there(far):
    folder = far.attached()
    run_id = far_run(far, folder)
    shown = far.tenon.json("host", "show", "far", "--json", cwd=folder)
    assert shown["facts"]["machine"] == os.uname().machine
    assert [r["run_id"] for r in shown["runs"]] == [run_id]
    assert shown["kept"]["runs_bytes"] > 0 and shown["disk_free_bytes"] > 0
    [runner] = far.far_files("bin/tenon-runner-*")
    assert shown["kept"]["other_bytes"] >= runner.stat().st_size
    assert shown["idle_watcher"] is False
    assert "login_environment" not in shown["facts"]
    text = far.tenon.run("host", "show", "far", cwd=folder).ok()
    assert run_id in text.out and "nothing turns it off" in text.err


def test_host_clean_gives_space_back_and_keeps_what_is_recorded_here(far):
    folder = far.attached("import sys\nprint('kept')\nsys.exit(1)\n")
    assert far.submit(folder).code == 1
    run_id = far.last(folder)["run_id"]
    wait_until(lambda: not far.runners(), what="the end of the runner")
    assert "would remove 1 run" in far.tenon.run("host", "clean", "far", "--all", "--dry-run", cwd=folder).ok().out
    assert len(far.far_runs()) == 1
    young = far.tenon.json("host", "clean", "far", "--yes", "--json", cwd=folder)
    assert young["runs"] == [] and len(far.far_runs()) == 1
    unasked = far.tenon.run("host", "clean", "far", "--all", cwd=folder)
    assert unasked.code == 2 and "--yes" in unasked.err and len(far.far_runs()) == 1
    gone = far.tenon.json("host", "clean", "far", "--all", "--yes", "--json", cwd=folder)
    assert gone["runs"] == [run_id] and far.far_runs() == []
    assert "kept" in far.tenon.run("logs", run_id, cwd=folder).ok().out


def ended_alone(far, folder):
    """The id of a run that has ended on the machine while nobody here heard of it."""
    done = far.tenon.run("submit", "-a", "-c", "far", "main.py", cwd=folder).ok()
    run_id = far.last(folder)["run_id"]
    assert run_id in done.out
    wait_until(lambda: not far.runners(), what="the end of the runner")
    return run_id


def test_cleaning_a_machine_fetches_the_ends_of_our_runs_first(far, tmp_path):
    folder = far.attached("open('outputs/model.bin', 'wb').write(b'x' * 3000)\nprint('kept')\n")
    run_id = ended_alone(far, folder)
    gone = far.tenon.json("host", "clean", "far", "--all", "--yes", "--json", cwd=folder)
    assert gone["runs"] == [run_id] and run_id not in [k["name"] for k in gone["kept"]] and far.far_runs() == []
    assert far.last(folder)["status"] == "Completed"
    assert far.tenon.run("logs", run_id, cwd=folder).ok().out == "kept\n"
    far.tenon.run("history", "download", "-r", run_id, "-d", tmp_path / "got", cwd=folder).ok()
    assert (tmp_path / "got/outputs/model.bin").stat().st_size == 3000


@pytest.mark.parametrize("force", [[], ["--force"]], ids=["plain", "force"])
def test_a_machine_with_two_names_is_cleaned_after_its_runs_of_both_are_fetched(far, tmp_path, force):
    """Runs of the one are this client's, whatever name the machine is cleaned by."""
    folder = far.attached("open('outputs/model.bin', 'wb').write(b'x' * 3000)\n")
    far.attach(folder, name="again").ok()
    run_id = ended_alone(far, folder)
    gone = far.tenon.json("host", "clean", "again", "--all", "--yes", "--json", *force, cwd=folder)
    assert gone["runs"] == [run_id] and gone["forced"] == [] and far.far_runs() == [], gone
    assert far.last(folder)["status"] == "Completed"
    far.tenon.run("history", "download", "-r", run_id, "-d", tmp_path / "got", cwd=folder).ok()
    assert (tmp_path / "got/outputs/model.bin").stat().st_size == 3000


def test_a_run_whose_outputs_cannot_be_fetched_is_not_cleaned_away(far):
    folder = far.attached("open('outputs/model.bin', 'wb').write(b'x' * 3_000_000)\n")
    run_id = ended_alone(far, folder)
    # A file where the parts of large objects go: nothing can be received.
    incoming = far.tenon.home / "incoming"
    assert not incoming.exists()
    objects = far.tenon.home / "objects"
    kept = objects.rename(far.tenon.home / "objects-away")
    objects.write_text("")
    refused = far.tenon.json("host", "clean", "far", "--all", "--yes", "--json", cwd=folder)
    assert refused["runs"] == [] and [k["name"] for k in refused["kept"]] == [run_id], refused
    assert len(far.far_runs()) == 1
    objects.unlink()
    kept.rename(objects)
    assert far.tenon.json("host", "clean", "far", "--all", "--yes", "--json", cwd=folder)["runs"] == [run_id]
    assert far.last(folder)["status"] == "Completed"


def test_runs_that_another_client_has_not_fetched_are_kept_unless_forced(far):
    folder = far.attached("print('theirs')\n")
    run_id = ended_alone(far, folder)
    with far.somebody_else(folder) as (other, copy):
        told = other.run("host", "clean", "far", "--all", "--yes", cwd=copy).ok()
        assert run_id in told.err and "--force" in told.err and len(far.far_runs()) == 1, repr(told)
        assert far.tenon.run("status", run_id, cwd=folder).ok()
        # One that was taken over may go.
        other.run("runs", "fetch", "-t", "far", run_id, cwd=copy).ok()
        assert other.json("host", "clean", "far", "--all", "--yes", "--json", cwd=copy)["runs"] == [run_id]
        second = ended_alone(far, folder)
        forced = other.json("host", "clean", "far", "--all", "--yes", "--force", "--json", cwd=copy)
        assert forced["runs"] == [second] and forced["forced"] == [second]
    assert far.last(folder)["run_id"] == second


def test_outputs_that_nobody_may_read_are_kept_there_until_they_are_collected(far, tmp_path):
    """Not by a script that is the user: somebody else has put a file there."""
    go = far.user.home / "go"
    folder = far.attached(waiter(go))
    watcher = far.start(folder)
    watcher.wait_for("begin")
    [outputs] = far.far_files("work/outputs")
    (outputs / "closed").write_text("the only copy")
    (outputs / "closed").chmod(0)
    far.user.write("go", "")
    done = watcher.wait(60)
    run_id = far.last(folder)["run_id"]
    assert "could not be read" in done.err or "can't be read" in done.err, repr(done)
    missing = far.tenon.run("history", "download", "-r", run_id, "-d", tmp_path / "got", cwd=folder)
    assert missing.code != 0 and (tmp_path / "got/outputs/partial.txt").read_text() == "kept", repr(missing)
    for words in (("experiment", "clean", "-t", "far", "--yes"), ("host", "clean", "far", "--all", "--yes")):
        kept = far.tenon.run(*words, cwd=folder).ok()
        assert run_id in kept.err and (outputs / "closed").exists(), repr(kept)
    (outputs / "closed").chmod(0o644)
    assert "2 files" in far.tenon.run("runs", "collect", run_id, cwd=folder).ok().out
    far.tenon.run("history", "download", "-r", run_id, "-d", tmp_path / "got", "--overwrite", cwd=folder).ok()
    assert (tmp_path / "got/outputs/closed").read_text() == "the only copy"
    assert far.tenon.json("host", "clean", "far", "--all", "--yes", "--json", cwd=folder)["runs"] == [run_id]


def test_a_machine_is_found_by_name_and_id_from_anywhere(far, tmp_path):
    folder = far.attached()
    [host] = far.tenon.json("host", "list", "--json", cwd=folder)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for word in ("far", host["id"], host["id"][:8]):
        assert far.tenon.json("host", "show", word, "--json", cwd=elsewhere)["id"] == host["id"]
    wrong = far.tenon.run("host", "show", "fra", cwd=elsewhere)
    assert wrong.code == 3 and "did you mean `far`" in wrong.err
    here = far.tenon.run("host", "show", "local", cwd=folder)
    assert here.code == 2 and "this machine" in here.err


# ---- another computer takes over -------------------------------------------------------------


def second_client(far, folder):
    """Another computer with a copy of the project and access to the machine."""
    other = far.another_client()
    copy = other.scratch / "proj"
    shutil.copytree(folder, copy)
    shutil.rmtree(copy / "aml_config")
    (copy / "aml_config").mkdir()
    far.attach(copy, tenon=other).ok()
    return other, copy


def test_another_computer_takes_over_finished_and_live_runs(far, tmp_path):
    go = far.user.home / "go"
    folder = far.attached("open('outputs/model.bin', 'wb').write(b'x' * 3000)\nprint('first')\n")
    first = far_run(far, folder)
    (folder / "main.py").write_text(waiter(go))
    started = far.start(folder)
    started.wait_for("begin")
    second = far.last(folder)["run_id"]
    started.kill()

    other, copy = second_client(far, folder)
    assert other.json("runs", "--json", cwd=copy) == []
    assert sorted(other.json("runs", "fetch", "-t", "far", "--json", cwd=copy)) == sorted([first, second])
    # Nothing twice.
    assert other.json("runs", "fetch", "-t", "far", "--json", cwd=copy) == []
    assert other.json("runs", "fetch", "-t", "far", first, "--json", cwd=copy) == []
    assert "first" in other.run("logs", first, cwd=copy).ok().out
    target = tmp_path / "fetched"
    other.run("history", "download", "-r", first, "-d", target, cwd=copy).ok()
    assert [p.read_bytes() for p in target.rglob("model.bin")] == [b"x" * 3000]
    back = tmp_path / "back"
    other.run("restore", first, back, cwd=copy).ok()
    assert "first" in (back / "main.py").read_text()
    far.user.write("go", "")
    watched = other.run("logs", "-f", second, cwd=copy)
    assert "end" in watched.out
    assert {r["run_id"]: r["status"] for r in other.json("runs", "--json", cwd=copy)} == {first: "Completed", second: "Completed"}
    assert far.tenon.run("status", second, cwd=folder).ok()


def test_a_run_taken_over_can_be_canceled(far):
    folder = far.attached(SLEEPER)
    run_id = far.left_going(folder)
    other, copy = second_client(far, folder)
    other.run("runs", "fetch", "-t", "far", run_id, cwd=copy).ok()
    other.run("cancel", run_id, "--grace", "1s", cwd=copy).ok()
    assert other.json("history", "last", "-o", "json", cwd=copy)["status"] == "Canceled"
    missing = other.run("runs", "fetch", "-t", "far", "proj_1", cwd=copy)
    assert missing.code == 3 and "no run proj_1" in missing.err


# ---- exec, shell, cp -------------------------------------------------------------------------


def test_exec_on_the_machine_itself(far):
    folder = far.attached()
    done = far.tenon.run("exec", "-t", "far", "--", "sh", "-c", 'echo "$PWD $1"; exit 7', "x", "it's $HOME", cwd=folder)
    assert done.code == 7 and done.out == f"{far.user.home} it's $HOME\n"
    assert "no command" in far.tenon.run("exec", "-t", "far", cwd=folder).err
    shell = far.tenon.run("shell", "-t", "far", cwd=folder, stdin=b"id -un\nexit 3\n")
    assert shell.code == 3 and far.user.name in shell.out


def test_cp_brings_files_there_and_back_with_their_modes(far, tmp_path):
    folder = far.attached()
    source = tmp_path / "source"
    (source / "deep/er").mkdir(parents=True)
    (source / "deep/er/a.bin").write_bytes(os.urandom(3 << 20))
    (source / "tool.sh").write_text("#!/bin/sh\necho hi\n")
    (source / "tool.sh").chmod(0o755)
    (source / "empty").write_text("")
    (source / "na\nme %").write_text("odd")
    far.tenon.run("cp", source, "far:", cwd=folder).ok()
    there = far.user.home / "source"
    assert (there / "deep/er/a.bin").read_bytes() == (source / "deep/er/a.bin").read_bytes()
    assert (there / "tool.sh").stat().st_mode & 0o777 == 0o755
    assert (there / "na\nme %").read_text() == "odd"
    assert there.stat().st_uid == far.user.uid
    # Again: nothing has to go over.
    again = far.tenon.json("cp", source, "far:", "--json", cwd=folder)
    assert (again["files"], again["sent_files"]) == (4, 0)
    far.tenon.run("cp", "far:source", tmp_path / "back", cwd=folder).ok()
    assert subprocess.run(["diff", "-r", source, tmp_path / "back"], check=False).returncode == 0
    # A single file, with a name of its own, replaces one whole.
    (tmp_path / "one").write_text("new")
    far.tenon.run("cp", tmp_path / "one", "far:source/tool.sh", cwd=folder).ok()
    assert (there / "tool.sh").read_text() == "new"
    far.tenon.run("cp", "far:source/tool.sh", tmp_path / "tool", cwd=folder).ok()
    assert (tmp_path / "tool").read_text() == "new"
    assert not [p for root in (far.user.home, tmp_path) for p in root.rglob(".tenon-copy-*")]


def test_cp_names_what_it_leaves_out(far, tmp_path):
    folder = far.attached()
    (tmp_path / "source/data").mkdir(parents=True)
    (tmp_path / "source/data/x").write_text("x")
    (tmp_path / "source/current").symlink_to("data")
    (tmp_path / "source/broken").symlink_to("gone")
    told = far.tenon.run("cp", tmp_path / "source", "far:source", cwd=folder).ok()
    assert "left out, because only files can be copied: " in told.err and "current" in told.err and "broken" in told.err, repr(told)
    (far.user.home / "source/link").symlink_to("/etc")
    told = far.tenon.run("cp", "far:source", tmp_path / "back", cwd=folder).ok()
    assert "left out, because only files can be copied: link" in told.err, repr(told)


def test_cp_into_and_out_of_the_folder_of_a_run(far, tmp_path):
    go = far.user.home / "go"
    folder = far.attached("import os\nos.symlink('/var/tmp', 'way')\n" + waiter(go))
    started = far.start(folder)
    started.wait_for("begin")
    far.tenon.run("cp", "last:outputs/partial.txt", tmp_path, cwd=folder).ok()
    assert (tmp_path / "partial.txt").read_text() == "kept"
    (tmp_path / "more").mkdir()
    (tmp_path / "more/x").write_text("x")
    far.tenon.run("cp", tmp_path / "more", "last:outputs", cwd=folder).ok()
    [work] = far.far_files("runs/*/work")
    assert (work / "outputs/more/x").read_text() == "x"
    for bad in ("last:../x", "last:/etc/x", "last:outputs/../../x"):
        assert far.tenon.run("cp", tmp_path / "partial.txt", bad, cwd=folder).code == 2, bad
    out = far.tenon.run("cp", tmp_path / "partial.txt", "last:way/tenon-cp-test", cwd=folder)
    assert out.code == 2 and "not followed" in out.err and not Path("/var/tmp/tenon-cp-test").exists()
    far.user.write("go", "")
    started.wait(60).ok()


def test_cp_on_this_machine_and_words_it_does_not_understand(far, tmp_path):
    folder = far.attached()
    far.tenon.run("submit", "--keep", "-c", "local", "main.py", cwd=folder).ok()
    far.tenon.run("cp", "last:main.py", tmp_path / "copy.py", cwd=folder).ok()
    assert (tmp_path / "copy.py").read_bytes() == (folder / "main.py").read_bytes()
    assert far.tenon.run("cp", "a", "b", cwd=folder).code == 2
    assert far.tenon.run("cp", "far:a", "far:b", cwd=folder).code == 2
    assert far.tenon.run("cp", "far:not-there", "x", cwd=folder).code == 3
    unknown = far.tenon.run("cp", "nobody:x", ".", cwd=folder)
    assert unknown.code == 3 and "neither a machine nor a run" in unknown.err


def test_cp_takes_a_run_before_a_machine_as_exec_does(far, tmp_path):
    folder = far.project()
    far.attach(folder, name="last").ok()
    far.user.write("there.txt", "there")
    other = far.project("print('other')\n", "other")
    far.tenon.run("submit", "--keep", "-c", "local", "main.py", cwd=other).ok()
    far.tenon.run("cp", "last:main.py", tmp_path / "copy.py", cwd=other).ok()
    assert (tmp_path / "copy.py").read_bytes() == (other / "main.py").read_bytes()
    # Also in the project of the target; while it has no run, the name can only mean the machine.
    far.tenon.run("cp", "last:there.txt", tmp_path / "there.txt", cwd=folder).ok()
    assert (tmp_path / "there.txt").read_text() == "there"
    far.tenon.run("submit", "--keep", "-c", "local", "main.py", cwd=folder).ok()
    far.tenon.run("cp", "last:main.py", tmp_path / "own.py", cwd=folder).ok()
    assert (tmp_path / "own.py").read_bytes() == (folder / "main.py").read_bytes()
    assert far.tenon.run("exec", "last", "--", "cat", "main.py", cwd=folder).ok().out == (folder / "main.py").read_text()


# ---- forward, ssh-config ---------------------------------------------------------------------


def get(url):
    """None: nobody answers."""
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return answer.read()
    except OSError:
        return None


@contextlib.contextmanager
def site(far, address, port):
    """A page that says "there", on the host."""
    far.user.write("site/index.html", "there")
    words = ["/usr/bin/python3", "-m", "http.server", "-b", address, "-d", far.user.home / "site", str(port)]
    server = subprocess.Popen([*far.user.prefix(), *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        server.kill()
        server.wait()


@contextlib.contextmanager
def forwarded(far, folder, port, local):
    """A forward that ends with Ctrl-C; the page is there before that."""
    forward = far.tenon.start("forward", "-t", "far", f"{port}:{local}", cwd=folder)
    forward.wait_for(f"http://127.0.0.1:{local}/")
    yield forward
    assert wait_until(lambda: get(f"http://127.0.0.1:{local}/"), 20) == b"there"
    forward.send(signal.SIGINT)
    assert forward.wait().code == 0


def test_forward_opens_a_port_here_until_it_is_interrupted(far):
    folder = far.attached()
    port, local = free_port(), free_port()
    with site(far, "127.0.0.1", port):
        with forwarded(far, folder, port, local):
            pass
        assert get(f"http://127.0.0.1:{local}/") is None and get(f"http://127.0.0.1:{port}/") == b"there"
        # A port that is taken: said, or another one.
        taken = far.tenon.run("forward", "-t", "far", f"{port}:{port}", cwd=folder)
        assert taken.code == 4 and "in use" in taken.err
    for bad in ("0", "x", "80:99999"):
        assert far.tenon.run("forward", "-t", "far", bad, cwd=folder).code == 2


def test_forward_goes_on_after_a_lost_link(far_on, sshd):
    with Proxy(sshd.port) as link:
        far = far_on(sshd, port=link.port)
        folder = far.attached()
        port, local = free_port(), free_port()
        with site(far, "127.0.0.1", port), forwarded(far, folder, port, local) as forward:
            link.cut()
            wait_until(lambda: "the link is back" in forward.err, 60, "the link")
            assert "the link was lost" in forward.err


def has_ipv6():
    """On the loopback. A kernel that knows it may have it switched off, as it is in many containers."""
    try:
        with socket.socket(socket.AF_INET6) as tried:
            tried.bind(("::1", 0))
    except OSError:
        return False
    return True


def test_forward_reaches_either_localhost_of_the_machine(far_on, sshd_with, tmp_path):
    if not has_ipv6():
        pytest.skip("this machine has no IPv6")
    hosts = tmp_path / "hosts"
    hosts.write_text("127.0.0.1 localhost\n::1 localhost\n")
    far = far_on(sshd_with(mounts=[f"mount --bind {hosts} /etc/hosts"]))
    folder = far.attached()
    port, local = free_port(), free_port()
    with site(far, "::1", port), forwarded(far, folder, port, local):
        pass


def test_forward_of_a_run_here_prints_its_address(far):
    folder = far.attached(SLEEPER)
    started = far.tenon.start("submit", "-c", "local", "main.py", cwd=folder)
    started.wait_for("begin")
    assert far.tenon.run("forward", "last", "6006", cwd=folder).ok().out == "http://127.0.0.1:6006/\n"
    far.tenon.run("cancel", "last", "--grace", "1s", cwd=folder).ok()
    over = far.tenon.run("forward", "last", "6006", cwd=folder)
    assert over.code == 3 and "is over" in over.err


def test_ssh_config_lets_other_programs_in_and_has_no_password(far, tmp_path):
    folder = far.attached()
    shown = far.tenon.run("ssh-config", "far", cwd=folder).ok()
    assert "Host far\n" in shown.out and f"Port {far.server.port}" in shown.out
    assert far.user.password not in shown.out + shown.err and "password" in shown.err
    config = tmp_path / "config"
    config.write_text(shown.out)
    # The connection stands since attach, so no password is needed.
    env = {**os.environ, "SSH_ASKPASS_REQUIRE": "never"}
    done = subprocess.run(["ssh", "-F", config, "-o", "BatchMode=yes", "far", "id", "-un"], env=env, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.strip() == far.user.name, done


def test_ssh_config_write_leaves_every_other_byte_alone(far):
    folder = far.attached()
    ssh = far.scratch / "user-home/.ssh"
    ssh.mkdir(mode=0o700, exist_ok=True)
    mine = b"# m\xc3\xadne\r\nHost x\n\tUser y"
    (ssh / "config").write_bytes(mine)
    asked = far.tenon.run("ssh-config", "--write", cwd=folder)
    assert asked.code == 2 and "--yes" in asked.err and (ssh / "config").read_bytes() == mine
    for _ in range(2):
        far.tenon.run("ssh-config", "--write", "--yes", cwd=folder).ok()
        assert (ssh / "config").read_bytes() == b"Include tenon_config\n" + mine
    assert "Host far\n" in (ssh / "tenon_config").read_text()
    assert (ssh / "tenon_config").stat().st_mode & 0o777 == 0o600


def test_exec_takes_the_name_of_a_target_where_there_is_no_such_run(far):
    folder = far.attached()
    done = far.tenon.run("exec", "far", "--", "sh", "-c", "pwd; exit 3", cwd=folder)
    assert (done.code, done.out) == (3, f"{far.user.home}\n"), repr(done)
    wrong = far.tenon.run("exec", "fra", "--", "true", cwd=folder)
    assert wrong.code != 0 and "no run is called fra" in wrong.err, repr(wrong)


# ---- idle ------------------------------------------------------------------------------------


def with_idle(folder, after, command):
    compute = folder / "aml_config/far.compute"
    compute.write_text(compute.read_text().rstrip("\n") + f"\nwhenIdle:\n  after: {after}\n  run: {command}\n")


def test_a_machine_with_another_run_or_a_login_is_not_called_idle(far, quiet):
    go = far.user.home / "go"
    folder = far.attached(waiter(go))
    first = far.start(folder)
    first.wait_for("begin")
    going = far.last(folder)["run_id"]
    (folder / "main.py").write_text("print('short')\n")
    done = far.submit(folder).ok()
    assert "idle since now" not in done.err and f"far is still on: the run {going} goes on" in done.err, repr(done)
    far.user.write("go", "")
    first.wait(60).ok()
    wait_until(lambda: not far.runners(), what="the end of the runner")
    quiet.log_in()
    quiet.use_gpu()
    for words in (("host", "idle", "far"), ("host", "show", "far"), ("host", "list", "--look")):
        told = far.tenon.run(*words, cwd=folder).ok()
        for what in ("GPU 1 is used by process 4711 (python) of ann", "ann is logged in on pts/3 (bash)"):
            assert what in told.out + told.err, repr(told)
    [host] = far.tenon.json("host", "list", "--look", "--json", cwd=folder)
    assert host["idle_since_us"] == 0 and len(host["busy"]) == 2


def test_data_that_is_sent_is_work(far, tmp_path):
    folder = far.attached("print('x')\n")
    far.submit(folder).ok()
    wait_until(lambda: not far.runners(), what="the end of the runner")
    before = far.tenon.json("host", "list", "--look", "--json", cwd=folder)[0]["idle_since_us"]
    (tmp_path / "data").mkdir()
    (tmp_path / "data/file").write_text("x")
    far.tenon.run("data", "put", tmp_path / "data", "-t", "far", cwd=folder).ok()
    assert far.tenon.json("host", "list", "--look", "--json", cwd=folder)[0]["idle_since_us"] > before > 0


def test_an_idle_machine_runs_the_command_of_its_target_and_the_watcher_is_gone(far):
    far.attached()
    # A target's file takes a minute at least; what is remembered of it is not asked.
    [record] = (far.tenon.home / "hosts").glob("*.json")
    known = json.loads(record.read_text())
    record.write_text(json.dumps({**known, "idle_after_us": 3_000_000, "idle_command": f"echo off > {far.user.home}/off"}))
    assert far.tenon.json("host", "idle", "far", "--json")["watching"] is False
    assert far.tenon.json("host", "idle", "far", "--start", "--json")["watching"] is True
    wait_until(lambda: (far.user.home / "off").exists(), 60, "the command of an idle machine")
    wait_until(lambda: not far.tenon.json("host", "idle", "far", "--json")["watching"], 30)
    assert "exit code 0" in far.tenon.run("host", "idle", "far").ok().out


def test_the_watcher_can_be_ended_and_only_exists_when_asked_for(far):
    folder = far.attached()
    none = far.tenon.run("host", "idle", "far", "--start", cwd=folder)
    assert none.code == 2 and "whenIdle" in none.err
    with_idle(folder, "1h", "true")
    far.tenon.run("host", "idle", "far", "--start", cwd=folder).ok()
    text = far.tenon.run("host", "idle", "far", cwd=folder).ok().out
    assert re.search(r"a watcher is there; `true` runs after 1 h idle", text)
    assert far.tenon.json("host", "show", "far", "--json", cwd=folder)["idle_watcher"] is True
    # It can be ended whatever has become of the file.
    compute = folder / "aml_config/far.compute"
    compute.write_text(compute.read_text().replace("  after: 1h\n", ""))
    assert far.tenon.run("host", "idle", "far", "--start", cwd=folder).code == 2
    assert far.tenon.json("host", "idle", "far", "--stop", "--json", cwd=folder)["watching"] is False
    wait_until(lambda: not far.runners(), what="the end of the watcher")


# ---- machines that are detached, moved, no longer watched ---------------------------------------


def known_hosts(far):
    return [json.loads(path.read_text()) for path in (far.tenon.home / "hosts").glob("*.json")]


def test_detach_is_refused_while_runs_go_on_and_a_forced_one_can_be_mended(far):
    folder = far.attached(waiter(far.user.home / "go"))
    other_id, run_id = far.left_going(folder), far.left_going(folder)
    refused = far.tenon.run("computetarget", "detach", "far", "--yes", cwd=folder)
    assert refused.code == 2 and run_id in refused.err and "--force" in refused.err, repr(refused)
    assert (folder / "aml_config/far.compute").exists() and len(known_hosts(far)) == 1
    far.tenon.run("computetarget", "detach", "far", "--yes", "--force", cwd=folder).ok()
    assert known_hosts(far) == []
    lost = far.tenon.run("cancel", run_id, cwd=folder)
    assert lost.code == 3 and "not known here" in lost.err and "runs fetch" in lost.err, repr(lost)
    far.attach(folder).ok()
    assert sorted(far.tenon.json("runs", "fetch", "-t", "far", "--json", cwd=folder)) == sorted([other_id, run_id])
    assert far.tenon.json("runs", "fetch", "-t", "far", "--json", cwd=folder) == []
    far.user.write("go", "")
    for run in (other_id, run_id):
        assert "end" in far.tenon.run("logs", "-f", run, cwd=folder).out
    assert far.last(folder)["status"] == "Completed"
    far.tenon.run("computetarget", "detach", "far", "--yes", cwd=folder).ok()
    assert known_hosts(far) == [] and far.tenon.json("secrets", "list", "-o", "json") == []


def test_a_run_is_found_at_the_new_address_of_a_target_without_a_reference(far):
    folder = far.attached(waiter(far.user.home / "go"))
    compute = folder / "aml_config/far.compute"
    compute.write_text(re.sub(r"(?m)^password: .*$", f"password: {far.user.password}", compute.read_text()))
    far.tenon.run("computetarget", "test", "far", "--accept-host-key", cwd=folder).ok()
    run_id = far.left_going(folder)
    far.tenon.run("computetarget", "update", "far", "--address", "localhost", cwd=folder).ok()
    assert {host["address"] for host in known_hosts(far)} == {"localhost"}
    far.user.write("go", "")
    assert "end" in far.tenon.run("logs", "-f", run_id, cwd=folder).out
    assert far.last(folder)["status"] == "Completed"
    far.tenon.run("computetarget", "test", "far", cwd=folder).ok()


def test_a_name_means_the_machine_that_its_target_leads_to_now(far, tmp_path):
    folder = far.attached()
    far.submit(folder).ok()
    far.user.write("whose.txt", "the first's")
    second = far.server.user()
    second.write("whose.txt", "the second's")
    far.attach(folder, "--force", user=second).ok()
    assert {host["user"] for host in known_hosts(far)} == {far.user.name, second.name}
    for cwd in (folder, tmp_path):  # in the project, and where there is none
        far.tenon.run("cp", "far:whose.txt", tmp_path / "copy", cwd=cwd).ok()
        assert (tmp_path / "copy").read_text() == "the second's"
        (tmp_path / "copy").unlink()
    entries = far.tenon.run("ssh-config", cwd=tmp_path).ok().out
    assert f"User {second.name}" in entries and far.user.name not in entries
    assert "hello" in far.tenon.run("logs", "last", cwd=folder).ok().out  # the first's run is not forgotten


def test_a_target_that_asks_for_no_watcher_any_more_has_none_after_the_next_submit(far):
    folder = far.attached()
    compute = folder / "aml_config/far.compute"
    plain = compute.read_text()
    with_idle(folder, "1h", "echo off")
    far.submit(folder).ok()
    told = far.tenon.json("host", "idle", "far", "--json", cwd=folder)
    assert (told["watching"], told["after_us"], told["command"]) == (True, 3_600_000_000, "echo off")
    # What is said here counts there from the next submit on.
    compute.write_text(plain)
    with_idle(folder, "2h", "echo later")
    assert "`echo off` runs after 1 h idle" in far.tenon.run("host", "idle", "far", cwd=folder).ok().out
    compute.write_text(plain)
    assert far.tenon.json("host", "idle", "far", "--json", cwd=folder)["watching"] is True
    assert far.submit(folder).ok().out == "hello\n"
    assert far.tenon.json("host", "idle", "far", "--json", cwd=folder)["watching"] is False
    wait_until(lambda: not far.runners(), 15, "the end of the watcher")
