# SPDX-License-Identifier: Apache-2.0
"""`submit` from a user's side: exit codes, exact bytes, environment, snapshot, metrics, secrets."""

import json
import os
import re
import subprocess
import sys

import pytest

from e2e.harness import LOCAL_COMPUTE, LOCAL_RUNCONFIG


def last(tenon, folder):
    return tenon.json("history", "last", "-o", "json", cwd=folder)


def test_exit_code_is_the_scripts(tenon, project):
    folder = project("import sys; sys.exit(int(sys.argv[1]))\n")
    for code in (0, 1, 7, 255):
        assert tenon.run("submit", "main.py", code, cwd=folder).code == code
    runs = tenon.json("history", "list", "-o", "json", cwd=folder)
    assert [r["status"] for r in runs] == ["Failed", "Failed", "Failed", "Completed"]


NASTY = r"""
import os, sys
out = b"\x1b[31mred\x1b[0m\r 50%\r100%\n\x00NUL\xff\xfe\xc3\x28 bad utf8\n" + bytes(range(256)) * 40
os.write(1, out)
os.write(2, b"err \x80\x81\n" + bytes(reversed(range(256))))
os.write(1, b"no newline at the end")
"""


def test_bytes_are_exactly_those_of_a_direct_run(tenon, project):
    folder = project(NASTY)
    direct = subprocess.run([sys.executable, "main.py"], cwd=folder, capture_output=True, check=True)
    through = tenon.run("submit", "-q", "main.py", cwd=folder).ok()
    assert tenon.run("logs", "last", "--raw", "stdout", cwd=folder).out_bytes == direct.stdout
    assert tenon.run("logs", "last", "--raw", "stderr", cwd=folder).out_bytes == direct.stderr
    watched = tenon.run("submit", "main.py", cwd=folder).ok()
    assert watched.out_bytes == direct.stdout
    assert direct.stderr in watched.err_bytes
    assert through.out.strip() == re.search(r"proj_\d+", through.out).group()


def test_streams_keep_their_order_when_the_script_takes_turns(tenon, project):
    folder = project("""
import fcntl, struct, sys, termios, time
def say(stream, text):
    stream.write(text)
    stream.flush()
    while struct.unpack("i", fcntl.ioctl(stream, termios.FIONREAD, bytes(4)))[0]: time.sleep(0.001)  # until it is read
for i in range(20):
    say(sys.stdout, "o%d " % i)
    say(sys.stderr, "e%d " % i)
""")
    tenon.run("submit", "-q", "main.py", cwd=folder).ok()
    both = tenon.run("logs", "last", "--raw", "both", cwd=folder).out
    assert both == "".join(f"o{i} e{i} " for i in range(20))


def test_environment_of_the_script(tenon, project):
    share = tenon.scratch / "share"
    folder = project("""
import json, os, sys
print(json.dumps({"env": dict(os.environ), "cwd": os.getcwd(), "argv": sys.argv,
                  "stdin": sys.stdin.read(), "outputs": os.path.isdir("outputs"),
                  "files": sorted(os.listdir("."))}))
""", compute=LOCAL_COMPUTE + f"nativeSharedDirectory: {share}\n",
        runconfig=LOCAL_RUNCONFIG + 'EnvironmentVariables:\n  "GREETING": "Hello World"\n  N: 5\n',
        files={"data.csv": "1,2\n"})
    seen = json.loads(tenon.run("submit", "main.py", "--flag", "v", "pos", cwd=folder,
                                env={"FROM_SHELL": "yes"}).ok().out)
    env = seen["env"]
    assert env["GREETING"] == "Hello World" and env["N"] == "5" and env["FROM_SHELL"] == "yes"
    assert env["PYTHONUNBUFFERED"] == "1"
    assert env["AZUREML_NATIVE_SHARE_DIRECTORY"] == f"{share}/proj/"
    assert os.path.isdir(env["AZUREML_NATIVE_SHARE_DIRECTORY"])
    assert seen["argv"] == ["main.py", "--flag", "v", "pos"]
    assert seen["stdin"] == "" and seen["outputs"] is True
    assert seen["cwd"] != str(folder) and "data.csv" in seen["files"]
    assert "aml_config" in seen["files"]


