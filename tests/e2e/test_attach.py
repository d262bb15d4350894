# SPDX-License-Identifier: Apache-2.0
"""Attaching a machine over SSH: nothing secret leaves before the host key is agreed to, a login that fails leaves nothing behind."""

import json
import os
import re
import shutil
import socket
import threading
import time
from pathlib import Path

import pytest

from e2e.harness import all_below, read_if_there
from hosts import sshd as sshds

pytestmark = pytest.mark.planned_skip("needs root and openssh-server")
CANARY = "Canary-Kanarienvogel-77"
REFERENCE = re.compile(r"password: AzureMlSecret=far#([\w-]+)#([0-9a-f]{32})\n")
FILES = ["aml_config/far.compute", "aml_config/far.runconfig"]


@pytest.fixture
def folder(project):
    return project("print(1)\n")


@pytest.fixture
def user(sshd):
    return sshd.user(password=CANARY)


def words(server, user, *more, kind="remote"):
    return ["computetarget", "attach", kind, "-n", "far", "-a", "127.0.0.1", "--port", server.port, "-u", user.name, *more]


def attach(tenon, folder, server, user, *more, password=CANARY, **how):
    return tenon.run(*words(server, user, "--password-stdin", *more), cwd=folder, stdin=password.encode() + b"\n", **how)


def find_canary(*places, canary=CANARY.encode()):
    """Files below the places that hold it."""
    found = []
    for place in places:
        found += [path for path in all_below(place) if canary in read_if_there(path)]
    return found


def nothing_written(folder, tenon):
    return not any((folder / f).exists() for f in FILES) and not list(Path(tenon.home).glob("hosts/*")) \
        and not list(Path(tenon.home).glob("keys/*"))


# ---- the usual way ---------------------------------------------------------------------------------


def test_attach_with_a_password_writes_two_files_and_shows_the_machine(tenon, folder, sshd, user):
    done = attach(tenon, folder, sshd, user, "--host-key", sshd.fingerprint).ok()
    compute = (folder / FILES[0]).read_text()
    assert REFERENCE.search(compute).group(1) == user.name
    assert "address: 127.0.0.1\n" in compute and f"port: {sshd.port}\n" in compute
    assert "PrepareEnvironment: true\n" in (folder / FILES[1]).read_text()
    assert done.out.endswith("wrote aml_config/far.compute\nwrote aml_config/far.runconfig\n")
    assert "/bin/bash" in done.out and os.uname().machine in done.out
    assert "the password is stored: encrypted" in done.err
    assert CANARY not in done.out + done.err
    assert not find_canary(folder, tenon.home)
    assert tenon.run("computetarget", "test", "far", cwd=folder).ok().out
    table = tenon.run("computetarget", "list", cwd=folder).ok().out
    assert re.search(rf"far\s+remote\s+127\.0\.0\.1:{sshd.port}\s+pinned", table), table


def test_json_has_the_facts_but_no_value_of_the_login_environment(tenon, folder, sshd, user):
    user.write(".bash_profile", "export SECRET_TOKEN=tok-1234567\n")
    done = attach(tenon, folder, sshd, user, "--accept-host-key", "-o", "json").ok()
    answer = done.json()
    assert answer["files"] == FILES and answer["checked"] is True
    assert answer["host_key"]["fingerprint"] == sshd.fingerprint
    assert answer["host"]["machine"] == os.uname().machine
    assert "SECRET_TOKEN" in answer["host"]["login_environment_names"]
    assert "tok-1234567" not in done.out
    shown = tenon.json("computetarget", "show", "far", "-o", "json", cwd=folder)
    assert shown["settings"]["port"] == sshd.port
    assert shown["host_key"]["fingerprint"] == sshd.fingerprint


def test_tsv_of_a_target_is_rows_only(tenon, folder, sshd, user):
    attach(tenon, folder, sshd, user, "--accept-host-key").ok()
    assert "\nhost " in tenon.run("computetarget", "show", "far", cwd=folder).ok().out
    rows = tenon.run("computetarget", "show", "far", "-o", "tsv", cwd=folder).ok().out.splitlines()
    assert rows and all(row.count("\t") == 2 for row in rows), rows


