# SPDX-License-Identifier: Apache-2.0
"""scripts/check-layers must fail on what it is there to find."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SPDX = "// SPDX-License-Identifier: Apache-2.0\n"
TABLE = """# SPDX-License-Identifier: Apache-2.0
tenon_folder(base LIBS ${CRYPTO})
tenon_folder(run LINKS base)
tenon_folder(snapshot LINKS base)
tenon_folder(cli LINKS base
             run)
"""


def check(root):
    return subprocess.run([sys.executable, ROOT / "scripts/check-layers", root],
                          capture_output=True, text=True, check=False)


@pytest.fixture
def tree(tmp_path):
    def write(name, text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return tmp_path

    write("src/CMakeLists.txt", TABLE)
    write("src/base/file.h", SPDX)
    write("src/run/state.h", SPDX + '#include "base/file.h"\n#include <vector>\n')
    write("src/cli/main.cc", SPDX + '#include "base/file.h"\n#include "run/state.h"\n')
    write("src/cli/parse/parser.cc", SPDX + "#include <CLI/CLI.hpp>\n")
    return write


def test_an_orderly_tree_passes(tree, tmp_path):
    answer = check(tmp_path)
    assert answer.returncode == 0, answer.stdout


@pytest.mark.parametrize("name, line, words", [
    ("src/run/bad.cc", '#include "cli/printer.h"', "layer: run may not include"),
    ("src/run/bad.cc", '#include "snapshot/store/tree.h"', "layer: run may not include"),
    ("src/cli/bad.cc", '#include "snapshot/store/tree.h"', "layer: cli may not include"),
    ("src/cli/bad.cc", "void F(const snapshot::Tree& tree);", "layer: cli may not use snapshot::"),
    ("src/cli/bad_test.cc", "using tenon::snapshot::Tree;", "layer: cli may not use snapshot::"),
    ("src/cli/bad.cc", "#include <sqlite3.h>", "library: <sqlite3.h>"),
    ("src/cli/bad.cc", "#include <boost/json.hpp>", "library: <boost/json.hpp>"),
    ("src/run/bad.cc", "#include <CLI/CLI.hpp>", "library: <CLI/CLI.hpp>"),
    ("src/run/parser.cc", "#include <CLI/CLI.hpp>", "library: <CLI/CLI.hpp>"),
    ("src/cli/bad.cc", "#include <CLI/CLI.hpp>", "library: <CLI/CLI.hpp> is wrapped by cli/"),
    ("src/cli/parse/parser.h", "#include <CLI/App.hpp>", "library: <CLI/App.hpp>"),
    ("src/cli/parse/parser_test.cc", "#include <CLI/CLI.hpp>", "library: <CLI/CLI.hpp>"),
    ("src/run/bad.cc", "#include <zstd.h>", "library: <zstd.h>"),
    ("src/run/bad.cc", "#include <openssl/sha.h>", "library: <openssl/sha.h>"),
    ("src/cli/bad.cc", "  int x = ::rename(a, b);", "raw call: rename()"),
    ("src/cli/bad.cc", "  if (fsync(fd) != 0) return;", "raw call: fsync()"),
    ("src/snapshot/bad.cc", "  ::syncfs(fd);", "raw call: syncfs()"),
    ("src/run/bad.cc", "#include <iostream>", "runner: <iostream>"),
    ("src/other/bad.cc", "int x;", "layer: other is not in"),
])
def test_a_forbidden_line_is_named_with_its_place(tree, tmp_path, name, line, words):
    tree(name, SPDX + "\n" + line + "\n")
    answer = check(tmp_path)
    assert answer.returncode == 1, answer.stdout
    place = ":1: " if words.startswith("layer: other") else ":3: "
    assert name + place + words in answer.stdout


@pytest.mark.parametrize("line", [
    "// rename(a, b) would not be durable",
    'Log("rename(a, b)");',
    "store.rename(a);",
    "journal->fsync();",
    "DoRename(a);",
    "// snapshot::Tree is not for us",
    "history::snapshot::Tree tree;",
    'Log("snapshot::Tree");',
])
def test_words_that_only_look_forbidden_pass(tree, tmp_path, line):
    tree("src/cli/good.cc", SPDX + line + "\n")
    answer = check(tmp_path)
    assert answer.returncode == 0, answer.stdout


@pytest.mark.parametrize("name", ["src/base/new.cc", "scripts/new", "tests/test_new.py"])
def test_a_file_without_licence_is_named(tree, tmp_path, name):
    tree(name, "x\n")
    answer = check(tmp_path)
    assert answer.returncode == 1
    assert name + ":1: licence" in answer.stdout


def test_a_loop_in_the_table_is_found(tree, tmp_path):
    tree("src/CMakeLists.txt", TABLE.replace("base LIBS", "base LINKS cli LIBS"))
    answer = check(tmp_path)
    assert answer.returncode == 1
    assert "reaches itself" in answer.stdout
