# SPDX-License-Identifier: Apache-2.0
"""A canary password is searched for everywhere it could leak to, and found nowhere."""

import base64
import os
import secrets
import subprocess
import threading
import zipfile
from pathlib import Path

import pytest

from e2e.harness import all_below, read_if_there, wait_until
from hosts.link import Proxy, Recorder
from hosts.ssh_runs import waiter

pytestmark = pytest.mark.planned_skip("needs root and openssh-server")


def forms(canary):
    """As it could be written down."""
    data = canary.encode()
    return [data, canary[::-1].encode(), base64.b64encode(data).rstrip(b"="), data.hex().encode(), canary.encode("utf-16-le")]


def holds(data, canary):
    return any(form in data for form in forms(canary))


def search_files(folder, canary):
    """Every file below it, and what is inside of archives."""
    found = []
    for path in all_below(folder):
        if holds(os.fsencode(path.name), canary):
            found.append(f"{path} (name)")
        data = read_if_there(path)
        if holds(data, canary):
            found.append(str(path))
        if data[:4] == b"PK\x03\x04":
            with zipfile.ZipFile(path) as archive:
                found += [f"{path}: {name}" for name in archive.namelist() if holds(archive.read(name), canary)]
    return found


class ProcessWatch:
    """Looks at every command line and environment, again and again, until it is told to stop."""

    def __init__(self, canary):
        self.found = set()
        self.rounds = 0
        self._canary = canary
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()

    def _work(self):
        while not self._stop.is_set():
            self.rounds += 1
            for entry in os.listdir("/proc"):
                if entry.isdigit() and int(entry) != os.getpid():
                    self._look(entry)

    def _look(self, entry):
        for name in ("cmdline", "environ"):
            try:
                with open(f"/proc/{entry}/{name}", "rb") as file:
                    if holds(file.read(), self._canary):
                        with open(f"/proc/{entry}/comm", encoding="utf-8") as comm:
                            self.found.add(f"{name} of {comm.read().strip()}")
            except OSError:
                pass


def test_the_search_finds_what_leaks(tmp_path):
    word = "Canary-" + secrets.token_hex(12)
    (tmp_path / "plain").write_text(f"password: {word}\n")
    (tmp_path / "coded").write_bytes(base64.b64encode(word.encode()))
    with zipfile.ZipFile(tmp_path / "archive.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("inside", word * 3)
    assert len(search_files(tmp_path, word)) == 3
    with subprocess.Popen(["sleep", "60"], env={"PASSWORD": word}) as sleeper, ProcessWatch(word) as watch:
        try:
            wait_until(lambda: watch.found, 30, "the canary in an environment")
        finally:
            sleeper.kill()
    assert watch.found == {"environ of sleep"}


@pytest.fixture
def canary(remote_user):
    word = "Canary-" + secrets.token_hex(12)
    remote_user.set_password(word)
    return word


def test_the_canary_is_nowhere(far, canary, tmp_path):
    """Through attach, runs, a wrong password, every command that writes files, and diagnostics."""
    go = far.user.home / "go"
    with ProcessWatch(canary) as watch:
        folder = far.attached(waiter(go, code=3))
        watcher = far.start(folder)
        watcher.wait_for("begin")
        far.tenon.run("computetarget", "test", "far", cwd=folder).ok()
        texts = [far.tenon.run(*words, cwd=folder, timeout=120) for words in (
            ("computetarget", "show", "-n", "far"), ("computetarget", "list"), ("secrets", "list"), ("ps",), ("host", "list"),
            ("--debug", "status", "last"), ("show", "last"))]
        far.user.write("go", "")
        texts.append(watcher.wait())
        texts.append(far.tenon.run("experiment", "diagnostics", "-r", "last", "-t", "far", cwd=folder))
        far.tenon.cleanup()  # the kept connection
        texts.append(far.attach(folder, "--force", password=canary + "x"))
        assert texts[-1].code == 5
        shown = far.tenon.run("show", "last", "-o", "json", cwd=folder).ok()
    assert watch.rounds > 3 and not watch.found
    assert not [t for t in [*texts, shown] if holds(t.out_bytes + t.err_bytes, canary)]
    assert not search_files(far.scratch, canary), "on the client"
    assert not search_files(far.user.home, canary), "on the host"
    assert not search_files(far.server.folder, canary), "in the server's log"
    assert (folder / "diagnostics.zip").exists()


def test_a_password_on_the_command_line_works_and_warns(far, canary):
    folder = far.project("print('ran')\n")
    done = far.tenon.run("computetarget", "attach", "remote", "-n", "far", "-a", "127.0.0.1", "--port", str(far.server.port), "-u",
                         far.user.name, "--password", canary, "--accept-host-key", "--framework", "Python", cwd=folder).ok()
    assert "--password-stdin" in done.err and not holds(done.out_bytes + done.err_bytes, canary)
    with ProcessWatch(canary) as watch:
        assert far.submit(folder).ok().out == "ran\n"
    assert watch.rounds > 0 and not watch.found
    assert not search_files(far.scratch, canary)


def test_nothing_of_it_reaches_a_machine_with_another_host_key(far, canary, sshd_with):
    """After attach the address leads to another machine, which would gladly take any password."""
    other = sshd_with()
    folder = far.attached("print('ran')\n")
    far.tenon.cleanup()  # the kept connection
    with Proxy(other.port) as link:
        text = (folder / "aml_config/far.compute").read_text()
        assert str(far.server.port) in text
        (folder / "aml_config/far.compute").write_text(text.replace(str(far.server.port), str(link.port)))
        done = far.submit(folder)
        assert link.connections >= 1, repr(done)
    assert done.code == 125 and "host key" in done.err, repr(done)
    assert "password" not in other.methods_tried() and "keyboard-interactive" not in other.methods_tried()
    assert not holds(other.log.encode(), canary)


def test_nothing_of_it_reaches_a_server_that_is_no_ssh_server(far, canary):
    folder = far.attached()
    far.tenon.cleanup()
    with Recorder() as nobody:
        text = (folder / "aml_config/far.compute").read_text()
        (folder / "aml_config/far.compute").write_text(text.replace(str(far.server.port), str(nobody.port)))
        done = far.submit(folder)
        assert done.code == 125, repr(done)
        assert nobody.bytes and not holds(nobody.bytes, canary)