def test_a_port_behind_the_address_is_a_key_of_its_own(tenon, folder, sshd, user):
    tenon.run("computetarget", "attach", "remote", "-n", "far", "-a", f"127.0.0.1:{sshd.port}", "-u", user.name, "--password-stdin",
              "--accept-host-key", cwd=folder, stdin=CANARY.encode()).ok()
    compute = (folder / FILES[0]).read_text()
    assert "address: 127.0.0.1\n" in compute and f"port: {sshd.port}\n" in compute


def test_a_password_on_the_command_line_works_warns_and_is_gone_from_the_process_list(tenon, folder, sshd, user):
    seen = []
    stop = threading.Event()

    def watch():
        # From the moment our program runs it has overwritten its words; a shell or exec before that is not ours.
        while not stop.is_set():
            for pid in tenon.processes():
                try:
                    text = Path(f"/proc/{pid}/cmdline").read_bytes()
                    if CANARY.encode() in text or CANARY.encode() in Path(f"/proc/{pid}/environ").read_bytes():
                        seen.append((time.monotonic(), text))
                except OSError:
                    continue
            time.sleep(0.005)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        done = tenon.run(*words(sshd, user, "-w", CANARY, "--accept-host-key"), cwd=folder).ok()
    finally:
        stop.set()
        watcher.join()
    assert "warning: a secret on the command line" in done.err
    assert CANARY not in done.out + done.err
    assert not seen or seen[-1][0] - seen[0][0] < 5, seen
    assert all(b"ssh\0" not in text for _, text in seen)
    assert not find_canary(folder, tenon.home)


def test_with_a_terminal_the_key_is_shown_then_the_password_asked_for(tenon, folder, sshd, user):
    typed = type_answers(tenon, words(sshd, user), folder, [("[y/N]", b"y\n"), ("password:", CANARY.encode() + b"\n")])
    assert typed.code == 0, repr(typed)
    assert typed.out.index(sshd.fingerprint) < typed.out.index("password:")
    assert CANARY not in typed.out
    assert (folder / FILES[0]).exists()
    # It was stored: the next time nobody is asked.
    tenon.run("computetarget", "test", "far", cwd=folder).ok()


def type_answers(tenon, args, folder, answers):
    """Answers one question after the other in a terminal."""
    script = folder.parent / "expect.py"
    script.write_text(f"""
import os, pty, select, sys, time
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
answers = {answers!r}
seen, new = b"", b""
deadline = time.monotonic() + 60
while time.monotonic() < deadline:
    if answers and answers[0][0].encode() in new:
        os.write(fd, answers.pop(0)[1])
        new = b""
    if not select.select([fd], [], [], 1)[0]:
        continue
    try:
        piece = os.read(fd, 65536)
    except OSError:
        break
    if not piece:
        break
    seen += piece
    new += piece
sys.stdout.buffer.write(seen)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
""")
    return tenon.run(*args, cwd=folder, prefix=["python3", script], timeout=90)


def test_a_no_at_the_terminal_sends_nothing(tenon, folder, sshd, user):
    said = tenon.pty(*words(sshd, user), cwd=folder, keys=b"n\n", when="[y/N]")
    assert said.code == 5, repr(said)
    assert nothing_written(folder, tenon)
    assert set(sshd.methods_tried()) <= {"none"}


# ---- refusals ----------------------------------------------------------------------------------------


def test_without_a_terminal_and_an_agreement_nothing_is_sent(tenon, folder, sshd, user):
    done = attach(tenon, folder, sshd, user)
    assert done.code == 5, repr(done)
    assert f"--host-key {sshd.fingerprint}" in done.err
    assert nothing_written(folder, tenon)
    assert set(sshd.methods_tried()) <= {"none"}


