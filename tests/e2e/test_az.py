# SPDX-License-Identifier: Apache-2.0
"""The program `az`, and everything the Workbench's users and clients typed."""

import os
import re
import subprocess

import pytest

from . import harness

TRAIN = """
import os, sys
from azureml.logging import get_azureml_logger
logger = get_azureml_logger()
print("rate", sys.argv[1:])
logger.log("Regularization Rate", 0.078125)
logger.log("Accuracy", 0.9)
with open("outputs/model.pkl", "wb") as f:
    f.write(b"\\0model")
"""


class Az(harness.Tenon):
    """Runs `az …` as it was installed, with the other programs that a test puts on the PATH."""

    def __init__(self, tenon, folder):
        super().__init__(folder / "az", tenon.home, tenon.scratch)
        self.folder = folder

    def env(self, extra=None):
        path = f"{self.folder}:{os.environ['PATH']}"
        return super().env({"PATH": path, **(extra or {})})


@pytest.fixture
def az(tenon):
    folder = tenon.scratch / "az-bin"
    tenon.run("install-az", folder).ok()
    tool = Az(tenon, folder)
    yield tool
    tool.cleanup()


def real_az(folder, text="echo real \"$@\"\n"):
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "az"
    program.write_text("#!/bin/sh\n" + text)
    program.chmod(0o755)
    return folder


# --- the program itself


def test_install_writes_a_program_and_says_where_it_leads(tenon):
    folder = tenon.scratch / "new" / "bin"
    done = tenon.run("install-az", folder).ok()
    assert done.out == f"{folder}/az\n"
    assert os.access(folder / "az", os.X_OK)
    assert str(tenon.binary) in done.err and "not on the PATH" in done.err
    again = tenon.json("install-az", folder, "--json")
    assert again["path"] == f"{folder}/az" and again["tenon"] == str(tenon.binary)


def test_install_does_not_replace_the_real_az(tenon):
    folder = real_az(tenon.scratch / "real")
    before = (folder / "az").read_bytes()
    refused = tenon.run("install-az", folder)
    assert refused.code == 5 and "is not tenon's" in refused.err
    assert (folder / "az").read_bytes() == before
    tenon.run("install-az", folder, "--force").ok()
    assert b"tenon install-az" in (folder / "az").read_bytes()


def test_az_finds_tenon_after_it_was_moved(tenon):
    old = tenon.scratch / "old" / "tenon"
    old.parent.mkdir()
    old.write_bytes(tenon.binary.read_bytes())
    old.chmod(0o755)
    mover = harness.Tenon(old, tenon.home, tenon.scratch)
    folder = tenon.scratch / "az-bin"
    mover.run("install-az", folder).ok()
    new = tenon.scratch / "new"
    new.mkdir()
    old.rename(new / "tenon")
    tool = Az(tenon, folder)
    assert tool.run("ml", "--help", env={"PATH": f"{new}:/usr/bin:/bin"}).ok().out.startswith("The commands of")
    lost = tool.run("ml", "--help", env={"PATH": "/usr/bin:/bin"})
    assert lost.code == 127 and "hint:" in lost.err and "install-az" in lost.err


def test_link_called_az_is_az(tenon):
    link = tenon.scratch / "az"
    link.symlink_to(tenon.binary)
    tool = harness.Tenon(link, tenon.home, tenon.scratch)
    assert "az ml [OPTIONS]" in tool.run("ml", "-h").ok().out


def test_other_commands_go_to_the_real_az_with_every_word(az, tenon):
    real = real_az(tenon.scratch / "real", 'printf "<%s>" "$@"; exit 7\n')
    path = {"PATH": f"{az.folder}:{real}:/usr/bin:/bin"}
    for words in (["vm", "list", "-o", "table"], ["--version"], ["ml", "job", "create", "-f", "a b.yml"], []):
        done = az.run(*words, env=path)
        assert done.code == 7, done
        assert done.out == ("".join(f"<{w}>" for w in words) or "<>")
    assert "history" in az.run("ml", "-h", env=path).ok().out
    assert az.run("ml", "history", "list", env=path, cwd=tenon.scratch).ok().json() == []


def test_real_az_comes_first_on_the_path_or_not(az, tenon):
    real = real_az(tenon.scratch / "real")
    assert az.run("vm", env={"PATH": f"{real}:{az.folder}:/usr/bin:/bin"}).ok().out == "real vm\n"