def test_share_variable_is_absent_without_the_key(tenon, project):
    folder = project("import os; print('AZUREML_NATIVE_SHARE_DIRECTORY' in os.environ)\n")
    assert tenon.run("submit", "main.py", cwd=folder).ok().out == "False\n"


def test_outputs_are_collected_whatever_directory_the_script_changes_to(tenon, project):
    folder = project("""
import os
open("outputs/a.txt", "w").write("A")
os.makedirs("outputs/sub")
os.chdir("/")
""")
    tenon.run("submit", "main.py", cwd=folder).ok()
    run = last(tenon, folder)
    assert "outputs/a.txt" in run["attachments"].split(", ")
    assert not (folder / "outputs").exists()


def test_project_is_not_touched_and_script_in_sub_folder_runs_at_the_root(tenon, project):
    folder = project("", files={"Code/train.py": "import os; print(open('data.csv').read())\n",
                                "data.csv": "42"})
    before = sorted(p.relative_to(folder) for p in folder.rglob("*"))
    assert tenon.run("submit", "train.py", cwd=folder / "Code").ok().out == "42\n"
    assert tenon.run("submit", ".\\Code\\train.py", cwd=folder).ok().out == "42\n"
    assert tenon.run("submit", folder / "Code/train.py", cwd=folder).ok().out == "42\n"
    assert sorted(p.relative_to(folder) for p in folder.rglob("*")) == before


def test_everything_after_the_script_belongs_to_it(tenon, project):
    folder = project("import sys; print(sys.argv[1:])\n")
    args = ["--wait", "-c", "docker", "--help", "--json", "-a", "--", "x y", ""]
    assert tenon.run("submit", "-c", "local", "main.py", *args, cwd=folder).ok().out == f"{args}\n"


def test_parameters_are_recorded_without_a_call(tenon, project):
    folder = project()
    tenon.run("submit", "main.py", "--epochs", "20", "10", "--lr=0.1", "--gpu", "pos", cwd=folder).ok()
    tenon.run("submit", "main.py", "pos", "--verbose", cwd=folder).ok()
    runs = tenon.json("history", "list", "-o", "json", cwd=folder)
    assert runs[1]["properties"]["Parameters"] == {"epochs": "20 10", "lr": "0.1", "gpu": "pos"}
    assert runs[0]["properties"]["Parameters"] == {"verbose": "true"}


def test_workbench_words_print_the_workbench_text(tenon, project):
    folder = project("print('out')\n")
    text = tenon.run("experiment", "submit", "-c", "local", "main.py", cwd=folder).ok().out
    run_id = text.split()[1]
    assert text == (f"RunId: {run_id}\n\nExecuting user inputs .....\n===========================\n\n"
                    f"out\n\nExecution Details\n=================\nRunId: {run_id}\n")
    status = tenon.run("experiment", "status", "--run", run_id, "--target", "local", cwd=folder).ok()
    assert "state : Completed" in status.out


def test_json_last_line_and_detach(tenon, project):
    folder = project("print('out')\n")
    lines = tenon.run("submit", "--json", "main.py", cwd=folder).ok().out.splitlines()
    assert lines[0] == "out" and json.loads(lines[-1])["status"] == "Completed"
    detached = tenon.run("submit", "-a", "main.py", cwd=folder).ok().out.strip()
    assert tenon.run("logs", "-f", detached, cwd=folder).ok().out == "out\n"


