# SPDX-License-Identifier: Apache-2.0
"""The runner where things are missing, full, hidden or not allowed."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from e2e.harness import wait_until
from e2e.journal_py import Journal
from e2e.runner_harness import Runner, RunnerError, alive

NOBODY = 64321  # a user number nobody has


@pytest.fixture
def runner(tmp_path):
    tool = Runner(tmp_path / "home", tmp_path)
    yield tool
    assert not tool.cleanup()


# ---- requests

def answer_to(runner, verb, request):
    done = runner.ask_raw(verb, request if isinstance(request, bytes) else
                          json.dumps(request).encode())
    lines = done.stdout.decode().splitlines()
    assert lines[0].startswith("tenon-runner 1 ")
    assert done.returncode == 1
    return json.loads(lines[1])["error"]


@pytest.mark.parametrize("request_text, word", [
    (b"", "request"), (b"{", "request"), (b"[]", "object"), (b"{}", "protocol"),
    (b'{"protocol":1}', "home"), (b'{"protocol":1,"home":"relative","run_id":"x"}', "home"),
    (b'{"protocol":1,"home":"/x","run_id":"../y"}', "run_id"),
    (b'{"protocol":1,"home":"/x","run_id":"y"}', "spec"),
    (b'{"protocol":1,"home":"/x","run_id":"y","spec":{"id":7}}', "id"),
    (b"\xff\xfe\x00", "request"), (b'{"protocol":' + b"[" * 100_000, "request"),
])
def test_a_bad_request_is_an_answer_not_a_crash(runner, request_text, word):
    error = answer_to(runner, "start", request_text)
    assert error["kind"] == "invalid"
    assert word in error["message"]


@pytest.mark.parametrize("protocol", [0, 2, 99])
def test_another_protocol_is_named(runner, protocol):
    for verb in ("start", "cancel", "recover"):
        error = answer_to(runner, verb, {"protocol": protocol, "version": "9.9", "home": "/x",
                                         "run_id": "y"})
        assert error["kind"] == "invalid"
        assert f"protocol {protocol}" in error["message"] and "9.9" in error["message"]
        assert error["hint"]


def test_version_and_unknown_verbs(runner):
    done = runner.ask_raw("version", b"")
    assert done.returncode == 0 and done.stdout.startswith(b"tenon-runner 1 ")
    assert len(done.stdout.splitlines()) == 1
    done = runner.ask_raw("dance", b"")
    assert done.returncode == 2 and b"usage" in done.stderr


def test_an_executor_of_a_later_version_is_refused_before_anything_is_written(runner):
    run = runner.new(executor="spark")
    with pytest.raises(RunnerError) as error:
        run.start()
    assert error.value.kind == "invalid" and "not in this version" in str(error.value)
    assert not run.segment.exists() and not (run.folder / "spec.json").exists()


def test_a_missing_snapshot_fails_the_run_with_a_reason(runner):
    run = runner.new(tree="00" * 32)
    end = run.start().wait().end
    assert (end["state"], end["exit_code"]) == ("Failed", 125)
    assert end["reason"].startswith("unpacking the project's files: ")


def test_a_short_secret_is_refused(runner):
    with pytest.raises(RunnerError) as error:
        runner.new().start(secrets={"S": "short"})
    assert "S" in str(error.value) and "short" not in str(error.value).replace("shorter", "")


# ---- users

def as_user(code, user=NOBODY):
    """Python that gives up root, then runs `code`."""
    return [sys.executable, "-c",
            f"import os\nos.setgroups([])\nos.setgid({user})\nos.setuid({user})\n{code}"]


def drop_root(runner):
    """From here on the runner is a user's; its folders too."""
    for folder, _, files in os.walk(runner.scratch):
        for name in [folder] + [os.path.join(folder, f) for f in files]:
            os.chown(name, NOBODY, NOBODY)
    runner.prefix = as_user("import sys\nos.execv(sys.argv[1], sys.argv[1:])")


@pytest.fixture
def user_runner():
    """A runner that is no root's. Its folder is not pytest's, which nobody else may enter."""
    scratch = Path(tempfile.mkdtemp(prefix="tenon-user-"))
    runner = Runner(scratch / "home", scratch)
    program = scratch / "tenon-runner"
    shutil.copy2(runner.binary, program)
    runner.binary = program
    if os.geteuid() == 0:
        runner.make_user = lambda: drop_root(runner)
    yield runner
    left = runner.cleanup()
    shutil.rmtree(scratch)
    assert not left