def test_two_of_ours_do_not_call_each_other(az, tenon):
    second = tenon.scratch / "second"
    tenon.run("install-az", second).ok()
    alone = az.run("vm", "list", env={"PATH": f"{az.folder}:{second}:/usr/bin:/bin"})
    assert alone.code == 3
    assert "`az vm` is no part of Tenon, and there is no other program az on the PATH" in alone.err


def test_real_az_that_calls_us_again_comes_to_an_end(az, tenon):
    real = real_az(tenon.scratch / "real", f'exec {az.folder}/az "$@"\n')
    done = az.run("vm", env={"PATH": f"{real}:/usr/bin:/bin"}, timeout=30)
    assert done.code == 4 and "passed on" in done.err


@pytest.mark.parametrize("words, instead", [
    ("service create realtime -n iris", "history download"), ("notebook start", "jupyter"),
    ("env setup -c", "computetarget attach"), ("account modelmanagement set", "tenon submit"),
    ("model register", "history promote"), ("manifest create", "history promote"), ("image create", "docker"),
    ("workspace create", "project create"), ("datasource create", "pandas"),
    ("project update --repo x", "git remote"), ("project delete", "delete the folder")])
def test_what_is_not_here_gets_a_sentence(az, tenon, words, instead):
    real = real_az(tenon.scratch / "real")
    done = az.run("ml", *words.split(), env={"PATH": f"{az.folder}:{real}:/usr/bin:/bin"})
    assert done.code == 2 and done.out == ""
    assert re.fullmatch(r"error: .+\n\nhint: .+\n", done.err), done
    assert instead in done.err
    helped = az.run("ml", *words.split(), "-h").ok()
    assert instead in helped.out
    if not words.startswith("env"):
        ours = tenon.run(*words.split())
        assert (ours.code, ours.err) == (2, done.err)


def test_data_preparation_files_get_a_sentence(az, project):
    folder = project(files={"clean.dprep": "{}"})
    done = az.run("ml", "experiment", "submit", "-c", "local", "clean.dprep", cwd=folder)
    assert done.code == 125 and ".dprep" in done.err and "pandas" in done.err


def test_typing_error_is_helped(az):
    assert "did you mean `az ml history`?" in az.run("ml", "hisstory", env={"PATH": "/usr/bin:/bin"}).err
    assert "did you mean `az ml history list`?" in az.run("ml", "history", "lst").err


def test_help_and_debug_everywhere(az, tenon):
    groups = re.findall(r"^  (\w+) {2,}", az.run("ml", "-h").ok().out.split("Subcommands:")[1], re.M)
    assert {"experiment", "history", "execute"} <= set(groups)
    for group in groups:
        commands = re.findall(r"^  (\w+) {2,}", az.run("ml", group, "-h").ok().out.split("Subcommands:")[1], re.M)
        assert commands
        for command in commands:
            text = az.run("ml", group, command, "-h").ok().out
            if "Subcommands:" in text and "--debug" not in text:
                continue  # a group below a group
            assert f"az ml {group} {command}" in text and "--debug" in text and "--query" in text, text
            assert "Examples:\n" in text


# --- the transcripts of 2017 and 2018, under both names


def both(az, tenon):
    return [(az, ["ml"], True), (tenon, [], False)]


def normal(text, run_id):
    return text.replace(run_id, "<RUN>")


SUBMIT_TEXT = """RunId: <RUN>

Executing user inputs .....
===========================

rate ['0.1', '--wait', '-c', 'x']

Execution Details
=================
RunId: <RUN>
"""


@pytest.mark.parametrize("script", ["train.py", "./train.py", ".\\train.py", "code/sub/train.py",
                                    ".\\code\\sub\\train.py", "code\\sub\\train.py"])
