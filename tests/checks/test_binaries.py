# SPDX-License-Identifier: Apache-2.0
"""What the built programs may ask of the machine they land on."""

import re
import subprocess

import pytest

from e2e import harness

OLDEST_GLIBC = (2, 34)
RUNNER_LIMIT = 5_000_000  # 4.7 MB with the Engine API client and the recipes in it
# Name look-ups load modules of the build machine's own glibc at run time; in a static program that
# crashes or lies on any other machine. (res_ninit is no look-up; every static program with threads has it.)
NAME_LOOKUPS = re.compile(
    r"^_*(getaddrinfo|gethostby\w*|getnameinfo|getservby\w*|getprotoby\w*|getnetby\w*"
    r"|getpw(nam|uid|ent)\w*|getgr(nam|gid|ent|ouplist)\w*|initgroups|res_n?(query|search)\w*"
    r"|nss_lookup\w*|nss_database\w*|dns_\w+)$")


def output(*command):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True,
                          check=True).stdout


def glibc_imports(program):
    """(symbol, version) of everything the program takes from the C library."""
    imports = []
    for line in output("objdump", "-T", program).splitlines():
        match = re.search(r"\*UND\*.*\(?GLIBC_([0-9.]+)\)?\s+(\S+)$", line)
        if match:
            imports.append((match.group(2), tuple(map(int, match.group(1).split(".")))))
    return imports


@pytest.mark.parametrize("name", ["tenon", "exceptions_probe"])
def test_no_symbol_is_newer_than_the_oldest_glibc_we_support(name):
    imports = glibc_imports(harness.build_dir() / name)
    assert len(imports) > 10, "the list of imports could not be read"
    assert [i for i in imports if i[1] > OLDEST_GLIBC] == []


def test_tenon_needs_no_library_but_glibc():
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-dW", harness.release_binary()))
    assert "libc.so.6" in needed
    assert set(needed) <= {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2"}


def test_exceptions_unwind_with_our_stand_ins_for_glibc():
    answer = subprocess.run([harness.build_dir() / "exceptions_probe"], capture_output=True,
                            text=True, check=False)
    assert (answer.stdout, answer.returncode) == ("ok\n", 0)


def test_a_parse_error_thrown_inside_tenon_is_caught(tenon):
    answer = tenon.run("--no-such-flag")
    assert answer.code == 2, answer
    assert answer.err


def test_runner_is_static():
    headers = output("readelf", "-lW", harness.build_dir() / "tenon-runner")
    assert "LOAD" in headers
    assert "INTERP" not in headers
    assert "DYNAMIC" not in headers


def test_runner_is_small():
    assert 100_000 < (harness.build_dir() / "tenon-runner.stripped").stat().st_size < RUNNER_LIMIT


def test_runner_contains_no_name_lookup():
    lines = output("nm", harness.build_dir() / "tenon-runner").splitlines()
    symbols = [line.split()[-1].split("@")[0] for line in lines if line]
    assert "main" in symbols
    assert [s for s in symbols if NAME_LOOKUPS.match(s)] == []


def test_nothing_of_ours_in_the_runner_loads_libraries():
    """glibc's own character conversion refers to dlopen in every static program; no one else may."""
    users, name = {}, None
    text = (harness.build_dir() / "tenon-runner.map").read_text(errors="replace")
    table = text[text.index("Cross Reference Table"):]
    for line in table.splitlines():
        if line and not line[0].isspace():
            name, _, first = line.partition(" ")
            users[name] = [first.strip()]
        elif name and line.strip():
            users[name].append(line.strip())
    assert "main" in users
    for name in ("dlopen", "__dlopen", "__libc_dlopen_mode", "dlsym"):
        assert [u for u in users.get(name, []) if u and "/libc.a(" not in u] == []


def test_the_runner_inside_tenon_is_the_one_that_was_built():
    runner = (harness.build_dir() / "tenon-runner.stripped").read_bytes()
    assert runner in harness.release_binary().read_bytes()


def test_the_shim_inside_the_runner_is_the_one_in_the_repository():
    runner = (harness.build_dir() / "tenon-runner.stripped").read_bytes()
    files = [p for p in (harness.ROOT / "python").rglob("*.py") if p.stat().st_size]
    assert files
    assert [str(p) for p in files if p.read_bytes() not in runner] == []


def test_a_copied_file_works_alone(tenon, project, tmp_path):
    copy = tmp_path / "elsewhere" / "tenon"
    copy.parent.mkdir()
    subprocess.run(["strip", "-o", copy, harness.release_binary()], check=True)
    tenon.binary = copy
    answer = tenon.run("submit", "-c", "local", "main.py", cwd=project("print('alone')\n"))
    assert answer.code == 0, answer
    assert "alone" in answer.out