def test_a_host_key_other_than_the_one_named_gets_nothing(tenon, folder, sshd, user):
    other = "SHA256:" + "A" * 43
    done = attach(tenon, folder, sshd, user, "--host-key", other)
    assert done.code == 5 and sshd.fingerprint in done.err, repr(done)
    assert nothing_written(folder, tenon)
    assert set(sshd.methods_tried()) <= {"none"}
    assert tenon.run(*words(sshd, user, "--host-key", "nonsense", "--password-stdin"), cwd=folder, stdin=b"x\n").code == 2


@pytest.mark.parametrize("kind", ["ecdsa", "rsa"])
def test_any_of_the_machines_host_keys_may_be_named(tenon, folder, sshd_with, kind):
    server = sshd_with(host_keys=("ed25519", "ecdsa", "rsa"))
    user = server.user(password=CANARY)
    named = sshds.fingerprint(server.folder / f"host_{kind}.pub")
    done = attach(tenon, folder, server, user, "--host-key", named, "-o", "json").ok()
    assert json.loads(done.out)["host_key"]["fingerprint"] == named
    tenon.cleanup()  # the kept connection
    tenon.run("computetarget", "test", "far", cwd=folder).ok()
    attach(tenon, folder, server, user, "--host-key", named, "--force").ok()
    hosts = json.loads(tenon.run("host", "list", "-o", "json", cwd=folder).ok().out)
    assert len(hosts) == 1, hosts  # the same machine as before


def test_a_key_that_changes_between_look_and_login_gets_nothing(tenon, folder, sshd, sshd_with, user, ssh_config, tmp_path):
    """After the look, ssh is led to another server that has the same user."""
    other = sshd_with()
    env = ssh_config(f"Match exec \"test -e {tmp_path}/looked\"\n Port {other.port}\nHost *\n Port {sshd.port}\n")
    wrapper = tmp_path / "programs/ssh"
    note = f'case "$*" in *PreferredAuthentications=none*) trap "touch {tmp_path}/looked" 0;; esac\n'
    wrapper.write_text(wrapper.read_text().replace("exec ", note))
    done = tenon.run("computetarget", "attach", "remote", "-n", "far", "-a", "127.0.0.1", "-u", user.name, "--password-stdin",
                     "--host-key", sshd.fingerprint, cwd=folder, env=env, stdin=CANARY.encode())
    assert done.code == 5 and "another host key" in done.err, repr(done)
    assert (tmp_path / "looked").exists() and other.count("Connection from") >= 1
    assert not other.methods_tried() and nothing_written(folder, tenon)


def test_a_key_that_changed_since_is_refused_until_it_is_agreed_to(tenon, folder, sshd, user):
    attach(tenon, folder, sshd, user, "--host-key", sshd.fingerprint).ok()
    tenon.cleanup()  # the kept connection
    sshd.change_host_key()
    done = tenon.run("computetarget", "test", "far", cwd=folder)
    assert done.code == 5 and "another host key" in done.err, repr(done)
    assert "--accept-host-key" in done.err
    assert sshd.count("Accepted password") == 1 and sshd.failed_passwords() == 0
    tenon.run("computetarget", "test", "far", "--accept-host-key", cwd=folder).ok()


def test_a_wrong_password_is_one_try_and_leaves_nothing(tenon, folder, sshd, user):
    done = attach(tenon, folder, sshd, user, "--accept-host-key", password="wrong")
    assert done.code == 5, repr(done)
    assert "password" in done.err and "wrong" not in done.err.replace("is wrong", ""), done.err
    assert sshd.failed_passwords() == 1, sshd.log
    assert nothing_written(folder, tenon)
    assert tenon.json("secrets", "list", "-o", "json") == []