def test_submit_prints_what_it_printed(az, tenon, project, script):
    folder = project(files={"train.py": TRAIN, "code/sub/train.py": TRAIN})
    for tool, prefix, _ in both(az, tenon):
        done = tool.run(*prefix, "experiment", "submit", "-c", "local", script, "0.1", "--wait", "-c", "x",
                        cwd=folder).ok()
        run_id = re.match(r"RunId: (\S+)\n", done.out)[1]
        assert re.fullmatch(r"proj_\d{13}", run_id)
        assert normal(done.out, run_id) == SUBMIT_TEXT
        # A batch file of the time: second word of the RunId line, third word of the state line.
        state = tool.run(*prefix, "experiment", "status", "--run", run_id, "--target", "local", cwd=folder).ok()
        line = next(x for x in state.out.splitlines() if "state : " in x)
        assert line.split()[2] == "Completed"
        assert next(x for x in state.out.splitlines() if "RunId" in x).split()[1] == run_id
        name = tool.run(*prefix, "history", "last", "--query", "script_name", cwd=folder).ok().json()
        assert name == ("train.py" if "code" not in script else "code/sub/train.py")


def test_older_words_for_submit(az, tenon, project):
    folder = project(TRAIN, script_name="train.py")
    for tool, prefix, _ in both(az, tenon):
        for option in ("-c", "-t"):
            done = tool.run(*prefix, "execute", "start", option, "local", "train.py", "1", cwd=folder).ok()
            assert done.out.startswith("RunId: proj_") and "rate ['1']" in done.out
        missing = tool.run(*prefix, "execute", "start", "-t", "nowhere", "train.py", cwd=folder)
        assert missing.code == 125 and "nowhere" in missing.err and "configuration" in missing.err


def test_submit_as_json_when_asked(az, project):
    folder = project(TRAIN, script_name="train.py")
    done = az.run("ml", "experiment", "submit", "-c", "local", "-o", "json", "train.py", cwd=folder).ok()
    assert re.search(r'\{"run_id":"proj_\d+","status":"Completed"\}\n$', done.out)
    assert az.run("ml", "experiment", "status", "-o", "json", cwd=folder).ok().json()["status"] == "Completed"


MEMBERS = {
    "Accuracy": float, "Regularization Rate": float, "attachments": str, "created_utc": str,
    "description": type(None), "duration": str, "end_time_utc": str, "experiment_id": str,
    "heartbeat_enabled": bool, "hidden": bool, "name": type(None), "parent_run_id": type(None),
    "properties": dict, "run_id": str, "run_number": int, "script_name": str, "start_time_utc": str,
    "status": str, "target": str, "user_id": str}
TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00"
GUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"


def test_history_json_has_the_form_it_had(az, tenon, project):
    folder = project(TRAIN, script_name="train.py", name="myIris")
    az.run("ml", "experiment", "submit", "-c", "local", "train.py", cwd=folder).ok()
    for tool, prefix, is_az in both(az, tenon):
        json_option = [] if is_az else ["-o", "json"]
        runs = tool.run(*prefix, "history", "list", *json_option, cwd=folder).ok()
        run = runs.json()[0]
        assert {k: type(v) for k, v in run.items()} == MEMBERS
        assert list(run) == sorted(run), "members in the order of code points"
        assert run["attachments"].split(", ") == [
            "control_log", "control_log.txt", "driver_log", "driver_log.txt", "pid.txt", "outputs/model.pkl"]
        for member in ("created_utc", "start_time_utc", "end_time_utc"):
            assert re.fullmatch(TIME, run[member])
        assert re.fullmatch(r"\d:\d\d:\d\d\.\d{6}", run["duration"])
        for member in ("experiment_id", "user_id"):
            assert re.fullmatch(GUID, run[member])
        assert re.fullmatch(r"[0-9a-f]{40}", run["properties"]["CommitId"])
        assert (run["run_number"], run["target"], run["script_name"]) == (1, "local", "train.py")
        for command in (["history", "last"], ["history", "info", "-r", run["run_id"]]):
            assert tool.run(*prefix, *command, *json_option, cwd=folder).ok().json() == run
        assert "\n  {\n    \"Accuracy\": 0.9,\n" in runs.out, "indented, as az printed it"


