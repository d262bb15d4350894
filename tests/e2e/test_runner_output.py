# SPDX-License-Identifier: Apache-2.0
"""What a script writes, and what the journal says it wrote."""

import hashlib
import json

import pytest

from e2e.harness import wait_until
from e2e.runner_harness import Runner, alive


@pytest.fixture
def runner(tmp_path):
    tool = Runner(tmp_path / "home", tmp_path)
    yield tool
    assert not tool.cleanup()


def test_every_byte_of_both_streams_arrives_unchanged(runner):
    script = r"""
import os
os.write(1, b"\x1b[31mred\x1b[0m\rprogress 10%\rprogress 20%\n")
os.write(2, bytes(range(256)))
os.write(1, b"\x00\x00nul\xff\xfe\xc3(\xe2\x82")
os.write(2, b"no newline at the end")
"""
    journal = runner.start(script).wait()
    assert journal.stdout == (b"\x1b[31mred\x1b[0m\rprogress 10%\rprogress 20%\n"
                              b"\x00\x00nul\xff\xfe\xc3(\xe2\x82")
    assert journal.stderr == bytes(range(256)) + b"no newline at the end"
    assert journal.end["state"] == "Completed"
    assert journal.end["exit_code"] == 0


def test_the_order_of_the_two_streams_is_that_of_writing(runner):
    script = r"""
import fcntl, os, struct, termios, time
for i in range(20):
    os.write(1 + i % 2, b"%d " % i)
    while struct.unpack("i", fcntl.ioctl(1 + i % 2, termios.FIONREAD, bytes(4)))[0]: time.sleep(0.001)  # until it is read
"""
    journal = runner.start(script).wait()
    words = b"".join(r.payload[1:] for r in journal.of("output")).split()
    assert [int(w) for w in words] == list(range(20))


def test_an_empty_script_has_a_whole_journal(runner):
    journal = runner.start("").wait()
    assert journal.states == ["Starting", "Preparing", "Running", "Finalizing"]
    assert [r.type for r in journal.records][0] == "runner"
    assert journal.stdout == b"" and journal.stderr == b""
    end = journal.end
    assert end["state"] == "Completed" and end["duration_us"] > 0 and end["start_us"] > 0
    assert end["peak_rss_bytes"] > 1_000_000
    assert end["proof"]["left"] == 0 and end["proof"]["ended"] == 0


def test_output_is_there_while_the_script_runs(runner):
    run = runner.start("import time\nprint('early')\ntime.sleep(600)\n")
    run.wait_for_output(b"early\n")
    assert run.journal().end is None
    run.ask("cancel", {"grace_us": 0})
    run.wait()


def test_100_mb_pass_through_with_little_memory(runner):
    script = r"""
import hashlib, os, sys
block = bytes(range(256)) * 256
digest = hashlib.sha256()
for i in range(1600):
    piece = block[i % 251:] + block[:i % 251]
    digest.update(piece)
    os.write(1, piece)
print(digest.hexdigest(), file=sys.stderr)
"""
    run = runner.new(script)
    run.start()
    peak = 0

    def over():
        nonlocal peak
        try:
            with open(f"/proc/{run.pid}/status") as f:
                for line in f:
                    if line.startswith("VmHWM:"):
                        peak = max(peak, int(line.split()[1]) * 1024)
        except OSError:
            pass
        return not alive(run.pid)

    wait_until(over, 120, "the end of the run")
    journal = run.journal()
    assert len(journal.stdout) == 1600 * 65536
    assert hashlib.sha256(journal.stdout).hexdigest() == journal.stderr.decode().strip()
    assert 0 < peak < 10_000_000


def test_a_script_that_closes_its_streams_still_ends_well(runner):
    script = "import os, time\nos.write(1, b'x')\nos.close(1)\nos.close(2)\ntime.sleep(0.3)\n"
    journal = runner.start(script).wait()
    assert journal.stdout == b"x"
    assert journal.end["exit_code"] == 0


def test_standard_input_is_empty(runner):
    journal = runner.start("import sys\nprint(repr(sys.stdin.read()), sys.stdin.isatty())\n").wait()
    assert journal.stdout == b"'' False\n"


@pytest.mark.parametrize("code", [0, 1, 3, 42, 125, 255])
def test_the_exit_code_is_the_scripts(runner, code):
    journal = runner.start(f"import os\nos._exit({code})\n").wait()
    assert journal.end["exit_code"] == code
    assert journal.end["state"] == ("Completed" if code == 0 else "Failed")
    assert not journal.end.get("reason")


