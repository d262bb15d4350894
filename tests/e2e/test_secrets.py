# SPDX-License-Identifier: Apache-2.0
"""The encrypted store, through the command line: values go in and never come out."""

import os

import pytest

from e2e.harness import all_below, read_if_there

CANARY = "Canary-Kanarienvogel-78"
COMPUTE = "# mine\naddress: 203.0.113.9  # there\npassword: 'Canary-Kanarienvogel-78'\t# hm\ntype: remotedocker\nusername: ann\n"


@pytest.fixture
def folder(project):
    return project("print(1)\n", files={"aml_config/vm.compute": COMPUTE})


def canary_files(*places):
    return [p for place in places for p in all_below(place) if CANARY.encode() in read_if_there(p)]


def test_set_list_remove(tenon, folder):
    done = tenon.run("secrets", "set", "vm", "--stdin", cwd=folder, stdin=CANARY.encode() + b"\n").ok()
    assert "only you can read" in done.err and CANARY not in done.out + done.err
    listed = tenon.json("secrets", "list", "-o", "json")
    assert len(listed) == 1 and listed[0]["about"] == "password of ann on 203.0.113.9 (vm)"
    assert (tenon.home / "secrets.json").stat().st_mode & 0o777 == 0o600
    assert (tenon.home / "secrets.key").stat().st_mode & 0o777 == 0o600
    assert not canary_files(tenon.home)
    for words in (["secrets", "list"], ["computetarget", "show", "vm"], ["config", "show", "-t", "vm"]):
        said = tenon.run(*words, cwd=folder)
        assert CANARY not in said.out + said.err
    tenon.run("secrets", "remove", "vm", cwd=folder).ok()
    assert tenon.json("secrets", "list", "-o", "json") == []
    assert tenon.run("secrets", "remove", "vm", cwd=folder).code == 3


def test_set_at_a_terminal_shows_nothing_that_is_typed(tenon, folder):
    done = tenon.pty("secrets", "set", "mine", cwd=folder, keys=CANARY.encode() + b"\n", when="Secret (mine):")
    assert done.code == 0 and CANARY not in done.out, repr(done)
    assert tenon.json("secrets", "list", "-o", "json")[0]["name"] == "mine"


def test_nothing_on_standard_input_stores_nothing(tenon, folder):
    assert tenon.run("secrets", "set", "vm", "--stdin", cwd=folder, stdin=b"").code == 2
    assert tenon.run("secrets", "set", "vm", "--stdin", cwd=folder, stdin=b"\n").code == 2
    assert tenon.run("secrets", "set", "a/b", "--stdin", cwd=folder, stdin=b"x\n").code == 2
    assert not (tenon.home / "secrets.json").exists()


def test_import_moves_a_password_and_changes_nothing_else(tenon, folder):
    done = tenon.run("secrets", "import", cwd=folder).ok()
    assert "moved the password of vm" in done.out and CANARY not in done.out + done.err
    text = (folder / "aml_config/vm.compute").read_text()
    before, rest = text.split("password: 'AzureMlSecret=vm#ann#")
    assert before == "# mine\naddress: 203.0.113.9  # there\n"
    assert rest[32:] == "'\t# hm\ntype: remotedocker\nusername: ann\n"
    assert not canary_files(folder, tenon.home)
    assert tenon.json("secrets", "list", "-o", "json")[0]["name"] == f"password/{rest[:32]}"
    again = tenon.run("secrets", "import", cwd=folder).ok()
    assert again.out == ""
    assert tenon.run("secrets", "import", "vm", cwd=folder).code == 3


def test_a_key_that_others_can_read_is_refused(tenon, folder):
    tenon.run("secrets", "set", "vm", "--stdin", cwd=folder, stdin=b"x\n").ok()
    (tenon.home / "secrets.key").chmod(0o644)
    done = tenon.run("secrets", "set", "other", "--stdin", cwd=folder, stdin=b"y\n")
    assert done.code == 5 and "chmod 600" in done.err, repr(done)


def test_a_desktop_keyring_holds_the_key(tenon, folder, tmp_path):
    programs = tmp_path / "programs"
    programs.mkdir()
    kept = tmp_path / "kept"
    (programs / "secret-tool").write_text(
        f'#!/bin/sh\necho "$@" >> {tmp_path}/calls\n'
        f'case $1 in store) cat > {kept};; lookup) cat {kept} 2>/dev/null || exit 1;; esac\n')
    (programs / "secret-tool").chmod(0o755)
    env = {"PATH": f"{programs}:{os.environ['PATH']}", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere"}
    done = tenon.run("secrets", "set", "vm", "--stdin", cwd=folder, stdin=CANARY.encode(), env=env).ok()
    assert "desktop's keyring" in done.err
    assert not (tenon.home / "secrets.key").exists()
    assert kept.read_text().strip() not in (tmp_path / "calls").read_text()
    gone = tenon.run("secrets", "set", "vm", "--stdin", cwd=folder, stdin=b"x\n")
    assert gone.code == 5 and "keyring" in gone.err, repr(gone)