def test_metrics_become_series(tenon, project):
    folder = project("""
from azureml.logging import get_azureml_logger
import tenon
log = get_azureml_logger()
for i in range(10): log.log("loss", 1.0 / (i + 1))
log.log("ok", True); log.log("list", [1, 2, 3]); log.log("text", "hello world")
tenon.log("acc", 0.5, step=100)
log.log("status", 3).wait()
""")
    tenon.run("submit", "main.py", cwd=folder).ok()
    run = last(tenon, folder)
    assert run["loss"] == 0.1 and run["ok"] is True and run["list"] == [1, 2, 3]
    assert run["text"] == "hello world" and run["metric.status"] == 3 and run["status"] == "Completed"
    points = tenon.json("metrics", "last", "loss", "--json", cwd=folder)
    assert [p["value"] for p in points] == [1.0 / (i + 1) for i in range(10)]
    assert [p["step"] for p in points] == list(range(10))
    assert tenon.json("metrics", "last", "acc", "--json", cwd=folder)[0]["step"] == 100


def test_points_survive_exit_kill_fork_and_threads(tenon, project):
    folder = project("""
import os, signal, sys, threading
from azureml.logging import get_azureml_logger
log = get_azureml_logger()
def work(n):
    for i in range(1000): log.log("thread", n)
threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
[t.start() for t in threads]; [t.join() for t in threads]
for n in range(3):
    if os.fork() == 0:
        for i in range(1000): log.log("child", n)
        os._exit(0)
for n in range(3): os.wait()
for i in range(12345): log.log("parent", i)
os.kill(os.getpid(), signal.SIGKILL)
""")
    assert tenon.run("submit", "main.py", cwd=folder).code == 137
    count = {name: len(tenon.json("metrics", "last", name, "--json", cwd=folder))
             for name in ("thread", "child", "parent")}
    assert count == {"thread": 4000, "child": 3000, "parent": 12345}


SECRET = "hunter2-very-secret"


def everything_under(path):
    data = b""
    for root, _, files in os.walk(path):
        for name in files:
            file = os.path.join(root, name)
            if os.path.isfile(file):  # not the runner's pipe
                with open(file, "rb") as f:
                    data += f.read()
    return data


def test_secret_reaches_the_script_and_nothing_we_write(tenon, project):
    folder = project("""
import os, sys, time
from azureml.logging import get_azureml_logger
secret = os.environ["API_KEY"]
assert len(secret) == 19
print("key is", secret)
for c in secret: sys.stdout.write(c); sys.stdout.flush(); time.sleep(0.002)
print()
sys.stderr.write("torn " + secret[:7]); sys.stderr.flush(); time.sleep(0.05)
sys.stderr.write(secret[7:] + "\\n")
get_azureml_logger().log("note", "has " + secret)
sys.exit("fatal: " + secret)
""")
    done = tenon.run("submit", "--secret", "API_KEY", "main.py", "--key", SECRET, cwd=folder,
                     env={"API_KEY": SECRET})
    assert done.code == 1
    assert SECRET not in done.out + done.err
    assert done.out == "key is ***\n***\n"
    assert "torn ***" in done.err and "fatal: ***" in done.err
    for args in (("history", "list", "-o", "json"), ("show", "last"), ("logs", "last"),
                 ("history", "info", "-r", "last", "--artifact", "control_log")):
        assert SECRET not in tenon.run(*args, cwd=folder).out
    for path in (tenon.home / "history.db",):
        assert path.exists()
    assert not tenon.processes_left()  # the runner tidies up after the end
    assert SECRET.encode() not in everything_under(tenon.home)


def test_short_or_visible_secrets_are_refused(tenon, project):
    folder = project()
    short = tenon.run("submit", "--secret", "K", "main.py", cwd=folder, env={"K": "abc"})
    assert short.code == 125 and "shorter than 6" in short.err
    visible = tenon.run("submit", "--secret", "K=abcdefgh", "main.py", cwd=folder)
    assert visible.code == 125 and "abcdefgh" not in visible.err
    missing = tenon.run("submit", "--secret", "NOT_THERE", "main.py", cwd=folder)
    assert missing.code == 125 and "NOT_THERE" in missing.err


