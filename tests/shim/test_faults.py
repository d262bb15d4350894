# SPDX-License-Identifier: Apache-2.0
"""Where it cannot write, the shim neither raises nor waits nor talks."""
import os
import subprocess

import pytest
from shim.shim import Reader

BOTH = """
import tenon
from azureml.logging import get_azureml_logger
logger = get_azureml_logger()
for value in (1, 0.5, 'x', [1, 2], None):
    assert logger.log('a', value).wait() is False
    assert tenon.log('a', value, step=3).wait(timeout=0.1) is False
assert logger.upload('x.txt', 'text').wait() is False
print(tenon.active(), tenon.run_id(), tenon.outputs_dir(), tenon.wait())
"""


def test_outside_tenon_nothing_happens(run):
    for name in ("TENON_METRICS_DIR", "TENON_OUTPUTS_DIR", "TENON_RUN_ID"):
        del run.environment[name]
    assert run.script(BOTH) == "False None None False\n"
    assert list(run.metrics.iterdir()) == []


def test_folder_that_is_not_there(run):
    run.environment["TENON_METRICS_DIR"] = str(run.folder / "none")
    run.script("import tenon; assert tenon.log('a', 1.0).wait() is False; assert not tenon.active()")


@pytest.mark.planned_skip("root may write everywhere")
def test_folder_without_permission(run):
    if os.geteuid() == 0:
        pytest.skip("root")
    run.metrics.chmod(0o500)
    try:
        run.script("import tenon\nfor i in range(20000): tenon.log('a', 1.0)\nassert not tenon.wait(0.1)")
    finally:
        run.metrics.chmod(0o700)


def test_folder_that_becomes_a_file(run):
    run.script("""
import os, tenon
folder = os.environ['TENON_METRICS_DIR']
os.rmdir(folder); open(folder, 'w').close()
for i in range(20000): tenon.log('a', 1.0)
assert tenon.wait(5) is False
""")


def test_folder_deleted_while_running(run):
    run.script("""
import os, shutil, tenon
tenon.log('a', 1.0)
shutil.rmtree(os.environ['TENON_METRICS_DIR'])
for i in range(50000): tenon.log('a', float(i))
assert tenon.wait(5) is False
""")


# A limit on file sizes refuses space as a full disk does, and can be lifted again.
NO_SPACE = """
import resource, sys, tenon
tenon._files.RETRY_SECONDS = 0.0 if sys.argv[1] == 'short' else 1000.0
hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), hard))
n = int(sys.argv[3])
for i in range(n): tenon.log('a', float(i))
assert tenon.wait(0.1) is False
resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
if sys.argv[4] == 'more':
    tenon._files.Writer  # the next point finds space
    tenon.wait(0.0)
    tenon.log('a', float(n))
"""


def test_full_disk_keeps_points_in_memory_until_there_is_space(run):
    run.script(NO_SPACE, "short", "0", "9999", "more")
    assert run.values("a") == [float(i) for i in range(10000)]
    assert sum(c.dropped for c in run.chunks()) == 0


def test_full_disk_drops_at_last_and_says_how_many(run):
    run.script(NO_SPACE, "long", "0", "25000", "more")
    assert run.values("a") == [float(i) for i in range(10000)] + [25000.0]
    assert sum(c.dropped for c in run.chunks()) == 15000


def test_full_disk_after_the_first_chunk(run):
    run.script(NO_SPACE, "long", "65536", "12000", "more")
    values = run.values("a")
    in_first = len(run.chunks()[0].points)
    assert 2000 < in_first < 2100
    assert values == [float(i) for i in range(12000)] + [12000.0]
    steps = [p.step for p in run.points()]
    assert steps == list(range(12001))


def test_full_disk_until_the_end_is_made_good_at_exit(run):
    run.script(NO_SPACE, "long", "0", "500", "no more")
    assert run.values("a") == [float(i) for i in range(500)]


def test_memory_is_bounded_when_there_is_no_space(run):
    out = run.script("""
import resource, tenon
hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
for i in range(300): tenon.log('a', 'x' * (1 << 20))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
""")
    assert int(out) < 150 * 1024