def test_a_login_that_is_denied_says_how_to_attach_again(tenon, folder, sshd, user):
    wrong = attach(tenon, folder, sshd, user, "--accept-host-key", password="wrong")
    missing = tenon.run(*words(sshd, user, "--accept-host-key"), cwd=folder)
    for done in (wrong, missing):
        assert done.code == 5 and "attach again with the right password (`--password-stdin`), or with `-k`" in done.err, repr(done)
        assert "secrets set" not in done.err
    own = attach(tenon, folder, sshd, user, "-k", "--yes", "--accept-host-key", password="wrong")
    assert own.code == 5 and "or with none and append the key yourself" in own.err, repr(own)
    # There is another one for a key that is not agreed to.
    assert "attach again" not in attach(tenon, folder, sshd, user).err


@pytest.mark.parametrize("pam", ["keyboard-interactive,password", "keyboard-interactive"])
def test_a_wrong_password_is_one_try_with_pam_too(tenon, folder, sshd_with, pam):
    if not os.path.exists("/etc/pam.d/sshd"):
        pytest.skip("no PAM for sshd here")
    server = sshd_with(UsePAM="yes", KbdInteractiveAuthentication="yes",
                       PasswordAuthentication="yes" if "," in pam else "no")
    user = server.user(password=CANARY)
    done = attach(tenon, folder, server, user, "--accept-host-key", password="wrong")
    assert done.code == 5, repr(done)
    tries = server.count("Failed password for") + server.count("Failed keyboard-interactive/pam for")
    assert tries <= 1, server.log
    attach(tenon, folder, server, user, "--accept-host-key").ok()


def test_nobody_there_is_exit_code_4(tenon, folder, sshd, user):
    sshd.stop()
    done = attach(tenon, folder, sshd, user, "--accept-host-key")
    assert done.code == 4 and "no SSH server answers" in done.err, repr(done)
    assert nothing_written(folder, tenon)


def test_a_server_with_another_purpose_gets_no_byte_of_the_password(tenon, folder, user):
    """A TCP server that takes whatever comes."""
    got = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        def serve():
            while True:
                try:
                    link, _ = server.accept()
                except OSError:
                    return
                with link:
                    link.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                    link.settimeout(2)
                    try:
                        while data := link.recv(4096):
                            got.append(data)
                    except OSError:
                        pass
        threading.Thread(target=serve, daemon=True).start()
        done = tenon.run("computetarget", "attach", "remote", "-n", "far", "-a", "127.0.0.1", "--port", server.getsockname()[1], "-u",
                         user.name, "--password-stdin", "--accept-host-key", cwd=folder, stdin=CANARY.encode())
    assert done.code in (4, 5), repr(done)
    assert CANARY.encode() not in b"".join(got)
    assert nothing_written(folder, tenon)


def test_bad_words_contact_nobody(tenon, folder, sshd, user):
    for more, text in [
            (["-a", "-oProxyCommand=touch pwned"], "not the address"), (["-a", "h:x"], "port"),
            (["-a", f"127.0.0.1:{sshd.port + 1 if sshd.port < 65535 else 1}", "--port", str(sshd.port)], "two ports"),
            (["-a", "127.0.0.1", "-u", "-x"], "name of a user"),
            (["-a", "127.0.0.1", "-u", user.name, "--private-key-file", "none"], "none")]:
        done = tenon.run("computetarget", "attach", "remote", "-n", "far", *more, cwd=folder)
        assert done.code in (2, 3) and text in done.err, repr(done)
    before = sshd.count("Connection from")
    (folder / FILES[0]).write_text("type: local\n")
    done = attach(tenon, folder, sshd, user, "--accept-host-key")
    assert done.code == 2 and "there is such a file already" in done.err
    assert sshd.count("Connection from") == before
    assert not (folder / "pwned").exists()


def test_no_check_contacts_nobody_and_keeps_the_password(tenon, folder, sshd, user):
    before = sshd.count("Connection from")
    attach(tenon, folder, sshd, user, "--no-check").ok()
    assert sshd.count("Connection from") == before
    assert (folder / FILES[0]).exists() and not find_canary(folder, tenon.home)
    done = tenon.run("computetarget", "test", "far", cwd=folder)
    assert done.code == 5 and sshd.fingerprint in done.err
    tenon.run("computetarget", "test", "far", "--host-key", sshd.fingerprint, cwd=folder).ok()