def start_as_user(runner, script, python="/usr/bin/python3", **spec):
    run = runner.new(script, python=python, **spec)
    if hasattr(runner, "make_user"):
        runner.make_user()
    return run.start()





@pytest.fixture(autouse=True)
def system_python():
    if not os.path.exists("/usr/bin/python3"):
        pytest.skip("no /usr/bin/python3")


def test_cancel_of_a_user_ends_daemons_and_ignorers(user_runner):
    script = r"""
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        code = "import time; print('daemon', os.getuid(), flush=True); time.sleep(600)"
        os.execve(sys.executable, [sys.executable, "-S", "-E", "-c", "import os;" + code], {})
    os._exit(0)
os.wait()
time.sleep(600)
"""
    run = start_as_user(user_runner, script, grace_us=300_000)
    run.wait_for_output(b"daemon")
    uid = os.geteuid() or NOBODY
    assert f"daemon {uid}\n".encode() in run.journal().stdout
    run.ask("cancel")
    end = run.wait().end
    assert end["state"] == "Canceled"
    assert end["proof"]["left"] == 0 and end["proof"]["ended"] == 2


def test_recover_of_a_user_ends_what_is_left(user_runner):
    run = start_as_user(user_runner, "import time\nprint('up', flush=True)\ntime.sleep(600)\n")
    run.wait_for_output(b"up\n")
    pid = run.journal().of("script")[0].json["process"]["pid"]
    os.kill(run.pid, 9)
    wait_until(lambda: not alive(run.pid), 10)
    assert run.ask("recover") == {"state": "Failed", "recovered": True}
    wait_until(lambda: not alive(pid), 10)
    assert run.journal().end["proof"]["ended"] == 1


def test_a_home_one_may_not_write_is_denied(user_runner):
    run = user_runner.new()
    if hasattr(user_runner, "make_user"):
        user_runner.make_user()
    user_runner.home.chmod(0o555)
    try:
        with pytest.raises(RunnerError) as error:
            run.start()
    finally:
        user_runner.home.chmod(0o755)
    assert error.value.kind == "denied"
    assert str(run.folder.parent) in str(error.value)


# ---- file systems of our own

def unshare(*flags):
    """Whether we may have our own mounts."""
    return os.geteuid() == 0 and subprocess.run(["unshare", "-m", "true"], capture_output=True,
                                                check=False).returncode == 0


needs_mounts = pytest.mark.planned_skip("needs root for mounts of its own")

# Runs the runner in a mount namespace in which $1 is a tmpfs of the size $2, then copies what is in
# it to $3. The runner detaches; the namespace lives as long as its shell, which waits for the end.
SMALL_DISK = r"""
set -e
mount -t tmpfs -o size="$2" none "$1"
cp -a "$1.src/." "$1/"
if [ -n "$5" ]; then dd if=/dev/zero of="$1/filler" bs=4096 2>/dev/null || true; fi
set +e
"$4" start < "$1.request" > "$3.answer"
pid=$(sed -n 's/.*"pid":\([0-9]*\).*/\1/p' "$3.answer")
if [ -n "$pid" ]; then
  while grep -q "^State:.[^ZX]" "/proc/$pid/status" 2>/dev/null; do sleep 0.05; done
fi
cp -a "$1/." "$3/"
"""


def on_small_disk(runner, tmp_path, run, size, full=False):
    """Starts the run with its home on a small tmpfs; the answer and the journal afterwards."""
    source = tmp_path / "home.src"
    runner.home.rename(source)
    runner.home.mkdir()
    result = tmp_path / "result"
    result.mkdir()
    request = {"protocol": 1, "home": str(runner.home), "run_id": run.id, "version": "t",
               "spec": run.spec, "environment": runner.environment(), "secrets": {}}
    (tmp_path / "home.request").write_text(json.dumps(request))
    subprocess.run(["unshare", "-m", "sh", "-c", SMALL_DISK, "sh", str(runner.home), str(size),
                    str(result), str(runner.binary), "full" if full else ""],
                   check=True, timeout=120, env={"PATH": os.environ["PATH"],
                                                 "TENON_HOME": str(runner.home)})
    lines = (tmp_path / "result.answer").read_text().splitlines()
    segment = result / "runs" / run.id / "host.tj"
    return json.loads(lines[1]), segment


