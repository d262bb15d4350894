# SPDX-License-Identifier: Apache-2.0
"""project create, project sample, project restore, experiment prepare, clean, diagnostics, return."""

import json
import re
import shutil
import subprocess
import uuid
import zipfile

import pytest

from e2e import sample_projects

PASSWORD = "hunter2hunter2"


def submit(tenon, folder, *words, code=0):
    done = tenon.run("submit", "-q", *(words or ("main.py",)), cwd=folder)
    assert done.code == code, done
    return done.out.strip()


def tree(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


# ---- project create, project sample

def test_sample_runs_at_once(tenon, tmp_path):
    made = tenon.run("project", "create", "-n", "x", "--template", "digits").ok()
    assert made.out == f"{tmp_path / 'x'}\n" and "tenon submit -c local train.py" in made.err
    done = tenon.run("submit", "-c", "local", "train.py", "--epochs", "2", cwd=tmp_path / "x").ok()
    assert "epoch" in done.out
    run = tenon.json("history", "last", "-o", "json", cwd=tmp_path / "x")
    assert run["status"] == "Completed" and run["run_id"].startswith("x_")
    assert run["experiment_id"] == json.loads((tmp_path / "x/.azureml/project.json").read_text())["Id"]


@pytest.mark.parametrize("name", sample_projects.NAMES)
def test_sample_comes_out_as_its_format_page_says(tenon, tmp_path, name):
    wanted = {path: source.read_bytes() for path, source in sample_projects.files(name).items()}
    tenon.run("project", "sample", "get", name, "plain").ok()
    assert tree(tmp_path / "plain") == wanted
    tenon.run("project", "create", "--name", "whole", "--template", name).ok()
    whole = tree(tmp_path / "whole")
    identity = whole.pop(".azureml/project.json")
    assert whole == wanted and identity.endswith(b"/projects/whole\"}")
    check = tenon.run("submit", "--dry-run", "-c", "local", sample_projects.description(name)["script"],
                      cwd=tmp_path / "whole")
    assert check.code == 0, check


def test_samples_are_listed(tenon):
    listed = tenon.json("project", "sample", "list", "--json")
    assert [s["name"] for s in listed] == sample_projects.NAMES
    assert {s["name"]: (s["summary"], s["script"]) for s in listed} == {
        n: (sample_projects.description(n)["summary"], sample_projects.description(n)["script"])
        for n in sample_projects.NAMES}
    assert all(n in tenon.run("project", "sample", "list").ok().out for n in sample_projects.NAMES)


def test_blank_project_has_what_the_template_had(tenon, tmp_path):
    made = tenon.json("project", "create", "-n", "my project", "--json")
    folder = tmp_path / "my project"
    files = ["aml_config/conda_dependencies.yml", "aml_config/docker.compute", "aml_config/docker.runconfig",
             "aml_config/local.compute", "aml_config/local.runconfig", "aml_config/spark_dependencies.yml"]
    assert made["files"] == [".azureml/project.json", ".gitignore", *files] == sorted(tree(folder))
    assert made["path"] == str(folder) and made["name"] == "my project" and made["script"] is None
    identity = (folder / ".azureml/project.json").read_text()
    assert "\n" not in identity and str(uuid.UUID(made["id"])) == made["id"]
    assert re.fullmatch(r'\{"Id":"[0-9a-f-]{36}","Scope":"/subscriptions/[0-9a-f-]{36}/resourceGroups/local/providers/'
                        r'Microsoft\.MachineLearningExperimentation/accounts/local/workspaces/local/projects/my project"\}',
                        identity)
    (folder / "main.py").write_text("print('hello')\n")
    assert tenon.run("submit", "-c", "local", "main.py", cwd=folder).ok().out.endswith("hello\n")


def test_two_projects_never_share_an_id(tenon):
    ids = {tenon.json("project", "create", "-n", n, "--json")["id"] for n in "ab"}
    assert len(ids) == 2


def test_bare_template_adds_scripts_that_work(tenon, tmp_path):
    tenon.run("project", "create", "--template", "-n", "t", "--path", "deep/er").ok()
    folder = tmp_path / "deep/er/t"
    assert {"train.py", "score.py"} <= set(tree(folder))
    submit(tenon, folder, "-c", "local", "train.py", "0.25")
    run = tenon.json("history", "last", "-o", "json", cwd=folder)
    assert run["Rate"] == 0.25 and 0 <= run["Loss"] < 0.1
    tenon.run("experiment", "return", "-r", "last", cwd=folder).ok()
    scored = subprocess.run(["python3", "score.py"], cwd=folder, capture_output=True, check=True)
    assert abs(json.loads(scored.stdout)["distance"] - 1) < 0.01


def test_folder_in_use_is_left_alone(tenon, tmp_path):
    (tmp_path / "x").mkdir()
    (tmp_path / "x/main.py").write_text("mine\n")
    for words in (("project", "create", "-n", "x", "--template", "digits"), ("project", "sample", "get", "digits", "x")):
        refused = tenon.run(*words)
        assert refused.code == 2 and "not empty" in refused.err and "--force" in refused.err
        assert tree(tmp_path / "x") == {"main.py": b"mine\n"}
    tenon.run("project", "create", "-n", "x", "--force").ok()
    assert (tmp_path / "x/main.py").read_text() == "mine\n" and (tmp_path / "x/aml_config/local.compute").exists()


def test_words_of_the_cloud_are_accepted_and_explained(tenon, tmp_path):
    made = tenon.run("project", "create", "--name", "x", "--workspace", "ws", "-a", "acc", "--resource-group", "rg",
                     "-r", "https://example.com/_git/x", "--vststoken", "token-token", "--path", tmp_path / "below").ok()
    assert made.err.count("note: ") == 2 and "token-token" not in made.err + made.out
    folder = tmp_path / "below/x"
    assert "resourceGroups/rg/" in (folder / ".azureml/project.json").read_text()
    assert "accounts/acc/workspaces/ws/projects/x" in (folder / ".azureml/project.json").read_text()
    assert all(b"token-token" not in data for data in tree(folder).values())
    url = "https://github.com/Azure-Samples/MachineLearningSamples-Iris"
    refused = tenon.run("project", "create", "--name", "y", "--template-url", url)
    assert refused.code == 2 and f"git clone {url} y" in refused.err and not (tmp_path / "y").exists()


@pytest.mark.parametrize("words,code,says", [
    (("create", "-n", "x", "--template", "iriss"), 3, "did you mean iris?"),
    (("create", "-n", "../x"), 2, "cannot be the name"),
    (("create",), 2, "-n NAME"),
    (("sample", "get", "blank"), 3, "there are: digits"),
    (("delete",), 2, "delete the folder"),
    (("update", "--repo", "x"), 2, "git remote add"),
])
def test_project_commands_say_what_is_wrong(tenon, tmp_path, words, code, says):
    before = sorted(p.name for p in tmp_path.iterdir())
    refused = tenon.run("project", *words)
    assert refused.code == code and says in refused.err, refused
    assert sorted(p.name for p in tmp_path.iterdir() if p.name != "user-home") == [b for b in before if b != "user-home"]


def test_project_restore_keeps_what_it_overwrites(tenon, project):
    folder = project(files={"data/a.txt": "a"})
    run = submit(tenon, folder)
    (folder / "data/a.txt").write_text("precious")
    (folder / "main.py").unlink()
    refused = tenon.run("project", "restore", "--run-id", run, cwd=folder)
    assert refused.code == 2 and "data/a.txt" in refused.err and not (folder / "main.py").exists()
    done = tenon.json("project", "restore", "--run-id", run, "--force", "--json", cwd=folder)
    assert done["written"] == ["data/a.txt", "main.py"] and (folder / "data/a.txt").read_text() == "a"
    tenon.run("restore", done["saved_snapshot"], folder.parent / "saved", cwd=folder).ok()
    assert (folder.parent / "saved/data/a.txt").read_text() == "precious"
    assert tenon.run("project", "restore", cwd=folder).code == 2


# ---- experiment prepare

def test_prepare_has_nothing_to_do_on_local(tenon, project):
    folder = project()
    for words in (("-c", "local"), ("--target", "local", "--run-configuration", "local"),
                  ("-t", "local", "-d", "aml_config/conda_dependencies.yml", "-c", "local")):
        (folder / "aml_config/conda_dependencies.yml").write_text("dependencies:\n- python=3.5.2\n")
        done = tenon.run("experiment", "prepare", *words, cwd=folder).ok()
        assert "nothing to prepare on local" in done.out and re.search(r"Python 3\.\d+\.\d+: /", done.out), done
    version = subprocess.run(["python3", "-V"], capture_output=True, check=True, text=True).stdout.split()[1]
    asked = tenon.json("experiment", "prepare", "-c", "local", "--json", cwd=folder)
    assert asked["python_version"] == version.rstrip("+") and asked["prepared"] is False
    assert tenon.json("runs", "--json", cwd=folder) == []


@pytest.mark.parametrize("compute,says", [
    ("type: local\npythonLocation: /no/such/python\n", "/no/such/python"),
    ("type: local\npythonLocation: no-such-python\n", "no-such-python"),
    ("type: local\npythonLocation: /bin/false\n", "does not run as a Python"),
    ("type: cluster\naddress: 203.0.113.7\nusername: u\npassword: x\n", "is of type cluster"),
    ("type: locl\n", "local.compute"),
])
def test_prepare_fails_where_a_run_would(tenon, project, compute, says):
    folder = project(compute=compute)
    refused = tenon.run("experiment", "prepare", "-c", "local", cwd=folder)
    assert refused.code == 125 and says in refused.err, refused
    assert tenon.run("submit", "-c", "local", "main.py", cwd=folder).code in (125, 1)


def test_prepare_says_that_pyspark_is_not_there(tenon, project):
    folder = project(runconfig="Target: local\nFramework: PySpark\n")
    refused = tenon.run("experiment", "prepare", "-c", "local", cwd=folder)
    assert refused.code == 125 and "PySpark" in refused.err
    unknown = tenon.run("experiment", "prepare", "-c", "loca", cwd=folder)
    assert unknown.code == 125 and "did you mean `-c local`?" in unknown.err


# ---- experiment clean

def kept_folders(tenon):
    return sorted(p.parent.name for p in tenon.home.glob("runs/*/work"))


def test_clean_removes_run_directories_and_keeps_the_record(tenon, project):
    folder = project("open('outputs/a', 'w').write('a')\nprint('hello')\nraise SystemExit(3)\n")
    other = project("raise SystemExit(3)\n", name="other")
    run, elsewhere = submit(tenon, folder, code=3), submit(tenon, other, code=3)
    kept = tenon.run("submit", "-q", "--keep", "main.py", cwd=folder).out.strip()
    assert kept_folders(tenon) == sorted([run, kept, elsewhere])
    would = tenon.run("experiment", "clean", "-t", "local", "--dry-run", cwd=folder).ok()
    assert "would free" in would.out and "2 run directories" in would.out and len(kept_folders(tenon)) == 3
    done = tenon.json("experiment", "clean", "-c", "local", "--json", cwd=folder)
    assert done["work_folders"] == 2 and done["bytes_freed"] > 0 and done["going"] == 0
    assert kept_folders(tenon) == [elsewhere]
    assert tenon.run("logs", run, cwd=folder).ok().out == "hello\n"
    assert tenon.run("history", "info", "-r", run, "--artifact", "outputs/a", cwd=folder).ok().out == "a"
    assert tenon.json("experiment", "clean", "--json", cwd=folder)["work_folders"] == 0
    assert submit(tenon, folder, code=3)


def test_clean_leaves_a_run_alone_that_is_going_on(tenon, project):
    folder = project("import time\nprint('up', flush=True)\ntime.sleep(600)\n")
    going = tenon.start("submit", "main.py", cwd=folder)
    going.wait_for("up")
    done = tenon.run("experiment", "clean", cwd=folder).ok()
    assert "0 run directories" in done.out and "1 run is going on" in done.err
    assert len(kept_folders(tenon)) == 1
    tenon.run("cancel", "last", "--grace", "1s", cwd=folder).ok()


def test_clean_asks_on_a_terminal(tenon, project):
    folder = project("raise SystemExit(3)\n")
    submit(tenon, folder, code=3)
    no = tenon.pty("experiment", "clean", cwd=folder, keys=b"n\n", when="[y/N]")
    assert no.code == 1 and "nothing was removed" in no.out and len(kept_folders(tenon)) == 1
    yes = tenon.pty("experiment", "clean", cwd=folder, keys=b"y\n", when="[y/N]")
    assert yes.code == 0 and "freed" in yes.out and kept_folders(tenon) == []


def test_clean_of_a_target_that_cannot_run_says_so(tenon, project):
    folder = project(files={"aml_config/vm.compute": "type: cluster\naddress: h\nusername: u\npassword: p\n"})
    refused = tenon.run("experiment", "clean", "-t", "vm", cwd=folder)
    assert refused.code == 2 and "cluster" in refused.err
    assert tenon.run("experiment", "clean", "-t", "no", cwd=folder).code == 3


# ---- experiment diagnostics

def test_diagnostics_has_the_project_and_the_logs_and_no_secret(tenon, project):
    script = ("import os, sys\nprint('out', os.environ['STORAGE_ACCOUNT_KEY'], os.environ['MY_SECRET'])\n"
              "print('err', file=sys.stderr)\nraise SystemExit(3)\n")
    runconfig = ("Target: local\nFramework: Python\nEnvironmentVariables:\n  STORAGE_ACCOUNT_KEY: storage-key-12345\n"
                 "  PLAIN: visible\n")
    vm = f"type: remotedocker\naddress: 203.0.113.7\nusername: u\npassword: {PASSWORD}\n"
    folder = project(script, runconfig=runconfig, files={
        "aml_config/vm.compute": vm, "data/ä ü.txt": "text", "empty": "", "tool.sh": "#!/bin/sh\n"})
    (folder / "tool.sh").chmod(0o755)
    (folder / "link").symlink_to("data")
    done = tenon.run("submit", "-q", "--secret", "MY_SECRET", "main.py", cwd=folder, env={"MY_SECRET": "very-secret-word"})
    run = done.out.strip()
    (folder / "main.py").write_text("changed since\n")
    made = tenon.run("experiment", "diagnostics", "-r", run, "-t", "local", cwd=folder).ok()
    archive = folder / "diagnostics.zip"
    assert made.out == f"{archive}\n" and "replaced" not in made.err
    with zipfile.ZipFile(archive) as opened:
        assert opened.testzip() is None
        files = {name: opened.read(name) for name in opened.namelist()}
        mode = opened.getinfo("project/tool.sh").external_attr >> 16
    assert mode == 0o100755
    assert files["project/main.py"] == script.encode() and files["project/data/ä ü.txt"] == b"text"
    assert files["project/link"] == b"data" and files["project/empty"] == b""
    assert files["logs/driver_log.txt"] == b"out *** ***\n" and files["logs/stderr.txt"] == b"err\n"
    assert b"Failed, exit code 3" in files["logs/control_log.txt"]
    assert json.loads(files["run.json"])["run_id"] == run and json.loads(files["spec.json"])["script"] == "main.py"
    version = tenon.run("--version").ok().out.split()[1]
    assert files["about.txt"].startswith(f"tenon {version}\n".encode())
    assert files["project/aml_config/vm.compute"] == vm.replace(f"password: {PASSWORD}\n", "").encode()
    everything = b"\n".join(files.values())
    for secret in (PASSWORD, "storage-key-12345", "very-secret-word"):
        assert secret.encode() not in everything
    assert b"visible" in everything and "problems.txt" not in files
    if shutil.which("unzip"):
        subprocess.run(["unzip", "-t", "-q", str(archive)], check=True, capture_output=True)
    # A second one takes the place of the first, and is not part of the next snapshot.
    again = tenon.run("experiment", "diagnostics", "-r", run, cwd=folder).ok()
    assert "the older one was replaced" in again.err
    assert [p.name for p in folder.glob("diagnostics*")] == ["diagnostics.zip"]
    submit(tenon, folder, code=1)
    tenon.run("experiment", "diagnostics", "-r", "last", cwd=folder).ok()
    assert "project/diagnostics.zip" not in zipfile.ZipFile(archive).namelist()


def test_diagnostics_of_a_damaged_run_says_what_is_missing(tenon, project):
    folder = project(files={"big.bin": bytes(range(256)) * 8192})
    run = submit(tenon, folder)
    shutil.rmtree(tenon.home / "objects")
    made = tenon.run("experiment", "diagnostics", "-r", run, cwd=folder).ok()
    assert "warning: " in made.err
    with zipfile.ZipFile(folder / "diagnostics.zip") as opened:
        assert opened.read("logs/driver_log.txt") == b"hello\n" and b"project" in opened.read("problems.txt")


def test_diagnostics_belongs_to_its_project(tenon, project):
    run = submit(tenon, project(name="one"))
    other = project(name="two")
    refused = tenon.run("experiment", "diagnostics", "-r", run, cwd=other)
    assert refused.code == 2 and "belongs to the project one" in refused.err
    assert not (other / "diagnostics.zip").exists()


# ---- experiment return

def test_return_brings_outputs_back(tenon, project):
    folder = project("import os, sys\nos.makedirs('outputs/d')\nopen('outputs/a', 'w').write(sys.argv[1])\n"
                     "open('outputs/d/b', 'w').write('b')\n")
    first, second = submit(tenon, folder, "main.py", "1"), submit(tenon, folder, "main.py", "2")
    assert not (folder / "outputs").exists()
    done = tenon.run("experiment", "return", "-r", first, "-t", "local", cwd=folder).ok()
    assert done.out == "outputs/a\noutputs/d/b\n" and tree(folder / "outputs") == {"a": b"1", "d/b": b"b"}
    assert "nothing to do" in tenon.run("experiment", "return", "-r", first, cwd=folder).ok().err
    (folder / "outputs/mine").write_text("mine")
    refused = tenon.run("experiment", "return", "-r", second, cwd=folder)
    assert refused.code == 2 and ": a" in refused.err and "d/b" not in refused.err and "--force" in refused.err
    assert (folder / "outputs/a").read_text() == "1"
    forced = tenon.json("experiment", "return", "-r", second, "--force", "--json", cwd=folder)
    assert forced["written"] == ["outputs/a"]
    assert tree(folder / "outputs") == {"a": b"2", "d/b": b"b", "mine": b"mine"}


def test_return_of_a_run_without_outputs(tenon, project):
    folder = project()
    run = submit(tenon, folder)
    done = tenon.run("experiment", "return", "-r", run, cwd=folder).ok()
    assert "nothing of outputs/" in done.err and not (folder / "outputs").exists()