def test_a_script_killed_by_a_signal_says_which(runner):
    journal = runner.start("import os\nprint('x')\nos.kill(os.getpid(), 9)\n").wait()
    end = journal.end
    assert (end["state"], end["exit_code"], end["signal"]) == ("Failed", 137, 9)
    assert end["reason"] == "killed by signal 9 (Killed)"
    assert journal.stdout == b"x\n"


def test_secrets_torn_over_writes_are_masked_and_written_nowhere(runner):
    secret, other = "hunter2-very-secret", "zweiter*geheim"
    script = r"""
import os, sys, time
import tenon
s, o = os.environ["PASSWORD"], os.environ["OTHER"]
for c in "say " + s + " and " + s[:7]:
    os.write(1, c.encode()); time.sleep(0.002)
os.write(2, (o + "|" + s + o).encode())
tenon.log("note", "it is " + s)
tenon.log("n", 1)
open("outputs/" + s, "w").write("x")
raise SystemExit(0 if sys.argv[1] == s else 9)
"""
    run = runner.start(script, secrets={"PASSWORD": secret, "OTHER": other},
                       arguments=[secret], keep=True)
    journal = run.wait()
    assert journal.end["exit_code"] == 0
    assert journal.stdout == b"say *** and hunter2"
    assert journal.stderr == b"***|******"
    assert ("note", 0, "it is ***") in journal.metrics()
    for path in run.folder.rglob("*"):
        if path.is_file() and "work" not in path.parts:
            assert secret.encode() not in path.read_bytes(), path
            assert other.encode() not in path.read_bytes(), path
    assert "PASSWORD" in (run.folder / "spec.json").read_text()


def test_a_secret_is_on_no_command_line_but_the_scripts_own(runner):
    secret = "hunter2-very-secret"
    run = runner.start("import time\nprint('up')\ntime.sleep(600)\n", secrets={"PASSWORD": secret})
    run.wait_for_output(b"up\n")
    with open(f"/proc/{run.pid}/cmdline", "rb") as f:
        assert secret.encode() not in f.read()
    with open(f"/proc/{run.pid}/environ", "rb") as f:
        assert secret.encode() not in f.read()
    run.ask("cancel", {"grace_us": 0})
    run.wait()


def test_the_working_directory_is_a_copy_with_an_empty_outputs(runner):
    script = r"""
import os
print(os.path.basename(os.getcwd()), sorted(os.listdir(".")), os.listdir("outputs"))
print(open("data/a.txt").read())
os.chdir("/")
"""
    run = runner.new(script, files={"data/a.txt": "text of a"})
    journal = run.start().wait()
    assert journal.stdout == b"work ['data', 'main.py', 'outputs'] []\ntext of a\n"
    assert not (run.folder / "work").exists()
    assert not (run.folder / "metrics").exists()


def test_outputs_are_collected_wherever_the_script_went(runner):
    script = r"""
import os
os.makedirs("outputs/deep")
open("outputs/deep/model.bin", "wb").write(b"m" * 100)
open("outputs/empty", "w").close()
os.chdir("/")
raise SystemExit(1)
"""
    run = runner.new(script)
    journal = run.start().wait()
    files = {f["path"]: f for r in journal.of("artifacts") for f in r.json["files"]}
    assert set(files) == {"outputs/deep/model.bin", "outputs/empty"}
    assert files["outputs/deep/model.bin"]["size"] == 100
    assert files["outputs/deep/model.bin"]["hash"] == hashlib.sha256(b"m" * 100).hexdigest()
    assert len(journal.of("artifacts")[-1].json["tree"]) == 64
    # Kept after a failure, for whoever wants to look.
    assert (run.folder / "work/outputs/deep/model.bin").exists()


def test_symlinks_in_outputs_become_what_they_lead_to(runner):
    script = r"""
import os
os.makedirs("ckpt")
open("ckpt/best.pt", "w").write("precious")
open("outputs/model_10.bin", "w").write("ten")
os.symlink("model_10.bin", "outputs/latest")
os.symlink(os.path.abspath("ckpt/best.pt"), "outputs/best.pt")
os.symlink("../ckpt", "outputs/all")
os.symlink("/etc/passwd", "outputs/passwd")
"""
    journal = runner.new(script).start().wait()
    files = {f["path"]: f["size"] for r in journal.of("artifacts") for f in r.json["files"]}
    assert files == {"outputs/model_10.bin": 3, "outputs/latest": 3, "outputs/best.pt": 8, "outputs/all/best.pt": 8}
    assert any("symlinks" in n.json["text"] and "passwd" in n.json["text"] for n in journal.of("notice"))