# ---- keys --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("passphrase", ["", "open sesame"])
def test_a_private_key_file(tenon, folder, sshd, user, tmp_path, passphrase):
    user.authorize(sshds.make_key(tmp_path / "id", passphrase=passphrase))
    more = ["--private-key-passphrase", passphrase] if passphrase else []
    done = tenon.run(*words(sshd, user, "--private-key-file", "../id", "--accept-host-key", *more), cwd=folder).ok()
    assert "open sesame" not in done.out + done.err
    assert not find_canary(folder, tenon.home, canary=b"open sesame")
    assert sshd.count("Accepted publickey") >= 1
    tenon.cleanup()
    tenon.run("computetarget", "test", "far", cwd=folder).ok()


def test_a_wrong_passphrase_and_a_missing_one(tenon, folder, sshd, user, tmp_path):
    user.authorize(sshds.make_key(tmp_path / "id", passphrase="open sesame"))
    for more in (["--private-key-passphrase", "wrong one"], []):
        done = tenon.run(*words(sshd, user, "--private-key-file", tmp_path / "id", "--accept-host-key", *more), cwd=folder)
        assert done.code == 5, repr(done)
        assert nothing_written(folder, tenon)


def test_a_key_of_our_own_is_put_there_with_the_password(tenon, folder, sshd, user):
    user.write(".ssh/authorized_keys", "# mine, without a line end", 0o644)
    done = attach(tenon, folder, sshd, user, "-k", "--yes", "--accept-host-key").ok()
    lines = (user.home / ".ssh/authorized_keys").read_text().splitlines()
    assert lines[0] == "# mine, without a line end" and lines[1].startswith("ssh-ed25519 ") and len(lines) == 2
    assert (user.home / ".ssh/authorized_keys").stat().st_mode & 0o777 == 0o600
    key = next(p for p in Path(tenon.home, "keys").iterdir() if p.suffix != ".pub")
    assert key.stat().st_mode & 0o777 == 0o600
    assert tenon.json("secrets", "list", "-o", "json") == []  # the password was for this alone
    assert sshd.count("Accepted publickey") >= 1, done.err
    # Once more: the line is there once.
    attach(tenon, folder, sshd, user, "-k", "--yes", "--accept-host-key", "--force").ok()
    assert len((user.home / ".ssh/authorized_keys").read_text().splitlines()) == 2


def test_a_key_of_our_own_without_a_password_prints_the_line(tenon, folder, sshd, user):
    done = tenon.run(*words(sshd, user, "-k", "--accept-host-key"), cwd=folder).ok()
    line = next(part for part in done.out.splitlines() if part.startswith("ssh-ed25519 "))
    assert ">> ~/.ssh/authorized_keys" in done.err
    unknown = tenon.run("computetarget", "test", "far", cwd=folder)
    assert unknown.code == 5 and "does not know the key of this target yet" in unknown.err and line in unknown.err, repr(unknown)
    assert "keyring" not in unknown.err and "secrets set" not in unknown.err
    user.authorize(line)
    tenon.run("computetarget", "test", "far", cwd=folder).ok()


def test_json_of_a_key_of_our_own_has_the_line(tenon, folder, sshd, user):
    done = tenon.run(*words(sshd, user, "-k", "--accept-host-key", "-o", "json"), cwd=folder).ok()
    answer = done.json()
    assert answer["checked"] is False and answer["public_key"].startswith("ssh-ed25519 ")
    assert f"{answer['public_key']}\n" in done.err
    user.authorize(answer["public_key"])
    tenon.run("computetarget", "test", "far", cwd=folder).ok()


# ---- ways ------------------------------------------------------------------------------------------


