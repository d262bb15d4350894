# SPDX-License-Identifier: Apache-2.0
"""The runner on a kernel that knows no system call newer than Linux 3.10."""

import platform
import subprocess
import sys
from pathlib import Path

import pytest

OLD_KERNEL = [sys.executable, Path(__file__).with_name("old_kernel.py")]
pytestmark = pytest.mark.planned_skip("the filter is written for x86-64")


@pytest.fixture(autouse=True)
def x86_64():
    if platform.machine() != "x86_64":
        pytest.skip(platform.machine())


# Prints which newer things answered otherwise than a 3.10 kernel would.
PROBE = r"""
import ctypes, errno, os, fcntl, struct, tempfile
libc = ctypes.CDLL(None, use_errno=True)
wrong = []
def expect(name, got, want):
    if got != want:
        wrong.append((name, got, want))
for number in (314, 316, 318, 319, 322, 326, 332, 334, 424, 434, 435, 436, 437, 439, 441):
    libc.syscall(number, 0, 0, 0, 0, 0, 0)
    expect(number, ctypes.get_errno(), errno.ENOSYS)
def code(call):
    try:
        call()
        return 0
    except OSError as e:
        return e.errno
expect("O_TMPFILE", code(lambda: os.open("/tmp", os.O_TMPFILE | os.O_RDWR)), errno.EISDIR)
with tempfile.TemporaryFile() as f:
    expect("lock", code(lambda: fcntl.lockf(f, fcntl.LOCK_EX)), 0)
    lock = struct.pack("hhqqi", fcntl.F_WRLCK, 0, 0, 0, 0)
    expect("OFD lock", code(lambda: fcntl.fcntl(f, 37, lock)), errno.EINVAL)
    expect("FICLONE", code(lambda: fcntl.ioctl(f, 0x40049409, f.fileno())), errno.ENOTTY)
print("wrong:", wrong)
"""


def test_the_filter_answers_as_an_old_kernel_does():
    answer = subprocess.run(OLD_KERNEL + [sys.executable, "-c", PROBE], capture_output=True,
                            text=True, check=False)
    assert answer.stdout == "wrong: []\n", answer


SCRIPT = r"""
import os, sys
try:
    os.getrandom(1)
    print("getrandom: works")
except OSError as e:
    print("getrandom:", e.strerror)
pid = os.getppid()
print("parent:", os.readlink("/proc/%d/exe" % pid).rsplit("/", 1)[1])
print("filter:", [l.split()[1] for l in open("/proc/%d/status" % pid) if l.startswith("Seccomp:")])
import azureml.logging
azureml.logging.get_azureml_logger().log("accuracy", 0.5).wait()
with open("outputs/model.txt", "w") as f:
    f.write("x" * 100000)
print("talk", file=sys.stderr)
sys.exit(3)
"""


def test_a_whole_run_goes_through_without_newer_calls(tenon, project):
    folder = project(SCRIPT, files={"data/%d.txt" % i: "x" * i for i in range(50)})
    answer = tenon.run("submit", "-c", "local", "main.py", cwd=folder, prefix=OLD_KERNEL)
    assert answer.code == 3, answer
    assert "getrandom: Function not implemented" in answer.out
    assert "parent: tenon-runner" in answer.out
    assert "filter: ['2']" in answer.out
    show = tenon.run("show", "last", "--json", cwd=folder, prefix=OLD_KERNEL).ok()
    assert "Failed" in show.out
    metrics = tenon.run("metrics", "last", "accuracy", "--json", cwd=folder).ok()
    assert "0.5" in metrics.out
    target = tenon.scratch / "got"
    tenon.run("history", "download", "-r", "last", "-d", target, cwd=folder, prefix=OLD_KERNEL).ok()
    files = [p for p in target.rglob("model.txt")]
    assert [p.read_text() for p in files] == ["x" * 100000]


def test_a_run_is_cancelled_without_newer_calls(tenon, project):
    folder = project("import time\nprint('up', flush=True)\ntime.sleep(600)\n")
    running = tenon.start("submit", "-c", "local", "main.py", cwd=folder, prefix=OLD_KERNEL)
    running.wait_for("up")
    tenon.run("cancel", "last", "--grace", "5s", cwd=folder, prefix=OLD_KERNEL).ok()
    assert running.wait().code == 143
    assert tenon.processes_left() == []