def test_pyspark_or_missing_framework_is_an_error_with_its_fix(tenon, project):
    folder = project(runconfig="ArgumentVector:\n- $file\nFramework: PySpark\nTarget: local\n")
    done = tenon.run("submit", "main.py", cwd=folder)
    assert done.code == 125
    assert "aml_config/local.runconfig:3" in done.err and "Framework: Python" in done.err
    folder = project(name="other", runconfig="Target: local\n")
    done = tenon.run("submit", "main.py", cwd=folder)
    assert done.code == 125 and "Framework: Python" in done.err


def test_typos_get_help(tenon, project):
    folder = project()
    done = tenon.run("sumbit", "main.py", cwd=folder)
    assert done.code == 2 and "tenon submit" in done.err
    done = tenon.run("submit", "--detatch", "main.py", cwd=folder)
    assert done.code == 2 and "--detach" in done.err
    done = tenon.run("submit", "mian.py", cwd=folder)
    assert done.code == 125 and "main.py" in done.err
    done = tenon.run("submit", "-c", "locl", "main.py", cwd=folder)
    assert done.code == 125 and "local" in done.err
    assert tenon.run("show", "nonsense", cwd=folder).code == 3


def test_a_script_that_no_run_gets_is_refused(tenon, project):
    folder = project(files={"scratch/train.py": "print(1)\n", "outputs/train.py": "print(2)\n", "Code/train.py": "print(3)\n",
                            ".amlignore": "scratch/\n"})
    for script in ["scratch/train.py", "outputs/train.py"]:
        done = tenon.run("submit", script, cwd=folder)
        assert done.code == 125 and f"`{script}` is left out" in done.err and ".amlignore" in done.err, repr(done)
    assert json.loads(tenon.run("runs", "-o", "json", cwd=folder).ok().out) == []
    (folder / "same").symlink_to("Code")
    assert tenon.run("submit", "same/train.py", cwd=folder).ok().out == "3\n"


def test_a_script_whose_name_begins_with_a_dash(tenon, project):
    folder = project(files={"-x.py": "import sys; print(sys.argv[1:])\n"})
    assert tenon.run("submit", "./-x.py", "-y", cwd=folder).ok().out == "['-y']\n"


def test_dry_run_explains_and_changes_nothing(tenon, project):
    folder = project()
    done = tenon.run("submit", "--dry-run", "--explain", "main.py", "--x", "1", cwd=folder).ok()
    assert "aml_config/local.runconfig:" in done.out and "python3" in done.out
    assert not (tenon.home / "runs").exists() or not list((tenon.home / "runs").iterdir())