@needs_mounts
def test_a_disk_that_fills_up_costs_output_only(runner, tmp_path):
    if not unshare():
        pytest.skip("not root")
    script = r"""
import os, time
os.write(1, b"begin\n")
block = b"x" * 65535 + b"\n"
for i in range(200):
    os.write(1, block)
time.sleep(0.3)
os.write(2, b"late")
raise SystemExit(5)
"""
    run = runner.new(script)
    answer, segment = on_small_disk(runner, tmp_path, run, 4 << 20)
    assert "runner" in answer, answer
    journal = Journal(segment)
    end = journal.end
    assert (end["state"], end["exit_code"]) == ("Failed", 5)
    assert journal.stdout.startswith(b"begin\n")
    lost = sum(r.json["stdout_bytes"] for r in journal.of("gap"))
    assert lost > 1_000_000
    assert len(journal.stdout) + lost == 6 + 200 * 65536
    lost_err = sum(r.json.get("stderr_bytes", 0) for r in journal.of("gap"))
    assert len(journal.stderr) + lost_err == 4
    assert any("space" in r.json["reason"] for r in journal.of("gap"))


@needs_mounts
def test_space_that_comes_back_is_used_again_after_a_gap(runner, tmp_path):
    if not unshare():
        pytest.skip("not root")
    script = r"""
import os, time
filler = os.path.join(os.environ["TENON_HOME"], "filler")
os.write(1, b"begin\n")
f = os.open(filler, os.O_WRONLY | os.O_CREAT)
try:
    while True:
        os.write(f, b"x" * 4096)
except OSError:
    os.close(f)
for i in range(100):
    os.write(1, b"lost?" * 4000)
os.unlink(filler)
time.sleep(0.5)
os.write(1, b"after\n")
"""
    run = runner.new(script)
    answer, segment = on_small_disk(runner, tmp_path, run, 4 << 20)
    assert "runner" in answer, answer
    journal = Journal(segment)
    assert journal.end["state"] == "Completed"
    assert journal.stdout.startswith(b"begin\n") and journal.stdout.endswith(b"after\n")
    gaps = [r.number for r in journal.of("gap")]
    assert gaps
    lost = sum(r.json["stdout_bytes"] for r in journal.of("gap"))
    assert lost + len(journal.stdout) == 12 + 100 * 20000
    # The gap stands before what came after it.
    assert gaps[-1] < journal.of("output")[-1].number


@needs_mounts
def test_a_full_disk_at_the_start_is_an_answer(runner, tmp_path):
    if not unshare():
        pytest.skip("not root")
    answer, segment = on_small_disk(runner, tmp_path, runner.new(), 1 << 20, full=True)
    assert answer["error"]["kind"] == "unavailable", answer
    assert "space" in answer["error"]["message"]


HIDDEN_PROC = r"""
mount -t proc -o "$1" proc /proc || exit 77
shift
exec "$@"
"""


@needs_mounts
def test_with_a_hidden_proc_the_proof_says_what_it_did_not_see(user_runner):
    if not unshare():
        pytest.skip("not root")
    run = user_runner.new("import time\nprint('up', flush=True)\ntime.sleep(600)\n",
                          python="/usr/bin/python3")
    user_runner.make_user()
    user_runner.prefix = ["unshare", "-m", "sh", "-c", HIDDEN_PROC, "sh", "hidepid=2",
                          *user_runner.prefix]
    run.start()
    run.wait_for_output(b"up\n")
    run.ask("cancel", {"grace_us": 1_000_000})
    end = run.wait().end
    assert end["state"] == "Canceled"
    assert end["proof"]["left"] == 0 and end["proof"]["ended"] == 1
    assert "hidepid=" in end["proof"]["remark"]


@needs_mounts
def test_without_any_proc_a_run_still_works_and_says_so(runner):
    if not unshare():
        pytest.skip("not root")
    runner.prefix = ["unshare", "-m", "sh", "-c",
                     'mount -t tmpfs none /proc || exit 77; exec "$@"', "sh"]
    run = runner.new("import time\nprint('up', flush=True)\ntime.sleep(600)\n",
                     python="/usr/bin/python3")
    run.start()
    run.wait_for_output(b"up\n")
    run.ask("cancel", {"grace_us": 500_000})
    end = run.wait().end
    assert end["state"] == "Canceled"
    assert "/proc" in end["proof"]["remark"]


@needs_mounts
def test_a_read_only_project_tree_of_outputs_is_still_collected(runner):
    script = r"""
import os
os.makedirs("outputs/locked")
open("outputs/locked/file", "w").write("x")
os.chmod("outputs/locked/file", 0o444)
os.chmod("outputs/locked", 0o555)
os.chmod("outputs", 0o555)
"""
    run = runner.new(script)
    journal = run.start().wait()
    files = [f["path"] for r in journal.of("artifacts") for f in r.json["files"]]
    assert files == ["outputs/locked/file"]
    assert not (run.folder / "work").exists()