@pytest.mark.parametrize("target", ["/", ".", ".."], ids=["root", "home", "above"])
def test_outputs_that_lead_above_tenons_home_are_not_collected(runner, target):
    """All of the machine's files, Tenon's own among them."""
    where = str((runner.home / target).resolve())
    script = f"import os\nos.rmdir('outputs')\nos.symlink({where!r}, 'outputs')\n"
    run = runner.start(script)
    journal = run.wait()
    assert journal.end["state"] == "Completed" and not journal.end.get("reason"), journal.end
    assert [f for r in journal.of("artifacts") for f in r.json["files"]] == []
    assert any(f"outputs/: it is a symlink to {where}" in n["text"] for n in journal.notices), journal.notices
    # Nothing is left to be collected, so nothing is kept.
    assert not (run.folder / "work").exists()


def test_many_outputs_make_records_of_a_thousand(runner):
    script = "for i in range(2500):\n    open('outputs/%d' % i, 'w').close()\n"
    journal = runner.start(script).wait()
    sizes = [len(r.json["files"]) for r in journal.of("artifacts")]
    assert sum(sizes) == 2500 and max(sizes) <= 1000
    assert [bool(r.json.get("tree")) for r in journal.of("artifacts")] == [False, False, True]


def test_keep_keeps_the_working_directory(runner):
    run = runner.start("print(1)\n", keep=True)
    run.wait()
    assert (run.folder / "work/main.py").exists()


def test_the_environment_is_layered_as_promised(runner, tmp_path):
    script = r"""
import os, json
names = ["FROM_SHELL", "BOTH", "SECRET_ONE", "PYTHONUNBUFFERED", "TENON_RUN_ID", "TENON_RUN_KEY",
         "AZUREML_NATIVE_SHARE_DIRECTORY", "NEW\n"]
print(json.dumps({n: os.environ.get(n) for n in names}))
print(os.path.isdir(os.environ["AZUREML_NATIVE_SHARE_DIRECTORY"]))
print(os.environ["PYTHONPATH"].split(":")[1:], os.environ["TENON_OUTPUTS_DIR"])
"""
    run = runner.new(script, environment=[["BOTH", "spec"], ["PYTHONUNBUFFERED", "0"]],
                     secret_names=["SECRET_ONE"], shared_directory="~/shared/proj")
    run.start({"FROM_SHELL": "yes", "BOTH": "shell", "PYTHONPATH": "/a:/b", "TENON_RUN_KEY": "x",
               "AZUREML_NATIVE_SHARE_DIRECTORY": "/other/"}, {"SECRET_ONE": "a-secret-value"})
    lines = run.wait().stdout.decode().splitlines()
    got = json.loads(lines[0])
    assert got["FROM_SHELL"] == "yes" and got["BOTH"] == "spec"
    assert got["SECRET_ONE"] == "***" and got["PYTHONUNBUFFERED"] == "1"
    assert got["TENON_RUN_ID"] == run.id and got["TENON_RUN_KEY"] == run.spec["key"]
    assert got["AZUREML_NATIVE_SHARE_DIRECTORY"] == f"{tmp_path}/shared/proj/"
    assert lines[1] == "True"
    assert lines[2] == f"['/a', '/b'] {run.folder.parents[1]}/work/{run.id}/work/outputs"


def test_metrics_of_several_processes_arrive(runner):
    script = r"""
import os, tenon
for i in range(5):
    tenon.log("loss", i / 2, step=i)
if os.fork() == 0:
    tenon.log("child", 7)
    os._exit(0)
os.wait()
"""
    journal = runner.start(script).wait()
    points = journal.metrics()
    assert [p for p in points if p[0] == "loss"] == [("loss", i, i / 2) for i in range(5)]
    assert ("child", 0, 7) in points
    assert len(points) == 6


def test_a_waited_for_metric_is_in_the_journal(runner):
    script = r"""
import time
from azureml.logging import get_azureml_logger
log = get_azureml_logger()
handle = log.log("waited", 5)
print("durable", handle.wait(), flush=True)
time.sleep(600)
"""
    run = runner.start(script)
    run.wait_for_output(b"durable")
    assert ("waited", 0, 5) in run.journal().metrics()
    run.ask("cancel", {"grace_us": 0})
    run.wait()


def test_non_utf8_arguments_and_environment_reach_the_script(runner):
    run = runner.new("import os, sys\nprint(os.fsencode(sys.argv[1]), os.environb[b'ODD'])\n",
                     arguments=["a\uffffffb"])
    run.start({"ODD": "x\uffff80\uffffc3"})
    assert run.wait().stdout == rb"b'a\xffb' b'x\x80\xc3'" + b"\n"
