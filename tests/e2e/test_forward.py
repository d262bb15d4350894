# SPDX-License-Identifier: Apache-2.0
"""`tenon forward`: however it ends nothing of it is left, and whatever the server forbids its port works or says why not."""

import contextlib
import os
import signal
import socket
import subprocess
import termios
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from e2e import forwards
from e2e.harness import wait_until
from hosts.sshd import free_port, make_key

pytestmark = pytest.mark.planned_skip("needs root and openssh-server, with containers docker.io and debootstrap")
ENDS = [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGKILL]


def get(port):
    """None: nobody answers."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=10) as answer:
            return answer.read()
    except (OSError, urllib.error.URLError):
        return None


def listens(port):
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 5):
        return True
    return False


def wait_closed(port):
    """The system closes what a process had while that one is waited for, or a moment later."""
    wait_until(lambda: not listens(port), what=f"the end of port {port}")


def words_of(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return []


def dials(uid=None):
    """Processes that pass a connection on, ours or the user's there."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit() and b"dial" in words_of(entry):
            with contextlib.suppress(OSError):
                if uid is None or os.stat(f"/proc/{entry}").st_uid == uid:
                    found.append(int(entry))
    return found


@contextlib.contextmanager
def site(far, port):
    """A page that says "there", on the host."""
    far.user.write("site/index.html", "there")
    words = ["/usr/bin/python3", "-m", "http.server", "-b", "127.0.0.1", "-d", far.user.home / "site", str(port)]
    server = subprocess.Popen([*far.user.prefix(), *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: listens(port), what="the page")
        yield
    finally:
        server.kill()
        server.wait()


@pytest.mark.parametrize("how", ENDS, ids=lambda s: s.name)
def test_a_forward_that_ends_leaves_no_port(far, how):
    folder = far.attached()
    port, local = free_port(), free_port()
    with site(far, port):
        forward = far.tenon.start("forward", "-t", "far", f"{port}:{local}", cwd=folder)
        forward.wait_for(f"http://127.0.0.1:{local}/")
        assert get(local) == b"there"
        with socket.create_connection(("127.0.0.1", local), 10) as held:  # a connection that stands
            held.sendall(b"GET / HTTP/1.1\r\n")
            wait_until(lambda: dials(far.user.uid), what="the connection there")
            forward.send(how)
            ended = forward.wait()
            assert ended.code == (0 if how == signal.SIGINT else 128 + how), repr(ended)
            wait_closed(local)
            held.settimeout(20)
            with contextlib.suppress(ConnectionResetError):
                assert held.recv(1) == b""
        wait_until(lambda: not dials(far.user.uid), what="the end of what passed it on")


@pytest.mark.parametrize("nohup", [False, True], ids=["plain", "nohup"])
def test_a_forward_whose_terminal_is_closed_leaves_no_port(far, nohup):
    folder = far.attached()
    port, local = free_port(), free_port()
    with site(far, port):
        pid, terminal = os.forkpty()
        if pid == 0:
            if nohup:
                signal.signal(signal.SIGHUP, signal.SIG_IGN)
            os.chdir(folder)
            os.execve(far.tenon.binary, ["tenon", "forward", "-t", "far", f"{port}:{local}"], far.tenon.env())
        attributes = termios.tcgetattr(terminal)
        termios.tcsetattr(terminal, termios.TCSANOW, attributes)
        wait_until(lambda: get(local) == b"there", 60, "the page")
        os.close(terminal)
        if nohup:  # asked to outlive it
            assert get(local) == b"there"
            os.kill(pid, signal.SIGTERM)
        os.waitpid(pid, 0)
        wait_closed(local)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL], ids=lambda s: s.name)
def test_a_forward_into_a_container_that_ends_leaves_no_port(runs, how):
    folder = runs.project(forwards.SERVER)
    watcher = runs.start(folder)
    watcher.wait_for("begin", timeout=120)
    runs.tenon.run("exec", "last", "--", "touch", "listen", cwd=folder).ok()
    local = free_port()
    forward = runs.tenon.start("forward", "last", f"{forwards.PORT}:{local}", cwd=folder)
    forward.wait_for(f"http://127.0.0.1:{local}/", timeout=60)
    wait_until(lambda: forwards.ask(local), what="the server inside")
    forward.send(how)
    assert forward.wait().code == 128 + how
    wait_closed(local)
    runs.tenon.run("cancel", "last", "--grace", "1s", cwd=folder).ok()
    watcher.wait()


def forwards_a_page(far, folder):
    port, local = free_port(), free_port()
    with site(far, port):
        forward = far.tenon.start("forward", "-t", "far", f"{port}:{local}", cwd=folder)
        forward.wait_for(f"http://127.0.0.1:{local}/")
        assert get(local) == b"there"
        forward.send(signal.SIGINT)
        assert forward.wait().code == 0


@pytest.mark.parametrize("options", [{"AllowTcpForwarding": "no"}, {"PermitOpen": "none"}, {"DisableForwarding": "yes"},
                                     {"PermitOpen": "127.0.0.1:9"}],
                         ids=["AllowTcpForwarding", "PermitOpen", "DisableForwarding", "another-port"])
def test_a_server_that_forbids_forwarding_is_no_hindrance(far_on, sshd_with, options):
    far = far_on(sshd_with(**options))
    forwards_a_page(far, far.attached())


def test_a_key_without_forwarding_is_no_hindrance(far_on, sshd, tmp_path):
    user = sshd.user()
    public = make_key(tmp_path / "key")
    user.authorize("no-port-forwarding,no-X11-forwarding,no-agent-forwarding " + public)
    far = far_on(sshd, user)
    folder = far.project()
    far.tenon.run("computetarget", "attach", "remote", "-n", "far", "-a", "127.0.0.1", "--port", sshd.port, "-u", user.name,
                  "--private-key-file", tmp_path / "key", "--framework", "Python", "--host-key", sshd.fingerprint, cwd=folder).ok()
    forwards_a_page(far, folder)


def test_a_port_on_which_nobody_listens_is_said(far):
    folder = far.attached()
    local = free_port()
    forward = far.tenon.start("forward", "-t", "far", f"{free_port()}:{local}", cwd=folder)
    forward.wait_for(f"http://127.0.0.1:{local}/")
    assert get(local) is None
    wait_until(lambda: "nothing listens" in forward.err, what="the word about nobody listening")
    forward.send(signal.SIGINT)
    assert forward.wait().code == 0


def test_two_forwards_of_one_port_at_once_get_a_port_each(far):
    """Until one of them listens a port is nobody's."""
    folder = far.attached()
    port = str(free_port())
    both = [far.tenon.start("forward", "-t", "far", port, cwd=folder) for _ in range(2)]
    for forward in both:
        forward.wait_for("http://127.0.0.1:")
    taken = [forward.out.split(":")[2].strip("/\n") for forward in both]
    assert port in taken and taken[0] != taken[1], taken
    for forward in both:
        forward.send(signal.SIGINT)
        assert forward.wait().code == 0
