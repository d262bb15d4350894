# SPDX-License-Identifier: Apache-2.0
"""Manual pages, read by the programs that will show them."""

import shutil
import subprocess

import pytest


@pytest.fixture
def pages(tenon):
    folder = tenon.scratch / "share/man/man1"
    written = tenon.run("man", folder).ok().out.splitlines()
    assert sorted(written) == sorted(str(p) for p in folder.iterdir())
    return sorted(folder.iterdir())


@pytest.mark.planned_skip("needs mandoc")
def test_mandoc_finds_nothing_wrong(pages):
    if not shutil.which("mandoc"):
        pytest.skip("no mandoc here")
    done = subprocess.run(["mandoc", "-Tlint", *pages], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.planned_skip("needs mandoc")
def test_page_says_what_help_says(tenon, pages):
    if not shutil.which("mandoc"):
        pytest.skip("no mandoc here")
    names = {p.name for p in pages}
    assert {"tenon.1", "tenon-submit.1", "tenon-runs-delete.1", "tenon-history-info.1"} <= names
    submit = next(p for p in pages if p.name == "tenon-submit.1")
    text = subprocess.run(["mandoc", "-Tascii", "-Owidth=500", submit], capture_output=True, text=True,
                          check=True).stdout
    plain = subprocess.run(["col", "-b"], input=text, capture_output=True, text=True,
                           check=True).stdout if shutil.which("col") else text.replace("\b", "")
    help_text = tenon.run("submit", "--help").ok().out
    for option in ("--run-configuration", "--secret", "--query", "--dry-run"):
        assert option in help_text
        if shutil.which("col"):
            assert option in plain
    assert "tenon submit train.py --epochs 20" in plain, "examples are not broken"


def test_answer_as_json(tenon, tmp_path):
    files = tenon.json("man", tmp_path / "m", "--json")
    assert str(tmp_path / "m" / "tenon.1") in files and len(files) == len(set(files))