@pytest.mark.planned_skip("needs root to mount a small tmpfs")
def test_full_file_system_is_no_bus_error(newest_run):
    run = newest_run
    if os.geteuid() != 0:
        pytest.skip("not root")
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(run.metrics)],
                             stderr=subprocess.PIPE)
    if mounted.returncode != 0:
        pytest.skip("mount: " + mounted.stderr.decode().strip())
    try:
        run.script("""
import os, tenon
folder = os.environ['TENON_METRICS_DIR']
tenon.log('a', -1.0)
ballast = os.open(os.path.join(folder, 'ballast'), os.O_WRONLY | os.O_CREAT)
try:
    while True: os.write(ballast, b'x' * 4096)
except OSError: pass
os.close(ballast)
for i in range(30000): tenon.log('a', float(i))
os.unlink(os.path.join(folder, 'ballast'))
""")
        values = run.values("a")
        assert values[0] == -1.0 and values[1:] == [float(i) for i in range(len(values) - 1)]
        assert len(values) > 2000  # the first chunk was allocated beforehand
    finally:
        subprocess.check_call(["umount", str(run.metrics)])


def test_wait_returns_when_the_reader_says_so(run):
    reader = Reader(run)
    reader.start()
    try:
        assert run.script("""
import tenon
print(tenon.log('a', 1.0).wait(), tenon.wait(60))
for i in range(40000): handle = tenon.log('a', 1.0)
print(handle.wait(60))
""") == "True True\nTrue\n"
        assert reader.woken > 0
    finally:
        reader.stop()


def test_wait_gives_up_in_time_when_nobody_answers(run):
    os.mkfifo(str(run.metrics / "wake"))
    fd = os.open(str(run.metrics / "wake"), os.O_RDWR)  # there, but deaf
    try:
        out = run.script("""
import tenon, time
start = time.monotonic()
print(tenon.log('a', 1.0).wait(0.3), 0.3 <= time.monotonic() - start < 20)
""")
        assert out == "False True\n"
        assert run.chunks()[0].want > 64
    finally:
        os.close(fd)


def test_wait_does_not_wait_for_a_dead_runner(run):
    os.mkfifo(str(run.metrics / "wake"))
    out = run.script("""
import tenon, time
start = time.monotonic()
print(tenon.log('a', 1.0).wait(1000), time.monotonic() - start < 100)
""")
    assert out == "False True\n"


def test_full_pipe_does_not_block_a_waiter(run):
    reader = Reader(run)
    os.set_blocking(reader.fd, False)
    with pytest.raises(BlockingIOError):
        while True:
            os.write(reader.fd, b"." * 4096)
    os.set_blocking(reader.fd, True)
    process = run.popen("import tenon; print(tenon.log('a', 1.0).wait(0.2), flush=True)\n"
                        "print(tenon.wait(100))", stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"False\n"
    reader.start()
    try:
        assert process.communicate(timeout=200)[0] == b"True\n"
    finally:
        reader.stop()


def test_process_is_named_in_the_header(run):
    out = run.script("""
import os, tenon
tenon.log('a', 1.0)
print(os.getpid(), os.stat('/proc/self/ns/pid').st_ino, open('/proc/self/stat').read().rpartition(')')[2].split()[19])
""")
    chunk = run.chunks()[0]
    assert (chunk.pid, chunk.namespace, chunk.start) == tuple(map(int, out.split()))


@pytest.mark.parametrize("path", ["x.txt", "./x.txt", "outputs/x.txt", "./outputs/x.txt", "sub/dir/x.txt"])
def test_upload_stores_below_outputs(newest_run, path):
    run = newest_run
    assert run.script("""
import sys
from azureml.logging import get_azureml_logger
print(get_azureml_logger().upload(sys.argv[1], u'gr\\u00f6\\u00dfe').wait())
""", path) == "True\n"
    files = [p for p in run.outputs.rglob("*") if p.is_file()]
    assert [str(p.relative_to(run.outputs)) for p in files] == [path.replace("./", "").replace("outputs/", "")]
    assert files[0].read_bytes() == "größe".encode()


@pytest.mark.parametrize("path", ["../x", "/tmp/tenon-upload-x", "a/../../x", "", ".", "link/x", "outputs/..", "a\\..\\..\\x"])
def test_upload_never_leaves_outputs(newest_run, path):
    run = newest_run
    (run.folder / "outside").mkdir()
    (run.outputs / "link").symlink_to(run.folder / "outside")
    process = run.popen("""
import sys
from azureml.logging import get_azureml_logger
print(get_azureml_logger().upload(sys.argv[1], 'text').wait())
""", path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = process.communicate(timeout=60)
    assert (out, process.returncode) == (b"False\n", 0)
    assert b"upload of" in err
    assert list((run.folder / "outside").iterdir()) == []
    assert sorted(p.name for p in run.folder.iterdir()) == ["metrics", "outputs", "outside", "script.py"]
    assert [p.name for p in run.outputs.iterdir()] == ["link"]
    assert not os.path.exists("/tmp/tenon-upload-x")