def test_an_alias_of_the_configuration_says_who_and_where(tenon, folder, sshd, user, ssh_config, tmp_path):
    user.authorize(sshds.make_key(tmp_path / "id"))
    env = ssh_config(f"Host gpu\n HostName 127.0.0.1\n Port {sshd.port}\n User {user.name}\n IdentityFile {tmp_path}/id\n"
                     " RemoteCommand echo hijacked\n RequestTTY yes\n LocalForward 1 localhost:1\n ControlPath /nowhere/x\n")
    tenon.run("computetarget", "attach", "remote", "-n", "far", "-a", "gpu", "--accept-host-key", cwd=folder, env=env).ok()
    compute = (folder / FILES[0]).read_text()
    assert "address: gpu\n" in compute and f"username: {user.name}\n" in compute and "port:" not in compute


def test_variables_that_the_configuration_sends_along_reach_the_script(tenon, folder, sshd_with, ssh_config):
    server = sshd_with(AcceptEnv="GREETING")
    user = server.user(password=CANARY)
    env = ssh_config("Host *\n SetEnv GREETING=hello\n")
    attach(tenon, folder, server, user, "--accept-host-key", env=env).ok()
    tenon.run("config", "set", "Framework", "Python", "-c", "far", cwd=folder).ok()
    tenon.run("config", "set", "userManagedEnvironment", "true", "--target", "far", cwd=folder).ok()
    (folder / "greet.py").write_text("import os\nprint(os.environ.get('GREETING'))\n")
    for _ in range(2):  # over a connection that stands, too
        assert tenon.run("submit", "-c", "far", "greet.py", cwd=folder, env=env, timeout=120).ok().out == "hello\n"


def test_a_jump_host_asks_the_user_and_not_the_store(tenon, folder, sshd, sshd_with, user, ssh_config, tmp_path):
    jump = sshd_with()
    jumper = jump.user(password="Jump-Password-1")
    (tmp_path / "known").write_text(f"[127.0.0.1]:{jump.port} {(jump.folder / 'host_ed25519.pub').read_text()}")
    env = ssh_config(f"Host jump\n HostName 127.0.0.1\n Port {jump.port}\n User {jumper.name}\n UserKnownHostsFile {tmp_path}/known\n"
                     f"Host gpu\n HostName 127.0.0.1\n Port {sshd.port}\n ProxyJump jump\n")
    args = ["computetarget", "attach", "remote", "-n", "far", "-a", "gpu", "-u", user.name, "--password-stdin", "--accept-host-key"]
    done = tenon.run(*args, cwd=folder, env=env, stdin=CANARY.encode())
    assert done.code in (4, 5), repr(done)  # nobody is there to answer the jump host
    assert jump.logins() == 0 and not find_canary(jump.folder)
    key = sshds.make_key(tmp_path / "jump-id")
    jumper.authorize(key)
    (tmp_path / "ssh_config").write_text((tmp_path / "ssh_config").read_text().replace(
        "Host gpu", f" IdentityFile {tmp_path}/jump-id\nHost gpu"))
    tenon.run(*args, cwd=folder, env=env, stdin=CANARY.encode()).ok()
    assert jump.logins() >= 1 and sshd.count("Accepted password") >= 1


def test_an_agent_full_of_wrong_keys_does_not_stand_in_the_way_of_the_password(tenon, folder, sshd, user, ssh_config, tmp_path):
    keys = []
    for i in range(8):
        sshds.make_key(tmp_path / f"id{i}")
        keys.append(f"IdentityFile {tmp_path}/id{i}")
    env = ssh_config("\n".join(keys) + "\n")
    attach(tenon, folder, sshd, user, "--accept-host-key", env=env).ok()


def test_a_user_who_is_not_root_attaches_with_the_users_own_configuration(tenon, sshd, user):
    me = sshd.user()
    folder = me.home / "proj"
    me.write("proj/aml_config/local.compute", "type: local\n")
    me.write(".ssh/config", f"Host gpu\n HostName 127.0.0.1\n Port {sshd.port}\n User {user.name}\n", 0o600)
    env = {"HOME": me.home, "TENON_HOME": me.home / ".tenon-near"}
    words_ = ["computetarget", "attach", "remote", "-n", "far", "-a", "gpu", "--password-stdin", "--accept-host-key"]
    tenon.run(*words_, cwd=folder, env=env, stdin=CANARY.encode(), prefix=me.prefix()).ok()
    assert f"username: {user.name}\n" in (folder / FILES[0]).read_text()
    tenon.run("computetarget", "test", "far", cwd=folder, env=env, prefix=me.prefix()).ok()
    assert not find_canary(me.home)


