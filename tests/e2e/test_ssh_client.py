# SPDX-License-Identifier: Apache-2.0
"""This side has the OpenSSH client of 2017: askpass only with a display and without a terminal, none of the settings that came
later, and a remark on every setting of the system's configuration that its build has no use for."""

import os
import shutil

import pytest

from hosts.link import Proxy
from hosts.sshd import make_key

pytestmark = pytest.mark.planned_skip("needs root, openssh-server and openssh-client-ssh1")

COUNTS = "import time\nfor i in range(2000): print(i, flush=True); time.sleep(0.001)\n"


@pytest.fixture(autouse=True)
def old_client(tmp_path, monkeypatch):
    program = shutil.which("ssh1")
    if program is None:
        pytest.skip("no ssh1, the older client that Debian keeps")
    folder = tmp_path / "programs"
    folder.mkdir()
    (folder / "ssh").symlink_to(program)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


def test_a_whole_run_over_one_login(far, sshd):
    folder = far.attached("open('outputs/model.txt', 'w').write('model')\nprint('hello')\n")
    done = far.submit(folder).ok()
    assert done.out == "hello\n" and "nsupported" not in done.err, repr(done)
    assert "outputs/model.txt" in far.last(folder)["attachments"]
    assert sshd.logins() == 1 and sshd.failed_passwords() == 0


def test_the_password_is_given_beside_a_terminal_too(far, sshd):
    folder = far.attached()
    far.tenon.cleanup()  # the kept connection
    assert far.tenon.pty("computetarget", "test", "far", cwd=folder).code == 0
    assert sshd.logins() == 2


def test_a_wrong_password_is_one_try(far, sshd):
    done = far.attach(far.project(), password="Wrong-" + far.user.password)
    assert done.code == 5 and "with the right password" in done.err, repr(done)
    assert sshd.failed_passwords() == 1


def test_a_key_with_a_passphrase(far, sshd, tmp_path):
    folder = far.project("print('ran')\n")
    far.user.authorize(make_key(tmp_path / "id", passphrase="open sesame"))
    far.tenon.run("computetarget", "attach", "remote", "-n", "far", "-a", "127.0.0.1", "--port", sshd.port, "-u", far.user.name,
                  "--private-key-file", tmp_path / "id", "--private-key-passphrase", "open sesame", "--host-key", sshd.fingerprint,
                  "--framework", "Python", cwd=folder).ok()
    far.tenon.cleanup()
    assert far.submit(folder).ok().out == "ran\n"
    assert sshd.count("Accepted publickey") == 2


def test_a_host_key_that_changed_is_refused(far, sshd):
    folder = far.attached()
    far.tenon.cleanup()
    sshd.change_host_key()
    done = far.tenon.run("computetarget", "test", "far", cwd=folder)
    assert done.code == 5 and "another host key" in done.err, repr(done)
    assert sshd.logins() == 1 and sshd.failed_passwords() == 0


def test_a_lost_link_loses_nothing(far_on, sshd):
    with Proxy(sshd.port) as link:
        far = far_on(sshd, port=link.port)
        folder = far.attached(COUNTS)
        watcher = far.start(folder)
        for seen in ("10", "500", "1000"):
            watcher.wait_for(f"{seen}\n")
            link.cut()
        done = watcher.wait()
        assert (done.code, done.out) == (0, "".join(f"{i}\n" for i in range(2000))), repr(done)
        assert "the run goes on" in done.err
        far.tenon.cleanup()


def test_a_server_that_is_not_there_is_called_so(far, sshd):
    sshd.stop()
    done = far.attach(far.project())
    assert done.code == 4 and "no SSH server answers" in done.err, repr(done)
