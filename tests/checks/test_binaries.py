# SPDX-License-Identifier: Apache-2.0
"""What the built programs may ask of the machine they land on."""

import re
import shutil
import subprocess

import pytest

from e2e import harness

OLDEST_GLIBC = (2, 34)
RUNNER_LIMIT = 6_000_000  # 5.5 MB with the Engine API client, the recipes and the agent in it
# Name look-ups load modules of the build machine's own glibc at run time; in a static program that
# crashes or lies on any other machine. (res_ninit is no look-up; every static program with threads has it.)
NAME_LOOKUPS = re.compile(
    r"^_*(getaddrinfo|gethostby\w*|getnameinfo|getservby\w*|getprotoby\w*|getnetby\w*"
    r"|getpw(nam|uid|ent)\w*|getgr(nam|gid|ent|ouplist)\w*|initgroups|res_n?(query|search)\w*"
    r"|nss_lookup\w*|nss_database\w*|dns_\w+)$")


MACHINES = ["x86_64", "aarch64"]
may_have_none = pytest.mark.planned_skip("the runner for aarch64 needs its cross compiler and libraries at build time")


def runner(machine, suffix=""):
    """The runner for such a machine that went into this build's `tenon`."""
    folder = harness.build_dir() / ("aarch64" if machine == "aarch64" else ".")
    if machine == "aarch64" and not (harness.build_dir() / "aarch64/tenon-runner.stripped").exists():
        pytest.skip("this build has no runner for aarch64; scripts/setup --tests installs what it takes")
    return folder / f"tenon-runner{suffix}"


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


@may_have_none
@pytest.mark.parametrize("machine", MACHINES)
def test_runner_is_static(machine):
    headers = output("readelf", "-lW", runner(machine))
    assert "LOAD" in headers
    assert "INTERP" not in headers
    assert "DYNAMIC" not in headers


@may_have_none
@pytest.mark.parametrize("machine", MACHINES)
def test_runner_is_small(machine):
    assert 100_000 < runner(machine, ".stripped").stat().st_size < RUNNER_LIMIT


@may_have_none
@pytest.mark.parametrize("machine", MACHINES)
def test_runner_is_for_its_machine(machine):
    named = {"x86_64": "X86-64", "aarch64": "AArch64"}[machine]
    assert re.search(rf"Machine:.*{named}", output("readelf", "-hW", runner(machine)))


@may_have_none
def test_the_runner_for_aarch64_runs():
    qemu = shutil.which("qemu-aarch64-static")
    if qemu is None:
        pytest.skip("no qemu-aarch64-static; scripts/setup --tests installs qemu-user-static")
    theirs = output(qemu, runner("aarch64", ".stripped"), "version")
    assert theirs == output(runner("x86_64", ".stripped"), "version")
    assert theirs.startswith("tenon-runner ")


@may_have_none
@pytest.mark.parametrize("machine", MACHINES)
def test_runner_contains_no_name_lookup(machine):
    lines = output("nm", runner(machine)).splitlines()
    symbols = [line.split()[-1].split("@")[0] for line in lines if line]
    assert "main" in symbols
    assert [s for s in symbols if NAME_LOOKUPS.match(s)] == []


@may_have_none
@pytest.mark.parametrize("machine", MACHINES)
def test_nothing_of_ours_in_the_runner_loads_libraries(machine):
    """glibc's own character conversion refers to dlopen in every static program; no one else may."""
    users, name = {}, None
    text = runner(machine, ".map").read_text(errors="replace")
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
    assert runner("x86_64", ".stripped").read_bytes() in harness.release_binary().read_bytes()


@may_have_none
def test_the_runner_for_aarch64_inside_tenon_is_the_one_that_was_built():
    stripped = runner("aarch64", ".stripped")
    packed = stripped.with_name(stripped.name + ".zst")
    assert packed.read_bytes() in harness.release_binary().read_bytes()
    unpacked = subprocess.run(["zstd", "-dc", packed], capture_output=True, check=True).stdout
    assert unpacked == stripped.read_bytes()


@may_have_none
@pytest.mark.parametrize("machine", MACHINES)
def test_the_shim_inside_the_runner_is_the_one_in_the_repository(machine):
    data = runner(machine, ".stripped").read_bytes()
    files = [p for p in (harness.ROOT / "python").rglob("*.py") if p.stat().st_size]
    assert files
    assert [str(p) for p in files if p.read_bytes() not in data] == []


def test_a_copied_file_works_alone(tenon, project, tmp_path):
    copy = tmp_path / "elsewhere" / "tenon"
    copy.parent.mkdir()
    subprocess.run(["strip", "-o", copy, harness.release_binary()], check=True)
    tenon.binary = copy
    answer = tenon.run("submit", "-c", "local", "main.py", cwd=project("print('alone')\n"))
    assert answer.code == 0, answer
    assert "alone" in answer.out