def test_a_program_that_ssh_can_not_start_is_named_with_the_folder_in_the_way(tenon, sshd, user, tmp_path):
    """setpriv starts it with rights that ssh, and the program itself, do not have any more."""
    me = sshd.user()
    me.write("proj/aml_config/local.compute", "type: local\n")
    tmp_path.chmod(0o755)
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    shutil.copy2(tenon.binary, closed / "tenon")
    other = type(tenon)(closed / "tenon", me.home / ".tenon-near", tmp_path)
    done = other.run("computetarget", "attach", "remote", "-n", "far", "-a", f"127.0.0.1:{sshd.port}", "-u", user.name,
                     "--password-stdin", "--accept-host-key", cwd=me.home / "proj", env={"HOME": me.home},
                     stdin=CANARY.encode(), prefix=me.prefix())
    assert done.code == 5, repr(done)
    assert str(closed) in done.err and "may not enter" in done.err and "/usr/local/bin" in done.err, repr(done)
    assert "ssh/config" not in done.err and CANARY not in done.out + done.err, repr(done)


def test_somebody_elses_project_says_where_the_password_lies(tenon, folder, sshd, user, far_client):
    attach(tenon, folder, sshd, user, "--accept-host-key").ok()
    other = far_client()
    done = other.run("computetarget", "test", "far", "--accept-host-key", cwd=folder)
    assert done.code == 5 and "keyring of whoever attached it" in done.err and "secrets set far" in done.err, repr(done)
    assert sshd.failed_passwords() == 0  # nothing was guessed
    other.run("secrets", "set", "far", "--stdin", cwd=folder, stdin=CANARY.encode()).ok()
    other.run("computetarget", "test", "far", "--accept-host-key", cwd=folder).ok()


@pytest.fixture
def far_client(tenon, tmp_path):
    """Another person's `tenon`, as far as anybody can tell."""
    made = []

    def make():
        scratch = tmp_path / "other"
        scratch.mkdir()
        made.append(type(tenon)(tenon.binary, scratch / "tenon-home", scratch))
        return made[-1]

    yield make
    for client in made:
        assert not client.cleanup()


def test_a_password_in_clear_text_works_warns_and_can_be_moved(tenon, folder, sshd, user):
    compute = folder / "aml_config/far.compute"
    compute.write_text(f"type: remote\naddress: 127.0.0.1:{sshd.port}\nusername: {user.name}\npassword: {CANARY}\n")
    done = tenon.run("computetarget", "test", "far", "--accept-host-key", cwd=folder).ok()
    assert "clear text" in done.err and "secrets import far" in done.err
    assert CANARY not in done.out + done.err and not find_canary(tenon.home)
    tenon.run("secrets", "import", cwd=folder).ok()
    assert not find_canary(folder, tenon.home)
    tenon.cleanup()
    again = tenon.run("computetarget", "test", "far", cwd=folder).ok()  # the pinned key is still known
    assert "clear text" not in again.err


def test_a_new_address_keeps_the_pinned_key(tenon, folder, sshd, user):
    attach(tenon, folder, sshd, user, "--accept-host-key").ok()
    tenon.run("computetarget", "update", "far", "--address", f"localhost:{sshd.port}", cwd=folder).ok()
    assert "address: localhost\n" in (folder / FILES[0]).read_text()
    tenon.run("computetarget", "test", "far", cwd=folder).ok()
    sshd.change_host_key()
    done = tenon.run("computetarget", "test", "far", cwd=folder)
    assert done.code == 5, repr(done)


