# SPDX-License-Identifier: Apache-2.0
"""Logins that are not like others: shells, homes, servers and configurations that get in the way. Each works, or says what is in
the way, and leaves nothing behind."""

import os
import shutil
import subprocess

import pytest

from e2e.test_attach import CANARY, attach, folder, nothing_written, user, words  # pylint: disable=unused-import  # fixtures too

pytestmark = pytest.mark.planned_skip("needs root, openssh-server, PAM and zsh")


@pytest.mark.parametrize("line", ["exec zsh", "read x"])
def test_what_a_login_starts_or_reads_gets_no_byte_as_a_command(tenon, folder, sshd, user, line):
    if line == "exec zsh" and not shutil.which("zsh"):
        pytest.skip("no zsh")
    user.write(".bashrc", line + "\n")
    done = attach(tenon, folder, sshd, user, "--accept-host-key")
    assert done.code == 4 and "starts another shell, or reads standard input" in done.err and ".bashrc" in done.err, repr(done)
    assert len(done.err) < 1000
    assert nothing_written(folder, tenon)
    assert not list(user.home.glob(".tenon/bin/*"))


def test_a_login_that_prints_megabytes(tenon, folder, sshd, user):
    user.write(".bashrc", "head -c 3000000 /dev/zero | tr '\\0' x; echo\n")
    done = attach(tenon, folder, sshd, user, "--accept-host-key")
    assert done.code == 0, repr(done)[:2000]
    user.write(".bashrc", "head -c 3000000 /dev/zero | tr '\\0' x >&2; exit 1\n")
    done = attach(tenon, folder, sshd, user, "--accept-host-key", "--force")
    assert done.code == 4 and len(done.err) < 2000, repr(done)[:2000]