def test_history_table_has_the_form_it_had(az, tenon, project):
    folder = project("import sys, tenon\ntenon.log(sys.argv[1], float(sys.argv[2]))\n", script_name="train.py")
    for name, value in (("loss", "12.3456789"), ("Accuracy", "0.9"), ("loss", "0.5")):
        az.run("ml", "experiment", "submit", "-c", "local", "train.py", name, value, cwd=folder).ok()
    tables = [tool.run(*prefix, "history", "list", "-o", "table", cwd=folder).ok().out
              for tool, prefix, _ in both(az, tenon)]
    assert tables[0] == tables[1]
    lines = tables[0].splitlines()
    assert lines[0].split() == ["Accuracy", "Loss", "Duration", "Run_id", "Script_name", "Start_time_utc",
                                "Status"]
    assert set(lines[1]) == {"-", " "}
    loss = lines[0].index("Loss")
    assert [line[loss:loss + 9].rstrip() for line in lines[2:]] == [" 0.5", "", "12.3457"]
    assert lines[3].startswith("0.9 ") and lines[2].startswith("     ")


# --- the client of 2018, line by line (an editor's extension that drove the command line)


def test_client_of_2018(az, tenon, project):
    folder = project(files={"relative/script.py": TRAIN}, script_name="unused.py")
    for tool, prefix, _ in both(az, tenon):
        def run(line, check=True, tool=tool, prefix=prefix):
            done = tool.run(*prefix, *line, cwd=folder)
            return done.ok() if check else done

        assert run(["runconfiguration", "list", "-o", "json"]).json() == ["local"]
        targets = run(["computetarget", "list", "-o", "json"]).json()
        assert "local" in targets and all(isinstance(name, str) for name in targets)
        made = run(["runconfiguration", "create", "-n", "R", "-t", "local", "-o", "json"])
        made.json()
        assert (folder / "aml_config/R.runconfig").is_file()
        assert run(["runconfiguration", "list", "-o", "json"]).json() == ["R", "local"]

        run(["experiment", "submit", "-c", "R", "relative/script.py", "a", "b"])
        runs = run(["history", "list", "-o", "json"]).json()
        assert isinstance(runs, list)
        for member in ("run_id", "status", "script_name", "created_utc", "duration"):
            assert isinstance(runs[0][member], str)
        assert runs[0]["status"].lower() in ("completed", "canceled", "failed")
        assert runs[0]["script_name"] == "relative/script.py"
        run_id = runs[0]["run_id"]

        info = run(["history", "info", "-r", run_id, "-o", "json"]).json()
        for member in ("run_id", "name", "user_id", "status", "target", "script_name", "created_utc",
                       "start_time_utc", "end_time_utc"):
            assert member in info
        attachments = [a.strip() for a in info["attachments"].split(",")]
        assert {"driver_log", "outputs/model.pkl"} <= set(attachments)

        log = run(["history", "info", "-r", run_id, "--artifact", "driver_log"])
        assert log.out_bytes == b"rate ['a', 'b']\n"

        target = f"artifacts/{run_id}"
        for _ in range(2):
            run(["history", "download", "--overwrite", "-r", run_id, "-d", target])
        for name in attachments:
            assert (folder / target / name).is_file(), name
        assert (folder / target / "outputs/model.pkl").read_bytes() == b"\0model"
        run(["history", "download", "--overwrite", "-r", run_id, "--artifact", "driver_log", "-d", "one"])
        assert (folder / "one" / "driver_log").read_bytes() == log.out_bytes

        run(["runconfiguration", "delete", "-n", "R", "-o", "json"]).json()
        assert not (folder / "aml_config/R.runconfig").exists()


def test_client_of_2018_cancels(az, tenon, project):
    folder = project("import time\nprint('up', flush=True)\ntime.sleep(600)\n", script_name="train.py")
    for tool, prefix, _ in both(az, tenon):
        running = tool.start(*prefix, "experiment", "submit", "-c", "local", "train.py", cwd=folder)
        running.wait_for("up")
        run_id = re.match(r"RunId: (\S+)", running.out)[1]
        tool.run(*prefix, "experiment", "cancel", "-r", run_id, "-t", "local", cwd=folder).ok()
        assert running.wait().code == 143
        info = tool.run(*prefix, "history", "info", "-r", run_id, "-o", "json", cwd=folder).ok().json()
        assert info["status"] == "Canceled", "one l"


def test_output_can_be_cut_off(az, project):
    folder = project()
    az.run("ml", "experiment", "submit", "-c", "local", "main.py", cwd=folder).ok()
    done = subprocess.run(f"{az.binary} ml history list | head -c 1", shell=True, env=az.env(), cwd=folder,
                          capture_output=True, check=False)
    assert done.stdout == b"[" and done.stderr == b""