def test_git_state_is_recorded(tenon, project):
    folder = project("print(1)\n")
    git = ["git", "-c", "user.name=n", "-c", "user.email=e@example.com", "-C", str(folder)]
    subprocess.run(git + ["init", "-q", "-b", "trunk"], check=True)
    subprocess.run(git + ["add", "."], check=True)
    subprocess.run(git + ["commit", "-q", "-m", "x"], check=True)
    commit = subprocess.run(git + ["rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    (folder / "main.py").write_text("print(2)\n")
    (folder / "untracked.txt").write_text("u")
    assert tenon.run("submit", "main.py", cwd=folder).ok().out == "2\n"
    properties = last(tenon, folder)["properties"]
    assert properties["GitCommit"] == commit.stdout.strip()
    assert properties["GitBranch"] == "trunk" and properties["GitDirty"] is True
    out = tenon.scratch / "back"
    tenon.run("restore", "last", out, cwd=folder).ok()
    assert (out / "untracked.txt").read_text() == "u" and not (out / ".git").exists()


def test_restore_refuses_to_overwrite_and_keeps_passwords(tenon, project):
    folder = project("print(1)\n", files={
        "aml_config/vm.compute": "type: remotedocker\naddress: 203.0.113.7\nusername: u\npassword: s3cret-one\n"})
    tenon.run("submit", "main.py", cwd=folder).ok()
    assert not tenon.processes_left()
    assert b"s3cret-one" not in everything_under(tenon.home)
    (folder / "main.py").write_text("print('changed')\n")
    (folder / "extra.py").write_text("left alone")
    vm = folder / "aml_config/vm.compute"
    vm.write_text("type: remotedocker\naddress: 203.0.113.7\nusername: u\npassword: s3cret-two\n")
    refused = tenon.run("restore", "1", cwd=folder)
    assert refused.code == 2 and "main.py" in refused.err
    assert (folder / "main.py").read_text() == "print('changed')\n"
    tenon.run("restore", "1", "--force", cwd=folder).ok()
    assert (folder / "main.py").read_text() == "print(1)\n"
    assert (folder / "extra.py").read_text() == "left alone"
    assert "s3cret-two" in vm.read_text()


def test_rerun_uses_the_old_files_and_new_arguments(tenon, project):
    folder = project("import sys; print('v1', sys.argv[1:])\n")
    tenon.run("submit", "main.py", "--a", "1", cwd=folder).ok()
    (folder / "main.py").write_text("print('v2')\n")
    assert tenon.run("rerun", "1", cwd=folder).ok().out == "v1 ['--a', '1']\n"
    assert tenon.run("rerun", "1", "--b", "2", cwd=folder).ok().out == "v1 ['--b', '2']\n"


def test_untracked_runs_are_not_listed(tenon, project):
    folder = project(runconfig=LOCAL_RUNCONFIG.replace("TrackedRun: true", "TrackedRun: false"))
    assert tenon.run("submit", "main.py", cwd=folder).ok().out == "hello\n"
    assert tenon.json("history", "list", "-o", "json", cwd=folder) == []


def test_folder_without_aml_config_runs_with_a_notice(tenon, tmp_path):
    folder = tmp_path / "plain"
    folder.mkdir()
    (folder / "x.py").write_text("print('plain')\n")
    done = tenon.run("submit", "x.py", cwd=folder).ok()
    assert done.out == "plain\n" and "aml_config" in done.err
    assert len(tenon.json("runs", "--json", cwd=folder)) == 1


def test_missing_python_is_a_clear_end(tenon, project):
    folder = project(compute="type: local\npythonLocation: /no/such/python\n")
    done = tenon.run("submit", "main.py", cwd=folder)
    assert done.code == 125 and "/no/such/python" in done.err
    run = last(tenon, folder)
    assert run["status"] == "Failed" and "/no/such/python" in run["properties"]["Reason"]


def test_output_pipe_closed_early_is_quiet_and_the_run_goes_on(tenon, project):
    folder = project("""
import time
for i in range(3000): print("line", i, flush=True)
""")
    shell = f"{tenon.binary} submit main.py 2>/dev/null | head -n 2"
    done = subprocess.run(["bash", "-c", shell], cwd=folder, env=tenon.env(), capture_output=True,
                          text=True, timeout=60)
    assert done.stdout == "line 0\nline 1\n"
    full = tenon.run("logs", "-f", "last", cwd=folder).out
    assert full == "".join(f"line {i}\n" for i in range(3000))


def test_progress_and_colour_only_on_a_terminal(tenon, project):
    folder = project()
    on = tenon.pty("submit", "main.py", cwd=folder)
    assert "\x1b[" in on.out
    assert "\x1b[" not in tenon.pty("submit", "main.py", cwd=folder, env={"NO_COLOR": "1"}).out
    off = tenon.run("submit", "main.py", cwd=folder)
    assert "\x1b[" not in off.out + off.err


@pytest.mark.parametrize("command", [("runs",), ("history", "list"), ("ps",)])
def test_first_look_at_a_home_that_is_not_there_finds_nothing_and_makes_nothing(tenon, project, command):
    folder = project()
    done = tenon.run(*command, cwd=folder).ok()
    assert done.out == "" and done.err
    assert tenon.json(*command, "-o", "json", cwd=folder) == []
    assert tenon.run("show", "last", cwd=folder).code == 3
    assert not tenon.home.exists()
