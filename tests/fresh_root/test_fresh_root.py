# SPDX-License-Identifier: Apache-2.0
"""The two commands of the README on a fresh Debian 12 that has git and bash and nothing else.

A root directory made by debootstrap, made the root of all mounts, with a clone of this repository
below /root, where other users can't look. Takes root and the Debian packages; the mirror, proxy and
certificates are the ones this machine's apt uses.
"""

import os
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
ENTER = Path(__file__).with_name("enter")
LOGS = REPOSITORY / "build/test-logs"  # what the commands print is kept there
# What was compiled inside, for the builds of scripts/check-deep that follow. Nothing of it goes in.
COMPILED = REPOSITORY / "build/compiled-in-fresh-root"
PASSED_ON = ("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY",
             "SSL_CERT_FILE", "SSL_CERT_DIR")
pytestmark = [pytest.mark.deep, pytest.mark.seconds(7200),
              pytest.mark.planned_skip("needs root, debootstrap and the Debian packages")]


def mirror():
    """Where this machine's own apt finds bookworm; empty: debootstrap's default."""
    answer = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages",
         "Codename: bookworm"], capture_output=True, text=True, check=False)
    return [line for line in answer.stdout.split() if line][:1]


def copy_into(root, names):
    for name in names:
        source, target = Path(name), root / name.lstrip("/")
        if source.is_dir():
            # Not over what is there: its links would lead back to the files being copied.
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(source, target)
        elif source.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.unlink(missing_ok=True)
            shutil.copyfile(source, target)


@pytest.fixture(scope="module")
def fresh_root():
    if os.geteuid() != 0:
        pytest.skip("not root")
    if not shutil.which("debootstrap"):
        pytest.skip("no debootstrap; scripts/setup --deep installs it")
    root = Path(tempfile.mkdtemp(prefix="tenon-fresh-root-"))
    root.chmod(0o755)  # other users inside have to get through
    try:
        subprocess.run(["debootstrap", "--variant=minbase", "--include=git,ca-certificates",
                        "bookworm", root, *mirror()], check=True)
        (root / "etc/apt/sources.list").unlink(missing_ok=True)
        copy_into(root, ["/etc/apt/sources.list", "/etc/apt/sources.list.d",
                         "/etc/apt/apt.conf.d", "/etc/apt/trusted.gpg.d", "/etc/resolv.conf",
                         "/etc/hosts", "/etc/ssl/certs"])
        subprocess.run(["git", "clone", "-q", "--no-hardlinks", REPOSITORY, root / "root/tenon"],
                       check=True)
        yield root
        if (root / "root/compiled").is_dir():
            shutil.rmtree(COMPILED, ignore_errors=True)
            shutil.move(root / "root/compiled", COMPILED)
    finally:
        # Never below a mount: enter's namespaces are gone, and rm stays on this file system anyway.
        subprocess.run(["rm", "-rf", "--one-file-system", root], check=False)


def run_inside(root, command, **variables):
    """(output, seconds) of a command that has to end with 0."""
    passed_on = [f"{n}={os.environ[n]}" for n in PASSED_ON if n in os.environ]
    given = [f"{n}={v}" for n, v in variables.items()]
    given.append("CCACHE_REMOTE_STORAGE=file:/root/compiled")
    started = time.monotonic()
    answer = subprocess.run([ENTER, root, command, "CI=true", *passed_on, *given],
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
    seconds = time.monotonic() - started
    LOGS.mkdir(parents=True, exist_ok=True)
    with open(LOGS / "fresh-root-inside.log", "a", encoding="utf-8") as log:
        log.write(f"+ {command}\n{answer.stdout}took {seconds:.1f} s\n")
    assert answer.returncode == 0, answer.stdout[-8000:]
    return answer.stdout, seconds


def test_nothing_but_git_and_bash_is_there_at_first(fresh_root):
    output, _ = run_inside(fresh_root, "for p in git bash python3 cc cmake ninja; do "
                                       "command -v $p >/dev/null && echo $p; done; true")
    assert output.split() == ["git", "bash"]


def test_the_root_is_a_machine_of_its_own_and_no_chroot(fresh_root):
    # In a chroot the kernel makes no user namespace, and `docker exec` and forwards fail.
    run_inside(fresh_root, "unshare --user true")
    output, _ = run_inside(fresh_root, "cut -d' ' -f5,9 /proc/self/mountinfo; ls /proc")
    mounts = dict(line.split() for line in output.splitlines() if line.startswith("/"))
    assert {"/", "/proc", "/sys", "/dev", "/dev/pts", "/dev/shm", "/run"} <= set(mounts)
    assert mounts["/run"] == mounts["/dev/shm"] == "tmpfs"
    assert not [m for m in mounts if not m.startswith(("/proc", "/sys", "/dev", "/run")) and m != "/"]
    processes = [int(name) for name in output.split() if name.isdecimal()]
    assert 1 in processes and max(processes) < 1000, "this machine's processes are seen"


def test_the_demo_ends_with_a_completed_run_and_is_quick_the_second_time(fresh_root):
    first, _ = run_inside(fresh_root, "cd /root/tenon && scripts/demo")
    assert "Completed" in first, first[-4000:]
    second, seconds = run_inside(fresh_root, "cd /root/tenon && scripts/demo")
    assert "Completed" in second, second[-4000:]
    assert "apt-get" not in second
    assert seconds < 60


def test_all_tests_pass_and_the_second_time_nothing_is_built(fresh_root):
    first, _ = run_inside(fresh_root, "cd /root/tenon && scripts/test")
    assert re.search(r"^[1-9]\d* passed, 0 failed, \d+ skipped$", first, re.M), first[-4000:]
    second, _ = run_inside(fresh_root, "cd /root/tenon && scripts/test unit-release unit-asan build-fuzz")
    assert re.search(r"^[1-9]\d* passed, 0 failed, \d+ skipped$", second, re.M), second[-4000:]
    built = dict(re.findall(r"^ok\s+(build-\w+)\s+([\d.]+) s", second, re.M))
    assert set(built) == {"build-release", "build-asan", "build-fuzz"}
    assert all(float(seconds) < 30 for seconds in built.values()), built
