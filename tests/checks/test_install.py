# SPDX-License-Identifier: Apache-2.0
"""scripts/install: one program and its manual pages, also over a program that is running."""

import os
import subprocess

from e2e import harness


def install(*arguments, **options):
    return subprocess.run([harness.ROOT / "scripts/install", *arguments], capture_output=True,
                          text=True, check=True, stdin=subprocess.DEVNULL, **options).stdout


def test_one_file_is_installed_and_works(tmp_path, tenon):
    assert "not on your PATH" in install(tmp_path / "prefix")
    pages = tmp_path / "prefix/share/man/man1"
    files = [p for p in (tmp_path / "prefix").rglob("*") if p.is_file() and p.parent != pages]
    assert files == [tmp_path / "prefix/bin/tenon"]
    assert {"tenon.1", "tenon-submit.1"} <= {p.name for p in pages.iterdir()}
    tenon.binary = files[0]
    tenon.run("version").ok()


def test_a_running_program_can_be_replaced(tmp_path):
    target = tmp_path / "bin" / "tenon"
    target.parent.mkdir()
    target.write_bytes(b"\x7fELF old")
    before = os.stat(target).st_ino
    install(".", cwd=tmp_path)
    assert os.stat(target).st_ino != before
    assert os.access(target, os.X_OK)
    assert os.listdir(target.parent) == ["tenon"]