def test_detach_forgets_everything(tenon, folder, sshd, user):
    attach(tenon, folder, sshd, user, "--accept-host-key").ok()
    tenon.run("computetarget", "detach", "far", "--yes", cwd=folder).ok()
    assert nothing_written(folder, tenon)
    assert tenon.json("secrets", "list", "-o", "json") == []
    assert not tenon.processes_left(60)


def test_many_at_once_with_a_wrong_password_do_not_all_try(tenon, folder, sshd, user):
    attach(tenon, folder, sshd, user, "--accept-host-key").ok()
    tenon.cleanup()
    user.set_password("Another-Password-2")
    before = sshd.failed_passwords()
    started = [tenon.start("computetarget", "test", "far", cwd=folder) for _ in range(10)]
    codes = [s.wait(120).code for s in started]
    assert set(codes) == {5}, codes
    assert 1 <= sshd.failed_passwords() - before < 10  # who waited for another's login does not try again


def id_of(folder):
    return REFERENCE.search((folder / FILES[0]).read_text()).group(2)


def records(tenon):
    """What is remembered about machines, by id."""
    return {path.stem: json.loads(path.read_text()) for path in Path(tenon.home, "hosts").glob("*.json")}


def test_attached_again_only_the_same_user_of_the_same_machine_is_the_same(tenon, folder, sshd, sshd_with, user):
    attach(tenon, folder, sshd, user, "--accept-host-key").ok()
    first = id_of(folder)
    attach(tenon, folder, sshd, user, "--accept-host-key", "--force").ok()
    assert id_of(folder) == first
    tenon.run("computetarget", "attach", "remote", "-n", "far", "-a", f"localhost:{sshd.port}", "-u", user.name, "--password-stdin",
              "--accept-host-key", "--force", cwd=folder, stdin=CANARY.encode()).ok()
    assert id_of(folder) == first and records(tenon)[first]["address"] == "localhost"
    before = records(tenon)[first]
    other = sshd.user(password=CANARY)
    attach(tenon, folder, sshd, other, "--accept-host-key", "--force").ok()
    second = id_of(folder)
    attach(tenon, folder, sshd_with(), other, "--accept-host-key", "--force").ok()
    assert set(records(tenon)) == {first, second, id_of(folder)} and len(records(tenon)) == 3
    assert records(tenon)[first] == before
    tenon.run("computetarget", "detach", "far", "--yes", cwd=folder).ok()
    assert nothing_written(folder, tenon)
    assert tenon.json("secrets", "list", "-o", "json") == []


def test_detach_in_a_copy_of_the_project_leaves_the_machine_to_the_original(tenon, folder, sshd, user, tmp_path):
    attach(tenon, folder, sshd, user, "--accept-host-key").ok()
    copy = tmp_path / "copy-of-it"
    shutil.copytree(folder, copy)
    tenon.run("computetarget", "test", "far", cwd=copy).ok()
    assert len(records(tenon)[id_of(folder)]["users"]) == 2
    done = tenon.run("computetarget", "detach", "far", "--yes", cwd=copy).ok()
    assert "forgot" not in done.out and not (copy / FILES[0]).exists()
    tenon.cleanup()  # the kept connection
    tenon.run("computetarget", "test", "far", cwd=folder).ok()
    # The copy's file is gone, so it does not count any more.
    assert "forgot" in tenon.run("computetarget", "detach", "far", "--yes", cwd=folder).ok().out
    assert nothing_written(folder, tenon)
    assert tenon.json("secrets", "list", "-o", "json") == []


def test_a_damaged_record_does_not_keep_other_targets(tenon, folder, sshd, user):
    attach(tenon, folder, sshd, user, "--accept-host-key").ok()
    damaged = tenon.home / "hosts" / f"{'0' * 32}.json"
    damaged.write_text("{")
    tenon.run("computetarget", "update", "far", "--address", "localhost", cwd=folder).ok()
    assert "forgot the machine at localhost" in tenon.run("computetarget", "detach", "far", "--yes", cwd=folder).ok().out
    assert damaged.exists() and not (folder / FILES[0]).exists()