@pytest.mark.parametrize("name", ["John Smith", "it's", 'a "b"', "50%h", "back\\slash"])
def test_a_home_with_any_name(tenon, folder, sshd, user, tmp_path, name):
    home = tmp_path / name
    home.mkdir(mode=0o700)
    env = {"HOME": str(home), "TENON_HOME": str(home / ".tenon"), "TMPDIR": str(home)}
    attach(tenon, folder, sshd, user, "--accept-host-key", env=env).ok()
    assert tenon.run("exec", "-t", "far", "--", "id", "-un", cwd=folder, env=env).ok().out == user.name + "\n"
    config = tmp_path / "config"
    config.write_text(tenon.run("ssh-config", "far", cwd=folder, env=env).ok().out)
    done = subprocess.run(["ssh", "-F", config, "-o", "BatchMode=yes", "far", "id", "-un"], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == user.name + "\n", done  # through the connection that stands
    key = home / "key %"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    user.write(".ssh/authorized_keys", key.with_name(key.name + ".pub").read_text())
    tenon.run(*words(sshd, user, "--private-key-file", key, "--accept-host-key", "--force"), cwd=folder, env=env).ok()
    tenon.run("computetarget", "detach", "far", "--yes", cwd=folder, env=env).ok()


def test_a_command_that_names_host_keys_does_not_replace_the_pinned_one(tenon, folder, sshd, user, ssh_config, tmp_path):
    attach(tenon, folder, sshd, user, "--accept-host-key").ok()
    keys = tmp_path / "names-any-key"
    keys.write_text(f"#!/bin/sh\necho \"$1 $(cut -d' ' -f1,2 {sshd.folder}/host_ed25519.pub)\"\n")
    keys.chmod(0o755)
    env = ssh_config(f"Host *\n KnownHostsCommand {keys} %H\n")
    tenon.run("exec", "-t", "far", "--", "true", cwd=folder, env=env).ok()
    log = sshd.count("Accepted password")
    sshd.change_host_key()
    refused = tenon.run("computetarget", "test", "far", cwd=folder, env=env)
    assert refused.code == 5 and "another host key" in refused.err, repr(refused)
    assert sshd.count("Accepted password") == log


@pytest.mark.parametrize("setting", [{"KexAlgorithms": "diffie-hellman-group1-sha1"},
                                     {"HostKeyAlgorithms": "ssh-rsa", "host_keys": ("rsa",)}], ids=["kex", "host key"])
def test_a_server_without_a_common_method_is_told_in_ssh_s_words(tenon, folder, sshd_with, setting):
    server = sshd_with(**setting)
    done = attach(tenon, folder, server, server.user(password=CANARY), "--accept-host-key")
    assert done.code != 0 and "no matching" in done.err, repr(done)
    assert nothing_written(folder, tenon)


def pam_server(sshd_with, **more):
    if not os.path.exists("/etc/pam.d/sshd"):
        pytest.skip("no PAM for sshd")
    return sshd_with(UsePAM="yes", KbdInteractiveAuthentication="yes", **more)


def test_an_account_that_has_expired_is_told_by_the_server(tenon, folder, sshd_with):
    server = pam_server(sshd_with)
    user = server.user(password=CANARY)
    subprocess.run(["usermod", "-e", "1970-01-02", user.name], check=True)
    done = attach(tenon, folder, server, user, "--accept-host-key")
    assert done.code == 5 and "may not log in" in done.err and "account has expired" in done.err, repr(done)
    assert nothing_written(folder, tenon)


def test_a_password_that_must_be_changed_is_told(tenon, folder, sshd_with):
    server = pam_server(sshd_with)
    user = server.user(password=CANARY)
    subprocess.run(["passwd", "-q", "-e", user.name], check=True)
    done = attach(tenon, folder, server, user, "--accept-host-key")
    assert done.code in (4, 5) and "the password is wrong" not in done.err and "by hand" in done.err, repr(done)
    assert nothing_written(folder, tenon)


def test_settings_that_keep_ssh_from_asking(tenon, folder, sshd, user, ssh_config):
    env = ssh_config(f"Host *\n Port {sshd.port}\n BatchMode yes\n")
    attach(tenon, folder, sshd, user, "--accept-host-key", env=env).ok()
    env = ssh_config(f"Host *\n Port {sshd.port}\n PasswordAuthentication no\n KbdInteractiveAuthentication no\n")
    done = attach(tenon, folder, sshd, user, "--accept-host-key", "--force", env=env)
    assert done.code == 5 and "did not ask" in done.err and "PasswordAuthentication" in done.err, repr(done)


def test_a_configuration_that_ssh_refuses_is_said_without_a_user_too(tenon, folder, sshd, ssh_config):
    env = ssh_config("Host *\n UseKeychain yes\n")
    done = tenon.run("computetarget", "attach", "remote", "-n", "far", "-a", f"127.0.0.1:{sshd.port}", "--accept-host-key", cwd=folder,
                     env=env)
    assert done.code == 2 and "usekeychain" in done.err.lower(), repr(done)


# ---- all or nothing ----------------------------------------------------------------------------------


def test_a_damaged_store_leaves_no_target(tenon, folder, sshd, user):
    tenon.home.mkdir(exist_ok=True)
    (tenon.home / "secrets.json").write_text("damaged")
    done = attach(tenon, folder, sshd, user, "--accept-host-key")
    assert done.code != 0, repr(done)
    assert nothing_written(folder, tenon)
    (tenon.home / "secrets.json").unlink()
    attach(tenon, folder, sshd, user, "--accept-host-key").ok()


def test_a_folder_that_is_none_is_told_before_anybody_is_asked(tenon, folder, sshd, user):
    shutil.rmtree(folder / "aml_config", ignore_errors=True)
    (folder / "aml_config").write_text("")
    before = sshd.count("Connection from")
    done = attach(tenon, folder, sshd, user, "-k", "--yes", "--accept-host-key")
    assert done.code == 2 and "aml_config" in done.err, repr(done)
    assert sshd.count("Connection from") == before and nothing_written(folder, tenon)


def test_a_key_that_could_not_be_put_there_is_not_kept(tenon, folder, sshd, user):
    user.write(".ssh", "in the way")
    done = attach(tenon, folder, sshd, user, "-k", "--yes", "--accept-host-key")
    assert done.code != 0 and "authorized_keys" in done.err, repr(done)
    assert nothing_written(folder, tenon)
    wrong = attach(tenon, folder, sshd, user, "-k", "--yes", "--accept-host-key", password="wrong")
    assert wrong.code == 5 and nothing_written(folder, tenon), repr(wrong)


def test_a_key_for_a_server_that_takes_keys_only_is_appended_by_hand(tenon, folder, sshd_with):
    server = sshd_with(PasswordAuthentication="no", KbdInteractiveAuthentication="no")
    done = attach(tenon, folder, server, server.user(password=CANARY), "-k", "--yes", "--accept-host-key")
    assert done.code == 5 and "append the line yourself" in done.err and "-k to make one" not in done.err, repr(done)
    assert nothing_written(folder, tenon)


def test_two_users_are_one_too_many(tenon, folder, sshd, user):
    done = tenon.run("computetarget", "attach", "remote", "-n", "far", "-a", f"SSH://somebody@127.0.0.1:{sshd.port}", "-u", user.name,
                     "--password-stdin", "--accept-host-key", cwd=folder, stdin=CANARY.encode())
    assert done.code == 2 and "two users" in done.err, repr(done)
