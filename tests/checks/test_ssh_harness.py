# SPDX-License-Identifier: Apache-2.0
"""The servers and links of the tests with other machines do what the tests believe they do."""

import os
import pwd
import socket
import subprocess
import threading
import time

import pytest

from hosts import sshd
from hosts.link import Proxy, Recorder

needs_root = pytest.mark.planned_skip("needs root and openssh-server")


@pytest.fixture
def server():
    try:
        with sshd.Sshd() as made:
            yield made
    except sshd.Unusable as why:
        pytest.skip(str(why))


@pytest.fixture
def echo():
    """A port that answers every byte with itself."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve(link):
        with link:
            try:
                while piece := link.recv(65536):
                    link.sendall(piece)
            except OSError:
                pass

    def work():
        try:
            while True:
                threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
        except OSError:
            pass

    threading.Thread(target=work, daemon=True).start()
    yield listener.getsockname()[1]
    listener.close()


def said(port, text=b"hello", timeout=5):
    with socket.create_connection(("127.0.0.1", port), timeout) as link:
        link.sendall(text)
        return link.recv(100)


@needs_root
def test_a_password_is_good_once_it_is_right_and_users_leave_nothing(server):
    user = server.user()
    words = ["sshpass", "-e", "ssh", "-F", "none", "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o",
             "NumberOfPasswordPrompts=1", "-p", str(server.port), f"{user.name}@127.0.0.1", "pwd"]
    good = subprocess.run(words, env=dict(os.environ, SSHPASS=user.password), capture_output=True, check=False)
    assert good.stdout.decode().strip() == str(user.home)
    bad = subprocess.run(words, env=dict(os.environ, SSHPASS="wrong"), capture_output=True, check=False)
    assert bad.returncode != 0
    assert (server.logins(), server.failed_passwords()) == (1, 1)
    folder = server.folder
    server.close()
    assert not folder.exists()
    with pytest.raises(KeyError):
        pwd.getpwnam(user.name)


@needs_root
def test_users_of_tests_that_were_killed_are_swept(server):
    with subprocess.Popen(["true"]) as gone:
        gone.wait()
    name = f"tenon-t{gone.pid}-1"
    home = server.folder / "other"
    assert sshd._run("useradd", "-M", "-d", home, name).returncode == 0
    sshd.sweep()
    with pytest.raises(KeyError):
        pwd.getpwnam(name)


@needs_root
def test_restart_drops_connections_and_leaves_what_runs(server, tmp_path):
    user, key = server.user(), tmp_path / "key"
    user.authorize(sshd.make_key(key))
    with subprocess.Popen([*server.ssh(user, key), "setsid sleep 300 & echo up; sleep 300"], stdout=subprocess.PIPE) as link:
        assert link.stdout.readline() == b"up\n"
        server.restart()
        assert link.wait(20) == 255
    assert user.processes()
    before = user.run("cat", "/proc/sys/kernel/random/boot_id")
    server.reboot()
    assert not user.processes()
    after = subprocess.run([*server.ssh(user, key), "cat /proc/sys/kernel/random/boot_id"], capture_output=True, text=True, check=True)
    assert len(after.stdout) == len(before) and after.stdout != before


def test_the_proxy_counts_turns_and_bytes(echo):
    with Proxy(echo) as proxy:
        with socket.create_connection(("127.0.0.1", proxy.port), 5) as link:
            for text in (b"one", b"three"):
                link.sendall(text)
                assert link.recv(100) == text
        assert (proxy.turns, proxy.sent, proxy.received, proxy.connections) == (2, 8, 8, 1)


def test_the_proxy_delays_each_way(echo):
    with Proxy(echo) as proxy:
        proxy.delay = 0.1
        started = time.monotonic()
        assert said(proxy.port) == b"hello"
        assert time.monotonic() - started >= 0.2


def test_the_proxy_cuts_and_goes_silent(echo):
    with Proxy(echo) as proxy:
        with socket.create_connection(("127.0.0.1", proxy.port), 5) as link:
            link.sendall(b"x")
            assert link.recv(1) == b"x"
            assert proxy.cut() == 1
            with pytest.raises(ConnectionResetError):
                link.recv(1)
        proxy.silent = True
        with pytest.raises(TimeoutError):
            said(proxy.port, timeout=0.3)
        proxy.silent = False
        assert said(proxy.port) == b"hello"


def test_the_proxy_cuts_after_so_many_bytes(echo):
    with Proxy(echo) as proxy:
        proxy.cut_after = 1000
        assert said(proxy.port) == b"hello"
        with socket.create_connection(("127.0.0.1", proxy.port), 5) as link, pytest.raises(OSError):
            link.sendall(bytes(5000))
            while link.recv(65536):
                pass
            raise OSError("ended")
        assert proxy.cuts == 1


def test_the_recorder_keeps_every_byte():
    with Recorder(b"hi\n") as nobody:
        assert said(nobody.port, b"secret") == b"hi\n"
        deadline = time.monotonic() + 5
        while nobody.bytes != b"secret" and time.monotonic() < deadline:
            time.sleep(0.01)
        assert nobody.bytes == b"secret"
